"""Leading eigenpairs of walks against dense eigenvectors, whichever way finds them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import block_diag, csr_array

from assertions import assert_same_bits, assert_same_up_to_sign
from isentropic import config_context, datasets, neighbor_graph
from isentropic._core.errors import InvalidInputError
from isentropic.affinities import heat
from isentropic.linalg import factors, leading_eigenpairs, normalized_adjacency, walks

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
    monkeypatch.setattr(walks, "_WHOLE", 1000 if way == "whole" else 10)
    if way.startswith("filtered"):
        monkeypatch.setattr(walks, "_TRIAL", 20 if "then" in way else 10**6)
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
    monkeypatch.setattr(walks, "MOST_PRODUCTS", 20)
    monkeypatch.setattr(factors, "_SAVED", 1e-9)
    with pytest.raises(InvalidInputError, match="so few that eigenvalues can be told apart, got 2"):
        leading_eigenpairs(A, 2, known=np.sqrt(degrees))
