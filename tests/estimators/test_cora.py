"""The graph helps where it should: real papers, real citations."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import normalize

from graphfold import GraphKernelPCA, responses
from graphfold.quality import graph_gain, rewired

FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)


@pytest.fixture(scope="module")
def papers(cora):
    return pd.DataFrame(normalize(cora.data), index=cora.labels)


def model(cora, strength):
    return GraphKernelPCA(
        20, kernel="linear", graph=cora.graph, graph_strength=strength, scaling="unit"
    )


def test_transductive_gain(cora, papers):
    def accuracy(strength):
        # sparse rows: the same numbers, several times faster
        X = sp.csr_array(papers.to_numpy())
        Z = model(cora, strength).fit_transform(X, node_ids=cora.labels)
        classifier = LogisticRegression(max_iter=1000)
        return cross_val_score(classifier, Z, cora.target, cv=FOLDS).mean()

    gain = max(accuracy(s) for s in (0.3, 1, 3)) - accuracy(0)
    assert gain >= 0.12


@pytest.mark.slow
def test_inductive_gain_in_a_pipeline(cora, papers):
    """Test papers are new to the fit and come with their own citations."""

    def accuracy(strength):
        pipeline = make_pipeline(
            model(cora, strength).set_params(tol=1e-6),
            LogisticRegression(max_iter=1000),
        )
        return cross_val_score(pipeline, papers, cora.target, cv=FOLDS).mean()

    assert accuracy(1.0) - accuracy(0.0) >= 0.11


def test_training_papers_come_back_exactly(cora, papers):
    train, _ = next(FOLDS.split(papers, cora.target))
    X = sp.csr_array(papers.iloc[train].to_numpy())
    labels = cora.labels[train]
    fitted = model(cora, 1.0).fit(X, node_ids=labels)
    found = fitted.transform(X, node_ids=labels)
    assert_allclose(found, fitted.embedding_, atol=1e-10)
    # not only looked up: the fixed point itself gives them back
    edges = cora.graph.subgraph(labels).to_scipy()
    placed = fitted._extension.place(X, {"graph": edges}) * np.sqrt(len(train))
    linked = np.diff(edges.indptr) > 0
    gap = np.abs(placed - fitted.embedding_)[linked].max()
    assert gap < 1e-6  # the solver's residual, 1e-10, over the smallest eigenvalue


@pytest.fixture(scope="module")
def accuracy(cora, papers):
    """Accuracy of a classifier on an embedding of all papers."""
    X = sp.csr_array(papers.to_numpy())

    def score(**settings):
        fitted = GraphKernelPCA(
            20, kernel="linear", scaling="unit", **{"tol": 1e-6, **settings}
        ).fit(X, node_ids=cora.labels)
        classifier = LogisticRegression(max_iter=1000)
        Z = fitted.embedding_
        return fitted, cross_val_score(classifier, Z, cora.target, cv=FOLDS).mean()

    return score


@pytest.mark.slow
@pytest.mark.parametrize("strength", [0.5, 1.0])
def test_a_random_graph_beside_the_citations_is_told_apart(cora, accuracy, strength):
    two = {"citations": cora.graph, "random": rewired(cora.graph, random_state=1)}
    settings = {"response": responses.Diffusion(10), "graph_strength": strength}
    learned, found = accuracy(graph=two, **settings)
    citations, random = learned.graph_weights_
    assert citations >= 4 * random
    _, alone = accuracy(graph=cora.graph, **settings)
    assert found >= alone - 0.02


@pytest.mark.slow
def test_as_a_penalty_the_l2_ball_leans_and_a_sharper_one_decides(cora, accuracy):
    two = {"citations": cora.graph, "random": rewired(cora.graph, random_state=1)}
    settings = {"graph": two, "graph_strength": 0.5}
    learned, loose = accuracy(**settings)
    assert learned.graph_weights_[0] > 1.2 * learned.graph_weights_[1]
    sharp, better = accuracy(**settings, weight_norm=1.25)
    assert sharp.graph_weights_[0] > 4 * sharp.graph_weights_[1]
    _, alone = accuracy(graph=cora.graph, graph_strength=0.5)
    assert better > loose
    assert better >= alone - 0.02


@pytest.mark.slow
def test_auto_finds_the_strength_of_the_citations(cora, accuracy):
    chosen, found = accuracy(graph=cora.graph, graph_strength="auto")
    assert chosen.graph_strength_ > 0
    grid = (0, 0.03, 0.1, 0.3, 1, 2, 3, 10, 30)
    best = max(accuracy(graph=cora.graph, graph_strength=s)[1] for s in grid)
    assert found >= best - 0.04


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::graphfold.errors.UnusedGraphWarning")
def test_auto_drops_a_rewired_graph(cora, accuracy):
    graph = rewired(cora.graph, random_state=1)
    _, found = accuracy(graph=graph, graph_strength="auto")
    _, without = accuracy(graph=graph, graph_strength=0)
    assert found >= without - 0.02


def test_the_gain_of_the_citations_is_no_chance(cora, papers):
    found = graph_gain(papers, {"citations": cora.graph}, n_copies=19)["citations"]
    assert found.helps
    assert found.effect > 0.05
