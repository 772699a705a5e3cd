"""Adam's step, in one pass over the parameters."""

from __future__ import annotations

import numpy as np

from .._jit import kernel


@kernel
def adam_step(vector, slopes, means, squares, rate, keep, keep_squares, rest, rest_squares, least):
    """``vector -= rate means / (sqrt(squares) + least)`` with means and squares of the slopes that fade.

    All numbers are of the precision of ``vector``: the sums then are too.
    """
    for i in range(len(vector)):
        slope = slopes[i]
        means[i] = keep * means[i] + rest * slope
        squares[i] = keep_squares * squares[i] + rest_squares * slope * slope
        vector[i] -= rate * means[i] / (np.sqrt(squares[i]) + least)
