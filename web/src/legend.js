// What points are coloured by, and a legend that filters.
import { classColours, missingColour, scaleColours } from './colours.js';
import { h, numeral, whole } from './dom.js';

function countsOf(column) {
  const counts = new Array(column.categories.length + 1).fill(0);
  for (const code of column.values) counts[code] += 1;
  return counts;
}

export function createLegend({ store, rows }) {
  const { columns } = rows;
  const colourable = columns.map((column, i) => [column, i]).filter(([column]) => column.kind !== 'text');
  const box = h('div', { class: 'legend' });
  const options = [h('option', { value: -1 }, 'one colour'), ...colourable.map(([column, i]) => h('option', { value: i }, column.name))];
  const picker = h('select', { id: 'colour', onchange: () => store.set({ colour: Number(picker.value) }) }, ...options);
  const reset = h('button', { class: 'link', id: 'show-all', hidden: true, onclick: () => store.set({ filters: new Map(), only: null }) }, 'show all points');
  const element = h('section', {}, h('div', { class: 'row' }, h('label', { for: 'colour' }, 'Colour'), picker), box, reset);

  const filterOf = (index) => store.state.filters.get(index) ?? {};
  const setFilter = (index, filter) => store.set({ filters: new Map(store.state.filters).set(index, filter) });

  function entry(column, index, code, counts, colours) {
    const hidden = filterOf(index).hidden ?? new Set();
    const name = column.categories[code] ?? 'missing';
    const toggle = (event) => {
      const next = new Set(hidden);
      if (event.altKey || event.shiftKey) return only();
      if (next.has(code)) next.delete(code);
      else next.add(code);
      setFilter(index, { hidden: next });
    };
    const only = () => setFilter(index, { hidden: new Set([...counts.keys()].filter((other) => other !== code)) });
    return h('li', {},
      h('button', { class: 'entry', 'aria-pressed': String(!hidden.has(code)), onclick: toggle, title: name, 'data-key': code },
        h('span', { class: 'swatch', style: `background:${colours[code]}` }),
        h('span', { class: 'name' }, name),
        h('span', { class: 'muted' }, whole(counts[code]))),
      h('button', { class: 'link only', onclick: only, 'aria-label': `only ${name}`, 'data-key': `only${code}` }, 'only'));
  }

  function classes(column, index) {
    const counts = countsOf(column);
    const colours = [...classColours(column.categories.length), missingColour()];
    const items = [...counts.keys()].filter((code) => counts[code]).map((code) => entry(column, index, code, counts, colours));
    return h('ul', { class: 'classes', 'aria-label': `${column.name}: classes` }, ...items);
  }

  function scale(column, index) {
    const range = filterOf(index).range ?? [column.low, column.high];
    const say = (value) => numeral(value, column.whole);
    const text = h('output', {}, range.map(say).join(' to '));
    const span = column.high - column.low || 1;
    const sliders = [0, 1].map((side) => {
      const slider = h('input', { type: 'range', min: 0, max: 1000, value: Math.round(((range[side] - column.low) / span) * 1000), 'aria-label': side ? 'at most' : 'at least', 'data-key': side });
      const read = () => sliders.map((other) => column.low + (Number(other.value) / 1000) * span).sort((a, b) => a - b);
      slider.addEventListener('input', () => { text.textContent = read().map(say).join(' to '); });
      slider.addEventListener('change', () => {
        const next = read();
        const all = next[0] <= column.low && next[1] >= column.high;
        setFilter(index, all ? {} : { range: next });
      });
      return slider;
    });
    return h('div', { class: 'scale' },
      h('div', { class: 'ramp', style: `background:linear-gradient(to right, ${scaleColours().filter((_, i) => i % 7 === 0).join(',')})` }),
      h('div', { class: 'row ends muted' }, h('span', {}, say(column.low)), h('span', {}, say(column.high))),
      h('div', { class: 'row' }, ...sliders),
      h('div', { class: 'row muted' }, h('span', {}, 'shown'), text),
      column.about ? h('p', { class: 'muted about' }, column.about) : null);
  }

  function show() {
    const { colour, visible } = store.state;
    picker.value = String(colour);
    const column = columns[colour];
    const focused = document.activeElement === reset ? 'reset' : box.querySelector(':focus')?.dataset.key;
    box.replaceChildren(...(column ? [column.kind === 'category' ? classes(column, colour) : scale(column, colour)] : []));
    reset.hidden = !visible;
    // who works by keys stays where they were
    if (focused === 'reset') picker.focus();
    else if (focused !== undefined) box.querySelector(`[data-key="${focused}"]`)?.focus();
  }
  store.on(['colour', 'visible', 'theme'], show);
  show();
  return element;
}
