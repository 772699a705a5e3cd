"""The map of a table in other units, or with an offset, is the same map: for every method."""

import numpy as np
import pytest
from sklearn.base import clone

import laws
from isentropic import (
    METHODS,
    PCA,
    ClassicalMDS,
    EntropicIsomap,
    Geodesic,
    Isomap,
    KDEIsomap,
    Momentum,
    ParameterFreeSDD,
    Radius,
    Selected,
    make,
)
from isentropic._errors import InvalidInputError
from supervised_stub import ClassMeans

pytestmark = pytest.mark.filterwarnings("ignore::isentropic._errors.IsentropicWarning")

X, NEW = laws.numbers(0, 100), laws.numbers(1, 7)
QUICK = {"parametric": {"layers": (8,), "max_epochs": 2, "synthetic": 50}}
OF_EUCLID = {
    **{name: make(name, **QUICK.get(name, {})) for name in METHODS},
    "learns from classes": ClassMeans(),
    "landmarks": Isomap(n_landmarks=20),
    "whitened": PCA(whiten=True),
    "oas": EntropicIsomap(regularization="oas", divergence="bhattacharyya"),
    "ledoit-wolf": EntropicIsomap(regularization="ledoit-wolf", adaptive=True),
    "kde, root": KDEIsomap(bandwidth="scott", root=True, n_landmarks=40),
    "geodesic sdd": ParameterFreeSDD(metric=Geodesic()),
    "momentum": ParameterFreeSDD(init="random", optimizer=Momentum(50)),
    "selected": Selected(Isomap(), {"n_neighbors": [5, 10]}),
}
OF_OTHERS = {
    "cosine": ClassicalMDS(metric="cosine"),
    "correlation": Isomap(metric="correlation"),
    "canberra": ClassicalMDS(metric="canberra"),
    "minkowski": Isomap(metric="minkowski"),
}
# Methods whose map has no unit, and why.
UNITLESS = {
    "entropic-isomap": "divergences between Gaussians have none",
    "oas": "as above",
    "ledoit-wolf": "as above",
    "kde-isomap": "densities are of the table in a unit of its own",
    "kde, root": "as above",
    "whitened": "coordinates have the variance 1",
    "lpp": "as above",
    "lle": "as above",
    "umap": "weights have none, and the map has its spread",
    "pacmap": "its costs have a scale of their own",
    "trimap": "as above",
    "cosine": "angles have none",
    "correlation": "angles have none",
    "canberra": "ratios have none",
}
ONE_GRID = ("kde-isomap", "kde, root")  # of all features: the offset of one alone would move the others on it
OPTIMISED = 1e-6  # of the width of a map: where a search for the best place ends


def tolerance(estimator, otherwise):
    searches = isinstance(estimator, type(make("parametric"))) or hasattr(estimator, "max_iter")
    return OPTIMISED if searches else otherwise


@pytest.fixture(scope="module")
def fitted():
    """Each method on the table as it is, fitted once; and where it puts new rows."""
    kept = {}

    def get(name):
        if name not in kept:
            found = laws.fit(clone({**OF_EUCLID, **OF_OTHERS}[name]), X)
            kept[name] = found.embedding_, found.transform(NEW)
        return kept[name]

    return get


@pytest.mark.parametrize("exponent", [-260, 260])
@pytest.mark.parametrize("name", [*OF_EUCLID, *OF_OTHERS])
def test_a_unit_changes_the_unit_of_the_map(name, exponent, fitted):
    estimator = clone({**OF_EUCLID, **OF_OTHERS}[name])
    scaled = laws.fit(estimator, np.ldexp(X, exponent))
    places = scaled.transform(np.ldexp(NEW, exponent))
    Z, expected = (part if name in UNITLESS else np.ldexp(part, exponent) for part in fitted(name))
    laws.assert_same_map(scaled, places, Z, expected, tolerance=tolerance(estimator, 1e-11))


@pytest.mark.parametrize("offset", [1e3, 1e7])
@pytest.mark.parametrize("name", OF_EUCLID)
def test_an_offset_of_a_column_changes_nothing(name, offset, fitted):
    estimator = clone(OF_EUCLID[name])
    offsets = offset if name in ONE_GRID else np.array([offset, 0, -2 * offset])
    moved = laws.fit(estimator, X + offsets)
    laws.assert_same_map(
        moved, moved.transform(NEW + offsets), *fitted(name), tolerance=tolerance(estimator, 1e-8)
    )


@pytest.mark.parametrize("exponent", [-490, -260, 260, 500])
def test_squares_of_distances_that_are_no_numbers_are_refused(exponent):
    table = np.ldexp(X, exponent)
    for estimator in (ClassicalMDS(metric="sqeuclidean"), Isomap(metric="sqeuclidean")):
        with pytest.raises(InvalidInputError, match="X must be of magnitude"):
            estimator.fit(table)


def far(x, y):
    return 1e200 * float(np.abs(x - y).sum())


def test_a_metric_whose_squares_are_no_numbers_is_refused():
    with pytest.raises(InvalidInputError, match="metric 'far' must be finite"):
        ClassicalMDS(metric=far).fit(X)


def tiny(patches, heads, tails):
    return np.full(len(heads), 1e-200)


def test_a_divergence_whose_squares_are_no_numbers_is_refused():
    with pytest.raises(InvalidInputError, match="A divergence must be 0 on every edge, or between 1e-140"):
        EntropicIsomap(divergence=tiny).fit(X)


def test_a_radius_has_the_unit_of_the_data(fitted):
    scaled = laws.fit(Isomap(neighbors=Radius(np.ldexp(3.0, 260))), np.ldexp(X, 260))
    plain = laws.fit(Isomap(neighbors=Radius(3.0)), X)
    laws.assert_same_map(scaled, scaled.embedding_, *(np.ldexp(plain.embedding_, 260),) * 2, tolerance=1e-11)
