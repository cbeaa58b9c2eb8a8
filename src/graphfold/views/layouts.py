"""Two dimensions out of many: a picture of all components at once.

Spectral axes are ordered by what they explain, so two of them separate few clusters; a
layout draws rows that are near in all components near to each other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphfold import check
from graphfold.arrays import Array
from graphfold.errors import GraphfoldError
from graphfold.progress import stage

TITLES = {"umap": "UMAP", "tsne": "t-SNE"}
_FEWEST = 5  # rows: neither library can lay out fewer


def two_dimensional(Z: Array, layout: str, random_state: Any) -> Array:
    """Coordinates (n, 2) of the rows of Z by UMAP or t-SNE."""
    check.one_of("layout", layout, TITLES)
    if len(Z) < _FEWEST:
        raise GraphfoldError(
            f"layout must be None for fewer than {_FEWEST} rows; got {layout!r} for "
            f"{len(Z)}"
        )
    seed = 0 if random_state is None else random_state
    # neither library bears numbers whose squares are 0 or infinite
    Z = Z / (np.abs(Z).max() or 1.0)
    Z = Z - Z.mean(axis=0)
    size = np.abs(Z).max()
    if size <= 1e-12:
        return np.zeros((len(Z), 2))  # all rows are one point
    Z = Z / size
    with stage("layout"):
        return _tsne(Z, seed) if layout == "tsne" else _umap(Z, seed)


def _tsne(Z: Array, seed: Any) -> Array:
    from sklearn.manifold import TSNE

    perplexity = min(30.0, (len(Z) - 1) / 3)
    start = "pca" if min(Z.shape) >= 2 else "random"
    found = TSNE(2, perplexity=perplexity, init=start, random_state=seed)
    return np.asarray(found.fit_transform(Z))


def _umap(Z: Array, seed: Any) -> Array:
    try:
        from umap import UMAP
    except ImportError:
        raise GraphfoldError(
            'layout="umap" needs umap-learn: pip install umap-learn, or '
            'layout="tsne", which scikit-learn has'
        ) from None
    # one job: with a seed UMAP runs on one anyway, and says so in a warning
    neighbours = min(15, len(Z) - 1)
    found = UMAP(n_neighbors=neighbours, random_state=seed, n_jobs=1)
    return np.asarray(found.fit_transform(Z))
