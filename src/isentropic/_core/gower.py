"""The metric of mixed tables, as a choice that an estimator takes and a model file holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from .state import Each, Maybe, Number, Whole


@dataclass(frozen=True, slots=True)
class Gower:
    """A metric for mixed tables with holes: the mean of what two rows differ by, column by column.

    ``d(a, b) = sum_j w_j d_j / sum_j w_j`` over the columns j that both rows have (Gower, 1971); NaN is a
    value that is missing. Each ``d_j`` is from 0 to 1: of numbers ``|a_j - b_j|`` in the range of the fitted
    column, at most 1; of the columns ``levels`` 0 for equal codes and 1 for others; of the columns
    ``ordered`` the difference of their ranks among the fitted levels, in the range of these. ``weights`` has
    a number for every column, None for 1; ``datasets.load`` balances them, so that each column has the same
    share of the mean distance. ``metric="gower"`` is all columns as numbers of weight 1.

    A new row beyond the range of a column is as far in it as can be, so that one odd value never drowns the
    others; a level that no fitted row has differs from all; a column that is constant tells no rows apart.
    Rows without a common column are at distance 1, the largest there is. With holes it is no metric: the
    triangle inequality fails, and two rows with different holes may be at distance 0.

    >>> from isentropic import ClassicalMDS
    >>> import numpy as np
    >>> X = np.array([[1.0, 0], [3.0, 0], [np.nan, 1], [5.0, 1]])
    >>> ClassicalMDS(metric=Gower(levels=(1,))).fit(X).embedding_.shape
    (4, 2)
    """

    levels: Annotated[tuple[int, ...], Each(Whole(0))] = ()  # numbers of columns, from 0
    ordered: Annotated[tuple[int, ...], Each(Whole(0))] = ()
    weights: Annotated[tuple[float, ...] | None, Maybe(Each(Number(0)))] = None
