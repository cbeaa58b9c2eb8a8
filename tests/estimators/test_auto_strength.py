"""graph_strength="auto": finds a graph that helps, and drops one that does not."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.neighbors import kneighbors_graph

import graphfold
from graphfold import Graph, GraphKernelPCA, NeighborGraph
from graphfold.errors import GraphfoldError, UnusedGraphWarning
from graphfold.model.column_groups import column_groups
from graphfold.quality import rewired


def planted(rng, n=240, n_columns=24):
    """Noisy rows of four groups, and a graph that mostly links rows of one group."""
    group = np.arange(n) % 4
    centres = rng.standard_normal((4, n_columns))
    X = centres[group] + 3.0 * rng.standard_normal((n, n_columns))
    same = group[:, None] == group[None]
    A = np.triu(rng.random((n, n)) < np.where(same, 0.15, 0.01), 1).astype(float)
    return X, group, Graph(A + A.T)


def separation(Z, group):
    """Share of rows whose nearest group centre is their own."""
    centres = np.array([Z[group == g].mean(axis=0) for g in range(4)])
    gaps = ((Z[:, None] - centres[None]) ** 2).sum(axis=2)
    return float((gaps.argmin(axis=1) == group).mean())


@pytest.mark.parametrize("how", ["auto", "auto-edges"])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_graph_that_helps_is_heard(seed, how):
    X, group, graph = planted(np.random.default_rng(seed))
    model = GraphKernelPCA(3, graph=graph, graph_strength=how, scaling="unit").fit(X)
    assert model.graph_strength_ >= 0.3
    fixed = [
        separation(
            GraphKernelPCA(3, graph=graph, graph_strength=s, scaling="unit")
            .fit(X)
            .embedding_,
            group,
        )
        for s in np.geomspace(0.01, 100, 9)
    ]
    assert separation(model.embedding_, group) >= max(fixed) - 0.04
    path = model.strength_path_
    assert path.scored_by == ("columns" if how == "auto" else "edges")
    assert path.gains[path.strengths == path.chosen] > 0


@pytest.mark.filterwarnings("ignore::graphfold.errors.UnusedGraphWarning")
@pytest.mark.parametrize("how", ["auto", "auto-edges"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_graph_that_misleads_is_dropped(seed, how):
    X, group, graph = planted(np.random.default_rng(seed))
    misleading = rewired(graph, random_state=seed)
    model = GraphKernelPCA(3, graph=misleading, graph_strength=how, scaling="unit").fit(
        X
    )
    none = GraphKernelPCA(3, scaling="unit").fit(X)
    assert model.graph_strength_ <= 0.1
    gap = separation(none.embedding_, group) - separation(model.embedding_, group)
    assert gap <= 0.02


def test_the_path_is_as_reported(rng):
    X, _, graph = planted(rng)
    model = GraphKernelPCA(2, graph=graph, graph_strength="auto").fit(X)
    again = GraphKernelPCA(2, graph=graph, graph_strength=model.graph_strength_).fit(X)
    assert_allclose(model.eigenvalues_, again.eigenvalues_, rtol=1e-8)
    path = model.strength_path_
    assert path.strengths[0] == 0
    assert path.scores.shape == (len(path.strengths), 20)
    assert not hasattr(again, "strength_path_")


@pytest.mark.filterwarnings("ignore::graphfold.errors.UnusedGraphWarning")
def test_the_held_out_columns_are_not_seen(rng):
    """A recipe builds its graph from the columns that are left, so pure noise with a
    graph made from itself foretells nothing."""
    X = rng.standard_normal((150, 12))
    model = GraphKernelPCA(2, graph=NeighborGraph(8), graph_strength="auto").fit(X)
    assert model.graph_strength_ <= 0.1


def test_no_graph_no_strength(points):
    model = GraphKernelPCA(2, graph_strength="auto").fit(points)
    assert model.graph_strength_ == 0
    with pytest.raises(GraphfoldError, match='"auto" or "auto-edges"; got \'car\''):
        GraphKernelPCA(2, graph_strength="car").fit(points)


def test_a_precomputed_kernel_is_judged_by_edges(rng):
    X, _, graph = planted(rng, n=120)
    model = GraphKernelPCA(
        2, kernel="precomputed", graph=graph, graph_strength="auto"
    ).fit(X @ X.T)
    assert model.strength_path_.scored_by == "edges"


def test_labels_and_files(rng, tmp_path):
    X, _, graph = planted(rng, n=120)
    names = np.array([f"n{i}" for i in range(120)])
    order = rng.permutation(120)
    known = Graph(graph.to_scipy(), nodes=names).subgraph(names[order])
    table = pd.DataFrame(X, index=names)
    for how in ("auto", "auto-edges"):
        model = GraphKernelPCA(2, graph=known, graph_strength=how).fit(table)
        plain = GraphKernelPCA(2, graph=graph, graph_strength=how).fit(X)
        assert model.graph_strength_ == pytest.approx(plain.graph_strength_, rel=2.4)
        assert model.graph_strength_ >= 0.3
    model.save(tmp_path / "m.npz")
    again = graphfold.load(tmp_path / "m.npz")
    assert str(again.strength_path_) == str(model.strength_path_)


@pytest.mark.filterwarnings("ignore::graphfold.errors.UnusedGraphWarning")
def test_progress_is_told(rng, capsys):
    X, _, graph = planted(rng, n=60)
    GraphKernelPCA(2, graph=graph, graph_strength="auto", verbose=2).fit(X)
    assert "strength path" in capsys.readouterr().err


# -- columns that determine each other -------------------------------------------------


def with_one_hot_columns(seed, levels, n=240):
    """Numbers of three groups, a graph of these, and categories that say nothing."""
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 3
    numbers = rng.standard_normal((3, 6))[group] + 1.5 * rng.standard_normal((n, 6))
    codes = [2.0 * np.eye(k)[rng.integers(0, k, n)] for k in levels]
    same = group[:, None] == group[None]
    A = np.triu(rng.random((n, n)) < np.where(same, 0.08, 0.01), 1).astype(float)
    return numbers, np.hstack([numbers, *codes]), A + A.T


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("levels", [(2, 2, 2, 3, 2), (2,) * 8], ids=str)
def test_one_hot_columns_do_not_silence_the_graph(seed, levels, container):
    """Each level is predicted by the others at any strength, best at 0."""
    numbers, X, A = with_one_hot_columns(seed, levels)
    plain = GraphKernelPCA(5, graph=A, graph_strength="auto").fit(numbers)
    model = GraphKernelPCA(5, graph=A, graph_strength="auto").fit(container(X))
    assert plain.graph_strength_ >= 1
    assert model.graph_strength_ >= 1
    assert model.strength_path_.scored_by == "columns"


def tables_of_one_dependence(rng, n=150):
    normals = rng.standard_normal((n, 3))
    return {
        "shares": rng.dirichlet(np.ones(8), n),
        "total": np.column_stack([normals, normals.sum(axis=1)]),
        "low rank": normals @ rng.standard_normal((3, 9)),
        "one code": np.eye(6)[rng.integers(0, 6, n)],
        "nested codes": np.hstack([np.eye(6), np.repeat(np.eye(2), 3, axis=0)])[
            rng.integers(0, 6, n)
        ],
        "shares and a constant": np.column_stack(
            [rng.dirichlet(np.ones(8), n), np.ones(n)]
        ),
        "copies": np.column_stack([normals[:, 0], 2 * normals[:, 0]]),
        "one column": normals[:, :1],
    }


@pytest.mark.filterwarnings("ignore::graphfold.errors.UnusedGraphWarning")
@pytest.mark.parametrize("name", tables_of_one_dependence(np.random.default_rng(0)))
def test_a_graph_that_has_nothing_to_do_with_dependent_columns_is_not_used(name):
    """In 4 of 5 tables at least: by chance one may pass two standard errors."""
    chosen = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        graph = kneighbors_graph(rng.random((150, 2)), 6)
        model = GraphKernelPCA(
            2, graph=graph.maximum(graph.T), graph_strength="auto"
        ).fit(tables_of_one_dependence(rng)[name])
        assert model.strength_path_.scored_by == "columns"
        chosen.append(model.graph_strength_)
    assert chosen.count(0) >= 4


@pytest.mark.parametrize("kind", ["shares", "total"])
def test_a_graph_that_matters_is_used_where_all_columns_are_dependent(rng, kind):
    X, _, graph = planted(rng)
    if kind == "shares":
        X = np.exp(X / 6)
        X /= X.sum(axis=1, keepdims=True)
    else:
        X = np.column_stack([X, X.sum(axis=1)])
    assert (column_groups(X) == 0).all()
    model = GraphKernelPCA(3, graph=graph, graph_strength="auto").fit(X)
    assert model.graph_strength_ > 0
    assert model.strength_path_.scored_by == "columns"


def test_where_no_column_can_be_predicted_the_path_says_so(rng, tmp_path):
    _, _, graph = planted(rng, n=120)
    code = np.eye(4)[np.arange(120) % 4]
    model = GraphKernelPCA(2, graph=graph, graph_strength="auto")
    with pytest.warns(UnusedGraphWarning, match='determine each other.*"auto-edges"'):
        model.fit(code)
    assert np.isnan(model.strength_path_.scores).all()
    model.save(tmp_path / "m.npz")
    again = graphfold.load(tmp_path / "m.npz")
    assert str(again.strength_path_) == str(model.strength_path_)


def test_a_strength_of_nought_is_said(rng):
    X = rng.standard_normal((150, 12))
    model = GraphKernelPCA(2, graph=NeighborGraph(8), graph_strength="auto")
    with pytest.warns(UnusedGraphWarning, match='"auto" chose 0') as caught:
        model.fit(X)
    assert caught[0].filename == __file__
    assert model.graph_strength_ == 0
    assert model.warnings_[0][0] == "UnusedGraphWarning"
    assert "strength_path_" in model.warnings_[0][1]
