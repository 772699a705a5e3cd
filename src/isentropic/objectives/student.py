"""The cost of t-SNE: how far the Student weights of a map are from joint affinities of the data."""

from __future__ import annotations

import math

import numpy as np
from scipy.sparse import csr_array
from scipy.special import xlogy

from ..kernels._jit import threads
from ..kernels.layouts.neighbor_forces import pull_logs, pulls, pulls_in_plane, pushes
from .fields import Field

EXACT_UP_TO = 4_000  # rows: the sums over their pairs take no longer than a field would
_PLANE = 2
_DOUBLE_UP_TO = 1_000  # rows: places in double precision, as it costs nothing
_LEAST = 1e-30  # of a sum of weights
_WORTH_THREADS = 1_000  # rows: below that, waking threads costs more than the sums


class StudentNeighbors:
    """``KL(P || Q) = sum p log(p / q)``, ``q_ij`` proportional to ``(1 + |z_i - z_j|^2 / t)^(-(t+1)/2)``.

    Its gradient is ``2 (t+1)/t sum_j (p_ij - q_ij) (z_i - z_j) / (1 + |z_i - z_j|^2 / t)``. The pull of P is
    summed over its entries, the push of Q over all pairs: exactly, ``O(n^2)``, up to 4,000 rows and beyond
    two dimensions, else by a :class:`~isentropic.objectives.fields.Field`, ``O(n)``. Places are in units of
    ``sqrt(t)`` within, where the weights are ``(1 + d^2)^-g`` with ``g = (t+1)/2``.

    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> P = csr_array((np.ones((3, 3)) - np.eye(3)) / 6)
    >>> cost = StudentNeighbors(P, n_components=2)
    >>> Z = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.75**0.5]])
    >>> round(abs(cost.divergence(Z)), 6), float(np.abs(cost.slopes(Z)).max().round(6))
    (0.0, 0.0)
    """

    def __init__(self, P: csr_array, *, n_components: int, dof: float = 1.0, n_jobs: int | None = None):
        self.dof, self.n_jobs = dof, n_jobs if P.shape[0] > _WORTH_THREADS else 1
        self._power = (dof + 1.0) / 2.0
        self._starts, self._indices = P.indptr.astype(np.int64), P.indices
        self._entropy = float(xlogy(P.data, P.data).sum())  # pairwise: fsum would box 1e8 numbers
        self._sum = float(P.data.sum())
        n = P.shape[0]
        self.repulsion = "fields" if n > EXACT_UP_TO and n_components <= _PLANE else "exact"
        self._field = Field(self._power)
        self._precision = np.float64 if n <= _DOUBLE_UP_TO else np.float32
        self._weights = P.data.astype(self._precision)

    def slopes(self, Z: np.ndarray, exaggeration: float = 1.0) -> np.ndarray:
        """A quarter of the gradient at the map ``Z`` (n, d), P multiplied by ``exaggeration``."""
        places = self._places(Z)
        with threads(self.n_jobs):
            push, total = self._pushes(places)
            pull = np.empty_like(places)
            follow = pulls_in_plane if places.shape[1] == _PLANE else pulls
            follow(self._starts, self._indices, self._weights, places, pull)
        factor = self._power / math.sqrt(self.dof)
        pull *= self._precision(factor * exaggeration)
        push *= self._precision(factor / max(total, _LEAST))
        pull -= push
        return pull[:, : Z.shape[1]]

    def divergence(self, Z: np.ndarray, exaggeration: float = 1.0) -> float:
        """``KL(P || Q)`` at the map ``Z``: with a field within 1e-3, else but for rounding.

        With ``exaggeration``, what :meth:`slopes` with it are a quarter of the gradient of.
        """
        places = self._places(Z)
        with threads(self.n_jobs):
            logs = pull_logs(self._starts, self._indices, self._weights, places)
            total = self._pushes(places)[1]
        pulls = exaggeration * self._power * math.fsum(logs)
        return self._entropy + pulls + self._sum * math.log(max(total, _LEAST))

    def _places(self, Z: np.ndarray) -> np.ndarray:
        """In units of the weights; a line is a plane that nothing leaves."""
        places = np.zeros((len(Z), max(Z.shape[1], _PLANE)), self._precision)
        np.divide(Z, math.sqrt(self.dof), out=places[:, : Z.shape[1]], casting="same_kind")
        return places

    def _pushes(self, places: np.ndarray) -> tuple[np.ndarray, float]:
        if self.repulsion == "fields":
            return self._field(places)
        push = np.empty_like(places)
        sums = pushes(np.ascontiguousarray(places.T), self._power, push)
        return push, math.fsum(sums)
