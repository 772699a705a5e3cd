"""Divergences between two Gaussians, or stacks of them: ``(mean1, covariance1, mean2, covariance2)``.

Means are ``(..., m)``, covariances ``(..., m, m)``, or plain numbers in one dimension; leading axes
broadcast. Cholesky factors, ``O(m^3)`` a pair.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from .._core.arguments import as_numbers
from .._core.errors import InvalidInputError, require, require_number
from .forms import FullForm, Gaussians, Marginals

# --------------------------------------------------------------------------------------------------
# Divergences between Gaussians p = N(mu1, S1) and q = N(mu2, S2), each written once, for many pairs.
#
# Every function takes a form of many Gaussians (:class:`.forms.Gaussians`) and the numbers of the first and
# of the second of each pair, and returns one number a pair. ``delta = mu1 - mu2``, m is the dimension.


_ORDER_OF_KL = 1e-4  # Rényi orders this near to 1 are the KL divergence


def kl(p: Gaussians, heads: np.ndarray, tails: np.ndarray) -> np.ndarray:
    """``1/2 [ log(|S2|/|S1|) - m + tr(S2^-1 S1) + delta' S2^-1 delta ]``."""
    terms, m = p.plain(heads, tails), p.n_features
    return _not_negative(0.5 * (p.log_dets[tails] - p.log_dets[heads] - m + terms[:, 0] + terms[:, 2]))


def symmetrised_kl(p: Gaussians, heads: np.ndarray, tails: np.ndarray) -> np.ndarray:
    """``1/4 [ tr(S1^-1 S2 + S2^-1 S1) + delta'(S1^-1 + S2^-1) delta ] - m/2``."""
    return _not_negative(0.25 * p.plain(heads, tails).sum(axis=1) - 0.5 * p.n_features)


def bhattacharyya(p: Gaussians, heads: np.ndarray, tails: np.ndarray) -> np.ndarray:
    """``1/8 delta' S^-1 delta + 1/2 log(|S| / sqrt(|S1||S2|))``, ``S = (S1 + S2)/2``."""
    log_excess, squared = p.mixed(heads, tails, 0.5).T
    return _not_negative(squared / 8 + log_excess / 2)


def hellinger(p: Gaussians, heads: np.ndarray, tails: np.ndarray) -> np.ndarray:
    """``sqrt(1 - exp(-Bhattacharyya))``: a metric, in [0, 1]."""
    return np.sqrt(-np.expm1(-bhattacharyya(p, heads, tails)))


def jeffreys_matusita(p: Gaussians, heads: np.ndarray, tails: np.ndarray) -> np.ndarray:
    """``sqrt(2 (1 - exp(-Bhattacharyya)))``."""
    return np.sqrt(2.0) * hellinger(p, heads, tails)


def cauchy_schwarz(p: Gaussians, heads: np.ndarray, tails: np.ndarray) -> np.ndarray:
    """``1/2 log|S1+S2| - 1/4 log|S1||S2| - m/2 log 2 + 1/2 delta'(S1+S2)^-1 delta``."""
    log_excess, squared = p.mixed(heads, tails, 0.5).T  # of (S1 + S2)/2: the logarithms of 2 cancel
    return _not_negative(squared / 4 + log_excess / 2)


def renyi(p: Gaussians, heads: np.ndarray, tails: np.ndarray, order: float = 0.5) -> np.ndarray:
    """``a/2 delta' S^-1 delta - 1/(2(a-1)) log(|S| / (|S1|^(1-a) |S2|^a))``, ``S = a S2 + (1-a) S1``.

    Near ``a = 1`` it is the KL divergence. S must be positive definite, which it is for 0 < a < 1.
    """
    if abs(order - 1) < _ORDER_OF_KL:
        return kl(p, heads, tails)
    log_excess, squared = p.mixed(heads, tails, order).T
    failed = np.isnan(log_excess)
    if failed.any():
        raise InvalidInputError(
            f"The Rényi divergence of order {order} must have a positive definite a S2 + (1-a) S1, got "
            f"{int(failed.sum())} of {len(failed)} pairs where it is not. Take an order nearer to [0, 1]."
        )
    value = order / 2 * squared - log_excess / (2 * (order - 1))
    return _not_negative(value) if order > 0 else value


def fisher_rao(p: Marginals, heads: np.ndarray, tails: np.ndarray) -> np.ndarray:
    """Fisher-Rao distance of the diagonal Gaussians: ``sqrt(sum_f d_f^2)``, with s the deviations and

    ``d_f = sqrt(2) arccosh(1 + [ (mu1-mu2)^2/2 + (s1-s2)^2 ] / (2 s1 s2))``. ``O(m)`` a pair.
    """
    s = np.sqrt(p.variances)
    out = np.empty(len(heads))
    for start in range(0, len(heads), 4096):  # in parts: pairs times features may be many
        i, j = heads[start : start + 4096], tails[start : start + 4096]
        excess = ((p.means[i] - p.means[j]) ** 2 / 2 + (s[i] - s[j]) ** 2) / (2 * s[i] * s[j])
        # arccosh(1 + x), accurate for small x
        d = np.log1p(excess + np.sqrt(excess * (excess + 2)))
        out[start : start + 4096] = np.sqrt(2 * (d**2).sum(axis=1))
    return out


def _not_negative(values: np.ndarray) -> np.ndarray:
    """Rounding takes the divergence of two nearly equal Gaussians a little below zero."""
    return np.maximum(values, 0.0)


# What a method knows by name: the symmetric ones.
EDGE_DIVERGENCES = {
    "kl": symmetrised_kl,
    "bhattacharyya": bhattacharyya,
    "hellinger": hellinger,
    "jeffreys-matusita": jeffreys_matusita,
    "cauchy-schwarz": cauchy_schwarz,
    "renyi": renyi,
    "fisher-rao": fisher_rao,
}


# ---- Divergences between densities given by their values on a grid, or between probability vectors ----
#
# The last axis is the grid, leading axes broadcast. ``step`` is the distance between grid points; 1, the
# default, is for probabilities that sum to one. Values are floored at 1e-300 before a logarithm is taken.


SMALLEST_DENSITY = 1e-300


def grid_kl(p: npt.ArrayLike, q: npt.ArrayLike, *, step: float = 1.0):
    """``step sum p log(p/q)``.

    >>> round(grid_kl([0.5, 0.5], [0.25, 0.75]), 4)
    0.1438
    """
    p, q, step = _densities(p, q, step)
    return number_or_array(step * (p * (_log(p) - _log(q))).sum(axis=-1))


def grid_symmetrised_kl(p: npt.ArrayLike, q: npt.ArrayLike, *, step: float = 1.0):
    """``1/2 [ KL(p, q) + KL(q, p) ]``, that is ``step/2 sum (p - q) log(p/q)``.

    >>> round(grid_symmetrised_kl([0.5, 0.5], [0.25, 0.75]), 4)
    0.1373
    """
    p, q, step = _densities(p, q, step)
    return number_or_array(step / 2 * ((p - q) * (_log(p) - _log(q))).sum(axis=-1))


def total_variation(p: npt.ArrayLike, q: npt.ArrayLike, *, step: float = 1.0):
    """``step/2 sum |p - q|``, in [0, 1].

    >>> total_variation([0.5, 0.5], [0.25, 0.75])
    0.25
    """
    p, q, step = _densities(p, q, step)
    return number_or_array(step / 2 * np.abs(p - q).sum(axis=-1))


def grid_hellinger(p: npt.ArrayLike, q: npt.ArrayLike, *, step: float = 1.0):
    """``sqrt( step/2 sum (sqrt(p) - sqrt(q))^2 )``, in [0, 1].

    >>> round(grid_hellinger([1.0, 0.0], [0.0, 1.0]), 4)
    1.0
    """
    p, q, step = _densities(p, q, step)
    return number_or_array(np.sqrt(step / 2 * ((np.sqrt(p) - np.sqrt(q)) ** 2).sum(axis=-1)))


def number_or_array(values: np.ndarray) -> float | np.ndarray:
    """A plain number for a single pair."""
    return float(values) if np.ndim(values) == 0 else values


def _log(p: np.ndarray) -> np.ndarray:
    return np.log(np.maximum(p, SMALLEST_DENSITY))


def _densities(p: npt.ArrayLike, q: npt.ArrayLike, step: float) -> tuple[np.ndarray, np.ndarray, float]:
    p, q = as_numbers("p", p, None), as_numbers("q", q, None)
    for name, values in (("p", p), ("q", q)):
        is_density = values.ndim >= 1 and values.min(initial=0.0) >= 0
        require(is_density, name, "densities of at least 0 on a grid", values)
    require(p.shape[-1] == q.shape[-1], "q", f"on the grid of p, {p.shape[-1]} points", q.shape[-1])
    return p, q, require_number("step", step, "a positive distance between grid points", above=0)


Array = npt.ArrayLike


def kl_divergence(mean1: Array, covariance1: Array, mean2: Array, covariance2: Array):
    """Kullback-Leibler divergence ``KL(p, q)``.

    >>> round(kl_divergence(0.0, 1.0, 1.0, 1.0), 6)
    0.5
    """
    return _between(kl, mean1, covariance1, mean2, covariance2)


def symmetrised_kl_divergence(mean1: Array, covariance1: Array, mean2: Array, covariance2: Array):
    """``1/2 [ KL(p, q) + KL(q, p) ]``.

    >>> round(symmetrised_kl_divergence([0.0, 0.0], [[1, 0], [0, 1]], [1.0, 0.0], [[1, 0], [0, 1]]), 6)
    0.5
    """
    return _between(symmetrised_kl, mean1, covariance1, mean2, covariance2)


def bhattacharyya_distance(mean1: Array, covariance1: Array, mean2: Array, covariance2: Array):
    """``-log`` of the Bhattacharyya coefficient.

    >>> round(bhattacharyya_distance(0.0, 1.0, 2.0, 1.0), 6)
    0.5
    """
    return _between(bhattacharyya, mean1, covariance1, mean2, covariance2)


def bhattacharyya_coefficient(mean1: Array, covariance1: Array, mean2: Array, covariance2: Array):
    """``∫ sqrt(p q)``, in [0, 1]; 1 for equal Gaussians.

    >>> round(bhattacharyya_coefficient(0.0, 1.0, 0.0, 1.0), 6)
    1.0
    """
    return number_or_array(np.exp(-bhattacharyya_distance(mean1, covariance1, mean2, covariance2)))


def hellinger_distance(mean1: Array, covariance1: Array, mean2: Array, covariance2: Array):
    """``sqrt(1 - ∫ sqrt(p q))``, a metric in [0, 1].

    >>> round(hellinger_distance(0.0, 1.0, 2.0, 1.0) ** 2, 4)
    0.3935
    """
    return _between(hellinger, mean1, covariance1, mean2, covariance2)


def jeffreys_matusita_distance(mean1: Array, covariance1: Array, mean2: Array, covariance2: Array):
    """``sqrt(2 (1 - ∫ sqrt(p q)))``, root two times the Hellinger distance.

    >>> round(jeffreys_matusita_distance(0.0, 1.0, 2.0, 1.0) ** 2, 4)
    0.7869
    """
    return _between(jeffreys_matusita, mean1, covariance1, mean2, covariance2)


def cauchy_schwarz_divergence(mean1: Array, covariance1: Array, mean2: Array, covariance2: Array):
    """``-log( ∫ p q / sqrt(∫ p^2 ∫ q^2) )``.

    >>> round(cauchy_schwarz_divergence(0.0, 1.0, 2.0, 1.0), 6)
    1.0
    """
    return _between(cauchy_schwarz, mean1, covariance1, mean2, covariance2)


def renyi_divergence(mean1: Array, covariance1: Array, mean2: Array, covariance2: Array, *, order: float):
    """``1/(a-1) log ∫ p^a q^(1-a)`` of order a; within 1e-4 of order 1, the KL divergence.

    >>> round(renyi_divergence(0.0, 1.0, 1.0, 1.0, order=0.5), 6)
    0.25
    """
    order = require_number("order", order, "a finite number", above=-np.inf)
    return _between(partial(renyi, order=order), mean1, covariance1, mean2, covariance2)


def gaussian_entropy(covariance: Array):
    """Shannon entropy ``1/2 log|S| + m/2 (1 + log 2 pi)``, in nats.

    >>> round(gaussian_entropy(1.0), 4)
    1.4189
    """
    S = _matrices(covariance)
    m = S.shape[-1]
    form = FullForm(np.zeros((S[..., 0, 0].size, m)), S.reshape(-1, m, m), n_jobs=1)
    return number_or_array((0.5 * form.log_dets + 0.5 * m * (1 + np.log(2 * np.pi))).reshape(S.shape[:-2]))


def fisher_rao_distance(mean1: Array, deviation1: Array, mean2: Array, deviation2: Array):
    """Fisher-Rao distance between Gaussians with independent features, by means and standard deviations.

    >>> round(fisher_rao_distance([0.0, 5.0], [1.0, 2.0], [0.0, 5.0], [2.718281828459045, 2.0]), 6)
    1.414214
    """
    given = (("deviation1", deviation1), ("deviation2", deviation2))
    deviations = [np.atleast_1d(as_numbers(name, s, None)) for name, s in given]
    for s in deviations:
        require(bool((s > 0).all()), "A standard deviation", "positive", float(s.min()))
    S1, S2 = (s[..., None] ** 2 * np.eye(s.shape[-1]) for s in deviations)
    return _between(fisher_rao, mean1, S1, mean2, S2)


def _matrices(covariance: Array) -> np.ndarray:
    S = as_numbers("A covariance", covariance, None)
    S = S.reshape(1, 1) if S.ndim == 0 else S
    is_square = S.ndim >= 2 and S.shape[-1] == S.shape[-2]
    require(is_square, "A covariance", "a number, or of shape (..., m, m)", S.shape)
    asymmetry = float(np.abs(S - S.swapaxes(-1, -2)).max(initial=0.0))
    require(asymmetry <= 1e-8 * float(np.abs(S).max(initial=0.0)), "A covariance", "symmetric",
            f"differences up to {asymmetry:.3g}", "Use (S + S.T) / 2 if that is rounding.")  # fmt: skip
    return S


def _between(formula, mean1: Array, covariance1: Array, mean2: Array, covariance2: Array):
    """The pairs of Gaussians side by side in one form; a plain number for a single pair."""
    S1, S2 = _matrices(covariance1), _matrices(covariance2)
    given = (("mean1", mean1), ("mean2", mean2))
    mu1, mu2 = (np.atleast_1d(as_numbers(name, mu, None)) for name, mu in given)
    m = S1.shape[-1]
    for name, array in (("mean1", mu1), ("mean2", mu2), ("covariance2", S2)):
        require(array.shape[-1] == m, name, f"of dimension {m}, as covariance1", array.shape)
    shape = np.broadcast_shapes(mu1.shape[:-1], mu2.shape[:-1], S1.shape[:-2], S2.shape[:-2])
    means = np.stack([np.broadcast_to(mu, (*shape, m)).reshape(-1, m) for mu in (mu1, mu2)])
    S = np.stack([np.broadcast_to(S, (*shape, m, m)).reshape(-1, m, m) for S in (S1, S2)])
    count = means.shape[1]
    form = FullForm(means.reshape(-1, m), S.reshape(-1, m, m), n_jobs=1)
    values = formula(form, np.arange(count), count + np.arange(count))
    return number_or_array(values.reshape(shape))
