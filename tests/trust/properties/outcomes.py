"""What may come of a fit: finite numbers, or one sentence that names its cause."""

from __future__ import annotations

import numpy as np

SECTION = "properties"
#: what a message may name: what was handed over, or a setting of the estimator
NAMED = ("X", "graph", "kernel", "y", "edges", "nodes", "labels", "weights", "links")


def assert_finite(estimator):
    """Every learned number is one."""
    for name, value in vars(estimator).items():
        if name.endswith("_") and not name.startswith("_"):
            array = np.asarray(value) if isinstance(value, np.ndarray | float) else None
            if array is not None and array.dtype.kind == "f":
                assert np.isfinite(array).all(), name


def assert_sentence(error, estimator):
    """One line in the library's manner that names an argument."""
    text = str(error)
    assert isinstance(error, ValueError), repr(error)
    assert not isinstance(error, np.linalg.LinAlgError), repr(error)
    assert text and "\n" not in text, text
    names = [*NAMED, *estimator.get_params()]
    assert any(name in text for name in names), text


def assert_orthonormal(V, *, atol):
    gram = V.astype(np.float64).T @ V.astype(np.float64)
    gap = np.abs(gram - np.eye(V.shape[1])).max(initial=0.0)
    assert gap <= atol, gap


def distances(Z):
    """All distances between rows, by differences; relative to the largest of them."""
    Z = np.asarray(Z, dtype=np.float64)
    size = np.abs(Z).max(initial=0.0) or 1.0
    gaps = Z[:, None] / size - Z[None] / size
    return np.sqrt((gaps**2).sum(axis=2)) * size


def well_separated(estimator, *, gap=1e-3):
    """Whether the eigenvectors are determined: their values differ, and the next does.

    Asked of the spectrum of M that the estimator has seen: with all n - 1 of them there
    is no next one.
    """
    values = np.asarray(estimator.eigenvalues_, dtype=np.float64)
    size = np.abs(values).max(initial=0.0)
    return bool(size > 0 and (np.abs(np.diff(values)) > gap * size).all())
