"""What must not matter does not: order, rotation, units of rows, and the batch."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st

from graphfold import Graph
from tests.trust.examples import examples
from tests.trust.ledger import tried
from tests.trust.properties.inputs import seeds, tables, weighted_graphs
from tests.trust.properties.outcomes import SECTION, distances
from tests.trust.properties.subjects import SUBJECTS, labels_of

pytestmark = [
    pytest.mark.filterwarnings("ignore::graphfold.errors.GraphfoldWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]
#: rows in general position, where nothing is equal by chance
CALM = {"rows": (8, 14), "columns": (3, 6), "oddities": ("plain",)}
#: the choice of landmarks, or of what is held out, depends on the order of the rows
BY_ORDER = [name for name in SUBJECTS if "landmarks" in name or "auto" in name]
#: a gap of the spectrum that rounding cannot close
GAP = 1e-2


@st.composite
def calm_cases(draw, scales=(1.0,)):
    """A table in general position, a graph of ordinary weights, and a seed."""
    table = draw(tables(**CALM, scales=scales))
    graph = draw(weighted_graphs(nodes=table.n, weights=("ones", "uniform")))
    return table, graph, draw(seeds())


def has_edges(name, subject, graph):
    """Whether the graph has as many edges as the setting needs: two to hold one out."""
    least = 2 if "auto strength" in name else 1
    return not subject.given or (graph.A > 0).sum() >= 2 * least


def embedded(subject, X, A, y, n_components=2):
    """The fitted estimator, and distances between rows of its embedding."""
    graph = Graph(sp.csr_array(A)) if subject.given else None
    estimator = subject.estimator(n_components, graph, len(X))
    return estimator.fit(X, y if subject.supervised else None)


def is_determined(subject, X, A, y):
    """Whether the plane found is the only one: the third value is well below."""
    if "robust" in type(subject.estimator(1, None)).__name__.lower():
        return True
    found = embedded(subject, X, A, y, n_components=3)
    values = found.eigenvalues_
    # of a graph alone all three may be 0 but for rounding; its M is of size 1
    size = 1.0 if getattr(found, "kernel_", "own") is None else np.abs(values).max()
    return bool(size > 0 and abs(values[1] - values[2]) > GAP * size)


def assert_same_picture(one, other, *, tol, factor=1.0):
    """Distances between rows, which no sign or rotation of axes changes."""
    D, E = distances(one.embedding_), distances(other.embedding_) / factor
    assert np.abs(D - E).max() <= tol * max(D.max(), E.max())


def tolerance(name, subject):
    if subject.single:
        return 2e-3
    return 2e-2 if "Robust" in name else 1e-5


@pytest.mark.parametrize("name", [name for name in SUBJECTS if name not in BY_ORDER])
@examples(1)
@given(case=calm_cases())
def test_the_order_of_the_rows_does_not_matter(name, case):
    subject, (table, graph, seed) = SUBJECTS[name], case
    assume(has_edges(name, subject, graph))
    y = labels_of(table.n, table.seed)
    assume(is_determined(subject, table.X, graph.A, y))
    p = np.random.default_rng(seed).permutation(table.n)
    here = embedded(subject, table.X, graph.A, y)
    there = embedded(subject, table.X[p], graph.A[np.ix_(p, p)], y[p])
    there.embedding_ = there.embedding_[np.argsort(p)]
    assert_same_picture(here, there, tol=tolerance(name, subject))
    tried(SECTION, name, "rows in another order")


@pytest.mark.parametrize("name", [n for n, s in SUBJECTS.items() if s.rotates])
@examples(1)
@given(case=calm_cases())
def test_a_rotation_of_the_columns_does_not_matter(name, case):
    subject, (table, graph, seed) = SUBJECTS[name], case
    assume(has_edges(name, subject, graph))
    y = labels_of(table.n, table.seed)
    assume(is_determined(subject, table.X, graph.A, y))
    rng = np.random.default_rng(seed)
    width = table.X.shape[1]
    Q = np.linalg.qr(rng.standard_normal((width, width)))[0]
    here = embedded(subject, table.X, graph.A, y)
    there = embedded(subject, table.X @ Q, graph.A, y)
    assert_same_picture(here, there, tol=tolerance(name, subject))
    tried(SECTION, name, "columns rotated")


@pytest.mark.parametrize("name", [n for n, s in SUBJECTS.items() if s.by_scale])
@examples(1)
@given(case=calm_cases(), power=st.sampled_from((-150, -60, -9, 7, 40, 149)))
def test_the_unit_of_the_data_does_not_matter(name, case, power):
    subject, (table, graph, _) = SUBJECTS[name], case
    assume(has_edges(name, subject, graph))
    if subject.single and subject.by_scale == "doubled":
        power = max(-9, min(power, 7))  # kernel values in single precision
    y = labels_of(table.n, table.seed)
    assume(is_determined(subject, table.X, graph.A, y))
    here = embedded(subject, table.X, graph.A, y)
    there = embedded(subject, table.X * 10.0**power, graph.A, y)
    factor = 10.0**power if subject.by_scale == "doubled" else 1.0
    assert_same_picture(here, there, tol=tolerance(name, subject), factor=factor)
    tried(SECTION, name, f"x 1e{power}")


@pytest.mark.parametrize("name", SUBJECTS)
@examples(1)
@given(case=calm_cases(scales=(1.0, 1e-150, 1e149, 255.0)))
def test_a_row_is_placed_the_same_in_any_batch(name, case):
    subject, (table, graph, seed) = SUBJECTS[name], case
    assume(has_edges(name, subject, graph))
    if subject.partly or subject.single:
        table.X[:] /= np.abs(table.X).max()
    y = labels_of(table.n, table.seed)
    estimator = embedded(subject, table.X, graph.A, y)
    rng = np.random.default_rng(seed)
    new = table.X[rng.integers(0, table.n, 9)] * rng.uniform(0.8, 1.2, (9, 1))
    new[:2] = table.X[:2]  # rows of the fit are among them
    if name.endswith("graph alone"):
        with pytest.raises(ValueError, match="edges"):
            estimator.transform(new)
        return
    together = estimator.transform(new)
    assert np.isfinite(together).all()
    rows = rng.permutation(9)[: rng.integers(1, 9)]
    apart = estimator.transform(new[rows])
    size = np.abs(together).max(initial=0.0)
    assert np.abs(apart - together[rows]).max() <= 1e-9 * size
    tried(SECTION, name, "rows in another batch")
