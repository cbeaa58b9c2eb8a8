"""Honest files to begin with, made by code: a few for each target."""

from __future__ import annotations

import functools
import gzip
import io
import json
import os
import tempfile
import warnings
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

import graphfold

N = 12


def seeds_of(target: str) -> list[bytes]:
    """Files that the target reads, or refuses for an ordinary reason."""
    if target == "model":
        return _models()
    kind, _, suffix = target.partition(".")
    return _MAKERS[kind, suffix.split(" ")[0]]()


@functools.cache
def _models() -> list[bytes]:
    rng = np.random.default_rng(0)
    X = rng.random((N, 3))
    labels = [f"n{i}" for i in range(N)]
    graph = graphfold.Graph(graphfold.NeighborGraph(3).build(X), nodes=labels)
    fits: list[tuple[Any, dict[str, Any]]] = [
        (graphfold.GraphKernelPCA(2, graph=graph), {"node_ids": labels}),
        (graphfold.GraphKernelPCA(2, fit_inverse_transform=True), {}),
        (graphfold.GraphKernelPCA(2, kernel="linear", landmarks=6, random_state=0), {}),
        (graphfold.SemiSupervisedGraphKernelPCA(2, must_link=[(0, 1)]), {}),
        (graphfold.RobustGraphPCA(2, graph=graphfold.NeighborGraph(3)), {}),
        (graphfold.LocalNonlinearEmbedding(2, n_neighbors=4), {}),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # twelve rows are few
        found = [_bytes_of_model(model.fit(X, **how)) for model, how in fits]
        model = graphfold.GraphKernelPCA(2, graph=graphfold.NeighborGraph(3))
        found.append(_bytes_of_model(model.fit(sp.csr_array(X))))
    return found


def _bytes_of_model(model: Any) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.npz")
        model.save(path)
        with open(path, "rb") as stream:
            return stream.read()


def _written(write: Any, *arguments: Any, **named: Any) -> bytes:
    stream = io.BytesIO()
    write(stream, *arguments, **named)
    return stream.getvalue()


def _npy(*arrays: Any) -> list[bytes]:
    return [_written(np.save, np.asarray(array)) for array in arrays]


def _ring() -> Any:
    ends = np.arange(N), (np.arange(N) + 1) % N
    ring = sp.coo_array((np.ones(N), ends), shape=(N, N))
    return sp.csr_array(ring + ring.T)


def _sparse(layouts: Any) -> list[bytes]:
    return [_written(sp.save_npz, _ring().asformat(kind)) for kind in layouts]


def _npz() -> list[bytes]:
    X = np.arange(6.0).reshape(3, 2)
    named = {"embedding": X, "labels": np.array(["a", "b", "c"])}
    return [
        _written(np.savez, X=X),
        _written(np.savez, **named),
        _written(np.savez_compressed, X=X),
        *_sparse(("csr", "csc", "coo", "bsr", "dia")),
    ]


def _mtx() -> list[bytes]:
    full = np.arange(6.0).reshape(3, 2)
    whole = sp.coo_array(np.eye(3, dtype=int))
    written = [_written(scipy.io.mmwrite, each) for each in (full, whole, _ring())]
    pattern = b"%%MatrixMarket matrix coordinate pattern symmetric\n%x\n3 3 1\n2 1\n"
    counts = {"general": 4, "symmetric": 3, "hermitian": 3, "skew-symmetric": 1}
    dense = [
        f"%%MatrixMarket matrix array {field} {symmetry}\n2 2\n{line * count}".encode()
        for symmetry, count in counts.items()
        for field, line in (("real", "1\n"), ("integer", "2\n"), ("complex", "1 2\n"))
    ]
    return [*written, pattern, *dense]


def _edges(mark: str, names: Any) -> list[bytes]:
    lines = [f"{a}{mark}{b}{mark}{1 + i}" for i, (a, b) in enumerate(names)]
    header = mark.join(("source", "target", "weight"))
    bare = [mark.join(map(str, pair)) for pair in names]
    texts = ["\n".join(lines), "\n".join([header, *lines]), "\r\n".join(bare)]
    return [text.encode() + b"\n" for text in texts]


_NAMED = [(f"n{i}", f"n{(i + 1) % N}") for i in range(N)]
_COUNTED = [(i, (i + 1) % N) for i in range(N)]
_TABLES = [
    b"1,2\n3,4\n",
    b"id,x,y\na,1,2\nb,3e4,-.5\n",
    b'\xef\xbb\xbfid,x,class\r\n"Smith, J",1,red\r\nb,2,"bl""ue"\r\n',
    b'id,component1,component2,note\n"a\nb",1,2,x\nc,3,4,\n',
    b"x\n1\nNA\n",
]
_GRAPHML = b"""<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="d0" for="edge" attr.name="weight" attr.type="double"/>
<key id="d1" for="node" attr.name="on" attr.type="boolean"><default>true</default></key>
<graph edgedefault="undirected"><node id="n0"><data key="d1">false</data></node>
<node id="n1"/><node id="n2"/><edge source="n0" target="n1"><data key="d0">2</data>
</edge><edge source="n1" target="n2" id="e"/></graph></graphml>"""


def _tables(mark: bytes) -> list[bytes]:
    return [table.replace(b",", mark) for table in _TABLES]


def _columns() -> list[bytes]:
    named = "".join(f"n{i},{i % 3}\n" for i in range(N))
    plain = "".join(f"{'abc'[i % 3]}\n" for i in range(N))
    return [f"id,class\n{named}".encode(), named.encode(), f"class\n{plain}".encode()]


def _links() -> list[bytes]:
    links = {"must_link": [["n1", "n2"], ["n3", "x"]], "cannot_link": [["n1", "n5"]]}
    return [json.dumps(links).encode(), b'{"must_link": [[1, 2]], "cannot_link": null}']


_MAKERS: dict[tuple[str, str], Any] = {
    ("table", "npy"): lambda: _npy(np.eye(3), np.eye(3, dtype=">i2"), ["a", "b"], 1.0),
    ("table", "npz"): _npz,
    ("table", "mtx"): _mtx,
    ("table", "csv"): lambda: _tables(b","),
    ("table", "tsv"): lambda: _tables(b"\t"),
    ("table", "csv.gz"): lambda: [gzip.compress(t, mtime=0) for t in _tables(b",")],
    ("graph", "npz"): lambda: [*_sparse(("csr", "coo")), *_npz()],
    ("graph", "npy"): lambda: _npy(_ring().toarray(), _NAMED, [["n1", "n2", "3"]]),
    ("graph", "mtx"): _mtx,
    ("graph", "csv"): lambda: _edges(",", _NAMED),
    ("graph", "tsv"): lambda: _edges("\t", _COUNTED),
    ("graph", "graphml"): lambda: [_GRAPHML, _GRAPHML.replace(b"undir", b"dir")],
    ("pairs", "json"): _links,
    ("pairs", "csv"): lambda: [b"source,target\n100,101\n", b"100,101\n102,7\n"],
    ("column", "csv"): _columns,
    ("column", "npy"): lambda: _npy(np.arange(N), [str(i) for i in range(N)]),
    ("record", "json"): lambda: [b'{"quick": true, "commits": ["a"], "seeds": [1]}'],
    ("edges", "csv"): lambda: [*_edges(",", _NAMED), *_edges(",", _COUNTED)],
}
