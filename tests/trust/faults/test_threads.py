"""Fits side by side in threads: the same answers, and BLAS left as it was found."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from threadpoolctl import threadpool_info, threadpool_limits

from graphfold.progress import Watcher, watching
from graphfold.threads import blas
from tests.trust.faults.models import MODELS, X, fit
from tests.trust.faults.required import ALL
from tests.trust.ledger import tried

pytestmark = pytest.mark.filterwarnings("ignore::graphfold.errors.GraphfoldWarning")
THREADS = 8
#: what solvers agree to, relative to the size of an embedding
TOLERANCE = 1e-8


def answers_of(model):
    return model.embedding_, model.transform(X[:5])


def test_fits_in_threads_give_the_answers_of_fits_one_by_one():
    """Of all estimators at once, on the same X and, where it is known, one Graph."""
    serial = {name: answers_of(fit(clone(model))) for name, model in MODELS.items()}
    jobs = list(MODELS) * (8 if ALL else 2)
    start = threading.Barrier(THREADS)

    def work(number):
        start.wait()
        mine = jobs[number::THREADS]
        return [(name, answers_of(fit(clone(MODELS[name])))) for name in mine]

    with ThreadPoolExecutor(THREADS) as pool:
        found = [pair for part in pool.map(work, range(THREADS)) for pair in part]
    assert len(found) == len(jobs)
    for name, answers in found:
        for one, other in zip(answers, serial[name], strict=True):
            # sums of landmark features are in single precision, and one thread of
            # BLAS rounds them otherwise than two
            tolerance = 1e-6 if "landmarks" in name else TOLERANCE
            assert_allclose(one, other, atol=tolerance * np.abs(other).max())
        same = all(map(np.array_equal, answers, serial[name]))
        tried("faults", "fits in eight threads", "same bits" if same else "same answer")


class Limits(Watcher):
    """Looks at the threads of all libraries at every step; raises at one of them."""

    def __init__(self, at=None):
        self.seen, self.at = [], at

    def _look(self, *_):
        self.seen.append(max(pool["num_threads"] for pool in threadpool_info()))
        if len(self.seen) == self.at:
            raise ZeroDivisionError

    began = stepped = said = _look


def numbers_of_threads():
    return [pool["num_threads"] for pool in threadpool_info()]


@pytest.mark.parametrize("name", MODELS)
def test_a_limit_of_one_thread_is_kept_in_a_fit_and_after_one_that_fails(name):
    blas()
    with threadpool_limits(1):
        before = numbers_of_threads()
        with watching(watcher := Limits()):
            fit(clone(MODELS[name]))
        assert set(watcher.seen) == {1}
        assert numbers_of_threads() == before
        with pytest.raises(ZeroDivisionError), watching(Limits(at=2)):
            fit(clone(MODELS[name]))
        assert numbers_of_threads() == before
    tried("faults", f"BLAS limited to one thread, {name}", "kept")


@pytest.mark.parametrize("name", MODELS)
def test_a_limit_of_two_threads_is_there_again_after_a_fit_that_fails(name):
    blas()
    with threadpool_limits(2):
        before, running = numbers_of_threads(), threading.active_count()
        for at in (1, 2, None):
            with watching(watcher := Limits(at)):
                if at is None:
                    fit(clone(MODELS[name]))
                else:
                    with pytest.raises(ZeroDivisionError):
                        fit(clone(MODELS[name]))
            assert max(watcher.seen) <= 2
            assert numbers_of_threads() == before
            assert threading.active_count() == running
    tried("faults", f"BLAS limited to two threads, {name}", "as before")
