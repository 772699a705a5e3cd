"""Units of length: powers of two by which rows and distances are scaled before they are squared.

A power of two rounds nothing. Data of an ordinary size stay as they are, in every bit.
"""

from __future__ import annotations

import numpy as np

_ORDINARY = 100  # sizes from 2^-100 to 2^100 stay as they are
ROOM = 400  # others come to 2^400: squares, summed over many pairs, are far from overflow, tiny ones from 0
_BEYOND = 1025  # exponent of a difference of two numbers that is itself none


def unit_exponent(size: float, degree: int = 1) -> int:
    """The exponent of the unit in which what is of this ``size`` can be squared ``degree`` times; 0 for most.

    >>> unit_exponent(7.0), unit_exponent(0.0), unit_exponent(2.0**600), unit_exponent(2.0**-600)
    (0, 0, 201, -999)
    """
    exponent = _BEYOND if np.isinf(size) else int(np.frexp(size)[1])
    return 0 if abs(exponent) <= _ORDINARY else exponent - ROOM // degree


def rows_in_unit(X: np.ndarray, degree: int = 1) -> tuple[np.ndarray, int]:
    """Finite rows in a unit in which their differences can be squared (``degree`` times), and its exponent.

    What is constant is 0 then, if the unit is not 1: no difference depends on it, and it may be too large.

    >>> import numpy as np
    >>> rows, exponent = rows_in_unit(np.array([[1e300, 7.0], [3e300, 7.0]]))
    >>> bool((np.ldexp(rows, exponent) == [[1e300, 0.0], [3e300, 0.0]]).all())
    True
    """
    if X.size == 0:
        return X, 0
    with np.errstate(over="ignore"):
        spans = X.max(axis=0) - X.min(axis=0)
    exponent = unit_exponent(float(spans.max()), degree)
    return (X, 0) if exponent == 0 else (np.ldexp(np.where(spans > 0, X, 0.0), -exponent), exponent)
