"""Training rows stay: ``transform`` of what was fitted is the fitted map, whatever the table is like.

Every method that places rows meets every table, with classes where it learns from them: labels at random, so
that equal rows have several classes, labels that follow the values, and labels of which some are missing.
``ISENTROPIC_ATTACKS=3`` draws three tables of each kind. A fit may be refused, by an error of ours.
"""

import os
import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import cases
from assertions import assert_same_bits
from isentropic import UMAP, IsentropicError, IsentropicWarning
from isentropic.registry import METHODS

ATTACKS = int(os.environ.get("ISENTROPIC_ATTACKS", "1"))
ROWS = 36
PLACING = [name for name, line in METHODS.items() if line.out_of_sample != "none"]
SIGNED = [-1.0, -0.0, 0.0, 1.0]
TABLES = {
    "binary": lambda rng: rng.integers(0, 2, (ROWS, 4)).astype(float),
    "one-hot": lambda rng: np.eye(5)[rng.integers(0, 5, ROWS)],
    "offset 1e16": lambda rng: 1e16 + rng.normal(size=(ROWS, 3)),  # of which even numbers are left
    "signed zeros": lambda rng: rng.choice(SIGNED, (ROWS, 3)),
    "duplicates": lambda rng: rng.normal(size=(ROWS // 3, 4))[rng.permutation(ROWS) % (ROWS // 3)],
    "constant columns": lambda rng: rng.normal(size=(ROWS, 4)) * [1, 0, 1, 0] + [0, 7, 0, -1e9],
    "1e-150": lambda rng: rng.normal(size=(ROWS, 4)) * 1e-150,
    "1e150": lambda rng: rng.normal(size=(ROWS, 4)) * 1e150,
    "1e-130": lambda rng: rng.normal(size=(ROWS, 4)) * 1e-130,
    "1e140": lambda rng: rng.normal(size=(ROWS, 4)) * 1e140,
    "mixed scales": lambda rng: rng.normal(size=(ROWS, 4)) * [1e-150, 1e-30, 1, 1e20],
    "integers": lambda rng: rng.integers(-2, 3, (ROWS, 3)),
    "one column": lambda rng: rng.normal(size=(ROWS, 1)),
    "three rows": lambda rng: rng.normal(size=(3, 4)),
    "heavy ties": lambda rng: np.stack(np.meshgrid(np.arange(6.0), np.arange(6.0)), -1).reshape(-1, 2),
    "float32": lambda rng: rng.normal(size=(ROWS, 4)).astype(np.float32),
    "Fortran order": lambda rng: np.asfortranarray(rng.normal(size=(ROWS, 4))),
    "not contiguous": lambda rng: rng.normal(size=(2 * ROWS, 8))[::2, ::2],
}
LABELS = ("at random", "by value", "half")


def labels_of(kind, X, rng):
    """Three classes; "by value" equal rows have one, and of "half" every other row has none."""
    names = np.array(["b", "a", "c"], object)
    if kind == "by value":
        return names[np.unique(np.asarray(X, float) + 0.0, axis=0, return_inverse=True)[1].ravel() % 3]
    y = names[rng.permutation(len(X)) % 3]
    y[1::2] = None if kind == "half" else y[1::2]
    return y


def of_several_classes(X, y):
    """Numbers of the equal rows of each value, by value, that occur with more than one class."""
    rows = {}
    for i, values in enumerate(np.asarray(X, float).tolist()):
        rows.setdefault(tuple(values), []).append(i)  # in a key, -0.0 is 0.0
    return [alike for alike in rows.values() if len({y[i] for i in alike} - {None}) > 1]


def fitted(estimator, X, y):
    """The fitted method; None where it is refused by an error of ours."""
    if X.shape[1] == 1:
        estimator.set_params(n_components=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IsentropicWarning)
        try:
            return estimator.fit(X, y)
        except IsentropicError:
            return None


def assert_training_rows_stay(model, X, several):
    """Rows of one class have their own coordinates; others, with a warning, those of one of their classes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Z = model.transform(X)
    ambiguous = np.array([i for alike in several for i in alike], int)
    sure = np.setdiff1d(np.arange(len(X)), ambiguous)
    assert_same_bits(Z[sure], model.embedding_[sure])
    begin = f"{len(ambiguous)} of {len(X)} rows have the values of fitted rows of several classes"
    assert [str(one.message).startswith(begin) for one in caught] == [True] * bool(several)
    for alike in several:
        assert_same_bits(Z[alike], np.repeat(Z[alike[:1]], len(alike), axis=0))
        assert (Z[alike[0]] == model.embedding_[alike]).all(axis=1).any()


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("name", PLACING)
def test_training_rows_stay(name, table):
    if cases.lacking(name):
        pytest.skip(cases.lacking(name))
    line = METHODS[name]
    for attack in range(ATTACKS):
        for kind in LABELS if line.needs_y else LABELS[:1]:
            rng = np.random.default_rng([attack, *map(ord, table)])
            X = TABLES[table](rng)
            y, before = labels_of(kind, X, rng), X.copy()
            model = fitted(cases.made(name), X, y if line.needs_y else None)
            assert_same_bits(X, before)
            if model is not None:
                by_class = line.needs_y and line.family != "linear"
                assert_training_rows_stay(model, X, of_several_classes(X, y) if by_class else [])


@pytest.mark.parametrize("table", TABLES)
def test_training_rows_stay_in_umap_that_is_given_classes(table):
    for attack in range(ATTACKS):
        for kind in LABELS:
            rng = np.random.default_rng([attack, *map(ord, table)])
            X = TABLES[table](rng)
            y = labels_of(kind, X, rng)
            model = fitted(UMAP(5, n_epochs=20), X, y)
            if model is not None:
                assert_training_rows_stay(model, X, of_several_classes(X, y))


@pytest.mark.parametrize("name", cases.GIVEN)
def test_training_rows_of_given_distances_stay(name):
    line = METHODS[cases.GIVEN[name]]
    for attack in range(ATTACKS):
        rng = np.random.default_rng(attack)
        X = TABLES["duplicates"](rng)
        D, y = cdist(X, X), labels_of("by value", X, rng)
        at_zero = D.copy()
        at_zero[[0, 5], [5, 0]] = 0.0  # as of rows with missing values, which need not be equal
        for table in (D, at_zero):
            estimator = cases.made(line.name).set_params(metric="precomputed")
            model = fitted(estimator, table, y if line.needs_y else None)
            assert model is not None or table is at_zero  # no distances: two ways of 0 are longer
            if model is not None:
                assert_training_rows_stay(model, table, [])
