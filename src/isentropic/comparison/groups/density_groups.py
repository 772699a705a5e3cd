"""``find_groups``: density clusters of a map (ToMATo), their stability, and the columns that tell them apart.

No label is read. A group counts only if halves of the rows show it too; :func:`isentropic.explain` names the
columns in which it differs from the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ..._core.errors import require, require_count, require_number
from ..._core.values import Floats, Integers
from ...distances import euclidean_rows
from ...kernels.densities import basins
from ...neighbors import nearest_among
from ..explain.explanation import Explanation, compare_columns
from ..explain.source_columns import columns_of

_FORMAT = "isentropic.groups/1"
_TEST_FORMAT = "isentropic.group_test/1"
Answer = Literal["groups", "none", "not tested"]


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Rows that lie together in a map, denser than what is between them and others.

    ``stability`` is what found the group again: of :func:`find_groups` the share of random halves of the map
    that show it, of :func:`test_groups` its mean Jaccard index with clusters of disjoint halves.
    """

    name: str
    rows: Integers  # positions, increasing
    stability: float
    explanation: Explanation | None = None  # by which columns it differs from all others
    made_by: tuple[str, ...] = ()  # the columns that alone make it: without them it is gone

    @property
    def reproducibility(self) -> float:
        """The stability: 1 where every half of the rows shows the very same group."""
        return self.stability

    @property
    def lines(self) -> tuple[str, ...]:
        """By which columns it differs, in sentences; none where that was not asked."""
        return () if self.explanation is None else self.explanation.lines

    def to_json(self) -> dict[str, Any]:
        """Plain lists, strings and numbers."""
        return {
            "name": self.name,
            "n": len(self.rows),
            "rows": self.rows.tolist(),
            "stability": self.stability,
            "made_by": list(self.made_by),
            "lines": list(self.lines),
            "explanation": None if self.explanation is None else self.explanation.to_json(),
        }


@dataclass(frozen=True, slots=True, eq=False)
class Groups(Sequence[Group]):
    """The stable groups of a map, the largest first; none where the map is one cloud."""

    found: tuple[Group, ...]
    n_rows: int  # of the map
    n_unstable: int  # clusters of the map that halves of the rows did not show again
    n_resamples: int
    least_stability: float

    def __getitem__(self, position: Any) -> Any:
        return self.found[position]

    def __len__(self) -> int:
        return len(self.found)

    @property
    def labels(self) -> Integers:
        """(n,) for each row the position of its group, -1 for none."""
        labels = np.full(self.n_rows, -1)
        for position, group in enumerate(self.found):
            labels[group.rows] = position
        return labels

    def to_json(self) -> dict[str, Any]:
        """Plain lists, strings and numbers."""
        return {
            "format": _FORMAT,
            "n_rows": self.n_rows,
            "n_unstable": self.n_unstable,
            "n_resamples": self.n_resamples,
            "least_stability": self.least_stability,
            "groups": [group.to_json() for group in self.found],
        }


@dataclass(frozen=True, slots=True, eq=False)
class GroupTest:
    """The answer to "are there groups?", and the groups."""

    answer: Answer
    groups: Groups  # those found again, the largest first
    n_splits: int  # of the rows into two halves; 0 where nothing was tested
    least: float  # reproducibility from which a group counts
    reason: str = ""  # why nothing was tested

    @property
    def made_by(self) -> tuple[str, ...]:
        """The columns that alone make all of the groups; none where at least one group is more than that."""
        if not all(group.made_by for group in self.groups):
            return ()
        return tuple(dict.fromkeys(column for group in self.groups for column in group.made_by))

    def to_json(self) -> dict[str, Any]:
        """Plain lists, strings and numbers."""
        return {
            "format": _TEST_FORMAT,
            "answer": self.answer,
            "n_splits": self.n_splits,
            "least": self.least,
            "reason": self.reason,
            "made_by": list(self.made_by),
            "groups": [group.to_json() for group in self.groups],
        }


# ---- finding groups ------------------------------------------------------------------------------


_RISE = 3.5  # deviations of the log density that a hill must rise above the saddle to a higher one
_RISE_ON_CURVES = 6.0  # on a curve no way leads round a thin place: by chance alone saddles are deeper
_THIN = (1.75, 1.9)  # dimensions: a curve, even one with some width; the plane, less what its edge takes
_FEWEST = 10  # rows of a group: fewer explain nothing
_SAME = 2 / 3  # of the rows of either in both: the same group, found again
_LEAST_NEIGHBORS, _MOST_NEIGHBORS = 7, 50  # that a density is taken from
_MOST_READ, _MOST_CELLS = 4_000, 1_000_000  # rows and cells of the table that explain one group
_MOST_TESTED = 20  # columns and levels
_ALPHA = 0.01


def find_groups(
    Z: Any,
    table: Any = None,
    *,
    n_resamples: int = 20,
    least_stability: float = 0.75,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Groups:
    """Groups of rows in a map, found by density without labels (ToMATo), with their stability and columns.

    Nothing but the map is read: a group that the map itself makes is stable, too. Whether groups are real is
    tested by :func:`~isentropic.comparison.test_groups`, which fits the method again to halves of the rows.

    The log density of a place is ``log(rows near it) - d log r``, with r the distance to its k-th nearest
    place, k = sqrt(n) / 2 from 7 to 50, and d the intrinsic dimension of the map. Every row goes uphill to a
    peak. A hill is a group of its own if its peak rises 3.5 / sqrt(k), that is 3.5 standard errors, above the
    saddle to a higher one (6 of them on a curve, d < 1.75), and it has at least 10 and k rows. Then the same
    is done with ``n_resamples`` random halves of the rows: a group is found again where one of the hills
    there has two thirds of its members in common (Jaccard). Its stability is the share of halves in which it
    is; less than ``least_stability`` is none. ``O(n k log n)`` for each half.

    Parameters
    ----------
    Z : array (n, d)
        The map.
    table : Table, DataFrame or array (n, m), optional
        Its columns explain each group: those that tell it from all other rows, of 20 that a first half of
        the rows chooses. At most 4,000 rows and a million cells of it are read for a group.
    n_resamples : int
        Halves of the rows.
    least_stability : float
        From 0 to 1.
    random_state : int
        Seed of the halves.
    n_jobs : int or None
        Threads; what is found does not depend on them.

    References
    ----------
    F. Chazal, L. J. Guibas, S. Y. Oudot, P. Skraba, Persistence-based clustering in Riemannian manifolds,
    Journal of the ACM 60 (2013). C. Hennig, Cluster-wise assessment of cluster stability, Computational
    Statistics & Data Analysis 52 (2007).

    Examples
    --------
    >>> from isentropic import PCA, datasets, find_groups
    >>> iris = datasets.load("builtin:iris")
    >>> groups = find_groups(PCA().fit_transform(iris.X), iris)
    >>> [(group.name, len(group.rows), group.stability) for group in groups]
    [('group 1', 100, 1.0), ('group 2', 50, 1.0)]
    >>> groups[1].explanation.columns[0]
    'petal width (cm)'
    """
    Z = euclidean_rows(Z, "Z")
    n_resamples = require_count("n_resamples", n_resamples)
    threshold = require_number("least_stability", least_stability, "from 0 to 1", least=0.0, most=1.0)
    seed = require_count("random_state", random_state, least=0)
    hills = _hills(Z, _FEWEST, n_jobs)
    count = hills.max(initial=-1) + 1
    again = np.zeros(count)
    rng = np.random.default_rng(seed)
    for _ in range(n_resamples if count > 1 else 0):
        half = np.sort(rng.permutation(len(Z))[: len(Z) // 2])
        again += _is_found_again(hills[half], _hills(Z[half], _FEWEST // 2, n_jobs), count)
    stability = again / n_resamples
    sizes = np.bincount(hills[hills >= 0], minlength=count)
    stable = [
        hill for hill in np.argsort(-sizes, kind="stable") if stability[hill] >= threshold and count > 1
    ]
    if len(stable) == 1 and 2 * sizes[stable[0]] > len(Z):
        stable = []  # what is left of one cloud
    found = [
        Group(f"group {i + 1}", np.flatnonzero(hills == hill), float(stability[hill]))
        for i, hill in enumerate(stable)
    ]
    if table is not None:
        explained = explain_groups([group.rows for group in found], table, len(Z), seed)
        found = [replace(group, explanation=one) for group, one in zip(found, explained, strict=True)]
    return Groups(tuple(found), len(Z), int(count - len(stable)) if count > 1 else 0, n_resamples, threshold)


# ---- hills -------------------------------------------------------------------------------------


def _hills(Z: Floats, fewest: int, n_jobs: int | None) -> Integers:
    """For each row the number of its hill, -1 where that has too few rows. Equal rows are one place."""
    places, place_of, counts = np.unique(Z, axis=0, return_inverse=True, return_counts=True)
    k = int(np.clip(round(np.sqrt(len(Z)) / 2), _LEAST_NEIGHBORS, _MOST_NEIGHBORS))
    if len(Z) < 2 * fewest or len(places) <= k:
        return np.full(len(Z), -1)
    near, far = nearest_among(places, places, k, selves=np.arange(len(places)), n_jobs=n_jobs)
    dimension = map_dimension(far, Z.shape[1])
    density = np.log(counts + counts[near].sum(axis=1)) - dimension * np.log(far[:, -1])
    at_most = dimension + 4.0 / np.sqrt(len(places))  # two standard errors above: of few rows little is known
    rise = np.interp(at_most, _THIN, (_RISE_ON_CURVES, _RISE)) / np.sqrt(k)
    least = max(fewest, k * fewest // _FEWEST)
    peaks, sizes = np.empty(len(places), np.int64), np.zeros(len(places), np.int64)
    order = np.argsort(-density, kind="stable")
    basins(order, density, near.astype(np.int64), counts, rise, least, peaks, sizes)
    retained = np.flatnonzero((peaks == np.arange(len(places))) & (sizes >= least))
    number = np.full(len(places), -1)
    number[retained] = np.arange(len(retained))
    return number[peaks][place_of.ravel()]


def map_dimension(far: Floats, most: int) -> float:
    """Levina and Bickel's dimension, from 1 on: the density of a curve in the plane varies as on a line."""
    mean_log = float(np.mean(np.log(far[:, -1:] / far[:, :-1])))
    return min(float(most), max(1.0, 1.0 / mean_log)) if mean_log > 0 else float(most)


def _is_found_again(hills: Integers, others: Integers, count: int) -> Floats:
    """1 for each hill that shares two thirds of its members (Jaccard) with another; 0 otherwise."""
    n_others = others.max(initial=-1) + 1
    if n_others < 2:
        return np.zeros(count)
    both = np.bincount((hills + 1) * (n_others + 1) + others + 1, minlength=(count + 1) * (n_others + 1))
    shared = both.reshape(count + 1, n_others + 1)
    joined = shared.sum(axis=1)[1:, None] + shared.sum(axis=0)[None, 1:] - shared[1:, 1:]
    return np.asarray((shared[1:, 1:] / np.maximum(joined, 1)).max(axis=1) >= _SAME, dtype=float)


# ---- columns -----------------------------------------------------------------------------------


def explain_groups(groups: Sequence[Integers], table: Any, n: int, seed: int) -> Iterator[Explanation]:
    """The columns that tell each group from all others; of many rows a sample of either side is read."""
    columns = columns_of(table, labels=True)
    require(len(columns[0].values) == n, "table", f"a table of the {n} rows of Z", len(columns[0].values))
    side = max(_FEWEST, min(_MOST_READ, _MOST_CELLS // len(columns)) // 2)
    rng = np.random.default_rng(seed)
    for own in groups:
        others = np.setdiff1d(np.arange(n), own)
        sides = np.zeros((2, n), bool)
        for flags, rows in zip(sides, (own, others), strict=True):
            flags[rng.permutation(rows)[:side]] = True
        explained = compare_columns(columns, sides[0], sides[1], _ALPHA, _MOST_TESTED, seed)
        yield replace(explained, n_rows=len(own), n_against=len(others))
