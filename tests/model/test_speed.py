"""Seconds are operations over speeds: counted by hand on a machine of round speeds."""

import numpy as np
import pytest
import scipy.sparse as sp

from graphfold import kernels
from graphfold.model import speed
from graphfold.model.speed import Machine

MACHINE = Machine(products=1e6, thin=1e5, exponentials=1e4, sparse=1e3)
X = np.zeros((10, 3))
RBF, LINEAR = kernels.Gaussian(), kernels.Linear()
LOCAL = kernels.LocallyLinear(n_neighbors=5)
# of 10 rows and 3 columns: 100 entries of K, 6 operations each
TRIANGLE = 50 * 6 / 1e6 + 50 * 3 / 1e4
# 20 rounds of 4 columns against 40 * 10 * 4 numbers
ROUNDS = 80 * 1600 / 1e5
PRODUCTS = 80 * 200 / 1e5


@pytest.fixture
def probed(monkeypatch):
    asked = []
    monkeypatch.setattr(speed, "probe", lambda dtype: asked.append(dtype) or MACHINE)
    return asked


def seconds(used, storage, solver="krylov", rows=X, **more):
    return speed.exact_seconds(used, rows, storage, solver, 4, **more)


def test_a_kernel_matrix_takes_a_triangle_and_only_curved_ones_exponentials():
    several = [RBF, LINEAR, kernels.Precomputed()]
    found = speed.evaluation_seconds(several, X, MACHINE)
    assert found == pytest.approx(2 * 50 * 6 / 1e6 + 50 * 3 / 1e4)


@pytest.mark.parametrize(
    ("used", "storage", "solver", "once"),
    [
        ([RBF], "stored", "krylov", ROUNDS + PRODUCTS),
        ([RBF], "tiled", "krylov", ROUNDS + PRODUCTS + 20 * TRIANGLE),
        ([RBF], "stored", "lapack", 4 * 1000 / 1e6),
        ([], "none", "krylov", 20 * ROUNDS),
        ([LINEAR], "low-rank", "krylov", 60 * 4 * 120 / 1e5 + ROUNDS),
        ([LOCAL], "inverse", "krylov", 600 / 1e6 + 2 * 5000 * 4 * 60 / 1e3),
    ],
)
def test_one_solve_takes_its_products(used, storage, solver, once, probed):
    computed = TRIANGLE if storage == "stored" else 0
    # exactly: a search is short beside the products that follow it
    assert seconds(used, storage, solver) == pytest.approx(computed + once, rel=1e-12)
    assert probed == [np.float64]


def test_a_graph_adds_its_edges_and_a_second_solve(probed):
    once = ROUNDS + PRODUCTS + 80 * 30 / 1e3
    found = seconds([RBF], "stored", n_edges=30)
    assert found == pytest.approx(TRIANGLE + 2 * once)
    alone = seconds([], "none", n_edges=30)  # no kernel whose size is needed
    assert alone == pytest.approx(20 * ROUNDS + 80 * 30 / 1e3)


def test_weights_to_be_learned_take_three_solves(probed):
    kernels_twice = seconds([RBF, RBF], "stored")
    assert kernels_twice == pytest.approx(2 * TRIANGLE + 3 * (ROUNDS + 2 * PRODUCTS))
    bases_twice = seconds([RBF], "stored", n_bases=2)
    assert bases_twice == pytest.approx(
        TRIANGLE + 2 * 20 * 1000 / 1e6 + 3 * (ROUNDS + PRODUCTS)
    )
    one_basis = seconds([RBF], "stored", n_bases=1)
    assert one_basis == pytest.approx(TRIANGLE + 20 * 1000 / 1e6 + ROUNDS + PRODUCTS)


def test_sparse_rows_count_by_their_entries(probed):
    sparse = sp.csr_array(np.eye(10, 3))
    assert speed.operations_per_entry(sparse) == pytest.approx(2 * 3 / 10)
    found = seconds([LINEAR], "low-rank", rows=sparse)
    # the transpose of a sparse factor is the slower half
    assert found == pytest.approx(60 * 4 * (2 * 10 * 0.6) / (1e3 / 3) + ROUNDS)


def test_landmarks_take_features_a_span_and_rounds_where_refined(probed):
    how = {"n_edges": 30}
    features = 2 * (10 * 4 * 6 / 1e6 + 10 * 4 * 3 / 1e4)
    span = (4 * 10 * 16 + 10 * 64) / 1e6
    plain = speed.landmark_seconds([RBF, RBF], X, 4, 2, refined=False, **how)
    assert plain == pytest.approx(features + span)
    refined = speed.landmark_seconds([RBF, RBF], X, 4, 2, refined=True, **how)
    columns = 20 * 12
    rounds = columns * 4 * 40 / 1e5 + columns * 2 * 30 / 1e3
    assert refined == pytest.approx(features + span + rounds)
    assert probed == [np.float32, np.float32]


def test_robust_methods_pass_over_the_table_two_hundred_times(probed):
    passes, search = 8 * 30 / 1e4 + 10 * 30 / 1e3, 600 / 1e6
    found = speed.robust_seconds(X, with_vectors=False)
    assert found == pytest.approx(200 * passes + search)
    found = speed.robust_seconds(X, with_vectors=True)
    assert found == pytest.approx(200 * (passes + 12 * 30 * 3 / 1e5) + search)
    wide = np.zeros((80, 70), dtype=np.float32)  # of wide tables 50 vectors
    found = speed.robust_seconds(wide, with_vectors=True)
    numbers = 80 * 70
    passes = 8 * numbers / 1e4 + 10 * numbers / 1e3 + 12 * numbers * 50 / 1e5
    assert found == pytest.approx(200 * passes + 80 * 80 * 2 * 70 / 1e6)
    assert probed == [np.float64, np.float64, np.float32]


def test_a_search_compares_all_pairs(probed):
    assert speed.search_seconds(X) == pytest.approx(100 * (6 / 1e6 + 2e-9), rel=1e-12)
    assert probed == [np.float64]


def test_values_that_are_given_need_no_evaluation():
    given = kernels.Precomputed()
    assert speed.is_precomputed(given)
    assert speed.is_precomputed(kernels.OnColumns(given, 0, 2))
    assert not speed.is_precomputed(kernels.OnColumns(RBF, 0, 2))


def test_the_fastest_of_some_runs_counts_and_the_first_warms_up(monkeypatch):
    runs, ticks = [], iter([0.0, 5.0, 10.0, 12.0, 20.0, 23.0])
    monkeypatch.setattr(speed.time, "perf_counter", lambda: next(ticks))
    assert speed.fastest(lambda: runs.append(1)) == 2.0
    assert len(runs) == 4
    monkeypatch.setattr(speed.time, "perf_counter", lambda: 7.0)
    assert speed.fastest(lambda: None, times=1) == 1e-9  # a clock that stands still


def test_the_probe_divides_the_operations_it_has_run(monkeypatch):
    results = []
    monkeypatch.setattr(speed, "fastest", lambda run: results.append(run()) or 0.5)
    machine = speed.probe("float32")
    square, thin, curved, sparse = results
    assert [r.shape for r in results] == [
        (512, 512),
        (2000, 14),
        (512, 512),
        thin.shape,
    ]
    assert [r.dtype for r in results] == [np.float32] * 4
    assert machine.products == 2 * 512**3 / 0.5
    assert machine.thin == 2 * 2000**2 * 14 / 0.5
    assert machine.exponentials == 512**2 / 0.5
    assert machine.sparse == 20_000 * 14 / 0.5
    assert (thin == 2000).all()
    assert (sparse == 10).all()  # ten entries in each row
    assert curved is square  # in one room
    np.testing.assert_allclose(curved, np.e, rtol=1e-6)
