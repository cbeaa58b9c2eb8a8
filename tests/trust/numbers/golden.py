"""The answers of each release, kept as plain numbers: golden/<version>.json.

``python -m tests.trust.numbers.golden --write`` writes those of this version. That is
done once, before it is released; an answer that changes later is a bug, or a line in
``CHANGED`` with its reason and one in the changelog.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

import graphfold
from tests.trust.numbers.cases import CASES, Answer

FOLDER = Path(__file__).parent / "golden"

#: how near an answer has to come: the largest difference in a list of numbers beside
#: the largest of them, for (float64, float32); and why it is not nearer
TOLERANCES: dict[str, tuple[float, float, str]] = {
    "exact": (1e-8, 1e-4, "LAPACK: rounding, over the gaps of the spectrum"),
    "local": (1e-7, 1e-4, "weights of neighbours, and the inverse of what they leave"),
    "iterated": (1e-7, 1e-4, "a residual of 1e-10, over the gaps of the spectrum"),
    "learned": (1e-7, 1e-4, "weights are learned until they move by less"),
    "landmarks": (1e-5, 1e-2, "features of rows are kept in four bytes"),
    "refined": (1e-3, 1e-2, "refined until a residual of 5e-3, by default"),
    "descent": (1e-4, 1e-3, "stopped at an optimality residual, not at the optimum"),
    "counted": (1e-12, 2e-2, "ranks: a tie that single precision breaks counts once"),
}

#: (version, case): why a release may answer otherwise than an older one did
CHANGED: dict[tuple[str, str], str] = {}


def version() -> str:
    """The release that this checkout is going to be."""
    return graphfold.__version__.partition(".dev")[0]


def path_of(release: str) -> Path:
    return FOLDER / f"{release}.json"


def stored(release: str) -> dict[str, Answer]:
    return json.loads(path_of(release).read_text())["answers"]


def releases() -> list[str]:
    """Those whose answers are kept, this one among them whether it is or not."""
    return sorted({path.stem for path in FOLDER.glob("*.json")} | {version()})


def differences(found: Answer, expected: Answer) -> dict[str, float]:
    """For each list the largest difference, beside its largest number."""
    far = {}
    for name, values in expected.items():
        ours = np.asarray(found.get(name, []))
        if len(ours) != len(values):
            far[name] = np.inf
            continue
        size = max(np.abs(values).max(initial=0.0), np.finfo(np.float32).tiny)
        far[name] = float(np.abs(ours - values).max(initial=0.0) / size)
    return far


def write() -> None:
    answers = {name: case.fit(np.float64) for name, case in CASES.items()}
    FOLDER.mkdir(exist_ok=True)
    content = {"version": version(), "answers": answers}
    path_of(version()).write_text(json.dumps(content, indent=1) + "\n")
    print(f"{path_of(version()).name}: {len(answers)} fits")


def table() -> str:
    """The tolerances as a table of the documentation."""
    lines = ["| fits | float64 | float32 | because |", "| --- | --- | --- | --- |"]
    for kind, (double, single, why) in TOLERANCES.items():
        number = sum(case.kind == kind for case in CASES.values())
        lines.append(f"| {kind} ({number}) | {double:g} | {single:g} | {why} |")
    return "\n".join(lines)


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        write()
    else:
        print(table())
