"""graph_strength="auto": finds a graph that helps, and drops one that does not."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import graphfold
from graphfold import Graph, GraphKernelPCA, NeighborGraph
from graphfold.errors import GraphfoldError
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


def test_progress_is_told(rng, capsys):
    X, _, graph = planted(rng, n=60)
    GraphKernelPCA(2, graph=graph, graph_strength="auto", verbose=2).fit(X)
    assert "strength path" in capsys.readouterr().err
