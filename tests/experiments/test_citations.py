"""The study of Cora: its parts on small graphs, and a quick run on the real one."""

import numpy as np
import pytest
import scipy.sparse as sp

from graphfold import Graph
from graphfold.experiments import citations
from graphfold.experiments.protocol import Measured, Scope
from tests.conftest import real

QUICK = Scope(quick=True)


@pytest.fixture(scope="module")
def prepared():
    real(lambda: citations.read(QUICK))
    return citations.prepare(QUICK)


@pytest.fixture(scope="module")
def measured(prepared):
    runs = {2: citations.measure(2, prepared, QUICK)}
    return Measured.from_runs(citations.COLUMNS, runs)


def test_prepared_arrays_can_be_kept_without_pickles(prepared):
    assert all(array.dtype.kind != "O" for array in prepared.values())


def test_a_run_repeats(prepared, measured):
    again = citations.measure(2, prepared, QUICK)
    assert {cell: runs[2] for cell, runs in measured.by_cell.items()} == again


def test_citations_help_and_rewired_ones_do_not(measured):
    most = max(measured.levels("labels"))
    known = {"task": citations.KNOWN, "labels": most}
    words = measured.mean(method=citations.BOTH, strength=0, **known)
    assert measured.mean(method=citations.AUTO, **known) < words
    assert measured.mean(method=citations.REWIRED, strength=1, **known) > words
    chosen = {"task": 'strength of "auto"'}
    assert measured.mean(method=citations.BOTH, **chosen) > 0
    assert measured.mean(method=citations.REWIRED, **chosen) == 0


def test_new_papers_need_their_citations(measured):
    both = {"method": citations.BOTH}
    words = measured.mean(task=citations.NEW, strength=0, **both)
    assert measured.mean(task=citations.NEW, strength=1, **both) < words
    # without a graph there is nothing that citations of a new paper could change
    assert measured.mean(task=citations.BARE, strength=0, **both) == words


def test_claims_are_ours_and_the_figure_has_six_panels(prepared, measured):
    assert not any(claim.by_paper for claim in citations.claims(measured))
    assert len(citations.draw(measured, prepared).axes) == 6


def test_few_labels_are_so_many_of_each_subject():
    y = np.repeat([0, 1, 2], [10, 20, 30])
    train, test = citations.few_labels(y, 4, seed=0)
    assert np.bincount(y[train]).tolist() == [4, 4, 4]
    assert sorted([*train, *test]) == list(range(60))


def test_averaged_words_are_those_of_neighbours():
    graph = Graph(np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]))
    rows = citations.averaged(sp.csr_array(np.eye(4)), graph).toarray()
    half = np.sqrt(0.5)
    np.testing.assert_allclose(rows[:2], [[half, half, 0, 0]] * 2)
    np.testing.assert_allclose(rows[2:], [[0, 0, half, half]] * 2)


def test_papers_outside_the_largest_part_stay_in_the_middle(monkeypatch):
    monkeypatch.setattr(citations, "D", 2)
    ring = [(f"p{i}", f"p{(i + 1) % 8}") for i in range(8)]
    papers = np.array([f"p{i}" for i in range(10)])
    graph = Graph([*ring, ("p8", "p9")]).subgraph(papers)
    Z = citations.citations_alone(sp.csr_array(np.eye(10)), papers, graph)
    assert not Z[8:].any() and Z[:8].any(axis=1).all()
