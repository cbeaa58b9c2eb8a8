"""Peaks of plans: what is held at the same time, added up from its parts."""

import numpy as np
import pytest

from graphfold import kernels
from graphfold.errors import BudgetError
from graphfold.model import memory, plan, speed
from graphfold.model.plan import Plan, exact_plan, landmark_plan, make_plan
from tests.model.test_plan import Rows

MB, GB = 2**20, 2**30
RBF, LINEAR, POLY = kernels.Gaussian(), kernels.Linear(), kernels.Polynomial()
LOCAL, GIVEN = kernels.LocallyLinear(5), kernels.Precomputed()
N, D = 3000, 6
X = Rows(N, 40, np.float64)
COPY = N * 40 * 8
KRYLOV = memory.solver_bytes(N, 10, 8, thin=False)
THIN = memory.solver_bytes(N, 10, 8, thin=True)


@pytest.fixture(autouse=True)
def two_threads(monkeypatch):
    monkeypatch.setattr(plan, "n_threads", lambda: 2)


def peak(used, table=X, d=D, solver="krylov", budget=100 * GB, **more):
    return exact_plan(used, table, d, solver, budget, **more)


def test_a_stored_kernel_is_held_beside_the_rows_and_the_solve():
    found = peak([RBF])
    assert found.peak_bytes == COPY + N * N * 8 + max(KRYLOV, COPY)
    assert (found.storage, found.solver, found.strip) == ("stored", "krylov", 1024)
    assert (found.n, found.n_components, found.seconds) == (N, D, 0.0)
    wide = Rows(N, 2000, np.float64)  # rows are centred while a kernel is computed
    assert peak([RBF], wide).peak_bytes == 2 * N * 2000 * 8 + N * N * 8


def test_single_precision_halves_it():
    single = Rows(N, 40, np.float32)
    assert 2 * peak([RBF], single).peak_bytes == peak([RBF]).peak_bytes


def test_edges_are_held_three_times_and_bases_whole():
    plain = peak([RBF]).peak_bytes
    assert peak([RBF], n_edges=1000).peak_bytes == plain + 3 * 12 * 1000
    assert peak([RBF], n_bases=2).peak_bytes == plain + 5 * 8 * N * N


def test_a_graph_alone_may_be_factored():
    found = peak([], n_edges=1000)
    assert found.storage == "none"
    assert found.peak_bytes == COPY + 36 * 1000 + THIN + 10 * 12 * 1000


def test_a_factor_is_a_table_of_its_own_unless_it_is_the_rows():
    found = peak([LINEAR])
    assert found.storage == "low-rank"
    assert found.peak_bytes == COPY + max(THIN, memory.median_bytes(N, 8))
    wide = memory.solver_bytes(N, 64, 8, thin=True)  # more than the median takes
    assert peak([LINEAR], d=60).peak_bytes == COPY + wide
    normalised = peak([kernels.Cosine()])
    assert normalised.storage == "low-rank"
    assert normalised.peak_bytes == COPY + max(COPY + THIN, memory.median_bytes(N, 8))


def test_local_weights_are_of_double_precision():
    single = Rows(N, 40, np.float32)
    found = peak([LOCAL], single)
    local = memory.local_bytes([LOCAL], single)
    assert found.storage == "inverse"
    assert found.peak_bytes == COPY // 2 + THIN + local


def test_given_kernels_are_copied_and_of_several_there_is_a_sum():
    square = Rows(N, N, np.float64)
    held = N * N * 8
    pairs = held + memory.median_bytes(N, 8)
    assert peak([GIVEN], square).peak_bytes == max(held + KRYLOV, pairs)
    assert peak([GIVEN, GIVEN], square).peak_bytes == 2 * held + KRYLOV


def test_lapack_is_left_where_its_copies_do_not_fit():
    small = Rows(150, 4, np.float64)
    solve = memory.solver_bytes(150, 10, 8, thin=False)
    base = 150 * 4 * 8 + 150 * 150 * 8 + solve
    whole = 4 * 150 * 150 * 8
    fits = peak([RBF], small, solver="auto", budget=base + whole)
    assert (fits.solver, fits.peak_bytes) == ("lapack", base + whole)
    less = peak([RBF], small, solver="auto", budget=base + whole - 1)
    assert (less.solver, less.peak_bytes) == ("krylov", base)
    assert less.reason == "LAPACK's copies of the matrix exceed max_memory"
    asked = peak([RBF], small, solver="lapack", budget=1)
    assert (asked.solver, asked.storage) == ("lapack", "stored")
    assert asked.peak_bytes == base + whole


def test_a_kernel_that_does_not_fit_is_computed_in_the_largest_tiles_that_do():
    kept = COPY + KRYLOV
    median = COPY + memory.median_bytes(N, 8)
    fits = peak([RBF]).peak_bytes
    assert peak([RBF], budget=fits).storage == "stored"
    for side in (1024, 512, 256, 128, 64):
        tiles = 2 * 8 * (3 * side * side + 2 * side * 40)
        if kept + tiles >= fits:
            continue
        found = peak([RBF], budget=kept + tiles)
        assert (found.storage, found.strip) == ("tiled", side)
        assert found.peak_bytes == max(kept + tiles, median)
    assert peak([RBF], budget=1).strip == 64  # smaller tiles are not worth it
    least = peak([LOCAL, RBF], budget=1)
    assert least.storage == "stored"  # a local kernel has no tiles


def test_without_a_budget_a_share_of_the_free_memory_counts(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 1)
    assert peak([RBF], budget=None).storage == "tiled"
    assert (
        landmark_plan([RBF], X, D, 500, None, refined=False, n_edges=0).rank == D + 16
    )
    monkeypatch.setattr(memory, "free_memory", lambda: 100 * GB)
    assert peak([RBF], budget=None).storage == "stored"


def test_storage_follows_the_kernels():
    assert plan.usual_storage([], X) == "none"
    assert plan.usual_storage([LOCAL, LOCAL], X) == "inverse"
    assert plan.usual_storage([LOCAL, RBF], X) == "stored"
    assert plan.usual_storage([LINEAR, LINEAR], X) == "low-rank"
    assert plan.usual_storage([LINEAR, RBF], X) == "stored"
    assert plan.usual_storage([GIVEN], Rows(N, N)) == "stored"
    assert plan.precision([LOCAL, RBF], Rows(3, 3)) == 8
    assert plan.precision([RBF], Rows(3, 3)) == 4


def test_only_kernels_known_for_any_two_rows_can_be_sampled():
    assert plan.can_be_sampled([RBF, LINEAR])
    for used in ([], [GIVEN], [LOCAL], [RBF, GIVEN], [RBF, LOCAL]):
        assert not plan.can_be_sampled(used)
    assert plan.tileable([RBF, GIVEN])
    assert not plan.tileable([RBF, LOCAL])


def landmarks(m=200, budget=100 * GB, used=(RBF,), refined=True, **more):
    how = {"refined": refined, "n_edges": 0, **more}
    return landmark_plan(used, X, D, m, budget, **how)


def beside(m, refined=True, **more):
    return memory.landmark_bytes(X, D, m, refined=refined, n_threads=2, **more)


def test_landmarks_hold_features_of_each_kernel():
    found = landmarks()
    assert (found.storage, found.rank, found.landmarks) == ("features", 200, 200)
    assert (found.way, found.solver, found.strip) == ("landmarks", "chebyshev", 2048)
    assert found.reason == "of the whole operator"
    assert found.peak_bytes == beside(200) + 4 * N * 200
    assert landmarks(used=(RBF, POLY)).peak_bytes == beside(200) + 4 * N * 400
    plain = landmarks(refined=False)
    assert (plain.solver, plain.reason) == ("lapack", "in the span of 200 landmarks")
    assert plain.peak_bytes == beside(200, False) + 4 * N * 200
    # a graph widens a span that is the answer: three times the features on the way
    wide = landmarks(refined=False, n_edges=100)
    assert wide.peak_bytes == beside(200, False, n_edges=100) + 4 * N * 600
    assert landmarks(n_edges=100).peak_bytes == beside(200, n_edges=100) + 4 * N * 200
    kept = landmarks(keeps_rows=True)
    assert kept.peak_bytes == found.peak_bytes + COPY


def test_features_are_cut_to_the_rank_that_fits_and_no_less_than_needed():
    for rank in (23, 100, 199):
        found = landmarks(budget=beside(200) + 4 * N * rank)
        assert (found.storage, found.rank) == ("compressed", rank)
        assert found.peak_bytes == beside(200) + 4 * N * rank
    assert landmarks(budget=beside(200) + 4 * N * 101 - 1).rank == 100
    assert landmarks(budget=0).rank == D + 16
    assert landmarks(m=10, budget=0).rank == 10


def test_the_way_back_of_landmarks_is_a_kernel_of_its_rows():
    rows_back = 2500
    back = memory.way_back_bytes(X, rows_back)
    assert landmarks(rows_back=rows_back).peak_bytes == back
    assert landmarks(rows_back=10).peak_bytes == landmarks().peak_bytes


def made(used=(RBF,), table=X, d=D, solver="krylov", max_memory=None, **more):
    return make_plan(used, table, d, solver=solver, max_memory=max_memory, **more)


def test_graphs_that_need_a_basis_are_counted_in_every_plan():
    more = made(n_bases=2, n_edges=50).peak_bytes - made().peak_bytes
    assert more == 5 * 8 * N * N + 3 * 12 * 50


def test_the_way_back_of_an_exact_fit_is_a_kernel_of_all_rows():
    found = made([LINEAR], rows_back=1).peak_bytes
    assert found == COPY + memory.way_back_bytes(X, N)
    assert made([LINEAR]).peak_bytes < found


def test_landmarks_that_are_asked_for_learn_the_way_back_from_their_rows():
    found = made(landmarks=100, refined=True, rows_back=10**6)
    assert found.peak_bytes == memory.way_back_bytes(X, N)


def test_a_budget_that_is_just_enough_is_enough():
    table = Rows(20_000, 10, np.float64)
    leanest = made(table=table, max_memory=64 * MB).peak_bytes
    assert leanest <= 64 * MB
    asked = made(table=table, landmarks=100, max_memory=GB).peak_bytes
    tight = made(table=table, landmarks=100, max_memory=asked)
    assert tight.peak_bytes == asked
    least = landmark_plan([RBF], table, D, 100, 0, refined=False, n_edges=0)
    with pytest.raises(BudgetError, match="with 100 landmarks"):
        made(table=table, landmarks=100, max_memory=least.peak_bytes - 1)
    exact = made([LOCAL], table=table).peak_bytes
    assert made([LOCAL], table=table, max_memory=exact).peak_bytes == exact
    with pytest.raises(BudgetError, match="by the leanest way"):
        made([LOCAL], table=table, max_memory=exact - 1)


def test_the_fewest_landmarks_are_the_leanest_that_an_error_names():
    table = Rows(20_000, 10, np.float64)
    fewest = landmark_plan([RBF], table, D, D + 16, 1000, refined=False, n_edges=0)
    smallest = min(fewest.peak_bytes, peak([RBF], table, budget=1000).peak_bytes)
    with pytest.raises(BudgetError) as caught:
        made(table=table, max_memory=1000)
    assert f"at least {smallest / MB:,.0f} MB for 20,000 rows and 6" in str(
        caught.value
    )
    assert str(caught.value).endswith("by the leanest way; got 0 MB")


def test_lean_landmarks_are_three_quarters_of_those_before():
    table = Rows(20_000, 4, np.float32)

    def lean(budget):
        how = {"refined": False, "n_edges": 0}
        return plan.lean_landmarks([RBF], table, 2, budget, **how)

    def needed(m):
        how = {"refined": False, "n_edges": 0}
        return landmark_plan([RBF], table, 2, m, 0, **how).peak_bytes

    assert lean(GB).landmarks == 1000
    assert lean(needed(1000)).landmarks == 1000
    assert lean(needed(1000) - 1).landmarks == 750
    assert lean(needed(750) - 1).landmarks == 562
    assert lean(0).landmarks == 18
    few = Rows(12, 4, np.float32)
    assert (
        plan.lean_landmarks([RBF], few, 2, 0, refined=False, n_edges=0).landmarks == 12
    )


def test_seconds_are_told_where_they_are_asked_for(monkeypatch):
    asked = []

    def seconds(*arguments, **more):
        asked.append((arguments[2:], more))
        return 7.0

    monkeypatch.setattr(speed, "exact_seconds", seconds)
    monkeypatch.setattr(speed, "landmark_seconds", seconds)
    assert made().seconds == made(landmarks=50).seconds == 0.0
    assert not asked
    assert made(timed=True, n_edges=5, n_bases=1).seconds == 7.0
    assert asked.pop() == (("stored", "krylov", 10), {"n_edges": 5, "n_bases": 1})
    made(timed=True, d=8, table=Rows(10, 4))  # no block is wider than the rows
    assert asked.pop()[0][2] == 10
    assert made(timed=True, landmarks=50, n_edges=5).seconds == 7.0
    assert asked.pop() == ((50, D), {"refined": False, "n_edges": 5, "averaged": 0})


def test_a_plan_says_what_it_takes():
    sized = Plan(5000, 2, "stored", "krylov", "why", 1024, 3000 * MB, 12.4)
    assert str(sized) == (
        "stored kernel of 5,000 rows, solver krylov (why); about 3,000 MB beyond the "
        "data and 12 s"
    )
    table = Plan(5000, 2, "table", "admm", "why", 0, 7 * MB, 0.123)
    assert str(table).startswith("copies of a table of 5,000 rows, solver admm")
    assert str(table).endswith("about 7 MB beyond the data and 0.12 s")
    cut = Plan(
        5000, 2, "compressed", "lapack", "why", 0, 0, 10.0, "landmarks", 2000, 90
    )
    assert str(cut).startswith("2,000 landmarks (rank 90) of 5,000 rows, solver lapack")
    assert str(cut).endswith("0 MB beyond the data and 10 s")
