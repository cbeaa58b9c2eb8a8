"""What the data say of a new row where the kernel is known by landmarks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphfold.arrays import Array, row_blocks
from graphfold.kernels.landmarks import LandmarkFeatures
from graphfold.model.extend import DataShare, Expansion
from graphfold.model.problem import Problem
from graphfold.model.span import BLOCK, Span
from graphfold.threads import blocks

#: Phi_q'[V, 1/n] of a kernel's features, and the sum of their squares
Loadings = tuple[Array, float]


def loadings_of(problem: Problem, parts: Sequence[Array], V: Array) -> list[Loadings]:
    """The loadings of the features of each kernel, ``parts``, on vectors V."""
    V = problem.centred(V)
    roots = np.ones(len(V)) if problem.roots is None else problem.roots
    mean = roots / float(roots @ roots) if problem.center else np.zeros(len(V))
    W = np.hstack([V, mean[:, None]]).astype(np.float32)
    return [_loadings(part, W) for part in parts]


def loadings_in_span(span: Span, small: Array, n_kernels: int) -> list[Loadings]:
    """The same for vectors that are in the span: no row is looked at."""
    B = span.basis @ small
    raw = np.diagonal(span.gram).copy()
    mean = span.mean if span.center else np.zeros(len(span.mean))
    if span.center:
        raw += span.total * span.mean
    of_vectors = np.hstack([span.gram @ B, mean[:, None]])
    columns = span.features.columns()[:n_kernels]
    return [(of_vectors[part], float(raw[part].sum())) for part in columns]


def landmark_share(
    problem: Problem,
    features: Sequence[LandmarkFeatures],
    loadings: Sequence[Loadings],
    size: float,
    dtype: Any,
) -> DataShare:
    """phi(x) (Phi'V) as an expansion over the landmarks: the rows are not needed.

    ``size`` is the number of rows, or what they count together.
    """
    d = loadings[0][0].shape[1] - 1
    gram, offset = np.zeros((d, d)), np.zeros(d + 1)
    trace = mean_square = shift = 0.0
    expansions = []
    weighted = zip(problem.theta, problem.kernels, features, loadings, strict=True)
    for theta, term, feature, (loading, squares) in weighted:
        weight = theta * term.factor
        if not weight:
            continue
        gram += weight * loading[:, :d].T @ loading[:, :d]
        trace += weight * squares
        # of the mean row: mean' Phi Phi' W, 0 where nothing is centred
        of_mean = weight * loading[:, -1] @ loading
        mean_square += of_mean[-1]
        coefficients, constant = feature.coefficients(loading)
        offset += of_mean + weight * constant
        if feature.grand_mean is not None:
            # features are centred about the landmarks: the last column, the mean of
            # k(x, .), is to be that of the kernel itself
            coefficients[:, -1] += 1 / len(coefficients)
            shift += weight * feature.grand_mean
        expansions.append(
            Expansion(feature.kernel, weight, feature.rows, coefficients.astype(dtype))
        )
    if problem.center:
        offset[-1] += shift
    return DataShare(
        expansions=expansions,
        offset=offset.astype(dtype),
        gram=gram,
        grand_mean=mean_square + shift,
        trace=trace - size * mean_square,
    )


def _loadings(part: Array, W: Array) -> tuple[Array, float]:
    """Phi'W and the squared size of Phi, by sums over blocks in double precision."""
    total, squares = np.zeros((part.shape[1], W.shape[1])), 0.0

    def moments(rows: slice) -> tuple[Array, float]:
        block = part[rows]
        return W[rows].T @ block, float(np.vdot(block, block))

    with blocks("loadings", moments, row_blocks(len(part), BLOCK)) as found:
        for product, square in found:
            total += product.T
            squares += square
    return total, squares
