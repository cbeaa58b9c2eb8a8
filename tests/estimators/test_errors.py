"""Bad input gets one clear sentence: which argument, what is allowed, what came."""

import numpy as np
import pytest
import scipy.sparse as sp

from graphfold import Graph, GraphKernelPCA, NeighborGraph, responses
from graphfold.errors import GraphfoldError

X = np.random.default_rng(0).standard_normal((30, 4))


def with_value(value, *rows):
    bad = X.copy()
    bad[list(rows), 1] = value
    return bad


def fit(data=X, **params):
    return lambda: GraphKernelPCA(**params).fit(data)


def nan_kernel(x, y):
    return float("nan")


SQUARE = np.array([[0.0, 1.0], [1.0, 0.0]])
CASES = {
    "NaN": (
        fit(with_value(np.nan, 3, 17)),
        r"NaN or infinity .* rows 3, 17 \(2 in all",
    ),
    "inf": (fit(with_value(np.inf, 5)), r"rows 5 \(1 in all"),
    "many NaN": (fit(with_value(np.nan, *range(20))), r"rows 0, 1, 2, 3, 4, \.\.\."),
    "NaN in sparse": (fit(sp.csr_array(with_value(np.nan, 6))), "rows 6 "),
    "one dimension": (fit(X[0]), "2D array"),
    "one row": (fit(X[:1]), "1 sample"),
    "no rows": (fit(X[:0]), "0 sample"),
    "words": (fit(np.array([["a", "b"], ["c", "d"]])), "could not convert"),
    "n_components zero": (fit(n_components=0), "n_components must be between 1 and 30"),
    "n_components > n": (
        fit(n_components=31),
        r"n_components must be between 1 and 30 \(X has 30 rows\); got 31",
    ),
    "n_components 2.5": (
        fit(n_components=2.5),
        "n_components must be an integer; got 2.5",
    ),
    "negative strength": (
        fit(graph_strength=-1),
        "graph_strength must be at least 0; got -1",
    ),
    "strength word": (fit(graph_strength="much"), "graph_strength must be a number"),
    "strength nan": (fit(graph_strength=np.nan), "graph_strength must be at least 0"),
    "kernel": (fit(kernel="rbff"), "kernel must be one of 'linear'"),
    "gamma": (fit(gamma=-2.0), "gamma must be at least 0; got -2"),
    "degree": (fit(kernel="poly", degree=-1), "degree must be at least 0; got -1"),
    "laplacian": (fit(laplacian="norm"), "laplacian must be one of 'normalized'"),
    "scaling": (fit(scaling="none"), "scaling must be one of 'eigenvalue'"),
    "solver": (fit(solver="arpack"), "solver must be one of 'auto'"),
    "center": (fit(center="yes"), "center must be True or False; got 'yes'"),
    "normalize": (fit(normalize=1), "normalize must be True or False; got 1"),
    "alpha": (fit(alpha=-1), "alpha must be at least 0; got -1"),
    "tol": (fit(tol=-1), "tol must be at least 0"),
    "max_iter": (fit(max_iter=0), "max_iter must be between 1"),
    "max_memory": (fit(max_memory="a lot"), "max_memory must be a number of bytes"),
    "small budget": (fit(max_memory="1KB"), "max_memory must be at least"),
    "NaN kernel": (fit(kernel=nan_kernel), "kernel nan_kernel returned NaN"),
    "kernel not square": (fit(kernel="precomputed"), r"square.*\(30, 4\)"),
    "kernel not symmetric": (
        fit(np.triu(np.ones((5, 5))), kernel="precomputed"),
        "must be symmetric",
    ),
    "graph of another size": (fit(graph=SQUARE), "30 rows .* graph has 2 nodes"),
    "graph of words": (fit(graph="citations"), "graph must be a square matrix"),
    "negative weights": (fit(graph=-np.ones((30, 30))), "weights must be at least 0"),
    "empty graph": (fit(graph=np.zeros((30, 30))), "at least one edge"),
    "response": (
        fit(graph=NeighborGraph(3), response="heat"),
        "response must be None, one of",
    ),
    "walk below the spectrum": (
        fit(
            graph=NeighborGraph(3),
            laplacian="combinatorial",
            response=responses.RandomWalk(2.0),
        ),
        "a must be at least the largest eigenvalue of the Laplacian",
    ),
    "negative response": (
        fit(graph=NeighborGraph(3), response=lambda t: t - 1),
        "response must be at least 0",
    ),
    "inverse of precomputed": (
        fit(X @ X.T, kernel="precomputed", fit_inverse_transform=True),
        "fit_inverse_transform must be False",
    ),
    "inverse not learned": (
        lambda: GraphKernelPCA().fit(X).inverse_transform(X[:, :2]),
        "fit_inverse_transform must be True",
    ),
    "other columns": (
        lambda: GraphKernelPCA().fit(X).transform(X[:, :2]),
        "2 features",
    ),
    "NaN at transform": (
        lambda: GraphKernelPCA().fit(X).transform(with_value(np.nan, 2)),
        "rows 2 ",
    ),
    "node_ids of a bare graph out of range": (
        lambda: GraphKernelPCA(graph=Graph(np.ones((30, 30)))).fit(
            X, node_ids=np.arange(30) + 5
        ),
        "the nodes of the graph have no labels",
    ),
}


@pytest.mark.parametrize(("act", "text"), CASES.values(), ids=CASES)
def test_one_clear_sentence(act, text):
    with pytest.raises(ValueError, match=text) as caught:
        act()
    if isinstance(caught.value, GraphfoldError):
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 330
