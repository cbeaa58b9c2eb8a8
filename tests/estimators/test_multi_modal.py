"""One embedding of several modes, against matrices that are built entry by entry."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import graphfold
from graphfold import CorrelationGraph, MultiModalGraphEmbedding, NeighborGraph
from graphfold.errors import GraphfoldError, ModelFileError
from graphfold.quality import clustering_error
from tests.helpers import assert_same_up_to_sign, dense_laplacian, largest_angle

N, D, K = 40, 3, 5
MISSING = {"a": [0, 1, 2], "b": [3, 4, 10, 11], "c": [2, 3, 39]}


def make_views(rng, n=N):
    """Three modes that agree on three groups; returns the groups as well."""
    group = np.arange(n) % 3
    return {
        "a": 1.5 * group[:, None] + rng.standard_normal((n, 4)) * [1, 5, 0.2, 1],
        "b": np.eye(3)[group] * 3 + rng.standard_normal((n, 3)) + 10.0,
        "c": rng.standard_normal((n, 2)) + group[:, None] ** 2,
    }, group


@pytest.fixture
def views(rng):
    return make_views(rng)[0]


@pytest.fixture
def gappy(views):
    """The same, where some samples miss modes (sample 2 and 3 miss two each)."""
    return with_gaps(views, MISSING)


def with_gaps(views, missing):
    found = {name: X.copy() for name, X in views.items()}
    for name, rows in missing.items():
        found[name][rows] = np.nan
    return found


def embedding(**params):
    return MultiModalGraphEmbedding(D, n_neighbors=K, **params)


# -- the reference ------------------------------------------------------------------

DISTANCES = {
    "euclidean": lambda x, y: np.sqrt(((x - y) ** 2).sum()),
    "manhattan": lambda x, y: np.abs(x - y).sum(),
    "cosine": lambda x, y: 1 - x @ y / np.sqrt((x @ x) * (y @ y)),
}


def standardised(X):
    present = ~np.isnan(X).all(axis=1)
    return (X - X[present].mean(axis=0)) / X[present].std(axis=0), present


def nearest(x, others, metric="euclidean"):
    distances = [DISTANCES[metric](x, y) for y in others]
    return sorted(range(len(others)), key=distances.__getitem__)


def heat_of_neighbours(X, metric="euclidean", k=K, d=D):
    """exp(-s L / 2) with s = 2 / lambda_d, L of the k nearest rows, by loops."""
    A = np.zeros((len(X), len(X)))
    for i, x in enumerate(X):
        for j in [j for j in nearest(x, X, metric) if j != i][:k]:
            A[i, j] = A[j, i] = 1.0
    return heat(A, d)


def heat(A, d=D):
    values, vectors = np.linalg.eigh(dense_laplacian(A, "normalized"))
    scale = 2.0 / values[d - 1]
    return (vectors * np.exp(-scale * values / 2)) @ vectors.T


def mode_terms(views, metric="euclidean"):
    """R_m of every mode: zero rows where a sample misses it, the others scaled."""
    read = [standardised(X) for X in views.values()]
    n, n_modes = len(read[0][0]), len(read)
    scales = np.zeros(n)
    for i in range(n):
        scales[i] = np.sqrt(n_modes / sum(present[i] for _, present in read))
    terms = []
    for X, present in read:
        rows = np.flatnonzero(present)
        R = heat_of_neighbours(X[present], metric)
        full = np.zeros((n, n))
        for i, row in enumerate(rows):
            for j, column in enumerate(rows):
                full[row, column] = scales[row] * R[i, j] * scales[column]
        terms.append(full)
    return terms


def centred(M):
    H = np.eye(len(M)) - 1 / len(M)
    return H @ M @ H


def top(M, d=D):
    values, vectors = np.linalg.eigh(M)
    assert values[-d] - values[-d - 1] > 1e-3 * values[-1]  # a subspace is meant
    return vectors[:, ::-1][:, :d]


def weighted(weights, terms):
    return sum(w * R for w, R in zip(weights, terms, strict=True))


# -- the embedding ------------------------------------------------------------------


@pytest.mark.parametrize("metric", DISTANCES)
def test_equal_weights_are_the_top_of_the_sum(metric, views):
    model = embedding(weights="equal", metric=metric).fit(views)
    M = centred(sum(mode_terms(views, metric)))
    assert largest_angle(model.embedding_, top(M)) < 1e-6
    assert_allclose(model.embedding_.T @ model.embedding_, np.eye(D), atol=1e-10)
    assert_allclose(model.embedding_.sum(axis=0), 0, atol=1e-10)
    assert np.ptp(model.mode_weights_) == 0
    # eigenvalues to scale, in the order of the axes
    values = np.linalg.eigvalsh(M)[::-1][:D]
    ratio = model.eigenvalues_ / values
    assert_allclose(ratio, ratio[0], rtol=1e-8)


def test_rows_scaled_for_missing_modes_are_the_top_of_the_sum(gappy):
    model = embedding(weights="equal").fit(gappy)
    terms = mode_terms(gappy)
    for R, rows in zip(terms, MISSING.values(), strict=True):
        assert not R[rows].any()
    assert np.isfinite(model.embedding_).all()
    assert largest_angle(model.embedding_, top(centred(sum(terms)))) < 1e-6


def test_the_scale_of_rows_matters(gappy):
    """Without it the reference is another one: the test above can fail."""
    terms = mode_terms(gappy)
    counts = np.sum([np.diag(R) > 0 for R in terms], axis=0)
    bare = sum(terms) * np.sqrt(np.outer(counts, counts)) / 3
    assert largest_angle(top(centred(bare)), top(centred(sum(terms)))) > 1e-3


@pytest.mark.parametrize("given", ["views", "gappy"])
@pytest.mark.parametrize("norm", [1.5, 2.0, 4.0])
def test_learned_weights_are_best_for_what_they_give(given, norm, request):
    X = request.getfixturevalue(given)
    model = embedding(weight_norm=norm).fit(X)
    terms, beta = mode_terms(X), model.mode_weights_
    assert (beta >= 0).all()
    assert (beta**norm).sum() == pytest.approx(1)
    assert largest_angle(model.embedding_, top(centred(weighted(beta, terms)))) < 1e-6
    V = model.embedding_
    shares = np.array([np.trace(V.T @ R @ V) for R in terms])
    best = shares ** (1 / (norm - 1))
    assert_allclose(beta, best / (best**norm).sum() ** (1 / norm), atol=1e-5)


@pytest.mark.parametrize("given", ["views", "gappy"])
def test_the_objective_never_falls(given, request):
    trace = embedding().fit(request.getfixturevalue(given)).objective_trace_
    assert len(trace) > 2
    assert np.diff(trace).min() >= -1e-10 * abs(trace[0])
    assert trace[-1] > trace[0]


def test_a_mode_alone_is_its_own_graph(views):
    model = embedding().fit({"b": views["b"]})
    R = heat_of_neighbours(standardised(views["b"])[0])
    assert largest_angle(model.embedding_, top(centred(R))) < 1e-6
    assert_allclose(model.mode_contributions_, np.ones((N, 1)), rtol=1e-14)


@settings(max_examples=15, deadline=None)
@given(data=st.data(), seed=st.integers(0, 100))
def test_any_samples_may_miss_modes(data, seed):
    views, _ = make_views(np.random.default_rng(seed))
    rows = st.lists(st.integers(0, N - 1), unique=True, max_size=12)
    missing = {"a": data.draw(rows), "b": data.draw(rows)}  # all have c
    model = embedding().fit(with_gaps(views, missing))
    assert np.isfinite(model.embedding_).all()
    assert_allclose(model.embedding_.T @ model.embedding_, np.eye(D), atol=1e-8)
    shares = model.mode_contributions_
    assert_allclose(shares.sum(axis=1), 1)
    assert (shares >= 0).all()
    for i, name in enumerate("ab"):
        assert_array_equal(np.flatnonzero(shares[:, i] == 0), sorted(missing[name]))


@settings(max_examples=15, deadline=None)
@given(
    factor=st.floats(1e-3, 1e3), shift=st.floats(-1e3, 1e3), column=st.integers(0, 3)
)
def test_units_of_real_columns_do_not_matter(factor, shift, column):
    views, _ = make_views(np.random.default_rng(0))
    before = embedding().fit_transform(views)
    views["a"][:, column] = factor * views["a"][:, column] + shift
    assert_allclose(embedding().fit_transform(views), before, atol=1e-6)


@pytest.mark.parametrize("given", ["views", "gappy"])
def test_the_order_of_rows_does_not_matter(given, request, rng):
    X = request.getfixturevalue(given)
    order = rng.permutation(N)
    one = embedding().fit(X)
    other = embedding().fit({name: part[order] for name, part in X.items()})
    assert_same_up_to_sign(other.embedding_, one.embedding_[order], rtol=1e-5)
    assert_allclose(other.mode_weights_, one.mode_weights_, atol=1e-6)
    expected = one.mode_contributions_[order]
    assert_allclose(other.mode_contributions_, expected, atol=1e-5)


def test_the_order_of_modes_does_not_matter(gappy):
    one = embedding().fit(gappy)
    other = embedding().fit({name: gappy[name] for name in "cab"})
    assert_same_up_to_sign(other.embedding_, one.embedding_, rtol=1e-5)
    assert_allclose(other.mode_weights_, one.mode_weights_[[2, 0, 1]], atol=1e-6)


@pytest.mark.parametrize("given", ["views", "gappy"])
def test_fits_repeat_bit_for_bit(given, request):
    X = request.getfixturevalue(given)
    model = embedding().fit(X)
    assert_array_equal(embedding().fit_transform(X), model.embedding_)


# -- contributions ------------------------------------------------------------------


def test_contributions_are_lengths_of_what_each_mode_says(gappy):
    model = embedding().fit(gappy)
    V = model.eigenvectors_
    lengths = np.zeros((N, 3))
    for m, R in enumerate(mode_terms(gappy)):
        for i in range(N):
            lengths[i, m] = model.mode_weights_[m] * np.sqrt(((R[i] @ V) ** 2).sum())
    expected = lengths / lengths.sum(axis=1, keepdims=True)
    assert_allclose(model.mode_contributions_, expected, atol=1e-6)
    for i, rows in enumerate(MISSING.values()):
        assert not model.mode_contributions_[rows, i].any()


# -- new rows -----------------------------------------------------------------------


@pytest.fixture
def new_rows(rng):
    new = make_views(rng, 9)[0]
    new["a"][[0, 1]] = np.nan
    new["b"][[1, 2]] = np.nan
    return new


@pytest.mark.parametrize("given", ["views", "gappy"])
def test_rows_of_the_fit_come_back(given, request):
    X = request.getfixturevalue(given)
    model = embedding().fit(X)
    assert_array_equal(model.transform(X), model.embedding_)
    some = {name: part[[30, 3, 2]] for name, part in X.items()}
    assert_array_equal(model.transform(some), model.embedding_[[30, 3, 2]])


@pytest.mark.parametrize("given", ["views", "gappy"])
def test_new_rows_take_the_mean_of_their_neighbours(given, request, new_rows):
    """v(x) = sum_m beta_m (mean of R_m V over neighbours, less q) / sum_m v'R_m v."""
    X = request.getfixturevalue(given)
    model = embedding().fit(X)
    V, terms = model.eigenvectors_, mode_terms(X)
    expected, shares = np.zeros((9, D)), np.zeros((9, 3))
    for i in range(9):
        above, below = np.zeros(D), np.zeros(D)
        for m, name in enumerate(X):
            x = new_rows[name][i]
            if np.isnan(x).any():
                continue
            known = np.flatnonzero(~np.isnan(X[name]).any(axis=1))
            mean, std = X[name][known].mean(axis=0), X[name][known].std(axis=0)
            chosen = nearest((x - mean) / std, (X[name][known] - mean) / std)[:K]
            RV = terms[m] @ V
            pull = RV[known[chosen]].mean(axis=0) - RV.mean(axis=0)
            above += model.mode_weights_[m] * pull
            below += model.mode_weights_[m] * np.diag(V.T @ RV)
            shares[i, m] = model.mode_weights_[m] * np.sqrt((pull**2).sum())
        expected[i] = above / below
    assert_allclose(model.transform(new_rows), expected, atol=1e-6)
    shares /= shares.sum(axis=1, keepdims=True)
    assert_allclose(model.contributions(new_rows), shares, atol=1e-5)


def test_new_rows_land_near_the_rows_they_are_like(rng):
    views, group = make_views(rng, 90)
    model = MultiModalGraphEmbedding(2).fit(views)
    near = {name: X + 1e-3 * X.std(axis=0) for name, X in views.items()}
    found = model.transform(near)
    apart = np.linalg.norm(found - model.embedding_, axis=1)
    spread = np.linalg.norm(model.embedding_[:, None] - model.embedding_, axis=2)
    assert apart.max() < np.median(spread)
    assert np.median(apart) < 0.2 * np.median(spread)
    centres = [model.embedding_[group == g].mean(axis=0) for g in range(3)]
    distances = [np.linalg.norm(found - centre, axis=1) for centre in centres]
    assert (np.argmin(distances, axis=0) == group).mean() > 0.9


@pytest.mark.parametrize("params", [{}, {"kernel": "linear"}, {"scaling": "unit"}])
def test_a_row_is_placed_by_itself(params, gappy, new_rows):
    model = embedding(**params).fit(gappy)
    together, shares = model.transform(new_rows), model.contributions(new_rows)
    for i in range(9):
        alone = {name: X[i : i + 1] for name, X in new_rows.items()}
        assert_allclose(model.transform(alone)[0], together[i], atol=1e-12)
        assert_allclose(model.contributions(alone)[0], shares[i], atol=1e-12)


def test_new_rows_may_miss_modes(views, new_rows):
    model = embedding().fit(views)
    assert np.isfinite(model.transform(new_rows)).all()
    shares = model.contributions(new_rows)
    assert_allclose(shares.sum(axis=1), 1)
    missing = np.column_stack([np.isnan(X).any(axis=1) for X in new_rows.values()])
    assert_array_equal(shares == 0, missing)


def test_a_table_left_out_is_a_mode_that_all_miss(views, new_rows):
    model = embedding().fit(views)
    only = {"c": new_rows["c"]}
    empty = {name: np.full_like(new_rows[name], np.nan) for name in "ab"}
    assert_array_equal(model.transform(only), model.transform({**empty, **only}))
    shares = model.contributions(only)
    assert not shares[:, :2].any()
    assert_allclose(shares[:, 2], 1, rtol=1e-14)


def test_an_unseen_category_is_placed_by_itself(views, rng):
    colours = rng.choice(["red", "green", "blue"], (N, 1)).astype(object)
    model = embedding(kernel="linear").fit({"a": views["a"], "colour": colours})
    unseen = np.array([["x"]] * 4, dtype=object)
    new = {"a": views["a"][:4] + 0.1, "colour": unseen}
    together = model.transform(new)
    for i in range(4):
        alone = {name: X[i : i + 1] for name, X in new.items()}
        assert_allclose(model.transform(alone)[0], together[i], atol=1e-10)


# -- numbers of single precision ----------------------------------------------------


@pytest.mark.parametrize("as_table", [False, True])
@pytest.mark.parametrize("kernel", [None, "linear"])
def test_single_precision_is_kept(as_table, kernel, gappy):
    def given(dtype):
        parts = {name: X.astype(dtype) for name, X in gappy.items()}
        return np.hstack(list(parts.values())) if as_table else parts

    modes = {"a": slice(0, 4), "b": slice(4, 7), "c": slice(7, 9)}
    settings = {"modes": modes if as_table else None, "kernel": kernel}
    # the same numbers, so that both precisions see the same neighbours
    single, double = given(np.float32), given(np.float32)
    if as_table:
        double = double.astype(np.float64)
    else:
        double = {name: X.astype(np.float64) for name, X in double.items()}
    model = embedding(**settings).fit(single)
    assert model.embedding_.dtype == np.float32
    assert model.transform(single).dtype == np.float32
    assert_array_equal(model.transform(single), model.embedding_)
    reference = embedding(**settings).fit(double)
    assert reference.embedding_.dtype == np.float64
    assert largest_angle(model.embedding_, reference.embedding_) < 1e-2


# -- kernels ------------------------------------------------------------------------


def filled(views):
    """Standardised columns side by side, missing modes at their means, which are 0."""
    return np.hstack([np.nan_to_num(standardised(X)[0]) for X in views.values()])


@pytest.mark.parametrize("given", ["views", "gappy"])
def test_a_kernel_with_weak_graphs_is_pca(given, request):
    X = request.getfixturevalue(given)
    model = embedding(kernel="linear", graph_strength=1e-9).fit(X)
    table = filled(X) - filled(X).mean(axis=0)
    U, s, _ = np.linalg.svd(table, full_matrices=False)
    assert_same_up_to_sign(model.embedding_, (U * s)[:, :D], rtol=1e-6)
    assert_allclose(model.explained_variance_ratio_, (s**2 / (s**2).sum())[:D])


@pytest.mark.parametrize("given", ["views", "gappy"])
def test_a_kernel_with_strong_graphs_is_the_graphs(given, request):
    X = request.getfixturevalue(given)
    settings = {"weights": "equal", "scaling": "orthonormal"}
    model = embedding(kernel="linear", graph_strength=1e9, **settings).fit(X)
    assert (
        largest_angle(model.embedding_, embedding(**settings).fit_transform(X)) < 1e-6
    )


def test_a_kernel_is_added_at_a_strength_measured_in_its_top(gappy):
    """M = H K H + gamma sum beta R for some gamma > 0: V'MV says which."""
    model = embedding(kernel="linear", graph_strength=0.7).fit(gappy)
    K_, V = filled(gappy) @ filled(gappy).T, model.eigenvectors_
    R = weighted(model.mode_weights_, mode_terms(gappy))
    K_, R = centred(K_), centred(R)
    gamma = (model.eigenvalues_ - np.diag(V.T @ K_ @ V)) / np.diag(V.T @ R @ V)
    assert gamma[0] > 0
    assert_allclose(gamma, gamma[0], rtol=1e-6)
    assert largest_angle(V, top(K_ + gamma[0] * R)) < 1e-6
    assert_array_equal(model.transform(gappy), model.embedding_)


def test_a_kernel_without_strength_of_graphs_is_pca(views):
    model = embedding(kernel="linear", graph_strength=0).fit(views)
    U, s, _ = np.linalg.svd(filled(views), full_matrices=False)
    assert_same_up_to_sign(model.embedding_, (U * s)[:, :D], rtol=1e-6)


def test_a_kernel_sees_missing_zeros_and_ones_at_their_mean(views, rng):
    marks = (rng.random((N, 5)) < 0.7).astype(float)
    marks[:10] = np.nan
    X = {"a": views["a"], "marks": marks}
    model = embedding(kernel="linear", graph_strength=1e-9).fit(X)
    marks[:10] = np.nanmean(marks, axis=0)  # zeros and ones are as they are
    table = np.hstack([filled({"a": views["a"]}), marks])
    U, s, _ = np.linalg.svd(table - table.mean(axis=0), full_matrices=False)
    assert_same_up_to_sign(model.embedding_, (U * s)[:, :D], rtol=1e-6)


# -- metrics ------------------------------------------------------------------------


def metrics(model):
    return {name: graph.recipe.metric for name, graph in model._sources.items()}


def test_a_metric_for_all_modes(views):
    model = embedding(metric="manhattan").fit(views)
    assert metrics(model) == dict.fromkeys("abc", "manhattan")


def test_a_metric_for_some_modes(views):
    model = embedding(metric={"b": "cosine"}).fit(views)
    assert metrics(model) == {"a": "euclidean", "b": "cosine", "c": "euclidean"}
    assert {g.recipe.n_neighbors for g in model._sources.values()} == {K}


def test_a_recipe_is_taken_as_it_is(views):
    recipe = NeighborGraph(4, weight="heat")
    model = embedding(weights="equal", metric=recipe).fit(views)
    graphs = []
    for X in views.values():
        rows = standardised(X)[0]
        graphs.append(heat(recipe.bind(rows).build(rows).to_scipy().toarray()))
    assert largest_angle(model.embedding_, top(centred(sum(graphs)))) < 1e-6


def test_a_recipe_for_one_mode(views):
    recipe = CorrelationGraph(6)
    metric = {"a": recipe, "c": "manhattan"}
    model = embedding(weights="equal", metric=metric).fit(views)
    a, b, c = (standardised(X)[0] for X in views.values())
    M = heat(recipe.build(a).to_scipy().toarray())
    M = M + heat_of_neighbours(b) + heat_of_neighbours(c, "manhattan")
    assert largest_angle(model.embedding_, top(centred(M))) < 1e-6


def test_an_unknown_metric_is_refused(views):
    for metric in ("euclid", {"b": "euclid"}):
        with pytest.raises(GraphfoldError, match=r"metric must be .*euclid"):
            embedding(metric=metric).fit(views)


def test_a_metric_for_an_unknown_mode_is_refused(views):
    with pytest.raises(GraphfoldError, match="z"):
        embedding(metric={"z": "cosine"}).fit(views)


def test_an_unknown_response_is_refused(views):
    with pytest.raises(GraphfoldError, match=r"response must be .*got 'heat'"):
        embedding(response="heat").fit(views)
    with pytest.raises(GraphfoldError, match="response must name"):
        embedding(response={"z": None}).fit(views)


# -- tables of many kinds -----------------------------------------------------------


MARKS = range(9)


@pytest.fixture
def frame(rng):
    group = np.arange(90) % 3
    table = pd.DataFrame(
        {
            "height": rng.standard_normal(90) + 3 * group,
            "weight": rng.standard_normal(90) - 3 * group,
            **{
                f"mark{i}": rng.random(90) < 0.2 + 0.6 * (group == i % 3) for i in MARKS
            },
            "colour": np.array(["red", "green", "blue"])[group],
            "town": pd.Categorical(rng.choice(["here", "there"], 90)),
        },
        index=[f"p{i}" for i in range(90)],
    )
    return table, group


def test_a_pipeline_takes_a_frame_of_many_kinds(frame):
    X, group = frame
    pipeline = make_pipeline(
        MultiModalGraphEmbedding(2, scaling="unit"), LogisticRegression()
    )
    pipeline.fit(X[:60], group[:60])
    model = pipeline[0]
    assert model.mode_names_ == ["real", "binary", "categorical"]
    assert list(model.feature_names_in_) == list(X.columns)
    assert pipeline.score(X[60:], group[60:]) > 0.9
    clustering = make_pipeline(MultiModalGraphEmbedding(2), KMeans(3, random_state=0))
    assert clustering_error(group, clustering.fit_predict(X)) < 0.1


def test_output_as_a_frame(frame):
    X, _ = frame
    model = MultiModalGraphEmbedding(2).set_output(transform="pandas")
    Z = model.fit_transform(X)
    names = ["multimodalgraphembedding0", "multimodalgraphembedding1"]
    assert list(Z.columns) == list(model.get_feature_names_out()) == names
    assert list(Z.index) == list(X.index)
    assert_array_equal(Z, model.embedding_)
    later = model.transform(X[5:8])
    assert list(later.index) == ["p5", "p6", "p7"]
    assert_array_equal(later, model.embedding_[5:8])


@pytest.mark.parametrize("container", [sp.csr_array, sp.csc_array, sp.coo_array])
def test_sparse_rows(container, rng):
    """Neighbours do not mind a shift, so what is only scaled is seen alike."""
    X = rng.standard_normal((N, 8)) * (rng.random((N, 8)) < 0.7) + 0.0
    settings = {"modes": {"a": slice(0, 4), "b": [4, 5, 6, 7]}}
    model = embedding(**settings).fit(container(X))
    reference = embedding(**settings).fit(X)
    assert largest_angle(model.embedding_, reference.embedding_) < 1e-6
    assert_allclose(model.mode_weights_, reference.mode_weights_, atol=1e-6)
    assert_array_equal(model.transform(container(X)), model.embedding_)
    new = rng.standard_normal((5, 8))
    found = model.transform(container(new))
    assert_same_up_to_sign(
        np.vstack([model.embedding_, found]),
        np.vstack([reference.embedding_, reference.transform(new)]),
        rtol=1e-6,
    )


def test_a_sparse_table_beside_a_dense_one(views):
    sparse = {**views, "a": sp.csr_array(views["a"])}
    model, reference = embedding().fit(sparse), embedding().fit(views)
    assert_same_up_to_sign(model.embedding_, reference.embedding_, rtol=1e-6)


def test_a_sparse_row_of_nan_misses_the_mode(views):
    gone = np.zeros(N, dtype=bool)
    gone[[3, 7, 20]] = True
    dense = {**views, "a": np.where(gone[:, None], np.nan, views["a"])}
    stored = sp.lil_array(np.where(gone[:, None], 0.0, views["a"]))
    stored[gone, 1] = np.nan  # one entry says it
    sparse = {**views, "a": sp.csr_array(stored)}
    model, reference = embedding().fit(sparse), embedding().fit(dense)
    assert_same_up_to_sign(model.embedding_, reference.embedding_, rtol=1e-6)
    assert_allclose(model.mode_contributions_, reference.mode_contributions_, atol=1e-6)
    assert not model.mode_contributions_[gone, 0].any()
    assert_array_equal(model.transform(sparse), model.embedding_)
    marks = sp.csr_array(np.where(gone[:, None], np.nan, views["a"] > 0))
    assert embedding().fit({**views, "a": marks}).mode_kinds_[0] == "binary"


def test_a_sparse_table_beside_zeros_and_ones(views, rng):
    marks = rng.random((N, 12)) < 0.2
    X = {"a": sp.csr_array(views["a"]), "marks": marks}
    assert embedding().fit(X).mode_kinds_ == ["real", "binary"]


# -- copies -------------------------------------------------------------------------

SETTINGS = {
    "plain": {},
    "kernel": {"kernel": "linear"},
    "metrics": {"metric": {"a": "cosine", "b": CorrelationGraph(6)}},
    "recipe": {"metric": NeighborGraph(4, weight="heat")},
    "equal": {"weights": "equal", "laplacian": "combinatorial"},
}


def assert_same_model(one, other, new):
    assert_array_equal(other.embedding_, one.embedding_)
    assert_array_equal(other.transform(new), one.transform(new))
    assert_array_equal(other.contributions(new), one.contributions(new))
    assert_array_equal(other.mode_contributions_, one.mode_contributions_)
    assert_array_equal(other.mode_weights_, one.mode_weights_)
    assert other.mode_names_ == one.mode_names_
    assert other.mode_kinds_ == one.mode_kinds_
    assert other.formula_ == one.formula_


@pytest.mark.parametrize("params", SETTINGS.values(), ids=SETTINGS)
def test_a_saved_model_is_the_same(params, gappy, new_rows, tmp_path):
    model = embedding(**params).fit(gappy)
    model.save(tmp_path / "model.npz")
    loaded = graphfold.load(tmp_path / "model.npz")
    assert_same_model(model, loaded, new_rows)
    assert_array_equal(loaded.transform(gappy), model.embedding_)
    assert loaded.get_params() == model.get_params()


def test_a_saved_model_reads_frames_of_many_kinds(frame, tmp_path):
    X, _ = frame
    modes = {
        "body": ["height", "weight"],
        "other": ["colour", "town"],
        "marks": [*range(2, 11)],
    }
    model = MultiModalGraphEmbedding(2, modes=modes).fit(X[:60])
    model.save(tmp_path / "model.npz")
    loaded = graphfold.load(tmp_path / "model.npz")
    assert_same_model(model, loaded, X[60:].replace({"colour": {"red": "unseen"}}))
    with pytest.raises(ValueError, match="feature names"):
        loaded.transform(X[60:].rename(columns={"height": "size"}))


def test_a_model_with_slices_for_modes_is_saved(views, tmp_path):
    modes = {"a": slice(0, 2), "b": slice(2, 4)}
    model = embedding(modes=modes).fit(views["a"])
    model.save(tmp_path / "model.npz")
    loaded = graphfold.load(tmp_path / "model.npz")
    assert loaded.modes == modes
    assert_array_equal(loaded.transform(views["a"]), model.embedding_)


def test_a_selector_that_is_a_function_cannot_be_saved(frame, tmp_path):
    modes = [lambda X: ["height"], lambda X: ["colour"]]
    model = MultiModalGraphEmbedding(2, modes=modes).fit(frame[0])
    with pytest.raises(ModelFileError, match="modes"):
        model.save(tmp_path / "model.npz")


def test_pickle_and_clone(gappy, new_rows):
    model = embedding(kernel="linear", metric={"a": "cosine"}).fit(gappy)
    assert_same_model(model, pickle.loads(pickle.dumps(model)), new_rows)
    twin = clone(model)
    assert not hasattr(twin, "embedding_")
    assert twin.get_params() == model.get_params()
    assert_same_model(model, twin.fit(gappy), new_rows)


def test_what_was_given_stays_as_it_was(gappy):
    before = {name: X.copy() for name, X in gappy.items()}
    model = embedding().fit(gappy)
    kept = model.embedding_.copy()
    model.transform(gappy)
    for name, X in gappy.items():
        assert_array_equal(X, before[name])
        X[:] = 7.0  # and what is changed afterwards does not change the model
    assert_array_equal(model.transform(before), kept)
