"""Costs of one row z among fixed rows Z, which :mod:`.row_descent` minimises, each with its derivatives.

Kernels take no functions, so a cost has a number, and :func:`evaluate` a line for it; the number is a
``choice``, so that a method compiles its own cost and none of the others. A cost is a kernel
``(z, Z, near, weights, far, shape, gradient, curvature) -> value`` that fills in the gradient (d,) and the
lower triangle of the second derivatives (d, d), in ``O(n d^2)``. All have arguments of the same types:

- ``near``, the rows of Z that attract z (int64), and ``weights``, how much each of them does (float64);
- ``far``, the rows of Z that repel z (int64);
- ``shape``, the numbers of the cost itself (float64).

Where ``near`` or ``far`` is empty, all rows of Z in their order are meant. Most costs are sums of functions f
of the squared distance to a row: :mod:`.row_slopes` serves them.

A new cost needs its number, its kernel and its line in :func:`evaluate`, and a line in ``COSTS`` of its test,
which holds derivatives against differences of values, and minima against scipy's.
"""

from __future__ import annotations

import numpy as np

from .._jit import choice, kernel
from .drawn_rows import fuzzy_cost, pairs_cost, triplets_cost
from .gaussian_rows import gaussians_cost
from .near_gaps import near_gaps_cost
from .stress_rows import stress_cost
from .student_rows import degrees_cost, student_cost, student_field_cost

_DEGREES, _STUDENT, _STUDENT_FIELD, _GAUSSIANS, _FUZZY, _PAIRS, _TRIPLETS, _STRESS, _NEAR_GAPS = range(1, 10)
DEGREES, STUDENT, STUDENT_FIELD, GAUSSIANS, FUZZY, PAIRS, TRIPLETS, STRESS, NEAR_GAPS = map(
    choice, range(1, 10)
)


@kernel
def evaluate(cost, z, Z, near, weights, far, shape, gradient, curvature):
    """The value of a cost at z, its gradient and the lower triangle of its second derivatives."""
    number = len(cost)
    if number == _DEGREES:
        return degrees_cost(z, Z, near, weights, far, shape, gradient, curvature)
    if number == _STUDENT:
        return student_cost(z, Z, near, weights, far, shape, gradient, curvature)
    if number == _STUDENT_FIELD:
        return student_field_cost(z, Z, near, weights, far, shape, gradient, curvature)
    if number == _GAUSSIANS:
        return gaussians_cost(z, Z, near, weights, far, shape, gradient, curvature)
    if number == _FUZZY:
        return fuzzy_cost(z, Z, near, weights, far, shape, gradient, curvature)
    if number == _PAIRS:
        return pairs_cost(z, Z, near, weights, far, shape, gradient, curvature)
    if number == _TRIPLETS:
        return triplets_cost(z, Z, near, weights, far, shape, gradient, curvature)
    if number == _STRESS:
        return stress_cost(z, Z, near, weights, far, shape, gradient, curvature)
    if number == _NEAR_GAPS:
        return near_gaps_cost(z, Z, near, weights, far, shape, gradient, curvature)
    return np.nan
