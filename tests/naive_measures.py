"""Plain twins of the measures in decimals of many digits, in which no number overflows or vanishes."""

from __future__ import annotations

import decimal
import math
from decimal import Decimal

import numpy as np

import naive

_DIGITS, _KEPT = 90, 30
_EXPONENTS = {"Emax": 10**9, "Emin": -(10**9)}


def many_digits():
    """The context in which everything here is computed."""
    return decimal.localcontext(decimal.Context(prec=_DIGITS, **_EXPONENTS))


def _decimals(X):
    return [[Decimal(float(x)) for x in row] for row in X]


def _euclidean(x, y):
    return sum(((a - b) ** 2 for a, b in zip(x, y, strict=True)), Decimal(0)).sqrt()


def _cosine(x, y):
    xx, yy = sum(a * a for a in x), sum(b * b for b in y)
    if xx == 0 or yy == 0:
        return Decimal(int(xx != yy))
    return 1 - sum(a * b for a, b in zip(x, y, strict=True)) / (xx * yy).sqrt()


_PAIR = {
    "euclidean": _euclidean,
    "sqeuclidean": lambda x, y: sum(((a - b) ** 2 for a, b in zip(x, y, strict=True)), Decimal(0)),
    "cityblock": lambda x, y: sum((abs(a - b) for a, b in zip(x, y, strict=True)), Decimal(0)),
    "chebyshev": lambda x, y: max(abs(a - b) for a, b in zip(x, y, strict=True)),
    "cosine": _cosine,
}


def exact_distances(X, metric="euclidean"):
    """All distances as decimals; equal ones are equal, whatever was rounded at the 90th digit."""
    rows, kept = _decimals(X), decimal.Context(prec=_KEPT, **_EXPONENTS)
    D = np.empty((len(rows), len(rows)), object)
    for i, x in enumerate(rows):
        for j, y in enumerate(rows):
            D[i, j] = kept.plus(_PAIR[metric](x, y)) if i != j else Decimal(0)
    return D


def upper(D):
    return [D[i, j] for i in range(len(D)) for j in range(i + 1, len(D))]


def exact_pearson(d, z):
    """None where a side does not vary."""
    a, b = ([x - sum(side) / len(side) for x in side] for side in (d, z))
    aa, bb = sum(x * x for x in a), sum(x * x for x in b)
    if min(d) == max(d) or min(z) == max(z):
        return None
    return sum(x * y for x, y in zip(a, b, strict=True)) / (aa * bb).sqrt()


def exact_ranks(values):
    return [Decimal(sum(x < y for x in values)) + Decimal(sum(x == y for x in values)) / 2 for y in values]


def exact_tau(d, z):
    if min(d) == max(d) or min(z) == max(z):
        return None
    return naive.naive_kendall_tau(d, z)


def exact_stress(d, z, kind):
    """None where it is undefined."""
    dd, zz = sum(x * x for x in d), sum(x * x for x in z)
    if kind == "scaled" and zz == 0:
        return None
    scale = sum(x * y for x, y in zip(d, z, strict=True)) / zz if kind == "scaled" else Decimal(1)
    gap = sum((x - scale * y) ** 2 for x, y in zip(d, z, strict=True))
    if kind == "raw":
        return gap.sqrt()
    return (gap / dd).sqrt() if dd else None


def exact_sammon(d, z):
    pairs = [(x, y) for x, y in zip(d, z, strict=True) if x > 0]
    return sum((x - y) ** 2 / x for x, y in pairs) / sum(d) if pairs else None


def exact_neighborhood_stress(D, E, k, kind):
    lists = naive.naive_neighbors(D, k)[0].tolist()
    pairs = [(i, j) for i, listed in enumerate(lists) for j in listed]
    return exact_stress([D[p] for p in pairs], [E[p] for p in pairs], kind)


def exact_topological_product(D, E):
    """None where every term has a distance of 0."""
    n = len(D)
    near, near_Z = naive.naive_neighbors(D, n - 1)[0], naive.naive_neighbors(E, n - 1)[0]
    total, used = 0.0, 0
    for j in range(n):
        product = 0.0
        for k in range(1, n):
            x, z = near[j, k - 1], near_Z[j, k - 1]
            if 0 not in (D[j, x], D[j, z], E[j, x], E[j, z]):
                product += float((D[j, z] / D[j, x]).ln() + (E[j, z] / E[j, x]).ln())
                used += 1
            total += product / (2 * k)
    return total / (n * (n - 1)) if used else None


def exact_silhouette(D, y):
    values = []
    for i in range(len(y)):
        mine = [D[i, j] for j in range(len(y)) if y[j] == y[i] and j != i]
        others = [[D[i, j] for j in range(len(y)) if y[j] == c] for c in set(y) if c != y[i]]
        a, b = sum(mine) / max(len(mine), 1), min(sum(each) / len(each) for each in others)
        values.append(float((b - a) / max(a, b)) if mine and max(a, b) > 0 else 0.0)
    return sum(values) / len(values)


def exact_movement(before, after):
    """How far each row moved, as a share of the width; by the best angle in the plane, or sign on a line."""
    A, B = (np.array([list(map(float, row)) for row in Z]) for Z in (before, after))
    a, b = A - A.mean(axis=0), B - B.mean(axis=0)
    if A.shape[1] == 1:
        turned = [b, -b]
    else:
        turned = [_turned(b * flip, a) for flip in (np.ones(2), np.array([1.0, -1.0]))]
    best = min(turned, key=lambda t: ((t - a) ** 2).sum())
    return np.hypot.reduce(best - a, axis=1) / np.ptp(A, axis=0).max()


def _turned(b, a):
    angle = math.atan2((b[:, 0] * a[:, 1] - b[:, 1] * a[:, 0]).sum(), (b * a).sum())
    cos, sin = math.cos(angle), math.sin(angle)
    return np.column_stack([cos * b[:, 0] - sin * b[:, 1], sin * b[:, 0] + cos * b[:, 1]])


def naive_selection(lists, rows):
    """Share kept, chance, who was left out and who is a stranger, and the corrected selection."""
    inside, n = set(rows), len(lists)

    def share(i, members):
        return sum(j in members for j in lists[i]) / len(lists[i])

    kept = sum(share(i, inside) for i in inside) / len(inside)
    left_out = [i for i in range(n) if i not in inside and share(i, inside) > 0.5]
    strangers = [i for i in sorted(inside) if share(i, inside) < 0.5]
    members = set(inside)
    while joining := {i for i in range(n) if i not in members and share(i, members) > 0.5}:
        members |= joining
    while leaving := {i for i in members if share(i, members) < 0.5}:
        members -= leaving
    return kept, (len(inside) - 1) / (n - 1), left_out, strangers, sorted(members)
