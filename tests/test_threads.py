"""Blocks side by side: in order, the same numbers, and BLAS left as it was found."""

import gc
import threading
import time
import traceback
from contextlib import nullcontext

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_info, threadpool_limits

from graphfold.arrays import row_blocks, tall_gram, tall_product
from graphfold.progress import listening, stage
from graphfold.threads import (
    are_ours,
    blas,
    blocks,
    in_order,
    in_shares,
    n_threads,
    ours,
)

COUNTS = [1, 2, 3]


def blas_threads():
    return [
        library["num_threads"]
        for library in threadpool_info()
        # that of scs is built for one thread
        if library["user_api"] == "blas" and library["threading_layer"] != "disabled"
    ]


@pytest.fixture(params=COUNTS)
def allowed(request):
    blas()  # found before the limit, as in any fit
    with threadpool_limits(request.param):
        yield request.param


@pytest.fixture
def two_allowed():
    blas()
    with threadpool_limits(2):
        yield


def test_as_many_threads_as_are_allowed(allowed):
    assert n_threads() == allowed


def test_results_come_in_the_order_of_the_pieces(allowed):
    def slow_first(i):
        time.sleep(0.01 * (i % 3 == 0))
        return i * i

    assert list(in_order(slow_first, range(20))) == [i * i for i in range(20)]


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_pieces(allowed, count):
    assert list(in_order(str, range(count))) == [str(i) for i in range(count)]


def test_pieces_may_be_a_generator_that_is_read_lazily(allowed):
    """Not all pieces at once: a large fit would hold all of its blocks."""
    read = []

    def pieces():
        for i in range(50):
            read.append(i)
            yield i

    results = in_order(lambda i: i, pieces())
    next(results)
    assert len(read) <= allowed + 1
    results.close()


def test_at_most_one_result_for_each_thread_waits(two_allowed):
    done = []
    results = in_order(lambda i: done.append(i) or i, range(50))
    next(results)
    time.sleep(0.05)
    assert len(done) <= 3
    assert list(results) == list(range(1, 50))


def test_the_same_bits_whatever_the_number_of_threads(rng):
    A = rng.standard_normal((3000, 40)).astype(np.float32)
    B = rng.standard_normal((40, 30)).astype(np.float32)

    def product(rows):
        return np.exp(-np.square(A[rows] @ B)).T @ A[rows]

    found = []
    for count in COUNTS:
        with threadpool_limits(count):
            total = np.zeros((30, 40))
            for part in in_order(product, row_blocks(3000, 256)):
                total += part
            found.append(total)
    assert_array_equal(found[0], found[1])
    assert_array_equal(found[0], found[2])


def test_pieces_are_worked_on_side_by_side(two_allowed):
    """Two pieces meet: each waits until the other has begun."""
    meeting = threading.Barrier(2, timeout=20)
    assert len(list(in_order(lambda _: meeting.wait(), range(2)))) == 2


def test_blas_has_one_thread_within_and_its_own_number_afterwards(two_allowed):
    before = blas_threads()
    within = list(in_order(lambda _: max(blas_threads()), range(4)))
    assert within == [1] * 4
    assert blas_threads() == before


def test_an_error_in_a_block_is_raised_and_the_limit_is_lifted(allowed):
    before, running = blas_threads(), threading.active_count()

    def fails_at_five(i):
        if i == 5:
            raise KeyError("five")
        return i

    taken = []
    with pytest.raises(KeyError, match="five"):
        taken.extend(in_order(fails_at_five, range(20)))
    assert blas_threads() == before
    assert threading.active_count() == running


def test_results_before_an_error_are_delivered(allowed):
    taken = []

    def fails_at_five(i):
        return 1 // (5 - i)

    with pytest.raises(ZeroDivisionError):
        for result in in_order(fails_at_five, range(20)):
            taken.append(result)
    assert taken == [1 // (5 - i) for i in range(5)]


def test_an_error_in_the_pieces_themselves_is_raised(allowed):
    before = blas_threads()

    def pieces():
        yield 1
        raise OSError("no more rows")

    with pytest.raises(OSError, match="no more rows"):
        list(in_order(str, pieces()))
    assert blas_threads() == before


@pytest.mark.parametrize("how", ["close", "forget"])
def test_closed_early_it_leaves_no_thread_and_no_limit(two_allowed, how):
    before, running = blas_threads(), threading.active_count()
    results = in_order(lambda i: i, range(1000))
    assert next(results) == 0
    assert max(blas_threads()) == 1  # the limit is really there
    if how == "close":
        results.close()
    else:
        del results
        gc.collect()
    assert blas_threads() == before
    assert threading.active_count() == running


def test_never_started_it_does_nothing(two_allowed):
    before = blas_threads()
    called = []
    in_order(called.append, range(10))
    assert not called
    assert blas_threads() == before


def test_threads_that_are_ours_are_taken_from_blas_and_given_back(allowed):
    before = blas_threads()
    with ours():
        assert set(blas_threads()) == {1}
        assert n_threads() == allowed
        assert are_ours() == (allowed > 1)
        # work in blocks still runs side by side, and a nested loop does not multiply it
        assert list(in_order(lambda i: n_threads(), range(4))) == [1] * 4 or allowed < 2
        with ours():
            assert n_threads() == allowed
    assert blas_threads() == before
    assert not are_ours()


def test_threads_are_given_back_after_an_error(two_allowed):
    before = blas_threads()
    with pytest.raises(ZeroDivisionError), ours():
        _ = 1 / 0
    assert n_threads() == 2
    assert blas_threads() == before


@pytest.mark.parametrize("n", [1, 2, 3, 101])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_of_tall_arrays_are_the_same_on_our_threads(allowed, rng, n, dtype):
    Z = rng.standard_normal((n, 7)).astype(dtype)
    V = rng.standard_normal((n, 3)).astype(dtype)
    C = rng.standard_normal((7, 3)).astype(dtype)[:, ::-1]
    tolerance = 1e-5 if dtype == np.float32 else 1e-13
    expected = V.astype(float).T @ Z, Z.astype(float) @ C
    for context in (nullcontext(), ours()):
        with context:
            found = tall_gram(V, Z), tall_product(Z, C)
        for one, other in zip(found, expected, strict=True):
            assert one.dtype == dtype
            assert_allclose(one, other, atol=tolerance * np.sqrt(n) * 10)


# -- loops in blocks and shares ------------------------------------------------------


@pytest.fixture
def two_threads():
    blas()
    with threadpool_limits(2):
        yield


def test_blocks_are_counted_as_they_are_taken(two_threads):
    heard = []
    with listening(heard.append), blocks("squares", lambda i: i * i, range(3)) as found:
        assert list(found) == [0, 1, 4]
    assert heard[0] == "squares"
    assert (heard[-1].stage, heard[-1].done, heard[-1].total) == ("squares", 3, 3)


def test_an_interrupt_between_blocks_gives_blas_its_threads_back(two_threads):
    """Also while the traceback, as in a notebook, holds on to the loop."""
    before, running = blas_threads(), threading.active_count()
    held = None
    try:
        with blocks("squares", lambda i: i * i, range(1000)) as found:
            for _ in found:
                raise KeyboardInterrupt
    except KeyboardInterrupt as error:
        held = error
    assert traceback.extract_tb(held.__traceback__)
    assert blas_threads() == before
    assert threading.active_count() == running


class Holder(threading.Thread):
    """Has all threads of BLAS until it is let go."""

    def __init__(self):
        super().__init__()
        self.entered, self.may_leave = threading.Event(), threading.Event()
        self.start()
        self.entered.wait()

    def run(self):
        with ours():
            self.entered.set()
            self.may_leave.wait()

    def let_go(self):
        self.may_leave.set()
        self.join()


def set_blas_threads(number):
    """By a thread that ends: some threadpoolctls let no other one set it meanwhile."""
    thread = threading.Thread(target=threadpool_limits, args=[number, "blas"])
    thread.start()
    thread.join()


def test_fits_side_by_side_give_blas_its_threads_back():
    """Also where the first to begin is the first to end."""
    blas()
    at_first = blas_threads()
    set_blas_threads(2)
    try:
        before = blas_threads()
        first, second = Holder(), Holder()
        first.let_go()
        second.let_go()
        assert blas_threads() == before
        assert set(before) == {2}
    finally:
        set_blas_threads(max(at_first))


def test_shares_are_tallied_and_an_error_stops_all_of_them(two_threads):
    heard = []
    with listening(heard.append), stage("pieces", 10) as step:
        found = in_shares(
            lambda share, tally: [tally.add() for _ in share], [range(4)] * 2, step
        )
    assert found == [[False] * 4] * 2
    assert (heard[-1].stage, heard[-1].done) == ("pieces", 8)

    def endless_or_broken(share, tally):
        if share == "broken":
            raise ZeroDivisionError
        while not tally.add():
            pass

    before, running = blas_threads(), threading.active_count()
    with pytest.raises(ZeroDivisionError), stage("pieces", 10) as step:
        in_shares(endless_or_broken, ["broken", "endless"], step)
    assert blas_threads() == before
    assert threading.active_count() == running
