"""One saved model for each kind of state that a file can hold, and its use."""

from __future__ import annotations

import io
import itertools
import json
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import graphfold
from graphfold import (
    CorrelationGraph,
    FastRobustGraphPCA,
    Graph,
    GraphKernelPCA,
    GraphLaplacianPCA,
    LaplacianEigenmaps,
    LocalNonlinearEmbedding,
    MultiModalGraphEmbedding,
    NeighborGraph,
    RobustGraphPCA,
    SemiSupervisedGraphKernelPCA,
    kernels,
    responses,
)
from graphfold.views.report import report_of, summary

N, D, NEW = 24, 4, 5
LABELS = [f"row{i}" for i in range(N)]
RNG = np.random.default_rng(7)
X = RNG.standard_normal((N, D))
X_NEW = RNG.standard_normal((NEW, D))
GRAPH = Graph(NeighborGraph(3).build(X), nodes=LABELS)
PLAIN = Graph(NeighborGraph(3).build(X))
CLASSES = np.where(np.arange(N) % 3 == 0, np.arange(N) % 2, -1)


@dataclass
class Saved:
    """A fitted model in the parts of its file, and what to ask of a loaded one."""

    header: dict[str, Any]
    arrays: dict[str, Any]
    fit_rows: Any
    new_rows: Any
    settings: dict[str, Any] = field(default_factory=dict)
    streamed: bool = False


def _counts(rows: Any) -> Any:
    return np.abs(np.round(rows * 3))


def _with_missing(rows: Any) -> Any:
    holes = rows.copy()
    holes[::4, 1] = np.nan
    return holes


def _modes(rows: Any) -> dict[str, Any]:
    first = rows[:, :2].copy()
    first[1] = np.nan
    words = np.array([["low", "high"][int(value > 0)] for value in rows[:, 2]])
    return {"numbers": first, "words": words[:, None].astype(object)}


def _square(rows: Any) -> Any:
    return np.asarray(rows @ X.T)


def _streamed(model: Any) -> Any:
    for start in range(0, N, 8):
        ids = LABELS[start : start + 8]
        edges = list(itertools.pairwise(ids))
        model.partial_fit(X[start : start + 8], node_ids=ids, edges=edges)
    return model.refresh()


Case = tuple[Any, Callable[[Any], Any], dict[str, Any]]
_KNOWN = {"node_ids": LABELS}


def cases() -> dict[str, Case]:
    """Unfitted models, how their rows look, and arguments of ``fit``."""
    same: Callable[[Any], Any] = lambda rows: rows  # noqa: E731
    gkpca, lne = GraphKernelPCA, LocalNonlinearEmbedding
    two = {"near": NeighborGraph(3), "alike": CorrelationGraph(4)}
    return {
        "rbf": (gkpca(2), same, {}),
        "labelled graph": (
            gkpca(2, graph=GRAPH, fit_inverse_transform=True),
            same,
            _KNOWN,
        ),
        "plain graph": (gkpca(2, graph=PLAIN), same, {}),
        "linear": (
            gkpca(2, kernel="linear", graph=NeighborGraph(3, weight="heat")),
            same,
            {},
        ),
        "sparse": (
            gkpca(
                2, kernel="cosine", graph=NeighborGraph(3), fit_inverse_transform=True
            ),
            sp.csr_array,
            {},
        ),
        "several": (
            gkpca(
                2,
                kernel=["rbf", "poly", "sigmoid"],
                graph=two,
                response=[responses.Diffusion("auto"), responses.Bandlimited(3)],
            ),
            same,
            {},
        ),
        "several labelled": (
            gkpca(
                2,
                kernel={"a": "linear", "b": kernels.Polynomial(2)},
                graph={"one": GRAPH, "two": GRAPH, "near": NeighborGraph(3)},
                response=responses.RandomWalk(2.0, 2),
            ),
            same,
            _KNOWN,
        ),
        "laplacian kernel": (
            gkpca(
                2,
                kernel="laplacian",
                graph=NeighborGraph(3),
                response=responses.LowPass(0.5),
                align_to=X[:, :2],
            ),
            same,
            {},
        ),
        "chi2": (gkpca(2, kernel="chi2", scaling="unit"), _counts, {}),
        "precomputed": (gkpca(2, kernel="precomputed", graph=PLAIN), _square, {}),
        "matrices": (
            gkpca(2, kernel="precomputed"),
            lambda rows: [_square(rows), 2 * _square(rows)],
            {},
        ),
        "no kernel": (gkpca(2, kernel=None, graph=NeighborGraph(3)), same, {}),
        "geodesic": (
            gkpca(
                2,
                kernel=kernels.Geodesic(4),
                graph=NeighborGraph(3),
                fit_inverse_transform=True,
            ),
            same,
            {},
        ),
        "locally linear": (
            gkpca(2, kernel=[kernels.LocallyLinear(4), "rbf"], graph=NeighborGraph(3)),
            same,
            {},
        ),
        "classical": (
            gkpca(
                2,
                kernel=kernels.ClassicalScaling("manhattan"),
                graph=GRAPH,
                response=responses.RegularizedLaplacian(2.0, "penalty"),
            ),
            same,
            _KNOWN,
        ),
        "landmarks": (
            gkpca(2, graph=GRAPH, landmarks=8, refine=False),
            same,
            _KNOWN,
        ),
        "linear landmarks": (
            gkpca(2, kernel=["linear", "rbf"], landmarks=8, graph=NeighborGraph(3)),
            same,
            {},
        ),
        "stream": (gkpca(2, landmarks=8, forgetting=0.9), same, {"stream": True}),
        "strength": (
            gkpca(2, kernel="linear", graph=GRAPH, graph_strength="auto"),
            same,
            _KNOWN,
        ),
        "semi-supervised": (
            SemiSupervisedGraphKernelPCA(
                2,
                graph=GRAPH,
                must_link=[("row0", "row1")],
                cannot_link=[("row2", "row3")],
            ),
            same,
            _KNOWN | {"y": CLASSES},
        ),
        "semi-supervised plain": (
            SemiSupervisedGraphKernelPCA(2, kernel="linear"),
            same,
            {"y": CLASSES},
        ),
        "local": (lne(2, n_neighbors=4, graph=NeighborGraph(3)), same, {}),
        "local form": (
            lne(2, n_neighbors=4, order=1, form="local", graph=GRAPH),
            same,
            _KNOWN,
        ),
        "eigenmaps": (LaplacianEigenmaps(2), same, {}),
        "eigenmaps labelled": (LaplacianEigenmaps(2, graph=GRAPH), same, _KNOWN),
        "laplacian pca": (
            GraphLaplacianPCA(2, graph=GRAPH, fit_inverse_transform=True),
            same,
            _KNOWN,
        ),
        "modes": (
            MultiModalGraphEmbedding(2, kernel="rbf", n_neighbors=3),
            _modes,
            {},
        ),
        "blocks": (
            MultiModalGraphEmbedding(2, modes={"a": [0, 1], "b": slice(2, 4)}),
            same,
            {},
        ),
        "sparse modes": (
            MultiModalGraphEmbedding(2, n_neighbors=3),
            lambda rows: {
                "a": sp.csr_array(_counts(rows)),
                "b": rows[:, :2],
            },
            {},
        ),
        "robust": (RobustGraphPCA(2, graph=NeighborGraph(3)), _with_missing, {}),
        "robust labelled": (RobustGraphPCA(2, graph=GRAPH), same, _KNOWN),
        "fast robust": (FastRobustGraphPCA(2), same, {}),
    }


@cache
def saved(name: str) -> Saved:
    """A model of :func:`cases`, fitted, saved, and taken into its parts."""
    model, shape, settings = cases()[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if settings.get("stream"):
            _streamed(model)
        else:
            model.fit(shape(X), **settings)
        stream = io.BytesIO()
        _save(model, stream)
    stream.seek(0)
    with np.load(stream) as content:
        arrays = dict(content)
    header = json.loads(bytes(arrays.pop("header")))
    known = {} if "node_ids" not in settings else {"node_ids": LABELS}
    return Saved(header, arrays, shape(X), shape(X_NEW), known, "stream" in settings)


def _save(model: Any, stream: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.npz"
        model.save(path)
        stream.write(path.read_bytes())


def packed(header: dict[str, Any], arrays: dict[str, Any]) -> bytes:
    """The bytes of a model file with these parts."""
    stream = io.BytesIO()
    content = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez(stream, header=content, **arrays)
    return stream.getvalue()


def questions(model: Any, parts: Saved) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Everything that a loaded model may be asked, by name."""
    fitted, new, known = parts.fit_rows, parts.new_rows, parts.settings
    yield "repr", lambda: repr(model)
    yield "transform new", lambda: _finite(model.transform(new), NEW)
    yield "transform fit", lambda: _finite(model.transform(fitted, **known), N)
    if known:
        others = [f"new{i}" for i in range(NEW)]
        yield "transform labelled", lambda: model.transform(new, node_ids=others)
    links = sp.csr_array(np.eye(NEW, N))
    yield "transform edges", lambda: _finite(model.transform(new, edges=links), NEW)
    yield "plan", lambda: model.plan(fitted)
    yield "names", lambda: model.get_feature_names_out()
    origin = np.zeros((NEW, 2))
    for name, ask in {
        "inverse_transform": lambda: model.inverse_transform(origin),
        "score": lambda: model.score(new),
        "feature_importances": lambda: str(model.feature_importances(0)),
        "contributions": lambda: _finite(model.contributions(new), NEW),
    }.items():
        if hasattr(model, name):  # not every kernel has them
            yield name, ask
    for name in ("axis_report_", "drift_", "constraint_report_", "strength_path_"):
        yield name, lambda name=name: str(getattr(model, name, ""))
    yield "report", lambda: summary(report_of(model))
    yield "view", lambda: _viewed(model)
    yield "save", lambda: _save(model, io.BytesIO())
    if parts.streamed:
        yield "partial_fit", lambda: _finite(_continued(model), N + NEW)


def _continued(model: Any) -> Any:
    ids = [f"more{i}" for i in range(NEW)]
    return model.partial_fit(X_NEW, node_ids=ids, edges=[("row23", "more0")]).embedding_


def _viewed(model: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        graphfold.view(model, Path(folder) / "page.html")


def answers(model: Any, parts: Saved) -> dict[str, str]:
    """What went wrong with each question: the class and text of its exception."""
    wrong = {}
    for name, ask in questions(model, parts):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ask()
        except Exception as error:
            wrong[name] = f"{type(error).__name__}: {error}"[:300]
    return wrong


@cache
def usual(name: str) -> dict[str, str]:
    """What the sound model itself does not answer."""
    parts = saved(name)
    return answers(graphfold.load(io.BytesIO(whole(name))), parts)


@cache
def whole(name: str) -> bytes:
    """The file of a sound model."""
    parts = saved(name)
    return packed(parts.header, parts.arrays)


def _finite(values: Any, rows: int) -> None:
    assert len(values) == rows and values.shape[1:], "an answer has another shape"
    assert np.isfinite(values).all(), "an answer is not finite"
