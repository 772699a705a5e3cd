"""Distances that are given, all of them: a square matrix, or condensed as by ``scipy``'s ``pdist``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core.errors import require
from .._core.values import DistanceRows, Floats, Integers
from ..linalg import unit_exponent
from .metrics import asymmetry

_SLACK = 1e-9  # of the largest distance: what a matrix may deviate from symmetry


def rows_of(X: Floats, rows: Integers | slice, metric: Any) -> Floats:
    """Some rows of a table; of distances that are given, those between these rows."""
    if isinstance(metric, str) and metric == "precomputed" and X.ndim == 2:
        return np.ascontiguousarray(X[rows][:, rows])
    return X[rows]


def precomputed_rows(D: Floats, name: str) -> DistanceRows:
    """Finite numbers as distances, in a unit in which their squares are numbers."""
    return _condensed(D, name) if D.ndim == 1 else _matrix(D, name)


def _in_unit(D: Floats) -> tuple[Floats, int]:
    exponent = unit_exponent(float(D.max(initial=0.0)))
    return (D, 0) if exponent == 0 else (np.ldexp(D, -exponent), exponent)


@dataclass(frozen=True, slots=True)
class DistanceMatrix:
    """Distances that were checked as a whole when they were given."""

    D: Floats  # (n, n)

    def __call__(self, rows: Integers) -> Floats:
        block = self.D[rows] + 0.0  # no -0.0
        block[np.arange(len(rows)), rows] = 0.0
        return block

    def pairs(self, first: Integers, second: Integers) -> Floats:
        return self.D[first, second] + 0.0


def _matrix(D: Floats, name: str) -> DistanceRows:
    square = D.ndim == 2 and D.shape[0] == D.shape[1]
    require(square, name, 'a square matrix of distances for metric="precomputed"', D.shape)
    largest = float(D.max(initial=0.0))
    least = float(D.min(initial=0.0))
    require(least >= 0, name, "a matrix of distances, at least 0", least)
    apart = asymmetry(D)
    hint = "Take (D + D.T) / 2 if the difference is noise."
    require(apart <= _SLACK * largest, name, "symmetric", f"entries that differ by {apart:.3g}", hint)
    own = float(np.diagonal(D).max(initial=0.0))
    require(own <= _SLACK * largest, name, "a matrix of distances, 0 on the diagonal", own)

    D, exponent = _in_unit(D)
    matrix = DistanceMatrix(D)
    return DistanceRows(len(D), matrix, "precomputed", matrix.pairs, exponent)


def _condensed(triangle: Floats, name: str) -> DistanceRows:
    n = (1 + math.isqrt(1 + 8 * len(triangle))) // 2
    is_triangle = n * (n - 1) // 2 == len(triangle)
    require(is_triangle, name, "condensed distances, n (n - 1) / 2 of them", len(triangle))
    least = float(triangle.min(initial=0.0))
    require(least >= 0, name, "condensed distances, at least 0", least)
    triangle, exponent = _in_unit(triangle)

    def pairs(first: Integers, second: Integers) -> Floats:
        low, high = np.minimum(first, second), np.maximum(first, second)
        place = low * n - low * (low + 1) // 2 + high - low - 1
        # The pair of a row with itself has no place: any will do, since its distance is 0.
        return np.where(low == high, 0.0, triangle[np.where(low == high, 0, place)])

    def rows(numbers: Integers) -> Floats:
        return pairs(np.asarray(numbers, np.int64)[:, None], np.arange(n)[None, :])

    return DistanceRows(n, rows, "precomputed", pairs, exponent)
