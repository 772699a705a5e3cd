"""The laws of tests/laws.py, for every method of the registry."""

from functools import partial

import numpy as np
import pytest

import laws
from isentropic import METHODS, make

ORDINARY = np.random.default_rng(0).normal(size=(240, 3)) * [3, 2, 1]
NEW = np.random.default_rng(1).normal(size=(7, 3)) * [3, 2, 1]
names = pytest.mark.parametrize("name", METHODS)
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
    laws.assert_fitted_rows_stay(fitted(name), ORDINARY, METHODS[name].out_of_sample)


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
    laws.assert_finite(laws.fit(make(name), X), X, scale * NEW[:2])


@names
def test_one_feature(name):
    X = np.random.default_rng(3).normal(size=(60, 1))
    estimator = make(name, n_components=1)
    laws.assert_finite(laws.fit(estimator, X), X, X[:2] + 0.1)
