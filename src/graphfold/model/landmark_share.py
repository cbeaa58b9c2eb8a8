"""What the data say of a new row where the kernel is known by landmarks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphfold.arrays import Array, row_blocks
from graphfold.kernels.landmarks import LandmarkFeatures
from graphfold.model.extend import DataShare, Expansion
from graphfold.model.problem import Problem
from graphfold.model.span import BLOCK
from graphfold.threads import blocks


def landmark_share(
    problem: Problem,
    features: Sequence[LandmarkFeatures],
    parts: Sequence[Array],
    V: Array,
) -> DataShare:
    """phi(x) (Phi'V) as an expansion over the landmarks: the rows are not needed.

    ``parts`` are the features of the rows of the fit, one array for each kernel.
    """
    n, d = V.shape
    V = problem.centred(V)
    roots = np.ones(n) if problem.roots is None else problem.roots
    size = float(roots @ roots)
    mean = roots / size if problem.center else np.zeros(n)
    W = np.hstack([V, mean[:, None]]).astype(np.float32)
    gram, offset = np.zeros((d, d)), np.zeros(d + 1)
    trace = mean_square = shift = 0.0
    expansions = []
    weighted = zip(problem.theta, problem.kernels, features, parts, strict=True)
    for theta, term, feature, part in weighted:
        weight = theta * term.factor
        if not weight:
            continue
        loadings, squares = _loadings(part, W)
        gram += weight * loadings[:, :d].T @ loadings[:, :d]
        trace += weight * squares
        # of the mean row: mean' Phi Phi' W, 0 where nothing is centred
        of_mean = weight * loadings[:, -1] @ loadings
        mean_square += of_mean[-1]
        coefficients, constant = feature.coefficients(loadings)
        offset += of_mean + weight * constant
        if feature.grand_mean is not None:
            # features are centred about the landmarks: the last column, the mean of
            # k(x, .), is to be that of the kernel itself
            coefficients[:, -1] += 1 / len(coefficients)
            shift += weight * feature.grand_mean
        expansions.append(
            Expansion(
                feature.kernel, weight, feature.rows, coefficients.astype(V.dtype)
            )
        )
    if problem.center:
        offset[-1] += shift
    return DataShare(
        expansions=expansions,
        offset=offset.astype(V.dtype),
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
