"""What is not a table of numbers is recognised before it is converted, and named."""

import datetime
import pathlib

import anndata
import igraph
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone

from graphfold import (
    FastRobustGraphPCA,
    Graph,
    GraphKernelPCA,
    GraphLaplacianPCA,
    LaplacianEigenmaps,
    LocalNonlinearEmbedding,
    MultiModalGraphEmbedding,
    RobustGraphPCA,
    SemiSupervisedGraphKernelPCA,
    check,
    view,
)
from graphfold.errors import GraphfoldError

EVERY = [
    GraphKernelPCA,
    SemiSupervisedGraphKernelPCA,
    MultiModalGraphEmbedding,
    LocalNonlinearEmbedding,
    LaplacianEigenmaps,
    GraphLaplacianPCA,
    RobustGraphPCA,
    FastRobustGraphPCA,
]
every = pytest.mark.parametrize("estimator", EVERY, ids=lambda one: one.__name__)
N = 30


class Slow:
    """Has a length and items, as an AnnData: NumPy would ask for all of them."""

    shape = (3, 3)

    def __len__(self):
        return 3

    def __getitem__(self, _):
        raise AssertionError("was converted")


class SlowAnnotated(Slow):
    obs = obsm = None


class SlowGraph(Slow):
    nodes = edges = None


OBJECTS = {
    "annotated": (SlowAnnotated, r"a SlowAnnotated: pass a table .*\.X .*graphfold.ad"),
    "graph": (SlowGraph, "a graph .*SlowGraph.* pass it as graph="),
    "any object": (Slow, "an object of type Slow: convert it first"),
    "list of objects": (
        lambda: [Slow(), Slow()],
        "a list that holds .* type Slow",
    ),
    "rows of objects": (
        lambda: [[Slow(), 1.0]],
        "a list that holds .* type Slow",
    ),
    "tuple of objects": (lambda: (SlowGraph(),), "a tuple that holds a graph"),
    "AnnData": (lambda: anndata.AnnData(np.ones((5, 3))), r'\.obsm\["X_pca"\]'),
    "MuData": (
        lambda: pytest.importorskip("mudata").MuData(
            {"rna": anndata.AnnData(np.ones((5, 3)))}
        ),
        r'a MuData: .*\.mod\["rna"\]',
    ),
    "networkx": (lambda: nx.path_graph(4), "a graph .*pass it as graph="),
    "igraph": (lambda: igraph.Graph.Ring(4), "a graph .*pass it as graph="),
    "ours": (lambda: Graph([(0, 1), (1, 2)]), "a graph .*pass it as graph="),
    "path": (lambda: pathlib.Path("x.csv"), "read it first"),
    "text": (lambda: "x.csv", "'x.csv': if it is the path of a file"),
    "bytes": (lambda: b"x.csv", "if it is the path of a file"),
    "none": (lambda: None, "got None"),
    "set": (lambda: {1, 2}, "type set: convert it first"),
    "generator": (lambda: (i for i in range(3)), "type generator: convert it first"),
    "list of dicts": (
        lambda: [{"a": 1}, {"a": 2}],
        "a list that holds a dict",
    ),
    "list of text": (lambda: [["1", "b"], ["2", "c"]], "a list that holds 'b'"),
    "dates": (
        lambda: np.array([["2020-01-01"]] * 4, "M8[D]"),
        "dates or spans of time",
    ),
}


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize(("make", "text"), OBJECTS.values(), ids=OBJECTS)
@every
def test_other_objects_are_recognised_before_they_are_converted(estimator, make, text):
    values = make()
    if estimator is MultiModalGraphEmbedding and text.endswith("'b'"):
        pytest.skip("text is a category there")
    with pytest.raises(GraphfoldError, match=f"X must .*{text}") as caught:
        estimator().fit(values)
    assert "\n" not in str(caught.value)


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize(("make", "text"), OBJECTS.values(), ids=OBJECTS)
def test_plan_view_and_align_to_recognise_them_too(make, text, points):
    values = make()
    if not isinstance(values, list):  # a list of kernel matrices, or of rows
        with pytest.raises(GraphfoldError, match=f"X must .*{text}"):
            GraphKernelPCA().plan(values)
    with pytest.raises(GraphfoldError, match=f"embedding must .*{text}"):
        view(values)
    if values is not None:
        with pytest.raises(GraphfoldError, match=f"align_to must .*{text}"):
            GraphKernelPCA(align_to=values).fit(points)


def test_dicts_are_for_kernels_and_modes(points):
    with pytest.raises(GraphfoldError, match=r"X must .* a dict with keys a: pass one"):
        GraphKernelPCA().fit({"a": points})
    with pytest.raises(GraphfoldError, match=r"X\['a'\] must be a table of numbers"):
        GraphKernelPCA(kernel="precomputed").fit({"a": Slow(), "b": Slow()})
    with pytest.raises(GraphfoldError, match="sound must be a table of numbers"):
        MultiModalGraphEmbedding().fit({"sound": Slow()})


def test_what_can_be_read_as_numbers_is(points):
    wanted = GraphKernelPCA(2).fit_transform(points)
    frame = pd.DataFrame(points)
    accepted = [
        points.tolist(),
        tuple(map(tuple, points)),
        list(points),
        [row.tolist() for row in points.astype(object)],
        memoryview(points),
        frame.astype("Float64"),
        frame.astype(object),
        frame.astype(pd.SparseDtype(float, 0.0)),
        frame.rename(columns=str).astype("float64[pyarrow]"),
        frame.astype(str).astype("category"),
        pl.DataFrame(points),
        pa.table({str(i): column for i, column in enumerate(points.T)}),
        [[str(cell) for cell in row] for row in points.tolist()],
    ]
    for values in accepted:
        found = GraphKernelPCA(2).fit_transform(values)
        np.testing.assert_allclose(found, wanted, atol=1e-9)


# -- DataFrames -----------------------------------------------------------------------


def with_column(values, name="when"):
    numbers = np.random.default_rng(0).standard_normal((N, 2))
    return pd.DataFrame(numbers, columns=["a", "b"]).assign(**{name: values})


DAYS = pd.date_range("2020-01-01", periods=N)
FRAMES = {
    "dates": (with_column(DAYS), "column 'when' holds dates: turn it into numbers"),
    "only dates": (pd.DataFrame({"when": DAYS}), "column 'when' holds dates"),
    "time zones": (with_column(DAYS.tz_localize("UTC")), "column 'when' holds dates"),
    "periods": (with_column(DAYS.to_period("D")), "column 'when' holds dates"),
    "only periods": (
        pd.DataFrame({"p": DAYS.to_period("D")}),
        "column 'p' holds dates",
    ),
    "days of Python": (
        with_column([datetime.date(2020, 1, 1 + i) for i in range(N)]),
        "column 'when' holds dates",
    ),
    "spans": (with_column(DAYS - DAYS[0]), "column 'when' holds spans of time"),
    "complex": (with_column(np.ones(N) * 1j), "column 'when' holds complex numbers"),
    "polars dates": (
        pl.DataFrame({"a": np.arange(N), "when": list(DAYS.date)}),
        "column 'when' holds dates",
    ),
    "arrow dates": (
        pa.table({"a": np.arange(N), "when": pa.array(DAYS)}),
        "column 'when' holds dates",
    ),
    "one name twice": (
        pd.DataFrame(np.ones((N, 3)), columns=["a", "b", "a"]),
        "'a' names 2 of them: rename",
    ),
    "one number twice": (
        pd.DataFrame(np.ones((N, 2)), columns=[0, 0]),
        "0 names 2 of them: rename",
    ),
    "nothing": (pd.DataFrame(), "an empty DataFrame of 0 rows and 0 columns"),
    "no rows": (pd.DataFrame({"a": []}), "an empty DataFrame of 0 rows and 1 columns"),
    "no columns": (pd.DataFrame(index=range(N)), "of 30 rows and 0 columns"),
    "empty polars": (pl.DataFrame(), "an empty DataFrame of 0 rows and 0 columns"),
}
TEXTS = {
    "text": (with_column(["x", "y", "z"] * 10), r"column 'when' holds 'x' \(str\)"),
    "categories": (with_column(pd.Categorical(["u", "v"] * 15)), "holds 'u'"),
    "intervals": (with_column(pd.interval_range(0, N)), r"holds Interval\(0, 1"),
    "one missing": (with_column([1.5] * (N - 1) + [pd.NA]), "holds <NA>"),
    "polars text": (pl.DataFrame({"a": ["x"] * N}), "column 'a' holds 'x'"),
}


@every
@pytest.mark.parametrize(("frame", "text"), FRAMES.values(), ids=FRAMES)
def test_a_table_that_cannot_be_used_is_one_sentence(estimator, frame, text):
    with pytest.raises(GraphfoldError, match=f"X must .*{text}") as caught:
        estimator().fit(frame)
    assert "\n" not in str(caught.value)


@every
@pytest.mark.parametrize(("frame", "text"), TEXTS.values(), ids=TEXTS)
def test_text_names_its_column(estimator, frame, text):
    if estimator is MultiModalGraphEmbedding:
        pytest.skip("text is a category there")
    with pytest.raises(GraphfoldError, match=f"X must .*{text}.*OneHotEncoder"):
        estimator().fit(frame)


def test_new_rows_are_looked_at_too(points):
    frame = pd.DataFrame(points).rename(columns=str)
    model = GraphKernelPCA(2).fit(frame)
    with pytest.raises(GraphfoldError, match="column '3' holds dates"):
        model.transform(frame.assign(**{"3": pd.Timestamp("2020-01-01")}))
    with pytest.raises(GraphfoldError, match="of 0 rows and 5 columns"):
        model.transform(frame.iloc[:0])


def test_embeddings_that_are_shown_are_looked_at_too():
    with pytest.raises(GraphfoldError, match=r"embedding must .*'when' holds"):
        view(with_column(DAYS))


# -- arrays that are no tables of numbers ---------------------------------------------


FIELDS = np.zeros(20, dtype=[("a", float), ("b", float)])
ODD_ARRAYS = {
    "masked": (
        np.ma.masked_less(np.arange(-2.0, 38).reshape(20, 2), 0),
        r"masked entries in rows 0: .*X\.filled\(\.\.\.\), or drop",
    ),
    "masked rows": (
        [np.ma.masked_less([1.0, 2], 0), np.ma.masked_less([-1.0, 2], 0)],
        "masked entries in rows 1:",
    ),
    "fields": (FIELDS, "structured array with fields a, b"),
    "records": (FIELDS.view(np.recarray), "structured array with fields a, b"),
    "lists": ([[1, 2], [3, 4], [5, 6, 7]], "rows 0 and 2 have 2 and 3 entries"),
    "arrays": ([np.ones(2), np.ones(3)], "rows 0 and 1 have 2 and 3 entries"),
    "objects": (
        np.array([[1], [2, 3]], dtype=object),
        "rows 0 and 1 have 1 and 2 entries",
    ),
    "nested": ([[1, [2, 3]], [1, 2]], "two dimensions; got a list as an entry"),
}


@pytest.mark.filterwarnings("ignore::graphfold.errors.UnderdeterminedWarning")
@pytest.mark.parametrize("odd", ODD_ARRAYS)
@pytest.mark.parametrize(
    "estimator",
    [
        GraphKernelPCA(1),
        LocalNonlinearEmbedding(1),
        MultiModalGraphEmbedding(1),
        RobustGraphPCA(1),
        FastRobustGraphPCA(1),
    ],
    ids=lambda one: type(one).__name__,
)
def test_arrays_that_are_no_table_of_numbers_are_refused(estimator, odd):
    X, text = ODD_ARRAYS[odd]
    with pytest.raises(GraphfoldError, match=text):
        clone(estimator).fit(X)
    fitted = clone(estimator).fit(np.random.default_rng(0).random((20, 2)))
    with pytest.raises(GraphfoldError, match=text):
        fitted.transform(X)


def test_a_mask_that_hides_nothing_is_no_matter(points):
    model = GraphKernelPCA(2).fit(np.ma.masked_array(points))
    np.testing.assert_array_equal(
        model.embedding_, GraphKernelPCA(2).fit(points).embedding_
    )


# -- align_to -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reference", "text"),
    [
        ("x", "must be a fitted estimator.*got 'x'"),
        ({"a": 1}, "must be a fitted estimator.*got a dict"),
        (3, "must be a fitted estimator.*type int"),
        ([["a", "b"]], "a list that holds 'a'"),
        (pd.DataFrame({"a": DAYS}), "column 'a' holds dates"),
        (GraphKernelPCA(2), "must be fitted"),
    ],
    ids=str,
)
def test_align_to_is_looked_at_before_any_work(reference, text, points):
    class Untouched(GraphKernelPCA):
        def _solve(self, *arguments, **how):
            raise AssertionError("work was done")

    with pytest.raises(GraphfoldError, match=f"align_to {text}|align_to must .*{text}"):
        Untouched(2, align_to=reference).fit(points)


def test_the_cells_of_a_list_are_looked_at_once():
    check.refuse_other_objects("X", [[1, 2.0, None, np.float32(3)], [True, 1, 2, 3]])
    check.refuse_other_objects("X", [])
