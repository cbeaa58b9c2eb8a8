"""The wheel that ``make wheel`` has built, installed where nothing else is.

Required where ``GRAPHFOLD_REQUIRE_WHEEL`` is set: it makes environments, which takes a
minute and an index of packages.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.trust.ledger import tried

ROOT = Path(__file__).resolve().parents[3]
if not os.environ.get("GRAPHFOLD_REQUIRE_WHEEL"):
    pytest.skip(
        "GRAPHFOLD_REQUIRE_WHEEL is not set: needs the archives of make wheel",
        allow_module_level=True,
    )

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PROGRAM = """
import json, sys
import numpy as np
import graphfold
X = np.array([[(7 * i * i + 3 * i * j) % 31 for j in range(5)] for i in range(60)]) / 31
model = graphfold.GraphKernelPCA(2, graph=graphfold.NeighborGraph(5)).fit(X)
model.save("model.npz")
again = graphfold.load("model.npz")
same = bool((again.transform(X) == model.transform(X)).all())
print(json.dumps([graphfold.__file__, graphfold.__version__, same]))
"""
#: who asks for whom, extras left aside
NEEDS = """
import json, re
from importlib.metadata import distributions
def normal(name):
    return re.sub("[-_.]+", "-", name).lower()
def needs(found):
    asked = [text for text in found.requires or [] if "extra ==" not in text]
    return [normal(re.match(r"[A-Za-z0-9._-]+", text)[0]) for text in asked]
print(json.dumps({normal(found.name): needs(found) for found in distributions()}))
"""


def clean(extra=None):
    """The environment without what would lead Python back to the checkout."""
    left = ("PYTHON", "VIRTUAL_ENV", "GRAPHFOLD")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(left)}
    return kept | (extra or {})


def run(*command, cwd, extra=None):
    done = subprocess.run(
        command, cwd=cwd, env=clean(extra), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel():
    found = list((ROOT / "dist").glob("*.whl"))
    assert len(found) == 1, "make wheel leaves one wheel in dist/"
    return found[0]


@pytest.fixture(scope="module")
def place(tmp_path_factory, wheel):
    """A folder with nothing but an environment that has the wheel."""
    folder = tmp_path_factory.mktemp("stranger")
    run(sys.executable, "-m", "venv", str(folder / "venv"), cwd=folder)
    python = str(folder / "venv" / "bin" / "python")
    run(python, "-m", "pip", "install", "-q", str(wheel), cwd=folder)
    return folder


def test_it_fits_saves_and_loads_without_the_checkout(place, wheel):
    said = run(str(place / "venv/bin/python"), "-c", PROGRAM, cwd=place)
    file, version, same = json.loads(said.splitlines()[-1])
    assert Path(file).is_relative_to(place)
    assert wheel.name.startswith(f"graphfold-{version}-")
    assert same
    tried("supply", "the wheel alone", "import, fit, save, load")


def test_its_command_line_works(place, wheel):
    command = str(place / "venv/bin/graphfold")
    assert run(command, "--version", cwd=place).split()[-1] in wheel.name
    rows = [",".join(str((i * i + 5 * j) % 17) for j in range(4)) for i in range(40)]
    (place / "table.csv").write_text("\n".join(["a,b,c,d", *rows]) + "\n")
    run(command, "embed", "table.csv", "--output", "out.csv", cwd=place)
    assert len((place / "out.csv").read_text().splitlines()) == 41
    tried("supply", "the wheel alone", "graphfold --version, embed")


def test_it_brings_what_it_declares_and_no_more(place):
    python = str(place / "venv/bin/python")
    run(python, "-m", "pip", "check", cwd=place)
    needs = json.loads(run(python, "-c", NEEDS, cwd=place))
    declared = {re.match(r"[\w-]+", text)[0] for text in PROJECT["dependencies"]}
    assert set(needs["graphfold"]) == declared
    wanted, waiting = set(), ["graphfold"]
    while waiting:
        name = waiting.pop()
        if name not in wanted:
            wanted.add(name)
            waiting += needs.get(name, [])
    assert needs.keys() - wanted <= {"pip", "setuptools"}
    tried("supply", "the wheel alone", "pip check, declared dependencies only")


def test_two_builds_are_the_same_bytes(tmp_path, wheel):
    """At two times, as their clocks would have it: SOURCE_DATE_EPOCH is one of them."""
    built = []
    for name in ("one", "two"):
        out = tmp_path / name
        command = ("-m", "pip", "wheel", "-q", "--no-deps", "-w", str(out), str(ROOT))
        epoch = {"SOURCE_DATE_EPOCH": "1767225600"}
        run(sys.executable, *command, cwd=tmp_path, extra=epoch)
        (path,) = out.glob("*.whl")
        built.append(path.read_bytes())
    assert built[0] == built[1]
    tried("supply", "the wheel alone", "two builds, the same bytes")


def test_the_bill_of_materials_is_of_this_wheel(wheel):
    (path,) = wheel.parent.glob("*.cdx.json")
    bill = json.loads(path.read_text())
    (digest,) = bill["metadata"]["component"]["hashes"]
    assert digest["content"] == hashlib.sha256(wheel.read_bytes()).hexdigest()
    tried("supply", "bill of materials", "of the wheel in dist/")
