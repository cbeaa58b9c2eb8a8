"""What there is to say of a fitted model, as plain lists, numbers and texts."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from graphfold.arrays import Array
from graphfold.errors import GraphfoldError
from graphfold.graphs import Graph
from graphfold.quality import GraphGain
from graphfold.views.report_quality import quality_of
from graphfold.views.report_text import summary

__all__ = ["report_of", "summary"]

#: entries of a list that are shown; how many more there are is said
LISTED = 100
N_BINS = 20
SHORT = 120


def report_of(
    model: Any,
    *,
    X: Any = None,
    labels: Any = None,
    gain: Any = None,
    n_neighbors: int = 10,
    trust: Any = None,
    overlap: Any = None,
) -> dict[str, Any]:
    """What a fit did, found and warned of; ready for JSON.

    What a model does not have is left out, and numbers that are not finite are None.

    Parameters
    ----------
    model : fitted estimator, or array of shape (n, d)
        One of graphfold's, or anything with ``embedding_``. An array is an embedding
        of which nothing else is known.
    X : table of n rows, default=None
        The rows of the fit: adds how far neighbours are kept.
    labels : sequence of n labels, or dict or DataFrame of them, default=None
        Adds how well the embedding tells classes apart, for those that are classes:
        texts, booleans, or whole numbers of few kinds. None, NaN, and -1 among at
        least two others are unknown. Four columns are judged, each in at most 5,000
        rows; what is left out is named in ``notes``.
    gain : GraphGain, or dict of them, default=None
        What :func:`graphfold.quality.graph_gain` found.
    n_neighbors : int, default=10
        How many nearest rows count.
    trust, overlap : arrays of shape (n,), default=None
        :func:`~graphfold.quality.trustworthiness` and
        :func:`~graphfold.quality.neighbor_overlap` of the rows, if they are known
        already.

    Returns
    -------
    dict

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold import GraphKernelPCA
    >>> from graphfold.views.report import report_of
    >>> X = np.random.default_rng(0).random((50, 3))
    >>> report = report_of(GraphKernelPCA(2).fit(X), X=X)
    >>> report["class"], report["shape"]
    ('GraphKernelPCA', {'rows': 50, 'columns': 3, 'components': 2})
    >>> [row["name"] for row in report["quality"]][:2]
    ['trustworthiness', 'neighbours kept']
    """
    Z = _embedding_of(model)
    fitted = hasattr(model, "embedding_")
    quality = quality_of(
        model if fitted else None,
        Z,
        X=X,
        labels=labels,
        n_neighbors=n_neighbors,
        trust=trust,
        overlap=overlap,
    )
    found = {
        "name": type(model).__name__ if fitted else "embedding",
        "class": type(model).__name__ if fitted else None,
        "formula": getattr(model, "formula_", None),
        "shape": {
            "rows": Z.shape[0],
            "columns": getattr(model, "n_features_in_", None),
            "components": Z.shape[1],
        },
        "spectrum": _spectrum(model),
        "weights": _weights(model),
        "strength": _strength(model),
        "gain": _gains(gain),
        "constraints": _constraints(getattr(model, "constraint_report_", None)),
        "trust": None if quality.trust is None else _histogram(quality.trust),
        "quality": quality.table,
        "warnings": [
            {"category": category, "message": message}
            for category, message in getattr(model, "warnings_", ())
        ],
        "notes": quality.notes,
        "objective": getattr(model, "objective_trace_", None),
        "solver": _solver(model),
        "landmarks": _landmarks(model),
        "graphs": _graphs(model),
        "parameters": _parameters(model) if fitted else None,
    }
    plain: dict[str, Any] = _plain(found)
    empty: tuple[Any, ...] = (None, [], {})
    return {k: v for k, v in plain.items() if v not in empty or k in ("warnings",)}


def _embedding_of(model: Any) -> Array:
    Z = getattr(model, "embedding_", None)
    if Z is None and not hasattr(model, "fit"):
        Z = np.asarray(model)
        if Z.ndim != 2 or Z.dtype.kind not in "fiu":
            Z = None
    if Z is None:
        raise GraphfoldError(
            "model must be fitted and have embedding_, or be an array of shape (n, d); "
            f"got {type(model).__name__}"
        )
    return np.asarray(Z)


# -- parts of a report -----------------------------------------------------------


def _parameters(model: Any) -> list[dict[str, Any]]:
    """Names and values, the ones that differ from the default first."""
    if not hasattr(model, "get_params"):
        return []
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(type(model)).parameters.items()
    }
    rows = [
        {
            "name": name,
            "value": _short(value),
            "default": _short(defaults.get(name)),
            "changed": not _same(value, defaults.get(name)),
        }
        for name, value in model.get_params(deep=False).items()
    ]
    return sorted(rows, key=lambda row: not row["changed"])


def _spectrum(model: Any) -> dict[str, Any] | None:
    singular = getattr(model, "singular_values_", None)
    values = getattr(model, "eigenvalues_", singular)
    if values is None:
        return None
    values = np.asarray(values, dtype=np.float64)
    axes = getattr(model, "axis_report_", None)
    # align_to turns the axes, so that gaps are no longer those of an axis
    turned = getattr(model, "_rotation", None) is not None
    found: dict[str, Any] = {
        "kind": "singular values" if values is singular else "eigenvalues",
        "values": values,
        "turned": turned,
        "explained": getattr(model, "explained_variance_ratio_", None),
        "residuals": getattr(model, "residuals_", None),
    }
    if singular is not None:
        found["kind"] = "singular values"
    if axes is not None:
        found |= {
            "gaps": axes.eigengaps,
            "interchangeable": axes.interchangeable,
        }
        if not turned:
            found["next"] = _next_value(values, axes.eigengaps)
    return found


def _next_value(values: Array, gaps: Array) -> float | None:
    """The first eigenvalue that was left out, where the gap of the last one tells it.

    That gap is to the nearest other eigenvalue, which may be the one before; and one
    eigenvalue alone does not say which way they go.
    """
    if len(values) < 2 or not gaps[-1] < abs(values[-2] - values[-1]) * (1 - 1e-9):
        return None
    rising = values[-1] > values[0]
    return float(values[-1] + (gaps[-1] if rising else -gaps[-1]))


def _weights(model: Any) -> list[dict[str, Any]]:
    """Learned weights by name, in groups."""
    modes = hasattr(model, "mode_names_")
    listed = (
        ("kernels", "kernel_names_", "kernel_weights_"),
        ("modes" if modes else "graphs", "graph_names_", "graph_weights_"),
    )
    groups = [
        {"title": title, "names": list(getattr(model, names)), "values": values}
        for title, names, weights in listed
        if (values := getattr(model, weights, None)) is not None and len(values)
    ]
    shares = getattr(model, "mode_contributions_", None)
    if shares is not None:
        names, mean = list(model.mode_names_), np.mean(shares, axis=0)
        groups.append({"title": "share of a place", "names": names, "values": mean})
    return groups


def _strength(model: Any) -> dict[str, Any] | None:
    used = getattr(model, "graph_strength_", None)
    path = getattr(model, "strength_path_", None)
    if path is None:
        return None if used is None else {"used": used}
    return {
        "used": used,
        "strengths": path.strengths,
        "scores": path.mean_scores,
        "gains": path.gains,
        "errors": path.standard_errors,
        "chosen": path.chosen,
        "scored_by": path.scored_by,
    }


def _gains(gain: Any) -> list[dict[str, Any]]:
    if gain is None:
        return []
    named = gain if isinstance(gain, Mapping) else {"graph": gain}
    for name, one in named.items():
        if not isinstance(one, GraphGain):
            raise GraphfoldError(
                "gain must be what quality.graph_gain returned, or a dict of that; "
                f"got {type(one).__name__} for {name!r}"
            )
    return [
        {
            "name": str(name),
            "effect": one.effect,
            "p_value": one.p_value,
            "z_score": one.z_score,
            "smoothness": one.smoothness,
            "helps": one.helps,
            "sentence": str(one),
            "n_copies": len(one.null),
            "null": _histogram(one.null),
            "edges": [edge._asdict() for edge in one.edges[:LISTED]],
        }
        for name, one in named.items()
    ]


def _constraints(found: Any) -> dict[str, Any] | None:
    if found is None:
        return None
    asked = [
        ("must-link pairs", found.n_must_pairs, len(found.violated_must)),
        ("cannot-link pairs", found.n_cannot_pairs, len(found.violated_cannot)),
    ]
    if not found.n_must_pairs:  # else rows that only pairs put into a group count too
        asked.append(("labelled rows", found.n_labelled, len(found.misplaced)))
    violated = [
        {"kind": kind, "first": a, "second": b, "distance": distance}
        for kind, pairs in (
            ("must-link", found.violated_must),
            ("cannot-link", found.violated_cannot),
        )
        for a, b, distance in pairs
    ]
    return {
        "sentence": str(found),
        "counts": [
            {"name": name, "asked": n, "violated": v, "kept": 1 - v / n}
            for name, n, v in asked
            if n
        ],
        "n_unknown_pairs": found.n_unknown_pairs,
        "violated": violated[:LISTED],
        "n_violated": len(violated),
        "misplaced": found.misplaced[:LISTED],
        "n_misplaced": len(found.misplaced),
    }


def _solver(model: Any) -> dict[str, Any]:
    residuals = getattr(model, "residuals_", None)
    worst = None if residuals is None else np.max(residuals, initial=0.0)
    found = {
        "name": getattr(model, "solver_", None),
        "reason": getattr(model, "solver_reason_", None),
        "converged": getattr(model, "converged_", None),
        "iterations": getattr(model, "n_iter_", None),
        "residual": getattr(model, "optimality_residual_", worst),
    }
    return {k: v for k, v in found.items() if v is not None}


def _landmarks(model: Any) -> dict[str, Any] | None:
    rows = getattr(model, "landmarks_", None)
    if rows is None:
        return None
    return {"count": len(rows), "error": getattr(model, "landmark_error_", None)}


def _graphs(model: Any) -> list[dict[str, Any]]:
    """Nodes, edges and parts of each graph of the fit."""
    graphs = getattr(model, "graph_", None)
    if graphs is None:
        return []
    parts = np.atleast_1d(getattr(model, "n_graph_components_", np.nan))
    if not isinstance(graphs, Mapping):
        graphs = {(getattr(model, "graph_names_", None) or ["graph"])[0]: graphs}
    return [
        {
            "name": str(name),
            "nodes": graph.n_nodes,
            "edges": graph.n_edges,
            "parts": parts[i] if i < len(parts) else None,
        }
        for i, (name, graph) in enumerate(graphs.items())
        if hasattr(graph, "n_edges")
    ]


# -- plain values ------------------------------------------------------------------


def _histogram(values: Array) -> dict[str, Any]:
    values = np.asarray(values, dtype=np.float64)
    low, high = float(values.min()), float(values.max())
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        return {"edges": [low, high], "counts": [len(values)]}
    counts, edges = np.histogram(values, bins=N_BINS)
    return {"edges": edges, "counts": counts}


def _short(value: Any) -> str:
    """One line for a value: what an array or a list is rather than what it holds."""
    if isinstance(value, np.ndarray) or hasattr(value, "iloc") or hasattr(value, "nnz"):
        size = " x ".join(map(str, value.shape))
        return f"{type(value).__name__} of {size}"
    if isinstance(value, Graph):
        return f"Graph of {value.n_nodes:,} nodes and {value.n_edges:,} edges"
    if isinstance(value, Mapping):
        text = ", ".join(f"{k}: {_short(v)}" for k, v in value.items())
    elif isinstance(value, list | tuple):
        text = f"[{', '.join(map(_short, value))}]" if len(value) <= 6 else ""
    else:
        text = " ".join(repr(value).split())
    if isinstance(value, list | tuple) and not 0 < len(text) <= SHORT:
        return f"{type(value).__name__} of {len(value)}"
    return text if len(text) <= SHORT else text[: SHORT - 3] + "..."


def _same(value: Any, default: Any) -> bool:
    if value is default:
        return True
    if type(value) is not type(default) and not _are_numbers(value, default):
        return False
    try:
        return bool(value == default)
    except (TypeError, ValueError):  # arrays do not say it in one word
        return False


def _are_numbers(*values: Any) -> bool:
    return all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)


def _plain(value: Any) -> Any:
    """Lists, dicts, texts and finite numbers; everything else by its text."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return str(value)
