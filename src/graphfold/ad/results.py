"""Where answers go: obsm, varm and uns, in forms that an h5ad file can hold."""

from __future__ import annotations

import inspect
import os
import tempfile
from collections.abc import Mapping
from io import BytesIO
from typing import Any

import numpy as np

from graphfold import check, io
from graphfold.ad.checks import one_of_keys
from graphfold.arrays import Array
from graphfold.errors import GraphfoldError
from graphfold.params import Params

#: arguments of estimators that the verbs call by scanpy's names, or fill themselves
_OURS = ("n_components", "graph", "modes", "verbose", "align_to", "n_jobs", "landmarks")


def keys_for(key_added: Any) -> tuple[str, str]:
    """Key in obsm, and in varm and uns: scanpy's rule for ``key_added``."""
    if key_added is None:
        return "X_graphfold", "graphfold"
    if not isinstance(key_added, str) or not key_added:
        raise GraphfoldError(f"key_added must be a name; got {key_added!r}")
    return key_added, key_added


def described(estimator: Any, said: Mapping[str, Any]) -> dict[str, Any]:
    """Every parameter that counted, as text, numbers and lists.

    ``said`` are the verb's own arguments. What is None by default and was left so is
    left out, as scanpy does.
    """
    found = {k: plain_value(v) for k, v in said.items() if v is not None}
    usual = inspect.signature(type(estimator).__init__).parameters
    for name, value in estimator.get_params(deep=False).items():
        if name not in _OURS and not (value is None and usual[name].default is None):
            found[name] = plain_value(value)
    landmarks = getattr(estimator, "landmarks", None)
    if landmarks is not None:
        found["landmarks"] = plain_value(landmarks)
    return found


def plain_value(value: Any) -> Any:
    """A value as a file can hold it; objects as the text that makes them."""
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if hasattr(value, "to_numpy"):
        value = value.to_numpy()
    if isinstance(value, Mapping):
        said = {str(k): part for k, part in value.items() if part is not None}
        return {name: plain_value(part) for name, part in said.items()}
    if isinstance(value, list | tuple) and value:
        parts = [plain_value(part) for part in value]
        kinds = {type(part) for part in parts}
        if kinds <= {str} or kinds <= {int, float} or kinds <= {bool}:
            return np.array(parts)
        return [str(part) for part in parts] if kinds & {str} else repr(value)
    if len(getattr(value, "shape", ())) > 1:
        return f"<{' x '.join(map(str, value.shape))} table>"
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufU":
        return value
    if isinstance(value, Params) or value is None:
        return repr(value)
    return getattr(value, "__name__", repr(value))


def findings(model: Any) -> dict[str, Any]:
    """What a fit found, beside the embedding."""
    found: dict[str, Any] = {
        "eigenvalues": np.asarray(model.eigenvalues_),
        "graph_strength": float(model.graph_strength_),
        "formula": str(model.formula_),
        "solver": str(model.solver_),
    }
    for kind in ("graph", "kernel"):
        names = getattr(model, f"{kind}_names_")
        if names:
            found[f"{kind}_names"] = np.array(names, dtype=object)
            found[f"{kind}_weights"] = np.asarray(getattr(model, f"{kind}_weights_"))
    if hasattr(model, "explained_variance_ratio_"):
        found["explained_variance_ratio"] = np.asarray(model.explained_variance_ratio_)
    if hasattr(model, "landmark_error_"):
        found["landmark_error"] = float(model.landmark_error_)
    if model.warnings_:
        found["warnings"] = np.array(
            [f"{kind}: {text}" for kind, text in model.warnings_], dtype=object
        )
    return found


def packed(model: Any) -> Array:
    """A fitted estimator as the bytes of its file; ``unpacked`` reads it back."""
    with tempfile.TemporaryDirectory(prefix="graphfold-") as folder:
        path = os.path.join(folder, "model.npz")
        io.save(model, path)
        return np.fromfile(path, dtype=np.uint8)


def unpacked(reference: Any, key: Any) -> Any:
    """The estimator that a verb has kept in ``uns[key]``."""
    one_of_keys("key", key, list(reference.uns.keys()), "uns")
    kept = reference.uns[key]
    if not isinstance(kept, Mapping) or "model" not in kept:
        raise GraphfoldError(
            f"key must name a result that was made with keep_model=True; "
            f"uns[{key!r}] holds no model: run the verb again with it"
        )
    return io.load(BytesIO(np.asarray(kept["model"], dtype=np.uint8).tobytes()))


def write(
    data: Any,
    key_added: Any,
    embedding: Array,
    noted: dict[str, Any],
    *,
    copy: bool,
    loadings: Array | None = None,
) -> Any:
    """Put an answer into the object, or into a copy of it, which is returned."""
    in_obsm, in_uns = keys_for(key_added)
    target = data.copy() if copy else data
    target.obsm[in_obsm] = embedding
    if loadings is not None:
        target.varm[in_uns] = loadings
    elif in_uns in target.varm:
        del target.varm[in_uns]  # of an earlier run: not those of this embedding
    target.uns[in_uns] = noted
    return target if copy else None


def checked_n_comps(n_comps: Any, n: int) -> int:
    """Dimension of the embedding, by scanpy's name for it."""
    return check.integer_between("n_comps", n_comps, 1, n, f"there are {n} cells")
