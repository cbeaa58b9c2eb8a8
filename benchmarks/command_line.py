"""``graphfold embed`` on a large csv against reading it and calling the library.

The command pays for its start (the imports of scikit-learn above all) and for writing;
"library" is timed in a process that has imported everything, which is the strictest
comparison, and "script" does the same from its start, as who has no command would.
1,000 landmarks are what the command advises for so many rows; 300 are a call that is
hardly longer than the reading.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

from benchmarks.harness import at_most, ratio, run_alternating, save

MODULE = "benchmarks.command_line"
ROWS, COLUMNS, LANDMARKS = 100_000, 50, (1000, 300)


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


def library(rows: int, landmarks: int):
    import pandas as pd

    from graphfold import GraphKernelPCA

    path = data(rows)

    def run() -> None:
        GraphKernelPCA(2, landmarks=landmarks).fit_transform(pd.read_csv(path))

    return run


def script(rows: int, landmarks: int):
    text = f"""
        import pandas as pd
        from graphfold import GraphKernelPCA

        X = pd.read_csv({str(data(rows))!r})
        GraphKernelPCA(2, landmarks={landmarks}).fit_transform(X)
    """
    return in_a_process(["-c", textwrap.dedent(text)])


def command(rows: int, landmarks: int):
    words = ["-m", "graphfold", "embed", str(data(rows)), "--quiet"]
    words += ["--landmarks", str(landmarks), "-o", str(folder(rows) / "out.csv")]
    return in_a_process(words)


def in_a_process(words: list[str]):
    def run() -> None:
        subprocess.run([sys.executable, *words], check=True)

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--repeats", type=int, default=5)
    asked = parser.parse_args()
    data(asked.rows)
    cases = {
        f"{name}, {m} landmarks": (MODULE, name, {"rows": asked.rows, "landmarks": m})
        for m in LANDMARKS
        for name in ("library", "script", "command")
    }
    runs = run_alternating(cases, asked.repeats, timeout=900)
    claims = [
        at_most(
            f"embed / {text}, {m} landmarks",
            ratio(runs, f"command, {m} landmarks", f"{other}, {m} landmarks"),
            2.0,
        )
        for m in LANDMARKS
        for other, text in (
            ("library", "(reading + library call)"),
            ("script", "script of both"),
        )
    ]
    save("command_line", runs, claims, trial=asked.rows != ROWS)


if __name__ == "__main__":
    main()
