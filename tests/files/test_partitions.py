"""Tables in parts: the rules of tables in memory, and never half of an embedding."""

import os

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

dask = pytest.importorskip("dask")
pytest.importorskip("dask.dataframe")
pytest.importorskip("distributed")
pytest.importorskip("pyarrow")

from graphfold.errors import FileError  # noqa: E402
from graphfold.files import partitions, pieces, read_table  # noqa: E402
from graphfold.files.edge_parts import read_graph_for_parts  # noqa: E402
from graphfold.files.partitions import (  # noqa: E402
    classes_of,
    parts_to_be_written,
    read_parts,
    write_parts,
)
from graphfold.replacing import replace_folder  # noqa: E402

NAMES = ["component1", "component2"]
LABELS = np.array([f"row{i}" for i in range(24)])


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with dask.config.set(scheduler="synchronous"):
        yield tmp_path


@pytest.fixture
def frame(rng):
    found = pd.DataFrame(rng.standard_normal((24, 2)), columns=["a", "b"])
    found["kind"] = np.where(found["a"] > 0, "high", "low")
    return found


def in_folder(frame, name, n=12):
    """Files of two rows each, part.10 behind part.9."""
    os.mkdir(name)
    named = not isinstance(frame.index, pd.RangeIndex)
    for i, rows in enumerate(np.array_split(np.arange(len(frame)), n)):
        frame.iloc[rows].to_parquet(f"{name}/part.{i}.parquet", index=named)


def named(frame, how):
    """The frame with its rows named in one of the ways that a file has."""
    if how == "index":
        return frame.set_axis(pd.Index(LABELS, name="who"))
    if how == "nameless index":
        return frame.set_axis(LABELS)
    if how == "first column":
        return frame.assign(who=LABELS)[["who", "a", "b", "kind"]]
    if how == "numbers called id":
        return frame.assign(id=np.arange(24) + 100)[["id", "a", "b", "kind"]]
    return frame


WAYS = ["index", "nameless index", "first column", "numbers called id", "none"]


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("file", [True, False])
def test_columns_are_what_they_are_in_memory(how, file, frame):
    table = named(frame, how)
    table.to_parquet("whole.parquet")
    name = "whole.parquet"
    if not file:
        in_folder(table, "data")
        name = "data"
    expected = read_table("whole.parquet", aside=["kind"])
    found = read_parts(name, aside=["kind"])
    assert found.columns == expected.columns == ["a", "b"]
    assert_array_equal(found.X.compute(), expected.X)
    assert found.X.numblocks[0] == (1 if file else 12)
    assert_array_equal(found.extra["kind"].compute(), expected.extra["kind"])
    if expected.labels is None:
        assert found.labels is None and found.few is None
    else:
        assert_array_equal(found.labels.compute(), expected.labels)
        assert_array_equal(found.few, expected.labels[: len(found.few)])


def test_large_files_are_read_by_row_groups(frame, monkeypatch):
    frame.to_parquet("d.parquet", row_group_size=5)
    monkeypatch.setattr(pieces, "LARGE", 1)
    found = read_parts("d.parquet", aside=["kind"])
    assert found.X.chunks[0] == (5, 5, 5, 5, 4)
    assert_array_equal(found.X.compute(), frame[["a", "b"]])


def test_files_without_rows_are_passed_over(frame):
    in_folder(frame, "data", 3)
    frame.iloc[:0].to_parquet("data/part.1.parquet")
    found = read_parts("data", aside=["kind"])
    assert found.X.chunks[0] == (8, 8)


def test_narrow_numbers_stay_narrow_and_the_missing_are_nan():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]}).astype("float32")
    frame.to_parquet("narrow.parquet")
    assert read_parts("narrow.parquet").X.compute().dtype == np.float32
    wide = frame.assign(
        c=pd.array([1, None], dtype="Int64"), d=pd.array([True, None], dtype="boolean")
    )
    wide.to_parquet("wide.parquet")
    expected = [[1, 3, 1, 1], [2, 4, np.nan, np.nan]]
    assert_array_equal(read_parts("wide.parquet").X.compute(), expected)


def test_a_zarr_array_is_a_table(rng):
    zarr = pytest.importorskip("zarr")
    X = rng.standard_normal((30, 4))
    zarr.create_array("d.zarr", shape=X.shape, chunks=(7, 2), dtype=X.dtype)[:] = X
    found = read_parts("d.zarr")
    assert_array_equal(found.X.compute(), X)
    assert found.X.numblocks == (1, 1)
    store = zarr.open_group("g.zarr", mode="w")
    for name in ("one", "two"):
        store.create_array(name, shape=X.shape, chunks=(7, 2), dtype=X.dtype)[:] = X
    assert read_parts("g.zarr:two").X.shape == (30, 4)
    with pytest.raises(FileError, match="there are: one, two"):
        read_parts("g.zarr")
    with pytest.raises(FileError, match="no columns beside its array; got kind"):
        read_parts("d.zarr", aside=["kind"])
    store.attrs["encoding-type"] = "anndata"
    with pytest.raises(FileError, match="annotated store: on Dask name an array"):
        read_parts("g.zarr")


def test_what_cannot_be_read_in_parts(frame):
    allowed = "a parquet file, a folder of them, or a zarr array"
    with pytest.raises(FileError, match=allowed):
        read_parts("data.csv")
    with pytest.raises(FileError, match="neither a file nor a folder"):
        read_parts("none.parquet")
    os.mkdir("empty.parquet")
    with pytest.raises(FileError, match="parquet files with rows; it has none"):
        read_parts("empty.parquet")
    frame.iloc[:0].to_parquet("rowless.parquet")
    with pytest.raises(FileError, match="parquet files with rows; it has none"):
        read_parts("rowless.parquet")
    frame.to_parquet("words.parquet")
    with pytest.raises(
        FileError, match=r"'kind' has '(high|low)': say --id-column kind"
    ):
        read_parts("words.parquet")
    with pytest.raises(FileError, match="no column 'x'"):
        read_parts("words.parquet", aside=["x"])
    frame.set_index(["a", "kind"]).to_parquet("two.parquet")
    with pytest.raises(FileError, match="its index has 2: a, kind"):
        read_parts("two.parquet")
    in_folder(frame, "mixed", 2)
    frame.drop(columns="b").to_parquet("mixed/part.1.parquet")
    with pytest.raises(FileError, match=r"part.1.parquet has a, kind"):
        read_parts("mixed")
    frame.astype({"a": str}).iloc[2:].to_parquet("mixed/part.1.parquet", index=False)
    with pytest.raises(FileError, match=r"part.1.parquet has no numbers in a, those"):
        read_parts("mixed")
    os.mkdir("broken")
    with open("broken/x.parquet", "wb") as stream:
        stream.write(b"no such thing")
    with pytest.raises(FileError, match=r"not a readable .parquet file"):
        read_parts("broken")


def test_words_that_mean_unknown_are_no_class(frame):
    frame["kind"] = [None, "", "-1", *["high"] * 21]
    frame["number"] = -1
    frame.to_parquet("d.parquet")
    found = read_parts("d.parquet", aside=["kind", "number"]).extra
    assert classes_of(found["kind"]).compute().tolist() == [None] * 3 + ["high"] * 21
    assert classes_of(found["number"]).compute().tolist() == [-1] * 24


# -- writing --------------------------------------------------------------------------


def write(path, Z, parts):
    place = parts_to_be_written(path)
    replace_folder(place.path, lambda new: write_parts(new, place, Z, NAMES, parts))


@pytest.mark.parametrize("how", WAYS)
def test_what_is_written_is_read_back(how, frame):
    in_folder(named(frame, how), "data")
    parts = read_parts("data", aside=["kind"])
    write("o.parquet", parts.X, parts)
    found = pd.read_parquet("o.parquet")  # in the order of names: part.02 before .10
    assert list(found.columns) == [*NAMES, "kind"]
    assert found.index.name == "id"
    expected = np.arange(24) if parts.labels is None else parts.labels.compute()
    assert_array_equal(found.index, expected)
    assert_array_equal(found[NAMES], frame[["a", "b"]])
    assert_array_equal(found["kind"], frame["kind"])
    assert len(os.listdir("o.parquet")) == 12
    again = read_parts("o.parquet", aside=["kind"])
    assert_array_equal(again.labels.compute(), expected)
    assert sorted(os.listdir()) == ["data", "o.parquet"]


def test_zarr_arrays_have_even_chunks(frame):
    zarr = pytest.importorskip("zarr")
    in_folder(frame, "data", 5)
    parts = read_parts("data", aside=["kind"])
    write("o.zarr", parts.X, parts)
    found = zarr.open_array("o.zarr")
    assert_array_equal(found[:], frame[["a", "b"]])
    assert found.chunks == (5, 2)
    parts = read_parts("o.zarr")
    write("o.parquet", parts.X, parts)
    assert_array_equal(pd.read_parquet("o.parquet").index, np.arange(24))


@pytest.mark.parametrize("name", ["o.parquet", "o.zarr"])
def test_what_fails_leaves_the_old_one_and_nothing_else(name, frame, monkeypatch):
    if name.endswith(".zarr"):
        pytest.importorskip("zarr")
    in_folder(frame, "data", 3)
    parts = read_parts("data", aside=["kind"])
    write(name, parts.X, parts)

    def interrupted(Z, *_):
        raise KeyboardInterrupt

    for one in ("_write_part", "_write_chunk"):
        monkeypatch.setattr(partitions, one, interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(name, parts.X * 0, parts)
    found = read_parts(name, aside=["kind"] if name == "o.parquet" else [])
    assert_array_equal(found.X.compute(), frame[["a", "b"]])
    assert sorted(os.listdir()) == ["data", name]


def test_where_parts_can_be_written(frame):
    with pytest.raises(FileError, match=r"a folder that ends in .parquet or .zarr"):
        parts_to_be_written("o.csv")
    with pytest.raises(FileError, match="none is not a folder"):
        parts_to_be_written("none/o.parquet")
    frame.to_parquet("o.parquet")  # a file gives way to a folder
    parts = read_parts("o.parquet", aside=["kind"])
    write("o.parquet", parts.X, parts)
    assert os.path.isdir("o.parquet")
    with open("o.parquet/thesis.tex", "w") as stream:
        stream.write("three years")
    with pytest.raises(FileError, match=r"such as thesis.tex, so it is not replaced"):
        parts_to_be_written("o.parquet")


# -- edges ----------------------------------------------------------------------------

EDGES = [["row0", "row1"], ["row1", "row2"], ["row2", "NA"]]


def write_edges(name, rows, columns=("source", "target")):
    frame = pd.DataFrame(rows, columns=list(columns))
    if ".csv" in name:
        frame.to_csv(name, index=False)
    elif name.endswith(".tsv"):
        frame.to_csv(name, index=False, header=False, sep="\t")
    elif name.endswith(".parquet"):
        frame.to_parquet(name)
    else:
        in_folder(frame, name, 2)


@pytest.mark.parametrize("name", ["e.csv", "e.csv.gz", "e.tsv", "e.parquet", "e"])
@pytest.mark.parametrize("weighted", [True, False])
def test_edges_stay_in_their_file(name, weighted):
    rows = [[*edge, i + 0.5] for i, edge in enumerate(EDGES)] if weighted else EDGES
    columns = ("target", "source", "weight") if weighted else ("from", "to")
    if name == "e.tsv":
        columns = ("source", "target", "weight")[: len(columns)]
    write_edges(name, rows, columns)
    graph = read_graph_for_parts(name, LABELS[:3], 24)
    turned = weighted and name != "e.tsv"
    found = graph.edges.compute()
    expected = [edge[::-1] for edge in EDGES] if turned else EDGES
    assert found[["source", "target"]].to_numpy().tolist() == expected
    if weighted:
        assert found["weight"].tolist() == [0.5, 1.5, 2.5]


@pytest.mark.parametrize("name", ["e.csv", "e.parquet"])
@pytest.mark.parametrize("few", [None, np.array([7, 8]), np.array(["7", "8"])])
def test_ends_are_named_as_the_rows_are(name, few):
    write_edges(name, [["7", "8"], ["8", "9"]])
    found = read_graph_for_parts(name, few, 24).edges.compute()
    kind = str if few is not None and few.dtype.kind == "U" else int
    assert found["source"].tolist() == [kind(7), kind(8)]


def test_long_lists_are_read_in_blocks(monkeypatch):
    monkeypatch.setattr("graphfold.files.edge_parts.BLOCK", 64)
    rows = [[f"row{i}", f"row{i + 1}"] for i in range(20)]
    write_edges("e.csv", rows)
    graph = read_graph_for_parts("e.csv", LABELS[:3], 24)
    assert graph.n_parts > 2
    assert graph.edges.compute().to_numpy().tolist() == rows


MISTAKES = {
    "ragged": ("source,target\na,b\na,b,c,d\n", "not a readable .csv file"),
    "half": ("source,target\na,b\na\n", "a source, a target and a weight for every"),
    "weights": ("a,b,1\na,b,much\n", "numbers as weights; got much"),
    "columns": ("a,b,c,d\n", "got a, b, c, d: name them"),
}


@pytest.mark.parametrize(("text", "sentence"), MISTAKES.values(), ids=MISTAKES)
def test_a_broken_list_gets_one_sentence(text, sentence):
    with open("e.csv", "w") as stream:
        stream.write(text)
    with pytest.raises(FileError, match=sentence):
        read_graph_for_parts("e.csv", LABELS[:3], 24).edges.compute()


def test_numbers_must_be_those_of_rows():
    write_edges("e.parquet", [[0, 24]])
    with pytest.raises(FileError, match="0 to 23; got 24"):
        read_graph_for_parts("e.parquet", None, 24).edges.compute()


def test_other_graphs_come_to_memory_and_keep_their_names():
    edges = np.array([[100, 101], [101, 999]])
    np.save("e.npy", edges)
    graph = read_graph_for_parts("e.npy", np.array([100, 101]), 24)
    assert graph.nodes.tolist() == [100, 101, 999]
    np.save("square.npy", np.ones((24, 24)))
    graph = read_graph_for_parts("square.npy", LABELS[:3], 24)
    assert not graph.has_labels
