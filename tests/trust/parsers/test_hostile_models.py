"""Model files of strangers: each trick is refused in one sentence, at no great cost."""

import io
import json
import re
import tracemalloc
import zipfile
from io import BytesIO

import numpy as np
import pytest

import graphfold
from graphfold import Graph, GraphKernelPCA, NeighborGraph, archives
from graphfold.archives import claim_of
from graphfold.errors import ModelFileError
from tests.trust.ledger import tried
from tests.trust.parsers.hostile_zip import (
    ARRAYS,
    MATRICES,
    array,
    header,
    npy,
    zip_with_claims,
    zipped,
)
from tests.trust.parsers.saved_models import saved

MEGABYTE = 2**20


def refused(content, most=24 * MEGABYTE):
    """The sentence with which bytes are refused, for at most so much memory."""
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError) as caught:
            graphfold.load(io.BytesIO(content))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < most
    sentence = str(caught.value)
    assert "\n" not in sentence and len(sentence) < 500
    return sentence


def model(state=None, params=None, **more):
    """The bytes of a sound model with this in its state, and these arrays beside it."""
    sound = saved("rbf")
    own = {name: f"a{900 + i}" for i, name in enumerate(sound.arrays)}
    text = json.dumps(sound.header)
    for name, renamed in own.items():
        text = text.replace(f'{{"array": "{name}"}}', f'{{"array": "{renamed}"}}')
    changed = json.loads(text)
    changed["params"]["dict"] |= params or {}
    changed["state"]["dict"] |= state or {}
    arrays = {own[name]: value for name, value in sound.arrays.items()} | more
    members = [(f"{name}.npy", array(value)) for name, value in arrays.items()]
    return zipped(("header.npy", header(**changed)), *members)


def test_the_model_that_is_made_hostile_is_sound():
    graphfold.load(io.BytesIO(model(a1=np.arange(3.0))))


GOOD = header(
    format=1, estimator="GraphKernelPCA", params={"dict": {}}, state={"dict": {}}
)
ZIPS = {
    "nothing": b"",
    "no zip": b"PK\3\4" + b"x" * 100,
    "half a zip": zipped(("header.npy", GOOD))[:-30],
    "a comment behind": zipped(("header.npy", GOOD)) + b"x",
    "a path upwards": zipped(("header.npy", GOOD), ("../a1.npy", array([1]))),
    "a path from the root": zipped(("header.npy", GOOD), ("/a1.npy", array([1]))),
    "a path of Windows": zipped(("header.npy", GOOD), ("..\\a1.npy", array([1]))),
    "a folder": zipped(("header.npy", GOOD), ("a1/", b"")),
    "no array": zipped(("header.npy", GOOD), ("a1.txt", b"hello")),
    "another name": zipped(("header.npy", GOOD), ("b.npy", array([1]))),
    "two of a name": zipped(("header.npy", GOOD), ("header.npy", GOOD)),
    "no header": zipped(("a1.npy", array([1]))),
    "bzip2": zipped(("header.npy", GOOD), method=zipfile.ZIP_BZIP2),
    "lzma": zipped(("header.npy", GOOD), method=zipfile.ZIP_LZMA),
    "a bomb of zeros": zip_with_claims(
        "a{}.npy", npy(shape=f"({2**24},)", payload=bytes(2**27)), times=1
    ),
    "more than deflate can": zip_with_claims("a{}.npy", array([1.0]), size=2**31),
    "the same bytes often": zip_with_claims(
        "a{}.npy", array(np.zeros(2**16)), times=1000, apart=False
    ),
}


@pytest.mark.parametrize("content", ZIPS.values(), ids=ZIPS)
def test_an_archive_that_claims_what_it_has_not_is_refused(content):
    refused(content)
    tried("parsers", "models", "hostile archives")


def test_a_long_list_of_members_is_refused_before_it_is_read(monkeypatch):
    long = zip_with_claims("a{:0500}.npy", array([1.0]), times=20_000)
    assert "the list of its arrays has" in refused(long, MEGABYTE)
    monkeypatch.setattr(archives, "MEMBERS", 10)
    many = zip_with_claims("a{}.npy", array([1.0]), times=11)
    assert "it has 11 arrays" in refused(many)
    tried("parsers", "models", "hostile archives", 2)


@pytest.mark.parametrize("content", ARRAYS.values(), ids=ARRAYS)
def test_an_array_that_claims_what_it_has_not_is_refused(content):
    for name in ("header", "a1"):
        members = {"header.npy": GOOD} | {f"{name}.npy": content}
        refused(zipped(*members.items()))
        tried("parsers", "models", "hostile arrays")


def raw_header(content):
    return zipped(("header.npy", array(np.frombuffer(content, dtype=np.uint8))))


HEADERS = {
    "no JSON": b"{",
    "no UTF-8": b'{"format": "\xff"}',
    "a list": b"[1]",
    "a number": b"1",
    "deep lists": b"[" * 100_000 + b"]" * 100_000,
    "deep values": b'{"format": 1, "estimator": "GraphKernelPCA", "params": '
    + b'{"tuple": [' * 900
    + b"]}" * 900
    + b"}",
    "a long number": b'{"format": ' + b"9" * 100_000 + b"}",
    "a large number": b'{"format": ' + b"9" * 4000 + b"}",
    "not a number": b'{"format": NaN}',
    "no name": b'{"format": 1, "estimator": ["GraphKernelPCA"]}',
    "a name of Python's": b'{"format": 1, "estimator": "__builtins__"}',
}


@pytest.mark.parametrize("content", HEADERS.values(), ids=HEADERS)
def test_a_header_that_is_none_is_refused(content):
    refused(raw_header(content))
    tried("parsers", "models", "hostile headers")


def record(name, **fields):
    return {"record": name, "fields": {"dict": fields}}


CSR = {"csr": [{"array": "a1"}, {"array": "a2"}, {"array": "a3"}]}
A = {"array": "a1"}
STATES = {
    "a class": {"__class__": "x"},
    "a dictionary": {"__dict__": {"dict": {}}},
    "a method": {"transform": "x"},
    "a private method": {"_placed": "x"},
    "a parameter": {"n_components": 3},
    "no name": {"a b": 1},
    "an empty name": {"": 1},
    "an unknown entry": {"embedding_": {"eval": "1"}},
    "an unknown record": {"_extension": record("Popen", args="true")},
    "an unknown part": {"kernel_": {"part": "os", "params": {"dict": {}}}},
    "a record as a part": {"kernel_": {"part": "Extension", "params": {"dict": {}}}},
    "an unknown field": {"_row_keys": record("RowKeys", fingerprints=A, x=1)},
    "a field that is missing": {"_row_keys": record("RowKeys")},
    "a text for an array": {"_row_keys": record("RowKeys", fingerprints="x")},
    "a list for an array": {"_row_keys": record("RowKeys", fingerprints=[1])},
    "a text for a number": {
        "path_": record("StrengthPath", strengths=A, scores=A, chosen="x", scored_by="")
    },
    "a number for a text": {
        "path_": record("StrengthPath", strengths=A, scores=A, chosen=1.0, scored_by=1)
    },
    "no kernel": {
        "x_": record(
            "Preimage", kernel="x", embedding=A, coefficients=A, factor=None, X=None
        )
    },
    "texts for places": {
        "x_": record(
            "AxisReport",
            eigengaps=A,
            solver_turn=A,
            turn_bounds=A,
            interchangeable=[["a"]],
        )
    },
    "no such array": {"embedding_": {"array": "a77"}},
    "the header as an array of numbers": {"embedding_": {"array": ["a1"]}},
    "half a slice": {"x_": {"slice": [1, 2]}},
    "a slice of texts": {"x_": {"slice": ["a", "b", "c"]}},
    "a list for a dictionary": {"x_": {"dict": [1]}},
    "a text for a matrix": {"x_": {"csr": ["a", "b", "c"], "shape": [1, 1]}},
    "a graph of a number": {"graph_": {"graph": [1, None]}},
    "a graph of an array": {"graph_": {"graph": [A, None]}},
}


@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
def test_a_state_that_is_none_is_refused(state):
    refused(model(state, a1=np.arange(3.0)))
    tried("parsers", "models", "hostile states")


@pytest.mark.parametrize(
    "params",
    [{"__class__": 1}, {"embedding_": 1}, {"fit": 1}, {"self": 1}, {"n components": 1}],
)
def test_a_parameter_that_there_is_none_of_is_refused(params):
    refused(model(params=params))
    tried("parsers", "models", "hostile states")


@pytest.mark.parametrize("parts", MATRICES.values(), ids=MATRICES)
@pytest.mark.parametrize("kind", ["matrix", "graph"])
def test_a_matrix_whose_parts_do_not_fit_is_refused(parts, kind):
    data, indices, indptr, shape = parts
    arrays = {"a1": data, "a2": indices, "a3": indptr}
    entry = CSR | {"shape": shape}
    state = {"x_": entry} if kind == "matrix" else {"x_": {"graph": [entry, None]}}
    refused(model(state, **arrays))
    tried("parsers", "models", "hostile matrices")


LABELS = {
    "too few": {"array": "a4"},
    "the same twice": {"objects": ["a", "a"]},
    "a text": "ab",
    "a list": ["a", "b"],
    "a table": {"array": "a5"},
    "what has no order": {"objects": [["a"], ["b"]]},
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_labels_that_do_not_name_the_nodes_are_refused(labels):
    entry = CSR | {"shape": [2, 2]}
    arrays = {"a1": [1.0, 1.0], "a2": [1, 0], "a3": [0, 1, 2]}
    more = {"a4": ["a"], "a5": [["a"], ["b"]]}
    refused(model({"graph_": {"graph": [entry, labels]}}, **arrays, **more))
    tried("parsers", "models", "hostile labels")


def test_a_graph_that_is_not_square_is_refused():
    entry = CSR | {"shape": [2, 3]}
    arrays = {"a1": [1.0, 1.0], "a2": [1, 0], "a3": [0, 1, 2]}
    assert "not square" in refused(model({"g_": {"graph": [entry, None]}}, **arrays))
    tried("parsers", "models", "hostile matrices")


def test_an_array_that_is_named_often_is_read_once():
    often = [{"array": "a1"}] * 1000
    content = model({"x_": often}, a1=np.zeros(2**17))
    tracemalloc.start()
    found = graphfold.load(io.BytesIO(content)).x_
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * MEGABYTE
    assert all(part is found[0] for part in found)
    tried("parsers", "models", "hostile states")


def test_a_few_arrays_do_not_make_many_graphs():
    n = 2**14
    arrays = {f"a{i}": np.arange(n) for i in range(1, 31)}
    arrays |= {"a31": np.ones(n), "a32": np.arange(n + 1)}
    graphs = [
        {
            "csr": [{"array": "a31"}, {"array": f"a{i}"}, {"array": "a32"}],
            "shape": [n, m],
        }
        for i in range(1, 31)
        for m in range(n, n + 30)
    ]
    assert "in too many ways" in refused(model({"x_": graphs}, **arrays))
    tried("parsers", "models", "hostile states")


def test_a_matrix_that_is_named_twice_is_one(points, tmp_path):
    graph = Graph(NeighborGraph(4).build(points))
    GraphKernelPCA(2, graph=graph).fit(points).save(tmp_path / "model.npz")
    loaded = graphfold.load(tmp_path / "model.npz")
    assert loaded.graph == graph
    assert loaded.graph_ == graph


def test_a_compressed_copy_of_a_model_loads(points, tmp_path):
    model = GraphKernelPCA(2).fit(points)
    model.save(tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz") as content:
        np.savez_compressed(tmp_path / "small.npz", **content)
    loaded = graphfold.load(tmp_path / "small.npz")
    assert np.array_equal(loaded.transform(points), model.transform(points))


def test_what_cannot_be_read_back_is_not_saved(points, tmp_path, monkeypatch):
    from graphfold import io as models

    model = GraphKernelPCA(2).fit(points)
    monkeypatch.setattr(models, "LONGEST", 100)
    with pytest.raises(ModelFileError, match="bytes of JSON"):
        model.save(tmp_path / "model.npz")
    assert not (tmp_path / "model.npz").exists()


def test_a_missing_file_stays_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        graphfold.load(tmp_path / "none.npz")


def test_a_path_that_the_file_names_is_not_opened(tmp_path):
    """Nothing but the file itself is opened, whatever it calls its parts."""
    secret = tmp_path / "secret.npy"
    np.save(secret, np.arange(3))
    content = model({"x_": {"array": str(secret.with_suffix(""))}})
    assert re.search("not a graphfold model", refused(content))


@pytest.mark.parametrize("width", [2**64, 10**30])
def test_texts_of_more_letters_than_can_be_counted_are_refused(width):
    """Old versions of NumPy take the type of such a header, and less than no memory."""
    header = f"{{'descr': '<U{width}', 'fortran_order': False, 'shape': (2,), }}\n"
    start = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little")
    with pytest.raises(ValueError, match="is of the type '<U"):
        claim_of(BytesIO(start + header.encode()))


@pytest.mark.parametrize("kind", ["graph", "csr"])
def test_matrices_within_matrices_are_refused(kind):
    """At each level the whole of what is within would be written out."""
    entry = "a" * 1000
    for _ in range(100):
        within = {"graph": [entry, None], "csr": [entry] * 3, "shape": [1, 1]}
        names = ("graph",) if kind == "graph" else ("csr", "shape")
        entry = {name: within[name] for name in names}
        if kind == "csr":
            entry["csr"] = [entry["csr"][0], 1, 1]
    refused(model({"x_": entry}))
    labels = {"graph": [CSR, {"objects": [{"graph": [CSR, None]}]}]}
    refused(model({"x_": labels}, a1=np.ones(1), a2=np.zeros(1, int), a3=np.arange(2)))
    tried("parsers", "models", "hostile headers", 2)


def test_a_header_that_is_packed_very_small_is_refused():
    stream = BytesIO()
    np.savez_compressed(stream, header=np.zeros(2**21, dtype=np.uint8))
    assert len(stream.getvalue()) < 2**14
    assert "header must have at most" in refused(stream.getvalue())
