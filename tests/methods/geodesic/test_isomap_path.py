"""A path over the neighbours against separate fits, and its alarm on planted short circuits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial import procrustes
from sklearn.datasets import make_swiss_roll

from isentropic import DisconnectedGraphError, InvalidInputError, Isomap, Path, Radius, datasets, isomap_path
from isentropic.geodesics import all_pairs
from isentropic.linalg import aligned
from isentropic.neighbors import distance_graph
from isentropic.quality import rnx_auc


def rolled(seed, noise, most):
    """A roll, and the least k with an edge from sheet to sheet, None if there is none up to ``most``."""
    X, turn = make_swiss_roll(1000, noise=noise, random_state=seed)
    order = np.argsort(((X[:, None] - X) ** 2).sum(axis=2), axis=1)[:, 1 : most + 1]
    leaps = np.abs(turn[order] - turn[:, None]) > 3  # a turn is 6.3
    return X, next((k for k in range(1, most + 1) if leaps[:, :k].any()), None)


@pytest.fixture(scope="module")
def rows():
    return datasets.load("builtin:swiss-roll", n_samples=400).X


def assert_same_as_fits(path, fits):
    assert_allclose(path.eigenvalues, [fit.eigenvalues_ for fit in fits], rtol=1e-8)
    assert_allclose(path.residual_variance, [fit.residual_variance_ for fit in fits], atol=1e-8)
    assert_allclose(path.euclidean_defect, [fit.euclidean_defect_ for fit in fits], atol=1e-8)
    for Z, fit in zip(path.embeddings, fits, strict=True):
        assert_allclose(Z, fit.embedding_, atol=1e-8 * np.abs(fit.embedding_).max())


@pytest.mark.parametrize("n_components", [1, 3, 9])
def test_every_map_is_that_of_a_fit(rows, n_components):
    values = [6, 8, 14]
    path = isomap_path(rows, values, n_components=n_components)
    assert path.neighbors == (6, 8, 14)
    fits = [Isomap(n_neighbors=k, n_components=n_components).fit(rows) for k in values]
    assert_same_as_fits(path, fits)


def test_radii_find_the_maps_of_fits(rows):
    values = [Radius(8.0), Radius(5.0), Radius(6.0)]
    path = isomap_path(rows, values)
    assert path.neighbors == (Radius(5.0), Radius(6.0), Radius(8.0))
    assert_same_as_fits(path, [Isomap(neighbors=value).fit(rows) for value in path.neighbors])


@pytest.mark.filterwarnings("ignore::isentropic.DisconnectedGraphWarning")
def test_radii_of_parts_of_duplicates_and_of_given_distances(rows):
    X = np.concatenate([rows[:150], rows[:10], rows[:20] + 60.0])
    values = [Radius(4.0), Radius(7.0), Radius(90.0)]
    path = isomap_path(X, values)
    assert path.n_parts[0] > path.n_parts[1] > path.n_parts[2] == 1
    assert_same_as_fits(path, [Isomap(neighbors=value).fit(X) for value in values])
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    assert_allclose(isomap_path(D, values, metric="precomputed").geodesic_sum, path.geodesic_sum, rtol=1e-9)
    assert path.sizes.tolist() == [4.0, 7.0, 90.0]


@pytest.mark.parametrize(("noise", "seed", "first"), [(0.0, 1, None), (0.3, 1, 4.8), (0.5, 0, 4.0)])
def test_radii_raise_the_alarm_at_the_first_edge_from_sheet_to_sheet(noise, seed, first):
    X, turn = make_swiss_roll(1000, noise=noise, random_state=seed)
    radii = (3.4, 3.6, 3.8, 4.0, 4.4, 4.8)
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    leap = D[np.abs(turn[:, None] - turn) > 3].min()  # a turn is 6.3
    assert next((radius for radius in radii if leap < radius), None) == first
    path = isomap_path(X, [Radius(radius) for radius in radii])
    assert [radius.eps for radius in path.short_circuits[:1]] == ([] if first is None else [first])
    assert first is None or path.chosen.eps < first


def test_of_few_rows_and_of_given_distances(rows):
    X = rows[:60]
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    path = isomap_path(D, [8, 12], metric="precomputed")
    assert_same_as_fits(path, [Isomap(n_neighbors=k, metric="precomputed").fit(D) for k in (8, 12)])


@pytest.mark.filterwarnings("ignore::isentropic.DisconnectedGraphWarning")
def test_bridges_of_a_small_k_are_gone_from_a_larger_one():
    random = np.random.default_rng(3)
    X = np.concatenate([random.normal(size=(150, 3)), random.normal(size=(20, 3)) + np.array([9.0, 0, 0])])
    path = isomap_path(X, [5, 10, 40])
    assert path.n_parts.tolist() == [2, 2, 1]
    assert_same_as_fits(path, [Isomap(n_neighbors=k).fit(X) for k in (5, 10, 40)])
    with pytest.raises(DisconnectedGraphError):
        isomap_path(X, [5, 10], on_disconnected="raise")


def test_duplicates_and_ties_change_nothing():
    grid = np.array([[i, j, 0.0] for i in range(16) for j in range(14)])
    X = np.concatenate([grid, grid[:20] * [1, 1, 0]])
    path = isomap_path(X, [8, 10])
    assert_same_as_fits(path, [Isomap(n_neighbors=k).fit(X) for k in (8, 10)])


def test_measures_beside_the_maps(rows):
    path = isomap_path(rows, [8, 12])
    assert_allclose(path.rnx_auc, [rnx_auc(rows, Z) for Z in path.embeddings])
    sums = [all_pairs(distance_graph(rows, k)).sum() for k in (8, 12)]
    assert_allclose(path.geodesic_sum, sums, rtol=1e-12)
    assert np.isnan(path.stability[0])
    assert_allclose(path.stability[1] ** 2, 1 - procrustes(*path.embeddings)[2], rtol=1e-9)
    assert np.isnan(path.shrinkage[0])
    assert_allclose(path.shrinkage[1], 1 - path.geodesic_sum[1] / path.geodesic_sum[0])


def test_aligned_maps_lie_on_the_one_before(rows):
    path = isomap_path(rows, [8, 12])
    first, second = path.aligned
    assert_array_equal(first, path.embeddings[0])
    gap = np.linalg.norm(second - first)
    for mirror in ([1, 1], [1, -1], [-1, 1], [-1, -1]):
        assert gap <= np.linalg.norm(path.embeddings[1] * mirror - first) + 1e-9
    assert_allclose(aligned(first[:, ::-1] - 3, first), first, atol=1e-9)


@pytest.mark.parametrize("seed", [0, 1, 4])
def test_the_clean_roll_raises_no_alarm(seed):
    X, first = rolled(seed, 0.0, 13)
    assert first is None
    assert isomap_path(X, [5, 6, 7, 8, 10, 13]).short_circuits == ()


@pytest.mark.parametrize(("seed", "k"), [(0, 12), (1, 12), (2, 8), (4, 9)])
def test_the_alarm_names_the_first_short_circuit_of_a_noisy_roll(seed, k):
    X, first = rolled(seed, 0.5, 13)
    assert first == k
    path = isomap_path(X, [5, 6, *range(7, 14)])
    assert path.short_circuits[0] == k
    assert path.chosen < k


def test_results_do_not_depend_on_threads(rows):
    one, two = (isomap_path(rows, [6, 9], n_jobs=n_jobs) for n_jobs in (1, 2))
    for name in ("eigenvalues", "residual_variance", "rnx_auc", "geodesic_sum", "stability"):
        assert_array_equal(getattr(one, name), getattr(two, name))
    for a, b in zip(one.embeddings, two.embeddings, strict=True):
        assert_array_equal(a, b)


def example(sums, parts=None, variance=None):
    count = len(sums)
    return Path(
        neighbors=tuple(range(5, 5 + count)),
        embeddings=(np.zeros((3, 2)),) * count,
        eigenvalues=np.ones((count, 2)),
        residual_variance=np.full(count, 0.1) if variance is None else np.array(variance),
        rnx_auc=np.ones(count),
        geodesic_sum=np.array(sums, float),
        stability=np.ones(count),
        euclidean_defect=np.zeros((count, 2)),
        n_parts=np.ones(count, int) if parts is None else np.array(parts),
    )


def test_the_alarm_in_numbers():
    assert example([100, 97, 95, 94, 93]).short_circuits == ()
    assert example([100, 97, 95, 94, 80, 79.5]).short_circuits == (9,)
    assert example([100, 60, 59, 58]).short_circuits == ()  # nothing to compare with: no trend is known
    assert example([100, 99.9, 99.89, 99.5]).short_circuits == ()  # less than a hundredth
    assert example([100, 97, 95, 94, 80], parts=[1, 1, 1, 2, 1]).short_circuits == ()  # bridges went


def test_the_choice_in_numbers():
    assert example([9, 9, 9, 9], variance=[0.5, 0.105, 0.1, 0.101]).chosen == 6
    assert example([9, 9, 9, 9], variance=[0.5, 0.1, 0.3, 0.2]).chosen == 6  # it does not stay: the least
    assert example([100, 97, 95, 94, 80], variance=[0.5, 0.3, 0.2, 0.2, 0.01]).chosen == 7  # before the alarm


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([], "several numbers"),
        (10, "several numbers"),
        ([5, Radius(1.0)], "Take two paths"),
        ([5, 0], "n_neighbors"),
        ([5, 2.5], "several numbers"),
    ],
)
def test_bad_values_are_refused(rows, values, said):
    with pytest.raises(InvalidInputError, match=said):
        isomap_path(rows, values)


def test_bad_options_are_refused(rows):
    with pytest.raises(InvalidInputError, match="on_disconnected must be one of bridge, raise"):
        isomap_path(rows, [5], on_disconnected="largest")
    with pytest.raises(InvalidInputError, match="n_components"):
        isomap_path(rows, [5], n_components=0)
