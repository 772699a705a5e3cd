"""A Gaussian for each patch, a patch being a row and its neighbours.

The mean is over the s rows of a patch, the covariance has the divisor ``s - 1`` and is regularised
(:mod:`.regularization`), since fewer rows than features make it singular. Two forms give the same
divergences, to ``1e-8 (m + |b|)`` where the noise on the diagonal is at least 1e-6 of the mean variance of
the patch and its spread at least 1e-3 of the data's: the full one holds m×m matrices, the one of low rank
s×s ones; the cheaper is taken. The latter takes products of rows from the Gram matrix of the data where
that is precise enough, from the rows themselves elsewhere.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from .._core.arguments import as_numbers, as_positions
from .._core.errors import require, require_one_of
from .._core.runtime import checked_jobs, memory_budget, require_memory, row_blocks
from ..kernels._jit import threads
from ..kernels.densities.lowrank import patch_blocks
from .forms import FullForm, LowRankForm
from .patch_rows import BLOCK_NUMBERS, centred_blocks
from .regularization import Moments, Regularization, checked_regularization, noise_floor, scale_and_noise

FORMS = ("auto", "full", "low-rank")
_NEGLIGIBLE = 1e-14  # of the largest eigenvalue of a patch: what rounding leaves of zero
_SMALL_SPREAD = 1e-3  # of the data's: below that, centring a Gram matrix cancels too many digits
_GRAM_NOISE = 1e-6  # of the data's mean variance: with less, the rounding of the Gram matrix shows
_MOST_BYTES = 2**32  # of matrices m×m, on any machine
_AGREEING_NOISE = 1e-6  # of a patch's mean variance: with less, rounding tells the forms apart
_PRODUCT_SPEED = 10  # one product of large matrices does so many operations in the time of one elsewhere


class RowProducts:
    """All products of the centred rows of X: found where first asked for, kept for other patches of them."""

    def __init__(self, X: np.ndarray):
        self._X = X

    @cached_property
    def gram(self) -> np.ndarray:
        """(n, n)."""
        centred = self._X - self._X.mean(axis=0)
        return centred @ centred.T


def patch_members(indices: np.ndarray, first: np.ndarray | None = None) -> np.ndarray:
    """The rows of each patch, ``(n, k + 1)``: the row itself (``first``), then its neighbours."""
    most = np.iinfo(np.int64).max  # of which table they are is not known here
    indices = as_positions("indices", indices, most, ndim=2)
    first = np.arange(len(indices)) if first is None else as_positions("first", first, most)
    require(len(first) == len(indices), "first", f"a row for each of {len(indices)} lists", len(first))
    return np.column_stack([first, indices]).astype(np.int64)


def patch_gaussians(
    X: np.ndarray,
    members: np.ndarray,
    *,
    regularization: Regularization = 3.0,
    sizes: np.ndarray | None = None,
    floor: float | None = None,
    form: str = "auto",
    n_edges: int = 0,
    products: RowProducts | None = None,
    n_jobs: int | None = None,
) -> FullForm | LowRankForm:
    """The Gaussian of each patch of rows of ``X``, ready for divergences on about ``n_edges`` pairs.

    ``members`` is (p, s); of shorter patches only the first ``sizes`` entries count. ``floor`` is the
    least noise on a diagonal, by default 1e-12 of the mean variance of X. ``products`` of X may be shared
    by several calls.

    >>> import numpy as np
    >>> from isentropic.divergences import EDGE_DIVERGENCES, patch_gaussians
    >>> X = np.random.default_rng(0).normal(size=(6, 2))
    >>> patches = patch_gaussians(X, np.array([[0, 1, 2], [3, 4, 5]]))
    >>> EDGE_DIVERGENCES["kl"](patches, np.array([0]), np.array([1])).shape
    (1,)
    """
    checked_regularization(regularization)
    checked_jobs(n_jobs)
    require_one_of("form", form, FORMS)
    X = as_numbers("X", X)
    members = as_positions("members", members, len(X), ndim=2)
    must_be = "numbers of rows of X, at least two a patch"
    require(members.size > 0 and members.shape[1] >= 2, "members", must_be, members.shape)
    n_patches, most = members.shape
    sizes = np.full(n_patches, most) if sizes is None else as_positions("sizes", sizes, most + 1)
    right = len(sizes) == n_patches and int(sizes.min()) >= 2
    require(right, "sizes", f"a number from 2 to {most} for each of {n_patches} patches", sizes)
    floor = noise_floor(X) if floor is None else floor
    if form == "auto":
        form = cheapest_form(len(members), members.shape[1], X.shape[1], n_edges, regularization)
    if form == "full":
        return _full(X, members, sizes, regularization, floor, n_jobs)
    products = RowProducts(X) if products is None else products
    return _low_rank(X, members, sizes, regularization, floor, n_edges, products, n_jobs)


def cheapest_form(
    n_patches: int, size: int, n_features: int, n_edges: int, regularization: Regularization = 3.0
) -> str:
    """``"full"`` or ``"low-rank"``: the one with fewer operations, the latter where m×m is too large.

    The memory of the machine decides only where both agree, to ``1e-8 (m + |b|)`` for a divergence b.
    """
    m, s = n_features, size
    full = n_patches * (s * m**2 + m**3) + n_edges * 4 * m**2
    low_rank = n_patches * (s**2 * m + 10 * s**3) + n_edges * 2 * s**3
    budget, needed = memory_budget(), 16 * n_patches * m * m
    noisy = regularization in ("oas", "ledoit-wolf") or (
        not isinstance(regularization, str) and regularization >= _AGREEING_NOISE
    )
    if needed > _MOST_BYTES or (noisy and budget is not None and needed > budget // 4):
        return "low-rank"
    return "full" if full <= low_rank else "low-rank"


def _full(X, members, sizes, regularization, floor, n_jobs) -> FullForm:
    p, m = len(members), X.shape[1]
    what = f"Covariances of {p:,} patches in {m:,} dimensions"
    require_memory(16 * p * m * m, what, "Take form='low-rank'.")
    means, S = np.empty((p, m)), np.empty((p, m, m))
    for block, mu, C in centred_blocks(X, members, sizes):
        means[block] = mu
        covariances = C.swapaxes(1, 2) @ C / (sizes[block] - 1)[:, None, None]
        traces = np.trace(covariances, axis1=1, axis2=2)
        units = np.where(traces > 0, traces, 1.0)
        shares = covariances / units[:, None, None]
        squares = np.einsum("pab,pab->p", shares, shares)
        fourths = ((np.einsum("psa,psa->ps", C, C) / units[:, None]) ** 2).sum(axis=1)
        smallest, largest = _extremes(covariances) if regularization == "reference" else (traces, traces)
        moments = Moments(traces, squares, fourths, smallest, largest, sizes[block], m)
        scale, noise = scale_and_noise(regularization, moments, floor)
        covariances *= scale[:, None, None]
        covariances[:, np.arange(m), np.arange(m)] += noise[:, None]
        S[block] = covariances
    return FullForm(means, S, n_jobs=n_jobs)


def _extremes(S: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    values = np.linalg.eigvalsh(S)
    return values[:, 0], values[:, -1]


def _low_rank(X, members, sizes, regularization, floor, n_edges, products, n_jobs) -> LowRankForm:
    p, s = members.shape
    n, m = X.shape
    what = f"Patches of {s:,} rows around each of {p:,}"
    require_memory(16 * p * s * s, what, "Take fewer neighbours.")  # products, and axes from them
    gram, small = None, np.ones(p, bool)
    blocks = np.empty((p, s, s))
    if _gram_pays(n, m, s, n_edges):
        gram = _gram(products.gram, members, sizes, blocks, n_jobs)
        total = X.var(axis=0).sum()
        small = np.trace(blocks, axis1=1, axis2=2) / (sizes - 1) < _SMALL_SPREAD**2 * total
    _fill_blocks(X, members, sizes, small, blocks)
    axes, spectrum, moments = _spectra(blocks, sizes, min(s - 1, m), m)
    scale, noise = scale_and_noise(regularization, moments, floor)
    if gram is not None and (coarse := ~small & (noise < _GRAM_NOISE * total / m)).any():
        _fill_blocks(X, members, sizes, coarse, blocks)
        axes, spectrum, moments = _spectra(blocks, sizes, min(s - 1, m), m)
        scale, noise = scale_and_noise(regularization, moments, floor)
        small |= coarse
    spectrum *= scale[:, None]
    return LowRankForm(X, members, sizes, axes, spectrum, noise, scale / (sizes - 1), gram=gram, small=small,
                       n_jobs=n_jobs)  # fmt: skip


def _fill_blocks(X, members, sizes, chosen, blocks) -> None:
    """``C C'`` of the chosen patches from their rows."""
    rows = np.flatnonzero(chosen)
    for block, _, C in centred_blocks(X, members[rows], sizes[rows]):
        blocks[rows[block]] = C @ C.swapaxes(1, 2)


def _spectra(blocks, sizes, rank, m) -> tuple[np.ndarray, np.ndarray, Moments]:
    """Axes and eigenvalues of the patches from their products ``C C'``, and the moments of S."""
    p, s, _ = blocks.shape
    axes, spectrum = np.empty((p, s, rank)), np.empty((p, rank))
    for block in row_blocks(p, "patches", size=max(1, BLOCK_NUMBERS // s**2)):
        values, vectors = np.linalg.eigh(blocks[block])
        values, vectors = values[:, -rank:], vectors[:, :, -rank:]
        kept = (values > _NEGLIGIBLE * values[:, -1:]) & (values > 0)
        values = np.where(kept, values, 0.0)
        roots = np.sqrt(np.where(kept, values, np.inf))
        axes[block] = vectors / roots[:, None, :]  # zero where nothing is kept
        spectrum[block] = values / (sizes[block] - 1)[:, None]
    norms = np.diagonal(blocks, axis1=1, axis2=2)
    smallest = spectrum[:, 0] if rank == m else np.zeros(p)
    traces = spectrum.sum(axis=1)
    units = np.where(traces > 0, traces, 1.0)[:, None]
    moments = Moments(traces, ((spectrum / units) ** 2).sum(axis=1), ((norms / units) ** 2).sum(axis=1),
                      smallest, spectrum[:, -1], sizes, m)  # fmt: skip
    return axes, spectrum, moments


def _gram_pays(n: int, m: int, s: int, n_edges: int) -> bool:
    """Whether all products of rows cost less than those that the edges need, and fit."""
    budget = memory_budget()
    fits = budget is None or 8 * n * n <= budget // 4
    return fits and n * n * m / _PRODUCT_SPEED < n_edges * s * s * m


def _gram(G, members, sizes, blocks, n_jobs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Products of all rows, centred, with ``C mu`` and ``mu'mu`` of each patch."""
    own, norms = np.empty(members.shape), np.empty(len(members))
    with threads(n_jobs):
        patch_blocks(G, members, sizes, blocks, own, norms)
    return G, own, norms
