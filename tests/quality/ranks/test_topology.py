"""Topological product, König's measure and Retained-Structure: formulas, laws, the ten patients."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from isentropic import config_context
from isentropic._core.errors import InvalidInputError, MemoryBudgetError, UndefinedMeasureError
from isentropic._core.values import DistanceRows
from isentropic.quality.assessment import topology_measures
from isentropic.quality.inputs import both_sides
from isentropic.quality.ranks.topology import konig_measure, retained_structure, topological_product
from naive import (
    distances,
    naive_konig_measure,
    naive_rank_matrix,
    naive_topological_product,
)

FUNCTIONS = (topological_product, konig_measure)


@pytest.fixture
def X(rng):
    return rng.normal(size=(30, 4)) * [3, 2, 1, 0.5]


@pytest.fixture
def Z(X, rng):
    return X[:, :2] + 0.2 * rng.normal(size=(30, 2))


# ---- formulas and laws -------------------------------------------------------------------------


def test_topological_product_matches_the_formula(X, Z):
    expected, skipped = naive_topological_product(distances(X), distances(Z))
    assert topological_product(X, Z) == pytest.approx(expected, rel=1e-11)
    found = topology_measures(*both_sides(X, Z))["topological_product"]
    assert (skipped, found.note) == (0, "")
    assert (found.best, found.better) == (0.0, "nearer")


def test_terms_with_equal_rows_are_left_out_and_counted(X, Z):
    X[4] = X[9] = X[2]
    Z[20] = Z[21]
    expected, skipped = naive_topological_product(distances(X), distances(Z))
    assert topological_product(X, Z) == pytest.approx(expected, rel=1e-11)
    found = topology_measures(*both_sides(X, Z))["topological_product"]
    assert found.note == f"{skipped} of 870 terms left out, with a distance of 0"
    assert skipped >= 8


def test_too_few_dimensions_make_the_product_negative(rng):
    """A square sheet squeezed onto a line, as in the paper; and a line on a line is perfect."""
    sheet = rng.uniform(size=(200, 2))
    assert topological_product(sheet, sheet[:, :1]) < -0.02
    assert topological_product(sheet, sheet) == 0


@pytest.mark.parametrize(("k1", "k2"), [(4, 10), (1, 1), (3, 29), (29, 29)])
def test_konig_matches_the_formula(X, Z, k1, k2):
    expected = naive_konig_measure(distances(X), distances(Z), k1, k2)
    assert konig_measure(X, Z, k1=k1, k2=k2) == pytest.approx(expected, rel=1e-14)


def test_konig_by_hand():
    X = np.array([[0.0], [1.0], [2.1], [3.3]])
    Z = np.array([[0.0], [2.1], [1.0], [3.3]])
    # k1 = 1, k2 = 2; the nearest rows are 1, 0, 1, 2 in X and 2, 2, 0, 1 in Z: none keeps its rank,
    # and row 1 is second nearest to 0 and to 2 in Z, row 2 to 3, but row 0 only third nearest to 1
    assert konig_measure(X, Z, k1=1, k2=2) == pytest.approx(2 / 12 + 1 / 12)


def test_retained_structure_is_the_difference_of_ranks(X, Z):
    found = retained_structure(X, Z)
    assert_array_equal(found.differences, naive_rank_matrix(distances(Z)) - naive_rank_matrix(distances(X)))
    assert found.error == np.abs(found.differences).sum() > 0
    assert topology_measures(*both_sides(X, Z))["retained_structure_error"].value == found.error


def test_an_isometry_is_perfect(X, rng):
    moved = 3 * X @ np.linalg.qr(rng.normal(size=(4, 4)))[0] + 1
    assert topological_product(X, moved) == pytest.approx(0, abs=1e-12)
    assert konig_measure(X, moved) == 1
    assert retained_structure(X, moved).error == 0


def test_rows_may_come_in_any_order(X, Z, rng):
    order = rng.permutation(30)
    for function in FUNCTIONS:
        assert function(X[order], Z[order]) == pytest.approx(function(X, Z), rel=1e-12)
    whole = retained_structure(X, Z).differences
    assert_array_equal(retained_structure(X[order], Z[order]).differences, whole[np.ix_(order, order)])


def test_the_error_is_greatest_for_reversed_neighbours():
    n = 7
    D = np.abs(np.arange(n)[:, None] - np.arange(n)) + 0.01 * np.arange(n)  # no ties in a row
    np.fill_diagonal(D, 0.0)
    far = np.where(D > 0, 100 - D, 0.0)
    sides = [DistanceRows(n, lambda rows, D=D: D[rows], "given") for D in (D, far)]
    found = topology_measures(*sides)["retained_structure_error"]
    assert found.value == found.range[1] == n * 18


def test_threads_change_no_bit(X, Z):
    sides = both_sides(X, Z)
    assert topology_measures(*sides, n_jobs=1) == topology_measures(*sides, n_jobs=2)


# ---- the ten patients --------------------------------------------------------------------------

# Hajderanj's Figures 5.1(b) and 5.3(b): column j holds the rank of every patient around patient j, self 1.
ORIGINAL = """
 1  5  3  2  5  3  5  5  4  6
 6  1  5  6  2  7  8  8  8  3
 3  3  1  3  3  5  7  7  6  4
 2  4  2  1  4  4  6  6  5  5
 7  2  6  7  1  8  9  9  9  2
 4  6  4  4  6  1  4  4  2  7
 9 10  9  9 10  9  1  2  7 10
 8  8  8  8  8  6  2  1  3  9
 5  7  7  5  7  2  3  3  1  8
10  9 10 10  9 10 10 10 10  1
"""
SUPERVISED = """
 1  4  2  4  4  5  6  6  6  5
 3  1  3  7  2  8  8  8  8  3
 2  3  1  5  3  6  7  7  7  4
 5  5  5  1  5  3  5  5  4  6
 4  2  4  8  1  9  9  9  9  2
 6  7  6  2  7  1  4  4  2  7
 9 10 10  9 10  7  1  2  5 10
 8  9  8  6  9  4  2  1  3  9
 7  8  7  3  8  2  3  3  1  8
10  6  9 10  6 10 10 10 10  1
"""
FIGURE_5_4_B = """
 0 -1 -1  2 -1  2  1  1  2 -1
-3  0 -2  1  0  1  0  0  0  0
-1  0  0  2  0  1  0  0  1  0
 3  1  3  0  1 -1 -1 -1 -1  1
-3  0 -2  1  0  1  0  0  0  0
 2  1  2 -2  1  0  0  0  0  0
 0  0  1  0  0 -2  0  0 -2  0
 0  1  0 -2  1 -2  0  0  0  0
 2  1  0 -2  1  0  0  0  0  0
 0 -3 -1  0 -3  0  0  0  0  0
"""


def matrix(text):
    return np.array(text.split(), int).reshape(10, 10)


def by_rank(text):
    """A patient's ranks as distances: row j is column j of the figure, 0 from a patient to itself."""
    D = (matrix(text).T - 1).astype(float)
    return DistanceRows(10, lambda rows: D[rows], "rank")


def test_the_ten_patients():
    found = retained_structure(by_rank(ORIGINAL), by_rank(SUPERVISED))
    assert_array_equal(found.differences.T, matrix(FIGURE_5_4_B))
    assert found.error == 76


def test_isomap_keeps_the_ten_patients():
    found = retained_structure(by_rank(ORIGINAL), by_rank(ORIGINAL))
    assert found.error == 0


# ---- what has no answer ------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:All rows of")
def test_equal_rows_have_no_product():
    same = np.ones((5, 2))
    with pytest.raises(InvalidInputError, match=r"^X and Z must be tables of which some rows differ"):
        topological_product(same, np.arange(10.0).reshape(5, 2))
    with pytest.raises(UndefinedMeasureError, match="topological_product are undefined") as caught:
        topology_measures(*both_sides(same, same), n_neighbors=2)
    assert set(caught.value.defined) == {"konig_measure", "retained_structure_error"}


def test_few_rows_cut_the_neighbours_down(X, Z):
    assert konig_measure(X[:4], Z[:4]) == konig_measure(X[:4], Z[:4], k1=3, k2=3)
    for function in (*FUNCTIONS, retained_structure):
        with pytest.raises(InvalidInputError, match=r"^X must be a table of at least 3 rows, got 2"):
            function(X[:2], Z[:2])


@pytest.mark.parametrize(("k1", "k2", "name"), [(0, 10, "k1"), (2, 0, "k2"), (5, 4, "k2"), (2.5, 9, "k1")])
def test_neighbours_out_of_range(X, Z, k1, k2, name):
    with pytest.raises(InvalidInputError, match=f"^{name} must be"):
        konig_measure(X, Z, k1=k1, k2=k2)


def test_a_matrix_too_large_is_refused(X, Z):
    with config_context(memory_limit=1000), pytest.raises(MemoryBudgetError, match="rank differences needs"):
        retained_structure(X, Z)


def test_wrong_distances_are_refused(X):
    D = distances(X)
    D[3, 4] = -1
    rows = DistanceRows(30, lambda numbers: D[numbers], "my distance")
    with pytest.raises(InvalidInputError, match=r"^distances by my distance must be finite and at least 0"):
        topological_product(rows, X)
