"""LLE against scikit-learn's, and what it does with parts, equal rows and new ones."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.manifold import LocallyLinearEmbedding

from assertions import assert_same_up_to_sign
from isentropic import LLE, DisconnectedGraphWarning, IsentropicWarning, datasets, neighbor_graph
from isentropic._core.errors import DisconnectedGraphError, InvalidInputError
from isentropic.linalg.eigen import count_separating_coordinates
from isentropic.methods.local.neighborhoods import Neighborhoods

ROLL = datasets.load("builtin:swiss-roll", n_samples=300).X


@pytest.mark.parametrize(("k", "d", "share"), [(8, 2, 1e-3), (12, 3, 1e-3), (6, 2, 0.1)])
@pytest.mark.parametrize("n", [150, 300], ids=["dense", "sparse"])
def test_it_agrees_with_scikit_learn_up_to_sign_and_scale(k, d, share, n):
    peer = LocallyLinearEmbedding(n_neighbors=k, n_components=d, reg=share, eigen_solver="dense")
    expected = peer.fit_transform(ROLL[:n]) * np.sqrt(n)
    found = LLE(k, d, regularization=share).fit(ROLL[:n]).embedding_
    assert_same_up_to_sign(found, expected, rtol=1e-8, atol=1e-8)
    assert_allclose(found.T @ found / n, np.eye(d), atol=1e-10)
    assert_allclose(found.mean(axis=0), 0, atol=1e-9)


def test_a_new_row_is_the_sum_of_its_neighbours():
    fitted = LLE(8).fit(ROLL[:200])
    peer = LocallyLinearEmbedding(n_neighbors=8, eigen_solver="dense").fit(ROLL[:200])
    peer.embedding_ = fitted.embedding_  # eigenvalues are so near that two solvers differ by 1e-9
    assert_allclose(fitted.transform(ROLL[200:]), peer.transform(ROLL[200:]), atol=1e-10)


def test_parts_are_joined_or_refused(rng):
    X = np.vstack([rng.normal(size=(40, 3)), rng.normal(size=(40, 3)) + 50])
    with (
        pytest.warns(DisconnectedGraphWarning, match="1 of 2 coordinate only separates groups of rows"),
        pytest.warns(
            DisconnectedGraphWarning, match="2 parts of 40, 40 rows: the shortest edge between them"
        ),
    ):
        fitted = LLE(6).fit(X)
    assert fitted.eigenvalues_[0] > 1e-12  # one part: the only zero is that of the constant
    assert fitted.n_separating_ == 1
    assert max(np.ptp(fitted.embedding_[:40, 0]), np.ptp(fitted.embedding_[40:, 0])) < 0.3
    with pytest.warns(DisconnectedGraphWarning, match="the largest is fitted, the other 40 rows are placed"):
        largest = LLE(6, on_disconnected="largest").fit(X)
    assert largest.n_separating_ == 0
    assert_array_equal(largest.embedding_[:40], LLE(6).fit(X[:40]).embedding_)
    assert_array_equal(largest.embedding_[40:], LLE(6).fit(X[:40]).transform(X[40:]))
    with pytest.raises(DisconnectedGraphError):
        LLE(6, on_disconnected="raise").fit(X)


def test_a_long_sheet_is_not_said_to_be_in_groups():
    """Though the eigenvalue of its length is more than a hundred times below the next."""
    fitted = LLE(12, 3).fit(datasets.load("builtin:swiss-roll").X)
    assert fitted.eigenvalues_[1] > 100 * fitted.eigenvalues_[0]
    assert fitted.n_separating_ == 0


@pytest.mark.parametrize(
    ("values", "count"),
    [
        ([0.1, 0.2, 0.3], 0),
        ([1e-5, 0.2, 0.3], 1),
        ([1e-5, 1e-4, 0.3], 2),  # the gap is behind the last coordinate
        ([1e-8, 0.1, 20.0], 2),
        ([1e-17, -1e-17, 1e-17], 2),  # nothing but zeros: as many groups, or more
        ([1e-3, 0.099], 0),
        ([1e-3, 0.101], 1),
        ([0.5], 0),
    ],
)
def test_coordinates_far_below_the_next_eigenvalue_are_counted(values, count):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert count_separating_coordinates(np.array(values), 2, size=1.0) == count
    assert len(told) == (count > 0)
    assert all(f"{count} of 2 coordinate" in str(one.message) for one in told)


def test_lists_that_lead_out_of_no_group_are_told_though_the_graph_is_one():
    X = datasets.load(
        "builtin:iris"
    ).X  # no list of the last 100 rows leads to the first 50, which has one of theirs
    with pytest.warns(DisconnectedGraphWarning, match="1 of 2 coordinate only separates"):
        fitted = LLE(10).fit(X)
    assert np.ptp(fitted.embedding_[50:, 0]) < 1e-6 * np.ptp(fitted.embedding_[:, 0])
    assert neighbor_graph(X, 10).n_components == 1


@pytest.mark.filterwarnings("ignore::isentropic._core.errors.NeighborsClippedWarning")
def test_more_coordinates_than_rows_tell_apart_are_zero(rng):
    with pytest.warns(IsentropicWarning, match="X has 3 rows: the last 1 of 3 coordinates are zero"):
        fitted = LLE(3, 3).fit(rng.normal(size=(3, 4)))
    assert not fitted.embedding_[:, 2].any()


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (LLE(1), "n_neighbors must be an integer of at least n_components = 2, got 1"),
        (LLE(regularization=0), "regularization must be a positive number, got 0"),
        (
            LLE(on_disconnected="inflate"),
            "on_disconnected must be one of bridge, largest, raise",
        ),
    ],
)
def test_bad_parameters_are_refused(estimator, message):
    with pytest.raises(InvalidInputError, match=message):
        estimator.fit(ROLL[:50])


def test_ends_of_bridges_are_in_each_others_lists():
    near = np.array([[1], [0], [3], [2], [5], [4]])
    lists = Neighborhoods(np.arange(6), near, np.array([[1, 2], [3, 4], [1, 4]]))
    found = {
        int(i): row.tolist() for rows, near in lists.by_size(3) for i, row in zip(rows, near, strict=True)
    }
    assert found == {0: [1], 1: [0, 2, 4], 2: [3, 1], 3: [2, 4], 4: [5, 1, 3], 5: [4]}
    assert_array_equal(np.concatenate([rows for rows, _ in lists.by_size(3)]).sum(), 15)
