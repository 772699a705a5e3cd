"""Leading eigenpairs of walks against dense eigenvectors, whichever way finds them."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import block_diag, csc_array, csr_array, eye_array, random_array
from scipy.sparse.linalg import aslinearoperator

from assertions import assert_same_bits, assert_same_up_to_sign
from isentropic import Knn, config_context, datasets, neighbor_graph
from isentropic._core.errors import InvalidInputError
from isentropic.affinities import fuzzy_graph, heat
from isentropic.linalg import (
    diffusion,
    factors,
    leading_eigenpairs,
    leading_eigenvectors,
    normalized_adjacency,
)
from isentropic.linalg.chebyshev import polynomial
from isentropic.neighbors import nearest_neighbors

ROLL = datasets.load("builtin:swiss-roll", n_samples=400).X


def walk(X, k=8):
    return normalized_adjacency(heat(neighbor_graph(X, k)))


def dense(A, count):
    values, vectors = np.linalg.eigh(A.toarray())
    return values[::-1][1 : count + 2], vectors[:, ::-1][:, 1 : count + 1]


def assert_dense_pairs(A, degrees, count):
    values, vectors = leading_eigenpairs(A, count, known=np.sqrt(degrees))
    expected, expected_vectors = dense(A, count)
    assert_allclose(values[:count], expected[:count], atol=1e-13)
    assert_allclose(values[count], expected[count], atol=1e-3)
    assert_same_up_to_sign(vectors, expected_vectors, rtol=0, atol=1e-8)


@pytest.mark.parametrize("way", ["whole", "factored", "filtered", "filtered, then factored"])
@pytest.mark.parametrize("count", [1, 3])
def test_every_way_finds_the_dense_eigenpairs(way, count, monkeypatch):
    monkeypatch.setattr(diffusion, "_WHOLE", 1000 if way == "whole" else 10)
    if way.startswith("filtered"):
        monkeypatch.setattr(diffusion, "_TRIAL", 20 if "then" in way else 10**6)
        monkeypatch.setattr(factors, "_SAVED", 1e3 if "then" in way else 1e-9)
    assert_dense_pairs(*walk(ROLL), count)


def test_a_table_of_many_features_is_filtered_in_few_products(rng):
    assert_dense_pairs(*walk(rng.normal(size=(500, 10))), 2)


def test_factors_that_do_not_fit_are_not_made(monkeypatch):
    A, degrees = walk(ROLL)
    monkeypatch.setattr(factors, "splu", None)
    with config_context(memory_limit=1000):
        found = leading_eigenpairs(A, 2, known=np.sqrt(degrees))
    assert_same_up_to_sign(found[1], dense(A, 2)[1], rtol=0, atol=1e-8)


def test_parts_have_the_eigenvalue_1_beside_the_known_vector():
    A, degrees = walk(ROLL)
    both = csr_array(block_diag([A, A]))
    known = np.sqrt(np.concatenate([degrees, degrees]))
    values, vectors = leading_eigenpairs(both, 1, known=known)
    assert_allclose(values[0], 1, atol=1e-13)
    assert_allclose(known @ vectors, 0, atol=1e-9)
    assert_allclose(vectors[:, 0] / known, np.repeat([1, -1], 400) * (vectors[:, 0] / known)[0], rtol=1e-6)


def test_the_same_matrix_gives_the_same_bits():
    A, degrees = walk(ROLL)
    one, two = (leading_eigenpairs(A, 2, known=np.sqrt(degrees))[1] for _ in range(2))
    assert_same_bits(one, two)


def test_eigenvalues_that_cannot_be_told_apart_are_refused(monkeypatch):
    A, degrees = walk(ROLL)
    monkeypatch.setattr(diffusion, "MOST_PRODUCTS", 20)
    monkeypatch.setattr(factors, "_SAVED", 1e-9)
    with pytest.raises(InvalidInputError, match="so few that eigenvalues can be told apart, got 2"):
        leading_eigenpairs(A, 2, known=np.sqrt(degrees))


# ---- Nested dissection ---------------------------------------------------------------------------


def joined(X, k=8):
    """Who is near whom, as a matrix that is positive definite."""
    A = heat(neighbor_graph(X, k))
    return csc_array(A + eye_array(len(X)) * (A.sum(axis=1).max() + 1.0))


def entries(A, order=None):
    return factors.Factors.of(A, order).factors.nnz


def fewest_that_separate(A, low):
    """By trying all sets of rows, the small ones first."""
    heads, tails = np.nonzero(A.toarray())
    across = low[heads] & ~low[tails]
    for size in range(len(low) + 1):
        for rows in combinations(range(len(low)), size):
            if (np.isin(heads, rows) | np.isin(tails, rows))[across].all():
                return size
    return None


@pytest.mark.parametrize("share", [0.0, 0.1, 0.3, 0.6])
def test_the_fewest_rows_separate_two_sides(share, rng):
    for _ in range(5):
        dense = rng.uniform(size=(11, 11)) < share
        A, low = csr_array((dense | dense.T).astype(float)), rng.uniform(size=11) < 0.5
        found = factors._cover(A, low)
        assert len(set(found.tolist())) == len(found) == fewest_that_separate(A, low)
        rest = np.setdiff1d(np.arange(11), found)
        assert A[rest[low[rest]]][:, rest[~low[rest]]].nnz == 0


def test_a_solid_fills_up_less_than_by_minimum_degree(rng):
    A = joined(rng.uniform(size=(4000, 4)), 12)
    order = factors.nested_dissection(A)
    assert_array_equal(np.sort(order), np.arange(4000))
    assert entries(A, order) < 0.8 * entries(A)


def test_rows_that_few_cannot_separate_are_not_dissected(rng):
    assert factors.nested_dissection(joined(rng.normal(size=(2000, 15)), 12)) is None


def test_a_wide_band_of_many_products_fills_up(rng):
    solid = joined(rng.uniform(size=(8000, 5)), 12)
    assert factors.Profile.of(csr_array(solid)).fills_up
    surface = joined(datasets.load("builtin:swiss-roll", n_samples=8000).X)
    assert not factors.Profile.of(csr_array(surface)).fills_up


def test_dissected_factors_solve(rng, monkeypatch):
    """Of parts of many sizes, some of one row, and of an asymmetric pattern."""
    monkeypatch.setattr(factors, "_LEAF", 20)
    part = joined(ROLL)
    lopsided = block_diag([part, eye_array(5), part[:90, :90], eye_array(3)]).tolil()
    lopsided[7, 450] = 2.0
    A = csc_array(lopsided)
    order, y = factors.nested_dissection(A), rng.normal(size=A.shape[0])
    assert_array_equal(np.sort(order), np.arange(A.shape[0]))
    found = factors.Factors.of(A, order)
    assert_allclose(found.solve(y), np.linalg.solve(A.toarray(), y), atol=1e-12)
    assert_allclose(found.solve(y, trans="T"), np.linalg.solve(A.toarray().T, y), atol=1e-12)
    assert_array_equal(factors.nested_dissection(A.copy()), order)


def test_dissected_factors_give_the_dense_eigenpairs(monkeypatch):
    monkeypatch.setattr(factors, "_MANY", 0)
    monkeypatch.setattr(factors, "_WIDE", 0)
    monkeypatch.setattr(factors, "_LEAF", 50)
    assert factors.nested_dissection(walk(ROLL)[0]) is not None
    monkeypatch.setattr(factors, "_minimum_degree", counted := Counted(factors._minimum_degree))
    assert_dense_pairs(*walk(ROLL), 2)
    assert counted.calls == 1


class Counted:
    """A function, and how often it was called."""

    def __init__(self, function):
        self.function, self.calls = function, 0

    def __call__(self, *arguments):
        self.calls += 1
        return self.function(*arguments)


# ---- Chebyshev-filtered subspace iteration -------------------------------------------------------


def graph(rng, n):
    """A strip, long enough that its eigenvalues are close to each other."""
    X = rng.uniform(size=(n, 2)) * [8.0, 1.0]
    adjacency, degrees = normalized_adjacency(fuzzy_graph(nearest_neighbors(X, Knn(8))))
    return adjacency, np.sqrt(degrees)


def test_eigenvectors_are_those_of_the_whole_matrix(rng):
    for n in (150, 500):
        A, known = graph(rng, n)
        expected = np.linalg.eigh(A.toarray())[1][:, ::-1][:, 1:4]
        found = leading_eigenvectors(A, 3, known=known, tol=1e-7)
        assert_same_up_to_sign(found, expected, rtol=0, atol=1e-6)


def test_a_start_is_within_its_tolerance(rng):
    A, known = graph(rng, 2000)
    V = leading_eigenvectors(A, 2, known=known)
    values = np.einsum("ij,ij->j", V, A @ V)
    residuals = np.linalg.norm(A @ V - V * values, axis=0)
    assert (residuals <= 0.02 * (1 - values)).all()
    assert_allclose(V.T @ V, np.eye(2), atol=1e-12)
    assert_allclose(known @ V, 0, atol=1e-10)


def test_the_same_graph_has_the_same_bits(rng):
    A, known = graph(rng, 600)
    first = leading_eigenvectors(A, 2, known=known)
    assert_same_bits(leading_eigenvectors(csr_array(A.copy()), 2, known=known), first)


@pytest.mark.parametrize("n", [300, 9000])  # rows of one part, and of two
def test_the_polynomial_is_that_of_its_recurrence_on_any_number_of_threads(n):
    rng = np.random.default_rng(0)
    A = random_array((n, n), density=5 / n, rng=rng, format="csr")
    A = csr_array((A + A.T) / 20)
    V, border = rng.standard_normal((n, 3)), 0.3
    scaled = lambda v: 2 / (1 + border) * (A @ v) + (1 - border) / (1 + border) * v  # noqa: E731
    before, now = V, scaled(V)
    for _ in range(4):
        before, now = now, 2.0 * scaled(now) - before
    for n_jobs in (1, 2):
        assert_same_bits(polynomial(A, V, border, 5, n_jobs), now)
    assert_same_bits(polynomial(aslinearoperator(A), V, border, 1), scaled(V))


def test_the_order_of_many_rows_changes_the_vectors_by_rounding(monkeypatch):
    A, degrees = walk(ROLL)
    known, orders, split = np.sqrt(degrees), [], diffusion.split_rows
    expected = leading_eigenvectors(A, 2, known=known, tol=1e-9)
    monkeypatch.setattr(diffusion, "_IN_CACHE", 100)
    monkeypatch.setattr(diffusion, "split_rows", lambda *args: orders.append(split(*args)) or orders[-1])
    assert_allclose(leading_eigenvectors(A, 2, known=known, tol=1e-9), expected, atol=1e-10)
    assert len(orders) == 1
    assert (orders[0][0] != np.arange(400)).any()
