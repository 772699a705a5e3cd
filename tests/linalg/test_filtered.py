import numpy as np
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from assertions import assert_same_bits, assert_same_up_to_sign
from isentropic import Knn
from isentropic.affinities import fuzzy_graph
from isentropic.linalg import leading_eigenvectors, normalized_adjacency
from isentropic.neighbors import nearest_neighbors


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
