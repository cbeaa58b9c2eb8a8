"""Models on disk: arrays and JSON in one .npz file, never a pickle.

Loading runs no code of the file: names are looked up in a register of graphfold's own
classes, arrays load with ``allow_pickle=False``. A crash while saving leaves the old
file or the new one.
"""

from __future__ import annotations

import dataclasses
import json
import os
import zipfile
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp

from graphfold import kernels
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
from graphfold.model import certificate, extend, path, preimage
from graphfold.params import Params
from graphfold.replacing import write_atomically

FORMAT = 1
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
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
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

    From a path, or from a file that is open for reading bytes.

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
        with np.load(path, allow_pickle=False) as arrays:
            header = json.loads(bytes(arrays["header"]).decode())
            if header["format"] != FORMAT:
                raise ModelFileError(
                    f"{path} has format {header['format']}; this version reads {FORMAT}"
                )
            cls = _ESTIMATORS[header["estimator"]]
            estimator = cls(**_decode(header["params"], arrays))
            vars(estimator).update(_decode(header["state"], arrays))
            return estimator
    except (OSError, ModelFileError):
        raise
    except (
        KeyError,
        IndexError,
        TypeError,
        ValueError,
        AttributeError,
        zipfile.BadZipFile,
    ) as error:
        raise ModelFileError(f"{path} is not a graphfold model: {error!r}") from None


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


def _decode(value: Any, arrays: Any) -> Any:
    if isinstance(value, list):
        return [_decode(item, arrays) for item in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"tuple": items}:
            return tuple(_decode(items, arrays))
        case {"slice": parts}:
            return slice(*parts)
        case {"dict": pairs}:
            return {key: _decode(item, arrays) for key, item in pairs.items()}
        case {"array": key}:
            return arrays[key]
        case {"objects": items}:
            objects = np.empty(len(items), dtype=object)
            objects[:] = _decode(items, arrays)
            return objects
        case {"csr": parts, "shape": shape}:
            matrix = sp.csr_array(tuple(_decode(parts, arrays)), shape=tuple(shape))
            matrix.check_format(full_check=True)  # a bad index would crash SciPy
            return matrix
        case {"graph": [content, labels]}:
            return _decode_graph(_decode(content, arrays), _decode(labels, arrays))
        case {"part": name, "params": params}:
            return _PARTS[name](**_decode(params, arrays))
        case {"record": name, "fields": fields}:
            return _RECORDS[name](**_decode(fields, arrays))
    raise ModelFileError(f"unknown entry with {sorted(value)}")


def _decode_graph(adjacency: Any, labels: Any) -> Graph:
    if adjacency.shape[0] != adjacency.shape[1]:
        raise ModelFileError("a graph in it is not square")
    return Graph._unchecked(adjacency, labels)
