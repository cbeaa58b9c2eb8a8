"""Lists of edges at the command line: their columns, and the rows that they name."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from graphfold import Graph, GraphKernelPCA
from graphfold.files import read_table
from tests.cli.command import graphfold as command

N = 60


@pytest.fixture
def ids(rng):
    return rng.permutation(N)


@pytest.fixture
def customers(points, edges, ids, tmp_path):
    """A table whose integer ids are called "customer", in another order than lines."""
    frame = pd.DataFrame(points, columns=list("abcde"))
    frame.insert(0, "customer", ids)
    frame.to_csv(tmp_path / "data.csv", index=False)
    frame.to_parquet(tmp_path / "data.parquet")
    pd.DataFrame(
        {
            "when": 2020,
            "payer": ids[edges[0]],
            "payee": ids[edges[1]],
            "amount": 1.0 + np.arange(len(edges[0])),
        }
    ).to_csv(tmp_path / "edges.csv", index=False)
    pd.DataFrame({"source": ids[edges[0]], "target": ids[edges[1]]}).to_csv(
        tmp_path / "plain.csv", index=False
    )
    return tmp_path


def components(path):
    return np.asarray(read_table(path, words=True).X)


@pytest.mark.parametrize("data", ["data.csv", "data.parquet"])
def test_an_integer_column_that_may_name_the_rows_is_not_a_feature(
    data, customers, points, edges, ids
):
    words = ["embed", data, "--graph", "plain.csv", "-o", "out.csv"]
    refused = command(*words, cwd=customers, code=2)
    assert "'customer' of the data has different whole numbers" in refused.stderr
    assert "--id-column customer" in refused.stderr
    assert not (customers / "out.csv").exists()
    command(*words, "--id-column", "customer", cwd=customers)
    graph = Graph.from_edges(ids[edges[0]], ids[edges[1]], nodes=ids)
    expected = GraphKernelPCA(2, graph=graph).fit_transform(points, node_ids=ids)
    assert_allclose(components(customers / "out.csv"), expected, atol=1e-6)
    assert read_table(customers / "out.csv").labels.tolist() == [str(i) for i in ids]


def test_edges_by_line_are_asked_for(customers, points, edges, ids):
    words = ["embed", "data.csv", "--graph", "plain.csv", "-o", "out.csv"]
    command(*words, "--id-column", "none", cwd=customers)
    X = np.column_stack([ids, points])
    graph = Graph.from_edges(ids[edges[0]], ids[edges[1]], nodes=np.arange(N))
    expected = GraphKernelPCA(2, graph=graph).fit_transform(X)
    assert_allclose(components(customers / "out.csv"), expected, atol=1e-6)


def test_pairs_by_line_beside_a_column_of_names_are_refused(customers):
    (customers / "must.csv").write_text("source,target\n3,5\n")
    words = ["embed", "data.csv", "--must-link", "must.csv", "-o", "out.csv"]
    refused = command(*words, cwd=customers, code=2)
    assert "--id-column customer" in refused.stderr


def test_columns_of_edges_are_named_or_refused(customers, points, edges, ids):
    words = ["embed", "data.csv", "--id-column", "customer", "--graph", "edges.csv"]
    words += ["-o", "out.csv"]
    refused = command(*words, cwd=customers, code=2)
    assert "got when, payer, payee, amount: name them with --source" in refused.stderr
    words += ["--source", "payer", "--target", "payee"]
    warned = command(*words, cwd=customers)
    assert "IgnoredColumnsWarning" in warned.stderr
    assert "'when', 'amount'" in warned.stderr
    command(*words, "--weight", "amount", cwd=customers)
    weights = 1.0 + np.arange(len(edges[0]))
    graph = Graph.from_edges(ids[edges[0]], ids[edges[1]], weights, nodes=ids)
    expected = GraphKernelPCA(2, graph=graph).fit_transform(points, node_ids=ids)
    assert_allclose(components(customers / "out.csv"), expected, atol=1e-6)
    quiet = command(*words, "--weight", "none", cwd=customers)
    assert "Warning" not in quiet.stderr


def test_missing_ends_are_dropped_where_that_is_asked(folder):
    with (folder / "edges.csv").open("a") as stream:
        stream.write(",row3\n")
    words = ["embed", "data.csv", "--label-column", "kind", "--graph", "edges.csv"]
    words += ["-o", "out.csv"]
    refused = command(*words, cwd=folder, code=2)
    assert "must have a source, a target and a weight for every edge" in refused.stderr
    dropped = command(*words, "--dropna", cwd=folder)
    assert "DroppedEdgesWarning" in dropped.stderr


def test_a_column_of_names_that_is_not_there_is_said(folder):
    words = ["embed", "data.csv", "-o", "out.csv", "--id-column"]
    refused = command(*words, "nobody", cwd=folder, code=2)
    assert "has no column 'nobody'; there are" in refused.stderr
    refused = command("embed", "plain.npy", *words[2:], "x", cwd=folder, code=2)
    assert "no columns that could name its rows" in refused.stderr


def test_edges_listed_twice_are_added_where_that_is_asked(folder):
    (folder / "twice.csv").write_text(
        "source,target,weight\nrow1,row2,1\nrow2,row1,2\n"
    )
    words = ["embed", "data.csv", "--label-column", "kind", "--graph", "twice.csv"]
    warned = command(*words, "-o", "out.csv", cwd=folder)
    assert "--duplicates sum" in warned.stderr
    quiet = command(*words, "--duplicates", "sum", "-o", "sum.csv", cwd=folder)
    assert "DuplicateEdgesWarning" not in quiet.stderr
