"""The same numbers in another type, layout or table: the same answer."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from graphfold import GraphKernelPCA, NeighborGraph
from tests.trust.examples import examples
from tests.trust.ledger import tried
from tests.trust.properties.inputs import LAYOUTS, bytes_of, sparse_layouts, tables
from tests.trust.properties.outcomes import SECTION, assert_finite
from tests.trust.properties.subjects import SUBJECTS, labels_of

pytestmark = [
    pytest.mark.filterwarnings("ignore::graphfold.errors.GraphfoldWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]
#: those that need no graph and take any row
OWN = [
    n for n, s in SUBJECTS.items() if not s.given and n != "GraphKernelPCA, polynomial"
]
DENSE_ONLY = ("Robust", "LocalNonlinear", "MultiModal", "laplacian kernel")
TAKE_SPARSE = [name for name in OWN if not any(part in name for part in DENSE_ONLY)]
TYPES = ("float32", "float16", "int8", "uint16", "int64", "bool")


def whole_numbers(seed, shape):
    """A table that every type can hold: small counts."""
    return np.random.default_rng(seed).integers(0, 6, shape).astype(np.float64)


def fit(name, X, n, seed):
    subject = SUBJECTS[name]
    y = labels_of(n, seed) if subject.supervised else None
    return subject.estimator(2, n=n).fit(X, y)


@pytest.mark.parametrize("name", OWN)
@examples(1)
@given(
    table=tables(rows=(4, 12), columns=(2, 6), scales=(1.0, 1e-60, 1e60)),
    layout=st.sampled_from(sorted(LAYOUTS)),
)
def test_the_layout_of_rows_does_not_matter(name, table, layout):
    if SUBJECTS[name].partly and table.what not in ("plain", "whole numbers"):
        table.X[:] = whole_numbers(table.seed, table.X.shape)
    given_rows = LAYOUTS[layout](table.X)
    before = bytes_of(given_rows)
    plain, held = (fit(name, X, table.n, table.seed) for X in (table.X, given_rows))
    assert bytes_of(given_rows) == before
    assert held.embedding_.dtype == np.float64
    assert held.embedding_.tobytes() == plain.embedding_.tobytes()
    tried(SECTION, name, f"rows in {layout}")


@pytest.mark.parametrize("name", OWN)
@examples(1)
@given(
    seed=st.integers(0, 10**6),
    shape=st.tuples(st.integers(4, 12), st.integers(2, 6)),
    word=st.sampled_from(TYPES),
)
def test_the_type_of_numbers_matters_to_precision_only(name, seed, shape, word):
    X = whole_numbers(seed, shape)
    X = (X > 2).astype(float) if word == "bool" else X
    same, other = fit(name, X, len(X), seed), fit(name, X.astype(word), len(X), seed)
    assert_finite(other)
    single = word == "float32"
    assert other.embedding_.dtype == (np.float32 if single else np.float64)
    if not single:
        assert other.embedding_.tobytes() == same.embedding_.tobytes()
    tried(SECTION, name, f"rows of {word}")


@pytest.mark.parametrize("name", TAKE_SPARSE)
@examples(1)
@given(
    table=tables(
        rows=(4, 12),
        columns=(2, 6),
        scales=(1.0, 1e-60, 1e60),
        oddities=("plain", "mostly zeros", "zero rows", "all zero", "equal rows"),
    ),
    layout=st.sampled_from(sorted(sparse_layouts())),
)
def test_every_sparse_format_gives_what_csr_gives(name, table, layout):
    X = table.X
    if SUBJECTS[name].partly:  # it may refuse what does not vary, or is too large
        X = whole_numbers(table.seed, X.shape)
    held = sparse_layouts()[layout](X)
    before = bytes_of(held)
    plain = fit(name, sp.csr_array(X), table.n, table.seed)
    other = fit(name, held, table.n, table.seed)
    assert bytes_of(held) == before
    assert_finite(other)
    loose = 1e-3 if SUBJECTS[name].single else 1e-6
    if "sizes" not in table.what and plain.eigenvalues_.max() > 0:
        values = (plain.eigenvalues_, other.eigenvalues_)
        size = max(np.abs(part).max() for part in values)
        assert np.abs(values[0] - values[1]).max() <= loose * size
    tried(SECTION, name, f"rows in {layout}")


@examples(4)
@given(table=tables(rows=(4, 12), columns=(2, 6), scales=(1.0,)))
def test_tables_of_pandas_and_polars_are_rows(table):
    pandas = pytest.importorskip("pandas", reason="a table of it")
    polars = pytest.importorskip("polars", reason="a table of it")
    names = [f"c{i}" for i in range(table.X.shape[1])]
    plain = GraphKernelPCA(graph=NeighborGraph(3)).fit(table.X)
    for frame in (
        pandas.DataFrame(table.X, columns=names),
        pandas.DataFrame(table.X, columns=names, index=np.arange(table.n) * 7 + 3),
        polars.DataFrame(table.X, schema=names),
    ):
        before = bytes_of(frame.to_numpy())
        held = GraphKernelPCA(graph=NeighborGraph(3)).fit(frame)
        assert held.embedding_.tobytes() == plain.embedding_.tobytes()
        assert list(held.feature_names_in_) == names
        assert bytes_of(frame.to_numpy()) == before
        module = type(frame).__module__.partition(".")[0]
        tried(SECTION, "GraphKernelPCA, neighbours", f"rows in a table of {module}")
