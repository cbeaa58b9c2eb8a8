"""Arrays and matrices of strangers: what they claim is checked before it is read."""

import struct

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from graphfold import allowance
from graphfold.errors import FileError
from graphfold.files import read_table
from graphfold.files.arrays import filled_in
from tests.trust.parsers.hostile_zip import (
    ARRAYS,
    MATRICES,
    array,
    npy,
    zip_with_claims,
    zipped,
)
from tests.trust.parsers.readers import column, graph


@pytest.mark.parametrize("read", [read_table, graph, column])
@pytest.mark.parametrize("content", ARRAYS.values(), ids=ARRAYS)
def test_an_array_that_claims_what_it_has_not_is_refused(content, read, refused):
    if content != ARRAYS["less than there is"]:  # more may stand behind an array
        refused("data.npy", content, read)
    refused("data.npz", zipped(("X.npy", content)), read)


def test_a_bomb_of_zeros_is_refused_with_the_way_out(refused, monkeypatch):
    content = npy(shape=f"({2**21},)", payload=bytes(2**24))
    monkeypatch.setattr(allowance, "FREE", 2**21)
    said = refused("data.npz", zip_with_claims("X.npy", content))
    assert "save it with numpy.savez, which does not compress" in said


SPARSE = {
    f"{layout}, {what}": (layout, parts)
    for what, parts in MATRICES.items()
    for layout in ("csr", "csc")
    if not (layout == "csc" and what == "a trillion columns")
}


@pytest.mark.parametrize(("layout", "parts"), SPARSE.values(), ids=SPARSE)
def test_a_sparse_matrix_whose_parts_do_not_fit_is_refused(layout, parts, refused):
    data, indices, indptr, shape = parts
    if layout == "csc":
        shape = shape[::-1]
    named = {"format": layout, "shape": shape, "data": data}
    named |= {"indices": indices, "indptr": indptr}
    members = [(f"{name}.npy", array(value)) for name, value in named.items()]
    refused("data.npz", zipped(*members))


ONE = np.ones(1)
OTHERS = {
    "a row outside": {"format": "coo", "data": ONE, "row": [9], "col": [0]},
    "a column below": {"format": "coo", "data": ONE, "row": [0], "col": [-1]},
    "more rows": {"format": "coo", "data": ONE, "row": [0, 1], "col": [0]},
    "coordinates of three": {"format": "coo", "data": ONE, "coords": [[0], [0], [0]]},
    "a block outside": {
        "format": "bsr",
        "data": np.ones((1, 2, 2)),
        "indices": [7],
        "indptr": [0, 1],
    },
    "blocks of nothing": {
        "format": "bsr",
        "data": np.ones((1, 0, 2)),
        "indices": [0],
        "indptr": [0, 1],
    },
    "a diagonal outside": {"format": "dia", "data": [[1.0]], "offsets": [2**62]},
    "a diagonal twice": {"format": "dia", "data": [[1.0], [1.0]], "offsets": [0, 0]},
    "no layout": {"format": "os", "data": ONE, "row": [0], "col": [0]},
    "no format": {"data": ONE, "row": [0], "col": [0]},
    "several formats": {"format": ["coo", "csr"], "data": ONE, "row": [0], "col": [0]},
}


@pytest.mark.parametrize("parts", OTHERS.values(), ids=OTHERS)
def test_other_sparse_layouts_are_checked_as_well(parts, refused):
    named = {"shape": [2, 2]} | parts
    members = [(f"{name}.npy", array(value)) for name, value in named.items()]
    refused("data.npz", zipped(*members))


@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix])
def test_what_scipy_has_written_is_read(layout, kind, tmp_path):
    X = np.diag([1.0, 2.0, 3.0, 4.0])
    X[0, 3] = 5
    sp.save_npz(tmp_path / "data.npz", kind(X).asformat(layout))
    assert_array_equal(read_table(tmp_path / "data.npz").X.toarray(), X)


def test_a_sparse_table_that_is_all_gaps_is_not_filled_in():
    with pytest.raises(FileError, match="fits into memory when it is filled in"):
        filled_in(sp.csr_array((10**6, 10**6)), "x.mtx")
    assert_array_equal(filled_in(sp.csr_array(np.eye(2)), "x.mtx"), np.eye(2))


HEAD = "%%MatrixMarket matrix "
MARKETS = {
    "a dense matrix of a billion": HEAD
    + "array real general\n1000000000 1000000000\n1\n",
    "a trillion entries": HEAD + "coordinate real general\n3 3 1000000000000\n1 1 1\n",
    "a trillion rows": HEAD + f"coordinate real general\n{10**12} {10**12} 1\n1 1 1\n",
    "digits without end": HEAD + f"coordinate real general\n{'9' * 5000} 1 1\n1 1 1\n",
    "a negative size": HEAD + "coordinate real general\n-3 3 1\n1 1 1\n",
    "an entry outside": HEAD + "coordinate real general\n3 3 1\n4 1 1\n",
    "an entry below": HEAD + "coordinate real general\n3 3 1\n0 1 1\n",
    "symmetric and not square": HEAD + "coordinate real symmetric\n3 2 1\n1 1 1\n",
    "another layout": HEAD + "tree real general\n3 3\n",
    "no sizes": HEAD + "coordinate real general\n%\n",
    "nothing": "",
    "no banner": "3 3 1\n1 1 1\n",
    "a long comment": HEAD + "array real general\n%" + "x" * 10**6,
    # SciPy's reader ends the process at each of the next three
    "a zero byte": HEAD + "coordinate real general\n2 2 2\n1 1 1\0\n2 2 1\n",
    "a star at the end": HEAD + "array real general\n2 1\n1\n5*",
    "no rows": HEAD + "array real general\n0 2\n0\n2\n4\n",
}


@pytest.mark.parametrize("read", [read_table, graph])
@pytest.mark.parametrize("content", MARKETS.values(), ids=MARKETS)
def test_a_matrix_market_file_that_lies_is_refused(content, read, refused):
    refused("data.mtx", content, read)


def test_a_matrix_market_file_without_a_last_line_break_is_read(tmp_path):
    path = tmp_path / "data.mtx"
    path.write_text(HEAD + "array real general\n2 1\n1\n5")
    assert_array_equal(read_table(path).X, [[1], [5]])


COUNTS = {
    "general": lambda n: n * n,
    "symmetric": lambda n: n * (n + 1) // 2,
    "hermitian": lambda n: n * (n + 1) // 2,
    "skew-symmetric": lambda n: n * (n - 1) // 2,
}


@pytest.mark.parametrize("field", ["real", "complex"])
@pytest.mark.parametrize("symmetry", COUNTS)
@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("more", [-1, 1, 200])
def test_a_dense_matrix_has_just_the_numbers_that_it_claims(
    field, symmetry, n, more, refused
):
    """SciPy's reader writes others outside of its array, and ends the process."""
    count = COUNTS[symmetry](n) + more
    line = "7\n" if field == "real" else "7 1\n"
    head = f"{HEAD}array {field} {symmetry}\n{n} {n}\n"
    refused("x.mtx", head + line * max(count, 0))


@pytest.mark.parametrize("symmetry", COUNTS)
def test_a_dense_matrix_with_its_numbers_is_read(symmetry, tmp_path, monkeypatch):
    monkeypatch.setattr("graphfold.files.matrix_market._CHUNK", 7)
    half = np.array([[1, 2.5, 3], [2.5, 4, 5], [3, 5, 6]])
    A = half - half.T + np.tril(half) - np.triu(half) if symmetry[1] == "k" else half
    A = A + np.triu(np.ones((3, 3)), 1) if symmetry == "general" else A
    np.fill_diagonal(A, 0.0 if symmetry[1] == "k" else A.diagonal())
    path = tmp_path / "x.mtx"
    scipy.io.mmwrite(path, A, symmetry=symmetry)
    assert_array_equal(read_table(path).X, A)


@pytest.mark.parametrize("kind", ["objects", "a structure", "voids"])
def test_arrays_that_nobody_asks_for_may_be_of_any_kind(kind, tmp_path):
    other = {
        "objects": np.array(["a", None], dtype=object),
        "a structure": np.zeros(2, dtype=[("a", int), ("b", float)]),
        "voids": np.zeros(2, dtype="V8"),
    }[kind]
    np.savez(tmp_path / "x.npz", X=np.eye(3), other=other)
    assert_array_equal(read_table(f"{tmp_path / 'x.npz'}").X, np.eye(3))


def test_an_array_of_objects_is_refused_by_its_name(tmp_path):
    np.savez(tmp_path / "x.npz", X=np.array([["a", None]], dtype=object))
    with pytest.raises(FileError, match="'X'"):
        read_table(tmp_path / "x.npz")


@pytest.mark.parametrize("away", [0, 1, -1])
def test_the_directory_of_a_large_archive_is_where_it_says(away, tmp_path):
    """Versions of Python look for it in different places."""
    plain = zip_with_claims("X.npy", array(np.eye(2)))
    end = plain[-22:]
    _, _, _, n, _, length, start, _ = struct.unpack("<4s4H2LH", end)
    counts = (44, 45, 45, 0, 0, n, n, length, start)
    record = struct.pack("<4sQ2H2L4Q", b"PK\6\6", *counts)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, len(plain) - 22 + away, 1)
    path = tmp_path / "x.npz"
    path.write_bytes(plain[:-22] + record + locator + end)
    if away == 0:
        assert_array_equal(read_table(path).X, np.eye(2))
        return
    with pytest.raises(FileError, match="not where it should be"):
        read_table(path)
