"""Imputation of missing values by a factor model.

The model is that of probabilistic PCA, ``x = W z + mean + e``, fitted by expectation-maximisation to what is
known. A hole gets its mean given the rest of its row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ..._core.errors import InvalidInputError, notice, plural, require, require_number
from ..._core.values import Floats

_RANKS = (1, 2, 3, 5, 8)
_HIDDEN = 0.1  # share of the known values that the choice of the rank hides
_TRIED, _FITTED = 2_000, 10_000  # rows that the rank is chosen by, and the model fitted to
_STILL, _NEARLY_STILL = 1e-5, 1e-4  # relative growth of the likelihood that ends the fit, and a try of a rank


@dataclass(frozen=True, slots=True, eq=False)
class Factors:
    """A factor model of scaled rows, to fill their holes."""

    mean: Floats  # (m,)
    loadings: Floats  # (m, r)
    noise: float

    def filled(self, X: Floats) -> Floats:
        """The rows, filled in place: ``mean + W E[z | what is known]``; the same bits in any batch."""
        holes = np.isnan(X)
        some = np.flatnonzero(holes.any(axis=1))
        if not len(some):
            return X
        from ...kernels._jit import threads
        from ...kernels.rows.projections import project_centred
        from ...linalg.factor_model import posterior

        z = posterior(X[some] - self.mean, self.loadings, self.noise, None).means
        with threads(1):  # so few products that no thread is worth its wake
            parts = project_centred(z, np.zeros(z.shape[1]), np.ascontiguousarray(self.loadings.T))
        guesses = self.mean + parts
        X[some] = np.where(holes[some], guesses, X[some])
        return X

    def to_json(self) -> dict[str, Any]:
        return {"mean": self.mean.tolist(), "loadings": self.loadings.tolist(), "noise": self.noise}

    @classmethod
    def from_json(cls, data: Any, m: int) -> Self:
        """The factors that :meth:`to_json` described, of m features; raises for anything else."""
        require(isinstance(data, Mapping), "factors", "mean, loadings and noise", data)
        mean, loadings = (np.array(data[key], dtype=np.float64) for key in ("mean", "loadings"))
        fits = mean.shape == (m,) and loadings.ndim == 2 and len(loadings) == m and loadings.shape[1] > 0
        require(fits, "factors", f"of {m} features", (mean.shape, loadings.shape))
        finite = bool(np.isfinite(mean).all() and np.isfinite(loadings).all())
        require(finite, "factors", "finite", "NaN or infinite")
        return cls(mean, loadings, require_number("noise", data["noise"], "a positive variance", above=0.0))


def fit_factors(X: Floats, firsts: npt.NDArray[np.int64], table: str) -> Factors:
    """Factors of scaled rows with holes, and a notice of how well they guess values that were hidden.

    Their number is that of 1, 2, 3, 5 and 8 by which a tenth of the known values, hidden, is guessed best.
    All features of a column, which ``firsts`` says the first of, are hidden together, as they are missing
    together. ``O(n m r^2)`` for each of some dozen rounds, n up to 10,000 rows, drawn.
    """
    m = X.shape[1]
    if m < 2:
        raise InvalidInputError(
            f"{table} must have at least 2 features for missing='ppca', got {m}. Choose missing='median'."
        )
    rng = np.random.default_rng(0)
    rank, errors = _choose_rank(_hidden_cells(X, _TRIED, rng), firsts, rng)
    factors = _fit(_hidden_cells(X, _FITTED, rng), rank)
    if np.isnan(X).any():
        guessed, mean = errors
        notice(
            f"missing values are guessed from the other columns, by {plural(rank, 'factor')}. Known values, "
            f"hidden and guessed so, are off by {guessed:.2g}, and by {mean:.2g} if the mean is taken, in "
            "units of the scaled table."
        )
    return factors


def _choose_rank(
    X: Floats, firsts: npt.NDArray[np.int64], rng: np.random.Generator
) -> tuple[int, tuple[float, float]]:
    """The rank that guesses hidden values best; root mean square errors of its guesses, and of the mean."""
    there = ~np.isnan(X)
    widths = np.diff([*firsts, X.shape[1]])
    hidden = there & np.repeat(rng.random((len(X), len(firsts))) < _HIDDEN, widths, axis=1)
    hidden[there.argmax(axis=0), np.arange(X.shape[1])] = False  # every feature keeps a value
    ranks = [rank for rank in _RANKS if rank < min(X.shape)] or [1]
    if not hidden.any():
        return ranks[0], (0.0, 0.0)
    seen = np.where(hidden, np.nan, X)
    errors = [_error(_fit(seen, rank, _NEARLY_STILL).filled(seen.copy()), X, hidden) for rank in ranks]
    best = int(np.argmin(errors))
    means = np.broadcast_to(np.nanmean(seen, axis=0), X.shape)
    return ranks[best], (errors[best], _error(means, X, hidden))


def _error(guesses: Floats, X: Floats, hidden: npt.NDArray[np.bool_]) -> float:
    return float(np.sqrt(np.mean((guesses[hidden] - X[hidden]) ** 2)))


def _fit(X: Floats, rank: int, still: float = _STILL) -> Factors:
    from ...linalg.centering import CentredRows
    from ...linalg.factor_model import by_em

    centred = CentredRows.of(X)
    model = by_em(centred, rank, None, still=still)
    mean = centred.mean + centred.unit * model.mean
    return Factors(mean, np.ascontiguousarray(centred.unit * model.loadings), model.noise * centred.unit**2)


def _hidden_cells(X: Floats, most: int, rng: np.random.Generator) -> Floats:
    """All rows, or so many of them and for every feature one that knows it."""
    if len(X) <= most:
        return X
    rows = rng.choice(len(X), most, replace=False)
    return X[np.union1d(rows, (~np.isnan(X)).argmax(axis=0))]
