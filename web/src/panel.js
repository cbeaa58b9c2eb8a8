// One view of the points: a scatter plot, lines below it, and which axes it shows.
import createScatterplot from 'regl-scatterplot';
import { coloured, isDark, rgb, variable } from './colours.js';
import { h } from './dom.js';
import { endsOf, endsOfEdges } from './segments.js';

const MARGIN = 0.92; // of the panel that the points fill
const DENSE = 20000; // from so many points on opacity follows the density
const FAINT = 400; // the opacity of so many lines is 1; of more it falls by the root

export function pointSize(n, area) {
  const size = 1.1 * Math.sqrt(area / n / 12);
  return Math.min(9, Math.max(n > 500000 ? 1 : 2, size));
}

function spread(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  const [middle, half] = [(low + high) / 2, (high - low) / 2 || 1];
  return Float32Array.from(values, (value) => ((value - middle) / half) * MARGIN);
}

export async function createPanel({ index, data, store, renderer, segments, place }) {
  const { meta, block } = data;
  const { axes, layouts, name, formula } = meta.views[index];
  const { n } = meta;
  const lines = h('canvas', { class: 'lines', 'aria-hidden': 'true' });
  const label = `Map ${name || index + 1} of ${n} points: arrows move, plus and minus zoom, n and p walk`;
  const canvas = h('canvas', { class: 'points', tabindex: 0, role: 'application', 'aria-label': label });
  const frame = h('div', { class: 'frame' }, lines, canvas);
  const picker = h('div', { class: 'axes' });
  const caption = h('header', { class: 'panel-head' }, h('h2', { title: formula }, name), picker);
  const element = h('section', { class: 'panel', 'aria-label': name || 'Map' }, caption, frame);
  place.append(element);

  const scatterplot = createScatterplot({
    renderer,
    canvas,
    width: 'auto',
    height: 'auto',
    pointSize: pointSize(n, frame.clientWidth * frame.clientHeight),
    pointSizeSelected: 2,
    pointOutlineWidth: 1.5,
    opacity: n < 3000 ? 0.9 : 0.75,
    opacityBy: n >= DENSE ? 'density' : undefined,
    opacityInactiveMax: 1,
    opacityInactiveScale: 0.22,
    colorBy: 'valueA',
    lassoInitiator: false,
    deselectOnDblClick: true,
    deselectOnEscape: false,
    spatialIndexUseWorker: n > 300000 ? true : undefined,
    actionKeyMap: { lasso: 'shift', merge: 'ctrl', remove: 'alt' },
  });

  let [x, y] = [null, null];
  let column = null;
  let paint = null;
  let visible = null;
  let spatialIndex = null;
  let edges = null; // of the graph that is drawn: buffers once they are needed
  const layers = new Map();
  let dirty = true;
  let seenView = '';

  function showTheme() {
    scatterplot.set({
      backgroundColor: [...rgb(variable('--bg')), 1],
      lassoColor: [...rgb(variable('--accent')), 1],
    });
  }

  async function draw(options = {}) {
    paint = coloured(column, index, n);
    const hover = isDark() ? '#ffffff' : '#000000';
    scatterplot.set({ pointColor: paint.colours, pointColorActive: paint.colours, pointColorHover: paint.colours.map(() => hover) });
    // the library reads classes from the largest number it finds: one more than colours
    await scatterplot.draw(
      { x, y, valueA: paint.codes },
      { zDataType: 'categorical', ...options, ...(visible ? { filter: visible } : {}) },
    );
    spatialIndex = scatterplot.get('spatialIndex');
    if (store.state.selection.length) scatterplot.select(store.state.selection, { preventEvent: true });
    dirty = true;
  }

  async function showAxes(choice) {
    const [first, second] = choice.layout === undefined
      ? [axes[choice.x].block, axes[choice.y].block]
      : [layouts[choice.layout].x, layouts[choice.layout].y];
    [x, y] = (await Promise.all([block(first), block(second)])).map(spread);
    forgetLines();
    await draw(n <= DENSE && spatialIndex ? { transition: true, transitionDuration: 500 } : {});
  }

  // -- lines: named layers, each with its ends, colour and width
  function forgetLines() {
    for (const layer of layers.values()) layer.ends.destroy();
    layers.clear();
    edges = null;
    element.dispatchEvent(new CustomEvent('moved'));
  }

  function setLayer(layer, pairs, colour, opacity, width) {
    layers.get(layer)?.ends.destroy();
    layers.delete(layer);
    dirty = true;
    if (!pairs.length) return;
    layers.set(layer, {
      ends: segments.buffer(endsOf(x, y, pairs)),
      count: pairs.length,
      colour: [...rgb(colour), opacity],
      width: width * devicePixelRatio,
    });
  }

  function setEdges(graph) {
    if (edges === graph) return;
    edges = graph;
    layers.get('edges')?.ends.destroy();
    layers.delete('edges');
    dirty = true;
    if (!graph) return;
    const opacity = Math.max(0.04, Math.min(0.4, Math.sqrt(FAINT / graph.sources.length)));
    layers.set('edges', {
      ends: segments.buffer(endsOfEdges(x, y, graph.sources, graph.targets)),
      count: graph.sources.length,
      colour: [...rgb(variable('--edge')), opacity],
      width: devicePixelRatio,
    });
  }

  renderer.onFrame(() => {
    const view = scatterplot.get('camera').view.join();
    if (!dirty && view === seenView) return;
    if (lines.width !== canvas.width || lines.height !== canvas.height) {
      [lines.width, lines.height] = [canvas.width, canvas.height];
    }
    seenView = view;
    dirty = false;
    if (!layers.size) {
      lines.getContext('2d').clearRect(0, 0, lines.width, lines.height);
      return;
    }
    const order = ['edges', 'pairs', 'links', 'lost', 'kept', 'violated'];
    segments.render(scatterplot, lines, order.filter((key) => layers.has(key)).map((key) => layers.get(key)));
  });

  new ResizeObserver(() => {
    const { clientWidth, clientHeight } = frame;
    if (!clientWidth || !clientHeight) return; // hidden behind the report
    scatterplot.set({ aspectRatio: clientWidth / clientHeight, pointSize: pointSize(n, clientWidth * clientHeight) });
    dirty = true;
  }).observe(frame);

  // -- what happens here, and what happens elsewhere
  scatterplot.subscribe('pointOver', (i) => store.set({ hover: { point: i, view: index } }, index));
  scatterplot.subscribe('pointOut', () => store.set({ hover: null }, index));
  scatterplot.subscribe('select', ({ points }) => store.set({ selection: [...points], focus: points.length === 1 ? points[0] : -1 }, index));
  scatterplot.subscribe('deselect', () => store.set({ selection: [], focus: -1 }, index));
  scatterplot.subscribe('lassoEnd', () => store.set({ mode: 'panZoom' }));
  store.on('selection', ({ selection }, from) => {
    if (from === index) return;
    if (selection.length) scatterplot.select(selection, { preventEvent: true });
    else scatterplot.deselect({ preventEvent: true });
  });
  store.on('hover', ({ hover }, from) => {
    if (from !== index) scatterplot.hover(hover ? hover.point : -1, { preventEvent: true });
  });
  store.on('mode', ({ mode }) => scatterplot.set({ mouseMode: mode }));
  store.on('visible', (state) => {
    visible = state.visible;
    if (visible) scatterplot.filter(visible, { preventEvent: true });
    else scatterplot.unfilter({ preventEvent: true });
  });
  store.on('theme', async () => {
    showTheme();
    forgetLines();
    await draw({ spatialIndex, preventFilterReset: !visible });
  });

  function select(name_, choices, value, change) {
    const options = choices.map(([key, text]) => h('option', { value: key, selected: key === value }, text));
    return h('select', { 'aria-label': `${name_} of ${name || 'the map'}`, onchange: change }, ...options);
  }
  const choice = layouts.length ? { layout: 0 } : { x: 0, y: 1 };
  function showPicker() {
    const titles = axes.map((axis, i) => [String(i), axis.share === null ? axis.name : `${axis.name} (${(100 * axis.share).toFixed(1)} %)`]);
    const parts = [];
    if (layouts.length) {
      const whats = [...layouts.map((layout, i) => [`l${i}`, layout.name]), ['axes', 'two components']];
      parts.push(select('Picture', whats, choice.layout === undefined ? 'axes' : `l${choice.layout}`, (event) => {
        if (event.target.value === 'axes') Object.assign(choice, { layout: undefined, x: choice.x ?? 0, y: choice.y ?? 1 });
        else choice.layout = Number(event.target.value.slice(1));
        showPicker();
        showAxes(choice);
      }));
    }
    if (choice.layout === undefined && axes.length > 2) {
      for (const side of ['x', 'y']) {
        parts.push(h('label', { class: 'axis' }, h('span', {}, side), select(`Axis ${side}`, titles, String(choice[side]), (event) => {
          choice[side] = Number(event.target.value);
          showAxes(choice);
        })));
      }
    } else if (choice.layout === undefined) {
      parts.push(h('span', { class: 'muted' }, titles.map(([, text]) => text).filter(Boolean).join(' × ')));
    }
    picker.replaceChildren(...parts);
  }
  showPicker();

  return {
    element,
    canvas,
    lines,
    scatterplot,
    setLayer,
    setEdges,
    start: async (first) => {
      column = first;
      showTheme();
      scatterplot.set({ aspectRatio: frame.clientWidth / frame.clientHeight });
      await showAxes(choice);
    },
    colour: (next) => {
      column = next;
      return draw({ spatialIndex, preventFilterReset: !visible });
    },
    // where a point stands in the window
    screen(i) {
      const box = canvas.getBoundingClientRect();
      const [left, top] = scatterplot.getScreenPosition(i);
      return [box.left + left, box.top + top];
    },
    zoomTo: (points) => scatterplot.zoomToPoints(points, { padding: 0.4, transition: true, transitionDuration: 400 }),
    reset: () => scatterplot.zoomToOrigin({ transition: true, transitionDuration: 300 }),
    async picture() {
      const whole = h('canvas', { width: canvas.width, height: canvas.height });
      const context = whole.getContext('2d');
      context.fillStyle = variable('--bg');
      context.fillRect(0, 0, whole.width, whole.height);
      context.drawImage(lines, 0, 0);
      context.drawImage(canvas, 0, 0);
      return whole;
    },
  };
}
