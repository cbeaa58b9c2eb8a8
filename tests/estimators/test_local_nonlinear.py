"""LocalNonlinearEmbedding and its relatives, against scikit-learn and dense algebra."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.datasets import load_digits, make_swiss_roll
from sklearn.manifold import Isomap, LocallyLinearEmbedding, SpectralEmbedding

import graphfold
from graphfold import (
    Graph,
    GraphKernelPCA,
    LaplacianEigenmaps,
    LocalNonlinearEmbedding,
    NeighborGraph,
    kernels,
)
from graphfold.errors import (
    GraphfoldError,
    NullDirectionsWarning,
    UnderdeterminedWarning,
    WeakSpectrumWarning,
)
from tests.helpers import assert_same_up_to_sign, dense_laplacian, largest_angle

RNG = np.random.default_rng(0)
DATA = {
    "Swiss roll": lambda n: make_swiss_roll(n, random_state=0)[0],
    "digits": lambda n: load_digits().data[:n],
}


def wide_rows(n=80, seed=0, columns=15):
    """Rows on a surface in 15 dimensions: enough equations for 7 * 2 coefficients."""
    rng = np.random.default_rng(seed)
    flat = rng.uniform(-1, 1, (n, 2))
    turned = flat @ rng.standard_normal((2, columns))
    return np.sin(turned + rng.uniform(0, 3, columns)) + 0.5


def small(**parameters):
    """A model for few rows."""
    return LocalNonlinearEmbedding(**{"n_neighbors": 7, **parameters})


def matrix_of(model):
    T = np.eye(len(model.embedding_)) - model.reconstruction_weights_.toarray()
    return T.T @ T


# -- scikit-learn's own ---------------------------------------------------------------


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize(("k", "n"), [(8, 500), (12, 500), (20, 500), (12, 1010)])
def test_order_one_is_scikit_learns_lle(name, k, n):
    X = DATA[name](n)
    ours = LocalNonlinearEmbedding(2, n_neighbors=k, order=1, form="local").fit(X)
    theirs = LocallyLinearEmbedding(
        n_neighbors=k, n_components=2, eigen_solver="dense"
    ).fit(X)
    assert ours.converged_
    assert largest_angle(ours.embedding_, theirs.embedding_) < 1e-4
    assert ours.reconstruction_error_ == pytest.approx(
        theirs.reconstruction_error_, rel=1e-6
    )
    new = X[:20] + 0.01
    turn = np.linalg.lstsq(ours.embedding_, theirs.embedding_)[0]
    placed = theirs.transform(new)
    assert_allclose(
        ours.transform(new) @ turn, placed, atol=1e-5 * np.abs(placed).max()
    )


@pytest.mark.parametrize("n", [400, 1010])
def test_the_kernel_of_lle_spans_the_same(n):
    X = DATA["digits"](n)
    lle = LocalNonlinearEmbedding(3, n_neighbors=12, order=1).fit(X)
    kernel = kernels.LocallyLinear(12)
    pca = GraphKernelPCA(3, kernel=kernel).fit(X)
    assert largest_angle(lle.embedding_, pca.embedding_) < 1e-4
    assert_allclose(lle.eigenvalues_, pca.eigenvalues_, rtol=1e-4)
    assert_same_up_to_sign(lle.embedding_, pca.embedding_, rtol=1e-3)
    new = X[:9] + 0.1
    assert_same_up_to_sign(lle.transform(new), pca.transform(new), rtol=1e-3)


@pytest.mark.parametrize("n", [300, 1010])
def test_isomap_in_one_line(n):
    X = DATA["Swiss roll"](n)
    ours = GraphKernelPCA(2, kernel=kernels.Geodesic(10)).fit(X)
    theirs = Isomap(n_neighbors=10, n_components=2).fit(X)
    assert largest_angle(ours.embedding_, theirs.embedding_) < 1e-4
    assert_same_up_to_sign(ours.embedding_, theirs.embedding_, rtol=1e-6)


def test_classical_scaling_in_one_line():
    X = DATA["digits"](300)
    ours = GraphKernelPCA(3, kernel=kernels.ClassicalScaling()).fit(X)
    H = np.eye(300) - 1 / 300
    B = -0.5 * H @ (((X[:, None] - X) ** 2).sum(axis=2)) @ H
    values, vectors = np.linalg.eigh(B)
    reference = vectors[:, :-4:-1] * np.sqrt(values[:-4:-1])
    assert_same_up_to_sign(ours.embedding_, reference, rtol=1e-8)
    try:
        from sklearn.manifold import ClassicalMDS
    except ImportError:  # before scikit-learn 1.8
        return
    theirs = ClassicalMDS(n_components=3).fit_transform(X)
    assert_same_up_to_sign(ours.embedding_, theirs, rtol=1e-6)


@pytest.mark.parametrize("n", [300, 1010])
def test_spectral_embedding_on_our_graph(n):
    X = DATA["digits"](n)
    ours = LaplacianEigenmaps(3).fit(X)
    theirs = SpectralEmbedding(
        3, affinity="precomputed", eigen_solver="arpack", random_state=0
    ).fit_transform(ours.graph_.to_scipy().toarray())
    assert largest_angle(ours.embedding_, theirs) < 1e-4


# -- parts and copies: where others fail ----------------------------------------------


def apart(n_copies=0):
    rng = np.random.default_rng(3)
    X = np.vstack([c + rng.standard_normal((25, 5)) for c in (0.0, 40.0, -90.0)])
    return np.vstack([X, np.repeat(X[4:5], n_copies, axis=0)])


def closest_pair(Z, X):
    """Smallest distance between images of distinct rows, over the spread of Z."""
    distinct = np.unique(X, axis=0, return_index=True)[1]
    Z = Z[distinct] / (np.linalg.norm(Z - Z.mean(axis=0), axis=0) + 1e-300)
    gaps = np.linalg.norm(Z[:, None] - Z, axis=2)
    np.fill_diagonal(gaps, np.inf)
    return gaps.min()


# On the same rows, k = 6 and d = 3, scikit-learn 1.9.1 was measured to give, without a
# word: LocallyLinearEmbedding closest pair 0.0 (parts) and 2e-15 (and copies), whole
# parts on one point; SpectralEmbedding 2e-16 and 2e-17. Its Isomap joins the parts as
# ours does: 4e-4 and 2e-4.
# With binary weights two nodes with the same neighbours have the same coordinates on
# any graph; the default graph of Laplacian eigenmaps has weights that tell them apart.
WEIGHTED = NeighborGraph(6, joined=True, weight="similarity")
GLUED = {
    "lle": LocalNonlinearEmbedding(3, n_neighbors=6, order=1),
    "lle local": LocalNonlinearEmbedding(3, n_neighbors=6, order=1, form="local"),
    "eigenmaps": LaplacianEigenmaps(3, n_neighbors=6),
    "eigenmaps, similarity": LaplacianEigenmaps(3, graph=WEIGHTED),
    "eigenmaps combinatorial": LaplacianEigenmaps(
        3, graph=WEIGHTED, laplacian="combinatorial"
    ),
    "isomap": GraphKernelPCA(3, kernel=kernels.Geodesic(6)),
    "lle kernel": GraphKernelPCA(3, kernel=kernels.LocallyLinear(6)),
}


@pytest.mark.filterwarnings("ignore::graphfold.errors.DisconnectedGraphWarning")
@pytest.mark.parametrize("n_copies", [0, 30])
@pytest.mark.parametrize("name", GLUED)
def test_parts_and_copies_keep_distinct_rows_distinct(name, n_copies):
    X = apart(n_copies)
    model = GLUED[name]
    Z = model.fit_transform(X)
    assert np.isfinite(Z).all()
    assert closest_pair(Z, X) > 1e-9
    if n_copies and "eigenmaps" not in name:
        spread = np.abs(Z - Z.mean(axis=0)).max(axis=0)
        assert_allclose((Z[75:] - Z[4]) / spread, 0, atol=1e-6)
    assert np.isfinite(model.transform(X[:5] + 0.01)).all()


@pytest.mark.filterwarnings("ignore::graphfold.errors.GraphfoldWarning")
@pytest.mark.parametrize("n_copies", [0, 30])
@pytest.mark.parametrize("form", ["kernel", "local"])
def test_parts_and_copies_have_finite_places_at_every_order(n_copies, form):
    """An l1 penalty may drop the link between parts: each then has axes of its own."""
    X = apart(n_copies)
    for order in (1, 2, 3):
        for graph in (None, NeighborGraph(4)):
            model = LocalNonlinearEmbedding(
                3, n_neighbors=6, order=order, form=form, graph=graph
            ).fit(X)
            assert np.isfinite(model.embedding_).all()
            assert np.linalg.matrix_rank(model.eigenvectors_) == 3
            assert np.isfinite(model.transform(X[:5] + 0.01)).all()


# -- graphs ---------------------------------------------------------------------------


def bottom(A, L, gamma, d, center):
    M = A + gamma * L
    n = len(A)
    if center:
        H = np.eye(n) - 1 / n
        M = H @ M @ H + 1e6 * np.ones((n, n)) / n
    return np.linalg.eigh(M)[1][:, :d]


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("laplacian", ["normalized", "combinatorial"])
@pytest.mark.parametrize("strength", [0.1, 10.0])
def test_local_form_is_the_bottom_of_the_sum(order, laplacian, strength):
    X = wide_rows()
    graph = NeighborGraph(5).build(RNG.standard_normal((80, 3)))
    model = small(
        n_components=3,
        order=order,
        form="local",
        graph=graph,
        graph_strength=strength,
        laplacian=laplacian,
    ).fit(X)
    A = matrix_of(model)
    L = dense_laplacian(graph.to_scipy().toarray(), laplacian)
    values = np.linalg.eigvalsh(A)[1 if order == 1 else 0 :][:3]
    of_graph = np.linalg.eigvalsh(L)
    of_graph = of_graph[of_graph > 1e-9][:3]
    gamma = strength * values.mean() / of_graph.mean()
    reference = bottom(A, L, gamma, 3, order == 1)
    assert largest_angle(model.embedding_, reference) < 1e-5
    M = A + gamma * L
    energies = np.diag(model.eigenvectors_.T @ M @ model.eigenvectors_)
    assert_allclose(-model.eigenvalues_, energies, rtol=1e-5)
    assert model.reconstruction_error_ == pytest.approx(
        np.trace(model.eigenvectors_.T @ A @ model.eigenvectors_), rel=1e-6
    )


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("strength", [0.3, 3.0])
def test_kernel_form_is_the_top_of_the_sum(order, strength):
    X = wide_rows()
    graph = NeighborGraph(5).build(RNG.standard_normal((80, 3)))
    model = small(
        n_components=3, order=order, graph=graph, graph_strength=strength
    ).fit(X)
    K = np.linalg.pinv(matrix_of(model), rcond=1e-13, hermitian=True)
    L = dense_laplacian(graph.to_scipy().toarray(), "normalized")
    M = K - strength * np.linalg.eigvalsh(K)[-1] * L
    if order == 1:
        H = np.eye(80) - 1 / 80
        M = H @ M @ H - 1e9 * np.ones((80, 80)) / 80
    values, vectors = np.linalg.eigh(M)
    assert largest_angle(model.embedding_, vectors[:, -3:]) < 1e-4
    assert_allclose(
        model.eigenvalues_, values[:-4:-1], rtol=1e-5, atol=1e-6 * np.abs(K).max()
    )


def test_the_two_forms_differ_with_a_graph_and_agree_without():
    X = wide_rows()
    graph = NeighborGraph(5).build(RNG.standard_normal((80, 3)))
    kernel, local = (small(form=form).fit(X) for form in ("kernel", "local"))
    assert largest_angle(kernel.embedding_, local.embedding_) < 1e-6
    kernel, local = (
        small(form=form, graph=graph).fit(X) for form in ("kernel", "local")
    )
    assert largest_angle(kernel.embedding_, local.embedding_) > 0.1


@pytest.mark.parametrize("form", ["kernel", "local"])
def test_strength_zero_is_no_graph(form):
    X = wide_rows()
    alone = small(form=form).fit(X)
    silent = small(form=form, graph=NeighborGraph(3), graph_strength=0).fit(X)
    assert_same_up_to_sign(silent.embedding_, alone.embedding_, rtol=1e-8)


@pytest.mark.parametrize("form", ["kernel", "local"])
def test_the_letter_takes_gamma_as_it_is(form):
    X = wide_rows()
    graph = NeighborGraph(5).build(RNG.standard_normal((80, 3)))
    model = small(form=form, graph=graph, graph_strength=0.3, normalize=False).fit(X)
    A = matrix_of(model)
    L = dense_laplacian(graph.to_scipy().toarray(), "normalized")
    M = np.linalg.inv(A) - 0.3 * L if form == "kernel" else -(A + 0.3 * L)
    vectors = np.linalg.eigh(M)[1][:, -2:]
    assert largest_angle(model.embedding_, vectors) < 1e-5


@pytest.mark.parametrize("form", ["kernel", "local"])
def test_several_graphs_with_equal_say(form):
    X = wide_rows()
    graphs = {
        name: NeighborGraph(5).build(RNG.standard_normal((80, 3))) for name in "ab"
    }
    model = small(form=form, graph=graphs, weights="equal").fit(X)
    assert list(model.graph_weights_) == pytest.approx([0.5**0.5] * 2)
    A = matrix_of(model)
    Ls = [
        dense_laplacian(g.to_scipy().toarray(), "normalized") for g in graphs.values()
    ]
    L = sum(Ls) * 0.5**0.5
    if form == "kernel":
        K = np.linalg.inv(A)
        M = K - np.linalg.eigvalsh(K)[-1] / (2 * 0.5**0.5) * L
    else:
        lowest = [np.linalg.eigvalsh(part) for part in Ls]
        size = sum(0.5**0.5 * v[v > 1e-9][:2].mean() for v in lowest)
        M = -(A + np.linalg.eigvalsh(A)[:2].mean() / size * L)
    vectors = np.linalg.eigh(M)[1][:, -2:]
    assert largest_angle(model.embedding_, vectors) < 1e-5
    learned = small(form=form, graph=graphs).fit(X)
    assert np.isfinite(learned.embedding_).all()
    assert np.linalg.norm(learned.graph_weights_) == pytest.approx(1.0)


# -- new rows -------------------------------------------------------------------------


@pytest.mark.parametrize("laplacian", ["combinatorial", "normalized"])
def test_a_new_row_in_the_local_form_is_where_its_cost_is_least(laplacian):
    X = wide_rows()
    new = wide_rows(90)[80:]
    recipe = NeighborGraph(4)
    model = small(form="local", graph=recipe, laplacian=laplacian).fit(X)
    V = model.eigenvectors_
    w = model.kernel_.weights_over_fit(new).toarray()
    a = recipe.edges_to(new, X).toarray()
    gamma = model._extension.graphs[0].weight
    degrees = a.sum(axis=1)
    if laplacian == "normalized":
        own = model.graph_.to_scipy().toarray().sum(axis=1)
        a = a / np.sqrt(np.outer(degrees, own))
        degrees = np.ones(len(new))
    expected = (w @ V + gamma * a @ V) / (1 + gamma * degrees)[:, None]
    assert_allclose(model.transform(new), expected, atol=1e-10)
    if laplacian == "combinatorial":
        # by brute force: no other place costs less
        for i, z in enumerate(model.transform(new)):

            def cost(place, i=i):
                pull = (a[i] * np.square(place - V).sum(axis=1)).sum()
                return np.square(place - w[i] @ V).sum() + gamma * pull

            for direction in np.random.default_rng(i).standard_normal((20, 2)):
                assert cost(z) <= cost(z + 1e-4 * direction)


@pytest.mark.parametrize("form", ["kernel", "local"])
@pytest.mark.parametrize("order", [1, 2])
def test_rows_of_the_fit_get_their_place_back(form, order):
    X = wide_rows()
    for graph in (None, NeighborGraph(4)):
        model = small(form=form, order=order, graph=graph).fit(X)
        assert (model.transform(X[5:20]) == model.embedding_[5:20]).all()
        assert_allclose(model.fit_transform(X), model.embedding_)


def test_a_new_row_without_a_graph_is_made_of_its_neighbours():
    X = wide_rows()
    new = wide_rows(90)[80:]
    for form in ("kernel", "local"):
        model = small(form=form).fit(X)
        W = model.kernel_.weights_over_fit(new)
        assert_allclose(model.transform(new), W @ model.embedding_, atol=1e-9)
        one_by_one = np.vstack([model.transform(row[None]) for row in new])
        assert_allclose(one_by_one, model.transform(new), atol=1e-12)


# -- readings -------------------------------------------------------------------------


def test_order_one_without_the_constraint_is_not_lle():
    X = wide_rows()
    lle = small(order=1).fit(X)
    plain = small(order=1, constrained=False).fit(X)
    assert largest_angle(lle.embedding_, plain.embedding_) > 0.1
    assert_allclose(lle.reconstruction_weights_.sum(axis=1), 1.0)
    assert np.ptp(plain.reconstruction_weights_.sum(axis=1)) > 1e-3
    # constants are kept out of LLE alone
    assert (
        np.abs(lle.embedding_.sum(axis=0)).max() < 1e-6 * np.abs(lle.embedding_).max()
    )


def test_the_letter_of_the_paper():
    """l1 of weight 1: with one neighbour a soft threshold of 1/2, raw powers."""
    X = wide_rows(30)
    model = small(n_neighbors=1, order=1, constrained=False, relative=False, alpha=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one neighbour: many parts
        model.fit(X)
    W = model.reconstruction_weights_
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    np.fill_diagonal(distances, np.inf)
    checked = 0
    for i, j in enumerate(distances.argmin(axis=1)):
        if W[[i]].nnz == 1:
            product = X[i] @ X[j]
            expected = max(product - 0.5, 0.0) / (X[j] @ X[j])
            assert W[i, j] == pytest.approx(expected, abs=1e-9)
            checked += 1
    assert checked > 5


def test_the_letter_is_the_top_of_the_inverse():
    X = wide_rows()
    model = small(relative=False, alpha=1.0).fit(X)
    K = np.linalg.inv(matrix_of(model))
    values, vectors = np.linalg.eigh(K)
    assert_allclose(model.eigenvalues_, values[:-3:-1], rtol=1e-7)
    reference = vectors[:, :-3:-1] * np.sqrt(values[:-3:-1])
    assert_same_up_to_sign(model.embedding_, reference, rtol=1e-6)


def test_scale_of_the_rows_does_not_matter():
    X = wide_rows()
    one, two = small().fit(X), small().fit(1000 * X)
    assert_same_up_to_sign(two.embedding_, one.embedding_, rtol=1e-6)


def test_optimality_is_reported():
    model = small().fit(wide_rows())
    assert 0 <= model.coefficient_residual_ < 1e-9
    assert small(order=1).fit(wide_rows()).coefficient_residual_ == 0.0


# -- hard input -----------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::graphfold.errors.GraphfoldWarning")
@pytest.mark.parametrize("form", ["kernel", "local"])
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("graph", [None, NeighborGraph(2)], ids=["alone", "graph"])
@pytest.mark.parametrize(
    "X",
    [
        np.ones((8, 3)),
        np.zeros((8, 3)),
        np.column_stack([np.arange(12.0), np.ones(12), np.zeros(12)]),
        np.repeat(np.random.default_rng(1).standard_normal((5, 3)), 12, axis=0),
        np.array([[0.0, 1.0], [1.0, 0.0]]),
        np.arange(10.0)[:, None],
    ],
    ids=["constant", "zero", "constant columns", "copies", "two rows", "one column"],
)
def test_hard_rows_have_finite_places(form, order, graph, X):
    model = LocalNonlinearEmbedding(1, form=form, order=order, graph=graph).fit(X)
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(model.transform(X + 0.25)).all()
    assert np.isfinite(model.reconstruction_error_)


@pytest.mark.parametrize("order", [1, 2])
def test_more_neighbours_than_rows(order):
    X = wide_rows(15, columns=50)
    most = LocalNonlinearEmbedding(2, n_neighbors=14, order=order).fit(X)
    more = LocalNonlinearEmbedding(2, n_neighbors=20, order=order).fit(X)
    assert_same_up_to_sign(more.embedding_, most.embedding_, rtol=1e-6)
    assert np.isfinite(more.transform(X + 0.1)).all()


@pytest.mark.parametrize("form", ["kernel", "local"])
@pytest.mark.parametrize("order", [1, 2])
def test_as_many_components_as_rows(form, order):
    X = wide_rows(20)
    model = small(n_components=20, form=form, order=order, scaling="orthonormal").fit(X)
    V = model.embedding_
    assert_allclose(V.T @ V, np.eye(20), atol=1e-8)
    with pytest.raises(GraphfoldError, match="n_components"):
        small(n_components=21).fit(X)


def test_too_few_columns_are_said():
    X = make_swiss_roll(60, random_state=0)[0]
    with pytest.warns(UnderdeterminedWarning, match="3 columns"):
        model = small().fit(X)
    assert np.isfinite(model.embedding_).all()


@pytest.mark.parametrize(
    "parameters",
    [
        {"form": "dual"},
        {"order": 0},
        {"penalty": "l2"},
        {"collapse": "mean"},
        {"alpha": -1},
        {"n_neighbors": 0},
        {"constrained": "yes"},
        {"order": 1, "reg": -1.0},
        {"normalize_rows": 3},
        {"scaling": "none"},
    ],
    ids=str,
)
def test_bad_parameters_are_named_and_leave_the_model_as_it_was(parameters):
    X = wide_rows()
    model = small().fit(X)
    before = dict(vars(model))
    name = list(parameters)[-1]
    model.set_params(**parameters)
    with pytest.raises(GraphfoldError, match=name):
        model.fit(X)
    model.set_params(**{key: before[key] for key in parameters})
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[key] is before[key] for key in before)
    assert np.isfinite(model.transform(X[:3] + 0.1)).all()


def test_a_missing_value_is_refused_and_named():
    X = wide_rows()
    X[3] = np.nan
    with pytest.raises(GraphfoldError, match="3"):
        small().fit(X)


# -- what every estimator does --------------------------------------------------------


@pytest.mark.parametrize("form", ["kernel", "local"])
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("graph", [None, NeighborGraph(4)], ids=["alone", "graph"])
def test_single_precision_in_and_out(form, order, graph):
    X = wide_rows().astype(np.float32)
    model = small(form=form, order=order, graph=graph).fit(X)
    wide = small(form=form, order=order, graph=graph).fit(X.astype(np.float64))
    assert model.embedding_.dtype == np.float32
    assert model.transform(X[:3] + np.float32(0.1)).dtype == np.float32
    assert largest_angle(model.embedding_.astype(float), wide.embedding_) < 1e-2


def test_two_fits_give_the_same_bits():
    X = DATA["Swiss roll"](1010)
    for graph in (None, NeighborGraph(5)):
        one, two = (
            LocalNonlinearEmbedding(2, n_neighbors=10, order=1, graph=graph).fit(X)
            for _ in range(2)
        )
        assert (one.embedding_ == two.embedding_).all()


@pytest.mark.parametrize("form", ["kernel", "local"])
@pytest.mark.parametrize("graph", [None, NeighborGraph(4)], ids=["alone", "graph"])
@pytest.mark.parametrize("sparse", [False, True])
def test_saved_and_loaded(form, graph, sparse, tmp_path):
    X = wide_rows()
    X = sp.csr_array(X) if sparse else X
    model = small(form=form, graph=graph).fit(X)
    model.save(tmp_path / "m.npz")
    again = graphfold.load(tmp_path / "m.npz")
    new = X[:6] * 1.01
    assert_allclose(again.transform(new), model.transform(new), atol=1e-12)
    assert again.reconstruction_error_ == model.reconstruction_error_
    assert_allclose(
        again.reconstruction_weights_.toarray(), model.reconstruction_weights_.toarray()
    )
    assert again.get_params()["n_neighbors"] == 7


def test_a_sparse_table_is_a_table():
    X = wide_rows() * (wide_rows() > 0.4)
    dense, sparse = small().fit(X), small().fit(sp.csr_array(X))
    assert_same_up_to_sign(sparse.embedding_, dense.embedding_, rtol=1e-5)


@pytest.mark.parametrize("form", ["kernel", "local"])
def test_rows_meet_nodes_by_label(form):
    X = wide_rows(90)
    names = np.array([f"n{i}" for i in range(90)])
    matrix = NeighborGraph(5).build(X).to_scipy()
    graph = Graph(matrix, nodes=names)
    order = np.random.default_rng(1).permutation(80)
    table = pd.DataFrame(X, index=names)
    straight = small(form=form, graph=graph).fit(table[:80])
    mixed = small(form=form, graph=graph).fit(table.iloc[order])
    assert_same_up_to_sign(mixed.embedding_, straight.embedding_[order], rtol=1e-5)
    # a new row comes with the edges that its label has in the graph
    placed = straight.transform(table[80:])
    edges = matrix[80:, :80]
    bare = straight.transform(X[80:], edges=edges)
    assert_allclose(placed, bare)
    by_ids = straight.transform(X[80:], node_ids=names[80:])
    assert_allclose(placed, by_ids)


def test_data_frames_and_names_of_the_columns_out():
    X = pd.DataFrame(wide_rows()).add_prefix("f")
    model = small().set_output(transform="pandas").fit(X)
    placed = model.transform(X[:4] + 0.1)
    assert list(placed.columns) == list(model.get_feature_names_out())
    assert list(model.feature_names_in_) == list(X.columns)


def test_axes_turned_towards_another_embedding():
    X = wide_rows()
    first = small(scaling="unit").fit(X)
    turn = np.array([[0.0, 1.0], [-1.0, 0.0]])
    aligned = small(scaling="unit", align_to=first.embedding_ @ turn).fit(X)
    assert_allclose(aligned.embedding_, first.embedding_ @ turn, atol=1e-6)
    new = X[:5] + 0.05
    assert_allclose(aligned.transform(new), first.transform(new) @ turn, atol=1e-6)


def test_the_plan_says_how():
    plan = LocalNonlinearEmbedding(2).plan(np.ones((3000, 60)))
    assert plan.storage == "inverse"
    assert plan.peak_bytes < 2**30
    assert plan.seconds > 0
    assert (
        GraphKernelPCA(2, kernel=kernels.LocallyLinear(5))
        .plan(np.ones((3000, 60)))
        .storage
        == "inverse"
    )


def test_input_is_left_alone():
    X = wide_rows()
    before = X.copy()
    model = small(graph=NeighborGraph(3)).fit(X)
    model.transform(X)
    assert (before == X).all()
    X[:] = 0  # the model has its own copy
    assert np.isfinite(model.transform(before[:4] + 0.1)).all()
    assert (model.transform(before[:4]) == model.embedding_[:4]).all()


def test_a_graph_can_help_where_features_are_noise(rng):
    """Rows of noise with a ring for a graph: in the local form the ring shows."""
    X = rng.standard_normal((80, 60))
    A = np.roll(np.eye(80), 1, axis=0)
    ring = Graph(A + A.T)
    model = small(form="local", graph=ring, graph_strength=1e6, order=1).fit(X)
    circle = np.linspace(0, 2 * np.pi, 80, endpoint=False)
    reference = np.column_stack([np.cos(circle), np.sin(circle)])
    assert largest_angle(model.embedding_, reference) < 1e-2


# -- found by review -----------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        LocalNonlinearEmbedding(2, n_neighbors=8, order=1),
        GraphKernelPCA(2, kernel=kernels.LocallyLinear(8)),
        GraphKernelPCA(2, kernel=kernels.Geodesic(8)),
        LaplacianEigenmaps(2, n_neighbors=8),
    ],
    ids=lambda model: type(model).__name__,
)
def test_copies_in_the_fit_do_not_swallow_new_rows(rng, model):
    base = rng.random((60, 3))
    copies = np.repeat(base[:1], 40, axis=0)
    new = base[0] + 0.05 * rng.standard_normal((4, 3))
    Z = model.fit(np.vstack([base, copies])).transform(new)
    assert closest_pair(Z, new) > 1e-3


def test_a_combination_that_is_given_takes_kernels_of_neighbourhoods(rng):
    X = rng.random((60, 3))
    parts = [kernels.LocallyLinear(8), kernels.Gaussian(gamma=1.0)]
    given = GraphKernelPCA(2, kernel=kernels.Combination(parts, [0.5, 2.0])).fit(X)
    K = [part.bind(X, rng).gram(X) for part in parts]
    sum_of_both = GraphKernelPCA(2, kernel="precomputed").fit(0.5 * K[0] + 2.0 * K[1])
    assert largest_angle(given.embedding_, sum_of_both.embedding_) < 1e-6
    assert np.isfinite(given.transform(X[:3] + 0.01)).all()


@pytest.mark.filterwarnings("ignore::graphfold.errors.WeakSpectrumWarning")
def test_all_components_are_kept_and_only_constants_have_no_energy(rng):
    X = rng.random((60, 3))
    model = LocalNonlinearEmbedding(60, n_neighbors=8, order=1).fit(X)
    assert (np.diff(model.eigenvalues_) <= 0).all()
    assert (np.abs(model.embedding_).max(axis=0) > 0).sum() == 59


def test_a_small_fit_needs_little_memory(rng):
    X = rng.random((60, 3))
    model = LocalNonlinearEmbedding(2, n_neighbors=8, order=1, max_memory="2MB")
    assert model.plan(X).peak_bytes < 2 * 2**20
    model.fit(X)


# -- null vectors of A -------------------------------------------------------------


#: rows in the plane, whose neighbours reconstruct them exactly without regularisation
EXACT = {
    "plane": {"order": 1, "reg": 0.0},
    "regression": {
        "order": 1,
        "constrained": False,
        "penalty": "ridge",
        "alpha": 0.0,
        "relative": False,
    },
}


def exact(name, d, form="kernel", graph=None, n=60, **settings):
    X = np.random.default_rng(0).standard_normal((n, 2))
    model = LocalNonlinearEmbedding(
        d,
        n_neighbors=8,
        form=form,
        graph=graph,
        normalize=False,
        **EXACT[name],
        **settings,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnderdeterminedWarning)
        return model.fit(X), X


@pytest.mark.parametrize("d", [1, 4, 56])
@pytest.mark.parametrize("name", list(EXACT))
@pytest.mark.parametrize("with_graph", [True, False])
def test_null_vectors_are_dropped_as_the_pseudo_inverse_does(name, d, with_graph):
    A = np.eye(60, k=1) + np.eye(60, k=-1)
    with pytest.warns(NullDirectionsWarning, match="reconstruct 2 directions"):
        model, _ = exact(name, d, graph=A if with_graph else None)
    T = np.eye(60) - model.reconstruction_weights_.toarray()
    M = np.linalg.pinv(T.T @ T, rcond=1e-13, hermitian=True)
    if with_graph:
        degrees = A.sum(axis=1)
        M -= np.eye(60) - A / np.sqrt(np.outer(degrees, degrees))
        if name == "plane":  # rows of W sum to one, so the problem is centred
            H = np.eye(60) - 1 / 60
            M = H @ M @ H
    values, V = np.linalg.eigh(M)
    if not with_graph or name != "plane":
        assert_allclose(model.eigenvalues_, values[::-1][:d], rtol=1e-6, atol=1e-9)
        assert largest_angle(model.eigenvectors_, V[:, ::-1][:, :d]) < 1e-5
    elif d < 56:
        assert_allclose(model.eigenvalues_, values[::-1][:d], rtol=1e-6)


def test_the_local_form_keeps_what_is_reconstructed_exactly():
    model, X = exact("plane", 2, form="local")
    assert model.reconstruction_error_ < 1e-20
    assert largest_angle(model.eigenvectors_, X - X.mean(axis=0)) < 1e-6


@pytest.mark.parametrize("solver", ["auto", "krylov"])
def test_null_vectors_of_many_rows_are_dropped(solver):
    with pytest.warns(NullDirectionsWarning):
        model, _ = exact("plane", 3, n=1200, solver=solver)
    T = np.eye(1200) - model.reconstruction_weights_.toarray()
    values, V = np.linalg.eigh(T.T @ T)
    assert_allclose(model.eigenvalues_, 1 / values[3:6], rtol=1e-5)
    assert largest_angle(model.eigenvectors_, V[:, 3:6]) < 1e-4


def test_where_only_null_vectors_are_left_they_are_last_and_zero():
    with pytest.warns((NullDirectionsWarning, WeakSpectrumWarning)):
        model, _ = exact("regression", 60)
    assert (model.eigenvalues_[:58] > 0).all()
    assert_allclose(model.eigenvalues_[58:], 0.0)
    assert_allclose(model.embedding_[:, 58:], 0.0)
