"""Terms of divergences between Gaussians, full and of low rank, against numpy's determinants and inverses."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isentropic.kernels.gaussians import (
    log_determinants,
    mixed_terms,
    near_terms,
    near_terms_from_rows,
    patch_blocks,
    plain_terms,
    precisions,
    terms_from_gram,
    terms_from_rows,
)

HEADS, TAILS = np.array([0, 0, 1, 2]), np.array([1, 2, 2, 2])


def matrices(p, m, seed=0):
    B = np.random.default_rng(seed).normal(size=(p, m, m + 1))
    return B @ B.swapaxes(1, 2) + 0.1 * np.eye(m)


def expected_plain(means, S):
    inverse = np.linalg.inv(S)
    out = []
    for i, j in zip(HEADS, TAILS, strict=True):
        delta = means[i] - means[j]
        out.append([np.trace(inverse[j] @ S[i]), np.trace(inverse[i] @ S[j]),
                    delta @ inverse[j] @ delta, delta @ inverse[i] @ delta])  # fmt: skip
    return np.array(out)


def expected_mixed(means, S, w):
    logs = np.linalg.slogdet(S)[1]
    out = []
    for i, j in zip(HEADS, TAILS, strict=True):
        delta, mixed = means[i] - means[j], (1 - w) * S[i] + w * S[j]
        excess = np.linalg.slogdet(mixed)[1] - (1 - w) * logs[i] - w * logs[j]
        out.append([excess, delta @ np.linalg.solve(mixed, delta)])
    return np.array(out)


@pytest.mark.parametrize("m", [1, 2, 6])
def test_factors_of_full_matrices(m):
    S = matrices(3, m)
    P, logs, again = np.empty_like(S), np.empty(3), np.empty(3)
    precisions(S, P, logs)
    log_determinants(S, again)
    assert_allclose(P, np.linalg.inv(S), rtol=1e-8, atol=1e-10)
    assert_allclose(logs, np.linalg.slogdet(S)[1], rtol=1e-10, atol=1e-10)
    assert_array_equal(logs, again)


def test_what_is_not_positive_definite_is_nan():
    S = np.array([np.eye(2), [[1.0, 2.0], [2.0, 1.0]], [[0.0, 0.0], [0.0, 1.0]]])
    logs = np.empty(3)
    precisions(S, np.empty_like(S), logs)
    assert_array_equal(np.isnan(logs), [False, True, True])
    out = np.empty((1, 2))
    mixed_terms(np.zeros((3, 2)), S, logs, np.array([0]), np.array([1]), 3.0, out)
    assert np.isnan(out).all()


@pytest.mark.parametrize("weight", [0.0, 0.3, 0.5, 1.0])
def test_terms_of_full_matrices(weight):
    means, S = np.random.default_rng(1).normal(size=(3, 4)), matrices(3, 4)
    P, logs = np.empty_like(S), np.empty(3)
    precisions(S, P, logs)
    plain, mixed = np.empty((4, 4)), np.empty((4, 2))
    plain_terms(means, S, P, HEADS, TAILS, plain)
    mixed_terms(means, S, logs, HEADS, TAILS, weight, mixed)
    assert_allclose(plain, expected_plain(means, S), rtol=1e-8, atol=1e-10)
    assert_allclose(mixed, expected_mixed(means, S, weight), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("sizes", [(4, 4, 4), (4, 2, 3)])
@pytest.mark.parametrize("weight", [np.nan, 0.3, 0.5])
def test_terms_of_low_rank(sizes, weight):
    random = np.random.default_rng(2)
    X, noise = random.normal(size=(9, 5)) + 1.0, np.array([0.2, 0.5, 0.1])
    members = np.array([[0, 1, 2, 3], [4, 5, 0, 1], [6, 7, 8, 2]])
    sizes, rank = np.array(sizes), 3
    means, S = np.empty((3, 5)), np.empty((3, 5, 5))
    axes, spectrum = np.zeros((3, 4, rank)), np.zeros((3, rank))
    for i, size in enumerate(sizes):
        rows = X[members[i, :size]]
        means[i], S[i] = rows.mean(axis=0), np.cov(rows, rowvar=False) + noise[i] * np.eye(5)
        values, vectors = np.linalg.eigh((rows - means[i]) @ (rows - means[i]).T)
        top = slice(max(size - rank, 1), None)  # one is zero by centring
        count = len(values[top])
        axes[i, :size, :count] = vectors[:, top] / np.sqrt(values[top])
        spectrum[i, :count] = values[top] / (size - 1)
    is_mixed = not np.isnan(weight)
    expected = expected_mixed(means, S, weight) if is_mixed else expected_plain(means, S)
    by_rows, by_gram = np.empty_like(expected), np.empty_like(expected)
    terms_from_rows(X, members, sizes, means, axes, spectrum, noise, HEADS, TAILS, weight, by_rows)
    assert_allclose(by_rows, expected, rtol=1e-9, atol=1e-10)
    G = X @ X.T
    blocks, own, norms = np.empty((3, 4, 4)), np.empty((3, 4)), np.empty(3)
    patch_blocks(G, members, sizes, blocks, own, norms)
    assert_allclose(norms, (means**2).sum(axis=1))
    for i, size in enumerate(sizes):
        C = X[members[i, :size]] - means[i]
        assert_allclose(blocks[i, :size, :size], C @ C.T, atol=1e-12)
        assert_allclose(own[i, :size], C @ means[i], atol=1e-12)
        assert not blocks[i, size:].any()
    terms_from_gram(G, members, sizes, own, norms, axes, spectrum, noise, 5, HEADS, TAILS, weight, by_gram)
    assert_allclose(by_gram, expected, rtol=1e-9, atol=1e-10)


def test_near_terms_are_the_mixed_ones():
    means, S = np.random.default_rng(1).normal(size=(3, 4)), matrices(3, 4)
    out = np.empty((4, 2))
    near_terms(means, S, HEADS, TAILS, out)
    assert_allclose(out, expected_mixed(means, S, 0.5), rtol=1e-8, atol=1e-12)
    assert_array_equal(out[3], 0.0)  # a Gaussian and itself
    S[1] = -S[1]
    S[2] = np.diag([1.0, 1.0, 1.0, 0.0])
    near_terms(means, S, np.array([0, 2]), np.array([1, 0]), out[:2])
    assert np.isnan(out[0]).all()
    assert_array_equal(np.isnan(out[1]), [True, False])


@pytest.mark.parametrize("m", [5, 20])
def test_near_terms_from_rows(m):
    random = np.random.default_rng(2)
    X, noise, scales = random.normal(size=(9, m)), np.array([0.2, 0.5, 0.1]), np.array([0.3, 0.25, 0.4])
    members, sizes = np.array([[0, 1, 2, 3], [4, 5, 0, 1], [6, 7, 8, 2]]), np.array([4, 3, 4])
    patches = [X[row[:size]] for row, size in zip(members, sizes, strict=True)]
    means = np.array([rows.mean(axis=0) for rows in patches])
    C = [rows - mean for rows, mean in zip(patches, means, strict=True)]
    S = np.array([a * c.T @ c + e * np.eye(m) for a, c, e in zip(scales, C, noise, strict=True)])
    out = np.empty((4, 2))
    near_terms_from_rows(X, members, sizes, means, scales, noise, HEADS, TAILS, out)
    assert_allclose(out, expected_mixed(means, S, 0.5), rtol=1e-9, atol=1e-12)


def test_near_terms_of_equal_rows():
    X, members, sizes = np.ones((3, 20)), np.array([[0, 1], [1, 2]]), np.array([2, 2])
    means, noise, out = np.ones((2, 20)), np.array([1.0, 2.0]), np.empty((1, 2))
    edge = np.array([0]), np.array([1])
    near_terms_from_rows(X, members, sizes, means, np.ones(2), noise, *edge, out)
    assert_allclose(out[0], [20 * np.log(1.5) - 10 * np.log(2.0), 0.0])
