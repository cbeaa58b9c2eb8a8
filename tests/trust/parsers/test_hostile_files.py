"""Tables, graphs and pairs of strangers: each trick gets one short sentence."""

import gzip
import io
import json
import sys
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from graphfold import archives
from graphfold.errors import FileError, GraphfoldError
from graphfold.files import read_column, read_graph, read_links, read_pairs, read_table
from graphfold.files import text as text_files
from graphfold.files.arrays import filled_in
from tests.trust.ledger import tried
from tests.trust.parsers.hostile_zip import (
    ARRAYS,
    MATRICES,
    array,
    npy,
    zip_with_claims,
    zipped,
)

MEGABYTE = 2**20
N = 12
LABELS = np.array([f"n{i}" for i in range(N)])


def graph(path):
    return read_graph(path, None, N)


def named_graph(path):
    return read_graph(path, LABELS, N)


def column(path):
    return read_column(path, None, N)


def links(path):
    return read_links(path, LABELS, N)


@pytest.fixture
def refused(tmp_path):
    """The sentence with which a reader refuses bytes, for at most so much memory."""

    def sentence(name, content, read=read_table, most=24 * MEGABYTE):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        tracemalloc.start()
        try:
            with pytest.raises(GraphfoldError) as caught:
                read(path)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < most
        said = str(caught.value)
        assert said.isprintable() and len(said) < 800
        tried("parsers", name.partition(".")[2], "hostile files")
        return said

    return sentence


# -- arrays ---------------------------------------------------------------------------


@pytest.mark.parametrize("read", [read_table, graph, column])
@pytest.mark.parametrize("content", ARRAYS.values(), ids=ARRAYS)
def test_an_array_that_claims_what_it_has_not_is_refused(content, read, refused):
    if content != ARRAYS["less than there is"]:  # more may stand behind an array
        refused("data.npy", content, read)
    refused("data.npz", zipped(("X.npy", content)), read)


def test_a_bomb_of_zeros_is_refused_with_the_way_out(refused, monkeypatch):
    content = npy(shape=f"({2**21},)", payload=bytes(2**24))
    monkeypatch.setattr(archives, "UNPACKED", 2**20)
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


# -- text -----------------------------------------------------------------------------

TEXTS = {
    "a zero in a name": "id,x\na\0,1\na,2\n",
    "quotes without an end": 'id,x\n"a,1\nb,2\n',
    "a long cell": f"id,x\n{'a' * 200_000},1\nb,2\n",
    "no UTF-8": b"id,x\n\xff\xfe,1\n",
    "no UTF-8 far below": b"id,x\n" + b"a,1\n" * 2_000 + b"\xff,1\n",
    "beyond the largest": "x,y\n1,1e400\n",
    "not a number": "x,y\n1,nan\n",
    "infinity": "x,y\n1,-inf\n",
    "an escape of the terminal": "x,y\n1,\x1b[2J\n",
    "a line break in a header": '"x\ny",z\n1,w\n',
    "nothing": "",
    "line breaks": "\r\n\n\r",
    "a formula": "x,y\n1,=1+1\n",
    "an underscore": "x,y\n1,1_0\n",
}


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz"])
@pytest.mark.parametrize("content", TEXTS.values(), ids=TEXTS)
def test_a_text_that_is_no_table_is_refused(content, suffix, refused):
    content = content if isinstance(content, bytes) else content.encode()
    if suffix == ".tsv":
        content = content.replace(b",", b"\t")
    if suffix == ".csv.gz":
        content = gzip.compress(content)
    refused(f"data{suffix}", content)


def test_line_breaks_of_all_systems_may_be_mixed(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(b"\xef\xbb\xbfid,x\r\na,1\nb,2\r\nc,3")
    found = read_table(path)
    assert found.labels.tolist() == ["a", "b", "c"]
    assert_array_equal(found.X, [[1], [2], [3]])


@pytest.mark.parametrize("without_pyarrow", [False, True])
def test_a_gzip_bomb_is_refused_with_the_way_out(without_pyarrow, refused, monkeypatch):
    if without_pyarrow:
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setattr(text_files, "UNPACKED", 2**16)
    content = gzip.compress(b"x,y\n" + b"1,2\n" * 2**16)
    said = refused("data.csv.gz", content)
    assert "unpack it with gunzip" in said


def test_a_long_line_of_a_gzip_file_is_refused(refused, monkeypatch):
    monkeypatch.setattr(text_files, "LONGEST_LINE", 2**16)
    said = refused("data.csv.gz", gzip.compress(b"1" * 2**18))
    assert "65536 characters in a line; line 1 has more" in said


def test_a_table_has_a_widest(refused, monkeypatch):
    monkeypatch.setattr(text_files, "MOST_COLUMNS", 100)
    said = refused("data.csv", ",".join(["1"] * 101))
    assert "may have 100 columns; it has 101" in said


@pytest.mark.parametrize("read", [read_table, named_graph, column])
def test_one_long_name_does_not_make_all_names_long(read, refused):
    """An array of texts is as wide as its longest: 4 GB here, of a file of 200 kB."""
    long = "x" * 100_000
    head = "id,x\n" if read is not named_graph else "source,target\n"
    content = head + f"{long},1\n" + "n1,2\n" * 10_000
    assert "shorten" in refused("data.csv", content, read)


def test_a_long_name_among_edges_does_not_widen_the_names_of_the_data(refused):
    labels = np.array([f"n{i}" for i in range(50_000)])
    content = f"n1,{'x' * 20_000}\nn1,n2\n"
    said = refused("data.csv", content, lambda path: read_graph(path, labels, 50_000))
    assert "shorten" in said


def test_long_cells_are_cut_in_messages(refused):
    said = refused("data.csv", f"x,y\n1,{'w' * 5000}\n")
    assert "..." in said and len(said) < 600


def test_names_with_underscores_are_names(tmp_path):
    """Python reads 1_2 as the number 12."""
    path = tmp_path / "data.csv"
    path.write_text("1_2,0.5\n1_3,0.25\n")
    found = read_table(path)
    assert found.labels.tolist() == ["1_2", "1_3"]
    assert_array_equal(found.X, [[0.5], [0.25]])
    assert text_files.typed(np.array(["1_2", "1_3"])).dtype.kind == "U"


@pytest.mark.parametrize("cell", ["1e300", "inf", "-1e19", "9223372036854775808"])
def test_numbers_that_no_integer_holds_stay_floats(cell):
    found = text_files.typed(np.array([cell, "1"]))
    assert found.dtype.kind == "f"
    assert found[0] == float(cell)


# -- edges and pairs ------------------------------------------------------------------

EDGES = {
    "a trillion": "0,1000000000000\n",
    "below zero": "0,-1\n",
    "beyond integers": f"0,{10**30}\n",
    "beyond floats": "0,1e400\n",
    "infinity": "0,inf\n",
    "not a number": "0,nan\n",
    "a fraction": "0,0.5\n",
    "nothing": "0,\n",
    "a weight that is none": "source,target,weight\n0,1,nan\n",
    "a weight beyond": "source,target,weight\n0,1,1e400\n",
    "many columns": "a,b,c,d\n1,2,3,4\n",
}


@pytest.mark.parametrize("content", EDGES.values(), ids=EDGES)
@pytest.mark.filterwarnings("error")
def test_an_edge_of_no_rows_takes_no_memory(content, refused):
    refused("edges.csv", content, graph)
    refused("edges.tsv", content.replace(",", "\t"), graph)


NUMBERS = {
    "a trillion": [[0.0, 1e12]],
    "infinity": [[0.0, np.inf]],
    "not a number": [[0.0, np.nan]],
    "beyond integers": [[0.0, 1e300]],
    "texts as weights": [["0", "1", "x"]],
    "dates": np.array([["2020", "2021"]], dtype="M8[Y]"),
    "complex": [[0j, 1j]],
    "one number": 1.0,
    "three dimensions": np.zeros((2, 2, 2)),
}


@pytest.mark.parametrize("values", NUMBERS.values(), ids=NUMBERS)
@pytest.mark.parametrize("read", [graph, named_graph])
def test_arrays_of_edges_that_are_none_are_refused(values, read, refused):
    refused("edges.npy", array(values), read)


PAIRS = {
    "no JSON": "{",
    "deep": "[" * 100_000 + "]" * 100_000,
    "a long number": '{"must_link": [[' + "9" * 10_000 + ", 1]]}",
    "a large number": '{"must_link": [[' + "9" * 400 + ", 1]]}",
    "a list": "[1]",
    "a text": '{"must_link": "ab"}',
    "texts": '{"must_link": ["ab", "cd"]}',
    "lists of lists": '{"must_link": [[["n1"], ["n2"]], [["n3"], ["n4"]]]}',
    "dictionaries": '{"must_link": [[{}, {"a": 1}]]}',
    "nothing": '{"must_link": [[null, null]]}',
    "three": '{"must_link": [["n1", "n2", "n3"]]}',
    "a zero": '{"must_link": [["n1\\u0000", "n2"]]}',
    "half a character": '{"must_link": [["\\ud800", "n2"]]}',
    "an escape": '{"must_link": [["\\u001b[2J", "x"]]}',
    "not a number": '{"must_link": [[NaN, 1]]}',
    "no UTF-8": b'{"must_link": [["\xff", 1]]}',
}


@pytest.mark.parametrize(
    "labels", [None, LABELS, np.arange(N)], ids=["", "words", "ints"]
)
@pytest.mark.parametrize("content", PAIRS.values(), ids=PAIRS)
def test_pairs_that_are_none_are_refused(content, labels, refused):
    refused("pairs.json", content, lambda path: read_links(path, labels, N))


def test_pairs_of_large_numbers_are_refused(refused):
    read = lambda path: read_pairs(path, "must_link", np.arange(N), N)  # noqa: E731
    refused("pairs.csv", f"{10**30},1\n", read)
    refused("pairs.csv", "1e400,1\n", read)


# -- graphml --------------------------------------------------------------------------


def graphml(head="", body='<edge source="n0" target="n1"/>'):
    return (
        f'<?xml version="1.0"?>{head}<graphml xmlns="http://graphml.graphdrawing.org/'
        f'xmlns"><graph edgedefault="undirected">{body}</graph></graphml>'
    )


LAUGHS = "".join(f'<!ENTITY l{i + 1} "{f"&l{i};" * 10}">' for i in range(9))
DOCUMENTS = {
    "a billion laughs": graphml(
        f'<!DOCTYPE g [<!ENTITY l0 "ha">{LAUGHS}]>', '<node id="&l9;"/>'
    ),
    "a file of the system": graphml(
        '<!DOCTYPE g [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        '<node id="a">&x;</node>',
    ),
    "a document type elsewhere": graphml(
        '<!DOCTYPE g SYSTEM "http://localhost/x.dtd">'
    ),
    "an entity that is not declared": graphml(body='<node id="&x;"/>'),
    "deep": graphml(body="<node>" * 100_000),
    "deep and closed": graphml(body="<node>" * 5000 + "</node>" * 5000),
    "cut off": graphml()[:-20],
    "nothing": "",
    "no graph": '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"/>',
    "an unknown key": graphml(body='<node id="a"><data key="x">1</data></node>'),
    "a name of Python's": graphml(
        body='<edge source="n0" target="n1"><data key="__class__">x</data></edge>'
    ),
    "a weight that is none": graphml(body='<edge source="n0" target="n0"/>'),
    "a zero": graphml().replace("n0", "\0"),
}


@pytest.mark.parametrize("content", DOCUMENTS.values(), ids=DOCUMENTS)
def test_a_graphml_file_with_tricks_is_refused(content, refused):
    pytest.importorskip("networkx", reason="graphml files are read with networkx")
    refused("graph.graphml", content, named_graph)


def test_entities_are_refused_before_networkx_sees_them(refused):
    pytest.importorskip("networkx", reason="graphml files are read with networkx")
    said = refused("graph.graphml", DOCUMENTS["a billion laughs"], named_graph)
    assert "a document type or entities, which are not read" in said


# -- files that other packages read ---------------------------------------------------


@pytest.mark.parametrize("read", [read_table, graph, column])
@pytest.mark.parametrize("suffix", [".parquet", ".h5ad"])
@pytest.mark.parametrize("content", [b"", b"PAR1" + b"\xff" * 60 + b"PAR1", b"\x89HDF"])
def test_broken_files_of_other_packages_get_one_sentence(
    suffix, content, read, refused
):
    package = {".parquet": "pyarrow", ".h5ad": "anndata"}[suffix]
    pytest.importorskip(package, reason=f"{suffix} files are read with {package}")
    assert "data" in refused(f"data{suffix}", content, read, 200 * MEGABYTE)


def test_a_parquet_file_cut_anywhere_gets_one_sentence(refused):
    pd = pytest.importorskip("pandas", reason="parquet files are read with pandas")
    pytest.importorskip("pyarrow", reason="parquet files are read with pyarrow")
    stream = io.BytesIO()
    pd.DataFrame({"id": ["a", "b"], "x": [1.0, 2.0]}).to_parquet(stream)
    whole = stream.getvalue()
    for end in range(0, len(whole) - 1, 97):
        refused("data.parquet", whole[:end], most=200 * MEGABYTE)


def test_json_of_results_that_is_no_record_is_refused(tmp_path):
    pytest.importorskip("matplotlib", reason="experiments draw with matplotlib")
    from graphfold.experiments.results import read_record

    path = tmp_path / "record.json"
    for content in ("[1]", "1", "{", "[" * 100_000, json.dumps("x"), "9" * 10_000):
        path.write_text(content)
        with pytest.raises(GraphfoldError, match="not a record of results"):
            read_record(path)
        tried("parsers", "record.json", "hostile files")
