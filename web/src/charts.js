// Small figures as inline SVG: no library, text by textContent alone.

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 320;

/** An HTML element; children are nodes or texts, null is passed over. */
export function html(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined) element.append(child);
  }
  return element;
}

/** Three digits, and no more signs than a reader needs. */
export function number(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) {
    return value.toExponential(1).replace("e+", "e").replace("-", "−");
  }
  if (size >= 1000) return Math.round(value).toLocaleString("en").replace("-", "−");
  return String(Number(value.toPrecision(digits))).replace("-", "−");
}

export function percent(value, digits = 0) {
  if (value === null || value === undefined) return "–";
  return `${(100 * value).toFixed(digits).replace("-", "−")} %`;
}

const known = (values) => values.filter((value) => value !== null);

/** A linear map from numbers to places. */
function scale(low, high, from, to) {
  const span = high - low || 1;
  return (value) => from + ((value - low) / span) * (to - from);
}

/** Two to five round numbers between low and high. */
function ticks(low, high, wanted = 4) {
  const raw = (high - low) / wanted || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((s) => s * power).find((s) => s >= raw);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i += 1) {
    found.push(Number((i * step).toPrecision(12)));
  }
  return found;
}

function canvas(height, label) {
  return svg("svg", {
    viewBox: `0 0 ${WIDTH} ${height}`,
    role: "img",
    "aria-label": label,
    class: "gf-chart",
  });
}

function line(x1, y1, x2, y2, kind) {
  return svg("line", { x1, y1, x2, y2, class: kind });
}

/** A bar between two heights; never too thin to be seen. */
function bar(x, width, y, zero, kind) {
  const top = Math.min(y, zero);
  const height = Math.max(Math.abs(zero - y), 1);
  return svg("rect", { x, y: top, width, height, rx: Math.min(2, width / 4), class: kind });
}

function text(x, y, words, anchor = "middle", kind = "gf-tick") {
  return svg("text", { x, y, "text-anchor": anchor, class: kind }, words);
}

/** Rulers and their numbers at the left. */
function vertical(chart, values, place, left, write = number) {
  for (const value of values) {
    const y = place(value);
    chart.append(line(left, y, WIDTH - 4, y, value === 0 ? "gf-zero" : "gf-ruler"));
    chart.append(text(left - 5, y + 3.5, write(value), "end"));
  }
}

/** Which of n places get a number, so that none touch. */
function everyFew(n, room) {
  const step = Math.max(1, Math.ceil(n / room));
  return (i) => i % step === 0;
}

// -- spectrum ---------------------------------------------------------------------

export const MOST_BARS = 40;

/** Eigenvalues as bars; each drop to the next one is marked, the largest by name. */
export function spectrumChart(spectrum) {
  const values = spectrum.values.slice(0, MOST_BARS);
  const all = spectrum.values.length <= MOST_BARS;
  const next = all && spectrum.next !== undefined ? spectrum.next : null;
  const shown = next === null ? values : [...values, next];
  const finite = known(shown);
  const low = Math.min(0, ...finite);
  const high = Math.max(0, ...finite);
  const height = 190;
  const left = 44;
  const chart = canvas(height, describeSpectrum(spectrum));
  const y = scale(low, high, height - 34, 18);
  vertical(chart, ticks(low, high), y, left);
  const slot = (WIDTH - left - 8) / shown.length;
  const width = Math.min(34, slot * 0.68);
  const middle = (i) => left + 2 + slot * (i + 0.5);
  const labelled = everyFew(shown.length, 14);
  shown.forEach((value, i) => {
    if (value === null) return;
    const kept = i < values.length;
    const kind = kept ? "gf-bar gf-c0" : "gf-bar gf-left-out";
    chart.append(bar(middle(i) - width / 2, width, y(value), y(0), kind));
    if (kept && labelled(i)) chart.append(text(middle(i), height - 20, String(i + 1)));
    if (!kept) chart.append(text(middle(i), height - 20, "next"));
  });
  if (!spectrum.turned) {
    markGaps(chart, shown, middle, y, width);
    markGroups(chart, spectrum.interchangeable || [], values.length, middle, slot, height - 12);
  }
  return chart;
}

function markGaps(chart, shown, middle, y, width) {
  const drops = shown.slice(1).map((value, i) =>
    value === null || shown[i] === null ? 0 : Math.abs(shown[i] - value));
  const most = Math.max(...drops);
  const size = Math.max(...known(shown).map(Math.abs));
  const largest = most > 0.02 * size ? drops.indexOf(most) : -1; // else none is worth a name
  drops.forEach((drop, i) => {
    if (!drop) return;
    const from = y(shown[i]);
    const to = y(shown[i + 1]);
    const x = middle(i + 1);
    const named = i === largest;
    const kind = named ? "gf-gap gf-named" : "gf-gap";
    chart.append(line(middle(i) + width / 2, from, x + (named ? 4 : 0), from, kind));
    if (Math.abs(from - to) > 2) chart.append(line(x, from, x, to, kind));
    if (named) nameGap(chart, `gap ${number(drop)}`, x, from, to);
  });
}

/** Beside the drop, where bars are lower: to its right if they fall, else to its left. */
function nameGap(chart, words, x, from, to) {
  if (to < from) {
    const room = x > 125;
    chart.append(text(room ? x - 6 : 50, room ? (from + to) / 2 + 4 : 12, words,
      room ? "end" : "start", "gf-mark"));
    return;
  }
  const right = x < WIDTH - 80;
  chart.append(text(right ? x + 7 : x - 7, Math.max(from - 5, 11), words,
    right ? "start" : "end", "gf-mark"));
}

/** Brackets below axes that may mix. */
function markGroups(chart, groups, n, middle, slot, y) {
  const half = Math.min(6, slot / 2 - 2); // neighbours stay apart, strokes and all
  for (const group of groups) {
    const axes = group.filter((axis) => axis < n);
    if (!axes.length) continue; // beyond the last bar
    const open = group.length > axes.length;
    const from = middle(axes[0]) - half;
    const last = middle(axes[axes.length - 1]);
    const to = open ? Math.min(last + 14, WIDTH - 1) : last + half;
    chart.append(line(from, y, to, y, "gf-mix"));
    chart.append(line(from, y, from, y - 4, "gf-mix"));
    if (!open) chart.append(line(to, y, to, y - 4, "gf-mix"));
  }
}

function describeSpectrum(spectrum) {
  const listed = spectrum.values.slice(0, 12).map((value) => number(value)).join(", ");
  return `${spectrum.kind}: ${listed}${spectrum.values.length > 12 ? ", ..." : ""}`;
}

/** What the components explain together, one after the other. */
export function cumulativeChart(shares) {
  let sum = 0;
  const totals = shares.map((share) => (sum += share || 0));
  const height = 150;
  const left = 44;
  const chart = canvas(height, `Explained variance: ${percent(sum, 1)} by ${shares.length} components`);
  const high = Math.max(1, ...totals);
  const y = scale(0, high, height - 24, 12);
  vertical(chart, [0, 0.25, 0.5, 0.75, 1], y, left, (value) => percent(value));
  const slot = (WIDTH - left - 46) / shares.length;
  const x = (i) => left + slot * i;
  const labelled = everyFew(totals.length, 14);
  let path = `M ${x(0)} ${y(0)}`;
  totals.forEach((total, i) => {
    path += ` V ${y(total)} H ${x(i + 1)}`;
    if (labelled(i)) chart.append(text(x(i) + slot / 2, height - 8, String(i + 1)));
  });
  chart.append(svg("path", { d: `${path} V ${y(0)} Z`, class: "gf-area" }));
  chart.append(svg("path", { d: path, class: "gf-line gf-s0" }));
  chart.append(text(x(totals.length) + 5, y(sum) + 4, percent(sum), "start", "gf-mark"));
  return chart;
}

// -- paths ------------------------------------------------------------------------

/** Gain of each strength over 0 with its error; the chosen one is marked. */
export function strengthChart(strength) {
  const { strengths, gains, errors, chosen } = strength;
  const ends = gains.flatMap((gain, i) => [gain - (errors[i] || 0), gain + (errors[i] || 0)]);
  const low = Math.min(0, ...ends);
  const high = Math.max(0, ...ends);
  const height = 190;
  const left = 46;
  const at = strengths.indexOf(chosen);
  const label = `Gain over strength 0 by strength; ${number(chosen)} was chosen, `
    + `its gain is ${number(gains[at])} with a standard error of ${number(errors[at])}`;
  const chart = canvas(height, label);
  const y = scale(low, high, height - 40, 26);
  vertical(chart, ticks(low, high), y, left);
  const x = scale(0, Math.max(1, strengths.length - 1), left + 10, WIDTH - 12);
  const near = x(at) < WIDTH - 90 ? "start" : "end";
  chart.append(line(x(at), 16, x(at), height - 36, "gf-chosen"));
  chart.append(text(x(at) + (near === "start" ? 5 : -5), 12,
    `chosen: ${number(chosen)}`, near, "gf-mark"));
  const points = gains.map((gain, i) => `${x(i)},${y(gain)}`).join(" ");
  chart.append(svg("polyline", { points, class: "gf-line gf-s0" }));
  strengths.forEach((value, i) => {
    const error = errors[i] || 0;
    if (error > 0) chart.append(line(x(i), y(gains[i] - error), x(i), y(gains[i] + error), "gf-error"));
    const kind = i === at ? "gf-dot gf-picked" : "gf-dot";
    chart.append(svg("circle", { cx: x(i), cy: y(gains[i]), r: i === at ? 5 : 3, class: kind }));
  });
  for (const i of apart(strengths.map((value) => number(value)), x, at)) {
    chart.append(text(x(i), height - 24, number(strengths[i])));
  }
  chart.append(text((left + WIDTH) / 2, height - 8, "strength of the graph", "middle", "gf-axis"));
  return chart;
}

/** Words at x(i) that do not touch, ``first`` among them. */
function apart(words, x, first) {
  const half = (i) => 3.4 * words[i].length + 2;
  const taken = [first];
  words.forEach((word, i) => {
    const free = taken.every((j) => Math.abs(x(i) - x(j)) >= half(i) + half(j));
    if (i !== first && free) taken.push(i);
  });
  return taken;
}

/** A number after each round. */
export function traceChart(trace) {
  const values = known(trace);
  const height = 110;
  const left = 52;
  const last = values[values.length - 1];
  const chart = canvas(height, `Objective after each of ${values.length} rounds, ${number(last, 5)} at the end`);
  const y = scale(Math.min(...values), Math.max(...values), height - 24, 10);
  vertical(chart, ticks(Math.min(...values), Math.max(...values), 3), y, left, (v) => number(v, 4));
  const x = scale(0, values.length - 1 || 1, left + 6, WIDTH - 10);
  const points = values.map((value, i) => `${x(i)},${y(value)}`).join(" ");
  chart.append(svg("polyline", { points, class: "gf-line gf-s0" }));
  const labelled = everyFew(values.length, 10);
  values.forEach((value, i) => {
    if (values.length <= 40) chart.append(svg("circle", { cx: x(i), cy: y(value), r: 2.5, class: "gf-dot" }));
    if (labelled(i)) chart.append(text(x(i), height - 8, String(i + 1)));
  });
  return chart;
}

// -- histograms -------------------------------------------------------------------

/** Bars of a histogram, with a line of its own where ``mark`` is. */
export function histogramChart(histogram, { mark = null, name = "", label, axis, kind = "gf-null" }) {
  const { edges, counts } = histogram;
  const height = 150;
  const chart = canvas(height, label);
  let low = Math.min(edges[0], mark ?? edges[0]);
  let high = Math.max(edges[edges.length - 1], mark ?? edges[edges.length - 1]);
  const room = 0.06 * (high - low || Math.abs(high) || 1);
  if (mark !== null || low === high) [low, high] = [low - room, high + room];
  const x = scale(low, high, 12, WIDTH - 12);
  const base = height - 36;
  const y = scale(0, Math.max(...counts, 1), base, 26);
  chart.append(line(8, base, WIDTH - 8, base, "gf-zero"));
  counts.forEach((count, i) => {
    if (!count) return;
    const from = x(edges[i]);
    const width = Math.max(x(edges[i + 1]) - from - 1, 2);
    chart.append(bar(from, width, y(count), base, `gf-bar ${kind}`));
  });
  for (const value of ticks(low, high)) {
    chart.append(line(x(value), base, x(value), base + 3, "gf-zero"));
    chart.append(text(x(value), base + 14, number(value)));
  }
  if (mark !== null) {
    const right = x(mark) < WIDTH / 2;
    chart.append(line(x(mark), 18, x(mark), base, "gf-chosen gf-real"));
    chart.append(text(x(mark) + (right ? -2 : 2), 13, `${name}: ${number(mark)}`,
      right ? "start" : "end", "gf-mark"));
  }
  chart.append(text(WIDTH / 2, height - 6, axis, "middle", "gf-axis"));
  return chart;
}

// -- bars in lines of text --------------------------------------------------------

/** A bar in a line of text; ``share`` is between 0 and 1. */
export function meter(share, kind = "gf-c0") {
  const inside = html("span", { class: `gf-fill ${kind}` });
  inside.style.width = `${(100 * Math.max(0, Math.min(share || 0, 1))).toFixed(1)}%`;
  return html("span", { class: "gf-meter", "aria-hidden": "true" }, inside);
}

/** Names, bars and numbers below each other. */
export function barList(names, values, label, kind) {
  const top = Math.max(...values.map((value) => Math.abs(value || 0)), 1e-300);
  const rows = names.map((name, i) => [
    html("span", { class: "gf-name", title: name }, name),
    meter(Math.abs(values[i] || 0) / top, kind),
    html("span", { class: "gf-value" }, number(values[i])),
  ]);
  const spoken = names.map((name, i) => `${name} ${number(values[i])}`).join(", ");
  return html("div", { class: "gf-bars", role: "img", "aria-label": `${label}: ${spoken}` }, rows.flat());
}

/** One bar cut into what was kept and what was not. */
export function splitBar(kept, violated, label) {
  const part = (share, kind) => {
    const piece = html("span", { class: kind });
    piece.style.flexGrow = share;
    return piece;
  };
  const parts = [kept > 0 ? part(kept, "gf-good") : null, violated > 0 ? part(violated, "gf-bad") : null];
  return html("div", { class: "gf-split", role: "img", "aria-label": label }, parts);
}
