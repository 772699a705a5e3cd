"""Gower's distance in plain Python: one pair, one column after the other."""

import math

import numpy as np


def naive_gower(X, new=None, *, levels=(), ordered=(), weights=None):
    """Distances of the rows ``new`` (None: of all) to the rows of ``X``, by the ranges and ranks of ``X``."""
    X = np.asarray(X, float)
    new = X if new is None else np.asarray(new, float)
    weights = [1.0] * X.shape[1] if weights is None else weights
    return np.array([[_distance(X, a, b, levels, ordered, weights) for b in X] for a in new])


def _distance(X, a, b, levels, ordered, weights):
    total = weight = 0.0
    for j, w in enumerate(weights):
        if math.isnan(a[j]) or math.isnan(b[j]):
            continue
        total += w * _difference(X[:, j], a[j], b[j], j in levels, j in ordered)
        weight += w
    return total / weight if weight else 1.0


def _difference(column, a, b, is_level, is_ordered):
    there = sorted({x for x in column.tolist() if not math.isnan(x)})
    if is_level:
        return float(a != b)
    if is_ordered:
        return abs(_rank(there, a) - _rank(there, b)) / max(len(there) - 1, 1)
    span = there[-1] - there[0] if there else 0.0
    return min(abs(a - b) / span, 1.0) if span else 0.0


def _rank(there, x):
    """Number of the level; between two for a value between them."""
    if x <= there[0]:
        return 0.0
    for i in range(1, len(there)):
        if x <= there[i]:
            return i - 1 + (x - there[i - 1]) / (there[i] - there[i - 1])
    return len(there) - 1.0
