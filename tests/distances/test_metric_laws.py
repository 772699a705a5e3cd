"""Every metric measures a row the same way, to the bit: alone, in a batch, in pairs, in both directions."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import PAIRWISE_BOOLEAN_FUNCTIONS

from assertions import assert_same_bits
from isentropic.distances import EUCLIDEAN, distance_rows, distances_between, metric_names

METRICS = sorted(set(metric_names()) - {"precomputed"})
BATCHES = (1, 7, 64, 65)


def city(x, y):
    return float(np.abs(x - y).sum())


def tables(n_columns):
    """Rows of every kind; none is without variance, or without a one: some metrics have no distance there."""
    rng = np.random.default_rng(n_columns)
    binary = (rng.random((70, n_columns)) < 0.4).astype(float)
    counts = rng.poisson(2, size=(70, n_columns)).astype(float)
    for whole in (binary, counts):
        whole[:, :2] = [1, 0]
    floats = rng.normal(size=(70, n_columns))
    constant = floats.copy()
    constant[:, 1] = 2.5
    return {
        "binary": binary,
        "counts": counts,
        "floats": floats,
        "duplicates": np.repeat(floats[:24], 3, axis=0),
        "a constant column": constant,
        "an offset": floats + 1e6,
    }


TABLES = {(kind, m): X for m in (2, 9, 16, 51) for kind, X in tables(m).items()}
OF_DIRECTIONS = ("cosine", "correlation")
CASES = [
    pytest.param(metric, X, id=f"{getattr(metric, '__name__', metric)}-{kind}-{m}")
    for metric in (*METRICS, city)
    for (kind, m), X in TABLES.items()
    if metric not in PAIRWISE_BOOLEAN_FUNCTIONS or kind == "binary"
    if m == 9 or metric in OF_DIRECTIONS  # whose sums are ours, and depend on the number of columns
]
measured = pytest.mark.parametrize(("metric", "X"), CASES)


@measured
def test_a_row_is_measured_alike_in_any_batch(metric, X):
    D = distances_between(X, X, metric, 1)
    for size in BATCHES:
        parts = [distances_between(X[i : i + size], X, metric, 2) for i in range(0, len(X), size)]
        assert_same_bits(np.vstack(parts), D)
    some = np.array([3, 69, 5, 3])
    assert_same_bits(distances_between(X[some], X[some[::-1]], metric, 1), D[np.ix_(some, some[::-1])])
    assert_same_bits(distances_between(X[5:6], X[6:7], metric, 1), D[5:6, 6:7])


@measured
def test_distances_are_symmetric_and_zero_to_oneself(metric, X):
    D = distances_between(X, X, metric, 1)
    assert_same_bits(D, np.ascontiguousarray(D.T))
    assert not D.diagonal().any()
    equal = (X[:, None] == X[None]).all(axis=2)
    assert not D[equal].any()


@measured
def test_quality_reads_the_same_bits(metric, X):
    rows = distance_rows(X, metric)
    D, numbers = rows.rows(np.arange(len(X))), np.array([4, 61, 4])
    assert_same_bits(rows.rows(numbers), D[numbers])
    first, second = np.divmod(np.arange(len(X) ** 2), len(X))
    if rows.pairs is not None and metric not in EUCLIDEAN:  # those are laid out otherwise
        assert_same_bits(rows.pairs(first, second), D[first, second])


@measured
def test_agrees_with_scikit_learn(metric, X):
    flags = X.astype(bool) if metric in PAIRWISE_BOOLEAN_FUNCTIONS else X
    if metric == "gower":  # which it does not have: rows in units differ by at most 1 in a column
        expected = np.minimum(np.abs(X[:, None] - X[None]), 1).mean(axis=2)
    elif metric in EUCLIDEAN:
        expected = cdist(X, X)  # scikit-learn multiplies out, and has 1e-8 from a row to itself
    else:
        expected = pairwise_distances(flags, flags.copy(), metric=metric)
    assert_allclose(distances_between(X, X, metric, 1), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("metric", OF_DIRECTIONS)
@pytest.mark.parametrize("kind", ["binary", "counts"])
@pytest.mark.parametrize("m", [9, 16, 51])
def test_equal_angles_between_whole_numbers_are_equal_bits(metric, kind, m):
    X = TABLES[kind, m]
    D = distances_between(X, X, metric, 1)
    whole = X.astype(int).tolist()
    if metric == "correlation":
        whole = [[m * x - sum(row) for x in row] for row in whole]
    found = {}
    for i, x in enumerate(whole):
        for j, y in enumerate(whole):
            product = sum(a * b for a, b in zip(x, y, strict=True))
            square = Fraction(product**2, sum(a * a for a in x) * sum(b * b for b in y))
            found.setdefault((product > 0, square), set()).add(D[i, j])
    assert max(map(len, found.values())) == 1
    assert len(found) < len(X) * (len(X) - 1) / 2  # there are ties


def test_rows_without_a_direction():
    X = np.array([[0.0, 0.0], [-0.0, 0.0], [1.0, 2.0]])
    expected = [[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0]]
    assert distances_between(X, X, "cosine", 1).tolist() == expected


@pytest.mark.parametrize("metric", OF_DIRECTIONS)
@pytest.mark.parametrize("exponent", [-1060, -460, 460])
def test_directions_have_no_scale(metric, exponent, rng):
    X = rng.integers(1, 9, size=(30, 5)).astype(float)
    scaled = distances_between(np.ldexp(X, exponent), X, metric, 1)
    assert_same_bits(scaled, distances_between(X, X, metric, 1))
