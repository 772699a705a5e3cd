"""How far rows moved between two maps: against Procrustes by scipy, by name, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from isentropic import PCA, TSNE, InvalidInputError
from isentropic.quality import aligned_distance
from isentropic.tables.class_labels import has_default_index, matched_names, row_names


@pytest.fixture
def maps(rng):
    Z = rng.normal(size=(40, 2)) * [3.0, 1.0]
    return Z, Z + rng.normal(size=Z.shape) * 0.1


def least_squares(before, after):
    """Distances after the best of all angles, shifts and mirrorings, by a plain search."""

    def gaps(parameters, mirror):
        angle, *shift = parameters
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        return (after * [1, mirror]) @ turn + shift - before

    tried = [
        (minimize(lambda p, m=mirror: (gaps(p, m) ** 2).sum(), [angle, 0, 0], tol=1e-14), mirror)
        for mirror in (1, -1)
        for angle in (0.0, 2.0, 4.0)
    ]
    found, mirror = min(tried, key=lambda one: one[0].fun)
    return np.linalg.norm(gaps(found.x, mirror), axis=1)


def test_distances_are_those_after_the_best_motion(maps):
    before, after = maps
    moved = aligned_distance(before, after[:, ::-1] + 5.0)
    assert_allclose(moved.distances, least_squares(before, after[:, ::-1]), atol=1e-5)
    assert moved.width == np.ptp(before, axis=0).max()
    assert_allclose(moved.shares, moved.distances / moved.width)
    assert moved.median == np.median(moved.shares)
    assert moved.worst == moved.shares.max()
    assert 0.9 < moved.correlation < 1


def test_rigid_motions_are_no_movement_and_size_is(rng):
    Z = rng.normal(size=(30, 3))
    turned = Z @ Rotation.from_euler("xyz", [0.3, 1.0, 2.0]).as_matrix() - 7.0
    assert aligned_distance(Z, turned).worst < 1e-12
    assert_allclose(aligned_distance(Z, turned).aligned, Z, atol=1e-12)
    grown = aligned_distance(Z, 2.0 * turned)
    assert_allclose(grown.distances, np.linalg.norm(Z - Z.mean(axis=0), axis=1))
    assert_allclose(grown.correlation, 1.0)


def test_rows_are_matched_by_name(maps):
    before, after = maps
    names = [f"f{i:02}" for i in range(40)]
    later = pd.DataFrame(np.concatenate([after, [[9.0, 9.0]]]), index=[*names, "new"])
    shuffled = later.drop(index=names[:5]).sample(frac=1, random_state=0)
    moved = aligned_distance(pd.DataFrame(before, index=names), shuffled)
    assert_array_equal(moved.rows_before, np.arange(5, 40))
    assert [shuffled.index[row] for row in moved.rows] == names[5:]
    assert_allclose(moved.distances, aligned_distance(before[5:], after[5:]).distances, atol=1e-12)
    assert moved.aligned.shape == (36, 2)


def test_of_fitted_estimators(rng):
    X = pd.DataFrame(rng.normal(size=(30, 4)), index=[f"r{i}" for i in range(30)])
    first, second = TSNE(5, max_iter=20).fit(X), TSNE(5, max_iter=20).fit(X[::-1])
    by_name = aligned_distance(first, second)
    assert_array_equal(by_name.rows, np.arange(30)[::-1])
    plain = aligned_distance(first.embedding_, second.embedding_[::-1])
    assert_allclose(by_name.distances, plain.distances, atol=1e-12)
    assert aligned_distance(PCA().fit(X), PCA().fit(X)).worst < 1e-12


def test_maps_of_one_point():
    point = np.ones((4, 2))
    assert aligned_distance(point, point + 3.0).worst == 0.0
    with pytest.raises(InvalidInputError, match="previous must be a map wider than a point"):
        aligned_distance(point, np.arange(8.0).reshape(4, 2))


@pytest.mark.parametrize(
    ("previous", "current", "said"),
    [
        (np.ones((3, 2)), np.ones((4, 2)), "a map of the same 3 rows, or one with row names, got '4 rows'"),
        (np.ones((3, 2)), np.ones((3, 3)), "a map of as many dimensions as the first, 2, got 3"),
        (np.ones(3), np.ones((3, 2)), "previous must be a fitted estimator"),
        ("map.csv", np.ones((3, 2)), "previous must be a fitted estimator"),
        (np.eye(2), np.full((2, 2), np.nan), "current must be finite everywhere, got '4 entries"),
        (pd.DataFrame(np.eye(2), index=["a", "a"]), pd.DataFrame(np.eye(2), index=["a", "b"]),
         "names of rows must be different for every row, got \"'a' 2 times\""),
        (pd.DataFrame(np.eye(2), index=["a", "b"]), pd.DataFrame(np.eye(2), index=["c", "d"]),
         "a map that has rows of the first, got 'none of them'. The first map has rows such as 'a'"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused(previous, current, said):
    with pytest.raises(InvalidInputError) as refused:
        aligned_distance(previous, current)
    assert said in str(refused.value)


def test_names_of_rows():
    frame = pd.DataFrame(np.eye(3))
    assert row_names(np.eye(3)) is None
    assert row_names([[1.0]]) is None
    assert row_names(frame).tolist() == ["0", "1", "2"]
    assert has_default_index(frame)
    assert not has_default_index(frame[1:])
    assert not has_default_index(frame.set_index(0))
    assert matched_names(["b", "x"], ["a", "b"], "names").tolist() == [1, -1]
