"""First pages: their code runs. Reference: no name missing, no warning unexplained."""

import inspect
import re
from pathlib import Path

import pytest

from graphfold import errors
from tests.test_stability import LIST

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="a checkout is needed")

#: names of modules, whose members are public one by one
MODULES = ("ad", "datasets", "errors", "kernels", "plot", "quality", "responses")
#: what one derives from to write another: the contract is in the source
CONTRACTS = {"kernels.Kernel", "responses.Response"}


@pytest.mark.parametrize("page", ["README.md", "docs/index.md", "docs/start.md"])
def test_the_first_code_runs_as_it_stands(page, tmp_path, monkeypatch):
    """Word for word, from imports on, without a warning of ours (pytest's filters)."""
    for package in ("matplotlib", "pandas"):
        pytest.importorskip(package)
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.chdir(tmp_path)
    text = (ROOT / page).read_text(encoding="utf-8")
    snippets = re.findall(r"```python\n(.*?)```", text, re.S)
    assert snippets
    names = {}
    for snippet in snippets:
        exec(compile(snippet, page, "exec"), names)
    assert names["model"].embedding_.shape[1] == 2


def test_every_public_name_is_in_the_reference():
    reference = (DOCS / "api.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"^   graphfold\.([\w.]+)$", reference, re.M))
    assert ".. automodule:: graphfold.errors\n   :members:" in reference
    public = {line.split()[0] for line in LIST.read_text().splitlines()}
    wanted = {
        name
        for name in public - CONTRACTS
        if "." not in name or name.split(".")[0] in MODULES
        if not name.startswith("errors.")
    }
    assert not wanted - shown


def test_every_warning_and_error_is_explained():
    page = (DOCS / "warnings.md").read_text(encoding="utf-8")
    in_tables = set(re.findall(r"^\| `(\w+)` \|", page, re.M))
    bases = {errors.GraphfoldError, errors.GraphfoldWarning}
    ours = {
        value.__name__
        for value in vars(errors).values()
        if inspect.isclass(value) and issubclass(value, (Warning, Exception))
        if value.__module__ == errors.__name__ and value not in bases
    }
    assert ours
    assert in_tables == ours
    assert all(base.__name__ in page for base in bases)
