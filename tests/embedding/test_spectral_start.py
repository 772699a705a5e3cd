import numpy as np
from numpy.testing import assert_allclose
from scipy.sparse import block_diag, csr_array

from isentropic import Knn
from isentropic.affinities import fuzzy_graph
from isentropic.embedding.initialization import WIDTH, spectral_initialization
from isentropic.neighbors import nearest_neighbors


def strip(rng, n):
    X = rng.uniform(size=(n, 2)) * [6.0, 1.0]
    return X, fuzzy_graph(nearest_neighbors(X, Knn(6)))


def test_a_strip_is_laid_out_along_its_length(rng):
    X, W = strip(rng, 400)
    Z = spectral_initialization(W, 2, lambda: None)
    assert_allclose(np.ptp(Z, axis=0).max(), WIDTH)
    assert abs(np.corrcoef(Z[:, 0], X[:, 0])[0, 1]) > 0.95


def test_parts_lie_around_their_middles_and_do_not_overlap(rng):
    graphs = [strip(rng, n)[1] for n in (300, 60, 20)]
    W = csr_array(block_diag(graphs))
    part = np.repeat([0, 1, 2], [300, 60, 20])
    middles = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 4.0]])
    Z = spectral_initialization(W, 2, lambda: middles[part])
    centres = np.array([(Z[part == p].max(axis=0) + Z[part == p].min(axis=0)) / 2 for p in range(3)])
    assert_allclose(centres - centres[0], (middles - middles[0]) * WIDTH / 4, atol=1e-9)
    gaps = np.linalg.norm(centres[:, None] - centres, axis=2) + np.diag([np.inf] * 3)
    for p in range(3):
        assert np.ptp(Z[part == p], axis=0).max() <= gaps[p].min() * (1 + 1e-9)
        assert np.ptp(Z[part == p], axis=0).max() > 0


def test_parts_of_one_and_two_rows_have_places():
    W = csr_array(block_diag([np.zeros((1, 1)), np.array([[0.0, 1.0], [1.0, 0.0]]), np.zeros((1, 1))]))
    Z = spectral_initialization(W, 2, lambda: np.arange(8.0).reshape(4, 2))
    assert np.isfinite(Z).all()
    assert len(np.unique(Z, axis=0)) == 4
