"""Factors of covariance matrices of thousands of features, by LAPACK: many times faster than our kernels.

The functions are those of :mod:`..kernels.gaussians`, and agree with them up to rounding.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.linalg.lapack import dpotri

LARGE = 1_000  # features from which on LAPACK is worth other last digits


def log_determinants(S: np.ndarray, out: np.ndarray) -> None:
    """``log|S|`` of every matrix; NaN where it is not positive definite."""
    for i, matrix in enumerate(S):
        out[i] = _factor(matrix)[1]


def precisions(S: np.ndarray, P: np.ndarray, log_dets: np.ndarray) -> None:
    """Inverse and ``log|S|`` of every matrix; the latter NaN where it is not positive definite."""
    for i, matrix in enumerate(S):
        L, log_dets[i] = _factor(matrix)
        if L is not None:
            lower = np.tril(dpotri(L, lower=True)[0])
            P[i] = lower + np.tril(lower, -1).T


def mixed_terms(
    means: np.ndarray,
    S: np.ndarray,
    log_dets: np.ndarray,
    heads: np.ndarray,
    tails: np.ndarray,
    weight: float,
    out: np.ndarray,
) -> None:
    """The two mixed terms of every pair, ``O(m^3)`` each; NaN where S is not positive definite."""
    for e, (i, j) in enumerate(zip(heads, tails, strict=True)):
        L, log_det = _factor((1.0 - weight) * S[i] + weight * S[j])
        out[e] = np.nan
        if L is not None:
            z = solve_triangular(L, means[i] - means[j], lower=True, check_finite=False)
            out[e] = log_det - (1.0 - weight) * log_dets[i] - weight * log_dets[j], z @ z


def _factor(S: np.ndarray) -> tuple[np.ndarray | None, float]:
    """The lower factor of a matrix and its log determinant; None and NaN if it is not positive definite."""
    try:
        L = cholesky(S, lower=True, check_finite=False)
    except LinAlgError:
        return None, np.nan
    return L, 2.0 * float(np.log(np.diagonal(L)).sum())
