"""Reading takes at most 256 MiB or 200 times the file, whatever the file claims."""

import sys

import numpy as np
import pytest

from graphfold import allowance
from graphfold.errors import FileError
from graphfold.files.paths import reading
from tests.trust.ledger import tried
from tests.trust.parsers.reading import measure

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="resident memory is told by Linux"
)

GRAPHML = (
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    '<graph edgedefault="undirected">{}<edge source="n0" target="n1"/>'
    "</graph></graphml>"
)
MARKET = "%%MatrixMarket matrix coordinate real general\n{} {} 1\n1 1 1\n"


def wide_csv(path):
    n = 10**6
    path.write_text(",".join("1" * n) + "\n" + ",".join("2" * n) + "\n")


def long_name(path):
    nodes = "".join(f'<node id="n{i}"/>' for i in range(12))
    path.write_text(GRAPHML.format(f'<node id="{"x" * 5_000_000}"/>{nodes}'))


def long_comment(path):
    path.write_text(GRAPHML.format(f"<!--{'x' * 5_000_000}-->"))


def many_rows(path):
    path.write_text(MARKET.format(2**24, 3))


def square(path):
    path.write_text(MARKET.format(2**24, 2**24))


def zeros(path):
    np.savez_compressed(path, X=np.zeros((20 * 2**20, 3), np.uint8))


def zeros_of_floats(path):
    np.savez_compressed(path, X=np.zeros((15 * 2**18, 2)))


def huge_beside(path):
    anndata = pytest.importorskip("anndata")
    h5py = pytest.importorskip("h5py")
    rows = np.random.default_rng(0).random((12, 3))
    anndata.AnnData(rows).write_h5ad(path)
    with h5py.File(path, "r+") as file:
        made = file["obsm"].create_dataset(
            "huge", (12, 2**25), "f8", chunks=(1, 2**18), compression="gzip"
        )
        made[:, : 2**18] = 0.0
        made.attrs["encoding-type"], made.attrs["encoding-version"] = "array", "0.2.0"


CASES = {
    "a million columns": ("table", "x.csv", wide_csv),
    "a name of 5 MB": ("named graph", "x.graphml", long_name),
    "a name of 5 MB, rows by number": ("graph", "x.graphml", long_name),
    "a comment of 5 MB": ("named graph", "x.graphml", long_comment),
    "many rows of a table": ("table", "x.mtx", many_rows),
    "many rows of edges": ("graph", "x.mtx", many_rows),
    "many rows of named edges": ("named graph", "x.mtx", many_rows),
    "a square of nothing": ("graph", "x.mtx", square),
    "zeros as edges": ("graph", "x.npz", zeros),
    "zeros as named edges": ("named graph", "x.npz", zeros),
    "floats as named edges": ("named graph", "x.npz", zeros_of_floats),
    "a huge array beside": ("table", "x.h5ad", huge_beside),
    "a huge array beside a wrong key": ("table", "x.h5ad:obsm/wrong", huge_beside),
    "a huge array that is asked for": ("table", "x.h5ad:obsm/huge", huge_beside),
}


@pytest.mark.parametrize(("reader", "name", "make"), CASES.values(), ids=CASES)
def test_memory_stays_within_the_multiple_of_the_file(reader, name, make, tmp_path):
    path = tmp_path / name.partition(":")[0]
    make(path)
    found = measure(reader, tmp_path / name)
    assert found["peak"] <= allowance.most_for(path.stat().st_size)
    assert found["said"].isprintable() and len(found["said"]) < 800
    tried("parsers", path.suffix[1:], "claims before memory")


def test_the_rule_is_stated_in_the_documentation():
    from tests.test_documentation import ROOT

    page = (ROOT / "docs" / "command_line.md").read_text()
    assert f"{allowance.FREE // 2**20} MiB" in page
    assert f"{allowance.TIMES} times the size of the file" in page


def test_a_file_that_memory_does_not_hold_gets_one_sentence():
    sentence = r"x\.h5ad takes more memory than there is"
    with pytest.raises(FileError, match=sentence), reading("x.h5ad", ".h5ad"):
        raise MemoryError


@pytest.mark.parametrize(
    ("size", "text"),
    [(5, "5 bytes"), (2**11, "2 KiB"), (3 * 2**29, "1.5 GiB"), (10**400, "billion")],
)
def test_sizes_are_told_for_people(size, text):
    assert text in allowance.readable(size)
