"""Bottom eigenpairs of a product by the factors of its root, against dense singular vectors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import block_diag, csr_array, eye_array

from assertions import assert_same_bits, assert_same_up_to_sign
from isentropic import config_context, datasets
from isentropic._core.errors import MemoryBudgetError
from isentropic.linalg import bottom, bottom_eigenpairs, bottom_squared_eigenpairs, factors
from isentropic.methods.local.neighborhoods import find_neighborhoods, reconstruction_weights

ROLL = datasets.load("builtin:swiss-roll", n_samples=400).X


def sums(X, k=8):
    return csr_array(eye_array(len(X)) - reconstruction_weights(X, find_neighborhoods(X, k), 1e-3))


def singular(A, count):
    _, lengths, vectors = np.linalg.svd(A.toarray())
    return lengths[::-1][1 : count + 1] ** 2, vectors[::-1][1 : count + 1].T


@pytest.fixture
def only_factors(monkeypatch):
    monkeypatch.setattr(bottom, "bottom_eigenpairs", None)


@pytest.mark.parametrize("count", [1, 3, 8])
def test_they_are_the_least_singular_vectors(count, only_factors):
    A = sums(ROLL)
    values, vectors = bottom_squared_eigenpairs(A, count, known=np.ones(400))
    expected, expected_vectors = singular(A, count)
    assert_allclose(values, expected, rtol=1e-8)
    assert_same_up_to_sign(vectors, expected_vectors, rtol=0, atol=1e-8)


@pytest.mark.parametrize("squared", [True, False])
def test_dissected_factors_give_the_least_singular_vectors(squared, monkeypatch):
    monkeypatch.setattr(factors, "_MANY", 0)
    monkeypatch.setattr(factors, "_WIDE", 0)
    monkeypatch.setattr(factors, "_LEAF", 50)
    A, orders, dissection = sums(ROLL), [], factors.nested_dissection
    module = bottom if squared else factors
    monkeypatch.setattr(module, "nested_dissection", lambda M: orders.append(dissection(M)) or orders[-1])
    if squared:
        values, vectors = bottom_squared_eigenpairs(A, 3, known=np.ones(400))
    else:
        values, vectors = bottom_eigenpairs(csr_array(A.T @ A), 3, known=np.ones(400))
    expected, expected_vectors = singular(A, 3)
    assert len(orders) == 1
    assert orders[0] is not None
    assert_allclose(values, expected, rtol=1e-8 if squared else 1e-5, atol=0 if squared else 1e-14)
    assert_same_up_to_sign(vectors, expected_vectors, rtol=0, atol=1e-8 if squared else 1e-6)


def test_a_row_that_no_list_leads_to_is_not_held(only_factors):
    """The one with the largest sum of weights is such a row: another is held instead."""
    A = sums(ROLL).toarray()
    A[1:, 0] = A[0] = 0
    A[0, :3] = [100, -50, -50]
    A -= np.diag(A.sum(axis=1))
    assert np.abs(A).sum(axis=0).argmax() == 0
    A = csr_array(A)
    values, vectors = bottom_squared_eigenpairs(A, 2, known=np.ones(400))
    expected, expected_vectors = singular(A, 2)
    assert_allclose(values, expected, rtol=1e-7)
    assert_same_up_to_sign(vectors, expected_vectors, rtol=0, atol=1e-7)


def test_parts_are_found_from_the_product():
    blocks = [sums(ROLL[:250]), sums(ROLL[:220]), sums(ROLL[:230])]
    both = csr_array(block_diag(blocks))
    values, vectors = bottom_squared_eigenpairs(both, 3, known=np.ones(700))
    assert_allclose(values, [0, 0, min(singular(A, 1)[0][0] for A in blocks)], atol=1e-11)
    assert_allclose(vectors.T @ vectors, np.eye(3), atol=1e-9)
    assert_allclose(both @ vectors[:, :2], 0, atol=1e-6)


@pytest.mark.parametrize("squared", [True, False])
def test_factors_that_do_not_fit_are_not_made(squared, monkeypatch, rng):
    monkeypatch.setattr(factors, "splu", None)
    A = sums(rng.normal(size=(500, 10)), 12)
    with config_context(memory_limit=10**5):
        if squared:
            values, vectors = bottom_squared_eigenpairs(A, 3, known=np.ones(500))
        else:
            values, vectors = bottom_eigenpairs(csr_array(A.T @ A), 3, known=np.ones(500))
    expected, expected_vectors = singular(A, 3)
    assert_allclose(values, expected, rtol=1e-9)
    assert_same_up_to_sign(vectors, expected_vectors, rtol=0, atol=1e-7)


def test_too_many_products_are_refused_after_a_trial(monkeypatch):
    monkeypatch.setattr(bottom, "MOST_PRODUCTS", 50)
    A, told = sums(ROLL), []
    with (
        config_context(memory_limit=10**4, progress=lambda what, done, total: told.append(done)),
        pytest.raises(MemoryBudgetError, match="The factors of a matrix of 400 rows needs"),
    ):
        bottom_squared_eigenpairs(A, 2, known=np.ones(400))
    assert max(told) < 20


def test_the_same_matrix_gives_the_same_bits():
    A = sums(ROLL)
    assert_same_bits(*(bottom_squared_eigenpairs(A, 2, known=np.ones(400))[1] for _ in range(2)))
