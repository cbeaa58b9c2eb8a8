"""Models on disk: arrays and JSON in one .npz file, never a pickle.

Loading runs no code of the file: names are looked up in a register of graphfold's own
classes, arrays load with ``allow_pickle=False``. What the file claims is checked before
memory is taken for it, and never takes a large multiple of the file. Parts that do not
fit each other are refused: see ``hints`` and ``estimators.states``. A crash while
saving leaves the old file or the new one.
"""

from __future__ import annotations

import dataclasses
import errno
import inspect
import json
import os
import re
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp

from graphfold import kernels
from graphfold.archives import MEMBERS, RATIO, Archive
from graphfold.documents import LONGEST, parsed
from graphfold.errors import ModelFileError
from graphfold.graphs import (
    CorrelationGraph,
    Graph,
    NeighborGraph,
    graphs_from,
    responses,
)
from graphfold.graphs.edge_table import EdgeTable, is_edge_table
from graphfold.graphs.known import KnownGraph
from graphfold.graphs.modes import ModeGraph
from graphfold.graphs.responses import Response
from graphfold.model import certificate, extend, path, preimage
from graphfold.params import Params
from graphfold.replacing import write_atomically
from graphfold.sparse_parts import compressed_rows

FORMAT = 1
#: how far the two weights of an edge may differ, relative to the largest
_ROUNDING = 1e-6
_PARTS: dict[str, type] = {
    cls.__name__: cls
    for cls in (
        kernels.ClassicalScaling,
        kernels.Combination,
        kernels.Cosine,
        kernels.Gaussian,
        kernels.Geodesic,
        kernels.Linear,
        kernels.LocallyLinear,
        kernels.LocallyNonlinear,
        kernels.OnColumns,
        kernels.Pairwise,
        kernels.Polynomial,
        kernels.Precomputed,
        kernels.Sigmoid,
        NeighborGraph,
        CorrelationGraph,
        KnownGraph,
        ModeGraph,
        responses.Diffusion,
        responses.RandomWalk,
        responses.RegularizedLaplacian,
        responses.Bandlimited,
        responses.LowPass,
    )
}
_RECORDS: dict[str, type] = {
    cls.__name__: cls
    for cls in (
        extend.DataShare,
        extend.Expansion,
        extend.Extension,
        extend.GraphShare,
        certificate.AxisReport,
        path.StrengthPath,
        preimage.Preimage,
    )
}


def record(cls: type) -> type:
    """Class decorator: a dataclass that estimators keep can be saved with them."""
    _RECORDS[cls.__name__] = cls
    return cls


_ESTIMATORS: dict[str, type] = {}


def register(cls: type) -> type:
    """Class decorator: estimators of this class can be saved and loaded."""
    _ESTIMATORS[cls.__name__] = cls
    return cls


def save(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to ``path``.

    Callbacks and metadata requests are not saved: they belong to a session. A graph
    that came as an object of another library is saved as a ``Graph``. Of a fit whose
    rows lie on workers the rule that places new rows by their features is saved.
    """
    arrays: dict[str, Any] = {}
    params = estimator.get_params(deep=False)
    kept = getattr(estimator, "_state_to_save", lambda: vars(estimator))()
    if isinstance(params.get("graph"), EdgeTable) or is_edge_table(params.get("graph")):
        params["graph"] = None  # it lies elsewhere, as the rows of the fit do
    state = {
        name: value
        for name, value in kept.items()
        if name not in params and name not in ("_skl_callbacks", "_metadata_request")
    }
    for name in ("graph", "feature_graph"):
        if params.get(name) is not None:
            params[name] = _own_graphs(params[name])
    if params.get("align_to") is not None:
        reference = params["align_to"]
        params["align_to"] = np.asarray(getattr(reference, "embedding_", reference))
    header = {
        "format": FORMAT,
        "estimator": type(estimator).__name__,
        "params": _encode(params, arrays, "parameters"),
        "state": _encode(state, arrays, "state"),
    }
    content = json.dumps(header).encode()
    if len(content) > LONGEST or len(arrays) >= MEMBERS:
        raise ModelFileError(
            f"a model file may have {LONGEST} bytes of JSON and {MEMBERS} arrays; this "
            f"estimator would need {len(content)} and {len(arrays) + 1}: labels that "
            "are integers or strings take less, or pickle it instead"
        )
    arrays["header"] = np.frombuffer(content, dtype=np.uint8)
    write_atomically(path, lambda stream: np.savez(stream, **arrays))


def _own_graphs(graph: Any) -> Any:
    """A graph, or several, of other libraries as graphs of ours."""
    named = graphs_from(graph)
    if isinstance(graph, dict):
        return named
    own = list(named.values())
    return own if isinstance(graph, list | tuple) and len(own) > 1 else own[0]


def load(path: str | os.PathLike[str] | BinaryIO) -> Any:
    """Read an estimator that ``save`` has written; safe for files of strangers.

    From a path, or from a file that is open for reading bytes. A file whose parts do
    not fit each other (shapes, kinds of numbers, ranges, parameters as at ``fit``) is
    refused with a ``ModelFileError`` that says which.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> import graphfold
    >>> X = np.random.default_rng(0).random((20, 3))
    >>> model = graphfold.GraphKernelPCA(2).fit(X)
    >>> path = os.path.join(tempfile.mkdtemp(), "model.npz")
    >>> model.save(path)
    >>> bool(np.array_equal(graphfold.load(path).embedding_, model.embedding_))
    True
    """
    try:
        with Archive(path) as archive:
            return _estimator_in(archive, path)
    except (ModelFileError, MemoryError):
        raise
    except Exception as error:
        # EINVAL: a place before the beginning of the file, which it has named
        if isinstance(error, OSError) and error.errno != errno.EINVAL:
            raise
        reason = str(error) if isinstance(error, ValueError) else repr(error)
        reason = " ".join(reason.split())[:200]
        raise ModelFileError(f"{path} is not a graphfold model: {reason}") from None


def _estimator_in(archive: Archive, path: Any) -> Any:
    others = [name for name in archive if not re.fullmatch(r"header|a\d{1,9}", name)]
    if others:
        raise ValueError(f"a model has no arrays called {others[:3]}")
    length, most = archive.bytes_of("header"), min(LONGEST, RATIO * archive.size)
    if length > most:
        raise ValueError(f"its header must have at most {most} bytes; got {length}")
    archive.check_claims()
    header = parsed(bytes(archive["header"]))
    if header["format"] != FORMAT:
        raise ModelFileError(
            f"{path} has format {str(header['format'])[:40]!r}; this version reads "
            f"{FORMAT}"
        )
    cls = _ESTIMATORS[header["estimator"]]
    decoder = _Decoder(archive)
    estimator = cls(**decoder.value(header["params"]))
    state = decoder.value(header["state"])
    _check_names(cls, state)
    vars(estimator).update(state)
    estimator._check_loaded(state)
    return estimator


def _part(cls: type, params: dict[str, Any]) -> Any:
    """A kernel, a recipe or a response whose parameters are in their range."""
    part = cls(**params)
    if isinstance(part, Response):
        Response.check(part, 0.0)  # of no graph: the spectrum is not known here
    else:
        part.check_parameters()
    return part


def _check_names(cls: Any, state: dict[str, Any]) -> None:
    """What a fit leaves behind is no parameter, no method and nothing of Python's."""
    parameters = cls._get_param_names()
    for name in state:
        of_class = inspect.getattr_static(cls, name, None)
        plain = of_class is None or isinstance(of_class, bool | int | float | str)
        if name.startswith("__") or not name.isidentifier() or name in parameters:
            plain = False
        if not plain:
            raise ValueError(
                f"{name[:80]!r} is no attribute of a fitted {cls.__name__}"
            )


def _encode(value: Any, arrays: dict[str, Any], where: str) -> Any:
    """JSON for a value; arrays go aside under a number."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return _encode(value.item(), arrays, where)
    if isinstance(value, set | frozenset):
        value = sorted(value, key=repr)
    if isinstance(value, list | tuple):
        items = [_encode(item, arrays, where) for item in value]
        return items if isinstance(value, list) else {"tuple": items}
    if isinstance(value, dict):
        pairs = {str(k): _encode(v, arrays, f"{where}.{k}") for k, v in value.items()}
        return {"dict": pairs}
    if isinstance(value, slice):
        return {"slice": [value.start, value.stop, value.step]}
    if isinstance(value, np.ndarray):
        return _encode_array(value, arrays, where)
    if sp.issparse(value):
        matrix = sp.csr_array(value)
        parts = (matrix.data, matrix.indices, matrix.indptr)
        stored = [_encode(part, arrays, where) for part in parts]
        return {"csr": stored, "shape": list(matrix.shape)}
    if isinstance(value, Graph):
        labels = value.nodes if value.has_labels else None
        content = [value.to_scipy(), labels]
        return {"graph": [_encode(part, arrays, where) for part in content]}
    if isinstance(value, Params) and type(value).__name__ in _PARTS:
        params = _encode(value.get_params(), arrays, where)
        return {"part": type(value).__name__, "params": params}
    if dataclasses.is_dataclass(value) and type(value).__name__ in _RECORDS:
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        return {
            "record": type(value).__name__,
            "fields": _encode(fields, arrays, where),
        }
    raise ModelFileError(
        f"{where} holds {value!r}, which cannot be stored as arrays and JSON; "
        "pickle the estimator instead, or replace it by a named kernel or response"
    )


def _encode_array(value: Any, arrays: dict[str, Any], where: str) -> Any:
    if value.dtype == object:
        return {"objects": [_encode(item, arrays, where) for item in value.tolist()]}
    for key, stored in arrays.items():
        if stored is value:
            return {"array": key}  # the rows of a fit are held in several places
    key = f"a{len(arrays)}"
    arrays[key] = value
    return {"array": key}


class _Decoder:
    """Values that the header of a file describes.

    An array that is named several times is read once, and a matrix made once: a short
    header must not make much of little.
    """

    def __init__(self, archive: Archive):
        self._archive = archive
        self._arrays: dict[str, Any] = {}
        self._made: dict[str, Any] = {}
        self._within = False
        self._left = 4 * archive.total + 2**20  # bytes of matrices that may be made

    def value(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if not isinstance(value, dict):
            return value
        match value:
            case {"tuple": items}:
                return tuple(self.value(items))
            case {"slice": [_, _, _] as ends}:
                return slice(*(None if end is None else int(end) for end in ends))
            case {"dict": pairs}:
                return {key: self.value(item) for key, item in pairs.items()}
            case {"array": str(key)}:
                return self._array(key)
            case {"objects": items}:
                objects = np.empty(len(items), dtype=object)
                objects[:] = self.value(items)
                return objects
            case {"csr": _, "shape": _} | {"graph": [_, _]}:
                return self._matrix(value)
            case {"part": name, "params": params}:
                return _part(_PARTS[name], self.value(params))
            case {"record": name, "fields": fields}:
                return _RECORDS[name](**self.value(fields))
        raise ValueError(f"it has an unknown entry with {sorted(value)}")

    def _array(self, key: str) -> Any:
        if key not in self._arrays:
            values = self._archive[key]
            # compiled routines know the order of bytes of this machine only
            own = values.dtype.newbyteorder("=")
            self._arrays[key] = values.astype(own, copy=False)
        return self._arrays[key]

    def _matrix(self, value: dict[str, Any]) -> Any:
        # what is within another would be written out again at every level
        if self._within:
            raise ValueError("it has a matrix within another one")
        known = json.dumps(value)
        if known not in self._made:
            self._within = True
            try:
                self._made[known] = self._of_parts(value)
            finally:
                self._within = False
        return self._made[known]

    def _of_parts(self, value: dict[str, Any]) -> Any:
        match value:
            case {"graph": [{"csr": _, "shape": _} as adjacency, labels]}:
                return self._graph(self._csr(adjacency), self.value(labels))
            case {"csr": _, "shape": _}:
                return self._csr(value)
        raise ValueError("a graph in it has no matrix")

    def _csr(self, value: dict[str, Any]) -> Any:
        data, indices, indptr = self.value(value["csr"])
        self._left -= data.nbytes + indices.nbytes + indptr.nbytes
        if self._left < 0:
            raise ValueError("its matrices share their numbers in too many ways")
        return compressed_rows(data, indices, indptr, value["shape"])

    def _graph(self, matrix: Any, names: Any) -> Graph:
        if not sp.issparse(matrix) or matrix.shape[0] != matrix.shape[1]:
            raise ValueError("a graph in it is not square")
        if matrix.dtype.kind not in "biuf":
            raise ValueError(f"a graph in it has weights of {matrix.dtype}")
        if not np.isfinite(matrix.data).all():
            raise ValueError("a graph in it has weights of NaN or infinity")
        if abs(matrix - matrix.T).max() > _ROUNDING * abs(matrix).max():
            raise ValueError("a graph in it has other weights there than back")
        if names is not None and not (
            isinstance(names, np.ndarray) and names.ndim == 1
        ):
            raise ValueError("labels of a graph in it are no list")
        return Graph._unchecked(matrix, names)
