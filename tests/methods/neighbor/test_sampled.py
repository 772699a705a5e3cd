import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from assertions import assert_same_bits
from isentropic import Diffusion, Geodesic, Knn
from isentropic.embedding.row_distances import Distances
from isentropic.methods.neighbor.sampled import (
    distances_to,
    least_width,
    local_widths,
    n_to_list,
    other_rows,
    rows_beyond,
    scaled_nearest,
    small_initialization,
)
from isentropic.neighbors import nearest_neighbors
from naive_layouts import naive_draws
from naive_walks import naive_diffusion, naive_walk


def test_other_rows_are_all_of_them_and_never_the_row_itself():
    drawn = other_rows(0, 0, 4, 300)
    for i in range(4):
        counts = np.bincount(drawn[i], minlength=4)
        assert counts[i] == 0
        assert np.delete(counts, i).min() > 60


def test_other_rows_are_those_of_the_counters():
    drawn = other_rows(7, 2, 50, 9)
    for i in range(50):
        plain = naive_draws(7, 2, i, 49, 9)
        assert_array_equal(drawn[i], plain + (plain >= i))


@pytest.mark.parametrize("n", [30, 1500])  # by a list of those that are free, and by drawing again
def test_rows_beyond_are_in_no_list(n):
    near = np.argsort(np.random.RandomState(0).uniform(size=(n, n)) + 9 * np.eye(n), axis=1)[:, :20]
    drawn = rows_beyond(0, 0, near, [5, 20], 8)
    assert drawn.shape == (n, 16)
    for i in range(n):
        for part, k in ((drawn[i, :8], 5), (drawn[i, 8:], 20)):
            assert len({*part, i, *near[i, :k]}) == 9 + k  # all different
    assert len(np.unique(drawn)) > n / 2
    assert_same_bits(rows_beyond(0, 0, near, [5, 20], 8, n_jobs=1), drawn)
    assert (rows_beyond(0, 1, near, [5, 20], 8) != drawn).any()
    assert_same_bits(rows_beyond(0, 0, near, [5], 8), drawn[:, :8])


def test_rows_beyond_are_equally_likely():
    near = np.tile(np.arange(1, 7), (4000, 1))[:, ::-1]
    for purpose, size in enumerate((14, 40)):  # both ways
        drawn = np.concatenate([rows_beyond(seed, purpose, near[:size], [6], 3)[0] for seed in range(3000)])
        counts = np.bincount(drawn, minlength=size)
        assert (counts[:7] == 0).all()
        assert_allclose(counts[7:], 9000 / (size - 7), rtol=0.25)


def test_where_all_others_are_near_nothing_is_drawn():
    near = np.array([[1, 2], [0, 2], [0, 1]])
    assert_array_equal(rows_beyond(0, 0, near, [2], 2), np.full((3, 2), -1))
    assert sorted(rows_beyond(0, 0, near, [1], 2)[0]) == [-1, 2]


@pytest.mark.parametrize(
    "metric", ["euclidean", "cosine", "chebyshev", "precomputed", Geodesic(6), Diffusion(6, t=2)]
)
def test_distances_are_those_of_the_metric(rng, metric):
    X = rng.normal(size=(40, 3))
    others = other_rows(0, 0, 40, 5)
    given = cdist(X, X) if metric == "precomputed" else X
    distances = Distances.of(given, metric, random_state=0, n_jobs=None)
    if isinstance(metric, Diffusion):
        P, phi, _ = naive_walk(X, 6, "auto", 0.0)
        D = naive_diffusion(P, phi, 2)
    elif isinstance(metric, Geodesic):
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import shortest_path

        graph = distances.graph
        D = shortest_path(csr_array((graph.weights, graph.indices, graph.indptr), shape=(40, 40)))
    else:
        D = cdist(X, X, "euclidean" if metric == "precomputed" else metric)
    assert_allclose(distances_to(distances, others), np.take_along_axis(D, others, axis=1), atol=1e-12)


def test_widths_and_scaled_neighbours():
    near = np.array([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [0.0] * 7])
    assert_allclose(local_widths(near, 4, least_width(near)), [5.0, 0.04])
    assert least_width(np.zeros((2, 3))) == 1.0
    assert_allclose(local_widths(near[:1, :2], 4), [2.0])
    assert_allclose(local_widths(near[:1], 3), [4.0])
    indices, scaled = scaled_nearest(
        np.array([[0, 1, 2]]), np.array([[1.0, 2.0, 3.0]]), np.array([1.0]), np.array([1.0, 100.0, 1.0]), 2
    )
    assert_array_equal(indices, [[1, 0]])
    assert_allclose(scaled, [[0.04, 1.0]])


def test_fifty_more_are_listed_or_as_many_as_there_are(rng):
    given = nearest_neighbors(rng.normal(size=(40, 2)), Knn(12))
    assert [n_to_list(10, n) for n in (1000, 40, 5)] == [60, 39, 10]
    assert [n_to_list(k, 40, given) for k in (10, 20)] == [12, 20]


@pytest.mark.parametrize("unit", [1.0, 2.0**997, 1e300, 1e-300])
def test_a_start_is_made_small_in_any_unit(rng, unit):
    Z = rng.normal(size=(200, 2)) * [3.0, 1.0] + 5.0
    small = small_initialization(unit * Z)
    assert_allclose(small, 0.01 * (Z - Z.mean(axis=0)) / Z[:, 0].std(), rtol=1e-9)
