"""Divergences between two Gaussians, or stacks of them: ``(mean1, covariance1, mean2, covariance2)``.

Means are ``(..., m)``, covariances ``(..., m, m)``, or plain numbers in one dimension; leading axes
broadcast. The formulas are those of :mod:`.formulas`: Cholesky factors, ``O(m^3)`` a pair.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from .._core.arguments import as_numbers
from .._core.errors import require, require_number
from ..divergences import formulas
from .forms import FullForm
from .grids import number_or_array

Array = npt.ArrayLike


def kl_divergence(mean1: Array, covariance1: Array, mean2: Array, covariance2: Array):
    """Kullback-Leibler divergence ``KL(p, q)``.

    >>> round(kl_divergence(0.0, 1.0, 1.0, 1.0), 6)
    0.5
    """
    return _between(formulas.kl, mean1, covariance1, mean2, covariance2)


def symmetrised_kl_divergence(mean1: Array, covariance1: Array, mean2: Array, covariance2: Array):
    """``1/2 [ KL(p, q) + KL(q, p) ]``.

    >>> round(symmetrised_kl_divergence([0.0, 0.0], [[1, 0], [0, 1]], [1.0, 0.0], [[1, 0], [0, 1]]), 6)
    0.5
    """
    return _between(formulas.symmetrised_kl, mean1, covariance1, mean2, covariance2)


def bhattacharyya_distance(mean1: Array, covariance1: Array, mean2: Array, covariance2: Array):
    """``-log`` of the Bhattacharyya coefficient.

    >>> round(bhattacharyya_distance(0.0, 1.0, 2.0, 1.0), 6)
    0.5
    """
    return _between(formulas.bhattacharyya, mean1, covariance1, mean2, covariance2)


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
    return _between(formulas.hellinger, mean1, covariance1, mean2, covariance2)


def jeffreys_matusita_distance(mean1: Array, covariance1: Array, mean2: Array, covariance2: Array):
    """``sqrt(2 (1 - ∫ sqrt(p q)))``, root two times the Hellinger distance.

    >>> round(jeffreys_matusita_distance(0.0, 1.0, 2.0, 1.0) ** 2, 4)
    0.7869
    """
    return _between(formulas.jeffreys_matusita, mean1, covariance1, mean2, covariance2)


def cauchy_schwarz_divergence(mean1: Array, covariance1: Array, mean2: Array, covariance2: Array):
    """``-log( ∫ p q / sqrt(∫ p^2 ∫ q^2) )``.

    >>> round(cauchy_schwarz_divergence(0.0, 1.0, 2.0, 1.0), 6)
    1.0
    """
    return _between(formulas.cauchy_schwarz, mean1, covariance1, mean2, covariance2)


def renyi_divergence(mean1: Array, covariance1: Array, mean2: Array, covariance2: Array, *, order: float):
    """``1/(a-1) log ∫ p^a q^(1-a)`` of order a; within 1e-4 of order 1, the KL divergence.

    >>> round(renyi_divergence(0.0, 1.0, 1.0, 1.0, order=0.5), 6)
    0.25
    """
    order = require_number("order", order, "a finite number", above=-np.inf)
    return _between(partial(formulas.renyi, order=order), mean1, covariance1, mean2, covariance2)


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
    return _between(formulas.fisher_rao, mean1, S1, mean2, S2)


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
