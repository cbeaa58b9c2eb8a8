"""The snippets of docs/interoperability.md run, one after the other."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parent.parent.parent / "docs" / "interoperability.md"
#: packages that a supported environment may lack; what they are for is left out there
OPTIONAL = {"scanpy", "skops", "networkx", "igraph", "pandas", "polars"}


def test_every_snippet_runs(monkeypatch):
    if not PAGE.exists():
        pytest.skip("a checkout is needed")
    monkeypatch.setenv("MPLBACKEND", "agg")
    snippets = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S)
    assert len(snippets) == 11
    names = {}
    left_out = set()
    for snippet in snippets:
        try:
            exec(compile(snippet, str(PAGE), "exec"), names)
        except ModuleNotFoundError as error:
            assert error.name in OPTIONAL
            left_out.add(error.name)
    if left_out:
        pytest.skip(f"the rest ran; not installed: {', '.join(sorted(left_out))}")
    assert names["search"].best_params_["graphkernelpca__graph_strength"] > 0
