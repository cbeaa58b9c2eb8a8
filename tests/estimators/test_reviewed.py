"""Mistakes that a reader of the learned estimators found; each stays mended."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

import graphfold
from graphfold import (
    Graph,
    GraphKernelPCA,
    MultiModalGraphEmbedding,
    NeighborGraph,
    SemiSupervisedGraphKernelPCA,
    kernels,
    responses,
)
from graphfold.errors import (
    GraphError,
    GraphfoldError,
    MissingLabelsWarning,
    ModeError,
)
from graphfold.model.alternate import alternate, equal_weights
from graphfold.model.problem import Problem
from graphfold.model.terms import kernel_terms

N = 60
IDS = np.array([f"n{i}" for i in range(N)])


@pytest.fixture
def X(rng):
    return rng.standard_normal((N, 6))


@pytest.fixture
def ring():
    A = np.roll(np.eye(N), 1, axis=0)
    return A + A.T


@pytest.fixture
def noise():
    A = np.triu(np.random.default_rng(7).random((N, N)) < 0.1, 1).astype(float)
    return A + A.T


@pytest.mark.filterwarnings("ignore::graphfold.errors.UnusedGraphWarning")
@pytest.mark.parametrize("seed", range(4))
def test_an_edge_is_hidden_in_every_graph(seed):
    """Noise given twice foretold itself: what one graph hid the other still showed."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, 6))
    A = np.triu(rng.random((N, N)) < 0.1, 1).astype(float)
    A = A + A.T
    model = GraphKernelPCA(4, graph=[A, A], graph_strength="auto-edges").fit(X)
    assert model.strength_path_.mean_scores.max() < 0.6


def test_modes_meet_columns_by_name(X):
    a = pd.DataFrame(X[:, :3], columns=list("abc"), index=IDS)
    b = pd.DataFrame(X[:, 3:], index=IDS)
    model = MultiModalGraphEmbedding(2).fit({"a": a, "b": b})
    turned = model.transform({"a": a[["c", "b", "a"]], "b": b})
    assert_allclose(turned, model.embedding_)
    with pytest.raises(ModeError, match="must have the columns of the fit, a, b, c"):
        model.transform({"a": a.rename(columns={"a": "z"}), "b": b})


def test_modes_say_which_row_is_which(X):
    a, b = pd.DataFrame(X[:, :3], index=IDS), pd.DataFrame(X[:, 3:], index=IDS)
    model = MultiModalGraphEmbedding(2).fit({"a": a.iloc[5:], "b": b})
    assert model.sample_labels_.tolist() == [*IDS[5:], *IDS[:5]]
    assert model.labels_of({"a": a.iloc[3:5], "b": b.iloc[:4]}).tolist() == [
        "n3",
        "n4",
        "n0",
        "n1",
        "n2",
    ]
    with pytest.raises(ModeError, match="must all have labels"):
        MultiModalGraphEmbedding(2).fit({"a": a, "b": X})


def test_a_graph_without_labels_keeps_its_order_beside_one_with(X, ring, noise):
    table = pd.DataFrame(X, index=np.arange(N)[::-1])
    graph = {"a": Graph(ring, nodes=np.arange(N)), "b": noise}
    model = GraphKernelPCA(2, graph=graph).fit(table)
    assert_allclose(model.graph_["b"].to_scipy().toarray(), noise)
    assert_allclose(model.transform(table), model.embedding_)


@pytest.mark.filterwarnings("ignore::graphfold.errors.UnusedGraphWarning")
def test_hidden_columns_stay_where_they_are(X, ring):
    kernel = kernels.OnColumns(kernels.Gaussian(), 5, 6)
    model = GraphKernelPCA(2, kernel=kernel, graph=ring, graph_strength="auto")
    assert np.isfinite(model.fit(X).embedding_).all()


def test_text_and_real_numbers_are_two_modes(X):
    mixed = pd.DataFrame({"x": X[:, 0], "c": np.array(["u", "v"])[np.arange(N) % 2]})
    with pytest.raises(ModeError, match="'clinic' does, its column 0 has numbers"):
        MultiModalGraphEmbedding(2).fit({"clinic": mixed, "rna": X})
    with pytest.raises(ModeError, match="dates"):
        days = pd.DataFrame({"d": pd.date_range("2020", periods=N)})
        MultiModalGraphEmbedding(2).fit({"when": days, "rna": X})


def test_shares_of_variance_turn_with_the_axes(X):
    model = GraphKernelPCA(2, kernel="linear").fit(X)
    swapped = GraphKernelPCA(2, kernel="linear", align_to=model.embedding_[:, ::-1])
    found = swapped.fit(X).explained_variance_ratio_
    assert_allclose(found, model.explained_variance_ratio_[::-1], rtol=1e-8)


def test_references_are_met_by_label(X, rng):
    table = pd.DataFrame(X, index=IDS)
    order = rng.permutation(N)
    model = GraphKernelPCA(2).fit(table)
    expected = model.embedding_[order]
    frame = pd.DataFrame(model.embedding_, index=IDS)
    for reference in (model, frame):
        aligned = GraphKernelPCA(2, align_to=reference).fit(table.iloc[order])
        assert_allclose(aligned.embedding_, expected, atol=1e-8)
    again = clone(GraphKernelPCA(2, align_to=frame)).fit(table.iloc[order])
    assert_allclose(again.embedding_, expected, atol=1e-8)
    with pytest.raises(GraphfoldError, match="align_to must be fitted"):
        clone(GraphKernelPCA(2, align_to=model)).fit(table)


def test_references_with_equal_labels_are_met_by_place(X):
    table = pd.DataFrame(X, index=["d"] * N)
    model = MultiModalGraphEmbedding(2, modes=2).fit(table)
    again = MultiModalGraphEmbedding(2, modes=2, align_to=model).fit(table)
    assert_allclose(again.embedding_, model.embedding_, atol=1e-8)


def test_a_reference_is_saved_as_numbers(X, tmp_path):
    model = GraphKernelPCA(2, align_to=GraphKernelPCA(2).fit(X)).fit(X)
    model.save(tmp_path / "m.npz")
    assert_allclose(graphfold.load(tmp_path / "m.npz").transform(X), model.embedding_)
    linked = SemiSupervisedGraphKernelPCA(must_link={(0, 1)}).fit(X)
    linked.save(tmp_path / "m.npz")


def test_edges_given_replace_those_of_their_graph_only(X, ring):
    graph = {"a": Graph(ring, nodes=IDS), "nn": NeighborGraph(5)}
    model = GraphKernelPCA(2, graph=graph).fit(X[:50], node_ids=IDS[:50])
    plain = model.transform(X[50:], node_ids=IDS[50:])
    same = model.transform(X[50:], node_ids=IDS[50:], edges={"a": ring[50:, :50]})
    assert_allclose(same, plain)


def test_minus_one_in_continuous_labels_is_no_silence(X):
    y = np.full(N, -1.0)
    y[:5] = [0.5, 1.2, 0.3, 2.2, 1.9]
    with pytest.warns(MissingLabelsWarning, match="use NaN"):
        SemiSupervisedGraphKernelPCA(2).fit(X, y)


@pytest.mark.parametrize("strength", [0, "auto", "auto-edges"])
def test_without_a_kernel_the_graphs_must_speak(X, ring, strength):
    with pytest.raises(GraphfoldError, match="graph_strength must be a number above 0"):
        GraphKernelPCA(2, kernel=None, graph=ring, graph_strength=strength).fit(X)


def test_one_edge_cannot_be_hidden(X):
    A = np.zeros((N, N))
    A[0, 1] = A[1, 0] = 1.0
    model = GraphKernelPCA(2, graph=A, graph_strength="auto-edges")
    with pytest.raises(GraphfoldError, match="nothing to hold out"):
        model.fit(X)


@pytest.mark.parametrize(
    "model",
    [
        MultiModalGraphEmbedding(2, modes=2),
        GraphKernelPCA(2),
        SemiSupervisedGraphKernelPCA(2, must_link=[(0, 1)]),
    ],
    ids=lambda m: type(m).__name__,
)
def test_a_fit_that_fails_changes_nothing(X, model):
    model.fit(X)
    placed = model.transform(X + 0.1)
    with pytest.raises(GraphfoldError, match="n_components"):
        model.set_params(n_components=999).fit(9 * X[:, ::-1] + 5)
    assert_allclose(model.transform(X + 0.1), placed)


def test_nothing_is_left_of_an_earlier_table(X):
    model = MultiModalGraphEmbedding(2).fit(pd.DataFrame(X, columns=list("abcdef")))
    model.fit({"u": X[:, :2], "v": X[:, 2:4]})
    assert model.n_features_in_ == 4
    assert not hasattr(model, "feature_names_in_")


def test_text_in_plain_arrays_and_series(X):
    text = np.array([["u", "v"], ["w", "v"]] * 20, dtype=object)
    assert MultiModalGraphEmbedding(2).fit(text).mode_kinds_ == ["categorical"]
    found = MultiModalGraphEmbedding(2).fit({"a": pd.Series(X[:, 0]), "b": X})
    assert found.mode_kinds_ == ["real", "real"]


def test_names_of_graphs_may_be_numbers(X, ring, noise):
    graph = {1: ring, 2: noise}
    model = GraphKernelPCA(2, graph=graph, response={1: responses.Diffusion(2.0)})
    assert "1: r(L)" in model.fit(X).formula_
    with pytest.raises(GraphError, match="graph '0': a list of edges must hold"):
        GraphKernelPCA(2, graph={0: [1, 2], 1: [2]}).fit(X)
    with pytest.raises(GraphfoldError, match="graph_strength must be a number"):
        GraphKernelPCA(2, graph=ring, graph_strength=np.array([1.0, 2.0])).fit(X)


@pytest.mark.parametrize("seed", [33, *range(12)])
def test_weights_are_right_to_1e_8_by_default(seed):
    rng = np.random.default_rng(seed)
    K = []
    for _ in range(3):
        F = rng.standard_normal((12, rng.integers(2, 12)))
        K.append(F @ F.T)
    model = GraphKernelPCA(2, kernel="precomputed", normalize=False, center=False)
    theta = np.full(3, 3**-0.5)
    for _ in range(5000):
        V = np.linalg.eigh(sum(t * k for t, k in zip(theta, K, strict=True)))[1][:, -2:]
        theta = np.array([np.trace(V.T @ k @ V) for k in K])
        theta /= np.linalg.norm(theta)
    assert_allclose(model.fit(K).kernel_weights_, theta, atol=1e-8)


def test_rounds_that_run_out_leave_weights_and_vectors_together(X):
    bound = {"a": kernels.Gaussian(0.01), "b": kernels.Gaussian(0.5)}
    problem = Problem(kernel_terms(bound, X), ())
    problem = problem.with_weights(equal_weights(2), ())
    found = alternate(problem, 2, max_rounds=2)
    assert not found.converged
    objective = found.problem.objective(found.pairs.vectors)
    assert objective == pytest.approx(found.pairs.values.sum())
