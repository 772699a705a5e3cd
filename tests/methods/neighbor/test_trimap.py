"""TriMap: quality beside trimap's, triplets, bits, placement, bad input."""

import hashlib
import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits
from sklearn.manifold import trustworthiness

import processes
from assertions import assert_same_bits
from isentropic import Geodesic, Knn, TriMap
from isentropic._core.errors import InvalidInputError, MemoryBudgetError, NeighborsClippedWarning
from isentropic._core.runtime import config_context
from isentropic.embedding.row_distances import Distances
from isentropic.methods.neighbor.sampled import NearRows
from isentropic.methods.neighbor.trimap import sample_triplets, weighted_triplets
from isentropic.neighbors import nearest_neighbors
from isentropic.objectives import Triplets

DIGITS = load_digits().data[:500]


@pytest.fixture(scope="module")
def fitted():
    return TriMap(random_state=0).fit(DIGITS)


def test_neighbours_are_kept(fitted):
    assert trustworthiness(DIGITS, fitted.embedding_, n_neighbors=15) > 0.955


def test_triplets_are_what_they_are_said_to_be(rng):
    X = rng.normal(size=(40, 3))
    D = cdist(X, X)
    near = np.argsort(D + np.diag(np.full(40, np.inf)), axis=1)[:, :4]
    widths = rng.uniform(1, 2, size=40)
    scaled = D**2 / (widths[:, None] * widths)
    inliers = np.take_along_axis(scaled, near, axis=1)
    distances = Distances.of(X, "euclidean", random_state=0, n_jobs=None)
    given = NearRows(distances, near, inliers, widths, 1.0, 4, 0, np.random.RandomState(0))
    one, two, excess = sample_triplets(given, n_outliers=3, n_random=2)
    assert one.shape == two.shape == excess.shape == (40, 14)
    own = np.arange(40)[:, None]
    assert (one[:, :12] == np.repeat(near, 3, axis=1)).all()
    for i, t in np.ndindex(40, 12):
        assert two[i, t] not in (i, *near[i, : t // 3 + 1])
    expected = scaled[own, two] - scaled[own, one]
    there = two >= 0
    expected[:, 12:] *= 0.1
    assert_allclose(excess[there], expected[there], atol=1e-12)
    assert (excess[:, 12:] >= 0).all()
    triplets, least = weighted_triplets(one, two, excess)
    assert least == excess[there].min()
    assert_allclose(
        triplets.weights[there], 2 * (np.sqrt(1 + excess - least) - 1)[there], rtol=1e-6, atol=1e-7
    )


def test_published_weights_are_logarithms_below_the_largest(rng):
    excess = rng.normal(size=(20, 6)) * 5
    near, far = rng.integers(20, size=(2, 20, 6))
    far[3, 2] = -1
    there = far >= 0
    triplets, largest = weighted_triplets(near, far, excess, "published")
    assert largest == excess[there].max()
    expected = np.log(1 + 500 * np.exp(excess) / np.exp(excess[there]).max())
    assert_allclose(triplets.weights[there], expected[there], rtol=1e-6)
    assert triplets.weights[3, 2] == 0
    huge, _ = weighted_triplets(near, far, 1e5 * excess, "published")
    assert np.isfinite(huge.weights).all()


def test_published_weights_make_a_map_that_places_rows(fitted):
    model = TriMap(weights="published", random_state=0).fit(DIGITS)
    assert trustworthiness(DIGITS, model.embedding_, n_neighbors=15) > 0.9
    assert np.abs(model.embedding_ - fitted.embedding_).max() > 0.1
    moved = model.transform(DIGITS[:50] + 1e-9)
    away = np.linalg.norm(moved - model.embedding_[:50], axis=1) / np.ptp(model.embedding_, axis=0).max()
    assert np.median(away) < 0.03
    with pytest.raises(InvalidInputError, match="weights must be one of tempered, published, got 'old'"):
        TriMap(weights="old").fit(DIGITS)


def test_violated_triplets_are_counted(rng, fitted):
    Z = rng.normal(size=(30, 2))
    near, far = rng.integers(30, size=(2, 30, 4))
    weights = rng.integers(2, size=(30, 4)).astype(np.float32)
    D = cdist(Z, Z)
    told = [D[i, near[i, t]] > D[i, far[i, t]] for i, t in np.argwhere(weights)]
    assert Triplets(near, far, weights).violated(Z) == np.mean(told)
    assert Triplets(near, far, 0 * weights).violated(Z) == 0
    assert 0 < fitted.violated_ < 0.2


def test_the_same_seed_has_the_same_bits_in_another_process(fitted):
    script = (
        "from sklearn.datasets import load_digits; from isentropic import TriMap; import hashlib\n"
        "Z = TriMap(random_state=0, n_jobs=1).fit(load_digits().data[:500]).embedding_\n"
        "print(hashlib.sha256(Z.tobytes()).hexdigest())"
    )
    done = processes.run(script)
    assert done.stdout.split() == [hashlib.sha256(fitted.embedding_.tobytes()).hexdigest()], done.stderr


def test_a_row_placed_as_new_lies_where_it_lay(fitted):
    moved = fitted.transform(DIGITS + 1e-9)
    away = np.linalg.norm(moved - fitted.embedding_, axis=1) / np.ptp(fitted.embedding_, axis=0).max()
    assert np.median(away) < 0.02


def test_a_new_row_among_its_equals_by_the_metric_lies_with_them(rng):
    """Multiples of a row are at the cosine distance 0 from it."""
    X = rng.uniform(0, 1, size=(60, 4))
    X[:10] = X[0] * 2.0 ** np.arange(10)[:, None]
    model = TriMap(5, metric="cosine", max_iter=100).fit(X)
    places, middle = model.embedding_[:10], model.embedding_[:10].mean(axis=0)
    away = np.linalg.norm(model.transform(X[:1] * [[2.0**-3], [2.0**12]]) - middle, axis=1)
    assert away.max() <= np.linalg.norm(places - middle, axis=1).max()


def test_given_lists_geodesics_and_other_dimensions(roll):
    lists = nearest_neighbors(DIGITS[:200], Knn(15))
    assert TriMap(n_components=3, neighbors=lists, max_iter=10).fit(DIGITS[:200]).embedding_.shape == (200, 3)
    model = TriMap(metric=Geodesic(8), n_components=1, max_iter=20).fit(roll[:150])
    assert np.isfinite(model.transform(roll[150:160])).all()


def test_more_inliers_than_rows():
    with pytest.warns(NeighborsClippedWarning, match="^n_inliers must be at most 4"):
        assert TriMap(max_iter=5).fit(DIGITS[:5]).transform(DIGITS[5:7]).shape == (2, 2)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_inliers": 0}, "n_inliers must be"),
        ({"n_outliers": -1}, "n_outliers must be a number of rows"),
        ({"n_random": 0.5}, "n_random must be a number of rows"),
        ({"max_iter": -1}, "max_iter must be a number of steps"),
        ({"init": np.full((20, 2), np.nan)}, "infinite or missing numbers"),
    ],
)
def test_bad_parameters_are_told(parameters, message):
    with pytest.raises(InvalidInputError, match=message):
        TriMap(**{"n_inliers": 5, **parameters}).fit(DIGITS[:20])


def test_a_failed_refit_changes_nothing():
    model = TriMap(5).fit(DIGITS[:30])
    placed = model.transform(DIGITS[30:40])
    model.set_params(n_inliers=9, init=np.zeros((3, 3)))
    with pytest.raises(InvalidInputError, match="init must be"):
        model.fit(DIGITS[100:300])
    assert_same_bits(model.transform(DIGITS[30:40]), placed)


def test_memory_is_estimated_first():
    with config_context(memory_limit=1000), pytest.raises(MemoryBudgetError, match="TriMap of 500 rows"):
        TriMap().fit(DIGITS)


@pytest.mark.parametrize("parameters", [{}, {"n_outliers": 12}, {"n_inliers": 1, "n_outliers": 1}])
def test_no_more_memory_is_taken_than_estimated(rng, parameters):
    X, model = rng.normal(size=(6000, 3)), TriMap(max_iter=1, **parameters)
    model.fit(X[:300])  # what is compiled takes memory too
    tracemalloc.start()
    model.fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    with config_context(memory_limit=peak), pytest.raises(MemoryBudgetError, match="TriMap of 6,000 rows"):
        model.fit(X)
