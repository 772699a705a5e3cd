"""Another objective in the family of pairs: raw stress, its rows in an order of its own."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist, squareform

import laws
from isentropic import Momentum
from isentropic.methods.distance.pairs import PairsEmbedder, minimised


class Stress:
    """``sum (d_ij - |z_i - z_j|)^2`` over all pairs, the rows taken backwards."""

    def __init__(self, problem):
        self.D = squareform(problem.pairs.distances)[::-1, ::-1] / problem.unit

    def __call__(self, Z):
        gaps = Z[:, None] - Z
        mapped = np.sqrt((gaps**2).sum(axis=-1)) + np.eye(len(Z))
        excess = 1 - (self.D + np.eye(len(Z))) / mapped
        return float(((excess * mapped) ** 2).sum() / 2), 2 * (excess[:, :, None] * gaps).sum(axis=1)

    def in_order(self, Z):
        return Z[::-1]

    out_of_order = in_order


class StressMap(PairsEmbedder):
    """Metric scaling by stress."""

    def fit(self, X, y=None):
        optimizer, problem = self._checked_optimizer(), self._problem(X, 1.0)
        self._keep(problem, minimised(Stress(problem), problem.start, optimizer))
        return self

    def _settle(self, distances, Z):
        return np.array([self._place_of(row / self._unit, Z) for row in distances])

    def _place_of(self, d, Z):
        """Majorisation of one row's stress, from a little off its nearest reference."""
        z = Z[d.argmin()] + 1e-3
        for _ in range(500):
            gaps = z - Z
            length = np.maximum(np.sqrt((gaps**2).sum(axis=1, keepdims=True)), 1e-12)
            z = (Z + d[:, None] * gaps / length).mean(axis=0)
        return z


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
    asked = StressMap(max_iter=0)
    problem = asked._problem(X, 1.0)
    found = minimised(Stress(problem), problem.start, asked._checked_optimizer())
    assert_array_equal(found.point, problem.start)
