"""A Gaussian for each patch, a patch being a row and its neighbours.

The mean is over the s rows of a patch, the covariance has the divisor ``s - 1`` and is regularised
(:mod:`.regularization`), since fewer rows than features make it singular. Two forms give the same
divergences, to ``1e-8 (m + |b|)`` where the noise on the diagonal is at least 1e-6 of the mean variance of
the patch and its spread at least 1e-3 of the data's: the full one holds m×m matrices, the one of low rank
s×s ones; the cheaper is taken. The latter takes products of rows from the Gram matrix of the data where
that is precise enough, from the rows themselves elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .._core.arguments import as_numbers, as_positions
from .._core.errors import TableWarning, require, require_number, require_one_of, warn
from .._core.runtime import checked_jobs, memory_budget, require_memory, row_blocks
from .._core.values import NeighborGraph
from ..kernels._jit import threads
from ..kernels.gaussians import patch_blocks
from .forms import BLOCK_NUMBERS, FullForm, Gaussians, LowRankForm, centred_blocks
from .gaussian_divergences import EDGE_DIVERGENCES

# ---- Edges of a graph, weighed anew by what lies around their ends -------------------------------


_LEAST, _MOST = 1e-140, 1e150  # whose squares are numbers: scaling takes those of whole paths
_ROUNDING = 1e-10  # nats: patches of the same rows are so far apart, or less
_ALL_ALIKE = (
    "All neighbourhoods hold the same rows: every divergence is 0 up to rounding, and so is the extent of "
    "the map. Take fewer neighbours, or a smaller percentile."
)


def reweighted(graph: NeighborGraph, weigh: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> NeighborGraph:
    """The same edges, bridges included; ``weigh(heads, tails)`` is asked once for each, heads < tails.

    An edge of length 0 keeps it: equal rows have equal surroundings, and rounding must not part them.
    """
    rows = np.repeat(np.arange(graph.n_rows), np.diff(graph.indptr))
    upper = rows < graph.indices
    heads, tails = rows[upper], graph.indices[upper].astype(np.int64)
    values = np.where(graph.weights[upper] > 0, checked_weights(weigh(heads, tails), len(heads)), 0.0)
    most = float(values.max(initial=0.0))
    must_be = f"0 on every edge, or between {_LEAST:g} and {_MOST:g} on the longest"
    hint = "Standardise the features, or set parameters in the units of the data."
    require(most == 0 or _LEAST < most < _MOST, "A divergence", must_be, most, hint)
    if most < _ROUNDING and graph.weights.any():
        warn(_ALL_ALIKE, TableWarning)
    weights = np.empty(len(rows))
    weights[upper] = values
    weights[~upper] = values[np.lexsort((heads, tails))]  # the same edges, in the order of their other end
    return replace(graph, weights=weights)


def checked_weights(values: np.ndarray, count: int) -> np.ndarray:
    """Weights that a path can add up: one for each edge, finite, not negative."""
    values = np.asarray(values, float)
    require(values.shape == (count,), "A divergence", f"one number for each of {count} edges", values.shape)
    least, most = float(values.min(initial=0.0)), float(values.max(initial=0.0))
    must_be = "finite and at least 0 on every edge"
    fits = least >= 0 and most < np.inf and not np.isnan(values).any()
    require(fits, "A divergence", must_be, (least, most), "Standardise the features, or regularize more.")
    return values


# ---- What makes the covariance of a few rows invertible: ``scale S + noise I`` -------------------


REGULARIZATIONS = ("oas", "ledoit-wolf", "reference")
REFERENCE_NOISE = 0.001  # added to the diagonal by the published programs
_REFERENCE_EPS = 2.2e-16  # where the reciprocal of the condition number is below it
_FLOOR = 1e-12  # of the mean variance of the data: keeps a patch of equal rows finite

Regularization = float | str


@dataclass(frozen=True, slots=True)
class Moments:
    """What the regularisations ask of covariances S of patches of ``sizes`` rows, divisor ``sizes - 1``."""

    traces: np.ndarray  # tr(S)
    # Of S and of the squared distances to the mean over tr(S), 1 where that is 0: fourth powers may overflow.
    squares: np.ndarray  # sum of the squared entries of S
    fourths: np.ndarray  # sum over the rows of the fourth power of the distance to the mean
    smallest: np.ndarray  # least and largest eigenvalue of S
    largest: np.ndarray
    sizes: np.ndarray
    n_features: int


def checked_regularization(regularization: Regularization) -> Regularization:
    """A share of the mean variance, or the name of a rule."""
    if isinstance(regularization, str) and regularization in REGULARIZATIONS:
        return regularization
    must_be = f"a number of at least 0, or one of {', '.join(REGULARIZATIONS)}"
    return require_number("regularization", regularization, must_be)


def noise_floor(X: np.ndarray) -> float:
    """The least noise: 1e-12 of the mean variance of the features; 1 where no feature varies."""
    variance = float(X.var(axis=0, ddof=1).mean())
    return _FLOOR * variance if variance > 0 else 1.0


def scale_and_noise(
    regularization: Regularization, S: Moments, floor: float
) -> tuple[np.ndarray, np.ndarray]:
    """``scale`` and ``noise`` of each patch: its covariance becomes ``scale S + noise I``.

    A number c: ``noise = c tr(S)/m``. ``"oas"``, ``"ledoit-wolf"``: shrinkage r towards a multiple of the
    identity by the formulas of those names, ``scale = 1 - r``, ``noise = r tr(S)/m``. ``"reference"``:
    0.001, only where S is singular as far as double precision can tell. Never less than ``floor``, nor than
    1e-12 of the mean variance of the patch, which a row far from all others makes large.
    """
    mean_variances = S.traces / S.n_features
    shrinkage = np.zeros(len(mean_variances))
    if regularization == "reference":
        # a singular matrix of m rows has eigenvalues of up to about m eps in place of zero
        singular = S.smallest <= S.n_features * _REFERENCE_EPS * S.largest
        noise = np.where(singular, REFERENCE_NOISE, 0.0)
    elif isinstance(regularization, str):
        shrinkage = _oas(S) if regularization == "oas" else _ledoit_wolf(S)
        noise = shrinkage * mean_variances
    else:
        noise = float(regularization) * mean_variances
    return 1.0 - shrinkage, np.maximum(noise, np.maximum(floor, _FLOOR * mean_variances))


def _oas(S: Moments) -> np.ndarray:
    """Oracle approximating shrinkage (Chen, Wiesel, Eldar and Hero 2010), as scikit-learn has it."""
    m = S.n_features
    if m == 1:
        return np.zeros(len(S.traces))
    mean_square, squared_mean = S.squares / m**2, (S.traces > 0) / m**2
    above = mean_square + squared_mean
    below = (S.sizes + 1) * (mean_square - squared_mean / m)
    return np.minimum(np.divide(above, below, out=np.ones_like(above), where=below > 0), 1.0)


def _ledoit_wolf(S: Moments) -> np.ndarray:
    """Ledoit and Wolf (2004): the variance of S over its distance to the target; divisor ``sizes``."""
    m, n = S.n_features, S.sizes
    unbiased = (n - 1) / n
    squares, traces = unbiased**2 * S.squares, unbiased * (S.traces > 0)
    distance = np.maximum(squares - traces**2 / m, 0.0) / m
    variance = np.minimum((S.fourths / n - squares) / (m * n), distance)
    return np.divide(np.maximum(variance, 0.0), distance, out=np.zeros_like(distance), where=distance > 0)


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


# ---- Patches of a table as one value: what compares two of them, and how new rows join them ------


_NEW_AT_ONCE = 64  # new rows whose patches, and those of their neighbours, are held together


@dataclass(frozen=True, slots=True)
class Patches:
    """Rows with their neighbours, a Gaussian for each, and the divergence between two of these."""

    X: np.ndarray  # (n, m)
    neighbors: np.ndarray  # (p, k) the rows of a patch beside its own, nearest first
    divergence: str | Callable[[Gaussians, np.ndarray, np.ndarray], np.ndarray]
    regularization: Regularization
    root: bool  # whether a weight is the root of the divergence
    floor: float  # least noise on a diagonal
    form: str  # of the covariances: "full" or "low-rank"
    own: np.ndarray | None = None  # (p,) the row that each patch is of; None: patch i is of row i
    products: RowProducts | None = None  # of X, for the many edges of a whole graph

    def weights(self, heads: np.ndarray, tails: np.ndarray, *, n_jobs: int | None = None) -> np.ndarray:
        """The divergence, or its root, between both patches of every pair."""
        gaussians = patch_gaussians(
            self.X,
            patch_members(self.neighbors, self.own),
            regularization=self.regularization,
            form=self.form,
            floor=self.floor,
            n_edges=0 if self.products is None else len(heads),
            products=self.products,
            n_jobs=n_jobs,
        )
        formula = self.divergence if callable(self.divergence) else EDGE_DIVERGENCES[self.divergence]
        values = checked_weights(formula(gaussians, heads, tails), len(heads))
        return np.sqrt(values) if self.root else values

    def of_new(self, X: np.ndarray, near: np.ndarray) -> tuple[Patches, np.ndarray]:
        """Patches of new rows with the rows ``near`` them, (b, k), behind the patches of the latter.

        Also the numbers of the latter, in the shape of ``near``.
        """
        known, numbers = np.unique(near, return_inverse=True)
        # Fewer rows may be left to be neighbours than at the fit, where only the largest part was fitted.
        old = self.neighbors[known, : near.shape[1]]
        used = np.unique(np.concatenate([known, old.ravel()]))
        own = np.append(np.searchsorted(used, known), len(used) + np.arange(len(X)))
        lists = np.searchsorted(used, np.concatenate([old, near]))
        rows = np.concatenate([self.X[used], X])
        return replace(self, X=rows, neighbors=lists, own=own, products=None), numbers.reshape(near.shape)

    def to_new(self, X: np.ndarray, near: np.ndarray, *, n_jobs: int | None = None) -> np.ndarray:
        """Weights, (b, k), between the patches of new rows and those of rows ``near`` them; row by row."""
        weights = np.empty(near.shape)
        for block in row_blocks(len(X), "divergences of new rows", size=_NEW_AT_ONCE):
            both, tails = self.of_new(X[block], near[block])
            heads = tails.max() + 1 + np.repeat(np.arange(len(tails)), tails.shape[1])
            weights[block] = both.weights(heads, tails.ravel(), n_jobs=n_jobs).reshape(tails.shape)
        return weights
