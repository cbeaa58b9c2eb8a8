"""The robust estimators: missing entries, labels, new rows, errors, real digits."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning

import graphfold
from graphfold import (
    CorrelationGraph,
    FastRobustGraphPCA,
    Graph,
    NeighborGraph,
    RobustGraphPCA,
)
from graphfold.errors import (
    DisconnectedGraphWarning,
    GraphError,
    GraphfoldError,
    LabelError,
    UnlabelledRowsWarning,
    WeakSpectrumWarning,
)
from graphfold.quality import clustering_error

BOTH = [RobustGraphPCA, FastRobustGraphPCA]
both = pytest.mark.parametrize("method", BOTH)


@pytest.fixture
def corrupted(rng):
    """Rank 3 with one entry in ten far off."""
    X = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 12)) / 2
    X[rng.random(X.shape) < 0.1] += 5
    return X


@both
def test_parts_add_up_and_the_embedding_is_the_pca_of_the_low_rank_part(
    method, corrupted
):
    model = method(3).fit(corrupted)
    assert model.converged_ and model.optimality_residual_ <= 1e-3
    assert_allclose(model.low_rank_ + model.sparse_, corrupted)
    pca = PCA(3).fit(model.low_rank_)
    assert_allclose(model.singular_values_, pca.singular_values_, rtol=1e-6)
    assert_allclose(
        np.abs(model.embedding_), np.abs(pca.transform(model.low_rank_)), atol=1e-6
    )
    assert_allclose(model.mean_, pca.mean_)
    assert len(model.objective_trace_) == model.n_iter_


@both
def test_scalings_and_the_way_back(method, corrupted):
    plain = method(3).fit(corrupted)
    lengths = {"orthonormal": 1.0, "unit": np.sqrt(60)}
    for scaling, length in lengths.items():
        model = method(3, scaling=scaling).fit(corrupted)
        assert_allclose(np.linalg.norm(model.embedding_, axis=0), length)
        back = model.inverse_transform(model.embedding_)
        assert_allclose(back, plain.inverse_transform(plain.embedding_))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakSpectrumWarning)
        whole = method(12, center=False).fit(corrupted)
    back = whole.inverse_transform(whole.embedding_)
    assert_allclose(back, whole.low_rank_, atol=1e-5)


@both
def test_rows_of_the_fit_get_their_own_place_and_new_rows_are_projected(
    method, corrupted
):
    corrupted[4, 2] = np.nan
    model = method(3).fit(corrupted)
    assert_array_equal(model.transform(corrupted), model.embedding_)
    assert_array_equal(model.transform(corrupted[[4, 0]]), model.embedding_[[4, 0]])
    new = corrupted[:5] + 0.5
    new = np.where(np.isnan(new), 0, new)
    expected = (new - model.mean_) @ model.components_.T
    assert_allclose(model.transform(new), expected)


@both
def test_new_rows_with_missing_entries_are_placed_by_the_others(method, rng):
    X = rng.standard_normal((80, 2)) @ rng.standard_normal((2, 15))
    model = method(2, graph_strength=1e-3).fit(X)
    exact = model.inverse_transform(rng.standard_normal((6, 2)))
    partial = exact.copy()
    partial[rng.random(partial.shape) < 0.3] = np.nan
    assert_allclose(model.transform(partial), model.transform(exact), atol=0.05)
    partial[0] = np.nan
    partial[1, 1:] = np.nan
    placed = model.transform(partial)
    assert_allclose(placed[0], 0)
    assert np.isfinite(placed).all()


@both
def test_missing_entries_are_completed_and_do_not_count_as_errors(method, rng):
    X = rng.standard_normal((60, 2)) @ rng.standard_normal((2, 20))
    holes = rng.random(X.shape) < 0.1
    X_holes = np.where(holes, np.nan, X)
    alone = {"feature_strength": 0} if method is FastRobustGraphPCA else {}
    model = method(2, graph=NeighborGraph(5).build(X), graph_strength=0.05, **alone)
    model.fit(X_holes)
    assert np.isfinite(model.low_rank_).all()
    assert_array_equal(model.sparse_[holes], 0)
    error = np.abs(model.low_rank_ - X)[holes].mean()
    median = np.abs(np.nanmedian(X_holes, axis=0) - X)[holes].mean()
    assert error < 0.6 * median


@both
@pytest.mark.parametrize("where", ["entry", "row", "column", "both"])
def test_whatever_is_missing_the_answer_is_finite(method, corrupted, where):
    if where == "entry":
        corrupted[3, 4] = np.nan
    if where in ("row", "both"):
        corrupted[3] = np.nan
    if where in ("column", "both"):
        corrupted[:, 4] = np.nan
    model = method(2).fit(corrupted)
    for part in (model.low_rank_, model.sparse_, model.embedding_):
        assert np.isfinite(part).all()
    assert_array_equal(model.transform(corrupted), model.embedding_)
    edges = [(i, (i + 1) % 60) for i in range(60) if i not in (2, 3)]
    known = Graph.from_edges(*np.transpose(edges), nodes=np.arange(60))
    lonely = method(2, graph=known).fit(corrupted)
    assert np.isfinite(lonely.low_rank_).all()


@both
def test_constant_columns_and_equal_rows_are_no_trouble(method, corrupted):
    corrupted[:, 3] = 2.0
    corrupted[10:20] = corrupted[0]
    model = method(2).fit(corrupted)
    assert np.isfinite(model.embedding_).all()
    # the rows of the fit in their order are themselves; by itself a copy is the first
    assert_array_equal(model.transform(corrupted), model.embedding_)
    assert_array_equal(model.transform(corrupted[12:14]), model.embedding_[[0, 0]])


@both
@pytest.mark.parametrize("shape", [(15, 40), (40, 15)])
def test_float32_stays_and_agrees(method, rng, shape):
    X = rng.standard_normal(shape)
    single, double = method(2).fit(X.astype(np.float32)), method(2).fit(X)
    for name in ("embedding_", "low_rank_", "sparse_", "components_"):
        assert getattr(single, name).dtype == np.float32
    assert single.transform(X.astype(np.float32)).dtype == np.float32
    assert_allclose(single.objective_, double.objective_, rtol=1e-4)


@both
def test_fits_repeat_bit_for_bit(method, corrupted):
    first = method(2).fit(corrupted)
    assert_array_equal(first.embedding_, clone(first).fit(corrupted).embedding_)


@both
def test_rows_meet_nodes_by_label(method, corrupted, rng):
    pd = pytest.importorskip("pandas", reason="pandas is in the dev extra")
    labels = np.array([f"r{i}" for i in range(60)])
    known = Graph(NeighborGraph(5).build(corrupted).to_scipy(), nodes=labels)
    model = method(2, graph=known).fit(corrupted, node_ids=labels)
    order = rng.permutation(60)
    table = pd.DataFrame(corrupted[order], index=labels[order])
    turned = method(2, graph=known, tol=1e-5, max_iter=5000).fit(table)
    exact = method(2, graph=known, tol=1e-5, max_iter=5000)
    exact.fit(corrupted, node_ids=labels)
    assert_allclose(turned.low_rank_, exact.low_rank_[order], atol=0.01)
    table.columns = table.columns.astype(str)
    assert_array_equal(
        model.transform(corrupted[order], node_ids=labels[order]),
        model.embedding_[order],
    )
    with pytest.raises(LabelError, match="other features: r1;"):
        model.transform(corrupted[:2] + np.array([[0], [1]]), node_ids=labels[:2])
    with pytest.raises(LabelError, match="rows of X have none"):
        method(2, graph=known).fit(corrupted)


def test_columns_meet_nodes_of_the_features_graph_by_name(corrupted):
    pd = pytest.importorskip("pandas", reason="pandas is in the dev extra")
    names = np.array([f"f{i}" for i in range(12)])
    A = NeighborGraph(3).build(corrupted.T.copy()).to_scipy()
    table = pd.DataFrame(corrupted, columns=names)
    by_name = Graph(A[::-1][:, ::-1], nodes=names[::-1])
    named = FastRobustGraphPCA(feature_graph=by_name).fit(table)
    placed = FastRobustGraphPCA(feature_graph=Graph(A)).fit(corrupted)
    assert_allclose(named.low_rank_, placed.low_rank_, atol=1e-10)
    with pytest.raises(LabelError, match="columns of X have no names"):
        FastRobustGraphPCA(feature_graph=by_name).fit(corrupted)
    with pytest.raises(LabelError, match="none for f11"):
        smaller = by_name.subgraph(names[:11])
        FastRobustGraphPCA(feature_graph=smaller).fit(table)
    with pytest.raises(LabelError, match="each of the 12 columns of X; got 60"):
        graph = NeighborGraph(3).build(corrupted)
        FastRobustGraphPCA(feature_graph=graph).fit(corrupted)


def test_one_graph_two_graphs_or_none(corrupted):
    two = FastRobustGraphPCA().fit(corrupted)
    rows = FastRobustGraphPCA(feature_strength=0).fit(corrupted)
    columns = FastRobustGraphPCA(graph_strength=0).fit(corrupted)
    assert two.graph_ is not None and two.feature_graph_ is not None
    assert rows.feature_graph_ is None and columns.graph_ is None
    assert two.objective_ > max(rows.objective_, columns.objective_)
    none = FastRobustGraphPCA(graph_strength=0, feature_strength=0).fit(corrupted)
    assert_array_equal(none.low_rank_, corrupted)
    assert RobustGraphPCA(graph_strength=0).fit(corrupted).graph_ is None


@both
def test_saved_models_come_back(method, corrupted, tmp_path):
    corrupted[0, 0] = np.nan
    features = {"feature_graph": NeighborGraph(2)} if method is BOTH[1] else {}
    known = NeighborGraph(4).build(np.nan_to_num(corrupted))
    model = method(2, graph=known.to_scipy(), **features).fit(corrupted)
    model.save(tmp_path / "model.npz")
    again = graphfold.load(tmp_path / "model.npz")
    assert_array_equal(again.transform(corrupted), model.embedding_)
    with pytest.warns(UnlabelledRowsWarning, match="placed by their features alone"):
        placed = again.transform(corrupted + 1)
    with pytest.warns(UnlabelledRowsWarning, match="fit them with the others"):
        assert_array_equal(placed, model.transform(corrupted + 1))
    assert again.converged_ is True and again.n_iter_ == model.n_iter_


@both
def test_stopping_early_warns_with_the_residual(method, corrupted):
    with pytest.warns(ConvergenceWarning, match="after 2 iterations: raise max_iter"):
        model = method(2, max_iter=2, tol=1e-9).fit(corrupted)
    assert not model.converged_ and model.n_iter_ == 2
    assert model.optimality_residual_ > 1e-9


def test_a_low_rank_part_without_enough_rank_is_said():
    X = np.outer(np.arange(1.0, 21), np.ones(4))
    with pytest.warns(WeakSpectrumWarning, match="2 of 3 components carry nothing"):
        model = RobustGraphPCA(3, graph_strength=1e-4).fit(X)
    assert_array_equal(model.embedding_[:, 1:], 0)
    assert np.isfinite(model.inverse_transform(model.embedding_)).all()


BAD = [
    ({"n_components": 13}, "n_components must be between 1 and 12 .*n_features=12"),
    ({"graph_strength": -1}, "graph_strength must be at least 0; got -1"),
    ({"laplacian": "signless"}, "laplacian must be one of"),
    ({"scaling": "none"}, "scaling must be one of"),
    ({"center": 1}, "center must be True or False"),
    ({"tol": -1}, "tol must be at least 0"),
    ({"max_iter": 0}, "max_iter must be between 1"),
    ({"graph": 3}, "graph must be"),
]


@both
@pytest.mark.parametrize(("settings", "message"), BAD, ids=lambda p: str(p)[:30])
def test_bad_arguments_are_named(method, corrupted, settings, message):
    with pytest.raises(GraphfoldError, match=message):
        method(**settings).fit(corrupted)


@both
def test_bad_data_are_named(method, corrupted):
    with pytest.raises(GraphfoldError, match="all are missing"):
        method().fit(np.full((5, 3), np.nan))
    with pytest.raises(ValueError, match="infinity"):
        method().fit(np.where(corrupted > 4, np.inf, corrupted))
    signed = CorrelationGraph(None, negative="keep")
    corrupted[:30] *= -1
    with pytest.raises(GraphError, match="weights of at least 0"):
        method(graph=signed).fit(corrupted)
    few = np.zeros((60, 60))
    few[0, 1] = few[1, 0] = 1
    with pytest.warns(DisconnectedGraphWarning, match="58 of 60 rows have no edge"):
        method(graph=Graph(few)).fit(corrupted)
    with pytest.raises(GraphfoldError, match="2 columns of the embedding"):
        method().fit(corrupted).inverse_transform(np.zeros((3, 3)))


def test_own_arguments_are_checked(corrupted):
    with pytest.raises(GraphfoldError, match="sparsity must be above 0"):
        RobustGraphPCA(sparsity=0).fit(corrupted)
    with pytest.raises(GraphfoldError, match="feature_strength must be at least 0"):
        FastRobustGraphPCA(feature_strength=-1).fit(corrupted)
    assert RobustGraphPCA().fit(corrupted).sparsity_ == 1 / np.sqrt(60)


def test_graph_strength_stands_beside_the_absolute_errors(corrupted):
    model = RobustGraphPCA(graph_strength=0.7, sparsity=0.2).fit(corrupted)
    Z = model.low_rank_
    A = model.graph_.to_scipy().toarray()
    L = np.diag(A.sum(axis=1)) - A
    errors = np.abs(model.sparse_).sum() + 0.7 * np.trace(Z.T @ L @ Z)
    by_hand = np.linalg.norm(Z, "nuc") + 0.2 * errors
    assert_allclose(model.objective_, by_hand, rtol=1e-8)


@both
def test_a_failed_fit_leaves_the_model_as_it_was(method, corrupted):
    model = method(2).fit(corrupted)
    before = model.embedding_
    with pytest.raises(GraphfoldError):
        model.set_params(n_components=99).fit(corrupted)
    assert model.embedding_ is before


@both
def test_verbose_says_each_round(method, corrupted, capsys):
    method(2, verbose=2).fit(corrupted)
    assert "round 1: residual" in capsys.readouterr().err


@pytest.mark.slow
@both
def test_noisy_digits_cluster_better_than_by_pca(method, usps):
    """20 % of pixels black or white, all defaults, two components."""
    rng = np.random.default_rng(0)
    rows = np.concatenate(
        [rng.choice(np.flatnonzero(usps.target == c), 100, False) for c in range(10)]
    )
    X, y = usps.data[rows].copy(), usps.target[rows]
    hit = rng.random(X.shape) < 0.2
    X[hit] = (rng.random(X.shape) < 0.5)[hit]

    def error(Z):
        clusters = KMeans(10, n_init=10, random_state=0).fit_predict(Z)
        return clustering_error(y, clusters)

    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        ours = error(method().fit_transform(X))
    assert ours < error(PCA(2, svd_solver="full").fit_transform(X)) - 0.04
