"""Equal rows are found, and no others."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from graphfold import equal_rows
from graphfold.equal_rows import matching_rows

tables = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 12), st.integers(1, 4)),
    elements=st.sampled_from([0.0, -0.0, 1.0, -1.0, 1e-300, 1e300, 0.5]),
)


@given(tables, st.randoms(use_true_random=False))
def test_matching_rows_finds_equal_rows_and_no_others(X, random):
    asked = X[[random.randrange(len(X)) for _ in range(5)]].copy()
    asked[0, 0] = 7.25
    for container in (np.asarray, sp.csr_array):
        assert_matching(asked, X, container)
    # of wide tables a few columns are compared first: not the one that differs here
    wide, asked = (np.hstack([Y, np.ones((len(Y), 40))]) for Y in (X, asked))
    asked[1, 20] = 2.0
    assert_matching(asked, wide, np.asarray)


def assert_matching(asked, X, container):
    found, repeated = matching_rows(container(asked), container(X))
    for row, index, several in zip(asked, found, repeated, strict=True):
        equals = [j for j in range(len(X)) if (X[j] == row).all()]
        if several:
            assert len(equals) > 1 and index in equals
        else:
            assert index == (equals[0] if equals else -1)


@pytest.mark.parametrize("sparse", [False, True])
def test_copies_lead_to_their_first_row(rng, sparse):
    rows = rng.standard_normal((5, 3))
    order = np.array([3, 0, 3, 1, 1, 2, 3, 4])
    X = sp.csr_array(rows[order]) if sparse else rows[order]
    assert equal_rows.first_equal_rows(X).tolist() == [0, 1, 0, 3, 3, 5, 0, 7]


def test_rows_that_share_a_fingerprint_are_no_copies(rng, monkeypatch):
    X = rng.standard_normal((4, 3))
    monkeypatch.setattr(equal_rows, "row_fingerprints", lambda X: np.zeros(len(X)))
    assert equal_rows.first_equal_rows(X).tolist() == [0, 1, 2, 3]
