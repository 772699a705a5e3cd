"""Generative topographic mapping."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from scipy.linalg import lstsq

from ..._core.arguments import Choice, Count
from ..._core.runtime import one_blas_thread, require_memory, row_blocks
from ..._core.specs import Array, Double, Number, Whole
from ..._core.state import Sub
from ...distances import rows_per_block
from ...embedding.embedder import Embedder
from ...embedding.maps.lattice import LatticeMap, lattice_coordinates, principal_sheet
from ...embedding.training_data import NJobs, Tolerance, training_data
from ...kernels._jit import threads
from ...kernels.networks import responsibilities
from ...linalg.centering import CentredRows

_BASIS = 4  # Gaussians along a side of the basis
_WIDTH = 2.0  # of a Gaussian, in steps of the basis
_PENALTY = 0.1  # the precision of the prior of the weights, in standard deviations of the data
_LARGEST_PRECISION = 1e12  # in the same unit: of rows that all lie on the sheet


class GTM(Embedder):
    """Generative topographic mapping: a mixture of Gaussians whose centres form a bent sheet, fitted by EM.

    The nodes z of a grid in ``[-1, 1]^d`` have centres ``W phi(z)``, phi Gaussians on a coarser grid, z
    itself and a constant; a row is drawn around one of them with variance 1 / b. The E step shares every
    row among the nodes, ``R_ri ~ exp(-b/2 |x_i - W phi_r|^2)``; the M step solves
    ``(phi' G phi + (a/b) I) W = phi' R X`` for the weights, ``G = diag(R 1)``, and sets 1 / b to the mean
    of ``R_ri |x_i - W phi_r|^2``. The penalised likelihood never falls. A row is placed at the mean of the
    nodes, weighted by its shares, or at the node of the largest.

    Cost: ``O(r n m)`` time a round for r nodes, ``O(n m)`` memory.

    Parameters
    ----------
    n_components : {1, 2}
        Dimension of the map: that of the sheet.
    n_nodes : int
        Nodes along each side.
    place : {"mean", "mode"}
        Of the posterior distribution of a row over the nodes.
    max_iter : int
        Rounds at most.
    tol : float
        Ends where a round raises the penalised likelihood by less than this share of it.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
        Within ``[-1, 1]``.
    codebook_ : array of shape (r, m)
        The centres.
    places_ : array of shape (r, n_components)
        The nodes; draw ``codebook_`` or ``magnification_`` over them by ``plot.component_planes`` and
        ``plot.lattice``.
    magnification_ : array of shape (r,)
        By how much the sheet is stretched at each node, ``sqrt(det J'J)``, J the slope of the centres: high
        where the map draws together what the data have apart.
    precision_ : float
        b, in the unit of the data.
    log_likelihood_ : float
        Of the rows, in the unit of the data, without the penalty.
    log_likelihoods_ : array of shape (n_iter_ + 1,)
        The penalised one before each round and at the end.
    n_iter_ : int
        Rounds.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Bishop, Svensén and Williams (1998).

    Examples
    --------
    >>> from isentropic import GTM, datasets
    >>> gtm = GTM().fit(datasets.load("builtin:iris").X)
    >>> gtm.embedding_.shape, bool((np.diff(gtm.log_likelihoods_) >= 0).all())
    ((150, 2), True)
    """

    codebook_: Annotated[np.ndarray, Array("r", "m")]
    places_: Annotated[np.ndarray, Array("r", "d")]
    magnification_: Annotated[np.ndarray, Array("r")]
    precision_: Annotated[float, Double(above=0)]
    log_likelihood_: Annotated[float, Number()]
    log_likelihoods_: Annotated[np.ndarray, Array("rounds")]
    n_iter_: Annotated[int, Whole(0)]
    _map: Annotated[LatticeMap, Sub(LatticeMap)]

    def __init__(
        self,
        n_components: Annotated[int, Count(most=2)] = 2,
        *,
        n_nodes: Annotated[int, Count(least=2)] = 16,
        place: Annotated[str, Choice("mean", "mode")] = "mean",
        max_iter: Annotated[int, Count(least=0)] = 200,
        tol: Tolerance = 1e-6,
        n_jobs: NJobs = None,
    ):
        self.n_components = n_components
        self.n_nodes = n_nodes
        self.place = place
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Lay the sheet on the principal plane; rounds of E and M steps; place every row.

        ``y`` is not used.
        """
        data, d, n_jobs = training_data(self, X, keep_rows=False), int(self.n_components), self.n_jobs
        side, max_iter = int(self.n_nodes), int(self.max_iter)
        require_memory(64 * side ** (2 * d), f"A sheet of {side**d:,} nodes", "Take fewer nodes.")
        rows = CentredRows.of(data.table)
        sheet = _Sheet.of(rows, side, d)
        weights, precision = sheet.start(rows)
        history = []
        with one_blas_thread():
            for _ in row_blocks(max_iter + 1, "rounds", size=1):
                step = sheet.expectation(weights, precision, n_jobs)
                history.append(step.log_likelihood - sheet.penalty(weights))
                if len(history) > max_iter or _has_converged(history, float(self.tol)):
                    break
                weights, precision = sheet.maximisation(step, precision)
        nodes = sheet.basis @ weights * sheet.scale
        new_rows = LatticeMap.of(rows, nodes, sheet.places,
                                 precision / sheet.scale**2 if self.place == "mean" else None)  # fmt: skip
        unit = sheet.scale * rows.unit
        densities = sheet.n_varying * data.n * np.log(unit)  # a density is one per unit of the data
        return self._set_fit(new_rows.transform(data.table, n_jobs), new_rows, codebook_=new_rows.codebook,
                             places_=sheet.places, magnification_=sheet.magnification(weights) * unit**d,
                             precision_=precision / unit**2,
                             log_likelihood_=float(step.log_likelihood - densities),
                             log_likelihoods_=np.array(history) - densities,
                             n_iter_=len(history) - 1)  # fmt: skip


def _has_converged(history: list[float], tol: float) -> bool:
    return len(history) > 1 and history[-1] - history[-2] <= tol * abs(history[-1])


@dataclass(frozen=True, slots=True)
class _Step:
    """Sums of the responsibilities R over all rows after an E step."""

    counts: np.ndarray  # (r,): R 1
    sums: np.ndarray  # (r, m): R X
    log_likelihood: float


@dataclass(frozen=True, slots=True)
class _Sheet:
    """The data in standard deviations, the nodes and what their centres are made of."""

    rows: np.ndarray  # (n, m)
    scale: float  # root mean square of the features that vary
    n_varying: int  # these features: constant ones say nothing of the variance
    places: np.ndarray  # (r, d)
    basis: np.ndarray  # (r, p): Gaussians, the place itself, and 1
    jacobians: np.ndarray  # (r, d, p)

    @classmethod
    def of(cls, rows: CentredRows, side: int, d: int) -> _Sheet:
        variances = (rows.rows**2).mean(axis=0)
        varying = max(int(np.count_nonzero(variances)), 1)
        scale = float(np.sqrt(variances.sum() / varying)) or 1.0
        places = lattice_coordinates((side,) * d) * (2 / (side - 1))
        step = 2 / (_BASIS - 1)
        centres = lattice_coordinates((_BASIS,) * d) * step
        away = places[:, None] - centres[None]
        gaussians = np.exp(-(away**2).sum(axis=2) / (2 * (_WIDTH * step) ** 2))
        basis = np.concatenate([gaussians, places, np.ones((len(places), 1))], axis=1)
        jacobians = -away.transpose(0, 2, 1) * gaussians[:, None] / (_WIDTH * step) ** 2
        straight = np.broadcast_to(np.eye(d), (len(places), d, d))
        flat = np.zeros((len(places), d, 1))
        return cls(np.ascontiguousarray(rows.rows / scale), scale, varying, places, basis,
                   np.concatenate([jacobians, straight, flat], axis=2))  # fmt: skip

    def start(self, rows: CentredRows) -> tuple[np.ndarray, float]:
        """Weights that fit the principal plane, and the precision of what is off it."""
        d = self.places.shape[1]
        weights = lstsq(self.basis, principal_sheet(rows, self.places) / self.scale)[0]
        rest = rows.axes()[0][d : d + 1] / (self.scale * np.sqrt(len(self.rows)))
        centres = self.basis @ weights
        side = round(len(centres) ** (1 / d))
        grid = centres.reshape(*(side,) * d, -1)
        gaps = np.concatenate([(np.diff(grid, axis=axis) ** 2).sum(axis=-1).ravel() for axis in range(d)])
        variance = max(float(rest[0] ** 2) if len(rest) else 0.0, float(gaps.mean()) / 4)
        return weights, min(1 / max(variance, 1 / _LARGEST_PRECISION), _LARGEST_PRECISION)

    def penalty(self, weights: np.ndarray) -> float:
        return _PENALTY / 2 * float((weights[:-1] ** 2).sum())  # the constant is free

    def expectation(self, weights: np.ndarray, precision: float, n_jobs: int | None) -> _Step:
        """The E step, by blocks of rows."""
        n, centres = len(self.rows), self.basis @ weights
        norms = (centres**2).sum(axis=1)
        counts, sums, total = np.zeros(len(centres)), np.zeros(centres.shape), 0.0
        size = rows_per_block(len(centres))
        for first in range(0, n, size):
            part = self.rows[first : first + size]
            logarithms = np.empty(len(part))
            shares = part @ centres.T
            with threads(n_jobs):
                responsibilities(shares, norms, precision, logarithms)
            counts += shares.sum(axis=0)
            sums += shares.T @ part
            total += float(logarithms.sum())
        total -= precision / 2 * float((self.rows**2).sum())
        constant = n * (self.n_varying / 2 * np.log(precision / (2 * np.pi)) - np.log(len(centres)))
        return _Step(counts, sums, total + constant)

    def maximisation(self, step: _Step, precision: float) -> tuple[np.ndarray, float]:
        """The M step: weights by penalised least squares, then the precision."""
        # By least squares, not by the normal equations, whose condition is the square of that of the basis.
        roots = np.sqrt(step.counts)[:, None]
        means = np.divide(step.sums, roots, out=np.zeros_like(step.sums), where=roots > 0)
        ridge = np.sqrt(_PENALTY / precision) * np.eye(self.basis.shape[1])[:-1]
        left = np.concatenate([roots * self.basis, ridge])
        weights = lstsq(left, np.concatenate([means, np.zeros((len(ridge), means.shape[1]))]))[0]
        centres = self.basis @ weights
        squares = (self.rows**2).sum() - 2 * (centres * step.sums).sum()
        squares += (step.counts * (centres**2).sum(axis=1)).sum()
        variance = float(squares) / (len(self.rows) * self.n_varying)
        return weights, 1 / max(variance, 1 / _LARGEST_PRECISION)

    def magnification(self, weights: np.ndarray) -> np.ndarray:
        """``sqrt(det J'J)`` at every node, in units."""
        J = self.jacobians @ weights
        return np.sqrt(np.maximum(np.linalg.det(J @ J.transpose(0, 2, 1)), 0.0))
