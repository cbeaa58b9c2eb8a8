"""The architecture, held by tests: imports point down, modules stay small."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "src" / "graphfold"
LAYERS = [
    ["progress", "allowance"],
    ["sparse_parts"],
    ["errors", "arrays", "params", "threads", "documents", "hints", "replacing"],
    ["equal_rows"],
    ["check", "operators", "neighbors", "stores", "archives"],
    ["kernels", "graphs", "solvers"],
    ["model", "io"],
    ["distributed"],
    ["estimators"],
    ["ad", "datasets", "quality", "plot", "files"],
    ["views"],
    ["demo", "experiments", "bench"],
    ["cli", "__main__", "__init__"],
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
# within a layer, only these may see each other: a saved model is made of the model's
# own records; a small eigenbasis stays on one thread
SIDEWAYS = {("io", "model"), ("arrays", "threads")}
MODULES = sorted(ROOT.rglob("*.py"))


def part_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return parts[0]


def imported_parts(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            if name.startswith("graphfold."):
                yield name.split(".")[1]


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_down(path):
    part = part_of(path)
    for other in imported_parts(path):
        if other not in RANK or other == part or RANK[part] == len(LAYERS) - 1:
            continue
        allowed = RANK[other] < RANK[part] or (part, other) in SIDEWAYS
        assert allowed, f"{part} (layer {RANK[part]}) imports {other} ({RANK[other]})"


def test_every_module_has_a_layer():
    assert {part_of(path) for path in MODULES} == set(RANK)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_modules_stay_readable(path):
    lines = path.read_text().splitlines()
    assert len(lines) <= 400


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_only_the_estimators_know_scikit_learns_base_classes(path):
    if RANK[part_of(path)] >= RANK["estimators"]:
        return
    assert "from sklearn.base" not in path.read_text()


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_eigenvectors_come_through_one_door(path):
    if part_of(path) in ("solvers", "arrays"):
        return
    text = path.read_text()
    assert not any(name in text for name in (".eigh(", "eigsh(", "lobpcg("))
