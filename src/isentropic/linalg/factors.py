"""Sparse factors of a positive definite matrix: what they take before they are made, and the order of rows.

Rows are eliminated in an order of minimum degree or, where that fills up, by nested dissection.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array, eye_array
from scipy.sparse.csgraph import maximum_bipartite_matching, reverse_cuthill_mckee
from scipy.sparse.linalg import splu

from .._core.runtime import memory_budget, one_blas_thread
from .chebyshev import DEGREE, FIRST_BORDER, normalized_adjacency, orthogonal, polynomial, ritz_pairs

_BYTES = 24  # of an entry below the diagonal, in both factors
_SAVED = 10  # an order of minimum degree takes at most this share of the products that the band foretells
_MANY = 7e8  # products, of a fraction of a second
_WIDE = 0.02  # of the rows: the mean width of the band; that of a surface is below


@dataclass(frozen=True, slots=True)
class Profile:
    """What the factors would take at most: those of a band, rows in the order of Cuthill and McKee, reversed.

    The order of the factors themselves is better, and what it takes is not known before.
    """

    n_bytes: int
    flops: float
    n: int

    @classmethod
    def of(cls, A: csr_array) -> Profile:
        """``O(nnz)``, of a matrix with a symmetric pattern."""
        order = reverse_cuthill_mckee(A, symmetric_mode=True)
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        first = place.copy()
        some = np.flatnonzero(np.diff(A.indptr))
        first[some] = np.minimum.reduceat(place[A.indices], A.indptr[some])
        widths = np.maximum(place - first, 0).astype(np.float64)
        n_bytes = _BYTES * int(widths.sum() + len(order))
        return cls(n_bytes, float((widths**2).sum()) / _SAVED, len(order))

    @property
    def fits(self) -> bool:
        """Whether they are within the memory budget."""
        budget = memory_budget()
        return budget is None or self.n_bytes <= budget

    @property
    def fills_up(self) -> bool:
        """Whether an order of minimum degree is worse than nested dissection: not of a surface."""
        return self.flops > _MANY and self.n_bytes > _BYTES * _WIDE * self.n**2


@dataclass(frozen=True, slots=True)
class Factors:
    """LU factors of a sparse matrix, in the ``order`` of nested dissection if there is one."""

    factors: Any
    order: np.ndarray | None

    @classmethod
    def of(cls, matrix: csc_array, order: np.ndarray | None = None, *, pivot: float = 0.0) -> Factors:
        """By minimum degree without an order. A diagonal entry above ``pivot`` of its column is taken."""
        how = {"diag_pivot_thresh": pivot, "options": {"SymmetricMode": True}}
        if order is None:
            return cls(splu(matrix, permc_spec="MMD_AT_PLUS_A", **how), None)
        return cls(splu(csc_array(matrix[order][:, order]), permc_spec="NATURAL", **how), order)

    def solve(self, y: np.ndarray, trans: str = "N") -> np.ndarray:
        """``A^-1 y``, or that of the transpose for ``"T"``."""
        if self.order is None:
            return np.asarray(self.factors.solve(y, trans))
        x = np.empty_like(y)
        x[self.order] = self.factors.solve(y[self.order], trans)
        return x


def factored(matrix, shift: float, cost: Profile) -> Factors:
    """Factors of ``matrix + shift I``, positive definite: no pivots."""
    shifted = csc_array(matrix + shift * eye_array(matrix.shape[0], format="csc"))
    return Factors.of(shifted, nested_dissection(matrix) if cost.fills_up else None)


_LEAF = 500  # rows of a part that is not cut again
_EXPANDS = 0.25  # of the rows: a separator above it gains nothing
_CUTS = (0.4, 0.45, 0.5, 0.55, 0.6)  # of the rows on one side
_UNEVEN = 0.6  # rows of a separator for which parts of n and 0 rows would be taken, of its rows
_FIEDLER, _NOISE = 4, 1e-3  # vectors of a part; of their length, so that no column of a start is zero


def nested_dissection(matrix) -> np.ndarray | None:
    """An order of elimination: two parts before the rows that separate them, each part likewise (George).

    A graph is cut along the eigenvector of its walk that changes least, found roughly, where fewest rows
    separate parts of like size. Parts of up to 500 rows have an order of minimum degree. None where many rows
    are needed to separate the others, as among rows of many independent features. ``O(nnz log n)`` time.

    >>> from scipy.sparse import block_diag
    >>> cliques = block_diag([np.ones((400, 400)), np.ones((400, 400))]).tolil()
    >>> cliques[399, 400] = 1  # the only edge that joins them
    >>> nested_dissection(cliques)[-1] in (399, 400)
    True
    """
    graph, random = _pattern(matrix), np.random.default_rng(0)
    n = graph.shape[0]
    waiting = [(np.arange(n), graph, random.standard_normal((n, _FIEDLER)))]
    separators: list[np.ndarray] = []
    with one_blas_thread():
        while waiting:
            rows, graph, start = waiting.pop()
            V, along = _slow_eigenvectors(graph, start, rounds=1 if separators else 2)
            parts, separator = _cut(graph, along)
            if len(separator) > _EXPANDS * len(rows):
                continue
            separators.append(rows[separator])
            for part in parts:
                if len(part) > _LEAF:
                    noise = random.standard_normal((len(part), _FIEDLER)) * (_NOISE / np.sqrt(len(part)))
                    waiting.append((rows[part], csr_array(graph[part][:, part]), V[part] + noise))
    if not separators:
        return None
    last = np.concatenate(separators[::-1])
    inner = np.setdiff1d(np.arange(n), last, assume_unique=True)
    return np.concatenate([inner[_minimum_degree(_pattern(matrix)[inner][:, inner])], last])


def _pattern(matrix) -> csr_array:
    """Ones where the matrix or its transpose has an entry, the diagonal left out."""
    graph = csr_array(abs(matrix) + abs(matrix).T)
    graph.setdiag(0)
    graph.eliminate_zeros()
    graph.data[:] = 1.0
    return graph


def _minimum_degree(graph: csr_array) -> np.ndarray:
    n = graph.shape[0]
    dominant = csc_array(graph + 2.0 * n * eye_array(n))
    return np.argsort(Factors.of(dominant).factors.perm_c)


def _slow_eigenvectors(graph: csr_array, V: np.ndarray, *, rounds: int) -> tuple[np.ndarray, np.ndarray]:
    """Rough leading eigenvectors of the walk over a graph, and the first as a function of the rows."""
    walk, degrees = normalized_adjacency(graph)
    known = np.sqrt(degrees)
    border = FIRST_BORDER
    for _ in range(rounds):
        V = orthogonal(polynomial(walk, V, border, DEGREE), known / (np.linalg.norm(known) or 1.0))
        values, V, _ = ritz_pairs(walk, V)
        border = min(max(border, float(values[-1])), 1.0 - 1e-9)
    return V, V[:, 0] / np.where(known > 0, known, 1.0)


def _cut(graph: csr_array, along: np.ndarray) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    """Two parts and the rows that separate them: the best of some cuts along a function."""
    n, order = len(along), np.argsort(along, kind="stable")
    best, found = np.inf, None
    for share in _CUTS:
        low = np.zeros(n, bool)
        low[order[: int(share * n)]] = True
        apart = np.ones(n, bool)
        apart[separator := _cover(graph, low)] = False
        parts = np.flatnonzero(apart & low), np.flatnonzero(apart & ~low)
        cost = len(separator) * (1.0 + _UNEVEN * abs(len(parts[0]) - len(parts[1])) / n)
        if cost < best:
            best, found = cost, (parts, separator)
    assert found is not None
    return found


def _cover(graph: csr_array, low: np.ndarray) -> np.ndarray:
    """The fewest rows on whose removal no edge joins the low rows to the others (König).

    Of a maximum matching: low rows that no alternating path from a free one reaches, others that one does.
    """
    heads, tails = np.flatnonzero(low), np.flatnonzero(~low)
    edges = csr_array(graph[heads][:, tails])
    heads, edges = heads[some := np.flatnonzero(np.diff(edges.indptr))], csr_array(edges[some])
    matched = maximum_bipartite_matching(edges, perm_type="column")
    mate = np.full(len(tails), -1)
    mate[matched[matched >= 0]] = np.flatnonzero(matched >= 0)
    reached, beyond = matched < 0, np.zeros(len(tails), bool)
    front = np.flatnonzero(reached)
    while len(front):
        ends = np.unique(csr_array(edges[front]).indices)
        ends = ends[~beyond[ends]]
        beyond[ends] = True
        front = mate[ends]  # all have one: else the path would make the matching larger
        front = front[~reached[front]]
        reached[front] = True
    return np.concatenate([heads[~reached], tails[beyond]])
