"""What rounding alone does to a published number: the same work where features differ in their last digit.

Rows of few distinct values have equal distances, and rounding decides who is a neighbour; a tree takes the
first of two splits that are as good, so that a mirrored axis gives another. Which of all these numbers a
program prints depends on its library, not on its method: one that differs from ours within this span is not
told from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from isentropic._core.errors import require_count, require_one_of
from isentropic._core.values import Floats, Integers

from .maps import published_map
from .protocol import Made, Scores, classified_of, silhouettes_of
from .sets import prepared

_WORKS: Mapping[str, Callable[..., Scores]] = {"silhouettes": silhouettes_of, "classified": classified_of}


def rounded(source: str, method: str, of: str, n_draws: int, **arguments: Any) -> Scores:
    """The least and the most that a work gives where only rounding changes: ``name low``, ``name high``.

    ``of`` is "silhouettes" or "classified", which ``arguments`` are for. The first draw is ours as it is. In
    every other the features are :func:`moved`, in every second one alike for equal values, and each axis of
    the map, whose sign no method defines, points either way.
    """
    require_one_of("of", of, _WORKS)
    X, y = prepared(source)
    draws = range(1, require_count("n_draws", n_draws, least=2))
    maps = [partial(published_map, method, X, y), *(_moved_map(method, X, y, draw) for draw in draws)]
    found = [_WORKS[of](made, y, **arguments) for made in maps]
    names = [name for name in found[0] if all(name in one for one in found)]
    return {f"{name} low": min(one[name] for one in found) for name in names} | {
        f"{name} high": max(one[name] for one in found) for name in names
    }


def moved(X: Floats, seed: int, *, alike: bool = False) -> Floats:
    """Each value of each row one unit in its last place up, down, or as it is.

    So does rounding in the distances of rows; rounding in the scale of a column moves equal values ``alike``.

    >>> X = np.ones((100, 1))
    >>> np.unique((moved(X, 0) - X) / np.finfo(float).eps).tolist()
    [-0.5, 0.0, 1.0]
    >>> len(np.unique(moved(X, 0, alike=True)))
    1
    """
    draws = np.random.default_rng(seed)
    ways = draws.choice((-np.inf, 0.0, np.inf), X.shape)
    if alike:
        firsts = [np.unique(column, return_index=True, return_inverse=True)[1:] for column in X.T]
        ways = np.column_stack(
            [way[first[places]] for way, (first, places) in zip(ways.T, firsts, strict=True)]
        )
    return np.where(ways == 0, X, np.nextafter(X, ways))


def _moved_map(method: str, X: Floats, y: Integers, seed: int) -> Made:
    there = moved(X, seed, alike=seed % 2 == 0)

    def made(parameter: float | None) -> Floats:
        Z = published_map(method, there, y, parameter)
        return Z * np.random.default_rng(seed).choice((-1.0, 1.0), Z.shape[1])

    return made
