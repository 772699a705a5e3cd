"""Many Gaussians at once, in the form that makes pairs of them cheap.

Both forms answer the same three questions, and every divergence is a formula of the answers:
``log_dets``, ``plain(heads, tails)`` and ``mixed(heads, tails, weight)``; see :mod:`..kernels.gaussians`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Protocol

import numpy as np

from .._core.errors import require
from .._core.runtime import row_blocks
from ..kernels import gaussians
from ..kernels._jit import threads
from ..kernels.gaussians import near_terms, near_terms_from_rows, terms_from_gram, terms_from_rows
from . import large_covariances

# ---- The rows of patches, some patches at a time -------------------------------------------------


BLOCK_NUMBERS = 2**21  # numbers in a block of patches: 16 MiB


def centred_blocks(X, members, sizes) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
    """Means and centred rows of the patches, some patches at a time; rows beyond a patch's size are 0."""
    absent = np.arange(members.shape[1]) >= sizes[:, None]
    size = max(1, BLOCK_NUMBERS // (members.shape[1] * X.shape[1]))
    for block in row_blocks(len(members), "patches", size=size):
        C = X[members[block]]
        C[absent[block]] = 0.0
        means = C.sum(axis=1) / sizes[block, None]
        C -= means[:, None]
        C[absent[block]] = 0.0
        yield block, means, C


def patch_means(X: np.ndarray, members: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The mean of each patch, (p, m)."""
    means = np.empty((len(members), X.shape[1]))
    for block, mu, _ in centred_blocks(X, members, sizes):
        means[block] = mu
    return means


_WORTH_THREADS = 100_000  # operations: below that, waking threads costs more than the work
_NEAR = 0.05  # Bhattacharyya distances below it are small differences of large numbers
_STEPS_AT_ONCE = 2**30  # of factorizations, a second
_EDGES_AT_ONCE = 1024  # the first block of pairs; the next ones take as many as fit a quarter of a second


class Marginals(Protocol):
    """What a divergence asks of many Gaussians if features count one by one."""

    @property
    def means(self) -> np.ndarray:
        """(p, m)."""

    @property
    def variances(self) -> np.ndarray:
        """Diagonals of the covariances, (p, m)."""


class Gaussians(Marginals, Protocol):
    """What a divergence asks of many Gaussians; ``heads`` and ``tails`` number the two of each pair."""

    @property
    def n_features(self) -> int:
        """m."""

    @property
    def log_dets(self) -> np.ndarray:
        """``log|S|``, (p,)."""

    def covariance(self, i: int) -> np.ndarray:
        """The covariance of one of them, (m, m)."""

    def plain(self, heads: np.ndarray, tails: np.ndarray) -> np.ndarray:
        """``tr(S2^-1 S1), tr(S1^-1 S2), delta' S2^-1 delta, delta' S1^-1 delta`` of each pair."""

    def mixed(self, heads: np.ndarray, tails: np.ndarray, weight: float) -> np.ndarray:
        """``log|S| - (1-w) log|S1| - w log|S2|, delta' S^-1 delta``, with ``S = (1-w) S1 + w S2``."""


class FullForm:
    """Covariance matrices as they are: ``8 p m^2`` bytes, twice that once precisions are asked for."""

    def __init__(self, means: np.ndarray, covariances: np.ndarray, *, n_jobs: int | None = None):
        self.means = means
        self._covariances = covariances
        self._n_jobs = n_jobs if covariances.size > _WORTH_THREADS else 1
        is_large = means.shape[1] > large_covariances.LARGE
        self._factors = large_covariances if is_large else gaussians

    @property
    def n_features(self) -> int:
        return self.means.shape[1]

    @cached_property
    def log_dets(self) -> np.ndarray:
        found = np.empty(len(self.means))
        with threads(self._n_jobs):
            self._factors.log_determinants(self._covariances, found)
        return _positive_definite(found)

    @cached_property
    def _precisions(self) -> np.ndarray:
        found, log_dets = np.empty_like(self._covariances), np.empty(len(self.means))
        for block in row_blocks(len(found), "precisions", size=_matrices_at_once(found.shape[1]), adapt=True):
            with threads(self._n_jobs):
                self._factors.precisions(self._covariances[block], found[block], log_dets[block])
        self.log_dets = _positive_definite(log_dets)
        return found

    @property
    def variances(self) -> np.ndarray:
        return np.diagonal(self._covariances, axis1=1, axis2=2)

    def covariance(self, i: int) -> np.ndarray:
        return self._covariances[i]

    def plain(self, heads: np.ndarray, tails: np.ndarray) -> np.ndarray:
        _check_pairs(heads, tails, len(self.means))
        P, out = self._precisions, np.empty((len(heads), 4))
        for block in row_blocks(len(heads), "divergences", size=_EDGES_AT_ONCE, adapt=True):
            with threads(self._n_jobs):
                gaussians.plain_terms(
                    self.means, self._covariances, P, heads[block], tails[block], out[block]
                )
        return out

    def mixed(self, heads: np.ndarray, tails: np.ndarray, weight: float) -> np.ndarray:
        _check_pairs(heads, tails, len(self.means))
        log_dets, out = self.log_dets, np.empty((len(heads), 2))
        for block in row_blocks(
            len(heads), "divergences", size=_matrices_at_once(self.n_features), adapt=True
        ):
            with threads(self._n_jobs):
                self._factors.mixed_terms(self.means, self._covariances, log_dets, heads[block], tails[block],
                                          weight, out[block])  # fmt: skip

        def again(near: np.ndarray, part: np.ndarray) -> None:
            near_terms(self.means, self._covariances, heads[near], tails[near], part)

        return _with_near_pairs(out, weight, again, self._n_jobs)


def _matrices_at_once(m: int) -> int:
    """How many matrices are factored between two reports: of large ones as few as keep two threads busy."""
    return max(2, min(64, _STEPS_AT_ONCE // m**3))


def _with_near_pairs(out: np.ndarray, weight: float, again: Callable, n_jobs: int | None) -> np.ndarray:
    """Mixed terms with those of nearly equal Gaussians computed ``again``, without cancellation."""
    if weight != 0.5:
        return out
    chosen = np.flatnonzero(out @ [0.5, 0.125] < _NEAR)
    for block in row_blocks(len(chosen), "near pairs", size=64, adapt=True):
        near = chosen[block]
        part = np.empty((len(near), 2))
        with threads(n_jobs):
            again(near, part)
        out[near] = np.where(np.isnan(part), out[near], part)
    return out


def _check_pairs(heads: np.ndarray, tails: np.ndarray, count: int) -> None:
    # kernels follow these numbers without checking bounds
    least = min(heads.min(initial=0), tails.min(initial=0))
    most = max(heads.max(initial=-1), tails.max(initial=-1))
    fits = heads.shape == tails.shape and heads.ndim == 1 and least >= 0 and most < count
    must_be = f"numbers of {count} Gaussians, in pairs"
    require(fits, "heads and tails", must_be, (heads.shape, tails.shape, int(least), int(most)))


def _positive_definite(log_dets: np.ndarray) -> np.ndarray:
    failed = int(np.isnan(log_dets).sum())
    hint = "Add a little to its diagonal, or take another regularization."
    must_be = "positive definite"
    require(failed == 0, "A covariance", must_be, f"{failed} of {len(log_dets)} that are not", hint)
    return log_dets


class LowRankForm:
    """``U diag(l) U' + e I`` by patches of rows of X: ``O(p s (s + m / s))`` numbers, nothing of size m×m.

    ``axes`` are ``V M^(-1/2)`` of each patch, from ``C C' = V M V'``; see :mod:`..kernels.lowrank`. The
    covariance is ``scales C'C + noise I``. With
    ``gram``, the products of all centred rows and what goes with them, an edge costs ``O(s^3)``, without
    ``O(s^2 m + s^3)``.
    """

    def __init__(
        self,
        X: np.ndarray,
        members: np.ndarray,
        sizes: np.ndarray,
        axes: np.ndarray,
        spectrum: np.ndarray,
        noise: np.ndarray,
        scales: np.ndarray,
        *,
        gram: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None,
        small: np.ndarray | None = None,
        n_jobs: int | None = None,
    ):
        self.X, self.members, self.sizes = X, members, sizes
        self.axes, self.spectrum, self.noise, self._scales = axes, spectrum, noise, scales
        self._gram, self._small = gram, small
        self._n_jobs = n_jobs if members.size * X.shape[1] > _WORTH_THREADS else 1

    @property
    def n_features(self) -> int:
        return self.X.shape[1]

    @cached_property
    def means(self) -> np.ndarray:
        return patch_means(self.X, self.members, self.sizes)

    @cached_property
    def log_dets(self) -> np.ndarray:
        m, r = self.X.shape[1], self.spectrum.shape[1]
        return (m - r) * np.log(self.noise) + np.log(self.spectrum + self.noise[:, None]).sum(axis=1)

    @property
    def variances(self) -> np.ndarray:
        out = np.empty((len(self.members), self.n_features))
        for i, size in enumerate(self.sizes):
            U = (self.X[self.members[i, :size]] - self.means[i]).T @ self.axes[i, :size]
            out[i] = (U * U) @ self.spectrum[i] + self.noise[i]
        return out

    def covariance(self, i: int) -> np.ndarray:
        size = self.sizes[i]
        U = (self.X[self.members[i, :size]] - self.means[i]).T @ self.axes[i, :size]
        return (U * self.spectrum[i]) @ U.T + self.noise[i] * np.eye(len(U))

    def plain(self, heads: np.ndarray, tails: np.ndarray) -> np.ndarray:
        return self._terms(heads, tails, np.nan, np.empty((len(heads), 4)))

    def mixed(self, heads: np.ndarray, tails: np.ndarray, weight: float) -> np.ndarray:
        require(0 <= weight <= 1, "order", "in [0, 1] for patches of low rank", weight,
                "Take another divergence, or regularize and use the full form.")  # fmt: skip
        out = self._terms(heads, tails, weight, np.empty((len(heads), 2)))

        def again(near: np.ndarray, part: np.ndarray) -> None:
            near_terms_from_rows(self.X, self.members, self.sizes, self.means, self._scales, self.noise,
                                 heads[near], tails[near], part)  # fmt: skip

        return _with_near_pairs(out, weight, again, self._n_jobs)

    def _terms(self, heads, tails, weight, out):
        _check_pairs(heads, tails, len(self.members))
        if self._gram is None:
            self._fill(heads, tails, weight, out, by_gram=False)
            return out
        small = self._small[heads] | self._small[tails]
        for chosen, by_gram in ((np.flatnonzero(~small), True), (np.flatnonzero(small), False)):
            part = np.empty((len(chosen), out.shape[1]))
            self._fill(heads[chosen], tails[chosen], weight, part, by_gram=by_gram)
            out[chosen] = part
        return out

    def _fill(self, heads, tails, weight, out, *, by_gram):
        spectrum = (self.axes, self.spectrum, self.noise)
        for block in row_blocks(len(heads), "divergences", size=_EDGES_AT_ONCE // 8, adapt=True):
            edges = heads[block], tails[block], weight, out[block]
            with threads(self._n_jobs):
                if by_gram:
                    G, own, norms = self._gram
                    m = self.X.shape[1]
                    terms_from_gram(G, self.members, self.sizes, own, norms, *spectrum, m, *edges)
                else:
                    terms_from_rows(self.X, self.members, self.sizes, self.means, *spectrum, *edges)
