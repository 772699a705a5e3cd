"""What all linear methods share: the inverse of the map, the share of variance, rows in a unit of theirs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA as PCAOfScikitLearn

import laws
from assertions import assert_same_bits, assert_same_up_to_sign
from isentropic import METHODS, PCA, RandomProjection, make
from isentropic._core.errors import InvalidInputError
from isentropic._core.state import field_specs
from isentropic.linalg.centering import CentredRows

LINEAR = [
    name for name, method in METHODS.items() if {"components_", "mean_"} <= set(field_specs(method.load()))
]
X = laws.numbers(0, 60) @ np.random.default_rng(3).normal(size=(3, 5)) + 7


@pytest.mark.filterwarnings("ignore::isentropic._core.errors.IsentropicWarning")
@pytest.mark.parametrize("name", LINEAR)
def test_the_inverse_has_the_coordinates_it_was_made_of(name):
    fitted = laws.fit(make(name), X)
    assert fitted.components_.shape == (2, 5)
    rows = fitted.inverse_transform(fitted.embedding_)
    assert rows.shape == X.shape
    assert_allclose(fitted.transform(rows), fitted.embedding_, atol=1e-9 * laws.width(fitted.embedding_))
    alone = np.vstack([fitted.inverse_transform(z[None]) for z in fitted.embedding_])
    assert_same_bits(alone, rows)


@pytest.mark.parametrize("whiten", [False, True])
def test_the_inverse_of_pca_is_that_of_scikit_learn(whiten):
    theirs = PCAOfScikitLearn(2, whiten=whiten).fit(X)
    ours = PCA(whiten=whiten).fit(X)
    expected = theirs.inverse_transform(theirs.transform(X))
    assert_allclose(ours.inverse_transform(ours.embedding_), expected, atol=1e-10)


@pytest.mark.filterwarnings("ignore::isentropic._core.errors.IsentropicWarning")
@pytest.mark.parametrize("name", LINEAR)
def test_no_rows_are_kept_and_directions_are_shared(name):
    rows = X.copy()
    fitted = laws.fit(make(name), rows)
    data = fitted._map.data
    assert data.n == len(rows)
    assert data.X is None
    assert data.table is None
    assert data.labels is None
    linear = getattr(fitted._map, "linear", fitted._map)
    assert linear.components is fitted.components_
    assert linear.mean is fitted.mean_
    validation = [value for value in vars(fitted._map).values() if isinstance(value, np.ndarray)]
    assert not any(np.shares_memory(value, rows) for value in (*validation, fitted.embedding_))


def test_coordinates_of_another_number_have_no_inverse():
    with pytest.raises(InvalidInputError, match=r"Z must be rows of 2 coordinates, got \(60, 5\)"):
        PCA().fit(X).inverse_transform(X)


def test_the_share_of_variance_along_principal_axes_is_that_of_pca():
    pca = PCA(3).fit(X)
    assert_allclose(CentredRows.of(X).explained(pca.components_), pca.explained_variance_ratio_, rtol=1e-9)
    twice = np.array([pca.components_[0], 2 * pca.components_[0] + pca.components_[1]])
    assert_allclose(CentredRows.of(X).explained(twice), pca.explained_variance_ratio_[:2], rtol=1e-9)
    assert_allclose(CentredRows.of(np.ones((4, 5))).explained(twice), 0)
    padded = np.vstack([pca.components_[:1], np.zeros((1, 5))])
    assert_allclose(CentredRows.of(X).explained(padded), [pca.explained_variance_ratio_[0], 0], rtol=1e-9)


@pytest.mark.parametrize("shape", [(40, 6), (6, 40)])
def test_axes_are_those_of_the_whole_decomposition(shape, rng):
    table = rng.normal(size=shape)
    centred = CentredRows.of(table)
    values, axes = centred.axes()
    _, expected, expected_axes = np.linalg.svd(table - table.mean(axis=0), full_matrices=False)
    assert len(values) == min(6, shape[0] - 1)
    assert_allclose(values * centred.unit, expected[: len(values)], rtol=1e-9)
    assert_same_up_to_sign(axes.T, expected_axes[: len(values)].T)


def test_an_offset_leaves_the_bits_of_the_rows():
    whole = laws.numbers(0, 30)
    assert_same_bits(CentredRows.of(whole).rows, CentredRows.of(whole + 1e7).rows)


def test_a_random_projection_keeps_distances_on_average():
    rows = np.random.default_rng(0).normal(size=(2, 50))
    expected = ((rows[0] - rows[1]) ** 2).sum()
    maps = (RandomProjection(20, random_state=seed).fit(rows).embedding_ for seed in range(100))
    found = [((Z[0] - Z[1]) ** 2).sum() for Z in maps]
    assert np.mean(found) == pytest.approx(expected, rel=0.1)
    assert_same_bits(RandomProjection().fit(X).embedding_, RandomProjection(random_state=0).fit(X).embedding_)
