"""Maps as published programs had them, against these programs and against ours."""

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist
from scipy.stats import kendalltau
from sklearn.datasets import load_iris
from sklearn.manifold import SpectralEmbedding

from isentropic import Isomap
from isentropic_papers.restated import (
    mean_weight_eigenmaps,
    random_start_mds,
    randomized_pca,
    unbridged_isomap,
)

IRIS = load_iris().data
ROWS = np.random.default_rng(0).normal(size=(80, 4))


def same_up_to_sign(A, B, atol):
    signs = np.sign((A * B).sum(axis=0))
    return np.allclose(A * signs, B, rtol=0, atol=atol)


def test_on_a_connected_graph_it_is_isomap():
    Z = Isomap(8).fit(ROWS)
    assert Z.graph_.n_components == 1
    assert same_up_to_sign(unbridged_isomap(ROWS, 8), Z.embedding_, 1e-9)


def test_parts_without_a_path_have_the_distance_zero():
    apart = np.concatenate([ROWS[:20], ROWS[:20] + 100])  # two equal parts
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Z = unbridged_isomap(apart, 5)
        bridged = Isomap(5).fit_transform(apart)
    assert np.ptp(Z) < 20  # all within one part's width
    assert np.ptp(bridged) > 100


@pytest.mark.parametrize("n_neighbors", [8, 15])
def test_weights_are_those_of_scikit_learn(n_neighbors):
    peer = SpectralEmbedding(2, affinity="nearest_neighbors", n_neighbors=n_neighbors, eigen_solver="arpack",
                             random_state=0)  # fmt: skip
    expected, Z = peer.fit_transform(ROWS), mean_weight_eigenmaps(ROWS, n_neighbors)
    scale = np.linalg.norm(expected, axis=0) / np.linalg.norm(Z, axis=0)
    assert same_up_to_sign(Z * scale, expected, 1e-6)


def test_randomised_pca_is_nearly_pca():
    centred = IRIS - IRIS.mean(axis=0)
    exact = centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T
    assert np.allclose(cdist(randomized_pca(IRIS), randomized_pca(IRIS)), cdist(exact, exact), atol=1e-3)


def test_four_random_starts_end_where_the_published_map_of_iris_did():
    tau = kendalltau(pdist(IRIS), pdist(random_start_mds(IRIS))).statistic
    assert tau == pytest.approx(0.9569, abs=0.001)  # Table 4.1 of the thesis on SDD
