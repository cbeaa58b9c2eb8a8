// The state that all parts of the page share, and who wants to know of its changes.

export function createStore(initial) {
  const state = { ...initial };
  const listeners = new Map();
  return {
    state,
    on(names, listener) {
      for (const name of [names].flat()) {
        if (!listeners.has(name)) listeners.set(name, new Set());
        listeners.get(name).add(listener);
      }
    },
    set(changes, from = null) {
      const called = new Set();
      for (const name of Object.keys(changes)) state[name] = changes[name];
      for (const name of Object.keys(changes)) {
        for (const listener of listeners.get(name) ?? []) {
          if (!called.has(listener)) listener(state, from);
          called.add(listener);
        }
      }
    },
  };
}

// Who is hidden: each column may hide classes or keep a range, and all filters count.
export function visiblePoints(state, rows, n) {
  const filters = [...state.filters].filter(([, filter]) => filter.hidden?.size || filter.range);
  if (!filters.length && !state.only) return null;
  const mask = new Uint8Array(n).fill(state.only ? 0 : 1);
  if (state.only) for (const i of state.only) mask[i] = 1;
  for (const [index, { hidden, range }] of filters) {
    const column = rows.columns[index];
    for (let i = 0; i < n; i += 1) {
      if (!mask[i]) continue;
      if (hidden) mask[i] = hidden.has(column.values[i]) ? 0 : 1;
      else mask[i] = column.parts.some((part) => part[i] >= range[0] && part[i] <= range[1]) ? 1 : 0;
    }
  }
  const found = [];
  for (let i = 0; i < n; i += 1) if (mask[i]) found.push(i);
  return found;
}
