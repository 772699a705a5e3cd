"""A network that mimics an embedder: as good on rows that it has not seen, seeded, and by itself."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist, squareform
from scipy.stats import kendalltau
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_digits
from sklearn.decomposition import NMF
from sklearn.manifold import MDS
from sklearn.neural_network import MLPRegressor
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils import get_tags

from isentropic import PCA, ParameterFreeSDD, ParametricEmbedding
from isentropic._core.errors import InvalidInputError, IsentropicWarning
from isentropic.embedding.maps.network import Layers
from isentropic.methods.meta import parametric_embedding

DIGITS = load_digits().data
TRAIN, TEST = DIGITS[::2], DIGITS[1::2]


def tau(X, Z):
    return kendalltau(pdist(X), pdist(Z)).statistic


@pytest.fixture(scope="module")
def network():
    return ParametricEmbedding().fit(TRAIN)


def test_unseen_rows_are_placed_nearly_as_well_as_the_map_that_was_learnt(network):
    training = tau(TRAIN, network.target_embedding_)
    assert abs(network.score(TEST) - training) < 0.02
    assert network.score(TEST) > tau(TEST, PCA().fit_transform(TEST))
    assert_allclose(network.score(TEST), tau(TEST, network.transform(TEST)), atol=1e-9)


def test_synthetic_rows_and_weight_decay_are_why(network):
    by_heart = ParametricEmbedding(synthetic=0, weight_decay=0.0).fit(TRAIN)
    assert network.score(TEST) > by_heart.score(TEST) + 0.02


class Lost(PCA):
    """Places what it was not fitted on as it is told."""

    def __init__(self, answer=None):
        super().__init__()
        self.answer = answer

    def fit_transform(self, X, y=None):
        return self.fit(X).embedding_

    def transform(self, X):
        if self.answer is None:
            raise NotImplementedError("not for new rows")
        return np.full((len(X), 2), self.answer)


def quick(embedder=None, **parameters):
    return ParametricEmbedding(embedder, layers=(8,), max_epochs=2, **parameters)


class Shown(Exception):
    """What a network was shown, instead of its training."""


def split(monkeypatch, network, X):
    """How many rows the network was shown."""

    def told(vector, loss, *_):
        raise Shown(len(loss.rows))

    monkeypatch.setattr(parametric_embedding, "train", told)
    with pytest.raises(Shown) as caught:
        network.fit(X)
    return caught.value.args[0]


@pytest.mark.parametrize(
    ("embedder", "rows", "shown"),
    [
        (PCA(), TRAIN[:60], 4500),
        (MDS(2, n_init=1, init="random", normalized_stress="auto"), TRAIN[:60], 60),
        (NMF(2, max_iter=1000), TRAIN[:60], 60),
        (PCA(), (TRAIN[:60] > 7).astype(float), 60),
        (Lost(1e9), TRAIN[:60], 60),
    ],
    ids=["all", "no transform", "positive numbers only", "zeros and ones", "far off"],
)
def test_synthetic_rows_are_for_who_can_place_them(monkeypatch, embedder, rows, shown):
    assert split(monkeypatch, quick(embedder), rows) == shown


def test_as_many_synthetic_rows_as_asked_for(monkeypatch):
    assert split(monkeypatch, quick(PCA(), synthetic=7), TRAIN[:60]) == 67


@pytest.mark.parametrize("answer", [None, np.nan])
def test_an_embedder_that_fails_on_synthetic_rows_teaches_without_and_says_so(answer):
    with pytest.warns(IsentropicWarning, match="The network learns the fitted rows alone"):
        quick(Lost(answer)).fit(TRAIN[:60])
    with pytest.raises(InvalidInputError, match="Give synthetic=0: its transform fails on sums of rows"):
        quick(Lost(answer), synthetic=9).fit(TRAIN[:60])


def test_coordinates_that_are_not_finite_are_not_learnt():
    undefined = FunctionTransformer(lambda X: X[:, :2] + np.nan)
    with pytest.raises(InvalidInputError, match="embedder must be one that gives finite coordinates"):
        quick(undefined).fit(TRAIN[:60])


def test_names_of_columns_reach_the_embedder():
    frame = pd.DataFrame(TRAIN[:60, 20:23], columns=["a", "b", "c"])
    by_name = make_column_transformer((StandardScaler(), ["a", "c"]))
    assert quick(by_name).fit(frame).target_embedding_.shape == (60, 2)


def test_a_seed_is_not_shared_with_the_caller():
    one = quick(random_state=np.random.RandomState(5)).fit_transform(TRAIN[:60])
    assert_array_equal(one, quick(random_state=5).fit_transform(TRAIN[:60]))


def test_more_epochs_learn_more():
    losses = [
        ParametricEmbedding(PCA(), layers=(8,), max_epochs=most, synthetic=0).fit(TRAIN).loss_
        for most in (1, 5, 20)
    ]
    assert losses[0] > losses[1] > losses[2]


def test_it_learns_as_well_as_a_network_of_scikit_learn():
    """Of the same layers, rate, batches and decay, for as many epochs."""
    ours = ParametricEmbedding(PCA(), layers=(32,), max_epochs=20, synthetic=0).fit(TRAIN)
    low, extent = ours.target_embedding_.min(axis=0), np.ptp(ours.target_embedding_, axis=0).max()
    scaled = (TRAIN - TRAIN.mean(axis=0)) / TRAIN.std(axis=0).max()
    peer = MLPRegressor(
        hidden_layer_sizes=(32,), alpha=0.003, batch_size=32, max_iter=20, tol=0, random_state=0
    )
    with pytest.warns(UserWarning, match="Maximum iterations"):
        peer.fit(scaled, (ours.target_embedding_ - low) / extent)
    theirs = ((peer.predict(scaled) - (ours.target_embedding_ - low) / extent) ** 2).mean()
    assert ours.loss_ < 1.2 * theirs


def test_distances_are_not_mixed():
    distances = squareform(pdist(TRAIN[:40]))
    network = ParametricEmbedding(ParameterFreeSDD(metric="precomputed"), layers=(8,), max_epochs=2)
    assert np.isfinite(network.fit_transform(distances)).all()
    assert get_tags(network).input_tags.pairwise
    with pytest.raises(InvalidInputError, match=r"embedder must be one that can place .* Give synthetic=0"):
        network.set_params(synthetic=10).fit(distances)


def test_the_map_is_what_the_network_gives_and_the_target_what_the_embedder_gives(network):
    assert_allclose(network.transform(TRAIN), network.embedding_, atol=1e-12 * np.ptp(network.embedding_))
    assert_array_equal(network.target_embedding_, ParameterFreeSDD().fit(TRAIN).embedding_)
    assert not np.array_equal(network.embedding_, network.target_embedding_)


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
    def interrupted(self, *args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(Layers, "backward", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ParametricEmbedding(PCA(), layers=(4,)).fit(TRAIN[:30])


def test_an_embedder_without_a_map_is_refused():
    from sklearn.linear_model import LinearRegression

    with pytest.raises(InvalidInputError, match="embedder must be an estimator with fit_transform"):
        ParametricEmbedding(LinearRegression()).fit(TRAIN[:30])
