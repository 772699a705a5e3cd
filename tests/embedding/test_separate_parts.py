"""Parts of a neighbour graph that are mapped by themselves and laid side by side."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from assertions import assert_same_bits
from isentropic import DisconnectedGraphWarning, InvalidInputError, load, make, save
from laws import assert_fitted_rows_stay, assert_rows_by_themselves

SIZES = {0: 80, 1: 60, 2: 40}  # the largest first, which is not the first in the table
METHODS = ["lle", "modified-lle", "ltsa", "hessian-lle"]
pytestmark = pytest.mark.filterwarnings("ignore:. of 2 coordinate:isentropic.DisconnectedGraphWarning")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.repeat(list(SIZES), list(SIZES.values())))
    X = rng.uniform(size=(180, 3)) * [3, 2, 0.1] + 100.0 * labels[:, None]
    return X, labels


@pytest.fixture(scope="module", params=METHODS)
def both(request, table):
    with pytest.warns(DisconnectedGraphWarning, match="3 parts of 80, 60, 40 rows: each is mapped by itself"):
        separate = make(request.param, n_neighbors=8, on_disconnected="separate").fit(table[0])
    return separate, [make(request.param, n_neighbors=8).fit(table[0][table[1] == part]) for part in SIZES]


def test_each_part_has_the_map_that_it_has_alone_as_dense_as_the_largest(both, table):
    separate, alone = both
    for part, one in enumerate(alone):
        Z = separate.embedding_[table[1] == part]
        scale = np.sqrt(SIZES[part] / SIZES[0])
        assert_allclose(
            Z - Z.mean(axis=0), scale * (one.embedding_ - one.embedding_.mean(axis=0)), atol=1e-12
        )
    assert_array_equal(separate.eigenvalues_, alone[0].eigenvalues_)
    assert separate.eigengap_ == alone[0].eigengap_


def test_no_part_lies_over_another(both, table):
    first = both[0].embedding_[:, 0]
    ends = [(first[table[1] == part].min(), first[table[1] == part].max()) for part in SIZES]
    widest = max(right - left for left, right in ends)
    for (_, right), (left, _) in pairwise(ends):
        assert_allclose(left - right, 0.1 * widest)


def test_a_new_row_goes_to_the_part_of_its_nearest_row(both, table):
    """Also those in the middle between two parts, of which both have some of the nearest rows."""
    (separate, alone), (X, labels) = both, table
    lower, upper = X[labels == 0], X[labels == 1]
    ends = lower[lower.sum(axis=1).argmax()], upper[upper.sum(axis=1).argmin()]
    middle = np.mean(ends, axis=0) + np.random.default_rng(1).normal(scale=0.1, size=(9, 3))
    new = np.vstack([X[:9] + 0.01, middle])
    order = cdist(new, X).argsort(axis=1)
    assert (np.ptp(labels[order[:, :8]], axis=1) > 0).sum() >= 3
    for i, part in enumerate(labels[order[:, 0]]):
        scale = np.sqrt(SIZES[part] / SIZES[0])
        moved = separate.embedding_[labels == part].mean(axis=0) - scale * alone[part].embedding_.mean(axis=0)
        expected = scale * alone[part].transform(new[i : i + 1]) + moved
        assert_allclose(separate.transform(new[i : i + 1]), expected, atol=1e-8)


def test_rows_stay_and_are_placed_by_themselves_by_a_saved_model_too(both, table, tmp_path):
    separate, X = both[0], table[0]
    assert_fitted_rows_stay(separate, X)
    new = np.vstack([X[:6] + 0.01, X[:2] + 40.0])
    assert_rows_by_themselves(separate.transform, new)
    save(separate, tmp_path / "model.isentropic")
    assert_same_bits(load(tmp_path / "model.isentropic").transform(new), separate.transform(new))


@pytest.mark.filterwarnings("ignore:30 of 90 patches:isentropic.IsentropicWarning")
@pytest.mark.parametrize("name", ["lle", "hessian-lle"])
def test_equal_rows_in_several_parts_have_one_place(name, rng):
    X = np.vstack([rng.normal(size=(60, 3)), np.repeat(rng.normal(size=(1, 3)), 30, axis=0) + 9])
    with pytest.warns(DisconnectedGraphWarning, match="each is mapped by itself"):
        fitted = make(name, n_neighbors=7, on_disconnected="separate").fit(X)
    assert np.ptp(fitted.embedding_[60:], axis=0).max() == 0
    assert np.isfinite(fitted.embedding_).all()


def test_one_part_is_mapped_as_ever(rng):
    X = rng.normal(size=(70, 3))
    assert_same_bits(make("lle", on_disconnected="separate").fit(X).embedding_, make("lle").fit(X).embedding_)


@pytest.mark.parametrize("name", ["laplacian-eigenmaps", "diffusion-maps"])
def test_methods_of_walks_have_no_such_policy(name, rng):
    with pytest.raises(InvalidInputError, match="on_disconnected must be one of bridge, largest, raise, got"):
        make(name, on_disconnected="separate").fit(rng.normal(size=(30, 3)))
