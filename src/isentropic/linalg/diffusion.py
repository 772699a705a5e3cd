"""Leading eigenpairs of a diffusion over a graph: Chebyshev filter, or shift and invert by sparse factors.

To full precision, or as exactly as an initialization needs them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import coo_array, csc_array, csr_array, diags_array, eye_array
from scipy.sparse.csgraph import maximum_bipartite_matching, reverse_cuthill_mckee
from scipy.sparse.linalg import ArpackError, eigsh, splu

from .._core.errors import InvalidInputError, message
from .._core.runtime import memory_budget, one_blas_thread, row_blocks
from .eigen import (
    EIGENVALUES_DISTINCT,
    eigenpairs_by_rank,
    fixed_signs,
    inverse_lanczos,
    start_vector,
    top_eigenpairs,
)

# ---- Sparse factors of a positive definite matrix, and what they take before they are made -------


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
        V = orthogonal(polynomial(walk, V, border, _DEGREE), known / (np.linalg.norm(known) or 1.0))
        values, V, _ = _turned(walk, V)
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


_WHOLE = 200  # rows whose eigenvectors are solved whole
_FIRST_DEGREE, _MOST_DEGREE = 20, 400  # products with the matrix before vectors are made orthogonal again
_WORTH = 100  # products: a factorisation that costs no more is made at once
_TRIAL, MOST_PRODUCTS = 250, 40_000  # products until another way is looked at, and altogether
_RESIDUAL, _ROUNDING = 1e-9, 4e-15  # of the gap between an eigenvalue and 1; of 1
_SHIFT = 1e-6


def leading_eigenpairs(A: csr_array, count: int, *, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The ``count`` largest eigenpairs after the known one, of a symmetric A with a spectrum in [-1, 1].

    ``known`` is an eigenvector of eigenvalue 1. There is one value more than vectors, where A has one: it
    shows the gap behind the last. Where a graph is like a surface, ``I - A`` is factored (shift and invert);
    else, or where the factors would not fit, a Chebyshev polynomial of A filters a few vectors until their
    residuals are 1e-9 of the gap to 1: ``O(nnz)`` a product and vector, and no memory beside them.

    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> path = csr_array(np.diag([0.5, 0.5], 1) + np.diag([0.5, 0.5], -1) + np.diag([0.5, 0.0, 0.5]))
    >>> values, vectors = leading_eigenpairs(path, 1, known=np.ones(3))
    >>> values.round(3).tolist(), vectors.round(3).ravel().tolist()
    ([0.5, -0.5], [0.707, 0.0, -0.707])
    """
    n = A.shape[0]
    known = known / np.linalg.norm(known)
    with one_blas_thread():
        found = None
        if n <= _WHOLE or count + 1 + SPARE > n // 4:
            found = _whole(A, count, known)
        elif (cost := Profile.of(A)).flops <= _filter_flops(A, count, _WORTH):
            found = _inverted(A, count, known, cost)
        values, vectors = found or _filtered(A, count, known)
    return values, fixed_signs(np.ascontiguousarray(vectors[:, :count]))


def least_eigenvalue(A: csr_array) -> float:
    """The smallest eigenvalue of a symmetric A, to three digits (Lanczos)."""
    n = A.shape[0]
    if n <= _WHOLE:
        return float(eigenpairs_by_rank(A.toarray(), 0, 0)[0][0])
    with one_blas_thread():
        return float(eigsh(A, 1, which="SA", tol=1e-3, v0=start_vector(n), return_eigenvectors=False)[0])


def _whole(A: csr_array, count: int, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    dense = A.toarray() - 3.0 * np.outer(known, known)  # the known one goes to -2, below all others
    n = len(dense)
    values, vectors = eigenpairs_by_rank((dense + dense.T) / 2, max(n - 1 - count, 1), n - 1)
    return values[::-1], vectors[:, ::-1]


# ---- shift and invert ----------------------------------------------------------------------------


def _inverted(
    A: csr_array, count: int, known: np.ndarray, cost: Profile
) -> tuple[np.ndarray, np.ndarray] | None:
    """Lanczos on the inverse of ``(1 + shift) I - A``, without the known vector; None where that fails."""
    if not cost.fits:
        return None
    n = A.shape[0]
    factors = factored(-A, 1.0 + _SHIFT, cost)

    def times(x: np.ndarray) -> np.ndarray:
        solved = factors.solve(x - known * (known @ x))
        return solved - known * (known @ solved)

    start = start_vector(n)
    start -= known * (known @ start)
    with suppress(ArpackError):
        vectors = inverse_lanczos(times, n, count + 1, start, room=4 * count + 14)[1]
        values, turned = eigh(vectors.T @ (A @ vectors))
        return values[::-1], vectors @ turned[:, ::-1]
    return None


# ---- Chebyshev filter ------------------------------------------------------------------------------


def _filter_flops(A: csr_array, count: int, products: float) -> float:
    return 2.0 * A.nnz * (count + 1 + SPARE) * products


def _filtered(A: csr_array, count: int, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The filter; after a trial it gives way to a factorisation that costs less."""

    def factors(products: float) -> tuple[np.ndarray, np.ndarray] | None:
        cost = Profile.of(A)
        cheaper = cost.flops <= _filter_flops(A, count, products)
        return _inverted(A, count, known, cost) if cheaper else None

    return filtered_eigenpairs(A, count, known, otherwise=factors)


def filtered_eigenpairs(
    A, count: int, known: np.ndarray, *, otherwise: Callable[[float], tuple[np.ndarray, np.ndarray] | None]
) -> tuple[np.ndarray, np.ndarray]:
    """Filtered subspace iteration with ``A @ V``; ``known`` of length 1. One pair more, and spare vectors.

    After a trial, ``otherwise`` is told how many products are left, and may give the pairs itself.
    """
    V = np.random.default_rng(0).standard_normal((A.shape[0], count + 1 + SPARE))
    border, degree, products, tried = FIRST_BORDER, _FIRST_DEGREE, 0, False
    for _ in row_blocks(MOST_PRODUCTS // _FIRST_DEGREE, "eigenvectors", size=1):
        V = orthogonal(polynomial(A, V, border, degree), known)
        products += degree
        values, V, residuals = _turned(A, V)
        if (residuals <= np.maximum(_RESIDUAL * (1.0 - values), _ROUNDING))[:count].all():
            return values[: count + 1], V
        border = min(max(float(values[-1]), -0.5), 1.0 - 1e-9)
        growth = np.arccosh(max((2.0 * values[count - 1] + 1.0 - border) / (1.0 + border), 1.0 + 1e-12))
        degree = int(np.clip(np.ceil(8.0 / growth), 10, _MOST_DEGREE))
        if products > _TRIAL and not tried:
            tried = True
            if (found := otherwise(min(-np.log(_RESIDUAL) / growth, MOST_PRODUCTS))) is not None:
                return found
        if products > MOST_PRODUCTS:
            break
    raise InvalidInputError(
        message("n_components", EIGENVALUES_DISTINCT, count, "Take fewer components, or more neighbours.")
    )


def _turned(A: csr_array, V: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ritz values, largest first, their vectors, and the norms of the residuals (Rayleigh and Ritz)."""
    products = A @ V
    values, turned = eigh(V.T @ products)
    values, turned = values[::-1], turned[:, ::-1]
    V = V @ turned
    return values, V, np.linalg.norm(products @ turned - V * values, axis=0)


# ---- Chebyshev-filtered subspace iteration -------------------------------------------------------

_EXACT = 200  # rows whose eigenvectors are solved whole
SPARE = 4  # vectors beside the wanted ones: where the spectrum is dense they take the error
_DEGREE = 32  # products with the matrix before the vectors are made orthogonal again
_ROUNDS = 12
FIRST_BORDER = 0.9  # what the first filter lets through


def leading_eigenvectors(A: csr_array, count: int, *, known: np.ndarray, tol: float = 0.02) -> np.ndarray:
    """Eigenvectors of the ``count`` largest eigenvalues after the known one, of a spectrum in [-1, 1].

    ``known`` is the eigenvector of eigenvalue 1. A Chebyshev polynomial of A is large beyond a border and at
    most 1 below; the border rises to the last of the vectors that are kept. Ends when every wanted vector has
    a residual of at most ``tol`` of the gap between its eigenvalue and 1, or after 12 rounds of 32
    products each: ``O(nnz)`` a product and vector.

    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> path = csr_array(np.diag([0.5, 0.5], 1) + np.diag([0.5, 0.5], -1) + np.diag([0.5, 0.0, 0.5]))
    >>> leading_eigenvectors(path, 1, known=np.ones(3))[[0, 2]].round(3).ravel().tolist()
    [0.707, -0.707]
    """
    n = A.shape[0]
    known = known / np.linalg.norm(known)
    if n <= _EXACT or count + SPARE + 1 > n // 2:
        rest = lambda v: A @ v - known * (2.0 * (known @ v))  # noqa: E731 (the known one goes to -1)
        return top_eigenpairs(rest, n, count)[1]
    V = np.random.default_rng(0).standard_normal((n, count + SPARE))
    border = FIRST_BORDER
    with one_blas_thread():
        for _ in row_blocks(_ROUNDS, "spectral start", size=1):
            V = orthogonal(polynomial(A, V, border, _DEGREE), known)
            values, turned = eigh(V.T @ (A @ V))
            V, values = V @ turned[:, ::-1], values[::-1]
            wanted = V[:, :count]
            residuals = np.linalg.norm(A @ wanted - wanted * values[:count], axis=0)
            if (residuals <= tol * (1.0 - values[:count])).all():
                break
            border = min(max(border, float(values[-1])), 1.0 - 1e-9)
    return fixed_signs(np.ascontiguousarray(V[:, :count]))


def polynomial(A: csr_array, V: np.ndarray, border: float, degree: int) -> np.ndarray:
    """``T_m((2 A + 1 - border) / (1 + border)) V``, T_m the Chebyshev polynomial, by its recurrence."""
    scale, shift = 2.0 / (1.0 + border), (1.0 - border) / (1.0 + border)
    before, now = V, scale * (A @ V) + shift * V
    for _ in range(degree - 1):
        before, now = now, 2.0 * (scale * (A @ now) + shift * now) - before
    return now


def orthogonal(V: np.ndarray, known: np.ndarray) -> np.ndarray:
    """An orthonormal basis of what the columns span, without the known direction."""
    V = V / np.linalg.norm(V, axis=0)
    V = np.linalg.qr(V - np.outer(known, known @ V))[0]
    return np.linalg.qr(V - np.outer(known, known @ V))[0]  # again: the first leaves rounding of the known


# --------------------------------------------------------------------------------------------------
# Matrices of graphs: the alignment matrix as a sum of small dense blocks, and the normalized adjacency.


def sum_of_blocks(n: int, parts: Iterable[tuple[np.ndarray, np.ndarray]]) -> csr_array:
    """``sum_i S_i' B_i S_i``: a part has the rows (r, p) of r blocks, none twice, and the blocks (r, p, p).

    ``O(r p^2)`` time and memory for a part beside the sum. QueryEdges are added in the order of the parts.

    >>> rows, blocks = np.array([[0, 1], [1, 2]]), np.ones((2, 2, 2))
    >>> sum_of_blocks(3, [(rows, blocks)]).toarray().tolist()
    [[1.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 1.0]]
    """
    total = csr_array((n, n))
    for rows, blocks in parts:
        p = rows.shape[1]
        rows = rows.astype(np.int32)
        entries = np.repeat(rows, p, axis=1).ravel(), np.tile(rows, (1, p)).ravel()
        total = total + csr_array(coo_array((blocks.ravel(), entries), shape=(n, n)))
    return total


def normalized_adjacency(W: csr_array) -> tuple[csr_array, np.ndarray]:
    """``D^-1/2 W D^-1/2`` and the degrees D, the row sums of W; a row without weight keeps none.

    The normalised Laplacian is the identity less it.

    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> normalized, degrees = normalized_adjacency(csr_array([[0.0, 4.0], [4.0, 0.0]]))
    >>> normalized.toarray().tolist(), degrees.tolist()
    ([[0.0, 1.0], [1.0, 0.0]], [4.0, 4.0])
    """
    degrees = np.asarray(W.sum(axis=1)).ravel()
    root = np.divide(1.0, np.sqrt(degrees), out=np.zeros_like(degrees), where=degrees > 0)
    scale = diags_array(root)
    return csr_array(scale @ W @ scale), degrees
