"""Sixty-four threads that ask one model: all hear what one would."""

import sys
import threading

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from graphfold import GraphKernelPCA
from tests.trust.faults.models import MODELS, X, fit
from tests.trust.ledger import tried
from tests.trust.load.amounts import amount

THREADS = 64
TIMES = amount(8, 3, 2)
#: some that the fit has seen, and some that it has not
NEW = np.vstack([X[:4], np.random.default_rng(7).standard_normal((4, X.shape[1]))])
pytestmark = pytest.mark.filterwarnings("ignore::graphfold.errors.GraphfoldWarning")


@pytest.fixture
def often_interrupted():
    """Threads take turns a hundred times as often as they do by themselves."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(usual / 100)
    yield
    sys.setswitchinterval(usual)


def ask_at_once(ask):
    """What each thread has heard, or the error that it met."""
    start, heard = threading.Barrier(THREADS), []

    def work():
        try:
            start.wait()
            heard.extend(ask() for _ in range(TIMES))
        except Exception as error:
            heard.append(error)

    threads = [threading.Thread(target=work) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return heard


@pytest.mark.parametrize("name", MODELS)
def test_threads_that_transform_with_one_model_agree_to_the_bit(
    name, often_interrupted
):
    model = fit(clone(MODELS[name]))
    expected = transformed(model)
    heard = ask_at_once(lambda: transformed(model))
    assert [each for each in heard if isinstance(each, Exception)] == []
    assert len(heard) == THREADS * TIMES
    for each in heard:
        assert_array_equal(each, expected)
    tried("load", f"transform in 64 threads, {name}", "same bits", len(heard))


def transformed(model):
    """New rows where the model takes them; those of the fit where it needs edges."""
    known = model.__class__.__name__ == "LaplacianEigenmaps" or takes_edges(model)
    return model.transform(X if known else NEW)


def takes_edges(model):
    return getattr(model, "graph", None) is MODELS["GraphKernelPCA"].graph


@pytest.mark.parametrize("ask", ["transform", "embedding_", "refresh"])
def test_threads_that_ask_a_stream_at_once_wait_for_one_refresh(ask, often_interrupted):
    """Each batch takes the answer off: the first who asks solves, for all."""
    questions = {
        "transform": lambda model: model.transform(NEW),
        "embedding_": lambda model: model.embedding_,
        "refresh": lambda model: model.refresh().embedding_,
    }

    def streamed():
        model = GraphKernelPCA(2, landmarks=12)
        return model.partial_fit(X[:20]).partial_fit(X[20:])

    expected = questions[ask](streamed())
    model = streamed()
    heard = ask_at_once(lambda: questions[ask](model))
    assert [each for each in heard if isinstance(each, Exception)] == []
    for each in heard:
        assert_array_equal(each, expected)
    tried("load", f"a stream asked by 64 threads, {ask}", "same bits", len(heard))
