"""Maps as the programs behind published tables computed them, where these differ from ours."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from isentropic import Inflate, Isomap, Knn
from isentropic._core.values import Floats
from isentropic.linalg import leading_eigenpairs, normalized_adjacency
from isentropic.neighbors import directed_lists, nearest_neighbors


def randomized_pca(X: Floats, seed: int = 42) -> Floats:
    """PCA by scikit-learn's randomised solver, which stops before the directions have settled."""
    from sklearn.decomposition import PCA

    return np.asarray(PCA(2, svd_solver="randomized", random_state=seed).fit_transform(X), float)


def random_start_mds(X: Floats, seed: int = 0, n_init: int = 4, max_iter: int = 2_000) -> Floats:
    """Metric MDS by scikit-learn's SMACOF, the best of some random starts, each stopped early."""
    from sklearn.manifold import MDS

    options = {"n_init": n_init, "max_iter": max_iter, "normalized_stress": "auto"}
    return np.asarray(MDS(2, init="random", random_state=seed, **options).fit_transform(X), float)


def unbridged_isomap(X: Floats, n_neighbors: int) -> Floats:
    """ISOMAP where a pair without a path has the distance 0, as old versions of scikit-learn had it.

    Parts of the graph thus lie upon each other. On a connected graph it is ISOMAP.
    """
    return np.asarray(Isomap(n_neighbors, on_disconnected=Inflate(0.0)).fit_transform(X))


def mean_weight_eigenmaps(X: Floats, n_neighbors: int) -> Floats:
    """Laplacian eigenmaps with scikit-learn's weights: 1 for mutual neighbours, 1/2 for one-sided ones.

    A row counts as the first of its own neighbours.
    """
    near = nearest_neighbors(X, Knn(n_neighbors - 1, approximate=False)).indices
    A = directed_lists(near, np.ones(near.shape))
    operator, degrees = normalized_adjacency(csr_array((A + A.T) / 2))
    _, vectors = leading_eigenpairs(operator, 2, known=np.sqrt(degrees))
    return np.asarray(vectors / np.sqrt(degrees)[:, None])
