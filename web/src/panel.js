// One view of the points: a scatter plot, lines below it, and which axes it shows.
import createScatterplot from 'regl-scatterplot';
import { coloured, isDark, rgb, variable } from './colours.js';
import { h } from './dom.js';
import { endsOf, endsOfEdges } from './segments.js';
import { listenToFingers } from './touch.js';

const MARGIN = 0.92; // of the panel that the points fill
const NEAREST = 0.15; // half of the part of the map that is always seen
const DENSE = 20000; // from so many points on opacity follows the density
const FAINT = 400; // the opacity of so many lines is 1; of more it falls by the root

export function pointSize(n, area) {
  const size = 1.1 * Math.sqrt(area / n / 12);
  return Math.min(9, Math.max(n > 500000 ? 1 : 2, size));
}

// Places come between -1 and 1 already; a little room is left at the rim.
const withRoom = (values) => Float32Array.from(values, (value) => value * MARGIN);

// Around some points, with room, and never so near that nothing else is seen.
function boxOf(points, x, y) {
  const sides = [x, y].map((places) => {
    let [low, high] = [Infinity, -Infinity];
    for (const i of points) {
      low = Math.min(low, places[i]);
      high = Math.max(high, places[i]);
    }
    const half = Math.max(0.7 * (high - low), NEAREST);
    return [(low + high) / 2 - half, (low + high) / 2 + half];
  });
  return [sides[0][0], sides[1][0], sides[0][1], sides[1][1]];
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

  // What is wanted may change while the library draws, and it refuses a second drawing:
  // the panel then draws once more, until what is drawn is what is wanted.
  const choice = layouts.length ? { layout: 0 } : { x: 0, y: 1 };
  let drawing = null;
  let again = false;
  let drawnBlocks = '';

  async function drawOnce() {
    const [first, second] = choice.layout === undefined
      ? [axes[choice.x].block, axes[choice.y].block]
      : [layouts[choice.layout].x, layouts[choice.layout].y];
    const moved = drawnBlocks !== `${first} ${second}`;
    const options = { zDataType: 'categorical' };
    if (moved) {
      const [nextX, nextY] = await Promise.all([block(first), block(second)]);
      [x, y] = [withRoom(nextX), withRoom(nextY)];
      if (drawnBlocks && n <= DENSE) Object.assign(options, { transition: true, transitionDuration: 500 });
      if (drawnBlocks) scatterplot.reset({ preventEvent: true });
      drawnBlocks = `${first} ${second}`;
      forgetLines();
    } else {
      options.spatialIndex = scatterplot.get('spatialIndex');
    }
    const { codes, colours } = coloured(column, index, n);
    const hover = isDark() ? '#ffffff' : '#000000';
    scatterplot.set({ pointColor: colours, pointColorActive: colours, pointColorHover: colours.map(() => hover) });
    if (store.state.visible) options.filter = [...store.state.visible];
    await scatterplot.draw({ x, y, valueA: codes }, options);
    follow();
    dirty = true;
  }

  function draw() {
    again = true;
    drawing ??= (async () => {
      while (again) {
        again = false;
        await drawOnce();
      }
    })().finally(() => {
      drawing = null;
    });
    return drawing;
  }

  // The library changes the lists it is given, and forgets them when it draws.
  function follow() {
    const { visible, selection } = store.state;
    if (visible) scatterplot.filter([...visible], { preventEvent: true });
    else if (scatterplot.get('isPointsFiltered')) scatterplot.unfilter({ preventEvent: true });
    if (selection.length) scatterplot.select([...selection], { preventEvent: true });
    else scatterplot.deselect({ preventEvent: true });
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
    const order = ['edges', 'misplaced', 'pairs', 'links', 'lost', 'kept', 'violated'];
    segments.render(scatterplot, lines, order.filter((key) => layers.has(key)).map((key) => layers.get(key)));
  });

  new ResizeObserver(() => {
    const { clientWidth, clientHeight } = frame;
    if (!clientWidth || !clientHeight) return; // hidden behind the report
    scatterplot.set({ aspectRatio: clientWidth / clientHeight, pointSize: pointSize(n, clientWidth * clientHeight) });
    dirty = true;
  }).observe(frame);

  // -- what happens here, and what happens elsewhere
  listenToFingers({ canvas, scatterplot, store });
  scatterplot.subscribe('pointOver', (i) => store.set({ hover: { point: i, view: index } }, index));
  scatterplot.subscribe('pointOut', () => store.set({ hover: null }, index));
  scatterplot.subscribe('select', ({ points }) => store.set({ selection: [...points], focus: points.length === 1 ? points[0] : -1 }, index));
  scatterplot.subscribe('deselect', () => store.set({ selection: [], focus: -1 }, index));
  scatterplot.subscribe('lassoEnd', () => store.set({ mode: 'panZoom' }));
  store.on(['selection', 'visible'], (_, from) => {
    if (from !== index && !drawing) follow();
  });
  store.on('hover', ({ hover }, from) => {
    if (from !== index) scatterplot.hover(hover ? hover.point : -1, { preventEvent: true });
  });
  store.on('mode', ({ mode }) => scatterplot.set({ mouseMode: mode }));
  store.on('theme', () => {
    showTheme();
    forgetLines();
    draw();
  });

  function select(name_, choices, value, change) {
    const options = choices.map(([key, text]) => h('option', { value: key, selected: key === value }, text));
    return h('select', { 'aria-label': `${name_} of ${name || 'the map'}`, onchange: change }, ...options);
  }
  function showPicker() {
    const share = (axis) => (axis.share === null ? '' : ` (${(100 * axis.share).toFixed(1)} %)`);
    const short = (axis, i) => (axis.name === `component ${i + 1}` ? String(i + 1) : axis.name);
    const titles = axes.map((axis, i) => [String(i), short(axis, i) + share(axis)]);
    const parts = [];
    if (layouts.length) {
      const whats = [...layouts.map((layout, i) => [`l${i}`, layout.name]), ['axes', 'two components']];
      parts.push(select('Picture', whats, choice.layout === undefined ? 'axes' : `l${choice.layout}`, (event) => {
        if (event.target.value === 'axes') Object.assign(choice, { layout: undefined, x: choice.x ?? 0, y: choice.y ?? 1 });
        else choice.layout = Number(event.target.value.slice(1));
        showPicker();
        picker.querySelector('select').focus();
        draw();
      }));
    }
    if (choice.layout === undefined && axes.length > 2) {
      for (const side of ['x', 'y']) {
        parts.push(h('label', { class: 'axis' }, h('span', { title: `component on the ${side} axis` }, side), select(`Axis ${side}`, titles, String(choice[side]), (event) => {
          choice[side] = Number(event.target.value);
          draw();
        })));
      }
    } else if (choice.layout === undefined) {
      const all = axes.map((axis) => axis.name + share(axis)).filter(Boolean).join(' × ');
      const plain = axes.every((axis, i) => axis.name === `component ${i + 1}`);
      const text = plain ? 'components 1 × 2' : axes.map((axis) => axis.name).filter(Boolean).join(' × ');
      parts.push(h('span', { class: 'muted cut', title: all }, text));
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
    pointSize: () => scatterplot.get('pointSize'),
    start: async (first) => {
      column = first;
      showTheme();
      scatterplot.set({ aspectRatio: frame.clientWidth / frame.clientHeight });
      await draw();
    },
    colour: (next) => {
      column = next;
      return draw();
    },
    // where a point stands in the window
    screen(i) {
      const box = canvas.getBoundingClientRect();
      const [left, top] = scatterplot.getScreenPosition(i);
      return [box.left + left, box.top + top];
    },
    zoomTo(points) {
      const [left, bottom, right, top] = boxOf(points, x, y);
      const area = { x: left, y: bottom, width: right - left, height: top - bottom };
      return scatterplot.zoomToArea(area, { transition: true, transitionDuration: 400 });
    },
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
