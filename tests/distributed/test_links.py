"""Labels and pairs of rows on workers, beside those of rows in memory."""

import dask.array as da
import numpy as np
import pytest

from graphfold import NeighborGraph, SemiSupervisedGraphKernelPCA
from graphfold.errors import ConstraintError, MissingLabelsWarning
from tests.distributed.problems import chunked, largest_gap, names, two_clouds

X = two_clouds()
RNG = np.random.default_rng(0)
PLAIN = NeighborGraph(6).build(X)
CODES = np.where(RNG.random(600) < 0.2, RNG.integers(0, 4, 600), -1)
TEXT = np.array(list("abcd"), dtype=object)[np.maximum(CODES, 0)]
TEXT[CODES < 0] = None
NUMBERS = np.where(CODES < 0, np.nan, X[:, 0] + 0.25)
FREE = np.flatnonzero(CODES < 0)
PAIRS = {
    "must_link": [(FREE[0], FREE[1]), (FREE[1], FREE[2])],
    "cannot_link": [(FREE[0], FREE[9]), (FREE[20], FREE[21])],
}


def fitted(rows, y, node_ids=None, **settings):
    how = {"landmarks": 60, "n_components": 3} | settings
    model = SemiSupervisedGraphKernelPCA(**how)
    return model.fit(rows, y, node_ids=node_ids)


def compare(y, y_of_dask, ids=None, **settings):
    rows = chunked(X, (100, 250, 250))
    labels = None if ids is None else da.from_array(ids, chunks=170)
    one = fitted(X, y, ids, refine=False, **settings)
    other = fitted(rows, y_of_dask, labels, **settings)
    assert largest_gap(other.embedding_, one.embedding_) < 1e-6
    mine, theirs = other.constraint_report_, one.constraint_report_
    for name in ("n_labelled", "n_groups", "n_must_pairs", "n_unknown_pairs"):
        assert getattr(mine, name) == getattr(theirs, name)
    assert mine.misplaced == theirs.misplaced
    # violated pairs are not compared: what is far is told by a sample, another one here
    return other


@pytest.mark.parametrize("kind", ["normalized", "combinatorial"])
def test_classes(kind):
    compare(CODES, da.from_array(CODES, chunks=130), laplacian=kind)


def test_classes_and_a_graph():
    compare(CODES, da.from_array(CODES, chunks=130), graph=PLAIN)


def test_text_and_numbers():
    compare(TEXT, TEXT)
    compare(NUMBERS, da.from_array(NUMBERS, chunks=200))


def test_pairs_by_number_with_and_without_classes():
    compare(None, None, **PAIRS)
    compare(CODES, da.from_array(CODES, chunks=600), graph=PLAIN, **PAIRS)


@pytest.mark.parametrize("kind", ["normalized", "combinatorial"])
def test_pairs_without_closure_with_and_without_classes(kind):
    how = {"closure": False, "laplacian": kind}
    # one row without a label and one with it, in pairs that share rows
    labelled = np.flatnonzero(CODES >= 0)
    more = [(FREE[0], labelled[0]), (labelled[0], labelled[1])]
    more = [p for p in more if CODES[p[0]] < 0 or CODES[p[0]] == CODES[p[1]]]
    pairs = PAIRS | {"must_link": PAIRS["must_link"] + more}
    compare(None, None, **how, **PAIRS)
    compare(CODES, da.from_array(CODES, chunks=130), **how, **pairs)
    last = int(np.flatnonzero(CODES == 3)[0])
    alone = np.where(np.arange(600) == last, 3, np.where(CODES == 3, -1, CODES))
    # a class whose only row is named by a pair
    asked = {"must_link": [(last, int(FREE[0]))]}
    compare(alone, da.from_array(alone, chunks=130), **how, **asked)


def test_without_closure_only_a_pair_in_both_is_refused():
    rows = chunked(X, (300, 300))
    chain = {"must_link": [(FREE[0], FREE[1]), (FREE[1], FREE[2])]}
    apart = {"cannot_link": [(FREE[0], FREE[2])]}
    with pytest.raises(ConstraintError, match="must be together and apart"):
        fitted(rows, None, **chain, **apart)
    fitted(rows, None, closure=False, **chain, **apart)
    apart = {"cannot_link": [(FREE[1], FREE[0])]}
    with pytest.raises(ConstraintError, match="must be together and apart"):
        fitted(rows, None, closure=False, **chain, **apart)


def test_pairs_by_label():
    pairs = [("row 0", "row 1"), ("row 7", "nobody")]
    model = compare(None, None, names(600), must_link=pairs)
    assert model.constraint_report_.n_unknown_pairs == 1


def test_contradictions_name_the_rows():
    labelled = int(np.flatnonzero(CODES >= 0)[0])
    other = next(j for j in range(600) if CODES[j] not in (-1, CODES[labelled]))
    with pytest.raises(ConstraintError, match="must-links join"):
        fitted(
            chunked(X, (300, 300)),
            da.from_array(CODES, chunks=300),
            must_link=[(labelled, other)],
        )


def test_nothing_known_is_warned_of():
    with pytest.warns(MissingLabelsWarning, match="no label is known"):
        fitted(chunked(X, (300, 300)), da.full(600, -1, chunks=300))


def test_too_many_numbers_to_sort_here(monkeypatch):
    monkeypatch.setattr("graphfold.estimators.links_on_workers.MOST_VALUES", 50)
    with pytest.raises(ConstraintError, match="at most 50 known numbers"):
        fitted(chunked(X, (300, 300)), da.from_array(NUMBERS, chunks=300))


def test_a_row_of_the_fit_gets_its_place_back():
    model = fitted(chunked(X, (300, 300)), da.from_array(CODES, chunks=300))
    assert largest_gap(model.transform(X[:50]), model.embedding_[:50]) < 1e-12
