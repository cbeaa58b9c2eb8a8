"""``graphfold embed`` on a large csv against reading it and calling the library.

The command pays for its start (the imports of scikit-learn above all) and for writing;
the other side is timed in a process that has imported everything, so that the ratio is
the strictest one. A script that does the same from its start is timed as well.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

from benchmarks.harness import at_most, ratio, run_alternating, save

ROWS, COLUMNS, LANDMARKS = 100_000, 50, 300


def folder(rows: int) -> Path:
    return Path(tempfile.gettempdir()) / f"graphfold-command-line-{rows}"


def data(rows: int) -> Path:
    """A table of normal numbers, written once, in all digits."""
    import numpy as np
    import pandas as pd

    path = folder(rows) / "data.csv"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        X = np.random.default_rng(0).standard_normal((rows, COLUMNS))
        names = [f"x{i}" for i in range(COLUMNS)]
        pd.DataFrame(X, columns=names).to_csv(path, index=False)
    return path


def library(rows: int, neighbors: int = 0):
    import pandas as pd

    from graphfold import GraphKernelPCA, NeighborGraph

    path = data(rows)
    graph = NeighborGraph(neighbors) if neighbors else None

    def run() -> None:
        X = pd.read_csv(path)
        GraphKernelPCA(2, graph=graph, landmarks=LANDMARKS).fit_transform(X)

    return run


def script(rows: int):
    text = f"""
        import pandas as pd
        from graphfold import GraphKernelPCA

        X = pd.read_csv({str(data(rows))!r})
        GraphKernelPCA(2, landmarks={LANDMARKS}).fit_transform(X)
    """
    words = [sys.executable, "-c", textwrap.dedent(text)]
    return lambda: check(words)


def command(rows: int, neighbors: int = 0):
    words = [sys.executable, "-m", "graphfold", "embed", str(data(rows)), "--quiet"]
    words += ["--landmarks", str(LANDMARKS), "-o", str(folder(rows) / "out.csv")]
    words += ["--neighbors", str(neighbors)] if neighbors else []
    return lambda: check(words)


def check(words: list[str]) -> None:
    subprocess.run(words, check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--graph", action="store_true", help="also with neighbours")
    asked = parser.parse_args()
    size = {"rows": asked.rows}
    cases = {
        name: (__name__.replace("__main__", "benchmarks.command_line"), name, size)
        for name in ("library", "script", "command")
    }
    if asked.graph:
        module = cases["library"][0]
        for name in ("library", "command"):
            more = size | {"neighbors": 10}
            cases[f"{name}, graph"] = (module, name, more)
    data(asked.rows)
    runs = run_alternating(cases, asked.repeats, timeout=900)
    what = f"embed / (reading + library), {asked.rows:,} rows"
    claims = [
        at_most(what, ratio(runs, "command", "library"), 2.0),
        at_most(
            f"embed / a script that does it, {asked.rows:,} rows",
            ratio(runs, "command", "script"),
            2.0,
        ),
    ]
    if asked.graph:
        value = ratio(runs, "command, graph", "library, graph")
        claims.append(at_most(f"{what}, graph", value, 2.0))
    save("command_line", runs, claims, trial=asked.rows != ROWS)


if __name__ == "__main__":
    main()
