"""A thousand fits in one process: memory, open files and threads do not grow."""

import warnings

import pytest
from sklearn.base import clone

import graphfold
from tests.trust.faults.models import MODELS, X, fit
from tests.trust.ledger import measured, tried
from tests.trust.load.amounts import amount
from tests.trust.load.growth import growth_of

#: fits of a kind: 160 in all in make test
FITS = amount(1000, 200, 40)
#: kilobytes of the last three tenths: one embedding leaked a fit would be 168
MOST_TRACED = 40
#: what the allocator of a process may take up in the meantime, kilobytes
MOST_RESIDENT = 6 * 1024


def one_by_one(i):
    fit(clone(MODELS["GraphKernelPCA"]))


def landmarks(i):
    fit(clone(MODELS["GraphKernelPCA, landmarks"]))


def in_turn(i):
    names = list(MODELS)
    fit(clone(MODELS[names[i % len(names)]]))


@pytest.fixture
def saved_and_loaded(tmp_path):
    def work(i):
        path = tmp_path / "model.npz"
        fit(clone(MODELS["GraphKernelPCA"])).save(path)
        graphfold.load(path).transform(X[:3])

    return work


@pytest.mark.parametrize(
    "kind", ["exact", "with landmarks", "saved and loaded", "every estimator in turn"]
)
def test_many_fits_hold_no_more_than_few(kind, saved_and_loaded):
    work = {
        "exact": one_by_one,
        "with landmarks": landmarks,
        "saved and loaded": saved_and_loaded,
        "every estimator in turn": in_turn,
    }[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = growth_of(work, FITS, warm_up=len(MODELS), traced=3 * FITS // 5)
    assert found["traced"] < MOST_TRACED
    assert not found["resident"] > MOST_RESIDENT  # NaN where the system does not say
    assert found["files"] in (0, None)
    assert found["threads"] == 0
    tried("load", f"fits in one process, {kind}", "no growth", FITS)
    for name in ("traced", "resident"):
        number = f"{found[f'{name} per 1,000']:.1f}"
        measured("load", f"KB {name} per 1,000 fits, {kind}", number)
