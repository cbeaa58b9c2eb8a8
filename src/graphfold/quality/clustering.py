"""How well clusters agree with classes that are known."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from graphfold.errors import GraphfoldError


def clustering_error(labels: Any, clusters: Any) -> float:
    """Share of samples in the wrong cluster under the best matching of names.

    Each cluster is named after one class, at most one cluster per class, so that as
    many samples as possible are right (the Hungarian method).

    Examples
    --------
    >>> from graphfold.quality import clustering_error
    >>> clustering_error(["a", "a", "b", "b"], [1, 1, 0, 1])
    0.25
    """
    labels, clusters = np.asarray(labels), np.asarray(clusters)
    if labels.shape != clusters.shape or labels.ndim != 1 or len(labels) == 0:
        raise GraphfoldError(
            "labels and clusters must be two sequences of one length; got shapes "
            f"{labels.shape} and {clusters.shape}"
        )
    _, rows = np.unique(labels, return_inverse=True)
    _, columns = np.unique(clusters, return_inverse=True)
    counts = np.zeros((rows.max() + 1, columns.max() + 1), dtype=np.int64)
    np.add.at(counts, (rows, columns), 1)
    matched = counts[linear_sum_assignment(-counts)].sum()
    return float(1 - matched / len(labels))
