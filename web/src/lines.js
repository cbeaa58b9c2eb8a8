// Which lines are drawn: the graph, neighbours in the data, pairs kept and violated.
import { variable } from './colours.js';

// Rows of a point's links, without a pass over all edges for each click.
export function neighboursIn(graph, n) {
  const starts = new Uint32Array(n + 1);
  const { sources, targets } = graph;
  for (let k = 0; k < sources.length; k += 1) {
    starts[sources[k] + 1] += 1;
    starts[targets[k] + 1] += 1;
  }
  for (let i = 0; i < n; i += 1) starts[i + 1] += starts[i];
  const ends = new Uint32Array(2 * sources.length);
  const filled = starts.slice(0, n);
  for (let k = 0; k < sources.length; k += 1) {
    ends[filled[sources[k]]++] = targets[k];
    ends[filled[targets[k]]++] = sources[k];
  }
  return (i) => ends.subarray(starts[i], starts[i + 1]);
}

const MOST_LINKS = 20000; // of a selection; more would hide what is selected

export function createLines({ data, store, rows, panels }) {
  const { meta, block } = data;
  const graphs = new Map();

  async function graphOf(index) {
    if (!graphs.has(index)) {
      const { sources, targets } = meta.edges[index];
      const graph = { sources: await block(sources), targets: await block(targets) };
      graph.of = neighboursIn(graph, meta.n);
      graphs.set(index, graph);
    }
    return graphs.get(index);
  }

  function linksOf(graph, points) {
    const pairs = [];
    for (const i of points) {
      for (const j of graph.of(i)) pairs.push([i, j]);
      if (pairs.length > MOST_LINKS) break;
    }
    return pairs;
  }

  function neighboursOf(i, view, wanted) {
    const { k, neighbors, kept } = rows;
    const pairs = [];
    for (let r = 0; r < k; r += 1) {
      if (kept[view][i * k + r] === wanted) pairs.push([i, neighbors[i * k + r]]);
    }
    return pairs;
  }

  // without edges of points that are hidden; made once for a filter
  let cut = { of: null, by: null, graph: null };
  function visibleEdges(graph, seen) {
    if (!graph || !seen) return graph;
    if (cut.of !== graph || cut.by !== seen) {
      const kept = [];
      for (let k = 0; k < graph.sources.length; k += 1) {
        if (seen[graph.sources[k]] && seen[graph.targets[k]]) kept.push(k);
      }
      const pick = (ends) => Uint32Array.from(kept, (k) => ends[k]);
      cut = { of: graph, by: seen, graph: { sources: pick(graph.sources), targets: pick(graph.targets) } };
    }
    return cut.graph;
  }

  let mask = { of: null, seen: null };
  function seenPoints(visible) {
    if (!visible) return null;
    if (mask.of !== visible) {
      mask = { of: visible, seen: new Uint8Array(meta.n) };
      for (const i of visible) mask.seen[i] = 1;
    }
    return mask.seen;
  }

  async function show(panel, view) {
    const graph = meta.edges.length ? await graphOf(store.state.graph) : null;
    const { edges, selection, focus, neighbours, violated, pairs, visible } = store.state;
    const seen = seenPoints(visible);
    const both = (listed) => (seen ? listed.filter(([a, b]) => seen[a] && seen[b]) : listed);
    panel.setEdges(edges === 'all' ? visibleEdges(graph, seen) : null);
    const linked = both(graph && edges !== 'none' ? linksOf(graph, selection) : []);
    panel.setLayer('links', linked, variable('--accent'), Math.max(0.12, Math.min(0.6, 6 / Math.sqrt(linked.length))), 1.2);
    const near = focus >= 0 && neighbours && rows.neighbors;
    panel.setLayer('kept', both(near ? neighboursOf(focus, view, 1) : []), variable('--good'), 0.95, 2);
    panel.setLayer('lost', both(near ? neighboursOf(focus, view, 0) : []), variable('--warn'), 0.95, 2);
    const all = [...meta.pairs.must, ...meta.pairs.cannot];
    panel.setLayer('pairs', both(pairs ? all : []), variable('--muted'), 0.7, 1.2);
    const wrong = meta.violations[view];
    // a row nearer to another group has a red rim: a disc below the point
    const strays = violated && wrong ? wrong.misplaced.map((i) => [i, i]) : [];
    panel.setLayer('misplaced', both(strays), variable('--bad'), 0.9, panel.pointSize() + 6);
    panel.setLayer('violated', both(violated && wrong ? [...wrong.must, ...wrong.cannot] : []), variable('--bad'), 0.95, 2);
  }

  const showAll = () => Promise.all(panels.map(show));
  store.on(['edges', 'graph', 'selection', 'focus', 'neighbours', 'violated', 'pairs', 'visible'], showAll);
  panels.forEach((panel, view) => panel.element.addEventListener('moved', () => show(panel, view)));
  return { showAll, graphOf };
}
