// Selected points as pairs that belong together or apart, for a semi-supervised fit.
import { announce, copy, download, h, whole } from './dom.js';

const MOST_PAIRS = 50000;

// must-links are transitive, so a chain says all
const chain = (points) => points.slice(1).map((point, k) => [points[k], point]);

const among = (points) => points.flatMap((a, k) => points.slice(k + 1).map((b) => [a, b]));

const between = (some, others) => some.flatMap((a) => others.filter((b) => b !== a).map((b) => [a, b]));

const cell = (value) => (/[",\n\r]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value));

const csv = (header, lines) => `${[header, ...lines.map((line) => line.map(cell).join(','))].join('\n')}\n`;

export function createPairs({ store, rows, panels }) {
  const made = { must_link: [], cannot_link: [] };
  const steps = []; // lengths before each step, to undo it
  let aside = [];

  const status = h('p', { class: 'muted', id: 'selected' });
  const note = h('p', { class: 'muted', id: 'pair-note' });
  const button = (text, id, action, title) => h('button', { id, onclick: action, title }, text);
  const named = (pairs) => pairs.map(([a, b]) => [rows.id(a), rows.id(b)]);
  // numbers beyond what JavaScript counts exactly come as text, and are written as numbers
  const literal = (id) => (rows.numbered ? String(id) : JSON.stringify(id));
  const list = (pairs) => `[${named(pairs).map((pair) => `[${pair.map(literal).join(', ')}]`).join(', ')}]`;
  const asJson = () => `{"must_link": ${list(made.must_link)}, "cannot_link": ${list(made.cannot_link)}}`;

  function add(kind, count, pairs) {
    if (count > MOST_PAIRS) {
      note.textContent = `That would be ${whole(count)} pairs; select fewer points.`;
      return;
    }
    steps.push([made.must_link.length, made.cannot_link.length, aside]);
    made[kind] = [...made[kind], ...pairs()];
    aside = [];
    show();
    announce(note.textContent);
  }

  function apart() {
    const { selection } = store.state;
    const count = selection.length;
    if (aside.length) add('cannot_link', aside.length * count, () => between(aside, selection));
    else add('cannot_link', (count * (count - 1)) / 2, () => among(selection));
  }

  function setAside() {
    aside = [...store.state.selection];
    store.set({ selection: [], focus: -1 });
    show();
  }

  function undo() {
    const [must, cannot, before] = steps.pop();
    made.must_link.length = must;
    made.cannot_link.length = cannot;
    aside = before;
    show();
  }

  const ids = () => store.state.selection.map(rows.id);
  const lasso = button('Lasso', 'lasso', () => store.set({ mode: store.state.mode === 'lasso' ? 'panZoom' : 'lasso' }), 'Draw around points (l, or hold shift)');
  const clear = button('Clear', 'clear', () => store.set({ selection: [], focus: -1 }), 'Select nothing (Esc)');
  const zoom = button('Zoom', 'zoom', () => panels.forEach((panel) => panel.zoomTo(store.state.selection)), 'Zoom to the selected (z)');
  const only = button('Only these', 'only', () => store.set({ only: [...store.state.selection] }), 'Hide all others');
  const copyIds = button('Copy ids', 'copy-ids', () => copy(ids().join('\n')));
  const saveIds = button('Save ids', 'save-ids', () => download('selected.csv', csv('id', ids().map((id) => [id])), 'text/csv'));
  const must = button('Belong together', 'must-link', () => add('must_link', store.state.selection.length, () => chain(store.state.selection)), 'Must-link all selected points');
  const hold = button('Set aside', 'set-aside', setAside, 'Hold these, then select what is apart from them');
  const cannot = button('Belong apart', 'cannot-link', apart, 'Cannot-link: from those set aside, or else each from each');
  const copyPairs = button('Copy pairs', 'copy-pairs', () => copy(asJson()));
  const savePairs = button('Save pairs', 'save-pairs', () => download('pairs.json', asJson(), 'application/json'));
  const saveMust = button('must_link.csv', 'save-must', () => download('must_link.csv', csv('source,target', named(made.must_link)), 'text/csv'));
  const saveCannot = button('cannot_link.csv', 'save-cannot', () => download('cannot_link.csv', csv('source,target', named(made.cannot_link)), 'text/csv'));
  const back = button('Undo', 'undo-pairs', undo);
  const result = h('div', { class: 'buttons', id: 'made' }, copyPairs, savePairs, saveMust, saveCannot, back);
  const how = h('p', { class: 'muted about' }, 'Read them by ', h('code', {}, 'SemiSupervisedGraphKernelPCA(**json.load(open("pairs.json")))'));
  const element = h('section', { 'aria-label': 'Selection' },
    h('h3', {}, 'Selection'), status,
    h('div', { class: 'buttons' }, lasso, clear, zoom, only, copyIds, saveIds),
    rows.pairable ? h('div', { class: 'buttons' }, must, hold, cannot) : h('p', { class: 'muted about' }, 'No pairs: names of these rows are neither text nor whole numbers.'),
    note, result, how);

  function show() {
    const { selection, mode } = store.state;
    const count = selection.length;
    status.textContent = count ? `${whole(count)} selected` : 'Click a point, or draw around some.';
    for (const each of [clear, zoom, only, copyIds, saveIds, hold]) each.disabled = !count;
    must.disabled = count < 2;
    cannot.disabled = aside.length ? !count : count < 2;
    lasso.setAttribute('aria-pressed', String(mode === 'lasso'));
    const some = made.must_link.length + made.cannot_link.length;
    const parts = [];
    if (some) parts.push(`${whole(made.must_link.length)} must-link and ${whole(made.cannot_link.length)} cannot-link pairs`);
    if (aside.length) parts.push(`${whole(aside.length)} set aside: select the others`);
    note.textContent = parts.join('; ');
    result.hidden = how.hidden = !some;
    saveMust.hidden = !made.must_link.length;
    saveCannot.hidden = !made.cannot_link.length;
  }
  store.on(['selection', 'mode'], show);
  show();
  return element;
}
