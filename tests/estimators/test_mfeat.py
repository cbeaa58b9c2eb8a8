"""Six descriptions of the same digits: together they beat each, noise or not."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from graphfold import MultiModalGraphEmbedding
from graphfold.quality import clustering_error


def error(Z, target):
    clusters = KMeans(10, n_init=20, random_state=0).fit_predict(Z)
    return clustering_error(target, clusters)


@pytest.fixture(scope="module")
def learned(mfeat):
    model = MultiModalGraphEmbedding(10).fit(mfeat.views)
    return model, error(model.embedding_, mfeat.target)


@pytest.fixture(scope="module")
def with_noise(mfeat):
    noise = np.random.default_rng(0).standard_normal((len(mfeat.target), 50))
    model = MultiModalGraphEmbedding(10).fit({**mfeat.views, "noise": noise})
    return model, error(model.embedding_, mfeat.target)


@pytest.mark.slow
def test_views_together_beat_pca_of_all_columns(mfeat, learned):
    views = [StandardScaler().fit_transform(X) for X in mfeat.views.values()]
    Z = PCA(10, random_state=0).fit_transform(np.hstack(views))
    assert learned[1] < error(Z, mfeat.target)


@pytest.mark.parametrize("name", ["fac", "fou", "kar", "mor", "pix", "zer"])
def test_views_together_beat_each_alone(name, mfeat, learned):
    alone = MultiModalGraphEmbedding(10).fit_transform({name: mfeat.views[name]})
    assert learned[1] < error(alone, mfeat.target)


@pytest.mark.slow
def test_learned_weights_cost_little_against_equal_ones(mfeat, learned):
    equal = MultiModalGraphEmbedding(10, weights="equal").fit(mfeat.views)
    assert np.ptp(equal.mode_weights_) == 0
    assert np.ptp(learned[0].mode_weights_) > 0
    assert learned[1] <= error(equal.embedding_, mfeat.target) + 0.01


@pytest.mark.slow
def test_noise_gets_the_smallest_weight(with_noise):
    model, _ = with_noise
    weights = dict(zip(model.mode_names_, model.mode_weights_, strict=True))
    noise = weights.pop("noise")
    assert noise < min(weights.values())


def test_noise_costs_little(learned, with_noise):
    assert with_noise[1] <= learned[1] + 0.02


def test_every_view_of_real_digits_is_real(learned):
    model, _ = learned
    assert model.mode_kinds_ == ["real"] * 6
    assert np.all(np.diff(model.objective_trace_) >= -1e-9 * model.objective_trace_[0])
