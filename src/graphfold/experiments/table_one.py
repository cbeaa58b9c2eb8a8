"""What the paper prints in its Table I, and what its experiments share."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from graphfold import CorrelationGraph
from graphfold.arrays import Array
from graphfold.quality import clustering_error

SURFACES = ("plane", "sphere")
METHODS = ("LLE", "LNE", "LNEG")
#: error of k-means: surface, then k, then LLE, LNE and LNEG
PAPER = {
    "plane": {
        5: (0.25, 0.18, 0.18),
        10: (0.44, 0.21, 0.18),
        20: (0.15, 0.13, 0.17),
        30: (0.21, 0.20, 0.17),
        40: (0.36, 0.20, 0.17),
    },
    "sphere": {
        5: (0.29, 0.21, 0.17),
        10: (0.39, 0.27, 0.16),
        20: (0.48, 0.26, 0.14),
        30: (0.46, 0.28, 0.19),
        40: (0.39, 0.21, 0.20),
    },
}
PAPER_PCA = {"plane": 0.49, "sphere": 0.43}
NEIGHBORS = tuple(PAPER["plane"])

#: the printed weight of the penalty, on powers of X as it is
LETTER: dict[str, Any] = {"relative": False, "alpha": 1.0}
#: the full graph of cosines, with and without negative ones
SIGNED = CorrelationGraph(None, metric="cosine", negative="keep")
COSINES = CorrelationGraph(None, metric="cosine")
#: gamma as it is; 0.1 is printed for the Swiss roll
UNSCALED: dict[str, Any] = {
    "normalize": False,
    "laplacian": "combinatorial",
    "graph_strength": 0.1,
}


def paper_mean(surface: str, method: str) -> float:
    """The mean over k of a column of the paper's table."""
    if method == "PCA":
        return PAPER_PCA[surface]
    place = METHODS.index(method)
    return float(np.mean([row[place] for row in PAPER[surface].values()]))


def clusters(Z: Array, y: Array, seed: int) -> float:
    """Error of the last step: k-means with as many clusters as manifolds."""
    return clustering_error(y, KMeans(2, n_init=10, random_state=seed).fit_predict(Z))
