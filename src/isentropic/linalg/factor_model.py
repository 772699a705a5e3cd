"""The factor model of probabilistic PCA: closed form, and EM (expectation-maximisation) with holes."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import svd

from .._core.errors import IsentropicWarning
from ..kernels._jit import threads
from ..kernels.rows.projections import project_centred
from .centering import CentredRows, short_products

_STILL = 1e-8  # relative growth of the likelihood at which the iteration ends
_MOST_ROUNDS = 5_000
_WORTH_THREADS = 10**7  # products of a posterior: below, to wake a thread takes longer than they do
LEAST_NOISE = 1e-12  # of the variance: a plane without noise would leave nothing to divide by


@dataclass(frozen=True, slots=True)
class FactorModel:
    """``x = W z + mean + e``: W has the directions ``axes``, and x the ``variances`` along them."""

    axes: np.ndarray  # (r, m) orthonormal
    variances: np.ndarray  # (r,) noise included, largest first
    noise: float  # variance in every other direction
    mean: np.ndarray  # (m,)
    log_likelihood: float  # of what is known, per row

    @property
    def loadings(self) -> np.ndarray:
        """W, (m, r)."""
        return self.axes.T * np.sqrt(np.maximum(self.variances - self.noise, 0.0))


@dataclass(frozen=True, slots=True)
class Posterior:
    """Posterior of z for each row: its mean and covariance, and the likelihood of the row."""

    means: np.ndarray  # (n, d)
    covariances: np.ndarray  # (n, d, d)
    log_likelihoods: np.ndarray  # (n,)


def closed_form(centred: CentredRows, n_components: int) -> FactorModel:
    """Maximum likelihood of complete rows (Tipping and Bishop): the noise is the mean of what is left."""
    n, m = centred.rows.shape
    values, axes = centred.axes()
    variances = values**2 / n
    noise = float(variances[n_components:].sum()) / max(m - n_components, 1)
    kept = variances[:n_components]
    spectrum = np.concatenate([kept, np.full(m - len(kept), noise)])
    flat = not spectrum.all()  # rows in a plane, without noise: the likelihood is infinite
    value = np.inf if flat else -0.5 * (m * np.log(2 * np.pi) + m + np.log(spectrum).sum())
    return FactorModel(axes[:n_components], kept, noise, np.zeros(m), float(value))


def by_em(centred: CentredRows, n_components: int, n_jobs: int | None, still: float = _STILL) -> FactorModel:
    """Maximum likelihood of what is known, from the principal axes of the rows with means in the holes.

    ``still`` is the relative growth of the likelihood at which the rounds end.
    """
    rows = centred.rows
    filled = replace(centred, rows=np.nan_to_num(rows, nan=0.0))
    start = closed_form(filled, n_components)
    W = np.zeros((rows.shape[1], n_components))
    W[:, : len(start.axes)] = start.loadings
    mean, noise = start.mean, max(start.noise, LEAST_NOISE)
    values: list[float] = []
    with short_products(rows.size * (n_components + 1) ** 2):
        for _ in range(_MOST_ROUNDS):
            found = posterior(rows - mean, W, noise, n_jobs)
            values.append(float(found.log_likelihoods.mean()))
            if len(values) > 1 and values[-1] - values[-2] <= still * abs(values[-1]):
                break
            W, mean, noise = _maximized(filled.rows, ~np.isnan(rows), found)
        else:
            text = (
                f"The likelihood still grows after {_MOST_ROUNDS} rounds, by {values[-1] - values[-2]:.2g}."
            )
            warnings.warn(f"{text} Take fewer components.", IsentropicWarning, stacklevel=4)
    axes, deviations, _ = svd(W, full_matrices=False)
    return FactorModel(axes.T, deviations**2 + noise, noise, mean, values[-1])


def posterior(rows: np.ndarray, W: np.ndarray, noise: float, n_jobs: int | None) -> Posterior:
    """Posterior of z given the known values of each row, by Woodbury: ``M = W_o' W_o + s I``, O(m d^2) a row.

    A row has the same bits in any batch.
    """
    m, d = W.shape
    there = ~np.isnan(rows)
    known, nothing = np.where(there, rows, 0.0), np.zeros(m)
    with threads(n_jobs if rows.size * d * d > _WORTH_THREADS else 1):
        products = project_centred(there.astype(np.float64), nothing, _outer(W))
        scores = project_centred(known, nothing, np.ascontiguousarray(W))
        squares = project_centred(known**2, nothing, np.ones((m, 1)))[:, 0]
    M = products.reshape(-1, d, d) + noise * np.eye(d)
    means = np.linalg.solve(M, scores[:, :, None])[:, :, 0]
    fit = (squares - (scores * means).sum(axis=1)) / noise
    counts = there.sum(axis=1)
    logs = np.linalg.slogdet(M)[1] + (counts - d) * np.log(noise) + counts * np.log(2 * np.pi)
    return Posterior(means, noise * np.linalg.inv(M), -0.5 * (logs + fit))


def _outer(rows: np.ndarray) -> np.ndarray:
    """The products of all pairs of entries of each row, (n, d^2)."""
    return (rows[:, :, None] * rows[:, None, :]).reshape(len(rows), -1)


def _maximized(
    filled: np.ndarray, there: np.ndarray, found: Posterior
) -> tuple[np.ndarray, np.ndarray, float]:
    """Loadings and mean by a regression of each feature on z where it is known, then the noise."""
    n, d = found.means.shape
    mask = there.astype(np.float64)
    factors = np.column_stack([found.means, np.ones(n)])
    moments = _outer(factors).reshape(n, d + 1, d + 1)
    moments[:, :d, :d] += found.covariances
    sums = (mask.T @ moments.reshape(n, -1)).reshape(-1, d + 1, d + 1)
    solved = np.linalg.solve(sums, (filled.T @ factors)[:, :, None])[:, :, 0]
    W, mean = solved[:, :d], solved[:, d]
    errors = (filled - factors @ solved.T) * mask
    uncertain = (mask @ _outer(W)) * found.covariances.reshape(n, -1)
    noise = ((errors**2).sum() + uncertain.sum()) / mask.sum()
    return W, mean, max(float(noise), LEAST_NOISE)
