"""What was measured of ISOMAP and PCA in 2016: 1-NN on a fifth of the rows, an SVM by grid search, stress.

Every map is of all rows, and the grid search has no part held out: its score is the best mean of three
folds. Stress is that of all pairs, or of the lists of nearest neighbours, by table. Pairs that no path
joins are at distance 0, as the program left them.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.decomposition import PCA

from isentropic import Inflate, Isomap
from isentropic._core.values import Floats
from isentropic.datasets import load
from isentropic.experiments.classifiers import nearest_score, old_grid_score
from isentropic.quality import kruskal_stress, neighborhood_stress

SOURCES = {
    "Iris": "builtin:iris", "Digits": "builtin:digits", "Glass": "glass", "Dermatology": "dermatology",
    "Leukemia": "leukemia", "WDBC": "WDBC", "Diabetes": "openml:37", "Swiss Roll": "builtin:swiss-roll",
}  # fmt: skip
NUMERIC = ("Swiss Roll",)  # targets of which the SVM is a regressor


def table_rows(dataset: str) -> tuple[Floats, np.ndarray]:
    """Rows and target as the source has them: raw but for K and Leukemia.

    >>> X, y = table_rows("K")
    >>> X.shape, sorted(set(y.tolist()))
    ((1000, 2), [-6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6])
    """
    if dataset == "K":
        return _correlated_plane()
    if dataset == "Swiss Roll":
        roll = load(SOURCES[dataset], n_samples=1000, random_state=0, scaling="none")
        return roll.X, np.asarray(roll.y)
    table = load(SOURCES[dataset], nominal="coded", missing="mean", scaling="none")
    X = table.X
    if dataset == "Leukemia":  # rows first, then columns, both with the divisor n - 1
        X = (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, ddof=1, keepdims=True)
        X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    return X, np.asarray(table.y)


def _correlated_plane() -> tuple[Floats, np.ndarray]:
    """K: a Gaussian of two columns, standardised; its target is the whole part of their sum."""
    covariance = [[1.0, 1.0], [1.4, 1.5]]  # not symmetric: numpy takes its singular vectors
    drawn = np.random.RandomState(0).multivariate_normal([0, 0], covariance, 1000, check_valid="ignore")
    X = (drawn - drawn.mean(axis=0)) / drawn.std(axis=0)
    return X, X.sum(axis=1).astype(int)


def space_measures(
    dataset: str,
    reduction: str,
    n_components: int | None,
    n_neighbors: int | None,
    stress: str,
    grid: Sequence[Mapping[str, Any]],
) -> dict[str, float]:
    """The measures of one space: the data themselves (``n_components=None``), or a map of all rows.

    Without a ``grid`` there is no score.
    """
    X, y = table_rows(dataset)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of parts, of negative eigenvalues: the source leaves them unsaid
        Z = X if n_components is None else _reduced(X, reduction, n_components, n_neighbors)
    reduced = time.process_time()
    found = {"1-NN": nearest_score(Z, y, numeric=dataset in ("K", *NUMERIC)), "Data size": Z.size / 128}
    if n_components is not None:
        found["Reduction time"] = reduced - start
        found["Kruskal's stress"] = (
            kruskal_stress(X, Z) if stress == "global" else neighborhood_stress(X, Z, n_neighbors or 0)
        )
    if not grid:
        return found
    start = time.process_time()
    found["Score"] = old_grid_score(Z, y, grid, numeric=dataset in NUMERIC)
    found["GridSearch time"] = time.process_time() - start
    return found


def reducer(reduction: str, n_components: int, n_neighbors: int | None) -> Any:
    """PCA or ISOMAP, not fitted."""
    return PCA(n_components) if reduction == "PCA" else Isomap(n_neighbors, n_components)


def _reduced(X: Floats, reduction: str, n_components: int, n_neighbors: int | None) -> Floats:
    model = reducer(reduction, n_components, n_neighbors)
    if isinstance(model, Isomap):
        model.set_params(on_disconnected=Inflate(0.0))
    return model.fit_transform(X)
