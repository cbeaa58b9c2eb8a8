// Colours of classes and of scales, readable on light and on dark.

const N_HUES = 10;
const N_STEPS = 64;
// from dark violet over green to yellow, even in lightness
const RAMP = ['#440154', '#472d7b', '#3b528b', '#2c728e', '#21918c', '#28ae80', '#5ec962', '#addc30', '#fde725'];

export const isDark = () => {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
};

// a colour of the style sheet, in six digits: the build writes some of them in three
export function variable(name) {
  const hex = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  return hex.length === 4 ? `#${[...hex.slice(1)].map((digit) => digit + digit).join('')}` : hex;
}

export function rgb(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255);
}

const hexOf = (parts) =>
  `#${parts.map((part) => Math.round(255 * Math.min(1, Math.max(0, part))).toString(16).padStart(2, '0')).join('')}`;

// OKLCH: hues of one lightness look equally bright
function fromOklch(lightness, chroma, hue) {
  const a = chroma * Math.cos(hue);
  const b = chroma * Math.sin(hue);
  const [l, m, s] = [
    lightness + 0.3963377774 * a + 0.2158037573 * b,
    lightness - 0.1055613458 * a - 0.0638541728 * b,
    lightness - 0.0894841775 * a - 1.291485548 * b,
  ].map((root) => root ** 3);
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  return hexOf(linear.map((part) => (part <= 0.0031308 ? 12.92 * part : 1.055 * Math.max(part, 0) ** (1 / 2.4) - 0.055)));
}

export function classColours(count) {
  const named = Array.from({ length: Math.min(count, N_HUES) }, (_, i) => variable(`--c${i}`));
  const golden = Math.PI * (3 - Math.sqrt(5));
  for (let i = N_HUES; i < count; i += 1) {
    const lightness = (isDark() ? 0.68 : 0.52) + 0.1 * ((i % 3) / 2);
    named.push(fromOklch(lightness, 0.13, i * golden));
  }
  return named;
}

export function scaleColours() {
  // the end that would vanish on this background is left out
  const [from, to] = isDark() ? [0.22, 1] : [0, 0.9];
  return Array.from({ length: N_STEPS }, (_, i) => {
    const place = (from + ((to - from) * i) / (N_STEPS - 1)) * (RAMP.length - 1);
    const low = Math.min(Math.floor(place), RAMP.length - 2);
    const [one, two] = [rgb(RAMP[low]), rgb(RAMP[low + 1])];
    return hexOf(one.map((part, k) => part + (two[k] - part) * (place - low)));
  });
}

export const missingColour = () => variable('--missing');

// Which colour each point has: numbers of colours, the last one for what is missing.
export function coloured(column, view, n) {
  if (!column) return { codes: new Uint8Array(n), colours: [variable('--c0'), missingColour()] };
  if (column.kind === 'category') {
    return { codes: column.values, colours: [...classColours(column.categories.length), missingColour()] };
  }
  const values = column.parts[Math.min(view, column.parts.length - 1)];
  const span = column.high - column.low || 1;
  const codes = new Uint8Array(n);
  for (let i = 0; i < n; i += 1) {
    const step = Math.floor(((values[i] - column.low) / span) * N_STEPS);
    codes[i] = Number.isFinite(step) ? Math.min(N_STEPS - 1, Math.max(0, step)) : N_STEPS;
  }
  return { codes, colours: [...scaleColours(), missingColour()] };
}
