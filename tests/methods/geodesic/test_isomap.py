"""ISOMAP: agreement with scikit-learn, laws, placement of new rows, policies, bad input."""

import pickle
import warnings
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn import clone
from sklearn.datasets import make_swiss_roll
from sklearn.manifold import Isomap as PeerIsomap
from threadpoolctl import threadpool_limits

from isentropic import Isomap, Knn, Landmarks, Percentile, Pnn, Radius, config_context
from isentropic._core.errors import (
    DisconnectedGraphError,
    DisconnectedGraphWarning,
    InvalidInputError,
    MemoryBudgetError,
    NeighborsClippedWarning,
)
from isentropic._core.values import Inflate
from isentropic.embedding.landmarks import _landmark_residual_variance

ROLL, ANGLE = make_swiss_roll(700, random_state=0)
NEW, NEW_ANGLE = make_swiss_roll(60, random_state=1)
WIDE = np.random.default_rng(0).normal(size=(300, 5)) @ np.random.default_rng(1).normal(size=(5, 40))
APART = np.concatenate([ROLL[:200], ROLL[200:300] + 500.0, ROLL[300:330] - 900.0])

VARIANTS = {
    "exact": Isomap(10),
    "three dimensions": Isomap(10, 3),
    "landmarks": Isomap(10, n_landmarks=60),
    "random landmarks": Isomap(10, n_landmarks=Landmarks(60, "random"), random_state=3),
    "approximate neighbours": Isomap(neighbors=Knn(10, approximate=True)),
    "approximate neighbours and landmarks": Isomap(neighbors=Knn(10, approximate=True), n_landmarks=60),
    "radius": Isomap(neighbors=Radius(5.0)),
    "percentile": Isomap(neighbors=Percentile(2.0)),
    "manhattan": Isomap(10, metric="manhattan"),
    "cosine": Isomap(10, metric="cosine"),
}


def width(Z):
    return np.ptp(Z, axis=0).max()


def quiet(estimator, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        return estimator.fit(X)


@pytest.fixture(scope="module", params=VARIANTS)
def fitted(request):
    return quiet(clone(VARIANTS[request.param]), ROLL)


# ---- agreement ---------------------------------------------------------------------------------


@pytest.mark.parametrize("X", [ROLL, WIDE], ids=["roll", "wide"])
@pytest.mark.parametrize("n_components", [1, 2, 5])
def test_coordinates_equal_those_of_scikit_learn_up_to_sign(X, n_components):
    ours = Isomap(10, n_components).fit(X)
    peer = PeerIsomap(n_neighbors=10, n_components=n_components).fit(X)
    assert ours.graph_.n_components == 1  # disconnected graphs are repaired in different ways
    Z = ours.embedding_
    signs = np.sign((Z * peer.embedding_).sum(axis=0))
    assert_allclose(Z, peer.embedding_ * signs, atol=1e-8 * width(Z))


def test_new_rows_are_placed_where_scikit_learn_places_them():
    ours = Isomap(10).fit(ROLL)
    peer = PeerIsomap(n_neighbors=10).fit(ROLL)
    Z = ours.transform(NEW)
    expected = peer.transform(NEW)
    signs = np.sign((Z * expected).sum(axis=0))
    assert_allclose(Z, expected * signs, atol=1e-8 * width(Z))


def test_the_roll_is_unrolled():
    X, angle = make_swiss_roll(3000, random_state=0)
    isomap = Isomap(10, n_landmarks=300).fit(X)
    correlation = np.abs(np.corrcoef(np.column_stack([isomap.embedding_, angle, X[:, 1]]), rowvar=False))
    assert correlation[0, 2] > 0.98
    assert correlation[1, 3] > 0.98
    assert isomap.residual_variance_ < 0.001


# ---- laws --------------------------------------------------------------------------------------


def test_every_row_as_a_landmark_is_the_exact_method():
    exact = Isomap(10).fit(ROLL)
    every = Isomap(10, n_landmarks=len(ROLL)).fit(ROLL)
    assert_array_equal(every.embedding_, exact.embedding_)
    assert every.landmarks_ is None
    nearly = Isomap(10, n_landmarks=len(ROLL) - 1).fit(ROLL)
    assert_allclose(nearly.embedding_, exact.embedding_, atol=0.01 * width(exact.embedding_))


# ---- the same row gets the same coordinates ----------------------------------------------------


@pytest.mark.parametrize("name", ["exact", "three dimensions", "landmarks", "radius", "manhattan"])
def test_the_formula_alone_gives_a_fitted_row_its_coordinates(name):
    """Without looking rows up: the geodesics of a fitted row lead to its coordinates."""
    fitted = quiet(clone(VARIANTS[name]), ROLL)
    placed = fitted._map.transform(ROLL[fitted._map.nodes], None)
    assert_allclose(placed, fitted.embedding_[fitted._map.nodes], atol=1e-8 * width(fitted.embedding_))


def test_pickles_leave_out_what_the_graph_gives_again():
    isomap = Isomap(10, n_landmarks=100).fit(ROLL)
    assert len(pickle.dumps(isomap)) < isomap._map.landmark_geodesics.nbytes / 2
    assert len(pickle.dumps(Isomap(10).fit(ROLL))) < 8 * len(ROLL) ** 2 / 4


def test_new_rows_land_near_their_neighbours_in_the_map():
    isomap = Isomap(10).fit(ROLL)
    nearest = cdist(NEW, ROLL).argmin(axis=1)
    apart = np.linalg.norm(isomap.transform(NEW) - isomap.embedding_[nearest], axis=1)
    assert apart.max() < 0.1 * width(isomap.embedding_)


def test_precomputed_distances_give_the_same_map_and_the_same_places():
    direct = Isomap(10).fit(ROLL)
    given = Isomap(10, metric="precomputed").fit(cdist(ROLL, ROLL))
    assert_allclose(given.embedding_, direct.embedding_, atol=1e-8 * width(direct.embedding_))
    assert_allclose(
        given.transform(cdist(NEW, ROLL)), direct.transform(NEW), atol=1e-8 * width(direct.embedding_)
    )
    assert_array_equal(given.transform(cdist(ROLL, ROLL)), given.embedding_)


# ---- attributes --------------------------------------------------------------------------------


def test_residual_variance_of_landmarks_does_not_depend_on_the_threads_of_blas(rng):
    # Rows so long that BLAS would add them up in parts.
    Z, landmarks, found = rng.normal(size=(30_000, 2)), np.arange(3), []
    for count, spread in product((1, 2), (0.3, 1, 3, 10)):
        G = cdist(Z[landmarks], Z) * np.linspace(1, spread, 30_000)
        with threadpool_limits(count, user_api="blas"):
            found.append(_landmark_residual_variance(G, landmarks, Z, 1))
    assert found[:4] == found[4:]


def test_residual_variance_falls_with_each_component_and_is_small_for_the_right_number():
    found = [Isomap(10, d).fit(ROLL).residual_variance_ for d in (1, 2)]
    assert found[0] > 5 * found[1]
    assert found[1] < 0.01


def test_landmarks_are_rows_spread_out_and_chosen_once():
    isomap = Isomap(10, n_landmarks=40).fit(ROLL)
    chosen = isomap.landmarks_
    assert len(set(chosen.tolist())) == 40
    gaps = cdist(ROLL[chosen], ROLL[chosen]) + np.diag(np.full(40, np.inf))
    at_random = np.random.default_rng(0).permutation(len(ROLL))[:40]
    random_gaps = cdist(ROLL[at_random], ROLL[at_random]) + np.diag(np.full(40, np.inf))
    assert gaps.min() > 3 * random_gaps.min()
    assert_array_equal(isomap.fit(ROLL).landmarks_, chosen)


def test_the_euclidean_defect_is_zero_on_a_line_and_positive_on_a_circle():
    line = np.linspace(0, 1, 80)[:, None]
    around = np.linspace(0, 2 * np.pi, 80, endpoint=False)
    circle = np.column_stack([np.cos(around), np.sin(around)])
    assert_allclose(Isomap(2, 1).fit(line).euclidean_defect_, 0.0, atol=1e-8)
    low, high = Isomap(2, 1).fit(circle).euclidean_defect_
    assert 0.05 < low <= high < 0.5


# ---- a graph in parts --------------------------------------------------------------------------


def test_bridges_join_the_parts_and_say_so():
    with pytest.warns(DisconnectedGraphWarning, match="3 parts of 200, 100, 30 rows: 2 shortest edges"):
        isomap = Isomap(5).fit(APART)
    assert np.isfinite(isomap.embedding_).all()
    assert len(isomap.graph_.bridges) == 2


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
@pytest.mark.parametrize("n_landmarks", [None, 30])
def test_largest_places_the_other_rows_as_new_ones(metric, n_landmarks):
    X = cdist(APART, APART) if metric == "precomputed" else APART
    largest = Isomap(5, on_disconnected="largest", metric=metric, n_landmarks=n_landmarks)
    with pytest.warns(DisconnectedGraphWarning, match="other 130 rows are placed as new ones"):
        largest.fit(X)
    assert largest.embedding_.shape == (len(APART), 2)
    assert np.isfinite(largest.embedding_).all()
    assert_array_equal(largest.transform(X), largest.embedding_)
    part = X[:200, :200] if metric == "precomputed" else X[:200]
    alone = Isomap(5, metric=metric, n_landmarks=n_landmarks).fit(part)
    assert_array_equal(largest.embedding_[:200], alone.embedding_)
    others = X[200:, :200] if metric == "precomputed" else X[200:]
    assert_array_equal(largest.embedding_[200:], alone.transform(others))


def test_raise_refuses_with_a_next_step():
    with pytest.raises(DisconnectedGraphError, match=r"got 3 parts.*Take more neighbours, or"):
        Isomap(5, on_disconnected="raise").fit(APART)


def test_inflate_puts_a_multiple_of_the_longest_path_between_the_parts():
    with pytest.warns(DisconnectedGraphWarning, match="inflated"):
        by_name = Isomap(5, on_disconnected="inflate").fit(APART)
    with pytest.warns(DisconnectedGraphWarning, match="inflated"):
        by_value = Isomap(5, on_disconnected=Inflate(10.0)).fit(APART)
    assert_array_equal(by_name.embedding_, by_value.embedding_)
    parts = by_name.graph_.components
    centres = np.array([by_name.embedding_[parts == part].mean(axis=0) for part in range(3)])
    assert (cdist(centres, centres)[~np.eye(3, dtype=bool)] > 100).all()
    assert_array_equal(by_name.transform(APART), by_name.embedding_)
    assert np.isfinite(by_name.transform(APART[:5] + 0.01)).all()


def test_a_radius_that_isolates_rows_is_stated():
    with pytest.warns(DisconnectedGraphWarning, match="parts"):
        isomap = Isomap(neighbors=Radius(2.0)).fit(ROLL[:300])
    with pytest.warns(DisconnectedGraphWarning, match="1 of 1 new rows have no neighbour within the radius"):
        Z = isomap.transform(np.full((1, 3), 100.0))
    assert np.isfinite(Z).all()


# ---- awkward and bad input ---------------------------------------------------------------------


def test_all_rows_equal_give_zeros():
    isomap = Isomap(5).fit(np.ones((30, 3)))
    assert_array_equal(isomap.embedding_, np.zeros((30, 2)))
    assert np.isfinite(isomap.transform(np.zeros((1, 3)))).all()


def test_constant_columns_change_nothing():
    Z = Isomap(10).fit_transform(ROLL)
    with_constant = np.column_stack([ROLL, np.full(len(ROLL), 7.0)])
    assert_allclose(Isomap(10).fit_transform(with_constant), Z, atol=1e-10 * width(Z))


def test_two_rows_make_a_line():
    with pytest.warns(NeighborsClippedWarning, match="at most 1.*got 10: 1 are used"):
        Z = Isomap().fit_transform(np.array([[0.0, 0.0], [3.0, 4.0]]))
    assert_allclose(np.abs(Z[0] - Z[1]), [5.0, 0.0], atol=1e-9)


def test_more_neighbours_than_rows_is_warned_and_clipped():
    with pytest.warns(NeighborsClippedWarning, match="at most 19.*got 50: 19 are used"):
        clipped = Isomap(50).fit(ROLL[:20])
    assert_array_equal(clipped.embedding_, Isomap(19).fit(ROLL[:20]).embedding_)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.where(np.arange(30).reshape(10, 3) == 4, np.nan, 1.0), "contains NaN"),
        (np.where(np.arange(30).reshape(10, 3) == 4, np.inf, 1.0), "contains infinity"),
        (np.empty((0, 3)), "0 sample"),
        (np.ones((1, 3)), "1 sample.*minimum of 2"),
        (np.ones((5, 0)), "0 feature"),
        (np.ones(5), "Expected 2D array"),
        (np.array([["a", "b"], ["c", "d"]]), "could not convert string to float"),
    ],
)
def test_bad_tables_are_refused(X, message):
    with pytest.raises(ValueError, match=message):
        Isomap().fit(X)


def test_sparse_rows_are_refused_with_a_next_step():
    with pytest.raises(ValueError, match=r"X must be dense for Isomap, got a sparse .* Reduce it first"):
        Isomap().fit(csr_array(np.eye(10)))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors must be a positive integer, got 0"),
        ({"n_neighbors": 2.5}, "must be a number of neighbours"),
        ({"n_components": 0}, "n_components must be a positive integer, got 0"),
        ({"n_landmarks": 3}, "n_landmarks must be an integer of at least n_components \\+ 2 = 4"),
        (
            {"n_landmarks": Landmarks(50, "spread")},
            "landmark rule must be one of maxmin, random, got 'spread'",
        ),
        ({"metric": "euclidian"}, "metric must be one of .*Did you mean 'euclidean'"),
        (
            {"on_disconnected": "join"},
            "on_disconnected must be one of bridge, largest, raise, inflate, got 'join'",
        ),
        ({"neighbors": Radius(-0.3)}, "eps must be a positive radius, got -0.3. Give a distance"),
        ({"neighbors": Percentile(0)}, "p must be a percentile in"),
        ({"neighbors": Pnn(5)}, "neighbors must be Knn, Radius or Percentile, whose weights are distances"),
        ({"neighbors": Knn(5, approximate=True), "metric": "precomputed"}, "approximate must be False"),
        ({"n_jobs": 0}, "n_jobs must be a non-zero integer or None, got 0"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    X = cdist(ROLL[:60], ROLL[:60]) if parameters.get("metric") == "precomputed" else ROLL[:60]
    with pytest.raises(InvalidInputError, match=message):
        Isomap(**parameters).fit(X)


@pytest.mark.parametrize(
    ("D", "message"),
    [
        (np.ones((4, 5)), "a square matrix of distances, got \\(4, 5\\)"),
        (np.ones((4, 4)), "zero on its diagonal"),
        (-1.0 * (1 - np.eye(4)), "Negative values in data"),
        (np.triu(np.ones((4, 4)), 1), "symmetric"),
    ],
)
def test_bad_distance_matrices_are_refused(D, message):
    with pytest.raises(InvalidInputError, match=message):
        Isomap(2, metric="precomputed").fit(D)


def test_memory_is_refused_with_the_numbers_and_the_alternative():
    expected = r"700 rows needs 1\.869 MiB.*budget is 976\.6 KiB.*n_landmarks"
    with config_context(memory_limit=10**6), pytest.raises(MemoryBudgetError, match=expected):
        Isomap(10).fit(ROLL)
    with config_context(memory_limit=10**6):
        assert Isomap(10, n_landmarks=50).fit(ROLL).embedding_.shape == (700, 2)


def test_progress_is_reported_from_start_to_end():
    seen = []
    with config_context(progress=lambda *step: seen.append(step)):
        Isomap(10).fit(ROLL)
    steps = [(done, total) for what, done, total in seen if what == "shortest paths"]
    assert steps[0] == (0, 700)
    assert steps[-1] == (700, 700)
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)
