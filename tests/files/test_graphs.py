"""Graphs of every format, by name and by number; what they cannot mean."""

import io

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from graphfold.errors import (
    DroppedEdgesWarning,
    DuplicateEdgesWarning,
    FileError,
    IgnoredColumnsWarning,
    UnknownRowsWarning,
)
from graphfold.files import read_graph
from graphfold.files.graphs import Asked

N = 6
EDGES = np.array([[0, 1], [1, 2], [4, 5]])
WEIGHTS = np.array([1.0, 2.0, 0.5])
LABELS = np.array(["a", "b", "c", "d", "e", "f"])


def adjacency():
    A = np.zeros((N, N))
    A[EDGES[:, 0], EDGES[:, 1]] = WEIGHTS
    return A + A.T


def by_name(path, names):
    tails, heads = names[EDGES[:, 0]], names[EDGES[:, 1]]
    frame = pd.DataFrame({"source": tails, "target": heads, "weight": WEIGHTS})
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix == ".graphml":
        graph = nx.Graph()
        graph.add_weighted_edges_from(zip(tails, heads, WEIGHTS, strict=True))
        nx.write_graphml(graph, path)
    else:
        frame.to_csv(path, sep="\t" if path.suffix == ".tsv" else ",", index=False)


def of_rows(graph, labels=None):
    found = graph if labels is None else graph.subgraph(labels)
    return found.to_scipy().toarray()


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".graphml"])
@pytest.mark.parametrize("labelled", [True, False])
def test_lists_of_edges(suffix, labelled, tmp_path):
    path = tmp_path / f"graph{suffix}"
    names = LABELS if labelled else np.arange(N)
    by_name(path, names if suffix != ".graphml" else names.astype(str))
    labels = LABELS if labelled else None
    assert_array_equal(of_rows(read_graph(path, labels, N), labels), adjacency())


@pytest.mark.parametrize("labels", [LABELS, None], ids=["labelled", "numbered"])
def test_matrices(labels, tmp_path):
    A = adjacency()
    np.save(tmp_path / "a.npy", A)
    np.savez(tmp_path / "b.npz", A)
    sp.save_npz(tmp_path / "c.npz", sp.csr_matrix(A))
    scipy.io.mmwrite(tmp_path / "d.mtx", sp.coo_matrix(A))
    for path in sorted(tmp_path.iterdir()):
        assert_array_equal(of_rows(read_graph(path, labels, N), labels), A)


def test_arrays_of_edges(tmp_path):
    np.save(tmp_path / "a.npy", np.column_stack([EDGES, WEIGHTS]))
    assert_array_equal(of_rows(read_graph(tmp_path / "a.npy", None, N)), adjacency())
    numbers = np.array(["0", "1", "2", "3", "4", "5"])
    found = read_graph(tmp_path / "a.npy", numbers, N)
    assert_array_equal(of_rows(found, numbers), adjacency())


@pytest.mark.parametrize(
    "content",
    [
        "a,b\nb,c\ne,f\n",
        "source,target\na,b\nb,c\ne,f\n",
        "target,source\na,b\nb,c\ne,f\n",
        "here,there,weight\na,b,1\nb,c,1\ne,f,1\n",
        "From,To,W\na,b,1\nb,c,1\ne,f,1\n",
        '"a","b"\n\nb,c\ne,f\n',
    ],
)
def test_headers_are_known_or_not_there(content, tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text(content)
    found = read_graph(path, LABELS, N).subgraph(LABELS)
    assert_array_equal(found.to_scipy().toarray(), adjacency() > 0)


def test_a_directed_graphml_loses_its_directions(tmp_path):
    graph = nx.DiGraph()
    graph.add_edge("a", "b")
    nx.write_graphml(graph, tmp_path / "g.graphml")
    found = read_graph(tmp_path / "g.graphml", LABELS, N)
    assert of_rows(found, LABELS)[0, 1] == 1.0


def test_the_weight_of_a_graphml_file_can_be_named(tmp_path):
    graph = nx.Graph([("a", "b", {"trips": 4.0})])
    nx.write_graphml(graph, tmp_path / "g.graphml")
    with pytest.warns(IgnoredColumnsWarning, match="trips is not used"):
        assert of_rows(read_graph(tmp_path / "g.graphml", LABELS, N), LABELS).max() == 1
    found = read_graph(tmp_path / "g.graphml", LABELS, N, asked=Asked(weight="trips"))
    assert of_rows(found, LABELS)[0, 1] == 4.0


def written(path, content):
    if path.suffix == ".parquet":
        pd.read_csv(io.StringIO(content), keep_default_na=True).to_parquet(path)
    else:
        path.write_text(content)
    return path


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize(
    ("content", "ignored"),
    [
        ("Unnamed: 0,from,to,t\n0,a,b,7\n1,b,c,7\n2,e,f,7\n", "'t'"),
        ("n,from,to,trips\n0,a,b,7\n1,b,c,8\n2,e,f,9\n", "'n', 'trips'"),
        ("source,target,year\na,b,2001\nb,c,2002\ne,f,2003\n", "'year'"),
        ("source,target,kind,weight\na,b,x,1\nb,c,y,1\ne,f,z,1\n", "'kind'"),
    ],
)
def test_columns_that_are_not_used_are_said(suffix, content, ignored, tmp_path):
    path = written(tmp_path / f"edges{suffix}", content)
    with pytest.warns(IgnoredColumnsWarning, match=f"not used: {ignored};.*--weight"):
        found = read_graph(path, LABELS, N)
    assert_array_equal(of_rows(found, LABELS), adjacency() > 0)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_columns_that_are_not_known_are_named_by_the_caller(suffix, tmp_path):
    content = "when,payer,payee,amount\n5,a,b,1\n6,b,c,2\n7,e,f,0.5\n"
    path = written(tmp_path / f"edges{suffix}", content)
    with pytest.raises(FileError, match=r"got when, payer, payee, amount.*--source"):
        read_graph(path, LABELS, N)
    asked = Asked("payer", "payee", "amount")
    assert_array_equal(
        of_rows(read_graph(path, LABELS, N, asked=asked), LABELS), adjacency()
    )


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("labelled", [True, False])
def test_missing_ends_are_refused_or_dropped(suffix, labelled, tmp_path):
    content = "source,target\na,b\nb,c\ne,f\n,b\n"
    if not labelled:
        content = "source,target\n0,1\n1,2\n4,5\n,1\n"
    path = written(tmp_path / f"edges{suffix}", content)
    labels = LABELS if labelled else None
    with pytest.raises(FileError, match=r"missing in 1 of 4 edges.*edge 4.*--dropna"):
        read_graph(path, labels, N)
    with pytest.warns(DroppedEdgesWarning, match="1 of 4 edges"):
        found = read_graph(path, labels, N, asked=Asked(dropna=True))
    assert_array_equal(of_rows(found, labels), adjacency() > 0)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_missing_weights_are_refused_or_dropped(suffix, tmp_path):
    content = "source,target,weight\na,b,1\nb,c,2\ne,f,0.5\na,f,\n"
    path = written(tmp_path / f"edges{suffix}", content)
    with pytest.raises(FileError, match=r"missing in 1 of 4 edges.*edge 4.*--dropna"):
        read_graph(path, LABELS, N)
    with pytest.warns(DroppedEdgesWarning, match="1 of 4 edges"):
        found = read_graph(path, LABELS, N, asked=Asked(dropna=True))
    assert of_rows(found, LABELS).sum() == 2 * 3.5


def test_weights_of_an_edge_are_added_where_that_is_asked(tmp_path):
    path = written(tmp_path / "edges.csv", "source,target,weight\na,b,1\nb,a,2\n")
    with pytest.warns(DuplicateEdgesWarning, match="--duplicates sum"):
        assert of_rows(read_graph(path, LABELS, N), LABELS).sum() == 2 * 2
    found = read_graph(path, LABELS, N, asked=Asked(duplicates="sum"))
    assert of_rows(found, LABELS).sum() == 2 * 3


def test_directions_of_a_matrix_of_another_file_are_those_of_a_graph(tmp_path):
    anndata = pytest.importorskip("anndata", reason="needs anndata")
    adata = anndata.AnnData(np.zeros((N, 1)), obs=pd.DataFrame(index=LABELS))
    adata.obsp["connectivities"] = sp.csr_matrix(np.triu(adjacency()))
    adata.write_h5ad(tmp_path / "g.h5ad")
    found = read_graph(tmp_path / "g.h5ad", LABELS[::-1], N)
    assert_array_equal(of_rows(found, LABELS), adjacency())


def test_edges_of_strangers_are_left_out_and_said(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("a,b\nb,x9\ny1,y2\n")
    with pytest.warns(UnknownRowsWarning, match="2 edges of .* such as y1, x9, y2"):
        graph = read_graph(path, LABELS, N)
    assert graph.subgraph(LABELS).n_edges == 1


MISTAKES = {
    "a,b,c,d\n": "got a, b, c, d: name them with --source, --target and --weight",
    "a\n": "ends of the edges must be in columns",
    "here,there,length\na,b,1\nb,c,1\n": "got here, there, length: name them",
    "": "it is empty",
    "a,b\nc\n": "line 2 has 1",
    "a,b,1\nb,c,x\n": "line 2, column '3' has 'x'",
    "a,b,1\nb,c,\n": "missing in 1 of 2 edges, the first is edge 2",
    "x,y\ny,z\n": "no edge between two rows of the data: it names x, y, y, ",
}


@pytest.mark.parametrize(("content", "sentence"), MISTAKES.items())
def test_a_broken_list_gets_one_sentence(content, sentence, tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text(content)
    with pytest.raises(FileError, match=sentence):
        read_graph(path, LABELS, N)


def test_numbers_must_be_those_of_rows(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("0,1\n2,6\n")
    with pytest.raises(FileError, match="rows by number, 0 to 5; got 6"):
        read_graph(path, None, N)
    path.write_text("0,1\n2,1.5\n")
    with pytest.raises(FileError, match=r"by number, 0, 1, .*no column of names"):
        read_graph(path, None, N)
    path.write_text("a,b\n")
    with pytest.raises(FileError, match="as the data do, such as 0, 1, 2"):
        read_graph(path, np.arange(N), N)


def test_a_matrix_must_have_the_rows_of_the_data(tmp_path):
    np.save(tmp_path / "a.npy", np.ones((4, 4)))
    with pytest.raises(FileError, match=r"square matrix of 6 rows.*got shape \(4, 4\)"):
        read_graph(tmp_path / "a.npy", LABELS, N)
    np.save(tmp_path / "b.npy", np.ones((6, 5)))
    with pytest.raises(FileError, match=r"got shape \(6, 5\)"):
        read_graph(tmp_path / "b.npy", None, N)


def test_broken_graphml_is_said(tmp_path):
    (tmp_path / "g.graphml").write_text("<graphml><node")
    with pytest.raises(FileError, match=r"not a readable .graphml file"):
        read_graph(tmp_path / "g.graphml", LABELS, N)
    with pytest.raises(FileError, match=r"must end in one of .*graphml"):
        read_graph(tmp_path / "g.gml", LABELS, N)
