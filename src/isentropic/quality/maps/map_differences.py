"""Are two maps of the same data different? Their measures, and the jackknife of the difference over rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._core.errors import require
from ..._core.runtime import generator
from ..._core.values import DistanceRows, Floats, Integers
from ...distances import Metric, scaled_distance_rows, taken
from ..inputs import both_sides
from ..measures import OF_RANKS, Measure, kinds, verdict_measures
from ..ranks.rank_correlations import compare_ranks, rank_values
from ..ranks.rank_curves import Curves
from ..ranks.rank_sums import RankSums, rank_sums
from ..sampling import checked_neighbors, checked_sample

if TYPE_CHECKING:
    import pandas as pd

_GROUPS = 20  # of rows that are left out, one after the other
_ROWS = 1_000  # that "auto" compares with all others
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
        """One line a measure: both values, the difference, its interval, and which map is better."""
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
        _measured([taken(side, retained) for side in sides], rows, ks, n_jobs)
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
        sums = rank_sums(taken(given, retained), taken(mapped, retained), ks, rows, n_jobs=n_jobs)
        found.append(Curves.of(sums).values(verdict_measures(*OF_RANKS), ks))
    values = {name: np.array([one[name] for one in found]) for name in found[0]}
    tau = _tau_without(given, mapped, order[:_TAU_ROWS], n_jobs)
    return {**values, "kendall_tau": tau} if np.isfinite(tau).all() else values


def jackknife_half_width(without: Any) -> float:
    """Half of the 95% interval of a measure, from its values in :func:`jackknife_measures`."""
    return _half_width(np.asarray(without, float))


def _tau_without(X: DistanceRows, Z: DistanceRows, order: Integers, n_jobs: int | None) -> Floats:
    everyone = np.arange(len(order))
    D, E = (taken(side, order).rows(everyone) for side in (X, Z))
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
    """Of the 95% interval by the jackknife, from the values with one group of rows left out."""
    from scipy.stats import t

    groups = len(without)
    variance = (groups - 1) / groups * ((without - without.mean()) ** 2).sum()
    return float(t.ppf(0.975, groups - 1) * math.sqrt(variance))
