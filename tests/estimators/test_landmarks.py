"""Landmark fits against exact ones: the same model when all rows are landmarks."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.decomposition import KernelPCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

from graphfold import (
    Graph,
    GraphKernelPCA,
    MultiModalGraphEmbedding,
    NeighborGraph,
    SemiSupervisedGraphKernelPCA,
    kernels,
    responses,
)
from tests.helpers import assert_same_up_to_sign, largest_angle

N = 160


@pytest.fixture(scope="module")
def rows():
    X = np.random.default_rng(0).standard_normal((N, 4)) * [3, 2, 1, 0.5]
    return X + 1.0


@pytest.fixture(scope="module")
def graph(rows):
    return NeighborGraph(6).build(rows)


@pytest.fixture(scope="module")
def classes(rows):
    known = np.random.default_rng(1).random(N) < 0.2
    return np.where(known, rows[:, 0] > 1, -1).astype(int)


@pytest.fixture(scope="module")
def modes(rows):
    marks = np.random.default_rng(2).random((N, 6)) < 0.3
    return {"sizes": rows, "marks": marks}


# -- all rows are landmarks ------------------------------------------------------------

ALONE = [
    {},
    {"kernel": "linear"},
    {"kernel": "poly", "degree": 2},
    {"kernel": "laplacian"},
    {"kernel": "cosine"},
    {"center": False},
    {"kernel": "gaussian-grid"},
    {"kernel": ["rbf", "linear"], "weights": "equal"},
    {"scaling": "unit"},
    {"scaling": "orthonormal"},
]
WITH_GRAPH = [
    {},
    {"kernel": "linear"},
    {"kernel": "laplacian"},
    {"laplacian": "combinatorial"},
    {"center": False},
    {"graph_strength": 10.0},
    {"normalize": False, "graph_strength": 3.0},
    {"response": responses.Diffusion(3.0)},
    {"response": responses.Bandlimited(10, 4.0)},
    {"response": responses.RegularizedLaplacian(2.0, form="penalty")},
    {"kernel": ["rbf", "linear"], "weights": "equal"},
    {"kernel": "gaussian-grid", "weights": "equal"},
    {"scaling": "unit"},
    {"solver": "krylov"},
]


def assert_same_model(landmark, exact, *, atol):
    """The subspace, and every column with its scale, the weights, the energies."""
    angle = largest_angle(landmark.eigenvectors_, exact.eigenvectors_)
    assert angle < atol
    assert_same_up_to_sign(landmark.embedding_, exact.embedding_, rtol=atol)
    size = np.abs(exact.eigenvalues_).max()
    # eigenvalues follow the learned weights of several graphs, known to 5e-3
    near = 5e-3 if len(exact.graph_weights_) > 1 else 1e-3
    assert_allclose(landmark.eigenvalues_, exact.eigenvalues_, atol=near * size)
    assert_allclose(landmark.kernel_weights_, exact.kernel_weights_, atol=5e-3)
    assert_allclose(landmark.graph_weights_, exact.graph_weights_, atol=5e-3)
    assert_allclose(
        landmark.explained_variance_ratio_, exact.explained_variance_ratio_, atol=1e-3
    )
    assert landmark.landmark_error_ == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize("settings", ALONE, ids=str)
def test_all_rows_without_a_graph(rows, settings):
    exact = GraphKernelPCA(3, **settings).fit(rows)
    found = GraphKernelPCA(3, landmarks=N, **settings).fit(rows)
    assert_same_model(found, exact, atol=2e-4)


def test_all_rows_without_a_graph_is_kernel_pca(rows):
    reference = KernelPCA(3, kernel="rbf", gamma=0.1).fit_transform(rows)
    found = GraphKernelPCA(3, gamma=0.1, landmarks=N).fit_transform(rows)
    assert_same_up_to_sign(found, reference, rtol=1e-4)


@pytest.mark.parametrize("settings", WITH_GRAPH, ids=str)
def test_all_rows_with_a_graph(rows, graph, settings):
    settings = {"graph": graph, "tol": 1e-6, **settings}
    exact = GraphKernelPCA(3, **settings).fit(rows)
    found = GraphKernelPCA(3, landmarks=N, **settings).fit(rows)
    assert_same_model(found, exact, atol=5e-3)


def test_the_default_accuracy_is_a_tenth_of_a_degree_here(rows, graph):
    exact = GraphKernelPCA(2, graph=graph).fit(rows)
    found = GraphKernelPCA(2, graph=graph, landmarks=N).fit(rows)
    assert found.residuals_.max() <= 1e-3
    assert largest_angle(found.eigenvectors_, exact.eigenvectors_) < 1e-2


def test_all_rows_with_learned_weights_of_kernels_and_graphs(rows, graph):
    """Weights are learned in the span, then held while the answer is refined."""
    settings = {"kernel": ["rbf", "linear"], "graph": [graph, NeighborGraph(15)]}
    exact = GraphKernelPCA(2, **settings).fit(rows)
    found = GraphKernelPCA(2, landmarks=N, tol=1e-6, **settings).fit(rows)
    assert_allclose(found.kernel_weights_, exact.kernel_weights_, atol=5e-3)
    assert_allclose(found.graph_weights_, exact.graph_weights_, atol=5e-3)
    assert largest_angle(found.eigenvectors_, exact.eigenvectors_) < 2e-2
    trace = found.objective_trace_
    assert (np.diff(trace) >= -1e-4 * np.abs(trace).max()).all()


@pytest.mark.parametrize("refine", [True, False, "auto"])
def test_each_way_of_refining(rows, graph, refine):
    exact = GraphKernelPCA(2, graph=graph).fit(rows)
    found = GraphKernelPCA(2, graph=graph, landmarks=N, refine=refine).fit(rows)
    # [Phi, S S Phi] of all rows spans all but the noise of single precision
    assert largest_angle(found.eigenvectors_, exact.eigenvectors_) < 1e-2


def test_refined_is_nearer_than_the_span_with_few_landmarks(rows, graph):
    settings = {"graph": graph, "graph_strength": 10.0, "gamma": 0.05}
    exact = GraphKernelPCA(2, **settings).fit(rows).eigenvectors_
    refined, span = (
        GraphKernelPCA(2, landmarks=8, refine=refine, **settings).fit(rows)
        for refine in (True, False)
    )
    angle = largest_angle(refined.eigenvectors_, exact)
    assert angle < largest_angle(span.eigenvectors_, exact)


@pytest.mark.parametrize("settings", [{}, {"kernel": "linear"}, {"center": False}])
@pytest.mark.parametrize("with_graph", [True, False])
def test_semi_supervised(rows, graph, classes, settings, with_graph):
    settings = {"tol": 1e-6, **settings, **({"graph": graph} if with_graph else {})}
    exact = SemiSupervisedGraphKernelPCA(2, **settings).fit(rows, classes)
    found = SemiSupervisedGraphKernelPCA(2, landmarks=N, **settings)
    found.fit(rows, classes)
    assert_same_model(found, exact, atol=5e-3)
    one, other = found.constraint_report_, exact.constraint_report_
    assert one.n_labelled == other.n_labelled
    assert abs(one.n_violations - other.n_violations) <= 1


def test_semi_supervised_by_pairs_and_numbers(rows):
    pairs = {"must_link": [(0, 1), (2, 3)], "cannot_link": [(0, 5), (7, 9)]}
    numbers = np.where(np.arange(N) % 4 == 0, rows[:, 1] + 0.123, np.nan)
    for settings, y in ((pairs, None), ({}, numbers)):
        settings = {"tol": 1e-6, **settings}
        exact = SemiSupervisedGraphKernelPCA(2, **settings).fit(rows, y)
        found = SemiSupervisedGraphKernelPCA(2, landmarks=N, **settings).fit(rows, y)
        assert_same_model(found, exact, atol=5e-3)


@pytest.mark.parametrize(
    "settings",
    [
        {"kernel": "rbf"},
        {"kernel": "linear", "response": None},
        {"kernel": ["rbf", "linear"], "weights": "equal"},
        {"kernel": "rbf", "laplacian": "combinatorial", "center": False},
    ],
    ids=str,
)
def test_multi_modal(modes, settings):
    settings = {"tol": 1e-6, "gamma": 0.1, **settings}
    exact = MultiModalGraphEmbedding(2, **settings).fit(modes)
    found = MultiModalGraphEmbedding(2, landmarks=N, **settings).fit(modes)
    assert_same_model(found, exact, atol=5e-3)
    assert_allclose(found.mode_contributions_, exact.mode_contributions_, atol=1e-2)


def test_multi_modal_with_samples_that_miss_a_mode(modes):
    tables = {k: np.array(v, dtype=float) for k, v in modes.items()}
    tables["marks"][:20] = np.nan
    settings = {"kernel": "rbf", "gamma": 0.1, "tol": 1e-6}
    exact = MultiModalGraphEmbedding(2, **settings).fit(tables)
    found = MultiModalGraphEmbedding(2, landmarks=N, **settings).fit(tables)
    assert_same_model(found, exact, atol=5e-3)
    assert (found.mode_contributions_[:20, 1] == 0).all()


@pytest.mark.parametrize("choice", ["uniform", "k-means++", "leverage"])
def test_every_choice_of_all_rows_is_all_rows(rows, choice):
    found = GraphKernelPCA(2, landmarks=N, landmark_choice=choice).fit(rows)
    assert_array_equal(np.unique(found.landmarks_, axis=0), np.unique(rows, axis=0))


# -- a part of the rows ----------------------------------------------------------------


def test_without_a_graph_it_is_the_dense_nystrom_method(rows):
    """Top eigenvectors of H K_xz K_zz^+ K_zx H for the landmarks that it kept."""
    found = GraphKernelPCA(3, gamma=0.1, landmarks=25).fit(rows)
    Z = found.landmarks_
    assert Z.shape == (25, 4)

    def k(A, B):
        return np.exp(-0.1 * np.square(A[:, None] - B[None]).sum(axis=2))

    H, J = np.eye(N) - 1 / N, np.eye(25) - 1 / 25
    # centred about the landmarks, then about all rows
    F = k(rows, Z) @ J
    K = H @ F @ np.linalg.pinv(J @ k(Z, Z) @ J, hermitian=True) @ F.T @ H
    values, V = np.linalg.eigh(K)
    assert_allclose(found.eigenvalues_, values[::-1][:3], rtol=1e-3)
    assert largest_angle(found.eigenvectors_, V[:, ::-1][:, :3]) < 5e-3


def test_the_error_falls_with_the_number_of_landmarks(rows):
    errors = [GraphKernelPCA(2, landmarks=m).fit(rows).landmark_error_ for m in (3, 20)]
    assert 0 < errors[1] < errors[0] < 1
    exact = GraphKernelPCA(2, gamma=0.05).fit(rows)
    angles = [
        largest_angle(
            GraphKernelPCA(2, gamma=0.05, landmarks=m).fit(rows).eigenvectors_,
            exact.eigenvectors_,
        )
        for m in (5, 60)
    ]
    assert angles[1] < angles[0]
    assert angles[1] < 0.05


@pytest.mark.parametrize(
    "response",
    [
        responses.Diffusion("auto"),
        responses.RandomWalk(2.2, 3),
        responses.Bandlimited(20, 4.0),
        responses.RegularizedLaplacian(5.0, form="penalty"),
    ],
    ids=str,
)
def test_responses_beyond_a_small_basis(response):
    """By polynomials in single precision, or by the lowest eigenvectors."""
    X = np.random.default_rng(0).standard_normal((1100, 3)) * [3, 2, 1]
    settings = {"graph": NeighborGraph(6).build(X), "response": response}
    exact = GraphKernelPCA(2, gamma=0.02, tol=1e-6, **settings).fit(X)
    found = GraphKernelPCA(2, gamma=0.02, landmarks=200, **settings).fit(X)
    assert largest_angle(found.eigenvectors_, exact.eigenvectors_) < 0.02


def test_rows_in_another_order_have_the_same_landmarks_and_places(rows, graph):
    order = np.random.default_rng(0).permutation(N)
    A = graph.to_scipy()[order][:, order]
    settings = {"landmarks": 40, "tol": 1e-6}
    one = GraphKernelPCA(2, graph=graph, **settings).fit(rows)
    other = GraphKernelPCA(2, graph=Graph(A), **settings).fit(rows[order])
    assert set(map(tuple, one.landmarks_)) == set(map(tuple, other.landmarks_))
    assert_same_up_to_sign(other.embedding_, one.embedding_[order], rtol=5e-3)


@pytest.mark.parametrize("shuffle", [True, False])
def test_landmarks_by_label_by_position_and_as_rows_are_the_same(rows, graph, shuffle):
    chosen = np.arange(0, N, 5)
    if shuffle:
        chosen = np.random.default_rng(0).permutation(chosen)
    names = np.array([f"row{i}" for i in range(N)])
    labelled = Graph(graph.to_scipy(), nodes=names)
    settings = {"gamma": 0.1}
    by_position = GraphKernelPCA(2, landmarks=chosen.tolist(), graph=graph, **settings)
    by_position.fit(rows)
    by_label = GraphKernelPCA(2, landmarks=names[chosen], graph=labelled, **settings)
    by_label.fit(rows, node_ids=names)
    by_index = clone(by_label).fit(pd.DataFrame(rows, index=names))
    own = GraphKernelPCA(2, landmarks=rows[chosen], graph=graph, **settings).fit(rows)
    for model in (by_label, by_index, own):
        assert_allclose(model.embedding_, by_position.embedding_, atol=1e-3)
    assert_array_equal(by_position.landmarks_, rows[np.sort(chosen)])
    assert_array_equal(by_label.landmarks_, rows[np.sort(chosen)])


def test_landmarks_need_not_be_rows_of_the_fit(rows):
    Z = np.random.default_rng(5).standard_normal((30, 4)) * [3, 2, 1, 0.5] + 1
    found = GraphKernelPCA(2, landmarks=Z, gamma=0.05).fit(rows)
    exact = GraphKernelPCA(2, gamma=0.05).fit(rows)
    assert_array_equal(found.landmarks_, Z)
    assert largest_angle(found.eigenvectors_, exact.eigenvectors_) < 0.1


def test_a_median_width_looks_at_the_landmarks_alone(rows):
    found = GraphKernelPCA(2, landmarks=rows[:30]).fit(rows)
    gaps = np.square(rows[:30, None] - rows[None, :30]).sum(axis=2)
    median = np.median(gaps[np.triu_indices(30, 1)])
    assert found.kernel_.gamma == pytest.approx(1 / (2 * median), rel=1e-6)


def test_the_graph_stays_whole(rows, graph):
    """Edges between rows that are no landmarks count: without them, another answer."""
    chosen = list(range(20))
    found = GraphKernelPCA(2, landmarks=chosen, graph=graph, graph_strength=5.0)
    whole = found.fit(rows).embedding_
    assert found.graph_.n_edges == graph.n_edges
    A = graph.to_scipy().toarray()
    A[20:, 20:] = 0
    few = clone(found).set_params(graph=Graph(sp.csr_array(A))).fit(rows)
    assert largest_angle(whole, few.embedding_) > 0.1


# -- repeatable, light, in the precision of the rows -----------------------------------


@pytest.mark.parametrize("choice", ["uniform", "k-means++", "leverage"])
def test_the_same_seed_gives_the_same_bits(rows, graph, choice):
    model = GraphKernelPCA(
        2, landmarks=30, landmark_choice=choice, graph=graph, random_state=3
    )
    one, two = (clone(model).fit_transform(rows) for _ in range(2))
    assert_array_equal(one, two)
    other = clone(model).set_params(random_state=4).fit(rows)
    assert len(set(map(tuple, other.landmarks_)) & set(map(tuple, rows))) == 30
    assert not np.array_equal(other.landmarks_, clone(model).fit(rows).landmarks_)


def test_the_same_bits_with_one_thread_and_with_two(rows, graph):
    model = GraphKernelPCA(2, landmarks=30, graph=graph)
    with threadpool_limits(1):
        one = clone(model).fit_transform(rows)
    with threadpool_limits(2):
        two = clone(model).fit_transform(rows)
    assert_allclose(two, one, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("with_graph", [True, False])
def test_precision_in_is_precision_out(rows, graph, dtype, with_graph):
    X = rows.astype(dtype)
    # chosen by position: rounded rows are other rows to a choice by content
    chosen = list(range(0, N, 4))
    model = GraphKernelPCA(2, landmarks=chosen, graph=graph if with_graph else None)
    assert model.fit_transform(X).dtype == dtype
    for found in (model.embedding_, model.eigenvectors_, model.eigenvalues_):
        assert found.dtype == dtype
    assert model.transform(X[:5]).dtype == dtype
    assert model.landmarks_.dtype == dtype
    wide = clone(model).fit(rows)
    assert largest_angle(model.embedding_.astype(float), wide.embedding_) < 1e-2


def test_inputs_stay_as_they_are_and_may_change_afterwards(rows, graph):
    X, Z, names = rows.copy(), rows[:30].copy(), np.arange(N)
    labelled = Graph(graph.to_scipy(), nodes=names)
    for landmarks in (Z, 30, list(range(30))):
        model = GraphKernelPCA(2, landmarks=landmarks, graph=labelled)
        model.fit(X, node_ids=names)
        assert_array_equal(X, rows)
        assert_array_equal(Z, rows[:30])
        before = model.transform(rows[:9], node_ids=names[:9] + 1000)
        X[:] = 0
        after = model.transform(rows[:9], node_ids=names[:9] + 1000)
        assert_array_equal(after, before)
        X[:] = rows


def test_sparse_rows_and_tables_are_the_same_rows(graph):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, 8)) * (rng.random((N, 8)) < 0.5)
    model = GraphKernelPCA(2, kernel="linear", landmarks=40, graph=graph, tol=1e-6)
    dense = clone(model).fit(X)
    for make in (sp.csr_array, sp.csc_matrix, pd.DataFrame):
        found = clone(model).fit(make(X))
        assert_allclose(found.embedding_, dense.embedding_, atol=1e-3)
        # new rows of the same kind, by their features
        new = make(X[:7] + 0.0)
        assert_allclose(found.transform(new), dense.transform(X[:7]), atol=1e-3)
    assert sp.issparse(clone(model).fit(sp.csr_array(X)).landmarks_)


def test_no_n_by_n_array_is_ever_made():
    n, m = 20_000, 50
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 5)).astype(np.float32)
    nodes = np.arange(n)
    ring = sp.coo_array((np.ones(n), (nodes, (nodes + 1) % n)), shape=(n, n)).tocsr()
    graph = Graph(ring + ring.T)
    for refine in (True, False):
        model = GraphKernelPCA(2, landmarks=m, graph=graph, refine=refine)
        tracemalloc.start()
        model.fit(X)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        model.transform(X[:3000])
        placing = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 20 * n * m * 4  # 80 MB; n x n would be 1.6 GB
        assert placing < 10 * n * m * 4


# -- real papers -----------------------------------------------------------------------

FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)


def model_of(cora, strength, landmarks):
    return GraphKernelPCA(
        20,
        kernel="linear",
        graph=cora.graph,
        graph_strength=strength,
        scaling="unit",
        landmarks=landmarks,
        tol=None if landmarks else 1e-6,
    )


@pytest.mark.slow
@pytest.mark.parametrize("strength", [1.0, 3.0])
def test_on_cora_it_is_as_good_as_the_exact_model(cora, strength):
    X = sp.csr_array(normalize(cora.data))
    found = []
    for landmarks in (None, 1000):
        model = model_of(cora, strength, landmarks)
        Z = model.fit_transform(X, node_ids=cora.labels)
        classifier = LogisticRegression(max_iter=1000)
        found.append(cross_val_score(classifier, Z, cora.target, cv=FOLDS).mean())
    assert found[1] >= found[0] - 0.02


@pytest.mark.slow
def test_on_cora_new_papers_gain_by_their_citations(cora):
    """Two folds whose papers are new to the fit: the others would cost time alone."""
    X, scores = sp.csr_array(normalize(cora.data)), {0.0: [], 1.0: []}
    for train, test in list(FOLDS.split(cora.data, cora.target))[:2]:
        for strength, found in scores.items():
            model = model_of(cora, strength, 1000)
            model.fit(X[train], node_ids=cora.labels[train])
            placed = model.transform(X[test], node_ids=cora.labels[test])
            classifier = LogisticRegression(max_iter=1000)
            classifier.fit(model.embedding_, cora.target[train])
            found.append(classifier.score(placed, cora.target[test]))
    assert np.mean(scores[1.0]) - np.mean(scores[0.0]) >= 0.10


def test_kernels_by_object_work_too(rows):
    exact = GraphKernelPCA(2, kernel=kernels.Gaussian(0.1)).fit(rows)
    found = GraphKernelPCA(2, kernel=kernels.Gaussian(0.1), landmarks=N).fit(rows)
    assert_same_model(found, exact, atol=2e-4)
