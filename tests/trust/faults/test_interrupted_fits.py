"""An interrupt or an error in the middle of a fit: unfitted, or exactly as before."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from graphfold import GraphKernelPCA
from tests.trust.faults.interrupts import (
    assert_as_before,
    calls,
    chosen,
    snapshot,
    steps,
)
from tests.trust.faults.models import MODELS, N, X, fit
from tests.trust.faults.required import ALL
from tests.trust.ledger import tried

WAYS = {"call": calls, "step": steps}
ERRORS = (KeyboardInterrupt, MemoryError, RuntimeError)
MOMENTS = {"call": 15 if ALL else 3, "step": 8 if ALL else 2}
OTHER = X[::-1] * 1.5 + 0.1
pytestmark = pytest.mark.filterwarnings("ignore::graphfold.errors.GraphfoldWarning")


def moments(way, work):
    """Numbers of calls or steps at which to interrupt ``work``, and with what."""
    with WAYS[way]() as counted:
        work()
    assert counted.count >= 1
    for i, k in enumerate(chosen(counted.count, MOMENTS[way])):
        yield k, ERRORS[i % len(ERRORS)]


def interrupted(way, work, k, error):
    """Whether the error came out; one that is raised while something is freed does
    not, and the work goes on."""
    try:
        with warnings.catch_warnings(), WAYS[way](k, error):
            warnings.simplefilter("ignore")
            work()
    except error as raised:
        assert "injected" in str(raised)
        return True
    return False


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", MODELS)
def test_a_first_fit_that_is_interrupted_leaves_no_trace(name, way):
    happened = 0
    for k, error in moments(way, lambda: fit(clone(MODELS[name]))):
        model = clone(MODELS[name])
        before = snapshot(model)
        if interrupted(way, lambda model=model: fit(model), k, error):
            assert_as_before(model, before)
            with pytest.raises(NotFittedError):
                check_is_fitted(model)
            happened += 1
            tried("faults", f"fit interrupted at a {way}, {name}", "unfitted")
    assert happened
    fit(model)  # and may be fitted then
    assert model.embedding_.shape == (N, 2)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", MODELS)
def test_a_second_fit_that_is_interrupted_leaves_the_first(name, way):
    model = fit(clone(MODELS[name]))
    expected, happened = model.transform(X), 0
    for k, error in moments(way, lambda: fit(clone(MODELS[name]), OTHER)):
        before = snapshot(model)
        if interrupted(way, lambda: fit(model, OTHER), k, error):
            assert_as_before(model, before)
            assert_array_equal(model.transform(X), expected)
            happened += 1
            tried("faults", f"second fit interrupted at a {way}, {name}", "as before")
        else:
            fit(model)
    assert happened


def stream():
    """Two batches, solved; edges reach back."""
    model = GraphKernelPCA(2, landmarks=10, forgetting=0.9)
    for first in (0, 12):
        chain = [(i, i - 1) for i in range(max(first, 1), first + 12)]
        model.partial_fit(X[first : first + 12], edges=chain)
    return model


def next_batch(model):
    chain = [(i, i - 1) for i in range(24, 36)]
    return model.partial_fit(X[24:36], edges=chain)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_batch_that_is_interrupted_leaves_the_stream_as_it_was():
    expected = next_batch(stream()).embedding_
    for k, error in moments("call", lambda: next_batch(stream().refresh())):
        model = stream().refresh()
        before, placed = snapshot(model), model.transform(X)
        if interrupted("call", lambda model=model: next_batch(model), k, error):
            assert_as_before(model, before)
            assert_array_equal(model.transform(X), placed)
            assert_array_equal(next_batch(model).embedding_, expected)
            tried("faults", "partial_fit interrupted at a call", "as before")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "ask",
    [GraphKernelPCA.refresh, lambda m: m.embedding_, lambda m: m.transform(X)],
    ids=["refresh", "embedding_", "transform"],
)
def test_a_refresh_that_is_interrupted_may_be_asked_for_again(way, ask):
    expected = stream().embedding_
    for k, error in moments(way, lambda: ask(stream())):
        model = stream()
        before = snapshot(model)
        if interrupted(way, lambda model=model: ask(model), k, error):
            if not hasattr(model, "_extension"):  # else it came after the refresh
                assert_as_before(model, before)
            assert_array_equal(model.embedding_, expected)
            tried("faults", f"refresh interrupted at a {way}", "as before")


def test_an_interrupt_leaves_a_model_that_is_saved_as_it_was(tmp_path):
    model = fit(clone(MODELS["GraphKernelPCA"]))
    path = tmp_path / "model.npz"
    model.save(path)
    kept = path.read_bytes()
    for k, error in moments("call", lambda: model.save(tmp_path / "other.npz")):
        before = snapshot(model)
        if interrupted("call", lambda: model.save(path), k, error):
            assert_as_before(model, before)
            assert path.read_bytes() == kept  # the same model: old and new are equal
            assert np.load(path)["header"].size
            tried("faults", "save interrupted at a call", "old file")
    hidden = [p.name for p in tmp_path.iterdir() if p.name.startswith(".")]
    assert hidden == []
