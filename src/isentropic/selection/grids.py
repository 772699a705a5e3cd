"""What is tried: products of values, explicit lists, geometric ranges."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from .._core.errors import is_real, require, require_count

Grid = Mapping[str, Sequence[Any]] | Iterable[Mapping[str, Any]]


def as_grid(grid: Grid) -> tuple[dict[str, Any], ...]:
    """Every set of parameters in a fixed order: the product of the values, or the given sets.

    >>> as_grid({"k": [5, 10], "root": [False, True]})[:2]
    ({'k': 5, 'root': False}, {'k': 5, 'root': True})
    >>> as_grid([{"k": 5}, {"eps": 0.1}])
    ({'k': 5}, {'eps': 0.1})
    """
    if isinstance(grid, Mapping):
        for name, values in grid.items():
            several = isinstance(values, Sequence | np.ndarray) and not isinstance(values, str)
            hint = f"For instance: {{{name!r}: [5, 10, 20]}}."
            require(several and len(values) > 0, f"grid[{name!r}]", "a list of values", values, hint)
        sets = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
    else:
        sets = []
        several = isinstance(grid, Iterable) and not isinstance(grid, str)
        require(several, "grid", "a mapping, or a list of mappings", grid)
        for item in grid:
            require(isinstance(item, Mapping), "grid", "a mapping, or a list of mappings", item)
            sets.append(dict(item))
    require(bool(sets), "grid", "at least one set of parameters", grid)
    return tuple({name: _plain(value) for name, value in item.items()} for item in sets)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def geometric(low: float, high: float, count: int) -> tuple[Any, ...]:
    """``count`` values from low to high, each the same multiple of the one before; whole between whole ends.

    Whole values that coincide after rounding come once.

    >>> geometric(5, 80, 5)
    (5, 10, 20, 40, 80)
    >>> geometric(0.01, 1.0, 3)
    (0.01, 0.1, 1.0)
    """
    require(
        is_real(low) and is_real(high) and 0 < low <= high < math.inf,
        "low, high",
        "0 < low <= high",
        (low, high),
    )
    count = require_count("count", count)
    values = np.geomspace(low, high, count) if count > 1 else np.array([math.sqrt(low * high)])
    if isinstance(low, Integral) and isinstance(high, Integral):
        return tuple(int(value) for value in np.unique(values.round()))
    rounded = tuple(float(f"{value:.6g}") for value in values)
    return (float(low), *rounded[1:-1], float(high)) if count > 1 else rounded


def neighbor_grid(n_rows: int, count: int, default: int | None = None) -> tuple[int, ...]:
    """Numbers of neighbours worth trying on ``n_rows`` rows: 5 to 100, at most a quarter of the rows.

    The default of the method, where given and possible, is one of them.

    >>> neighbor_grid(1000, 5)
    (5, 11, 22, 47, 100)
    >>> neighbor_grid(40, 3, default=8)
    (5, 8, 10)
    """
    high = max(2, min(100, require_count("n_rows", n_rows) // 4))
    values = geometric(min(5, high), high, count)
    if default is None or not min(values) < default < max(values) or default in values or len(values) < 3:
        return values
    inner = values[1:-1]
    # the default takes the place of the nearest value on the log scale: it costs no further trial
    nearest = min(inner, key=lambda value: abs(math.log(value / default)))
    return tuple(sorted({default, *(value for value in values if value != nearest)}))
