// What is known of a point: on a card at the pointer, and in the panel of the selected.
import { announce, byId, h, numeral, whole } from './dom.js';
import { shown } from './data.js';

const MOST_FIELDS = 12;
const MOST_LINKS = 50;

export function createPictures({ meta, block }) {
  const { images } = meta;
  const urls = new Map();

  async function pixels(i) {
    const { height, width, channels, block: number } = images;
    const all = await block(number);
    const size = height * width * channels;
    const canvas = h('canvas', { width, height, class: 'thumbnail' });
    const context = canvas.getContext('2d');
    const image = context.createImageData(width, height);
    for (let p = 0; p < height * width; p += 1) {
      const from = i * size + p * channels;
      for (let c = 0; c < 3; c += 1) image.data[4 * p + c] = all[from + (channels < 3 ? 0 : c)];
      image.data[4 * p + 3] = channels === 4 ? all[from + 3] : 255;
    }
    context.putImageData(image, 0, 0);
    return canvas;
  }

  async function file(i) {
    if (!images.types[i]) return null;
    if (!urls.has(i)) {
      const [all, ends] = await Promise.all([block(images.block), block(images.ends)]);
      const content = all.subarray(i ? ends[i - 1] : 0, ends[i]);
      urls.set(i, URL.createObjectURL(new Blob([content], { type: images.types[i] })));
    }
    return h('img', { src: urls.get(i), class: 'thumbnail', alt: '' });
  }

  return async (i) => {
    if (!images) return null;
    return images.kind === 'pixels' ? pixels(i) : file(i);
  };
}

function fields(rows, i, view) {
  const items = rows.columns.slice(0, MOST_FIELDS).flatMap((column) => [
    h('dt', {}, column.name),
    h('dd', {}, shown(column, i, view, numeral)),
  ]);
  return items.length ? h('dl', {}, ...items) : null;
}

async function describe(rows, picture, i, view) {
  const head = h('div', { class: 'head' }, await picture(i), h('div', {}, h('strong', {}, String(rows.id(i))), rows.text?.[i] ? h('p', {}, rows.text[i]) : null));
  return [head, fields(rows, i, view)].filter(Boolean);
}

export function createCard({ store, rows, picture, panels }) {
  const card = byId('card');
  let asked = 0;
  store.on('hover', async ({ hover }) => {
    asked += 1;
    const mine = asked;
    if (!hover) {
      card.hidden = true;
      return;
    }
    const content = await describe(rows, picture, hover.point, hover.view);
    if (mine !== asked) return; // the pointer has moved on
    card.replaceChildren(...content);
    card.hidden = false;
    const [left, top] = panels[hover.view].screen(hover.point);
    const box = card.getBoundingClientRect();
    const right = left + 14 + box.width > innerWidth - 8;
    card.style.left = `${Math.max(8, right ? left - 14 - box.width : left + 14)}px`;
    card.style.top = `${Math.max(8, Math.min(top + 10, innerHeight - box.height - 8))}px`;
  });
}

// The selected point: its fields, its neighbours in the data, and its links.
export function createDetails({ store, rows, meta, picture, jump, lines }) {
  const element = h('section', { id: 'details', 'aria-label': 'Selected point', tabindex: -1, hidden: true });
  let asked = 0;

  function name(i, mark = '', kind = '') {
    return h('li', {}, h('button', { class: `entry ${kind}`, onclick: () => jump(i) }, mark ? h('span', { class: 'mark' }, mark) : null, h('span', { class: 'name' }, String(rows.id(i)))));
  }

  function neighbours(i) {
    if (!rows.neighbors) return null;
    const { k } = rows;
    const views = meta.views.map((view, v) => {
      let kept = 0;
      for (let r = 0; r < k; r += 1) kept += rows.kept[v][i * k + r];
      return meta.views.length > 1 ? `${view.name}: ${kept} of ${k} kept` : `${kept} of ${k} kept`;
    });
    const items = Array.from({ length: k }, (_, r) => {
      const kept = rows.kept[store.state.view][i * k + r] === 1;
      return name(rows.neighbors[i * k + r], kept ? '✓ kept' : '✗ lost', kept ? 'kept' : 'lost');
    });
    return h('div', { class: 'block' }, h('h3', {}, 'Nearest in the data'), h('p', { class: 'muted' }, views.join(' · ')), h('ul', { class: 'entries', id: 'neighbours' }, ...items));
  }

  async function links(i) {
    if (!meta.edges.length) return null;
    const graph = await lines.graphOf(store.state.graph);
    const found = [...graph.of(i)];
    const title = `${whole(found.length)} ${found.length === 1 ? 'link' : 'links'} in ${meta.edges[store.state.graph].name}`;
    const more = found.length - MOST_LINKS;
    return h('div', { class: 'block' }, h('h3', {}, title), h('ul', { class: 'entries', id: 'linked' }, ...found.slice(0, MOST_LINKS).map((j) => name(j))),
      more > 0 ? h('p', { class: 'muted' }, `and ${whole(more)} more`) : null);
  }

  store.on(['focus', 'graph', 'view'], async ({ focus, view }) => {
    element.hidden = focus < 0;
    if (focus < 0) return;
    asked += 1;
    const mine = asked;
    const parts = [...(await describe(rows, picture, focus, view)), neighbours(focus), await links(focus)];
    if (mine !== asked) return; // someone else has been chosen since
    const wasHere = element.contains(document.activeElement);
    element.replaceChildren(...parts.filter(Boolean));
    if (wasHere) element.focus();
    announce(`selected ${rows.id(focus)}`);
  });
  return element;
}
