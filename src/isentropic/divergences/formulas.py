"""Divergences between Gaussians p = N(mu1, S1) and q = N(mu2, S2), each written once, for many pairs.

Every function takes a form of many Gaussians (:class:`.forms.Gaussians`) and the numbers of the first and
of the second of each pair, and returns one number a pair. ``delta = mu1 - mu2``, m is the dimension.
"""

from __future__ import annotations

import numpy as np

from .._core.errors import InvalidInputError
from .forms import Gaussians, Marginals

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
