"""How long a map takes to open in Chromium: ours, Plotly's, and the floor.

Each opening is a browser of its own on one file. ``seconds`` is by the page's clock,
from opening the file to a map that is drawn and answers. The floor is a page that
decodes the same columns and draws the same points by WebGL, and nothing else. Machines
without a graphics card draw in software, all three of them. ``--page`` writes the table
of docs/map.md.
"""

from __future__ import annotations

import argparse
import base64
import json
import tempfile
from pathlib import Path

from benchmarks.harness import RESULTS, at_most, median, ratio, run_alternating, save

SIZES = (1_000, 10_000, 100_000, 1_000_000)
KINDS = {"ours": "graphfold", "plotly": "Plotly", "floor": "floor"}
PAGE = Path(__file__).parent.parent / "docs" / "map.md"
BEGIN, END = "<!-- opening: begin -->", "<!-- opening: end -->"

FLOOR = """<!doctype html><canvas width="970" height="710"></canvas>
<script id="x" type="text/plain">%s</script><script id="c" type="text/plain">%s</script>
<script>
const bytes = (id) => Uint8Array.from(atob(document.getElementById(id).textContent),
  (letter) => letter.charCodeAt(0));
const gl = document.querySelector('canvas').getContext('webgl');
const shader = (type, text) => { const s = gl.createShader(type);
  gl.shaderSource(s, text); gl.compileShader(s); return s; };
const program = gl.createProgram();
gl.attachShader(program, shader(gl.VERTEX_SHADER, `attribute vec2 p; attribute float c;
  varying float v; void main() { v = c / 12.0; gl_PointSize = 2.0;
  gl_Position = vec4(p / 16.0, 0, 1); }`));
gl.attachShader(program, shader(gl.FRAGMENT_SHADER, `precision highp float;
  varying float v; void main() { gl_FragColor = vec4(v, 0.5, 1.0 - v, 1); }`));
gl.linkProgram(program); gl.useProgram(program);
const columns = [['p', 'x', 2, gl.FLOAT], ['c', 'c', 1, gl.UNSIGNED_BYTE]];
for (const [name, id, size, type] of columns) {
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ARRAY_BUFFER, bytes(id), gl.STATIC_DRAW);
  const at = gl.getAttribLocation(program, name);
  gl.enableVertexAttribArray(at); gl.vertexAttribPointer(at, size, type, false, 0, 0); }
gl.drawArrays(gl.POINTS, 0, %d);
gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
document.documentElement.dataset.ready = performance.now();
</script>"""

# it runs once the promise of the first plot is kept
AFTER_PLOT = """requestAnimationFrame(() => {
  document.documentElement.dataset.ready = performance.now(); });"""


def points(rows: int):
    import numpy as np

    rng = np.random.default_rng(0)
    group = rng.integers(0, 12, rows)
    Z = 4 * rng.standard_normal((12, 2))[group] + rng.standard_normal((rows, 2))
    return Z.astype(np.float32), group


def written(kind: str, rows: int) -> Path:
    """The page of one kind, written once."""
    path = Path(tempfile.gettempdir()) / f"graphfold-map-{kind}-{rows}.html"
    Z, group = points(rows)
    if kind == "ours":
        from graphfold import view

        view(Z, path, labels={"group": group}, report=False)
    elif kind == "plotly":
        import plotly.graph_objects as go

        marker = {"size": 2, "color": group}
        trace = go.Scattergl(x=Z[:, 0], y=Z[:, 1], mode="markers", marker=marker)
        go.Figure(trace).write_html(path, post_script=AFTER_PLOT)
    else:
        blocks = [base64.b64encode(part).decode() for part in (Z, group.astype("u1"))]
        path.write_text(FLOOR % (*blocks, rows))
    return path


def opened(kind: str, rows: int):
    """Open the page in a browser of its own; the page's clock says how long it took."""
    from tests.browser import chromium

    path = written(kind, rows)

    def run() -> dict:
        with chromium() as browser:
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(path.as_uri(), timeout=120_000)
            page.wait_for_selector("html[data-ready]", timeout=120_000)
            ready = page.evaluate("document.documentElement.dataset.ready")
            heap = page.evaluate("performance.memory.usedJSHeapSize")
        return {
            "seconds": float(ready) / 1000,
            "heap_mb": heap / 1e6,
            "file_mb": path.stat().st_size / 1e6,
        }

    return run


def claims_of(runs: dict) -> list[dict]:
    claims = [
        at_most("seconds to open 100,000 points", median(runs["ours, 100,000"]), 3.0),
        at_most(
            "MB of a page of 1,000 points",
            median(runs["ours, 1,000"], "file_mb"),
            1.0,
        ),
    ]
    for rows in SIZES:
        value = ratio(runs, f"ours, {rows:,}", f"plotly, {rows:,}")
        claims.append(at_most(f"ours / Plotly, {rows:,} points", value, 1.0))
    return claims


def page_table(runs: dict) -> list[str]:
    head = [f"{rows:,}" for rows in SIZES]
    lines = [f"| points | {' | '.join(head)} |", "| --- |" + " --- |" * len(SIZES)]
    for what, unit, key in (("opens in", "s", "seconds"), ("file", "MB", "file_mb")):
        for kind, name in KINDS.items():
            cells = []
            for rows in SIZES:
                good = [run for run in runs[f"{kind}, {rows:,}"] if key in run]
                cells.append(f"{median(good, key):.2f}" if good else "failed")
            lines.append(f"| {name}: {what}, {unit} | {' | '.join(cells)} |")
    return lines


def write_page() -> None:
    record = json.loads((RESULTS / "map.json").read_text())
    before, rest = PAGE.read_text().split(BEGIN)
    table = "\n".join(page_table(record["runs"]))
    PAGE.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{rest.split(END)[1]}")
    print(f"wrote {PAGE.name}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--page", action="store_true", help="only write the page")
    asked = parser.parse_args()
    if asked.page:
        write_page()
        return
    cases = {
        f"{kind}, {rows:,}": ("benchmarks.map", "opened", {"kind": kind, "rows": rows})
        for rows in SIZES
        for kind in KINDS
    }
    runs = run_alternating(cases, asked.repeats, timeout=300)
    save("map", runs, claims_of(runs))


if __name__ == "__main__":
    main()
