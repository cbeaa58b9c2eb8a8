"""A stream without an end: a row a second for a day, as fast as it goes.

86,400 batches where faults are required; a few thousand in ``make test``.
"""

import threading
import warnings

import numpy as np
import pytest

from graphfold import GraphKernelPCA
from graphfold.errors import DisconnectedGraphWarning, DriftWarning
from tests.estimators.test_streams import gap
from tests.trust.ledger import measured, tried
from tests.trust.load.amounts import amount
from tests.trust.load.growth import growth_of

BATCHES = amount(86_400, 8_640, 2_500)
#: the last so many with every allocation traced, which takes three times as long
TRACED = amount(5_000, 2_000, 1_000)
#: an hour or so between two answers
REFRESHED = 1_000
#: an edge to the row before
LINKED = 10
FORGETTING = 0.8
#: batches of which the oldest counts one part in ten thousand
KEPT = 42
#: as tests/estimators/test_streams.py has it
TOLERANCE = 1e-4
MOST_TRACED, MOST_RESIDENT = 100, 6 * 1024


def row(i):
    """The i-th row of an endless table: its mean turns around once a day."""
    noise = np.random.default_rng(i).standard_normal(4)
    angle = 2 * np.pi * i / 86_400
    centre = [2 * np.cos(angle), 2 * np.sin(angle), 0, 0]
    return (noise * [3, 2, 1, 0.5] + centre)[None]


def model():
    return GraphKernelPCA(2, kernel="linear", landmarks=12, forgetting=FORGETTING)


def weighted_scores(X, weights):
    """Principal components of rows that count as told, by linear algebra alone."""
    centred = X - np.average(X, axis=0, weights=weights)
    covariance = (centred * weights[:, None]).T @ centred
    return centred @ np.linalg.eigh(covariance)[1][:, ::-1][:, :2]


@pytest.mark.filterwarnings("ignore::graphfold.errors.DisconnectedGraphWarning")
def test_a_day_of_rows_holds_no_more_than_an_hour_and_ends_with_the_right_answer():
    stream, came = model(), iter(range(BATCHES + 1))
    running = threading.active_count()

    def work(_):
        i = next(came)
        edges = [(i, i - 1)] if i % LINKED == 1 else None
        stream.partial_fit(row(i), edges=edges)
        if i % REFRESHED == 0 and i:
            stream.refresh()
            assert np.isfinite(stream.embedding_).all()
            assert len(stream.embedding_) == KEPT

    warm_up = REFRESHED + KEPT
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        warnings.simplefilter("error", DriftWarning)
        found = growth_of(work, BATCHES - warm_up, warm_up, traced=TRACED)
    last = next(came) - 1
    assert last == BATCHES - 1
    assert found["traced"] < MOST_TRACED
    assert not found["resident"] > MOST_RESIDENT  # NaN where the system does not say
    assert found["files"] in (0, None)
    assert found["threads"] == 0
    assert threading.active_count() == running
    assert stream.n_seen_ == last + 1
    assert len(stream._stream.blocks) == KEPT
    assert stream.drift_.batches.tolist() == list(range(last - KEPT + 1, last + 1))
    assert np.isfinite(stream.drift_.shift).all()
    # NaN of a batch that is a landmark; of no other is anything lost: four columns
    assert np.nanmax(np.abs(stream.drift_.lost)) < 1e-5
    assert gap(stream.embedding_, fed_anew(last).embedding_) < TOLERANCE
    tried("load", "batches of a stream", "no growth", BATCHES)
    for name in ("traced", "resident"):
        number = f"{found[f'{name} per 1,000']:.2f}"
        measured("load", f"KB {name} per 1,000 batches of a stream", number)


def fed_anew(last):
    """The rows that still count, and edges between them, as if no other had come."""
    first = last - KEPT + 1
    fresh = model()
    for i in range(first, last + 1):
        linked = i % LINKED == 1 and i > first
        fresh.partial_fit(
            row(i), edges=[(i - first, i - first - 1)] if linked else None
        )
    return fresh


def test_the_answer_of_a_long_stream_is_that_of_its_weighted_rows():
    stream, number = model(), 1_000
    for i in range(number):
        stream.partial_fit(row(i))
        if i % 250 == 0 and i:
            stream.refresh()
    X = np.vstack([row(i) for i in range(number - KEPT, number)])
    weights = FORGETTING ** np.arange(KEPT - 1, -1, -1.0)
    assert gap(stream.embedding_, weighted_scores(X, weights)) < TOLERANCE
    tried("load", "batches of a stream", "answer of weighted rows", number)


def test_labels_that_come_again_and_again_are_remembered_once():
    """Of rows that are forgotten the labels are kept: edges may still name them."""
    stream, sensors = model(), 100
    for i in range(2_000):
        stream.partial_fit(row(i), node_ids=[f"sensor {i % sensors}"])
    assert len(stream._stream.forgotten) <= 2 * sensors
    stream.partial_fit(row(1), node_ids=["new"], edges=[("new", "sensor 3")])
    with pytest.raises(ValueError, match="sensor 999"):
        stream.partial_fit(row(2), node_ids=["x"], edges=[("x", "sensor 999")])
    tried("load", "batches of a stream", "labels that come again", 2_000)
