"""The bundled digits of scikit-learn, with a graph of their nearest neighbours."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits as bundled_digits
from sklearn.utils import Bunch

from graphfold.graphs import Graph, NeighborGraph


def load_digits(n_neighbors: int = 10) -> Bunch:
    """1,797 images of 8 x 8 pixels, their digits, and who is near whom.

    The graph links each image to its ``n_neighbors`` nearest by pixels, so it holds
    no label; its nodes are called "image0", "image1", ...

    Returns
    -------
    Bunch with ``data``, ``target``, ``images``, ``labels`` and ``graph``

    Examples
    --------
    >>> from graphfold.datasets import load_digits
    >>> load_digits().graph.n_nodes
    1797
    """
    digits = bundled_digits()
    labels = np.array([f"image{i}" for i in range(len(digits.data))])
    neighbours = NeighborGraph(n_neighbors).bind(digits.data).build(digits.data)
    return Bunch(
        data=digits.data,
        target=digits.target,
        images=digits.images,
        labels=labels,
        graph=Graph(neighbours, nodes=labels),
    )
