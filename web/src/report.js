// The report of one or several models: figures first, parameters last.

import {
  MOST_BARS,
  barList,
  cumulativeChart,
  histogramChart,
  html,
  meter,
  number,
  percent,
  spectrumChart,
  splitBar,
  strengthChart,
  traceChart,
} from "./charts.js";

const OPEN_LIST = 6; // lists up to this long are not folded

/**
 * Show reports inside an element.
 *
 * reports: what graphfold.views.report.report_of made, each with a name of its own.
 */
export function renderReport(element, reports) {
  const level = 2; // of headings: the first is the title of the page
  const compared = reports.length > 1 ? comparison(reports, level) : null;
  const sections = reports.map((report) => section(report, level));
  const root = html("div", { class: "gf-reports" }, compared, sections);
  element.replaceChildren(root);
  return root;
}

function section(report, level) {
  const found = CARDS.map((card) => card(report, level + 1)).flat().filter(Boolean);
  return html("section", { class: "gf-report", "aria-label": `Report of ${report.name}` },
    header(report, level),
    html("div", { class: "gf-cards" }, found));
}

function header(report, level) {
  const { shape } = report;
  const facts = [
    [shape.rows.toLocaleString("en"), shape.rows === 1 ? "row" : "rows"],
    shape.columns === null ? null : [shape.columns.toLocaleString("en"), "columns"],
    [shape.components, shape.components === 1 ? "component" : "components"],
    ...graphFacts(report),
    report.strength && report.graphs ? [number(report.strength.used), "strength of the graph"] : null,
    report.landmarks ? [report.landmarks.count.toLocaleString("en"), "landmarks"] : null,
  ].filter(Boolean);
  const kind = report.class && report.class !== report.name ? report.class : null;
  return html("header", { class: "gf-head" },
    html(`h${level}`, {}, report.name),
    kind ? html("p", { class: "gf-kind" }, kind) : null,
    report.formula ? html("p", { class: "gf-formula" }, html("code", {}, report.formula)) : null,
    html("ul", { class: "gf-facts" }, facts.map(([value, name]) =>
      html("li", {}, html("b", {}, String(value)), ` ${name}`))));
}

function graphFacts(report) {
  const graphs = report.graphs || [];
  return graphs.flatMap((graph) => {
    const of = graphs.length > 1 ? ` of ${graph.name}` : "";
    const parts = graph.parts === null ? [] : [[graph.parts.toLocaleString("en"), graph.parts === 1 ? "part" : "parts"]];
    const edges = [graph.edges.toLocaleString("en"), `edges${of}`];
    return graphs.length > 1 ? [edges] : [edges, ...parts];
  });
}

function card(title, level, content, kind = "") {
  return html("article", { class: `gf-card ${kind}`.trim() }, html(`h${level}`, {}, title), content);
}

function caption(words) {
  return html("p", { class: "gf-caption" }, words);
}

// -- figures ----------------------------------------------------------------------

function spectrum(report, level) {
  const found = report.spectrum;
  if (!found) return null;
  const d = found.values.length;
  const notes = [];
  if (d > MOST_BARS) notes.push(`Shown are the first ${MOST_BARS} of ${d} axes.`);
  if (found.turned) {
    notes.push("Axes are turned towards another embedding, so gaps are not those of one axis.");
  } else if ((found.interchangeable || []).length) {
    notes.push(mixing(found.interchangeable, d));
  }
  const title = found.kind.charAt(0).toUpperCase() + found.kind.slice(1);
  return card(title, level, [spectrumChart(found), notes.map(caption)]);
}

/** One sentence for all groups; a group is a run of axes, d stands for one left out. */
function mixing(groups, d) {
  const several = groups.length > 1;
  const named = groups.map((group) => {
    const kept = group.filter((axis) => axis < d);
    const [from, to] = [kept[0] + 1, kept[kept.length - 1] + 1];
    const other = several ? " with one that was left out" : " and one that was left out";
    return `${from === to ? from : `${from}-${to}`}${group.length > kept.length ? other : ""}`;
  });
  const last = named.pop();
  const which = several ? `${named.join(", ")} and ${last}` : last;
  const axes = several || groups[0].filter((axis) => axis < d).length > 1 ? "Axes" : "Axis";
  const sure = several ? "the span of each group" : "their span";
  return `${axes} ${which} may mix when the data change by 1 %: only ${sure} is sure.`;
}

function explained(report, level) {
  const shares = report.spectrum && report.spectrum.explained;
  if (!shares || shares.length < 2) return null;
  return card("Explained variance", level, cumulativeChart(shares));
}

function weights(report, level) {
  const groups = (report.weights || []).filter((group) => group.names.length > 1);
  const colours = { kernels: "gf-c0", graphs: "gf-c1", modes: "gf-c2" };
  return groups.map((group) => card(
    group.title === "share of a place" ? "Share of a sample’s place" : `Weights of ${group.title}`,
    level,
    barList(group.names, group.values, group.title, colours[group.title] || "gf-c3"),
  ));
}

function strength(report, level) {
  const found = report.strength;
  if (!found || !found.strengths) return null;
  const by = found.scored_by === "columns" ? "columns left out" : "edges left out";
  return card("Strength of the graph", level, [
    strengthChart(found),
    caption(`How much better ${by} are foretold than without the graph; bars are standard errors.`),
  ]);
}

function gains(report, level) {
  return (report.gain || []).map((one) => {
    const several = report.gain.length > 1;
    const title = several ? `Does “${one.name}” help?` : "Does the graph help?";
    const label = `${one.sentence} Histogram of ${one.n_copies} rewired copies.`;
    return card(title, level, [
      html("p", { class: "gf-verdict" },
        html("b", { class: one.helps ? "gf-yes" : "gf-no" }, one.helps ? "It helps" : "Not seen to help"),
        html("span", {}, `effect ${percent(one.effect, 1)}`),
        html("span", {}, `p = ${number(one.p_value, 2)}`),
        html("span", {}, `z = ${number(one.z_score)}`)),
      histogramChart(one.null, {
        mark: one.smoothness,
        name: "this graph",
        label,
        axis: `roughness of ${one.n_copies} rewired copies (1: any two rows)`,
      }),
      contradictions(one),
    ]);
  });
}

function contradictions(one) {
  if (!one.edges.length) return null;
  return folded(`${one.edges.length} edges that contradict the data most`, false, table(
    ["from", "to", "weight", "excess"],
    one.edges.map((edge) => [edge.source, edge.target, number(edge.weight), number(edge.excess)]),
    2,
  ));
}

function constraints(report, level) {
  const found = report.constraints;
  if (!found) return null;
  const bars = found.counts.map((count) => {
    const kept = count.asked - count.violated;
    const said = `${kept.toLocaleString("en")} of ${count.asked.toLocaleString("en")} kept`;
    return [
      html("p", { class: "gf-count" }, html("span", {}, count.name), html("span", { class: "gf-value" }, said)),
      splitBar(kept, count.violated, `${count.name}: ${said}`),
    ];
  });
  const pairs = found.violated.map((pair) => [pair.kind, pair.first, pair.second, number(pair.distance)]);
  const unseen = found.n_unknown_pairs;
  return card("Constraints", level, [
    bars.length ? bars.flat() : caption("Nothing was asked for."),
    pairs.length ? folded(more("violated pair", pairs.length, found.n_violated), pairs.length <= OPEN_LIST,
      table(["kind", "row", "row", "apart"], pairs, 3)) : null,
    found.misplaced.length ? folded(
      more("row", found.misplaced.length, found.n_misplaced, " nearer to another group"), false,
      html("ul", { class: "gf-labels" }, found.misplaced.map((label) => html("li", {}, String(label)))),
    ) : null,
    unseen ? caption(`${unseen} pairs were passed over: they are not among the rows.`) : null,
  ]);
}

function more(word, shown, total, after = "") {
  const count = `${total.toLocaleString("en")} ${word}${total === 1 ? "" : "s"}${after}`;
  return total > shown ? `${count}, the first ${shown}` : count;
}

function trust(report, level) {
  if (!report.trust) return null;
  const row = (report.quality || []).find((one) => one.name === "trustworthiness");
  const mean = row ? row.value : null;
  return card("Trust of each row", level, [
    histogramChart(report.trust, {
      mark: mean,
      name: "mean",
      label: `Histogram of the trust of each row, ${number(mean)} on average`,
      axis: "1: all neighbours in the map are neighbours in X",
      kind: "gf-c0",
    }),
  ]);
}

function objective(report, level) {
  const trace = report.objective;
  if (!trace || trace.filter((value) => value !== null).length < 3) return null;
  return card("Objective, round by round", level, traceChart(trace));
}

// -- words and tables -------------------------------------------------------------

function warnings(report, level) {
  return (report.warnings || []).map((one) =>
    card(one.category, level, html("p", {}, one.message), "gf-warning"));
}

function notes(report, level) {
  return (report.notes || []).map((note) => card("Left out", level, html("p", {}, note)));
}

function quality(report, level) {
  const rows = report.quality || [];
  if (!rows.length) return null;
  const body = rows.map((row) => html("tr", {},
    html("th", { scope: "row" }, row.name, html("span", { class: "gf-note" }, row.note)),
    html("td", { class: row.good === false ? "gf-cell gf-no" : "gf-cell" },
      html("span", {}, minus(row.text)), row.share ? meter(row.value, colourOf(row)) : null)));
  return card("Quality", level, html("table", { class: "gf-quality" },
    html("thead", { class: "gf-hidden" }, html("tr", {}, ["measure", "value"].map((name) =>
      html("th", { scope: "col" }, name)))),
    html("tbody", {}, body)));
}

function minus(words) {
  return words.replace("-", "−");
}

function colourOf(row) {
  return row.better === "lower" ? "gf-warn" : "gf-c0";
}

function solver(report, level) {
  const found = report.solver;
  if (!found) return null;
  const rows = [
    found.name ? ["solver", found.name] : null,
    found.reason ? ["because", found.reason] : null,
    found.converged === undefined ? null : ["converged", found.converged ? "yes" : "no"],
    found.iterations === undefined ? null : ["rounds", number(found.iterations)],
    found.residual === undefined ? null : ["residual", number(found.residual)],
    report.landmarks && report.landmarks.error !== null
      ? ["landmark error", percent(report.landmarks.error, 1)] : null,
  ].filter(Boolean);
  return rows.length ? card("How it was solved", level, pairs(rows)) : null;
}

function parameters(report, level) {
  const rows = report.parameters || [];
  if (!rows.length) return null;
  const listed = (some, kind) => html("table", { class: `gf-parameters ${kind}`.trim() },
    html("thead", { class: "gf-hidden" }, html("tr", {},
      html("th", { scope: "col" }, "parameter"), html("th", { scope: "col" }, "value"))),
    html("tbody", {}, some.map((row) => html("tr", {},
      html("th", { scope: "row" }, row.name),
      html("td", { title: row.changed ? `by default ${row.default}` : null }, row.value)))));
  const changed = rows.filter((row) => row.changed);
  const others = rows.filter((row) => !row.changed);
  return card("Parameters", level, [
    changed.length ? listed(changed, "gf-changed") : caption("All as by default."),
    others.length ? folded(`${others.length} as by default`, false, listed(others, "")) : null,
  ]);
}

function pairs(rows) {
  return html("dl", { class: "gf-pairs" }, rows.flatMap(([name, value]) =>
    [html("dt", {}, name), html("dd", {}, value)]));
}

function folded(title, open, content) {
  return html("details", open ? { open: "" } : {}, html("summary", {}, title),
    html("div", { class: "gf-scroll", tabindex: "0", role: "region", "aria-label": title }, content));
}

function table(names, rows, numeric) {
  return html("table", {},
    html("thead", {}, html("tr", {}, names.map((name) => html("th", { scope: "col" }, name)))),
    html("tbody", {}, rows.map((row) => html("tr", {}, row.map((value, i) =>
      html("td", i >= numeric ? { class: "gf-value" } : {}, String(value)))))));
}

/** The quality of several models side by side; the best of a row stands out. */
function comparison(reports, level) {
  const rows = new Map();
  reports.forEach((report, i) => (report.quality || []).filter((row) => row.share).forEach((row) => {
    if (!rows.has(row.name)) rows.set(row.name, { better: row.better, values: reports.map(() => null) });
    rows.get(row.name).values[i] = row.value;
  }));
  const shared = [...rows].filter(([, row]) => row.values.filter((value) => value !== null).length > 1);
  if (!shared.length) return null;
  const body = shared.map(([name, row]) => {
    const found = row.values.filter((value) => value !== null);
    const best = row.better === "lower" ? Math.min(...found) : Math.max(...found);
    return html("tr", {}, html("th", { scope: "row" }, name), row.values.map((value) =>
      html("td", { class: value === best ? "gf-cell gf-best" : "gf-cell" },
        value === null ? "–" : [html("span", {}, value.toFixed(3)), meter(value, colourOf(row))])));
  });
  const names = ["", ...reports.map((report) => report.name)];
  return html("section", { class: "gf-report gf-compared", "aria-label": "Quality compared" },
    html("header", { class: "gf-head" }, html(`h${level}`, {}, "Side by side")),
    html("div", { class: "gf-card gf-scroll", tabindex: "0", role: "region", "aria-label": "Quality compared" },
      html("table", { class: "gf-compare" },
        html("thead", {}, html("tr", {}, names.map((name) => html("th", { scope: "col" }, name)))),
        html("tbody", {}, body))));
}

const CARDS = [
  spectrum, explained, weights, strength, gains, constraints, quality, trust,
  objective, warnings, notes, solver, parameters,
];
