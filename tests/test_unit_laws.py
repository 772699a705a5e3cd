"""The unit of a table: squares that are no numbers are refused, and a radius has the unit of the data."""

import numpy as np
import pytest

import laws
from isentropic import ClassicalMDS, EntropicIsomap, Isomap, Radius
from isentropic._core.errors import InvalidInputError

pytestmark = pytest.mark.filterwarnings("ignore::isentropic._core.errors.IsentropicWarning")

X = laws.numbers(0, 100)


@pytest.mark.parametrize("exponent", [-490, -260, 260, 500])
def test_squares_of_distances_that_are_no_numbers_are_refused(exponent):
    table = np.ldexp(X, exponent)
    for estimator in (ClassicalMDS(metric="sqeuclidean"), Isomap(metric="sqeuclidean")):
        with pytest.raises(InvalidInputError, match="X must be of magnitude"):
            estimator.fit(table)


def far(x, y):
    return 1e200 * float(np.abs(x - y).sum())


def test_a_metric_whose_squares_are_no_numbers_is_refused():
    with pytest.raises(InvalidInputError, match="metric 'far' must be below 1e150"):
        ClassicalMDS(metric=far).fit(X)


def tiny(patches, heads, tails):
    return np.full(len(heads), 1e-200)


def test_a_divergence_whose_squares_are_no_numbers_is_refused():
    with pytest.raises(InvalidInputError, match="A divergence must be 0 on every edge, or between 1e-140"):
        EntropicIsomap(divergence=tiny).fit(X)


def test_a_radius_has_the_unit_of_the_data():
    scaled = laws.fit(Isomap(neighbors=Radius(np.ldexp(3.0, 260))), np.ldexp(X, 260)).embedding_
    plain = np.ldexp(laws.fit(Isomap(neighbors=Radius(3.0)), X).embedding_, 260)
    laws.assert_same_map(scaled, scaled, plain, plain, tolerance=1e-11)
