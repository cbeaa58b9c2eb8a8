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

from graphfold import GraphKernelPCA

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
