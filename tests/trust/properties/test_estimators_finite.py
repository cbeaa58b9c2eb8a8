"""Every estimator on hostile rows: finite, orthonormal, repeatable, hands off."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from graphfold import Graph
from tests.trust.examples import examples
from tests.trust.ledger import tried
from tests.trust.properties.inputs import bytes_of, tables, weighted_graphs
from tests.trust.properties.outcomes import (
    SECTION,
    assert_finite,
    assert_orthonormal,
    assert_sentence,
)
from tests.trust.properties.subjects import SUBJECTS, labels_of

pytestmark = [
    pytest.mark.filterwarnings("ignore::graphfold.errors.GraphfoldWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


@st.composite
def cases(draw, **what):
    """A table, a number of components, and weights of a graph between its rows."""
    table = draw(tables(**what))
    most = min(table.X.shape)
    n_components = draw(st.one_of(st.integers(1, most), st.just(min(2, most))))
    return table, n_components, draw(weighted_graphs(nodes=table.n))


def estimator_of(subject, case):
    table, n_components, weights = case
    graph = Graph(sp.csr_array(weights.A)) if subject.given else None
    y = labels_of(table.n, table.seed) if subject.supervised else None
    return subject.estimator(n_components, graph, table.n), y


def rounding(estimator, X):
    """Residual that rounding leaves where centring takes most of a kernel away."""
    top = np.abs(estimator.eigenvalues_).max()
    if estimator.kernel_ is None or top == 0:
        return np.inf if top == 0 else 0.0
    with np.errstate(over="ignore"):
        raw = np.abs(estimator.kernel_.diagonal(X)).max() / top
    return 1e-15 * len(X) * float(raw)


@pytest.mark.parametrize("name", SUBJECTS)
@examples(3)
@given(case=cases())
def test_a_fit_is_finite_and_orthonormal_or_says_why_not(name, case):
    subject, (table, n_components, weights) = SUBJECTS[name], case
    if subject.given and not weights.A.any():
        with pytest.raises(ValueError, match="graph must have at least one edge"):
            estimator_of(subject, case)
        return
    estimator, y = estimator_of(subject, case)
    before = bytes_of(table.X, weights.A, y), repr(estimator.get_params())
    try:
        Z = estimator.fit_transform(table.X, y)
    except ValueError as error:
        assert subject.partly or table.next_to_equal, error
        assert_sentence(error, estimator)
        tried(SECTION, name, f"{table.what}: refused in a sentence")
        return
    assert (bytes_of(table.X, weights.A, y), repr(estimator.get_params())) == before
    assert Z.shape == (table.n, n_components) and Z.dtype == np.float64
    assert np.isfinite(Z).all()
    assert_finite(estimator)
    if hasattr(estimator, "eigenvectors_"):
        atol = 1e-5 if subject.single else 1e-9
        assert_orthonormal(estimator.eigenvectors_, atol=atol)
        # landmarks are refined to 1e-3: they are a hundredth off themselves
        small = (1e-3 if subject.single else 1e-8) + rounding(estimator, table.X)
        judged = estimator.converged_ and not table.next_to_equal
        assert not judged or estimator.residuals_.max() <= small
    again = clone(estimator)
    assert again.fit_transform(table.X, y).tobytes() == Z.tobytes()
    tried(SECTION, name, table.what)


@pytest.mark.parametrize("name", [n for n, s in SUBJECTS.items() if not s.given])
def test_one_row_is_too_few_and_it_is_said_so(name):
    """A graph has no edge to give to one node, so these subjects are the others."""
    subject = SUBJECTS[name]
    y = labels_of(1, 0) if subject.supervised else None
    with pytest.raises(ValueError, match=r"1 sample.* minimum of 2") as caught:
        subject.estimator(1, n=1).fit(np.ones((1, 3)), y)
    assert "\n" not in str(caught.value)
    tried(SECTION, name, "one row: refused in a sentence")
