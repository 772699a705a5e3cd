"""The laws of tests/laws.py, for every method of the registry."""

from functools import partial

import numpy as np
import pytest

import laws
from isentropic import ClassicalMDS, Geodesic, Isomap, ParameterFreeSDD, Percentile, Radius, make
from isentropic._errors import InvalidInputError
from supervised_stub import METHODS_AND_STUB, stub_in_registry  # noqa: F401 - a fixture

ORDINARY, NEW = laws.numbers(0, 240), laws.numbers(1, 7)
names = pytest.mark.parametrize("name", METHODS_AND_STUB)
pytestmark = pytest.mark.filterwarnings("ignore::isentropic._errors.IsentropicWarning")


def needs(n_columns):
    """A table of duplicates, of equal rows, of two rows, ... with this many columns."""
    rng = np.random.default_rng(2)
    column = np.ones((1, n_columns))
    return {
        "duplicates": np.repeat(rng.normal(size=(30, n_columns)), 10, axis=0),
        "equal rows": np.repeat(column, 12, axis=0),
        "300 equal rows": np.repeat(column, 300, axis=0),
        "two rows": np.vstack([column, 2 * column]),
        "one row apart": np.vstack([np.repeat(column, 250, axis=0), 5 * column]),
        "a constant column": rng.normal(size=(250, n_columns)) * ([1] * (n_columns - 1) + [0]),
        "tiny": rng.normal(size=(40, n_columns)) * 1e-12,
        "huge": rng.normal(size=(40, n_columns)) * 1e12,
    }


TABLES = needs(3)
ONE_CLASS = ("lda", "nca")  # refused: there is nothing to tell apart


@pytest.fixture(scope="module")
def fitted():
    """Each method, fitted once."""
    kept = {}

    def get(name):
        if name not in kept:
            kept[name] = laws.fit(make(name), ORDINARY)
        return kept[name]

    return get


@names
def test_a_fitted_row_stays(name, fitted):
    laws.assert_fitted_rows_stay(fitted(name), ORDINARY)


@names
def test_a_row_is_placed_by_itself(name, fitted):
    laws.assert_rows_by_themselves(fitted(name), NEW)


@names
def test_threads_change_no_bit(name):
    laws.assert_threads_change_no_bit(partial(make, name), ORDINARY, NEW)


@pytest.mark.parametrize("table", TABLES)
@names
def test_degenerate_tables_have_a_map(name, table):
    X = TABLES[table]
    scale = np.abs(X).max()
    if name in ONE_CLASS and len(set(laws.classes_of(X))) == 1:
        with pytest.raises(InvalidInputError, match="y must be at least two classes, got 1"):
            laws.fit(make(name), X)
        return
    fitted = laws.fit(make(name), X)
    laws.assert_finite(fitted, X, scale * NEW[:2])
    laws.assert_fitted_rows_stay(fitted, X)


@names
def test_one_feature(name):
    X = np.random.default_rng(3).normal(size=(60, 1))
    estimator = make(name, n_components=1)
    laws.assert_finite(laws.fit(estimator, X), X, X[:2] + 0.1)


# ---- every metric ------------------------------------------------------------------------------

PLACES = {
    "isomap": lambda metric: Isomap(5, metric=metric),
    "landmarks": lambda metric: Isomap(5, metric=metric, n_landmarks=12),
    "radius": lambda metric: Isomap(neighbors=Radius(0.4), metric=metric),
    "percentile": lambda metric: Isomap(neighbors=Percentile(15), metric=metric),
    "mds": lambda metric: ClassicalMDS(metric=metric),
    "sdd": lambda metric: ParameterFreeSDD(metric=metric, max_iter=10),
    "drawn pairs": lambda metric: ParameterFreeSDD(metric=metric, max_iter=10, pairs=8),
    "geodesic sdd": lambda metric: ParameterFreeSDD(metric=Geodesic(5, metric), max_iter=10),
}


def whole_numbers(kind):
    """Sixty rows with many equal distances, and as many new ones; the first columns give all a direction."""
    rng = np.random.default_rng(5)
    X = rng.random((120, 8)) < 0.4 if kind == "binary" else rng.poisson(1.0, size=(120, 8))
    X = X.astype(float)
    X[:, :2] = [1, 0]
    return X[:60], X[60:]


@pytest.mark.parametrize("kind", ["binary", "counts"])
@pytest.mark.parametrize("metric", ["cosine", "correlation", "manhattan"])
@pytest.mark.parametrize("method", PLACES)
def test_a_row_is_placed_by_itself_by_any_metric(method, metric, kind):
    X, new = whole_numbers(kind)
    fitted = laws.fit(PLACES[method](metric), X)
    laws.assert_rows_by_themselves(fitted, new)
    laws.assert_fitted_rows_stay(fitted, X)
