"""docs/trust.md says what the records say, and every find has its test and its line."""

import ast
import json
import re
from pathlib import Path

import pytest

from tests.trust import page

ROOT = Path(__file__).parent.parent.parent
pytestmark = pytest.mark.skipif(
    not (ROOT / "docs").exists(), reason="a checkout is needed"
)

FINDS = ROOT / "docs" / "trust" / "found.json"
FOUND = json.loads(FINDS.read_text()) if FINDS.exists() else []


def test_the_page_is_made_of_the_records():
    assert page.PAGE.read_text(encoding="utf-8") == page.page(page.RECORDS)


@pytest.mark.parametrize("find", FOUND, ids=[find["test"] for find in FOUND])
def test_a_find_has_a_test_and_a_line_in_the_changelog(find):
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert find["what"] in re.sub(r"\s+", " ", changes)
    file, _, name = find["test"].partition("::")
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    assert name in {
        node.name for node in tree.body if isinstance(node, ast.FunctionDef)
    }
