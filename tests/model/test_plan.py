"""Plans: which way, how many landmarks, how much memory, and when to refuse."""

import numpy as np
import pytest
import scipy.sparse as sp

import graphfold
from graphfold import (
    FastRobustGraphPCA,
    GraphKernelPCA,
    MultiModalGraphEmbedding,
    NeighborGraph,
    RobustGraphPCA,
    kernels,
)
from graphfold.errors import BudgetError
from graphfold.estimators.planning import known_edges, n_recipes, with_searches
from graphfold.model import memory
from graphfold.model.plan import Plan, lean_landmarks, make_plan
from graphfold.model.speed import probe
from graphfold.stores import RowStore
from tests.peak import ring

MB, GB = 2**20, 2**30


class Rows:
    """A table that is all shape: plans touch no number."""

    def __init__(self, n, columns, dtype=np.float32):
        self.shape, self.dtype = (n, columns), np.dtype(dtype)

    def __getitem__(self, rows):
        count = len(range(*rows.indices(self.shape[0])))
        return np.zeros((count, self.shape[1]), self.dtype)


def planned(X, d=10, kernel=None, **how):
    kernel = kernels.Gaussian() if kernel is None else kernel
    how = {"solver": "auto", "max_memory": None, **how}
    return make_plan([kernel], X, d, **how)


def test_exact_is_the_usual_way():
    plan = planned(Rows(5000, 20))
    assert (plan.way, plan.storage, plan.landmarks, plan.rank) == (
        "exact",
        "stored",
        None,
        None,
    )


def test_mnist_is_tiled_in_two_gigabytes():
    plan = planned(Rows(70_000, 784), max_memory=2 * GB)
    assert (plan.way, plan.storage) == ("exact", "tiled")
    assert plan.peak_bytes < 2 * GB


def test_where_no_tile_fits_landmarks_are_taken():
    X = Rows(1_000_000, 50)
    plan = planned(X, max_memory=GB)
    assert (plan.way, plan.storage) == ("landmarks", "compressed")
    assert plan.landmarks <= 1000
    assert 26 <= plan.rank < plan.landmarks
    assert plan.peak_bytes <= GB
    with pytest.raises(BudgetError, match="max_memory must be at least"):
        planned(X, max_memory=GB, exact_only=True)


def test_landmarks_are_taken_when_asked_for():
    plan = planned(Rows(70_000, 784), landmarks=300, refined=True)
    assert (plan.way, plan.storage) == ("landmarks", "features")
    assert (plan.landmarks, plan.rank, plan.solver) == (300, 300, "chebyshev")
    assert "300 landmarks of 70,000 rows" in str(plan)
    assert planned(Rows(100, 5), landmarks=300).landmarks == 100


def test_features_are_cut_to_the_rank_that_fits():
    X = Rows(1_000_000, 50)
    free = planned(X, landmarks=500, refined=True, max_memory=8 * GB)
    assert (free.storage, free.rank) == ("features", 500)
    tight = planned(X, landmarks=500, refined=True, max_memory=2 * GB)
    assert tight.storage == "compressed"
    assert 26 <= tight.rank < 500
    assert 2 * GB - memory.feature_bytes(X.shape[0], 1) < tight.peak_bytes <= 2 * GB
    assert "rank" in str(tight)


def test_more_edges_take_more_memory():
    X = Rows(100_000, 10)
    less = planned(X, landmarks=100)
    more = planned(X, landmarks=100, n_edges=1_000_000)
    assert more.peak_bytes - less.peak_bytes >= 2 * 12 * 1_000_000  # L and S
    exact = (
        planned(X, max_memory=4 * GB),
        planned(X, max_memory=4 * GB, n_edges=1_000_000),
    )
    assert exact[1].peak_bytes > exact[0].peak_bytes


def test_landmarks_that_do_not_fit_are_refused():
    with pytest.raises(BudgetError, match="with 1,000 landmarks; got 100 MB"):
        planned(Rows(1_000_000, 50), landmarks=1000, max_memory=100 * MB)


def test_on_disk_rows_cost_the_landmark_way_nothing(tmp_path):
    shape = (200_000, 200)
    table = np.memmap(tmp_path / "X", dtype=np.float32, mode="w+", shape=shape)
    how = {"landmarks": 50, "keeps_rows": True}
    stored, held = (planned(X, **how) for X in (RowStore(table), Rows(*shape)))
    assert held.peak_bytes - stored.peak_bytes == 200_000 * 200 * 4
    budget = 180 * MB
    assert planned(table, max_memory=budget).way == "landmarks"
    with pytest.raises(BudgetError, match="max_memory must be at least"):
        planned(Rows(*shape), max_memory=budget, keeps_rows=True)


@pytest.mark.parametrize(
    "kernel",
    [kernels.Precomputed(), kernels.LocallyLinear(), kernels.Geodesic()],
    ids=["precomputed", "local", "geodesic"],
)
def test_kernels_that_cannot_be_sampled_are_refused(kernel):
    with pytest.raises(BudgetError, match="leanest way"):
        planned(Rows(30_000, 30_000), kernel=kernel, max_memory=50 * MB)


def test_landmarks_shrink_until_they_fit():
    X = Rows(20_000, 4)
    plan = lean_landmarks([kernels.Gaussian()], X, 2, 12 * MB, refined=False, n_edges=0)
    assert plan.peak_bytes <= 12 * MB
    assert 18 <= plan.landmarks < 1000


def test_a_budget_for_nothing_is_refused():
    with pytest.raises(BudgetError, match=r"got 0 MB"):
        planned(Rows(5000, 20), max_memory=1000)


def test_sparse_rows_are_counted_by_their_entries():
    X = sp.csr_array(sp.diags_array([1.0, 2.0], offsets=[0, 7], shape=(2000, 100_000)))
    assert memory.copy_of_rows(X) < 20 * X.nnz
    assert planned(X, landmarks=50).peak_bytes < 20 * MB


ESTIMATORS = [
    "GraphKernelPCA",
    "SemiSupervisedGraphKernelPCA",
    "MultiModalGraphEmbedding",
    "LocalNonlinearEmbedding",
    "LaplacianEigenmaps",
    "GraphLaplacianPCA",
    "RobustGraphPCA",
    "FastRobustGraphPCA",
]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_has_a_plan(name, rng):
    X = rng.standard_normal((300, 6))
    model = getattr(graphfold, name)(2)
    plan = model.plan(X)
    assert isinstance(plan, Plan)
    assert (plan.n, plan.n_components) == (300, 2)
    assert plan.peak_bytes > 0
    assert plan.seconds > 0
    assert plan.solver in str(plan)
    assert not hasattr(model, "n_features_in_")  # nothing was fitted


@pytest.mark.parametrize("model", [RobustGraphPCA(2), FastRobustGraphPCA(2)])
def test_the_robust_methods_refuse_a_small_budget(model, rng):
    X = rng.standard_normal((200, 6))
    model.set_params(max_memory="10KB")
    for attempt in (model.plan, model.fit):
        with pytest.raises(BudgetError, match="max_memory must be at least"):
            attempt(X)
    assert not hasattr(model, "embedding_")


def test_a_plan_of_modes_counts_their_kernel(rng):
    X = rng.standard_normal((1200, 6))
    plain = MultiModalGraphEmbedding(2, modes=2).plan(X)
    assert plain.storage == "none"
    assert MultiModalGraphEmbedding(2, modes=2, kernel="rbf").plan(X).storage == (
        "stored"
    )


def test_edges_are_counted_without_building_a_graph(rng):
    X = rng.standard_normal((50, 3))
    graph = NeighborGraph(4).build(X)
    nnz = graph.to_scipy().nnz
    assert known_edges(graph, 50) == nnz
    assert known_edges(NeighborGraph(4), 50) == 400
    assert known_edges({"a": graph, "b": graph.to_scipy()}, 50) == 2 * nnz
    assert known_edges(None, 50) == known_edges([(0, 1), (1, 2)], 50) == 0


def test_a_recipe_takes_time():
    X, graph = np.zeros((300, 10)), ring(300)
    plan = GraphKernelPCA(2, kernel=None, graph=graph).plan(X)
    assert with_searches(plan, X, 2).seconds > plan.seconds > 0
    assert with_searches(plan, X, 0) is plan
    assert n_recipes({"a": NeighborGraph(5), "b": graph}) == 1


def test_the_probe_finds_speeds():
    machine = probe(np.float32)
    speeds = (machine.products, machine.thin, machine.sparse, machine.exponentials)
    assert all(0 < speed < np.inf for speed in speeds)
