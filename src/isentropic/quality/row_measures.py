"""Measures of single rows: p-values of their positions, jumps of the map, and checks of selections.

A map may draw one group in two places, or draw unrelated rows within it. The nearest rows in the data tell: a
row outside a selection with most of them inside was left out, and a row inside with most of them outside is a
stranger.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from .._core.arguments import unmasked
from .._core.errors import InvalidInputError, require, require_count, require_number
from .._core.runtime import generator, row_blocks
from .._core.values import DistanceRows, Floats, Integers, Neighbors
from ..distances import Metric, finite_rows
from ..kernels._jit import threads
from ..kernels.row_ranks import place_tests
from ..linalg import rows_in_unit
from ..neighbors import nearest_among
from .inputs import both_sides
from .sampling import EXACT_ROWS, FIRST_ROWS, sampled_rows

_REFERENCES = 300  # rows to which distances are compared,
_PLACES = 99  # and other rows whose places are tried; at most half of all rows each
_BLOCK = 256  # rows whose distances are held at a time
_FEWEST = 8  # rows of a map: the nearest half of fewer has no order to speak of
_CHANCE = 0.05  # a row whose p is above it is not told from one in a random place
_FLAT = 0.5  # above it, p-values of rows that are placed better than by chance are rare


@dataclass(frozen=True, slots=True, eq=False)
class RowTests:
    """Tests of rows: how well the position of each fits, and how many other positions fit as well."""

    rows: Integers  # (s,) row numbers, increasing
    reliability: Floats  # (s,) correlation of ranks of distances in the data and on the map; 1 perfect
    p: Floats  # (s,) share of places on the map that would suit the row at least as well, its own included
    n_near: int  # rows that each is compared with
    n_rows: int  # of the map

    @property
    def by_chance(self) -> float:
        """Estimated share of rows that are placed no better than by chance (Storey).

        Their p-values are even from 0 to 1, those of all others near 0: twice the share above one half.
        """
        return min(1.0, float(np.mean(self.p > _FLAT)) / (1.0 - _FLAT))

    @property
    def doubtful(self) -> Integers:
        """Rows whose p is above 0.05: nothing tells them from rows in random places.

        Of a map of fewer than 40 rows, which has too few places for such a p, above the least there is.
        """
        return self.rows[self.p > doubtful_above(self.n_rows)]


def doubtful_above(n_rows: int) -> float:
    """The p above which a row of a map is doubtful; no less than a row that fits best has for sure.

    >>> doubtful_above(1000), doubtful_above(20)
    (0.05, 0.1)
    """
    return max(_CHANCE, 1.0 / min(_PLACES, n_rows - n_rows // 2))


def row_tests(
    X: Any,
    Z: Any,
    *,
    metric: Metric = "euclidean",
    share: float = 0.5,
    rows: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> RowTests:
    """Test the place of every row on a map against random ones (scDEED's reliability, for any map).

    Distances to references are compared, up to 300 drawn rows. The reliability of row i is the correlation
    ``r_i`` of their ranks in the data and on the map, over the ``share`` of them that is nearest to it in the
    data. Then the row is put in the places of up to 99 other drawn rows c, and ``p_i = (1 + #{c: r_i(c) >=
    r_i}) / (1 + #c)``: the permutation p-value of its place. On a map whose rows were shuffled p is even from
    0 to 1. Of more than 30,000 rows 4,000 are tested. ``O(300 s (m + 50))`` time for s rows, ``O(s)``
    memory.

    Parameters
    ----------
    X : array (n, m)
        The data; distances with ``metric="precomputed"``.
    Z : array (n, d)
        The map.
    share : float
        Of the rows, the nearest in the data: smaller ones ask for the order of nearer rows.
    rows : array of bool (n,), or positions, optional
        Those to test.

    References
    ----------
    L. Xia, C. Lee, J. J. Li, Statistical method scDEED for detecting dubious 2D single-cell embeddings and
    optimizing t-SNE and UMAP hyperparameters, Nature Communications 15 (2024). J. D. Storey, A direct
    approach to false discovery rates, Journal of the Royal Statistical Society B 64 (2002).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 3)) * [3.0, 3.0, 0.5]
    >>> Z = X[:, :2].copy()
    >>> Z[:40] = Z[39::-1]  # forty rows in places of others
    >>> found = row_tests(X, Z)
    >>> int((found.doubtful < 40).sum()), int((found.doubtful >= 40).sum())
    (39, 7)
    """
    given, mapped = both_sides(X, Z, metric=metric, fewest=_FEWEST, n_jobs=n_jobs)
    n = given.n
    share = require_number("share", share, "above 0, at most 1", above=0.0, most=1.0)
    random = generator(random_state)
    order = random.permutation(n)
    references, places = order[: min(_REFERENCES, n // 2)], order[n // 2 :][:_PLACES]
    tested = _tested(rows, n, random)
    near = min(len(references) - 1, max(_FEWEST // 2 - 1, round(share * (len(references) - 1))))
    ranks = rankdata(_distances(mapped, places, references), axis=1)
    fits, better = np.empty(len(tested)), np.empty(len(tested), np.int64)
    at = np.full(n, -1)
    at[places] = np.arange(len(places))
    for part in row_blocks(len(tested), "tests of rows", size=_BLOCK):
        mine = tested[part]
        lists = _near(given, mine, references, near)
        own = rankdata(_distances(mapped, mine, references), axis=1)
        with threads(n_jobs):
            place_tests(*lists, own, ranks, at[mine], fits[part], better[part])
    tried = len(places) - (at[tested] >= 0)
    return RowTests(tested, fits, (1 + better) / (1 + tried), near, n)


def _near(X: DistanceRows, rows: Integers, references: Integers, near: int) -> tuple[Integers, Floats]:
    """The references nearest to each row in the data, itself left out, and the ranks of their distances."""
    apart = _distances(X, rows, references)
    apart[rows[:, None] == references] = np.inf
    nearest = np.argsort(apart, axis=1, kind="stable")[:, :near]
    return nearest, rankdata(np.take_along_axis(apart, nearest, axis=1), axis=1)


def _tested(rows: Any, n: int, random: np.random.RandomState) -> Integers:
    if rows is None:
        return np.arange(n) if n <= EXACT_ROWS else sampled_rows(FIRST_ROWS, n, n, random)
    chosen = np.flatnonzero(row_flags("rows", rows, n))
    require(len(chosen) > 0, "rows", "at least one row", "none")
    return chosen


def _distances(side: DistanceRows, rows: Integers, references: Integers) -> Floats:
    if side.pairs is None or len(references) == side.n:
        return side.rows(rows)[:, references]
    first, second = np.repeat(rows, len(references)), np.tile(references, len(rows))
    return side.pairs(first, second).reshape(len(rows), len(references))


# ---- Jumps of a map ------------------------------------------------------------------------------


JUMP = 1.5  # times the reach of its neighbours on the map: beyond an even step, that is no wobble
_ROWS = 1_000  # "auto" moves: of more rows, as many are drawn


@dataclass(frozen=True, slots=True, eq=False)
class MapJumps:
    """Jumps of a map: how much the longest step from a row to a neighbour exceeds an even one."""

    rows: Integers  # (s,) row numbers, increasing
    jumps: Floats  # (s,) the excess, in units of the reach of the row's neighbours on the map
    n_neighbors: int
    n_steps: int

    @property
    def torn(self) -> Integers:
        """Rows whose jump exceeds one and a half times the reach of their neighbours on the map."""
        return self.rows[self.jumps > JUMP]


def map_jumps(
    place: Callable[[Floats], Any],
    X: Any,
    Z: Any,
    *,
    n_neighbors: int = 10,
    n_steps: int = 4,
    sample: Any = "auto",
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> MapJumps:
    """Walk from rows to a neighbour in small steps, place each step, and see whether the map jumps.

    Row i walks to row j, that of its ``n_neighbors`` nearest rows in the data that is farthest on the map, by
    ``x(t) = x_i + t (x_j - x_i)`` for ``n_steps`` equal steps of t from 0 to 1. Its jump is what the longest
    step on the map exceeds an even one by, ``(max |z(t + 1/n_steps) - z(t)| - |z_j - z_i| / n_steps) / r_i``,
    with z(0) and z(1) the places of both rows, those between from ``place``, and r_i the distance to the k-th
    nearest row on the map, or the median of those over all rows where that is more. A smooth map takes even
    steps. One that tears neighbours apart takes nearly the whole way in one. One that only stretches
    them, as a projection does, does not jump: that is how this differs from :func:`tears`.

    Cost: ``s (n_steps - 1)`` placements, beside the neighbours of s rows.

    Parameters
    ----------
    place : callable
        From rows (b, m) to places (b, d), each by itself: ``model.transform``.
    X : array (n, m)
        The fitted data.
    Z : array (n, d)
        Their map: ``model.embedding_``.
    n_neighbors, n_steps : int
        See above.
    sample : int, None or "auto"
        Rows that are moved: all with None, at most 1,000 drawn ones by default.

    References
    ----------
    Z. Liu, R. Ma, Y. Zhong, Assessing and improving reliability of neighbor embedding methods: a
    map-continuity perspective, Nature Communications 16 (2025).

    Examples
    --------
    >>> import numpy as np
    >>> from isentropic import PCA
    >>> X = np.random.default_rng(0).uniform(size=(200, 3)) * [4.0, 4.0, 0.1]
    >>> model = PCA().fit(X)
    >>> len(map_jumps(model.transform, X, model.embedding_).torn)
    0
    """
    require(callable(place), "place", "a function from rows to places, as model.transform", place)
    X, Z = finite_rows(X, "X", fewest=3), finite_rows(Z, "Z")
    n = len(X)
    require(len(Z) == n, "Z", f"a map of the same {n} rows", f"shape {Z.shape}")
    k = min(require_count("n_neighbors", n_neighbors), n - 1)
    n_steps = require_count("n_steps", n_steps, least=2)
    rows = sampled_rows(sample, n, _ROWS, generator(random_state))
    data, exponent = rows_in_unit(X)[0], rows_in_unit(Z)[1]
    origin, Z = Z[0], _in_unit(Z, Z[0], exponent)
    near = nearest_among(data[rows], data, k, selves=rows, n_jobs=n_jobs)[0]
    apart = np.linalg.norm(Z[near] - Z[rows][:, None], axis=2)
    ends = near[np.arange(len(rows)), apart.argmax(axis=1)]
    walk = _in_unit(_walk(place, X, rows, ends, n_steps, Z.shape[1]), origin, exponent)
    places = np.concatenate([Z[rows][None], walk, Z[ends][None]])
    longest = np.linalg.norm(np.diff(places, axis=0), axis=2).max(axis=0)
    excess = np.maximum(longest - apart.max(axis=1) / n_steps, 0.0)
    return MapJumps(rows, excess / _reaches(Z, k, n_jobs)[rows], k, n_steps)


def _walk(
    place: Callable[[Floats], Any], X: Floats, rows: Integers, ends: Integers, n_steps: int, d: int
) -> Floats:
    """Mapped positions (n_steps - 1, s, d) between the rows and their ends."""
    shares = np.arange(1, n_steps)[:, None, None] / n_steps
    between = X[rows] + shares * (X[ends] - X[rows])
    mapped = np.asarray(place(between.reshape(-1, X.shape[1])), np.float64)
    count = between.shape[0] * between.shape[1]
    must_be = f"a function that gives {d} coordinates of each row, here ({count}, {d})"
    require(mapped.shape == (count, d), "place", must_be, mapped.shape)
    lost = int((~np.isfinite(mapped)).sum())
    require(lost == 0, "place", "a function that gives finite coordinates", f"{lost} that are not")
    return mapped.reshape(*between.shape[:2], d)


def _in_unit(places: Floats, origin: Floats, exponent: int) -> Floats:
    """Coordinates in the unit of the map, relative to an origin; unchanged if the unit is 1."""
    if exponent == 0:
        return places
    return np.ldexp(np.ldexp(places, -1) - np.ldexp(origin, -1), 1 - exponent)


def _reaches(Z: Floats, k: int, n_jobs: int | None) -> Floats:
    """Distance of each row to its k-th neighbour on the map, at least the median one."""
    far = nearest_among(Z, Z, k, selves=np.arange(len(Z)), n_jobs=n_jobs)[1][:, -1]
    usual = float(np.median(far)) or float(np.ptp(Z, axis=0).max()) or 1.0
    return np.maximum(far, usual)


# ---- Selections of rows --------------------------------------------------------------------------


Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class SelectionCheck:
    """A selection compared with the nearest rows in the data."""

    inside: float  # share of the nearest rows of the selected ones that are selected too
    chance: float  # what as many rows drawn at random would have
    left_out: Integers  # rows outside with more than half of their nearest rows inside
    strangers: Integers  # rows inside with more than half of their nearest rows outside


def check_selection(neighbors: Neighbors | Any, rows: Any) -> SelectionCheck:
    """Compare a selection with the nearest rows in the data. ``O(n k)``.

    Parameters
    ----------
    neighbors : Neighbors, or array (n, k) of positions
        The nearest rows of every row in the data, itself not among them.
    rows : array of bool (n,), or positions
        The selection, of at least one row.

    Examples
    --------
    Five rows are neighbours of each other, and so are five others. Of the first five the lasso missed
    the last, and it caught one of the others:

    >>> import numpy as np
    >>> near = np.array([[j for j in range(5) if j != i] for i in range(5)])
    >>> near = np.concatenate([near, near + 5])
    >>> found = check_selection(near, [0, 1, 2, 3, 5])
    >>> found.inside, found.left_out, found.strangers
    (0.6, array([4]), array([5]))
    """
    indices, inside = _checked(neighbors, rows)
    shares = inside[indices].mean(axis=1)
    return SelectionCheck(
        inside=float(shares[inside].mean()),
        chance=(int(inside.sum()) - 1) / (len(inside) - 1),
        left_out=np.flatnonzero(~inside & (shares > 0.5)),
        strangers=np.flatnonzero(inside & (shares < 0.5)),
    )


def corrected_selection(neighbors: Neighbors | Any, rows: Any) -> Integers:
    """The selection with the rows that belong to it, and without strangers.

    First rows that were left out are added, again and again until nobody is; then strangers leave, until
    there are none. Neither depends on an order of rows, and what leaves in the end calls nobody in: the
    corrected selection has neither strangers nor rows that were left out. Joining comes first, because of
    a group that a map cut in half every row has half of its neighbours on either side, and if those inside
    could leave at once, the group would as often vanish as become whole. ``O(n k)`` for each round.

    Parameters are those of :func:`check_selection`.

    >>> import numpy as np
    >>> near = np.array([[j for j in range(5) if j != i] for i in range(5)])
    >>> near = np.concatenate([near, near + 5])
    >>> corrected_selection(near, [0, 1, 2, 3, 5])
    array([0, 1, 2, 3, 4])
    """
    indices, inside = _checked(neighbors, rows)
    inside = inside.copy()
    for joining in (True, False):
        while True:
            shares = inside[indices].mean(axis=1)
            moved = ~inside & (shares > 0.5) if joining else inside & (shares < 0.5)
            if not moved.any():
                break
            inside[moved] = joining
    return np.flatnonzero(inside)


def row_flags(name: str, rows: Any, n: int) -> Flags:
    """``rows``, given as flags or as positions, as flags of ``n`` rows."""
    given = np.asarray(unmasked(name, rows))
    if given.shape == (0,):
        return np.zeros(n, dtype=bool)  # an empty list, which numpy takes for floats
    if given.dtype == bool:
        require(given.shape == (n,), name, f"one flag for each of {n} rows", f"shape {given.shape}")
        return given
    is_positions = given.ndim == 1 and given.dtype.kind in "iu"
    require(is_positions, name, "flags or positions of rows", f"{given.dtype} of shape {given.shape}")
    if len(given) and not (0 <= given.min() and given.max() < n):
        raise InvalidInputError(
            f"{name} must be positions from 0 to {n - 1}, got {given.min()} to {given.max()}. "
            "Positions count the rows of the table, whatever its index says."
        )
    flags = np.zeros(n, dtype=bool)
    flags[given] = True
    return flags


def _checked(neighbors: Any, rows: Any) -> tuple[Integers, Flags]:
    given = neighbors.indices if isinstance(neighbors, Neighbors) else neighbors
    indices = np.asarray(unmasked("neighbors", given))
    lists = indices.ndim == 2 and indices.shape[1] >= 1 and indices.dtype.kind in "iu"
    require(lists, "neighbors", "positions of rows (n, k)", f"{indices.dtype} of shape {indices.shape}")
    n = len(indices)
    known = n > 1 and 0 <= int(indices.min()) and int(indices.max()) < n
    require(known, "neighbors", f"positions of {n} rows", f"{indices.min()} to {indices.max()}")
    inside = row_flags("rows", rows, n)
    require(bool(inside.any()), "rows", "at least one row", "none")
    return indices, inside
