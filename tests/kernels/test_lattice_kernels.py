"""Shares of nodes in rows, against sums as they are written."""

import numpy as np

from isentropic.kernels.networks import expected_places, responsibilities


def test_shares_and_places():
    rng = np.random.default_rng(0)
    X, nodes, places = rng.normal(size=(7, 3)), rng.normal(size=(5, 3)), rng.normal(size=(5, 2))
    squares = ((X[:, None] - nodes[None]) ** 2).sum(axis=2)
    weights = np.exp(-1.5 * squares)
    shares = weights / weights.sum(axis=1)[:, None]
    found, logarithms = X @ nodes.T, np.empty(7)
    responsibilities(found, (nodes**2).sum(axis=1), 3.0, logarithms)
    np.testing.assert_allclose(found, shares, atol=1e-14)
    missing = 1.5 * (X**2).sum(axis=1)
    np.testing.assert_allclose(logarithms - missing, np.log(weights.sum(axis=1)), atol=1e-12)
    out = np.empty((7, 2))
    expected_places(X, nodes, places, 3.0, out)
    np.testing.assert_allclose(out, shares @ places, atol=1e-14)


def test_a_row_far_from_all_nodes_has_a_place():
    out = np.empty((1, 1))
    expected_places(np.array([[1e9]]), np.array([[0.0], [1.0]]), np.array([[0.0], [5.0]]), 1e3, out)
    assert out[0, 0] == 5.0
