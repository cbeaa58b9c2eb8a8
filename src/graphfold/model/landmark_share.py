"""What the data say of a new row where the kernel is known by landmarks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphfold.arrays import Array
from graphfold.kernels.landmarks import LandmarkFeatures
from graphfold.model.extend import DataShare, Expansion
from graphfold.model.problem import Problem


def landmark_share(
    problem: Problem,
    features: Sequence[LandmarkFeatures],
    parts: Sequence[Array],
    V: Array,
) -> DataShare:
    """phi(x) (Phi'V) as an expansion over the landmarks: the rows are not needed.

    ``parts`` are the features of the rows of the fit, one array for each kernel.
    """
    K = problem.raw_data_operator()
    assert K is not None
    n, d = V.shape
    V = problem.centred(V)
    roots = np.ones(n) if problem.roots is None else problem.roots
    mean = roots / float(roots @ roots) if problem.center else np.zeros(n)
    W = np.hstack([V, mean[:, None]]).astype(K.dtype)
    KW = K.apply(W).astype(np.float64)
    gram = V.T.astype(np.float64) @ KW[:, :d]
    offset, trace, grand_mean = np.zeros(d + 1), float(K.trace()), 0.0
    if problem.center:
        offset = problem.mean_of(KW)
        trace -= float(roots @ roots) * float(offset[-1])
        grand_mean = float(offset[-1])
    expansions = []
    weighted = zip(problem.theta, problem.kernels, features, parts, strict=True)
    for theta, term, feature, part in weighted:
        weight = theta * term.factor
        if not weight:
            continue
        coefficients, constant = feature.coefficients(part.T @ W)
        if feature.grand_mean is not None:
            # features are centred about the landmarks: the last column, the mean of
            # k(x, .), is to be that of the kernel itself
            coefficients[:, -1] += 1 / len(coefficients)
            grand_mean += weight * feature.grand_mean
        offset = offset + weight * constant
        expansions.append(
            Expansion(
                feature.kernel, weight, feature.rows, coefficients.astype(V.dtype)
            )
        )
    if problem.center:
        offset[-1] += grand_mean - float(problem.mean_of(KW)[-1])
    return DataShare(
        expansions=expansions,
        offset=offset.astype(V.dtype),
        gram=(gram + gram.T) / 2,
        grand_mean=grand_mean,
        trace=trace,
    )
