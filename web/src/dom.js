// Elements from code: text is always text, never markup.

export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'style') element.style.cssText = value;
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export const byId = (id) => document.getElementById(id);

export function announce(text) {
  byId('live').textContent = text;
}

export function download(name, content, type) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = h('a', { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // a page opened from a file may not have the clipboard; a selection can be copied
    const area = h('textarea', { class: 'unseen' });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
}

const short = new Intl.NumberFormat('en', { maximumSignificantDigits: 4 });
export const whole = (number) => number.toLocaleString('en');
export const pointsOf = (count) => `${whole(count)} ${count === 1 ? 'point' : 'points'}`;

export function numeral(value, isWhole = false) {
  if (!Number.isFinite(value)) return '–';
  if (isWhole) return String(Math.round(value)); // a year is no quantity: not grouped
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-3 || size >= 1e7) ? value.toExponential(2) : short.format(value);
}
