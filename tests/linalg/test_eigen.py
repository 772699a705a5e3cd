"""Extreme eigenpairs, against dense solvers and known spectra, on both sides of the switch to iteration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigh
from scipy.sparse import block_diag, csr_array, diags_array

from assertions import assert_grammar, assert_same_bits, assert_same_up_to_sign
from isentropic import config_context
from isentropic._core.errors import InvalidInputError, MemoryBudgetError
from isentropic.linalg import (
    bottom_eigenpairs,
    classical_scaling,
    eigenpairs_by_rank,
    fixed_signs,
    generalized_eigenpairs,
    top_eigenpairs,
)
from naive import naive_fixed_signs

# 200 rows and fewer are solved whole; so are larger ones of which more than half is asked for.
sizes = pytest.mark.parametrize(("n", "count"), [(1, 1), (7, 7), (200, 5), (201, 5), (320, 4), (210, 150)])


def symmetric(rng, n):
    """Eigenvalues of both signs, well apart at the ends."""
    Q, _ = np.linalg.qr(rng.normal(size=(n, n)))
    values = np.linspace(-3.0, 2.0, n) ** 3
    return (Q * values) @ Q.T


def assert_orthonormal(V):
    assert_allclose(V.T @ V, np.eye(V.shape[1]), atol=1e-10)


# ---- the largest -------------------------------------------------------------------------------


@sizes
def test_top_pairs_match_the_dense_ones(rng, n, count):
    A = symmetric(rng, n)
    values, vectors = top_eigenpairs(lambda x: A @ x, n, count)
    expected, expected_vectors = np.linalg.eigh((A + A.T) / 2)
    assert_allclose(values, expected[::-1][:count], atol=1e-9)
    assert (np.diff(values) <= 0).all()
    assert_same_up_to_sign(vectors[:, :3], expected_vectors[:, ::-1][:, : min(count, 3)], atol=1e-6)
    assert_allclose(A @ vectors, vectors * values, atol=1e-8)
    assert_orthonormal(vectors)
    assert_allclose(vectors, naive_fixed_signs(vectors), atol=0)


def test_largest_means_algebraically(rng):
    # The largest magnitude belongs to a negative eigenvalue.
    for n in (50, 300):
        A = np.diag(np.concatenate([[-100.0, 3.0, 2.0], np.zeros(n - 3)]))
        values, _ = top_eigenpairs(lambda x, A=A: A @ x, n, 2)
        assert_allclose(values, [3, 2], atol=1e-10)


@pytest.mark.parametrize("n", [50, 300])
def test_the_operator_zero_has_eigenvalue_zero(n):
    values, vectors = top_eigenpairs(np.zeros_like, n, 2)
    assert_allclose(values, 0, atol=1e-12)
    assert_orthonormal(vectors)


@pytest.mark.parametrize("n", [50, 300])
def test_the_same_operator_gives_the_same_bits(rng, n):
    A = symmetric(rng, n)
    first, again = (top_eigenpairs(lambda x: A @ x, n, 3) for _ in range(2))
    assert_same_bits(first[0], again[0])
    assert_same_bits(first[1], again[1])


def test_an_operator_of_rank_one_gives_the_same_bits():
    # The iteration ends early here, and starts again from a vector that must not be left to chance.
    first, again = (top_eigenpairs(lambda x: np.eye(300)[0] * x[0], 300, 2) for _ in range(2))
    assert_allclose(first[0], [1, 0], atol=1e-12)
    assert_same_bits(first[0], again[0])
    assert_same_bits(first[1], again[1])


@pytest.mark.parametrize("count", [0, -1, 8])
def test_top_pairs_are_at_most_as_many_as_rows(count):
    with pytest.raises(InvalidInputError, match="an integer between 1 and 7") as caught:
        top_eigenpairs(lambda x: x, 7, count)
    assert_grammar(caught.value, "n_components", count)


# ---- the smallest ------------------------------------------------------------------------------


def path_laplacian(n):
    """The Laplacian of a path: eigenvalues ``4 sin^2(pi j / 2n)``, vectors ``cos(pi j (i + 1/2) / n)``."""
    degree = np.full(n, 2.0)
    degree[[0, -1]] = 1.0
    off = -np.ones(n - 1)
    return csr_array(diags_array([off, degree, off], offsets=[-1, 0, 1]))


def path_pairs(n, chosen):
    j = np.arange(n)[chosen]
    vectors = np.cos(np.pi * np.outer(np.arange(n) + 0.5, j) / n)
    return 4 * np.sin(np.pi * j / (2 * n)) ** 2, vectors / np.linalg.norm(vectors, axis=0)


@pytest.mark.parametrize("n", [50, 600])
@pytest.mark.parametrize("form", ["sparse", "dense"])
@pytest.mark.parametrize(("count", "skip"), [(1, 0), (4, 0), (4, 1), (3, 2)])
def test_bottom_pairs_of_a_path_are_known(n, form, count, skip):
    L = path_laplacian(n)
    values, vectors = bottom_eigenpairs(L if form == "sparse" else L.toarray(), count, skip=skip)
    expected, expected_vectors = path_pairs(n, slice(skip, skip + count))
    assert_allclose(values, expected, atol=1e-10)
    assert_allclose(values[values > 1e-9], expected[expected > 1e-9], rtol=1e-5)
    assert_same_up_to_sign(vectors, expected_vectors, atol=1e-6)
    assert_orthonormal(vectors)


@pytest.mark.parametrize("n", [50, 600])
def test_every_part_of_a_graph_has_its_zero(n):
    half = path_laplacian(n // 2).toarray()
    L = np.zeros((n, n))
    L[: n // 2, : n // 2] = L[n // 2 :, n // 2 :] = half
    values, _ = bottom_eigenpairs(csr_array(L), 3)
    assert_allclose(values[:2], 0, atol=1e-10)
    assert values[2] == pytest.approx(4 * np.sin(np.pi / n) ** 2, rel=1e-4)


def test_bottom_pairs_match_the_dense_ones(rng):
    R = rng.normal(size=(300, 320))
    A = R @ R.T
    values, vectors = bottom_eigenpairs(A, 3)
    expected, expected_vectors = np.linalg.eigh(A)
    assert_allclose(values, expected[:3], rtol=1e-6)
    assert_same_up_to_sign(vectors, expected_vectors[:, :3], atol=1e-6)
    many, _ = bottom_eigenpairs(A, 200)  # more than half: solved whole
    assert_allclose(many, expected[:200], rtol=1e-8)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_bottom_pairs_scale(scale):
    L = path_laplacian(600)
    values, vectors = bottom_eigenpairs(L, 3, skip=1)
    scaled, scaled_vectors = bottom_eigenpairs(scale * L, 3, skip=1)
    assert_allclose(scaled, scale * values, rtol=1e-5)
    assert_allclose(scaled_vectors, vectors, atol=1e-6)


@pytest.mark.parametrize("n", [50, 600])
def test_the_same_matrix_gives_the_same_bits(n):
    first, again = (bottom_eigenpairs(path_laplacian(n), 3) for _ in range(2))
    assert_same_bits(first[0], again[0])
    assert_same_bits(first[1], again[1])


@pytest.mark.parametrize(("count", "skip"), [(0, 0), (6, 0), (5, 1)])
def test_bottom_pairs_are_at_most_as_many_as_rows(count, skip):
    with pytest.raises(InvalidInputError, match=f"between 1 and {5 - skip}") as caught:
        bottom_eigenpairs(np.eye(5), count, skip=skip)
    assert_grammar(caught.value, "n_components", count)


@pytest.mark.parametrize("n", [60, 500])
def test_a_known_null_vector_is_left_out_whatever_else_the_null_space_holds(n):
    """Three paths: null vectors are any mixture of those constant on a path."""
    L = block_diag([path_laplacian(n)] * 3, format="csr")
    values, vectors = bottom_eigenpairs(L, 4, known=np.ones(3 * n))
    assert_allclose(values[:2], 0, atol=1e-12)
    assert_allclose(values[2:], 2 - 2 * np.cos(np.pi / n), rtol=1e-5)
    assert_allclose(vectors.sum(axis=0), 0, atol=1e-7)
    assert_allclose(vectors.T @ vectors, np.eye(4), atol=1e-9)
    assert_allclose(L @ vectors, vectors * values, atol=1e-9)


def test_factors_that_are_too_large_are_refused():
    ring = path_laplacian(900)
    with config_context(memory_limit=10**6):
        bottom_eigenpairs(ring, 2)
    with (
        config_context(memory_limit=10**4),
        pytest.raises(MemoryBudgetError, match="The factors of a matrix of"),
    ):
        bottom_eigenpairs(ring, 2)


# ---- generalised -------------------------------------------------------------------------------


@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize("count", [1, 3, 12])
def test_generalized_pairs_match_scipy(rng, largest, count):
    A, R = symmetric(rng, 12), rng.normal(size=(12, 20))
    B = R @ R.T
    values, vectors = generalized_eigenpairs(A, B, count, largest=largest)
    expected, expected_vectors = eigh(A, B)
    if largest:
        expected, expected_vectors = expected[::-1], expected_vectors[:, ::-1]
    assert_allclose(values, expected[:count], rtol=1e-9, atol=1e-12)
    assert_same_up_to_sign(vectors, expected_vectors[:, :count], atol=1e-7)
    assert_allclose(A @ vectors, B @ vectors * values, atol=1e-8)
    assert_allclose(vectors.T @ B @ vectors, np.eye(count), atol=1e-9)
    assert_allclose(vectors, naive_fixed_signs(vectors), atol=0)


@pytest.mark.parametrize("B", [np.diag([1.0, 0, 1]), np.diag([1.0, -1, 1]), np.zeros((3, 3))], ids=str)
def test_a_singular_or_indefinite_metric_is_refused(B):
    with pytest.raises(InvalidInputError) as caught:
        generalized_eigenpairs(np.eye(3), B, 1)
    assert str(caught.value) == (
        "B must be positive definite, got a singular or indefinite matrix. "
        "Project on the leading principal components first."
    )


@pytest.mark.parametrize("count", [0, 4])
def test_generalized_pairs_are_at_most_as_many_as_rows(count):
    with pytest.raises(InvalidInputError, match="an integer between 1 and 3") as caught:
        generalized_eigenpairs(np.eye(3), np.eye(3), count)
    assert_grammar(caught.value, "n_components", count)


# ---- equal eigenvalues -------------------------------------------------------------------------


@pytest.mark.parametrize("n", [3, 29, 30, 50, 100, 150, 200])
def test_equal_eigenvalues_are_all_found(n):
    """LAPACK finds none of them by their rank for some sizes, and reports no error."""
    simplex = np.eye(n) - 1 / n  # of centred rows at equal distances: n - 1 times 1, and 0
    for count in (1, 2, 3):
        values, vectors = eigenpairs_by_rank(simplex, n - count, n - 1)
        assert_allclose(values, np.linalg.eigvalsh(simplex)[n - count :], atol=1e-12)
        assert_orthonormal(vectors)
        assert vectors.shape == (n, count)
    lowest, vectors = eigenpairs_by_rank(-simplex, 0, 1)
    assert_allclose(lowest, [-1, -1], atol=1e-12)
    values, vectors = generalized_eigenpairs(simplex, 2 * np.eye(n), 2, largest=True)
    assert_allclose(values, [0.5, 0.5], atol=1e-12)
    assert vectors.shape == (n, 2)


@pytest.mark.parametrize("n", [29, 30, 100])
def test_rows_at_equal_distances_have_coordinates(n):
    scaling = classical_scaling(np.full(n * (n - 1) // 2, np.sqrt(2)), n, 2)
    assert_allclose(scaling.eigenvalues, [1, 1], rtol=1e-10)
    assert_allclose((scaling.embedding**2).sum(axis=0), [1, 1], rtol=1e-10)


# ---- signs ---------------------------------------------------------------------------------------

seeds = st.integers(0, 2**32 - 1)


@given(seed=seeds, n=st.integers(1, 20), d=st.integers(1, 4))
def test_the_entry_of_largest_magnitude_is_positive(seed, n, d):
    V = np.random.default_rng(seed).normal(size=(n, d))
    fixed = fixed_signs(V)
    assert_array_equal(fixed, naive_fixed_signs(V))
    assert (fixed[np.abs(fixed).argmax(axis=0), np.arange(d)] > 0).all()
    assert_same_up_to_sign(fixed, V, rtol=0, atol=0)


@given(seed=seeds, n=st.integers(1, 12))
def test_of_equal_magnitudes_the_first_counts(seed, n):
    V = np.random.default_rng(seed).choice([-1.0, 0.5, 1.0], size=(n, 3))
    assert_array_equal(fixed_signs(V), naive_fixed_signs(V))


@given(seed=seeds)
def test_a_vector_and_its_negative_come_out_alike(seed):
    V = np.random.default_rng(seed).normal(size=(7, 3))
    flips = np.random.default_rng(seed + 1).choice([-1.0, 1.0], size=3)
    assert_same_bits(fixed_signs(V * flips), fixed_signs(V))


def test_rounding_does_not_choose_the_sign():
    # Two entries as large up to rounding: the first counts, whichever is larger in the last bits.
    for slip in (-1e-14, 0.0, 1e-14):
        assert fixed_signs(np.array([[0.7], [-0.7 - slip], [0.1]]))[0, 0] > 0
        assert fixed_signs(np.array([[-0.7], [0.7 + slip], [0.1]]))[0, 0] > 0
    assert fixed_signs(np.array([[0.7], [-0.71]]))[0, 0] < 0  # that is no rounding


def test_a_column_of_zeros_stays_and_the_input_too():
    V = np.array([[0.0, -1.0], [0.0, 0.5]])
    before = V.copy()
    assert_array_equal(fixed_signs(V), [[0, 1], [0, -0.5]])
    assert_same_bits(V, before)
