"""A network that mimics an embedder: as good on rows that it has not seen, seeded, and by itself."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist, squareform
from scipy.stats import kendalltau
from sklearn.datasets import load_digits
from sklearn.decomposition import NMF
from sklearn.manifold import MDS
from sklearn.neural_network import MLPRegressor

from isentropic import PCA, ParameterFreeSDD, ParametricEmbedding
from isentropic._errors import InvalidInputError

DIGITS = load_digits().data
TRAIN, TEST = DIGITS[::2], DIGITS[1::2]


def tau(X, Z):
    return kendalltau(pdist(X), pdist(Z)).statistic


@pytest.fixture(scope="module")
def network():
    return ParametricEmbedding().fit(TRAIN)


def test_unseen_rows_are_placed_nearly_as_well_as_the_map_that_was_learnt(network):
    learnt = tau(TRAIN, network.target_embedding_)
    assert abs(network.score(TEST) - learnt) < 0.02
    assert network.score(TEST) > tau(TEST, PCA().fit_transform(TEST))
    assert_allclose(network.score(TEST), tau(TEST, network.transform(TEST)), atol=1e-9)


def test_synthetic_rows_and_weight_decay_are_why(network):
    by_heart = ParametricEmbedding(synthetic=0, weight_decay=0.0).fit(TRAIN)
    assert network.score(TEST) > by_heart.score(TEST) + 0.03


@pytest.mark.parametrize(
    "embedder",
    [MDS(2, n_init=1, init="random", normalized_stress="auto"), NMF(2, max_iter=1000), PCA()],
    ids=["no transform", "positive numbers only", "few rows asked"],
)
def test_who_cannot_place_synthetic_rows_teaches_without(embedder):
    asked = 5 if isinstance(embedder, PCA) else "auto"
    network = ParametricEmbedding(embedder, layers=(8,), max_epochs=2, synthetic=asked)
    assert network.fit(TRAIN[:60]).embedding_.shape == (60, 2)


def test_distances_are_not_mixed():
    distances = squareform(pdist(TRAIN[:40]))
    network = ParametricEmbedding(ParameterFreeSDD(metric="precomputed"), layers=(8,), max_epochs=2)
    assert np.isfinite(network.fit_transform(distances)).all()
    with pytest.raises(InvalidInputError, match=r"embedder must be one that can place .* Give synthetic=0"):
        network.set_params(synthetic=10).fit(distances)


def test_the_map_is_what_the_network_gives_and_the_target_what_the_embedder_gives(network):
    assert_allclose(network.transform(TRAIN), network.embedding_, atol=1e-12 * np.ptp(network.embedding_))
    assert_array_equal(network.target_embedding_, ParameterFreeSDD().fit(TRAIN).embedding_)
    assert not np.array_equal(network.embedding_, network.target_embedding_)


def test_a_row_is_placed_by_itself(network):
    Z = network.transform(TEST[:20])
    rows = np.concatenate([network.transform(row[None]) for row in TEST[:20]])
    assert_allclose(rows, Z, atol=1e-12 * np.ptp(network.embedding_))


def test_a_seed_gives_the_same_network_and_another_seed_another():
    def fitted(seed):
        return ParametricEmbedding(PCA(), layers=(16,), max_epochs=5, random_state=seed).fit_transform(TRAIN)

    assert_array_equal(fitted(1), fitted(1))
    assert_array_equal(fitted(None), fitted(None))
    assert not np.array_equal(fitted(1), fitted(2))


def test_any_estimator_can_be_mimicked_and_its_dimension_counts():
    mds = MDS(3, n_init=1, init="random", random_state=0, normalized_stress="auto")
    network = ParametricEmbedding(mds, layers=(64,)).fit(TRAIN[:100])
    assert network.transform(TEST[:7]).shape == (7, 3)
    assert network.n_epochs_ <= 80


def test_one_coordinate_and_few_rows():
    Z = ParametricEmbedding(PCA(1), layers=(8,)).fit_transform(TRAIN[:8])
    assert Z.shape == (8, 1)
    assert np.isfinite(Z).all()


@pytest.mark.parametrize("factor", [1e-12, 1e12])
def test_features_of_any_size(factor):
    network = ParametricEmbedding(PCA(), layers=(64,)).fit(TRAIN)
    scaled = ParametricEmbedding(PCA(), layers=(64,)).fit(factor * TRAIN)
    assert_allclose(scaled.score(factor * TEST), network.score(TEST), atol=0.01)


def test_all_rows_equal_stay_finite():
    assert np.isfinite(ParametricEmbedding(layers=(8,)).fit_transform(np.ones((30, 3)))).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"layers": ()}, "layers must be a sequence of positive integers"),
        ({"layers": (3, 0)}, "layers must be a sequence of positive integers"),
        ({"synthetic": -1}, "synthetic must be 'auto' or a number of rows, got -1"),
        ({"synthetic": "many"}, "synthetic must be 'auto' or a number of rows, got 'many'"),
        ({"weight_decay": -0.1}, "weight_decay must be a number of at least 0"),
        ({"max_epochs": 0}, "max_epochs must be a positive integer, got 0"),
        ({"n_components": 0}, "n_components must be a positive integer, got 0"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(InvalidInputError, match=message):
        ParametricEmbedding(**parameters).fit(TRAIN[:30])


@pytest.mark.parametrize("embedder", ["isomap", 3, PCA])
def test_what_is_no_estimator_is_refused(embedder):
    with pytest.raises(
        InvalidInputError, match=r"embedder must be an estimator .* Give an estimator such as"
    ):
        ParametricEmbedding(embedder).fit(TRAIN[:30])


def test_ctrl_c_ends_the_training(monkeypatch):
    def interrupted(self, *args):
        raise KeyboardInterrupt

    monkeypatch.setattr(MLPRegressor, "_backprop", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ParametricEmbedding(PCA(), layers=(4,)).fit(TRAIN[:30])


def test_an_embedder_without_a_map_is_refused():
    from sklearn.linear_model import LinearRegression

    with pytest.raises(InvalidInputError, match="embedder must be an estimator with fit_transform"):
        ParametricEmbedding(LinearRegression()).fit(TRAIN[:30])
