// Find points by name, text or class.
import { announce, h, whole } from './dom.js';

const LISTED = 30;
const MOST = 100000;

export function createSearch({ store, rows, meta, jump, choose }) {
  const input = h('input', { type: 'search', id: 'search', placeholder: 'name, text or class', autocomplete: 'off', 'aria-controls': 'results' });
  const list = h('ul', { id: 'results', class: 'results', 'aria-label': 'Found points' });
  const count = h('p', { class: 'muted', id: 'found' });
  const element = h('section', {}, h('label', { for: 'search' }, 'Search ', h('kbd', {}, '/')), input, count, list);
  const texts = rows.columns.filter((column) => column.kind === 'text');
  const classes = rows.columns.filter((column) => column.kind === 'category');

  function matches(word) {
    const wanted = word.toLowerCase();
    const codes = classes.map((column) => new Set([...column.categories.keys()].filter((code) => column.categories[code].toLowerCase() === wanted)));
    const has = (value) => String(value).toLowerCase().includes(wanted);
    const found = [];
    for (let i = 0; i < meta.n && found.length < MOST; i += 1) {
      if (has(rows.id(i)) || (rows.text && has(rows.text[i])) || texts.some((column) => has(column.values[i])) || classes.some((column, c) => codes[c].has(column.values[i]))) found.push(i);
    }
    // a name that is just the word comes first
    const exact = found.findIndex((i) => String(rows.id(i)).toLowerCase() === wanted);
    if (exact > 0) found.unshift(...found.splice(exact, 1));
    return found;
  }

  function about(i) {
    const text = rows.text ? rows.text[i] : '';
    return h('button', { class: 'entry', onclick: () => jump(i) }, h('span', { class: 'name' }, String(rows.id(i))), h('span', { class: 'muted cut' }, text.slice(0, 60)));
  }

  let found = [];
  let timer = 0;
  function run() {
    const word = input.value.trim();
    found = word ? matches(word) : [];
    count.textContent = word ? `${whole(found.length)} found${found.length > 1 ? ', Enter selects them' : ''}` : '';
    list.replaceChildren(...found.slice(0, LISTED).map((i) => h('li', {}, about(i))));
    if (word) announce(count.textContent);
  }
  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(run, meta.n > 20000 ? 250 : 60);
  });
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter') return;
    clearTimeout(timer);
    run();
    const exact = found.length && String(rows.id(found[0])) === input.value.trim();
    if (found.length === 1 || exact) jump(found[0]);
    else if (found.length) choose(found);
  });
  return element;
}
