// Lines to draw, and the pictures of all panels.
import { byId, download, h, whole } from './dom.js';

function choice(id, text, name, store) {
  const box = h('input', { type: 'checkbox', id, onchange: () => store.set({ [name]: box.checked }) });
  box.checked = store.state[name];
  return h('label', { class: 'check' }, box, ' ', text);
}

function graphs(meta, store) {
  const ways = [['none', 'none'], ['selected', 'of selected'], ['all', 'all']];
  const buttons = ways.map(([value, text]) => h('button', { id: `edges-${value}`, onclick: () => store.set({ edges: value }) }, text));
  const about = h('p', { class: 'muted' });
  const picker = h('select', { 'aria-label': 'Graph', onchange: () => store.set({ graph: Number(picker.value) }) },
    ...meta.edges.map((graph, i) => h('option', { value: i }, graph.name)));
  function show() {
    const { edges, graph } = store.state;
    buttons.forEach((button, i) => button.setAttribute('aria-pressed', String(edges === ways[i][0])));
    const { count, total } = meta.edges[graph];
    about.textContent = count < total ? `the heaviest ${whole(count)} of ${whole(total)} edges` : `${whole(total)} edges`;
  }
  store.on(['edges', 'graph'], show);
  show();
  return [h('div', { class: 'row' }, h('span', {}, 'Links'), h('div', { class: 'segmented', role: 'group', 'aria-label': 'Links' }, ...buttons)),
    meta.edges.length > 1 ? picker : null, about];
}

export function createControls({ meta, store }) {
  const parts = [];
  if (meta.edges.length) parts.push(...graphs(meta, store));
  if (meta.neighbors) {
    parts.push(choice('show-neighbours', 'nearest in the data, of the selected point', 'neighbours', store),
      h('p', { class: 'muted keys' }, h('span', { class: 'dash good' }), ' kept by the embedding  ', h('span', { class: 'dash warn' }), ' lost'));
  }
  const held = meta.violations.map((view, v) => view && [meta.views[v].name, view.must.length + view.cannot.length + view.misplaced.length]).filter(Boolean);
  if (held.length) {
    const counts = held.length > 1 ? held.map(([name, count]) => `${name}: ${whole(count)}`).join(', ') : whole(held[0][1]);
    parts.push(choice('show-violated', `violated constraints (${counts})`, 'violated', store));
  }
  if (meta.pairs.must.length + meta.pairs.cannot.length) parts.push(choice('show-pairs', 'given pairs', 'pairs', store));
  return parts.length ? h('section', { 'aria-label': 'Lines' }, ...parts.filter(Boolean)) : null;
}

export async function savePicture(panels, title) {
  const pictures = await Promise.all(panels.map((panel) => panel.picture()));
  const whole_ = h('canvas', { width: pictures.reduce((sum, part) => sum + part.width, 0), height: Math.max(...pictures.map((part) => part.height)) });
  let left = 0;
  for (const part of pictures) {
    whole_.getContext('2d').drawImage(part, left, 0);
    left += part.width;
  }
  whole_.toBlob((blob) => download(`${title.replace(/[^\w-]+/g, '-') || 'map'}.png`, blob));
}

export function createTabs(hasReport, onShow) {
  const tabs = ['map', 'report'];
  function show(name) {
    for (const tab of tabs) {
      byId(tab).hidden = tab !== name;
      byId(`tab-${tab}`).setAttribute('aria-selected', String(tab === name));
      byId(`tab-${tab}`).tabIndex = tab === name ? 0 : -1;
    }
    onShow(name);
  }
  for (const tab of tabs) {
    byId(`tab-${tab}`).addEventListener('click', () => show(tab));
    byId(`tab-${tab}`).addEventListener('keydown', (event) => {
      if (!['ArrowLeft', 'ArrowRight'].includes(event.key)) return;
      const other = tabs.find((name) => name !== tab);
      show(other);
      byId(`tab-${other}`).focus();
    });
  }
  byId('tab-report').parentElement.hidden = !hasReport;
  return show;
}
