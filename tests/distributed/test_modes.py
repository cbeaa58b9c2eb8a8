"""Modes of samples on workers, beside those of samples in memory."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from graphfold import MultiModalGraphEmbedding
from graphfold.errors import GraphfoldError, ModeError
from tests.distributed.problems import largest_gap

RNG = np.random.default_rng(0)
GROUP = RNG.integers(0, 3, 400)
REAL = RNG.standard_normal((400, 4)) + 2 * GROUP[:, None]
TURNED = REAL @ RNG.standard_normal((4, 4)) + 0.5 * RNG.standard_normal((400, 4))
BINARY = (
    RNG.random((400, 9)) < 0.15 + 0.3 * (GROUP[:, None] == np.arange(9) % 3)
) * 1.0
WORDS = np.array(list("xyz"))[
    np.where(RNG.random((400, 3)) < 0.7, GROUP[:, None], RNG.integers(0, 3, (400, 3)))
]
BOTH = np.hstack([REAL, TURNED])
MODES = {"one": slice(0, 4), "two": slice(4, 8)}


def fitted(X, **settings):
    how = {"kernel": "rbf", "landmarks": 60} | settings
    return MultiModalGraphEmbedding(3, **how).fit(X)


def compare(X, X_of_dask, **settings):
    one, other = fitted(X, refine=False, **settings), fitted(X_of_dask, **settings)
    assert largest_gap(other.embedding_, one.embedding_) < 1e-6
    assert other.mode_names_ == one.mode_names_
    assert other.mode_kinds_ == one.mode_kinds_
    np.testing.assert_allclose(other.mode_weights_, one.mode_weights_, atol=1e-6)
    shares = np.asarray(other.mode_contributions_)
    np.testing.assert_allclose(shares, one.mode_contributions_, atol=1e-6)
    return one, other


def test_columns_of_one_table():
    compare(BOTH, da.from_array(BOTH, chunks=(170, 8)), modes=MODES)
    compare(BOTH, da.from_array(BOTH, chunks=(170, 3)), modes=2, response=None)


def test_a_dict_of_tables_in_other_chunks():
    tables = {"one": REAL, "two": TURNED}
    chunks = {"one": (150, 4), "two": (90, 4)}
    of_dask = {k: da.from_array(t, chunks=chunks[k]) for k, t in tables.items()}
    compare(tables, of_dask)


def test_partitions_without_samples():
    frame = pd.DataFrame(REAL, columns=list("abcd"))
    parts = [frame[:100], frame[:0], frame[100:]]
    one = dd.concat([dd.from_pandas(part, npartitions=1) for part in parts])
    compare(
        {"one": REAL, "two": TURNED},
        {"one": one, "two": da.from_array(TURNED, chunks=(90, 4))},
    )


def test_blocks_may_be_sparse():
    kept = np.random.default_rng(1).random(BOTH.shape) < 0.8
    sparse = sp.csr_array(np.where(kept, BOTH, 0))
    of_dask = da.from_array(sparse, chunks=(170, 8), asarray=False)
    one, other = compare(sparse, of_dask, modes=MODES)
    assert largest_gap(other.transform(sparse[:50]), one.transform(sparse[:50])) < 1e-6


@pytest.mark.parametrize("response", ["auto", None])
def test_samples_that_miss_modes(response):
    X = BOTH.copy()
    X[::7, :4] = np.nan
    X[3::7, 4:] = np.nan
    of_dask = da.from_array(X, chunks=(170, 8))
    one, other = compare(X, of_dask, modes=MODES, response=response)
    shares = np.asarray(other.mode_contributions_)
    assert (shares[::7, 0] == 0).all()
    new = X[:60] + 0.1
    assert largest_gap(other.transform(new), one.transform(new)) < 1e-6
    again = other.transform(of_dask)
    assert largest_gap(again, other.embedding_) < 1e-9


def test_kinds_of_values_are_learned_from_all_chunks():
    frame = pd.DataFrame(
        np.hstack([REAL, BINARY]), columns=[f"c{i}" for i in range(13)]
    )
    for i in range(3):
        frame[f"t{i}"] = WORDS[:, i]
    model = fitted(dd.from_pandas(frame, npartitions=4))
    assert model.mode_kinds_ == ["real", "binary", "categorical"]
    one = fitted(frame, refine=False)
    for mine, theirs in zip(model._modes, one._modes, strict=True):
        np.testing.assert_array_equal(mine.scale, theirs.scale)
        np.testing.assert_array_equal(mine.shift, theirs.shift)
        assert [list(c) for c in mine.categories] == [
            list(c) for c in theirs.categories
        ]
    # neighbours by words have many ties, which each search breaks in its own way: both
    # find the groups
    assert separation(np.asarray(model.embedding_)) > 0.9 * separation(one.embedding_)


def separation(Z):
    """Share of the variance that is between groups."""
    means = np.array([Z[g == GROUP].mean(axis=0) for g in range(3)])
    return np.var(means[GROUP], axis=0).sum() / np.var(Z, axis=0).sum()


def test_tables_that_do_not_fit_together():
    a, b = da.from_array(REAL, chunks=(100, 4)), da.from_array(TURNED[:300], chunks=100)
    with pytest.raises(ModeError, match="the same samples"):
        fitted({"one": a, "two": b})
    model = fitted({"one": a, "two": da.from_array(TURNED, chunks=(100, 4))})
    with pytest.raises(ModeError, match="modes of the fit"):
        model.transform({"one": a})


def test_contributions_of_new_samples_need_memory():
    model = fitted(da.from_array(BOTH, chunks=(200, 8)), modes=MODES)
    with pytest.raises(GraphfoldError, match="mode_contributions_"):
        model.contributions(BOTH[:5])
