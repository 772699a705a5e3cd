"""Another objective in the family of pairs: raw stress, its rows in an order of its own."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist, squareform

import laws
from isentropic import Momentum
from isentropic._core.runtime import seeded
from isentropic.embedding.embedder import Embedder
from isentropic.embedding.maps.row_optimizer import NearestRows
from isentropic.embedding.training_data import training_data
from isentropic.methods.distance.pairs import (
    ReferenceMap,
    initial_coordinates,
    minimize,
    optimizer_of,
    paired_rows,
    reference_rows,
)


class Stress:
    """``sum (d_ij - |z_i - z_j|)^2`` over all pairs, the rows taken backwards."""

    def __init__(self, rows):
        self.D = squareform(rows.pairs.distances)[::-1, ::-1] / rows.unit

    def __call__(self, Z):
        gaps = Z[:, None] - Z
        mapped = np.sqrt((gaps**2).sum(axis=-1)) + np.eye(len(Z))
        excess = 1 - (self.D + np.eye(len(Z))) / mapped
        return float(((excess * mapped) ** 2).sum() / 2), 2 * (excess[:, :, None] * gaps).sum(axis=1)

    def in_order(self, Z):
        return Z[::-1]

    out_of_order = in_order


@dataclass(frozen=True, eq=False)
class MajorizedMap(ReferenceMap):
    """The least stress of a new row."""

    def optimize(self, distances, Z, n_jobs):
        return np.array([self._place_of(row / self.unit, Z) for row in distances])

    def _place_of(self, d, Z):
        """Majorization of one row's stress, from a little off its nearest reference."""
        z = Z[d.argmin()] + 1e-3
        for _ in range(500):
            gaps = z - Z
            length = np.maximum(np.sqrt((gaps**2).sum(axis=1, keepdims=True)), 1e-12)
            z = (Z + d[:, None] * gaps / length).mean(axis=0)
        return z


class StressMap(Embedder):
    """Metric scaling by stress."""

    def __init__(self, n_components=2, *, metric="euclidean", max_iter=500, tol=1e-6, optimizer=None):
        self.n_components = n_components
        self.metric = metric
        self.max_iter = max_iter
        self.tol = tol
        self.optimizer = optimizer

    def fit(self, X, y=None):
        query, rows, start = started(training_data(self, X), self.n_components)
        optimizer = optimizer_of(self.max_iter, self.tol, momentum=self.optimizer)
        found = minimize(Stress(rows), start, optimizer)
        Z = rows.embedding(found.point)
        new_rows = MajorizedMap(query, Z, rows.unit, reference_rows(len(Z), rows.seed))
        return self._set_fit(Z, new_rows, cost_=found.value)


def started(data, n_components):
    """Pairs of the rows, and principal components or classical scaling to start from."""
    random, seed = seeded(None)
    query = NearestRows.fit(data, seed, None)
    rows = paired_rows(query, "all", random, seed, None)
    return query, rows, initial_coordinates(rows, "pca", n_components, random)


X = laws.numbers(0, 40)[:, :2]  # a plane: the stress of its map is 0
NEW = laws.numbers(1, 7)[:, :2]


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "precomputed"])
@pytest.mark.parametrize("optimizer", [None, Momentum(300, 0.004)], ids=["lbfgs", "momentum"])
def test_any_objective_has_a_map_that_places_rows(metric, optimizer):
    given = (cdist(X, X), cdist(NEW, X)) if metric == "precomputed" else (X, NEW)
    fitted = StressMap(metric=metric, tol=1e-12, optimizer=optimizer).fit(given[0])
    laws.assert_fitted_rows_stay(fitted, given[0])
    laws.assert_rows_by_themselves(fitted.transform, given[1])
    if metric != "manhattan" and optimizer is None:
        assert fitted.cost_ < 1e-8
        assert_allclose(cdist(fitted.embedding_, fitted.embedding_), cdist(X, X), atol=1e-3)
        assert_allclose(cdist(fitted.transform(given[1]), fitted.embedding_), cdist(NEW, X), atol=1e-2)


def test_rows_come_back_in_the_order_of_the_table():
    _, rows, start = started(training_data(StressMap(), X), 2)
    found = minimize(Stress(rows), start, optimizer_of(0, 1e-6))
    assert_array_equal(found.point, start)
