"""Bytes of each way of solving: sums of arrays that can be named, by hand."""

import io

import numpy as np
import pytest
import scipy.sparse as sp

from graphfold import kernels
from graphfold.model import memory
from graphfold.stores import RowStore

RBF = kernels.Gaussian()
X = np.zeros((10, 3))
SINGLE = X.astype(np.float32)


def test_rows_are_copied_in_their_own_precision():
    assert memory.copy_of_rows(X) == 10 * 3 * 8
    assert memory.copy_of_rows(SINGLE) == 10 * 3 * 4
    assert memory.copy_of_rows(X.astype(np.int16)) == 10 * 3 * 8


def test_sparse_rows_are_numbers_indices_and_starts():
    table = sp.csr_array(np.eye(7, 5))
    assert table.indices.dtype == np.int32
    assert memory.copy_of_rows(table) == 5 * (8 + 4) + 7 * 4
    assert memory.copy_of_rows(table.astype(np.float32)) == 5 * (4 + 4) + 7 * 4
    assert memory.copy_of_rows(sp.coo_array(table)) == 5 * (8 + 4) + 7 * 4


@pytest.mark.parametrize(
    ("width", "thin", "columns"),
    [
        (10, False, 384 + 8 * 16),  # a space is at least 384 wide, a block 16
        (20, False, 384 + 8 * 32),
        (10, True, 2 * 100 + 30 + 100),
        (5, True, 2 * 60 + 15 + 50),
    ],
)
def test_a_solve_holds_its_space_and_some_blocks(width, thin, columns):
    assert memory.solver_bytes(9000, width, 8, thin=thin) == 9000 * columns * 8


def test_several_kernels_are_held_with_their_sum():
    assert memory.stored_bytes([RBF], SINGLE) == 10 * 10 * 4
    assert memory.stored_bytes([RBF, RBF], SINGLE) == 3 * 10 * 10 * 4
    assert memory.stored_bytes([RBF] * 3, X) == 4 * 10 * 10 * 8


def test_lapack_holds_four_matrices():
    assert memory.lapack_bytes(10, 8) == 4 * 10 * 10 * 8


def test_a_thread_holds_three_tiles_and_two_strips():
    assert memory.tile_bytes(64, 5, 4, 2) == 2 * 4 * (3 * 64 * 64 + 2 * 64 * 5)


def test_the_median_looks_at_two_thousand_rows_at_most():
    assert memory.median_bytes(10, 4) == 4 * (10 * 10 // 2 + 256 * 10)
    assert memory.median_bytes(9000, 8) == 8 * (2000 * 2000 // 2 + 256 * 2000)


def test_the_way_back_holds_a_kernel_and_two_tables():
    assert memory.way_back_bytes(X, 20) == 8 * (20 * 20 + 2 * 20 * 3)
    assert memory.way_back_bytes(SINGLE, 20) == 4 * (20 * 20 + 2 * 20 * 3)


def test_a_factorisation_takes_ten_times_its_entries():
    assert memory.factor_bytes(100) == 10 * 12 * 100


def test_eigenbases_take_one_matrix_each_and_three_more():
    assert memory.basis_bytes(10, 0) == 0
    assert memory.basis_bytes(10, 1) == 4 * 800
    assert memory.basis_bytes(10, 2) == 5 * 800


def test_local_weights_count_by_the_unknowns_of_a_row():
    few = kernels.LocallyLinear(n_neighbors=5)
    # 5 unknowns for each of 10 rows, and a batch of all rows
    one = 60 * 5 * 10 + 32 * 10 * 5 * (3 + 5)
    assert memory.local_bytes([few], X) == one
    assert memory.local_bytes([few, few], X) == 2 * one
    assert memory.local_bytes([RBF], X) == 60 * 10 * 10 + 32 * 10 * 10 * (3 + 10)
    many = np.broadcast_to(np.zeros(1), (10**6, 100))
    assert memory.local_bytes([few], many) == 60 * 5 * 10**6 + 2**28
    assert memory.local_bytes([], X) == 0


class Rows:
    """A table that is all shape."""

    def __init__(self, n, columns, dtype=np.float32):
        self.shape, self.dtype = (n, columns), np.dtype(dtype)


# of 5,000 rows of 3 float32: 20 landmarks are held three times (12 bytes a row), and
# beside them pass 2,000 probes
TABLE = Rows(5000, 3)
HELD = 8 * 20 * 20 * 8 + 3 * 20 * 12
BLOCKS = 2 * 2048 * 20 * 8
PROBES = 2000 * 12


def landmarks(table=TABLE, d=2, m=20, refined=False, **more):
    return memory.landmark_bytes(table, d, m, refined=refined, **more)


def test_landmarks_hold_squares_and_the_widest_of_what_passes():
    assert landmarks() == HELD + BLOCKS + PROBES
    # four threads have blocks of features, and strips of 512 rows each
    assert landmarks(n_threads=4) == HELD + 4 * BLOCKS + 4 * 512 * 12
    few = Rows(100, 3)
    passing = min(2 * 1000, 2 * 100) * 12
    assert landmarks(few) == HELD + 2 * 100 * 20 * 8 + passing


def test_rows_that_are_kept_are_one_copy_more():
    assert landmarks(keeps_rows=True) - landmarks() == 5000 * 3 * 4


def test_many_edges_are_the_widest_while_the_laplacian_is_made():
    edges = 10**6
    assert landmarks(n_edges=edges, refined=True) == HELD + 8 * edges + 18 * edges
    # features of neighbours are gathered twice where nothing is refined
    gathering = 2 * 3 * 8 * 20 * 5000
    found = landmarks(n_edges=1000, n_threads=3)
    assert found == HELD + 8 * 1000 + max(gathering, 3 * BLOCKS + PROBES)
    wide = Rows(10_000, 3)
    found = memory.landmark_bytes(wide, 2, 200, refined=False, n_edges=1000)
    squares = 8 * 200 * 200 * 8 + 3 * 200 * 12
    assert found == squares + 8 * 1000 + 2 * 8 * 200 * 512 * 12


def test_a_refinement_holds_ten_blocks_of_vectors():
    assert landmarks(d=20, refined=True) == HELD + 10 * 5000 * 40 * 4
    assert landmarks(d=7, refined=True) == HELD + 10 * 5000 * 15 * 4


def test_many_components_are_the_widest_as_an_answer():
    assert landmarks(d=100) == HELD + 3 * 5000 * 100 * 8
    double = Rows(5000, 3, np.float64)
    held = 8 * 20 * 20 * 8 + 3 * 20 * 24
    assert landmarks(double, d=100) == held + 3 * 5000 * 100 * 8


def test_landmarks_of_single_precision_are_doubled_for_a_while():
    # 1,000 landmarks: their copies in double precision outweigh the probes
    held = 8 * 10**6 * 8 + 3 * 1000 * 12
    found = memory.landmark_bytes(TABLE, 2, 1000, refined=False)
    assert found == held + 2 * 2048 * 1000 * 8 + 4 * 1000 * 12
    double = Rows(5000, 3, np.float64)
    held = 8 * 10**6 * 8 + 3 * 1000 * 24
    found = memory.landmark_bytes(double, 2, 1000, refined=False)
    assert found == held + 2 * 2048 * 1000 * 8 + 2000 * 24


def test_blocks_of_sparse_rows_are_copies():
    table = sp.csr_array(np.eye(5000, 3))
    row = -(-(3 * 12 + 5000 * 4) // 5000)
    held = 8 * 20 * 20 * 8 + 3 * 20 * row
    passing = 2 * (1024 + 512) * row
    assert landmarks(table, n_threads=2) == held + 2 * BLOCKS + passing
    # at most all rows, twice
    assert landmarks(table, n_threads=8) == held + 8 * BLOCKS + 2 * 5000 * row


def test_rows_on_disk_are_never_all_held(tmp_path):
    table = np.memmap(tmp_path / "X", np.float32, mode="w+", shape=(5000, 3))
    stored = RowStore(table)
    assert landmarks(stored, keeps_rows=True) == landmarks(stored)


def test_features_are_single_and_robust_tables_are_counted():
    assert memory.feature_bytes(100, 7) == 4 * 100 * 7
    assert memory.table_bytes(X, "fista") == 13 * 240
    assert memory.table_bytes(X, "admm") == 17 * 240


def test_three_fifths_of_the_free_memory_may_be_taken(monkeypatch):
    report = "MemTotal:  900 kB\nMemAvailable:    500 kB\n"
    opened = []

    def fake(path, **how):
        opened.append(path)
        return io.StringIO(report)

    monkeypatch.setattr(memory, "open", fake, raising=False)
    assert memory.free_memory() == int(0.6 * 500 * 1024)
    assert opened == ["/proc/meminfo"]


@pytest.mark.parametrize("report", [None, "MemTotal: 900 kB\n", "no colon\n"])
def test_where_nothing_is_reported_a_machine_is_modest(report, monkeypatch):
    def fake(path, **how):
        if report is None:
            raise FileNotFoundError(path)
        return io.StringIO(report)

    monkeypatch.setattr(memory, "open", fake, raising=False)
    assert memory.free_memory() == 4 * 2**30
