"""Nearest rows by a dissimilarity that counts classes, from the nearest of each class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from .._core.errors import require, require_count, require_number, require_one_of
from .._core.runtime import row_blocks
from .._core.state import Array, Double, Whole
from .._core.values import ClassDivergence, Dis1, Dis2, Dis3, Dis4
from ..distances import EUCLIDEAN, Metric, distances_between, is_gower, rows_per_block
from ..neighbors import RowIndex, lists_in_rows
from .classes import class_aware_distances, expected_shares

# ---- How far apart the rows of a table are on the whole: mean squared and largest distance, in blocks ----


_PAIRS = 20_000  # rows of which all pairs are measured; beyond, the box around them bounds their distances


def mean_squared_distance(X: np.ndarray, metric: Metric, n_jobs: int | None = None) -> float:
    """Mean of d^2 over the pairs of rows; 1 where all are 0. Euclidean: ``2 n / (n - 1)`` times the variance.

    >>> import numpy as np
    >>> round(mean_squared_distance(np.array([[0.0], [1.0], [3.0]]), "euclidean"), 12)
    4.666666666667
    """
    n = len(X)
    if metric in EUCLIDEAN:
        centred = X - X.mean(axis=0)
        unit = float(np.abs(centred).max()) or 1.0
        mean, longest = 2 / (n - 1) * float(((centred / unit) ** 2).sum()), unit
    else:
        sums, longest = 0.0, largest_distance(X, metric, n_jobs) or 1.0
        for block in row_blocks(n, "distances", size=rows_per_block(n)):
            sums += float(((distances_between(X[block], X, metric, n_jobs) / longest) ** 2).sum())
        mean = sums / (n * (n - 1))
    return mean * longest * longest or 1.0


def largest_distance(X: np.ndarray, metric: Metric, n_jobs: int | None = None) -> float:
    """Largest distance between two rows; of more than 20,000 rows the diagonal of their box."""
    n = len(X)
    if metric in EUCLIDEAN and n > _PAIRS:
        return float(np.linalg.norm(np.ptp(X, axis=0)))
    blocks = row_blocks(n, "distances", size=rows_per_block(n))
    return max(float(distances_between(X[block], X, metric, n_jobs).max()) for block in blocks)


# --------------------------------------------------------------------------------------------------
# How far rows are apart once their classes count: dis1 to dis4 and class divergences, as fitted to a
# table.
#
# Each has two forms: ``between`` for rows whose classes are known, and ``expected`` for new rows, which
# have a
# share of every class (None: no class is estimated, and the term of the classes is left out). For rows of one
# class both grow with the distance: so the nearest by a dissimilarity are among the nearest of each class.


MOST_SPREAD = 100.0  # of the column of dis4: exp of it, squared and times distances, is still a number
CHOICES = {"dis1": Dis1, "dis2": Dis2, "dis3": Dis3, "divergence": ClassDivergence}


@dataclass(frozen=True, slots=True)
class Exponential:
    """dis1: within a class below 1, between classes without bound."""

    width: Annotated[float, Double(above=0)]
    discount: Annotated[float, Double(0, most=1)]

    def between(
        self, d: np.ndarray, heads: np.ndarray, tails: np.ndarray, *, warns: bool = True
    ) -> np.ndarray:
        same = heads == tails
        return class_aware_distances(d, same, width=self.width, discount=self.discount, warns=warns)

    def expected(self, d: np.ndarray, shares: np.ndarray | None, tails: np.ndarray) -> np.ndarray:
        same = same_class(shares, tails)
        return class_aware_distances(d, same, width=self.width, discount=self.discount, warns=False)


@dataclass(frozen=True, slots=True)
class Shrunk:
    """dis2: within a class a share of the distance."""

    factor: Annotated[float, Double(1)]

    def between(
        self, d: np.ndarray, heads: np.ndarray, tails: np.ndarray, *, warns: bool = True
    ) -> np.ndarray:
        return np.where(heads == tails, d / self.factor, d)

    def expected(self, d: np.ndarray, shares: np.ndarray | None, tails: np.ndarray) -> np.ndarray:
        same = same_class(shares, tails)
        return same * (d / self.factor) + (1 - same) * d


@dataclass(frozen=True, slots=True)
class Added:
    """dis3 and class divergences: a length for each pair of classes comes to the distance."""

    lengths: Annotated[np.ndarray, Array("c", "c", least=0)]  # (c, c), zero on the diagonal

    def between(
        self, d: np.ndarray, heads: np.ndarray, tails: np.ndarray, *, warns: bool = True
    ) -> np.ndarray:
        return d + self.lengths[heads, tails]

    def expected(self, d: np.ndarray, shares: np.ndarray | None, tails: np.ndarray) -> np.ndarray:
        if shares is None:
            return d + 0.0
        return d + np.take_along_axis(expected_shares(shares, self.lengths), tails, axis=1)


@dataclass(frozen=True, slots=True)
class Directed:
    """dis4, by a column of the rows: it needs both rows, so that the nearest of a class may be any of it."""

    column: Annotated[int, Whole(0)]

    def split(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The columns that distances are of, and the one that they are weighed by."""
        return np.ascontiguousarray(np.delete(X, self.column, axis=1)), X[:, self.column]


ClassDistance = Exponential | Shrunk | Added


def same_class(shares: np.ndarray | None, tails: np.ndarray) -> Any:
    """Probability, (b, k), that a new row has the class of each of k others; 1 where none is estimated."""
    return 1.0 if shares is None else np.take_along_axis(shares, tails, axis=1)


def directed_distances(
    d: np.ndarray, share: np.ndarray | float, heads: np.ndarray, tails: np.ndarray
) -> np.ndarray:
    """dis4: ``d exp(v_i - v_j)`` within a class, v a number of each row, as its time; d between classes.

    Directed. Its mean with the other direction, ``d cosh(v_i - v_j)``, can only push rows of a class apart:
    a method that needs one number a pair has no use for it. ``heads`` and ``tails`` are v of both rows.

    >>> import numpy as np
    >>> directed_distances(np.array([2.0, 2.0]), np.array([1, 0]), 0.0, np.log(2.0)).tolist()
    [1.0, 2.0]
    """
    return share * d * np.exp(heads - tails) + (1 - share) * d


def checked_dissimilarity(choice: Any, *, directed: bool = False) -> Any:
    """The value of a choice that may be given by name, its numbers checked; ``directed`` allows dis4."""
    if directed and isinstance(choice, Dis4):
        require_count("column", choice.column, "the number of a column, from 0", least=0)
        return choice
    hint = "Or give Dis1(...), Dis2(...), Dis3(...) or ClassDivergence(...)."
    if isinstance(choice, str):
        require_one_of("dissimilarity", choice, CHOICES, hint)
        choice = CHOICES[choice]()
    require(type(choice) in CHOICES.values(), "dissimilarity", f"one of {', '.join(CHOICES)}", choice, hint)
    if isinstance(choice, Dis1):
        require_number("alpha", choice.alpha, "a number in [0, 1]", most=1)
        if not (isinstance(choice.beta, str) and choice.beta == "auto"):
            require_number("beta", choice.beta, "'auto' or a positive number in squared units of X", above=0)
    elif isinstance(choice, Dis2):
        require_number("psi", choice.psi, "a number of at least 1", least=1)
    elif isinstance(choice, Dis3):
        require_number("mu", choice.mu, "a number in [0, 1]", most=1)
    else:
        require_number("alpha", choice.alpha, "a number in [0, 1]", most=1)
        checked_scale(choice.scale)
    return choice


def fitted_dissimilarity(
    choice: Any,
    X: np.ndarray,
    classes: np.ndarray,
    *,
    metric: Metric = "euclidean",
    n_jobs: int | None = None,
) -> ClassDistance:
    """dis1 to dis3 with their numbers found from a table; of a single class the plain distance."""
    choice, count = checked_dissimilarity(choice), int(classes.max()) + 1
    if count == 1:
        return Added(np.zeros((1, 1)))
    if isinstance(choice, Dis1):
        auto = isinstance(choice.beta, str)
        width = mean_squared_distance(X, metric, n_jobs) if auto else float(choice.beta)
        return Exponential(width, float(choice.alpha))
    if isinstance(choice, Dis2):
        return Shrunk(float(choice.psi))
    longest = largest_distance(X, metric, n_jobs)
    return Added(choice.mu * longest * (1.0 - np.eye(count)))


def fitted_column(choice: Dis4, X: np.ndarray, metric: Metric) -> Directed:
    """dis4 of a table that has its column, and others beside it."""
    must_be = "dis1, dis2 or dis3 for distances that are given, or Gower's, whose columns are no numbers"
    require(metric != "precomputed" and not is_gower(metric), "dissimilarity", must_be, choice)
    m = X.shape[1]
    require(choice.column < m and m > 1, "column", f"one of {m}, and not the only one", choice.column)
    spread = float(np.ptp(X[:, choice.column]))
    hint = "Scale the column: it is the logarithm of a factor."
    require(spread <= MOST_SPREAD, "column", f"one that spans at most {MOST_SPREAD:g}", spread, hint)
    return Directed(int(choice.column))


def checked_scale(scale: Any) -> None:
    fits = scale is None or (isinstance(scale, str) and scale == "match")
    require(fits, "scale", "'match' or None", scale, "None adds nats to lengths.")


class ClassIndex:
    """Rows with a class, prepared for searches class by class. ``O(n m)`` memory, a search for each class."""

    def __init__(self, X: np.ndarray, classes: np.ndarray, metric: Metric = "euclidean"):
        self._X, self.classes, self.metric = X, classes, metric

    def among(
        self, k: int, measure: ClassDistance, n_jobs: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The k other rows nearest to each by the dissimilarity, and their plain distances, nearest first."""
        rows = np.arange(len(self._X))

        def weigh(d: np.ndarray, tails: np.ndarray) -> np.ndarray:
            return measure.between(d, self.classes[:, None], tails, warns=False)

        return self._merged(self._X, k, weigh, rows, n_jobs)[:2]

    def neighbor_lists(
        self, k: int, measure: ClassDistance, n_jobs: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The k other rows nearest to each by the dissimilarity, and that, nearest first."""
        near, lengths = self.among(k, measure, n_jobs)
        return near, measure.between(lengths, self.classes[:, None], self.classes[near])

    def nearest(
        self,
        X: np.ndarray,
        k: int,
        measure: ClassDistance,
        shares: np.ndarray | None,
        n_jobs: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """The k rows nearest to new ones by the expected dissimilarity, and that; rows by themselves."""

        def weigh(d: np.ndarray, tails: np.ndarray) -> np.ndarray:
            return measure.expected(d, shares, tails)

        indices, _, values = self._merged(X, k, weigh, None, n_jobs)
        return indices, values

    def _merged(self, X, k: int, weigh, selves, n_jobs):
        """Lists of all classes so far, the k least kept: ``O(n k)`` memory whatever the number of classes."""
        parts: list[np.ndarray] = [np.empty((len(X), 0), np.int32), *np.empty((2, len(X), 0))]
        for c, members, index in self._indexes:
            queries = X[:, members] if self.metric == "precomputed" else X
            count = min(k + (selves is not None), len(members))
            found, d = index.nearest(np.ascontiguousarray(queries), count, n_jobs=n_jobs)
            near = members[found].astype(np.int32)
            values = weigh(d, np.full(d.shape, c))
            if selves is not None:
                values[near == selves[:, None]] = np.inf
            parts = [np.concatenate(two, axis=1) for two in zip(parts, (near, d, values), strict=True)]
            order = np.lexsort((parts[0], parts[2]), axis=1)[:, :k]
            parts = [np.take_along_axis(part, order, axis=1) for part in parts]
        return parts

    @cached_property
    def _indexes(self) -> list[tuple[int, np.ndarray, RowIndex]]:
        found = []
        for c in np.unique(self.classes).tolist():
            members = np.flatnonzero(self.classes == c)
            given = self.metric == "precomputed"  # then queries are distances, and the rows are not read
            rows = np.empty((len(members), 0)) if given else self._X[members]
            found.append((c, members, RowIndex(rows, self.metric)))
        return found


class DirectedIndex:
    """Rows with a class, searched by dis4: every row is measured, ``O(n m)`` time for each."""

    def __init__(self, X: np.ndarray, classes: np.ndarray, metric: Metric = "euclidean"):
        self._X, self._classes, self._metric = X, classes, metric

    def neighbor_lists(
        self, k: int, measure: Directed, n_jobs: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The k other rows nearest to each, and how far they are, nearest first."""
        same = (self._classes[:, None] == np.unique(self._classes)).astype(float)
        return self._lists(self._X, k, measure, same, np.arange(len(self._X)), n_jobs)

    def nearest(
        self, X: np.ndarray, k: int, measure: Directed, shares: np.ndarray | None, n_jobs: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The k rows nearest to new ones by the expected dissimilarity, and that; rows by themselves."""
        return self._lists(X, k, measure, shares, np.full(len(X), -1), n_jobs)

    def _lists(self, X, k: int, measure: Directed, shares, selves, n_jobs) -> tuple[np.ndarray, np.ndarray]:
        rows, levels = measure.split(self._X)
        queries, own = measure.split(X)
        indices, values = np.empty((len(X), k), np.int32), np.empty((len(X), k))
        for block in row_blocks(len(X), "neighbours", size=rows_per_block(len(rows))):
            d = distances_between(queries[block], rows, self._metric, n_jobs)
            tails = np.broadcast_to(self._classes, d.shape)
            share = same_class(None if shares is None else shares[block], tails)
            # of a new row that lies absurdly far outside, the factor ends before it is no number
            heads = np.clip(own[block], levels.min() - MOST_SPREAD, levels.max() + MOST_SPREAD)[:, None]
            D = np.ascontiguousarray(directed_distances(d, share, heads, levels))
            lists_in_rows(D, selves[block], indices[block], values[block], n_jobs)
        return indices, values
