"""The package as a whole: a light import, honest names, no path of anyone's machine."""

import subprocess
import sys
from pathlib import Path

import pytest

import graphfold

ROOT = Path(__file__).parent.parent


def test_importing_stays_light():
    """The benchmark import_time measures it; here, that nothing heavy comes along."""
    code = (
        "import sys, sklearn.decomposition; before = set(sys.modules); "
        "import graphfold; "
        "print([m for m in ('matplotlib', 'pandas', 'networkx', 'sklearn.neighbors', "
        "'sklearn.cluster', 'anndata', 'igraph') if m in set(sys.modules) - before])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True
    )
    assert result.stdout.strip() == "[]", result.stdout + result.stderr


def test_every_public_name_is_there():
    for name in graphfold.__all__:
        assert getattr(graphfold, name) is not None
    assert set(dir(graphfold)) == set(graphfold.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        graphfold.nothing  # noqa: B018


def test_it_is_typed():
    assert (ROOT / "src" / "graphfold" / "py.typed").exists()
