// The page: read the data, draw the first picture, then everything around it.
import './style.css';
import './report.css';
import { createCard, createDetails, createPictures } from './card.js';
import { isDark } from './colours.js';
import { createControls, createTabs, savePicture } from './controls.js';
import { readColumn, readData, readRows } from './data.js';
import { byId, h, pointsOf, whole } from './dom.js';
import { createHelp, createKeys } from './keyboard.js';
import { createLegend } from './legend.js';
import { createLines } from './lines.js';
import { createPairs } from './pairs.js';
import { createPanel } from './panel.js';
import { renderReport } from './report.js';
import { createSearch } from './search.js';
import { createSegments, createSharedRenderer } from './segments.js';
import { createStore, visiblePoints } from './store.js';

function remembered(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null; // a frame without an origin has no storage
  }
}

function remember(key, value) {
  try {
    localStorage.setItem(key, value);
  } catch {
    // nothing to remember it in
  }
}

async function start() {
  const data = readData();
  const { meta } = data;
  byId('title').textContent = meta.title;
  byId('count').textContent = pointsOf(meta.n);
  const theme = remembered('graphfold-theme');
  if (theme) document.documentElement.dataset.theme = theme;

  const firstColour = meta.columns.findIndex((column) => column.kind !== 'text');
  const store = createStore({
    colour: firstColour,
    filters: new Map(),
    only: null,
    visible: null,
    selection: [],
    focus: -1,
    hover: null,
    view: 0,
    mode: 'panZoom',
    edges: 'selected',
    graph: 0,
    neighbours: true,
    violated: true,
    pairs: true,
    theme: theme ?? 'auto',
  });
  const renderer = createSharedRenderer();
  const segments = createSegments(renderer);
  const place = byId('panels');
  place.dataset.count = Math.min(meta.views.length, 4);
  const panels = await Promise.all(meta.views.map((_, index) => createPanel({ index, data, store, renderer, segments, place })));
  const column = firstColour < 0 ? null : await readColumn(meta.columns[firstColour], data.block);
  await Promise.all(panels.map((panel) => panel.start(column)));
  byId('loading').remove();

  const rows = await readRows(data);
  const picture = createPictures(data);
  const lines = createLines({ data, store, rows, panels });
  // who is asked for by name is shown: if all of them are hidden, nothing is
  function choose(points, focus = -1) {
    const { visible } = store.state;
    const seen = visible && new Set(visible);
    const found = seen ? points.filter((i) => seen.has(i)) : points;
    if (!found.length) store.set({ filters: new Map(), only: null });
    store.set({ selection: found.length ? found : points, focus });
  }
  function jump(i, { zoom = true } = {}) {
    choose([i], i);
    if (zoom && meta.n > 50) panels.forEach((panel) => panel.zoomTo([i, ...(rows.neighbors ? rows.neighbors.subarray(i * rows.k, (i + 1) * rows.k) : [])]));
  }
  store.on('colour', ({ colour }) => panels.forEach((panel) => panel.colour(rows.columns[colour])));
  store.on(['filters', 'only'], (state) => store.set({ visible: visiblePoints(state, rows, meta.n) }));
  store.on('visible', ({ visible, selection, focus }) => {
    byId('count').textContent = visible ? `${whole(visible.length)} of ${pointsOf(meta.n)}` : pointsOf(meta.n);
    const seen = visible && new Set(visible);
    const stays = seen ? selection.filter((i) => seen.has(i)) : selection;
    if (stays.length < selection.length) store.set({ selection: stays, focus: stays.includes(focus) ? focus : -1 });
    if (store.state.hover) store.set({ hover: null });
  });
  panels.forEach((panel, view) => panel.canvas.addEventListener('pointerdown', () => store.set({ view })));
  createCard({ store, rows, picture, panels });
  const tools = h('div', { class: 'buttons' },
    h('button', { id: 'reset', onclick: () => panels.forEach((panel) => panel.reset()), title: 'Show all points (0)' }, 'Reset view'),
    h('button', { id: 'save-picture', onclick: () => savePicture(panels, meta.title), title: 'Save a picture (s)' }, 'Save picture'));
  byId('side').append(...[
    createSearch({ store, rows, meta, jump, choose }),
    createLegend({ store, rows }),
    createControls({ meta, store }),
    createDetails({ store, rows, meta, picture, jump, lines }),
    createPairs({ store, rows, panels }),
    h('section', {}, tools),
  ].filter(Boolean));

  function changeTheme() {
    const next = isDark() ? 'light' : 'dark';
    document.documentElement.dataset.theme = next;
    remember('graphfold-theme', next);
    store.set({ theme: next });
  }
  byId('theme').addEventListener('click', changeTheme);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => store.set({ theme: 'auto' }));
  createHelp(meta.program);
  createKeys({ store, panels, n: meta.n, jump, changeTheme, savePicture: () => savePicture(panels, meta.title) });

  let reported = false;
  const show = createTabs(meta.reports.length > 0, (name) => {
    if (name !== 'report' || reported) return;
    renderReport(byId('report'), meta.reports);
    reported = true;
  });
  if (location.hash === '#report' && meta.reports.length) show('report');
  await lines.showAll();
  // for scripts: the state, and where a point stands in the window
  window.graphfold = { store, screen: (i, view = 0) => panels[view].screen(i), jump };
  document.documentElement.dataset.ready = Math.round(performance.now());
}

start().catch((error) => {
  byId('loading')?.remove();
  document.body.append(h('p', { class: 'loading', role: 'alert' }, `The map cannot be shown: ${error.message}`));
  throw error;
});
