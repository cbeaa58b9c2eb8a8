// What a mouse can do, by keys; only the lasso needs a hand.
import { mat4 } from 'gl-matrix';
import { byId, h } from './dom.js';

const KEYS = [
  ['drag, wheel', 'move, zoom; two fingers do both'],
  ['click', 'select a point; Ctrl adds to the selection'],
  ['Shift and drag, or l', 'draw around points'],
  ['arrows, + and -, 0', 'move, zoom, all points'],
  ['n, p', 'next and previous point (of the selected, if several)'],
  ['/', 'search'],
  ['e', 'links: none, of the selected, all'],
  ['z', 'zoom to the selected'],
  ['t', 'light or dark'],
  ['s', 'save a picture'],
  ['Esc', 'select nothing'],
];

export function createHelp(program) {
  const dialog = byId('help');
  const rows = KEYS.map(([key, what]) => h('tr', {}, h('th', { scope: 'row' }, key), h('td', {}, what)));
  dialog.append(h('h2', { id: 'help-title' }, 'Keys'), h('table', {}, h('tbody', {}, ...rows)),
    h('p', { class: 'muted' }, `Made by ${program}. This file is complete: it needs no network and sends nothing.`),
    h('button', { onclick: () => dialog.close() }, 'Close'));
  byId('help-button').addEventListener('click', () => dialog.showModal());
}

function move(panel, by) {
  const { scatterplot } = panel;
  const next = mat4.clone(scatterplot.get('camera').view);
  const step = mat4.create();
  if (by.scale) mat4.fromScaling(step, [by.scale, by.scale, 1]);
  else mat4.fromTranslation(step, [by.shift[0], by.shift[1], 0]);
  scatterplot.set({ cameraView: mat4.multiply(next, step, next) });
}

const MOVES = {
  ArrowLeft: { shift: [0.15, 0] },
  ArrowRight: { shift: [-0.15, 0] },
  ArrowUp: { shift: [0, -0.15] },
  ArrowDown: { shift: [0, 0.15] },
  '+': { scale: 1.25 },
  '=': { scale: 1.25 },
  '-': { scale: 0.8 },
};

export function createKeys({ store, panels, n, jump, changeTheme, savePicture }) {
  let walk = [];
  function step(by) {
    const { selection, focus } = store.state;
    if (selection.length > 1) walk = selection;
    else if (!walk.includes(focus)) walk = [];
    const among = walk.length ? walk : store.state.visible;
    const from = among ? among.indexOf(focus) : focus;
    const count = among ? among.length : n;
    const next = (((from < 0 && by < 0 ? 0 : from) + by) % count + count) % count;
    if (count) jump(among ? among[next] : next, { zoom: false });
  }
  const ways = ['none', 'selected', 'all'];
  const actions = {
    n: () => step(1),
    p: () => step(-1),
    l: () => store.set({ mode: store.state.mode === 'lasso' ? 'panZoom' : 'lasso' }),
    e: () => store.set({ edges: ways[(ways.indexOf(store.state.edges) + 1) % ways.length] }),
    z: () => store.state.selection.length && panels.forEach((panel) => panel.zoomTo(store.state.selection)),
    t: changeTheme,
    s: savePicture,
    0: () => panels.forEach((panel) => panel.reset()),
    '?': () => byId('help').showModal(),
    '/': () => byId('search').focus(),
    Escape: () => store.set({ selection: [], focus: -1, mode: 'panZoom' }),
  };
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || byId('help').open) return;
    if (event.target.matches('input:not([type=checkbox]), select, textarea')) {
      if (event.key === 'Escape') event.target.blur();
      return;
    }
    const panel = panels.find((each) => each.canvas === event.target);
    if (panel && MOVES[event.key]) {
      move(panel, MOVES[event.key]);
      event.preventDefault();
    } else if (actions[event.key] && (!byId('map').hidden || '?t'.includes(event.key))) {
      actions[event.key]();
      event.preventDefault();
    }
  });
}
