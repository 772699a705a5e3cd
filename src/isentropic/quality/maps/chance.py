"""Baseline of a map: the same measures for maps whose rows were permuted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._core.errors import require_count
from ..._core.runtime import generator
from ..._core.values import DistanceRows, Floats, Integers
from ...distances import Metric, taken
from ...distances.sources import Points
from ..inputs import both_sides
from ..measures import OF_RANKS, plotted_curves, verdict_measures
from ..ranks.rank_curves import Curves
from ..ranks.rank_sums import rank_sums
from ..sampling import checked_neighbors, sampled_rows

_ROWS = 1_000  # "auto" compares: chance varies little between rows
_MOST_HELD = 2**22  # distances: 32 MiB
_WIDE = 100  # columns, from which on distances take longer than ranks


@dataclass(frozen=True, slots=True, eq=False)
class Baseline:
    """The measures of a map, and of maps with the same points in random places.

    Curves have an entry for every k; ``chance`` has one row for each permutation. ``p_values`` holds, for the
    area under R_NX and for each curve at each chosen k, the share of maps that are at least as good,
    the map itself among them: the probability of that by chance.
    """

    n_neighbors: tuple[int, ...]
    n_rows: int  # that were compared with all others
    observed: Mapping[str, Floats]  # (n - 1,), r_nx and near_neighbors (n - 2,)
    chance: Mapping[str, Floats]  # (n_permutations, n - 1)
    measures: Mapping[str, Floats]  # (n_permutations,) by chance: those by which maps are compared, by name
    p_values: Mapping[str, float]

    @property
    def better_than_chance(self) -> bool:
        """Whether at most one map in twenty would have so large an area under R_NX by chance."""
        return self.p_values["rnx_auc"] <= 0.05

    def band(self, name: str) -> tuple[Floats, Floats]:
        """The least and the greatest value of a curve by chance, for every k."""
        return self.chance[name].min(axis=0), self.chance[name].max(axis=0)


def baseline(
    X: Any,
    Z: Any,
    *,
    metric: Metric = "euclidean",
    n_neighbors: Any = None,
    n_permutations: int = 19,
    sample: Any = "auto",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Baseline:
    """Measures of neighbourhoods by chance: the rows of ``Z`` in random order, several times.

    ``O(p s n m)`` time for p permutations and s rows; ``sample`` is the number of rows that are compared with
    all others, None for all, ``"auto"`` for at most 1,000. With 19 permutations a map that beats
    all of them has p = 0.05.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> baseline(X, X[:, :2]).better_than_chance
    True
    >>> baseline(X, X[::-1]).better_than_chance
    False
    """
    n_permutations = require_count("n_permutations", n_permutations)
    given, mapped = both_sides(X, Z, metric=metric, n_jobs=n_jobs)
    ks = checked_neighbors(n_neighbors, given.n)
    random = generator(random_state)
    rows = sampled_rows(sample, given.n, _ROWS, random)
    given = _held(given, rows)
    observed = Curves.of(rank_sums(given, mapped, ks, rows, n_jobs=n_jobs))
    shuffled = []
    for _ in range(n_permutations):
        other = taken(mapped, random.permutation(given.n))
        shuffled.append(Curves.of(rank_sums(given, other, ks, rows, n_jobs=n_jobs)))
    names = [kind.name for kind in plotted_curves()]
    return Baseline(
        n_neighbors=ks,
        n_rows=len(rows),
        observed={name: getattr(observed, name) for name in names},
        chance={name: np.array([getattr(curves, name) for curves in shuffled]) for name in names},
        measures=_by_chance(shuffled, ks),
        p_values=_p_values(observed, shuffled, ks),
    )


def _held(side: DistanceRows, rows: Integers) -> DistanceRows:
    """The same distances of these rows, measured once for all permutations, where that takes less time."""
    narrow = isinstance(side.rows, Points) and side.rows.data.shape[1] < _WIDE
    if narrow or len(rows) * side.n > _MOST_HELD:
        return side
    measured, place = side.rows(rows), np.full(side.n, -1)
    place[rows] = np.arange(len(rows))
    return DistanceRows(side.n, lambda numbers: measured[place[numbers]], side.name, exponent=side.exponent)


def _by_chance(shuffled: list[Curves], ks: tuple[int, ...]) -> dict[str, Floats]:
    found = [curves.values(verdict_measures(*OF_RANKS), ks) for curves in shuffled]
    return {name: np.array([values[name] for values in found]) for name in found[0]}


def _p_values(observed: Curves, shuffled: list[Curves], ks: tuple[int, ...]) -> dict[str, float]:
    def p_value(measured: float, by_chance: list[float]) -> float:
        return (1 + sum(value >= measured for value in by_chance)) / (1 + len(by_chance))

    held = [*verdict_measures("area"), *plotted_curves()]
    by_chance = [curves.values(held, ks) for curves in shuffled]
    return {
        name: p_value(measured, [values[name] for values in by_chance])
        for name, measured in observed.values(held, ks).items()
    }
