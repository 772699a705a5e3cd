"""L-BFGS, by scipy, with a tolerance that does not depend on the scale of the cost."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from .._core.runtime import one_blas_thread, row_blocks
from .minimum import Minimum, Objective

_MEMORY = 12  # pairs of steps that stand for the curvature
_ROUNDING = 1e-13  # a cost this small cannot be told from zero: it is the difference of sums of about one


def lbfgs(objective: Objective, start: np.ndarray, *, max_iter: int, tol: float) -> Minimum:
    """Minimise from ``start``; ends when a step lowers the cost by less than ``tol`` of what it was at first.

    ``O(size)`` time a step beyond the objective, and 30 arrays of the size of ``start``.

    >>> import numpy as np
    >>> found = lbfgs(lambda z: (float((z**4).sum()), 4 * z**3), np.ones((2, 2)), max_iter=100, tol=1e-9)
    >>> bool(np.abs(found.point).max() < 0.05), found.converged
    (True, True)
    """
    with one_blas_thread():  # as in every step after it
        value, first = objective(start)
    if max_iter == 0 or abs(value) <= _ROUNDING:
        return Minimum(start.copy(), value, 0, abs(value) <= _ROUNDING)
    progress = row_blocks(max_iter, "L-BFGS steps", size=1)
    next(progress)

    known = [(value, first)]  # scipy begins where the search does

    def scaled(flat: np.ndarray) -> tuple[float, np.ndarray]:
        cost, gradient = known.pop() if known else objective(flat.reshape(start.shape))
        return cost / value, gradient.ravel() / value

    options = {"maxiter": max_iter, "maxfun": 4 * max_iter, "maxcor": _MEMORY, "ftol": tol, "gtol": 0.0}
    with one_blas_thread():  # the objective takes turns with it
        found = minimize(
            scaled,
            start.ravel(),
            jac=True,
            method="L-BFGS-B",
            callback=lambda flat: next(progress, None),
            options=options,
        )
    # A line search that finds nothing lower has met the rounding of the cost.
    converged = found.nit < max_iter and found.nfev < 4 * max_iter
    return Minimum(found.x.reshape(start.shape), float(found.fun * value), int(found.nit), converged)
