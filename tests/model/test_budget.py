"""Budgets are kept: peaks of real fits, each in a process of its own."""

import sys

import pytest

from graphfold.errors import BudgetError
from tests.peak import allowance, fit_of, measure

MB = 2**20

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self")


def gkpca(n, columns, **more):
    return {"estimator": "GraphKernelPCA", "n": n, "columns": columns, **more}


CASES = {
    # what a budget could have been broken by is far beyond the slack of the assertion
    "stored": (gkpca(5000, 50), "230MB", "stored"),
    "tiled": (
        gkpca(6000, 100, dtype="float32", settings={"max_iter": 3}),
        "40MB",
        "tiled",
    ),
    "tiled, float64": (gkpca(5000, 40, settings={"max_iter": 3}), "64MB", "tiled"),
    "tiled with a graph": (
        gkpca(6000, 100, dtype="float32", degree=10, settings={"max_iter": 3}),
        "40MB",
        "tiled",
    ),
    "two kernels in tiles": (
        gkpca(
            4000,
            10,
            kernels=["rbf", "poly"],
            settings={"max_iter": 3, "weights": "equal"},
        ),
        "64MB",
        "tiled",
    ),
    "sparse in tiles": (
        gkpca(4000, 3000, density=0.01, settings={"max_iter": 3}),
        "64MB",
        "tiled",
    ),
    "low-rank": (gkpca(6000, 500, settings={"kernel": "linear"}), "80MB", "low-rank"),
    "sparse low-rank": (
        gkpca(6000, 3000, density=0.01, settings={"kernel": "linear"}),
        "64MB",
        "low-rank",
    ),
    "lapack": (gkpca(2500, 20, settings={"solver": "lapack"}), "260MB", "stored"),
    "the way back": (
        gkpca(4500, 20, settings={"kernel": "linear", "fit_inverse_transform": True}),
        "170MB",
        "low-rank",
    ),
    "the way back, by landmarks": (
        gkpca(4500, 20, settings={"kernel": "linear", "fit_inverse_transform": True}),
        "60MB",
        "compressed",
    ),
    "landmarks": (
        gkpca(30000, 30, dtype="float32", degree=10, settings={"landmarks": 300}),
        "90MB",
        "features",
    ),
    "centres of wide rows": (
        gkpca(9000, 1500, dtype="float32", settings={"landmarks": 300}),
        "110MB",
        "features",
    ),
    "landmarks in little room": (
        gkpca(30000, 30, dtype="float32", degree=10, settings={"landmarks": 300}),
        "45MB",
        "compressed",
    ),
    "landmarks that nobody asked for": (
        gkpca(30000, 30, dtype="float32", degree=10),
        "24MB",
        "compressed",
    ),
    "inverse": (
        {
            "estimator": "LocalNonlinearEmbedding",
            "n": 5000,
            "columns": 20,
            "settings": {"order": 1, "n_neighbors": 10},
        },
        "64MB",
        "inverse",
    ),
    "fista": (
        {
            "estimator": "FastRobustGraphPCA",
            "n": 6000,
            "columns": 200,
            "degree": 10,
            "settings": {"max_iter": 10},
        },
        "128MB",
        "table",
    ),
    "admm": (
        {
            "estimator": "RobustGraphPCA",
            "n": 6000,
            "columns": 200,
            "degree": 10,
            "settings": {"max_iter": 5},
        },
        "170MB",
        "table",
    ),
}


#: those of every day: a matrix in memory, in tiles, and landmarks
OFTEN = ("stored", "tiled", "landmarks in little room")


@on_linux
@pytest.mark.parametrize(
    ("request_", "budget", "storage"),
    [
        pytest.param(*case, id=name, marks=[] if name in OFTEN else pytest.mark.slow)
        for name, case in CASES.items()
    ],
)
def test_the_peak_stays_within_the_budget(request_, budget, storage):
    found = measure({**request_, "budget": budget})
    assert found.get("storage") == storage, found
    allowed = int(budget[:-2]) * MB
    assert found["planned"] <= allowed
    assert found["measured"] <= 1.15 * allowed + allowance()
    assert found["measured"] <= 1.15 * found["planned"] + allowance()


@pytest.mark.parametrize(("request_", "budget", "storage"), CASES.values(), ids=CASES)
def test_a_budget_for_nothing_is_refused_in_a_sentence(request_, budget, storage):
    model, X = fit_of(request_, request_["n"])
    model.set_params(max_memory="3KB")
    for attempt in (model.plan, model.fit):
        with pytest.raises(BudgetError, match=r"max_memory must be .* got 0 MB"):
            attempt(X)
