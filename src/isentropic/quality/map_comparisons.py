"""The measures of a map compared with another map, by the jackknife over rows, and with chance."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.errors import require, require_count
from .._core.runtime import generator
from .._core.values import DistanceRows, Floats, Integers
from ..distances import Metric, scaled_distance_rows, select_rows
from ..distances.sources import Points
from .inputs import both_sides
from .measures import OF_RANKS, Measure, kinds, plotted_curves, verdict_measures
from .ranks.rank_correlations import compare_ranks, rank_values
from .ranks.rank_curves import Curves
from .ranks.rank_sums import RankSums, rank_sums
from .sampling import checked_neighbors, checked_sample, sampled_rows

if TYPE_CHECKING:
    import pandas as pd

_GROUPS = 20  # of rows that are left out, one after the other
_ROWS = 1_000  # that "auto" compares with all others: differences and chance vary little between rows
_FEW = 2_000  # rows whose measures one thread takes
_TAU_ROWS = 400  # whose distances are put in order, twenty times


@dataclass(frozen=True, slots=True, eq=False)
class QualityComparison:
    """Measures of two maps, and the difference, second less first, with its 95% interval.

    The rows count as drawn from endlessly many of the same kind: an interval that leaves out 0 says that the
    difference is not one of these rows only.
    """

    n_neighbors: tuple[int, ...]
    n_rows: int  # that were compared with all others
    first: Mapping[str, float]
    second: Mapping[str, float]
    differences: Mapping[str, Measure]

    def better(self, name: str) -> str:
        """``"first"``, ``"second"``, or ``"undecided"`` if the interval of the difference holds 0."""
        low, high = self.differences[name].low, self.differences[name].high
        assert low is not None  # a difference always has an interval
        assert high is not None
        if low <= 0 <= high:
            return "undecided"
        return "second" if low > 0 else "first"

    def summary(self) -> pd.DataFrame:
        """Table with one line per measure: both values, the difference, its interval, and the better map."""
        import pandas as pd

        rows = {
            name: {
                "first": self.first[name],
                "second": self.second[name],
                "difference": difference.value,
                "low": difference.low,
                "high": difference.high,
                "better": self.better(name),
            }
            for name, difference in self.differences.items()
        }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("measure")


def compare_quality(
    X: Any,
    Z1: Any,
    Z2: Any,
    *,
    metric: Metric = "euclidean",
    n_neighbors: Any = None,
    sample: Any = "auto",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> QualityComparison:
    """Whether ``Z2`` keeps neighbourhoods better than ``Z1``, measure by measure, on the same rows.

    The interval is that of the jackknife: a twentieth of the rows is left out, on all sides, and the
    difference measured again, twenty times. What single rows contribute would not do, since rows near each
    other share their neighbours and so their luck: intervals from it miss the truth one time in four.
    ``O(s n m)`` time, twenty times for each map; ``sample`` is the number s of rows that are compared with
    all others, None for all, ``"auto"`` for at most 1,000.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> found = compare_quality(X, X[:, :2], X[:, :3], n_neighbors=10)
    >>> found.better("trustworthiness(10)")
    'second'
    >>> compare_quality(X, X[:, :2], -X[:, :2]).better("rnx_auc")
    'undecided'
    """
    given, one = both_sides(X, Z1, metric=metric, fewest=10, n_jobs=n_jobs)
    two = scaled_distance_rows(Z2, name="Z2", n_jobs=n_jobs)
    require(two.n == given.n, "Z2", f"a table with as many rows as X, {given.n}", two.n)
    ks = checked_neighbors(n_neighbors, given.n)
    most = given.n - math.ceil(given.n / _GROUPS) - 2
    require(ks[-1] <= most, "n_neighbors", f"at most {most}, to leave out a part of the rows", ks[-1])
    count = checked_sample(sample, given.n)
    count = min(_ROWS, given.n) if count == "auto" else count or given.n
    order = generator(random_state).permutation(given.n)
    sides = (given, one, two)
    first, second = _measured(sides, order[:count], ks, n_jobs)
    without = [
        _measured([select_rows(side, retained) for side in sides], rows, ks, n_jobs)
        for retained, rows in _parts(order, count)
    ]
    differences = {}
    for name in first:
        value = second[name] - first[name]
        half = _half_width(np.array([b[name] - a[name] for a, b in without]))
        differences[name] = Measure(value, value - half, value + half, best=math.inf)
    return QualityComparison(ks, count, first, second, differences)


def jackknife_measures(
    X: Any,
    Z: Any,
    *,
    metric: Metric = "euclidean",
    n_neighbors: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> dict[str, Floats]:
    """Grouped jackknife: near neighbors, T, C, R_NX at each k, area, tau without 1/20 of the rows, 20 times.

    The groups depend on nothing but the number of rows and ``random_state``: values of two maps of the same
    data can be compared group by group. :func:`jackknife_half_width` turns twenty of them into an interval.
    Tau is that of at most 400 rows, its deviations shrunk to what all rows would give.
    ``O(s n m)`` time, twenty times, for s = 1,000 rows, fewer of more than 4,000.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> found = jackknife_measures(X, X[:, :2], n_neighbors=10)
    >>> print(*sorted(found), len(found["rnx_auc"]))
    continuity(10) kendall_tau near_neighbors(10) r_nx(10) rnx_auc trustworthiness(10) 20
    >>> bool(0.01 < jackknife_half_width(found["rnx_auc"]) < 0.05)
    True
    """
    given, mapped = both_sides(X, Z, metric=metric, fewest=_GROUPS, n_jobs=n_jobs)
    n_jobs = 1 if given.n <= _FEW else n_jobs  # threads cost more than they save
    ks = checked_neighbors(n_neighbors, given.n)
    order = generator(random_state).permutation(given.n)
    count = min(given.n, _ROWS, max(_TAU_ROWS // 2, 4 * _ROWS * _ROWS // given.n))
    found = []
    for retained, rows in _parts(order, count):
        sums = rank_sums(select_rows(given, retained), select_rows(mapped, retained), ks, rows, n_jobs=n_jobs)
        found.append(Curves.of(sums).values(verdict_measures(*OF_RANKS), ks))
    values = {name: np.array([one[name] for one in found]) for name in found[0]}
    tau = _tau_without(given, mapped, order[:_TAU_ROWS], n_jobs)
    return {**values, "kendall_tau": tau} if np.isfinite(tau).all() else values


def jackknife_half_width(without: Any) -> float:
    """Half of the 95% interval of a measure, from its values in :func:`jackknife_measures`."""
    return _half_width(np.asarray(without, float))


def _tau_without(X: DistanceRows, Z: DistanceRows, order: Integers, n_jobs: int | None) -> Floats:
    everyone = np.arange(len(order))
    D, E = (select_rows(side, order).rows(everyone) for side in (X, Z))
    found = []
    for left in range(_GROUPS):
        retained = np.flatnonzero(everyone % _GROUPS != left)
        above = np.triu_indices(len(retained), 1)
        first, second = (np.ascontiguousarray(side[np.ix_(retained, retained)][above]) for side in (D, E))
        found.append(compare_ranks(second, rank_values(first, n_jobs=n_jobs), n_jobs=n_jobs).kendall_tau)
    values = np.array(found)
    # A statistic of pairs varies as one over the root of the rows.
    return values.mean() + (values - values.mean()) * math.sqrt(len(order) / X.n)


def _parts(order: Integers, count: int) -> Iterator[tuple[Integers, Integers]]:
    """The rows without one group after the other, and where the first ``count`` of ``order`` are in them."""
    group = np.arange(len(order)) % _GROUPS
    for left_out in range(min(_GROUPS, len(order))):
        retained = np.sort(order[group != left_out])
        yield retained, np.searchsorted(retained, order[:count][group[:count] != left_out])


def _measured(
    sides: Any, rows: Integers, ks: tuple[int, ...], n_jobs: int | None
) -> tuple[dict[str, float], dict[str, float]]:
    given, *maps = sides
    first, second = (_values(rank_sums(given, side, ks, rows, n_jobs=n_jobs), ks) for side in maps)
    return first, second


def _values(found: RankSums, ks: tuple[int, ...]) -> dict[str, float]:
    curves = Curves.of(found)
    points = [kind for kind in kinds("curve") if kind.is_reported and kind.better == "higher"]
    by_k = {name: value for k in ks for name, value in curves.values(points, (k,)).items()}
    return {**by_k, **curves.values(verdict_measures("area"), ks)}


def _half_width(without: np.ndarray) -> float:
    """Half-width of the 95% interval by the jackknife, from the values with one group of rows left out."""
    from scipy.stats import t

    groups = len(without)
    variance = (groups - 1) / groups * ((without - without.mean()) ** 2).sum()
    return float(t.ppf(0.975, groups - 1) * math.sqrt(variance))


# ---- Chance --------------------------------------------------------------------------------------


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
        other = select_rows(mapped, random.permutation(given.n))
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
