"""Edges, pairs and graphml of strangers: each trick gets one short sentence."""

import numpy as np
import pytest

from graphfold.files import read_links, read_pairs
from tests.trust.parsers.hostile_zip import (
    array,
)
from tests.trust.parsers.readers import LABELS, N, graph, named_graph

# -- edges and pairs ------------------------------------------------------------------

EDGES = {
    "a trillion": "0,1000000000000\n",
    "below zero": "0,-1\n",
    "beyond integers": f"0,{10**30}\n",
    "beyond floats": "0,1e400\n",
    "infinity": "0,inf\n",
    "not a number": "0,nan\n",
    "a fraction": "0,0.5\n",
    "nothing": "0,\n",
    "a weight that is none": "source,target,weight\n0,1,nan\n",
    "a weight beyond": "source,target,weight\n0,1,1e400\n",
    "many columns": "a,b,c,d\n1,2,3,4\n",
}


@pytest.mark.parametrize("content", EDGES.values(), ids=EDGES)
@pytest.mark.filterwarnings("error")
def test_an_edge_of_no_rows_takes_no_memory(content, refused):
    refused("edges.csv", content, graph)
    refused("edges.tsv", content.replace(",", "\t"), graph)


NUMBERS = {
    "a trillion": [[0.0, 1e12]],
    "infinity": [[0.0, np.inf]],
    "not a number": [[0.0, np.nan]],
    "beyond integers": [[0.0, 1e300]],
    "texts as weights": [["0", "1", "x"]],
    "dates": np.array([["2020", "2021"]], dtype="M8[Y]"),
    "complex": [[0j, 1j]],
    "one number": 1.0,
    "three dimensions": np.zeros((2, 2, 2)),
}


@pytest.mark.parametrize("values", NUMBERS.values(), ids=NUMBERS)
@pytest.mark.parametrize("read", [graph, named_graph])
def test_arrays_of_edges_that_are_none_are_refused(values, read, refused):
    refused("edges.npy", array(values), read)


PAIRS = {
    "no JSON": "{",
    "deep": "[" * 100_000 + "]" * 100_000,
    "a long number": '{"must_link": [[' + "9" * 10_000 + ", 1]]}",
    "a large number": '{"must_link": [[' + "9" * 400 + ", 1]]}",
    "a list": "[1]",
    "a text": '{"must_link": "ab"}',
    "texts": '{"must_link": ["ab", "cd"]}',
    "lists of lists": '{"must_link": [[["n1"], ["n2"]], [["n3"], ["n4"]]]}',
    "dictionaries": '{"must_link": [[{}, {"a": 1}]]}',
    "nothing": '{"must_link": [[null, null]]}',
    "three": '{"must_link": [["n1", "n2", "n3"]]}',
    "a zero": '{"must_link": [["n1\\u0000", "n2"]]}',
    "half a character": '{"must_link": [["\\ud800", "n2"]]}',
    "an escape": '{"must_link": [["\\u001b[2J", "x"]]}',
    "not a number": '{"must_link": [[NaN, 1]]}',
    "no UTF-8": b'{"must_link": [["\xff", 1]]}',
}


@pytest.mark.parametrize(
    "labels", [None, LABELS, np.arange(N)], ids=["", "words", "ints"]
)
@pytest.mark.parametrize("content", PAIRS.values(), ids=PAIRS)
def test_pairs_that_are_none_are_refused(content, labels, refused):
    refused("pairs.json", content, lambda path: read_links(path, labels, N))


def test_pairs_of_large_numbers_are_refused(refused):
    read = lambda path: read_pairs(path, "must_link", np.arange(N), N)  # noqa: E731
    refused("pairs.csv", f"{10**30},1\n", read)
    refused("pairs.csv", "1e400,1\n", read)


# -- graphml --------------------------------------------------------------------------


def graphml(head="", body='<edge source="n0" target="n1"/>'):
    return (
        f'<?xml version="1.0"?>{head}<graphml xmlns="http://graphml.graphdrawing.org/'
        f'xmlns"><graph edgedefault="undirected">{body}</graph></graphml>'
    )


LAUGHS = "".join(f'<!ENTITY l{i + 1} "{f"&l{i};" * 10}">' for i in range(9))
DOCUMENTS = {
    "a billion laughs": graphml(
        f'<!DOCTYPE g [<!ENTITY l0 "ha">{LAUGHS}]>', '<node id="&l9;"/>'
    ),
    "a file of the system": graphml(
        '<!DOCTYPE g [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        '<node id="a">&x;</node>',
    ),
    "a document type elsewhere": graphml(
        '<!DOCTYPE g SYSTEM "http://localhost/x.dtd">'
    ),
    "an entity that is not declared": graphml(body='<node id="&x;"/>'),
    "deep": graphml(body="<node>" * 100_000),
    "deep and closed": graphml(body="<node>" * 5000 + "</node>" * 5000),
    "cut off": graphml()[:-20],
    "nothing": "",
    "no graph": '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"/>',
    "an unknown key": graphml(body='<node id="a"><data key="x">1</data></node>'),
    "a name of Python's": graphml(
        body='<edge source="n0" target="n1"><data key="__class__">x</data></edge>'
    ),
    "a weight that is none": graphml(body='<edge source="n0" target="n0"/>'),
    "a zero": graphml().replace("n0", "\0"),
}


@pytest.mark.parametrize("content", DOCUMENTS.values(), ids=DOCUMENTS)
def test_a_graphml_file_with_tricks_is_refused(content, refused):
    pytest.importorskip("networkx", reason="graphml files are read with networkx")
    refused("graph.graphml", content, named_graph)


def test_entities_are_refused_before_networkx_sees_them(refused):
    pytest.importorskip("networkx", reason="graphml files are read with networkx")
    said = refused("graph.graphml", DOCUMENTS["a billion laughs"], named_graph)
    assert "a document type or entities, which are not read" in said
