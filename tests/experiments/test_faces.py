"""Experiment (a): what it computes, on made-up drivers and on the real ones."""

import numpy as np
import pytest
from sklearn.decomposition import PCA

from graphfold.datasets import load_drivface
from graphfold.experiments import faces, methods
from graphfold.experiments.protocol import Measured, Scope
from tests.conftest import real

QUICK = Scope(quick=True)
ALL = {name: [*reading.methods] for name, reading in faces.READINGS.items()}


def made_up(seed, gain=0.1):
    """Errors of one run: GKPCA below the others by ``gain``, except by the letter."""
    rng = np.random.default_rng(seed)
    numbers = {}
    for reading, names in ALL.items():
        for name in names:
            for d in faces.FEW:
                error = 0.3 + 0.01 * rng.random()
                sign = 1 if reading == methods.RAW else -1
                error += sign * gain * (name == "GKPCA")
                numbers[reading, name, d, "error"] = error
    for name in (*faces.OF_THE_PAPER, faces.RANDOM):
        for d in faces.FEW:
            numbers[methods.DEFAULT, name, d, "seconds"] = 0.1 + 0.01 * rng.random()
    slow = (methods.DEFAULT, faces.COVARIANCE, faces.TIMED_AT, "seconds")
    return numbers | {slow: 2 + rng.random()}


@pytest.fixture(scope="module")
def measured():
    runs = {seed: made_up(seed) for seed in range(5)}
    return Measured.from_runs(faces.EXPERIMENT.columns, runs)


def test_claims_follow_the_numbers(measured):
    verdicts = {claim.text: claim.verdict for claim in faces.claims(measured)}
    for d in (5, 10):
        text = f": error of GKPCA below KPCA, d = {d}"
        assert verdicts[methods.DEFAULT + text] == "holds"
        assert verdicts[methods.UNIT + text] == "holds"
        assert verdicts[methods.RAW + text] == "does not hold"
    assert verdicts["defaults: seconds of KPCA below PCA by covariance, d = 10"] == (
        "holds"
    )


def test_every_method_is_drawn_in_a_panel_and_named_once(measured):
    figure = faces.draw(measured, {})
    drawn = [
        {line.get_label() for line in ax.containers} for ax in figure.axes if ax.lines
    ]
    assert drawn[0] == drawn[1] == drawn[2] == set(faces.OF_THE_PAPER)
    assert drawn[3] == {"GKPCA", *methods.OTHERS}
    named = [text.get_text() for text in figure.axes[-1].get_legend().get_texts()]
    assert sorted(named) == sorted({*faces.OF_THE_PAPER, *methods.OTHERS})


def test_pca_by_covariance_is_pca(rng):
    X = rng.standard_normal((20, 50)) @ np.diag(np.linspace(3, 0.1, 50))
    ours, theirs = faces.pca_by_covariance(X, 3), PCA(3).fit_transform(X)
    np.testing.assert_allclose(np.abs(ours), np.abs(theirs), atol=1e-8)


def test_centred_points_say_more_than_raw_ones(rng):
    """Faces are alike: as they are, the points of any two correlate."""
    points = np.array([320.0, 230, 365, 230, 350, 255, 330, 278, 360, 278])
    points = points + 8 * rng.standard_normal((30, 10))
    raw = faces.between_all(points).to_scipy().toarray()
    centred = faces.between_all_centred(points).to_scipy().toarray()
    off = ~np.eye(30, dtype=bool)
    assert raw[off].min() > 0.9
    assert np.median(centred[off]) < 0.5


def test_what_the_notes_say_of_the_drivers():
    drivers = real(load_drivface)
    off = ~np.eye(66, dtype=bool)
    K = methods.ONE_GAUSSIAN.gram(drivers.data)
    assert K[off].max() < 0.001
    assert methods.ONE_GAUSSIAN.gram(255 * drivers.data)[off].max() == 0
    assert faces.between_all(drivers.points).to_scipy().toarray()[off].min() > 0.94


def test_embeddings_are_prepared_once_and_classified_anew(monkeypatch):
    drivers = real(load_drivface)
    # it is tested above, and takes seconds
    monkeypatch.setattr(faces, "pca_by_covariance", lambda X, d: X[:, :d])
    prepared = faces.prepare(QUICK)
    again = faces.READINGS[methods.DEFAULT]
    model = again.methods["GKPCA"](again.graph(drivers.points), 10)
    np.testing.assert_allclose(
        prepared["defaults/GKPCA/5"], model.fit_transform(drivers.data)[:, :5]
    )
    first = faces.measure(900, prepared, QUICK)
    expected = {
        (reading, name, d, "error")
        for reading, names in ALL.items()
        for name in names
        for d in faces.FEW
    }
    assert expected == {cell for cell in first if cell[-1] == "error"}
    assert all(0 <= value <= 1 for cell, value in first.items() if cell in expected)
    assert all(value > 0 for cell, value in first.items() if cell[-1] == "seconds")
    # by the letter the kernel is the identity; the library's width is not
    assert first[methods.RAW, "KPCA", 10, "error"] > 0.3
    assert first[methods.DEFAULT, "GKPCA", 10, "error"] < 0.1
