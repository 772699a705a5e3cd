"""Data of a comparison's page: rows to draw, their true neighbors, diagrams and damage of each map."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.ndimage import gaussian_filter, label

from .._core.arguments import require_kind
from .._core.errors import LowRecallWarning
from .._core.values import Floats, Integers, Knn, Neighbors, Table
from ..distances import Metric, condensed_distances, distances_between, in_units, metric_name, rows_of
from ..neighbors import nearest_neighbors
from ..quality import (
    Quality,
    SharedNeighbors,
    ShepardPairs,
    coranking_matrix,
    shared_neighbors,
    shepard_pairs,
)
from ..quality.sampling import default_neighbors
from .budget.comparison_plan import select_rows, strata_of, stratified_rows
from .evaluation.runs import Run, require_runs
from .groups import Groups, GroupTest
from .groups.cluster_tree import Embed
from .groups.reproducible_groups import group_test_of_run
from .verdict import Caveat, Verdict

MOST_ROWS = 50_000  # more are slow to brush, and cover each other
PICTURE_ROWS = 2_000  # rows whose ranks are compared in a picture: n^2 pairs
_FEWEST_PICTURED = 4
_CORANKING_CELLS = 90
_SHEPARD_PAIRS = 20_000
_SEED = 0


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """Data of two diagrams of one map: the co-ranking matrix and pairs of distances (Shepard)."""

    coranks: Integers  # (c, c)
    pairs: ShepardPairs


@dataclass(frozen=True, slots=True, eq=False)
class Mark:
    """The rows that a caveat is about, or, of one about most rows, the worst tenth; and where they crowd."""

    rows: Integers
    worst: bool  # whether these are the worst tenth
    region: Region


@dataclass(frozen=True, slots=True, eq=False)
class PageData:
    """The rows that a page draws, and everything about them that takes a search or random numbers."""

    rows: Integers
    neighbors: Neighbors  # in the data, among the rows on the page
    n_pictured: int  # rows of a picture
    pictures: tuple[Picture | None, ...]  # of each run; None without a map, or of too few rows
    marks: tuple[Mark | None, ...]  # of each caveat; None for one that is not about rows
    agreed: SharedNeighbors | None = None  # neighbours that all trusted maps show; None of fewer than two
    overlay: DistanceOverlay | None = None  # distances in the data between the rows on the page
    groups: Groups | None = (
        None  # of the shown map, found again in halves; their rows count those on the page
    )
    group_test: GroupTest | None = None  # whether there are any, or why that was not tested
    full_map: FullMap | None = None  # the shown map, where it is of all rows of a table that was sampled


@dataclass(frozen=True, slots=True, eq=False)
class FullMap:
    """The recommended map of all rows, beside maps of a sample."""

    run: Run
    rows: Integers  # of all rows, those that the other maps show too
    others: Integers  # further ones that only this map shows
    other_classes: Integers | None  # of those
    other_table: Table | None = None  # of those


def collect_page_data(
    table: Table,
    runs: Sequence[Run],
    verdict: Verdict,
    *,
    full_run: Run | None = None,
    full_table: Table | None = None,
    group_test: GroupTest | None = None,
) -> PageData:
    """Collect what :func:`isentropic.report.page` draws of these runs.

    Beyond 50,000 rows a stratified sample is shown. Where ``table`` and ``runs`` are of a sample of
    ``full_table``, and ``full_run`` is the map of all its rows, that map is shown with up to 50,000 of them.
    ``group_test`` is what :func:`shown_groups` finds of the shown map; it is tested here where none is given.
    ``O(n m)`` beside the true neighbours of the drawn rows.
    """
    require_runs(table, runs)
    require_kind("verdict", verdict, Verdict, "Give comparison.verdict(runs).")
    rows, few = sampled_rows(table), sampled_rows(table, PICTURE_ROWS)
    shown = None if verdict.shown is None else runs[verdict.shown]
    full = None if full_run is None or full_table is None else _full_map(full_run, runs, rows, full_table)
    if group_test is None:
        group_test = shown_groups(table, runs, verdict, full_run=full_run, full_table=full_table)
    return PageData(
        rows=rows,
        neighbors=_neighbors(table, rows),
        n_pictured=len(few),
        pictures=tuple(_picture(table, run, few) for run in runs),
        marks=tuple(_mark(shown if full is None else full_run, caveat) for caveat in verdict.caveats),
        agreed=agreed_neighbors(runs, verdict),
        overlay=_distance_overlay(table, rows),
        groups=None if group_test is None else group_test.groups,
        group_test=group_test,
        full_map=full,
    )


def _full_map(full_run: Run, runs: Sequence[Run], rows: Integers, full_table: Table) -> FullMap | None:
    if full_run.embedding is None or runs[0].rows is None:
        return None
    shown_rows = runs[0].rows[rows]
    others = np.setdiff1d(sampled_rows(full_table), shown_rows)
    classes = full_table.y if full_table.class_names else None
    other_classes = None if classes is None else classes[others]
    return FullMap(full_run, shown_rows, others, other_classes, select_rows(full_table, others))


def _full_map_of_sample(full: FullMap, rows: Integers) -> Run:
    """The map of all rows, restricted to the rows of the sample; others are NaN."""
    assert full.run.embedding is not None
    points = np.full((int(rows.max()) + 1, full.run.embedding.shape[1]), np.nan)
    points[rows] = full.run.embedding[full.rows]
    return replace(full.run, embedding=points)


# ---- rows --------------------------------------------------------------------------------------


def sampled_rows(table: Table, most: int = MOST_ROWS) -> Integers:
    """All rows, or a stratified sample of ``most``, at least one of each class.

    Without classes the strata are tenths of the target, or of the column that varies most.

    >>> import numpy as np
    >>> y = np.array([0, 0, 0, 0, 0, 1])
    >>> table = Table(np.eye(6), y, ("a",) * 6, ("r",) * 6, ("x", "y"), "t", "none")
    >>> len(sampled_rows(table, 3)), 5 in sampled_rows(table, 3)
    (3, True)
    """
    classes = table.y if table.class_names else None
    return stratified_rows(strata_of(table.X, classes, table.y), most, _SEED)


def _neighbors(table: Table, rows: Integers) -> Neighbors:
    k = default_neighbors(len(rows))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LowRecallWarning)  # the page states the recall
        return nearest_neighbors(
            rows_of(table.X, rows, table.metric), Knn(k), metric=table.metric, random_state=_SEED
        )


def _distance_overlay(table: Table, rows: Integers) -> DistanceOverlay | None:
    X = in_units(rows_of(table.X, rows, table.metric), table.metric)
    if len(rows) > EXACT_ROWS and np.isnan(X).any():  # the triangle inequality fails: landmarks bound nothing
        return None
    # the first rows of one order: few are among many
    landmarks = np.searchsorted(rows, sampled_rows(table, landmark_count(len(rows))))
    return distance_overlay(X, landmarks, table.metric)


def plane_coordinates(embedding: Floats) -> Floats:
    """Coordinates as a map is drawn: the first two, or the only one over the row number."""
    if embedding.shape[1] >= 2:
        return embedding[:, :2]
    n = len(embedding)
    spread = float(np.ptp(embedding)) or 1.0
    return np.column_stack([embedding[:, 0], np.arange(n) / max(1, n - 1) * spread / 2])


# ---- maps --------------------------------------------------------------------------------------


def _picture(table: Table, run: Run, rows: Integers) -> Picture | None:
    if run.embedding is None or run.quality is None or len(rows) < _FEWEST_PICTURED:
        return None
    given, mapped, metric = rows_of(table.X, rows, table.metric), run.embedding[rows], table.metric
    matrix = coranking_matrix(given, mapped, metric=metric, bins=min(_CORANKING_CELLS, len(rows) - 1))
    return Picture(matrix.counts, shepard_pairs(given, mapped, metric=metric, n_pairs=_SHEPARD_PAIRS))


def _mark(run: Run | None, caveat: Caveat) -> Mark | None:
    """Where the rows of a caveat are, in the map that is shown.

    A caveat about more than half of all rows has no place; what is marked then are the worst tenth of them.
    """
    about: Integers = np.asarray(caveat.rows, np.int64)
    if run is None or run.embedding is None or run.quality is None or len(about) == 0:
        return None
    points = plane_coordinates(run.embedding)
    common = len(about) > len(run.quality.rows) / 2
    if common:
        damage = _damage(run.quality, caveat.kind)
        about = run.quality.rows[np.argsort(-damage, kind="stable")[: max(1, len(damage) // 10)]]
    flags = np.zeros(len(points), bool)
    flags[about] = True
    known = run.quality.rows  # where scores were sampled, other rows are neither right nor wrong
    return Mark(about, common, damaged_region(points[known], flags[known]))


def agreed_neighbors(runs: Sequence[Run], verdict: Verdict) -> SharedNeighbors | None:
    """Neighbors on which all usable maps agree; None with fewer than two maps."""
    trusted = [runs[rating.run] for rating in verdict.ratings if rating.usable]
    maps = [run.embedding for run in trusted if run.embedding is not None]
    if len(maps) < 2:
        return None
    return shared_neighbors(maps, default_neighbors(len(maps[0])))


def shown_groups(
    table: Table,
    runs: Sequence[Run],
    verdict: Verdict,
    *,
    full_run: Run | None = None,
    full_table: Table | None = None,
    embed: Embed | None = None,
) -> GroupTest | None:
    """Test the groups of the shown map: disjoint halves of the rows must show them again.

    The halves are mapped by themselves, by the method of the registry that the Run names or by
    ``embed(X_rows)``. The drawn rows are tested, in the two coordinates that are drawn; None without a map.
    """
    rows = sampled_rows(table)
    shown = None if verdict.shown is None else runs[verdict.shown]
    full = None if full_run is None or full_table is None else _full_map(full_run, runs, rows, full_table)
    run = shown if full is None else _full_map_of_sample(full, rows)
    if run is None or run.embedding is None:
        return None
    return group_test_of_run(table, run, rows, embed=embed, random_state=_SEED)


def _damage(quality: Quality, kind: str) -> Floats:
    """Damage of each compared row by the kind of a caveat."""
    strangers, torn = quality.false_neighbors[:, 0], quality.tears[:, 0]
    far = 1.0 - quality.near_neighbors[:, 0] + strangers / 1e3  # of equal shares the worse strangers
    return {"doubtful": far, "torn": torn}.get(kind, strangers + torn)


# ---- distances in the data -----------------------------------------------------------------------


EXACT_ROWS = 3_000  # whose pairs fit a page: 4.5 million bytes
MOST_LANDMARKS = 256
_LANDMARK_BYTES = 2_600_000
STEPS = 254  # of a byte, from no distance to the largest


@dataclass(frozen=True, slots=True, eq=False)
class DistanceOverlay:
    """Distances in the data in 254 equal steps up to ``top``, each at most half a step from the truth."""

    metric: str
    codes: np.ndarray  # bytes: (n (n - 1) / 2,) of all pairs i < j, row after row; or (l, n) of landmarks
    top: float
    landmarks: Integers | None = None  # (l,) positions; None where all pairs are there

    @property
    def error(self) -> float:
        """Largest error of a stored distance."""
        return self.top / (2 * STEPS)


def distance_overlay(X: Floats, landmarks: Integers, metric: Metric = "euclidean") -> DistanceOverlay:
    """Quantize the distances of all pairs, ``O(n^2 m)``; beyond 3,000 rows those to landmarks, ``O(l n m)``.

    Through landmarks L the distance of i and j lies from max |d(i, L) - d(j, L)| to min d(i, L) + d(j, L).

    >>> import numpy as np
    >>> found = distance_overlay(np.array([[0.0], [1.0], [4.0]]), np.array([0]))
    >>> found.codes.tolist(), found.top
    ([64, 254, 190], 4.0)
    """
    X = np.ascontiguousarray(X, dtype=np.float64)
    few = len(X) <= EXACT_ROWS
    D = condensed_distances(X, metric, None) if few else distances_between(X[landmarks], X, metric, None)
    top = float(D.max()) if D.size else 0.0
    codes = np.rint(D * (STEPS / (top or 1.0))).astype(np.uint8)
    return DistanceOverlay(metric_name(metric), codes, top, None if few else np.asarray(landmarks))


def landmark_count(n: int) -> int:
    """Number of landmarks that the page has room for."""
    return min(MOST_LANDMARKS, max(1, _LANDMARK_BYTES // max(n, 1)))


# ---- Regions of a map where damaged rows are dense, with an outline ------------------------------


_CELLS = 72  # along the wider side
_BLUR = 2.4  # cells
_MARGIN = 6  # empty cells around the map, so that every outline closes
_ABOVE = 2.0  # times as frequent as in the whole map,
_CERTAIN = 0.5  # or every second row
_FEWEST = 3  # damaged rows that make a patch of the region rather than stray points,
_LEAST_SHARE = 0.08  # and which share of all of them
_SHUFFLES = 19  # random choices of as many rows: what gathers no more is chance, at the level of 5%
_GATHERED = 0.25  # share of the damaged rows that a region must hold to be worth an outline
_PAPER = 0.3  # of the usual density around a row: thinner than this, a place is empty paper


@dataclass(frozen=True, slots=True)
class Region:
    """Segments (s, 4) of the outline as x1, y1, x2, y2, and how many rows lie inside."""

    outline: Floats
    inside: int
    damaged_inside: int
    damaged: int


def damaged_region(points: Floats, damaged: np.ndarray) -> Region:
    """The region where damaged rows are dense; empty where they are scattered as by chance.

    Rows are counted on a grid and blurred. A place belongs to the region where the share of damaged rows is
    twice that of the whole map (or one half), and half of what is usual around a damaged row. Patches with
    few of the damaged rows (less than 8%, or three) are dropped. The region counts only if it gathers more
    of them than of any of 19 random choices of as many rows, and a quarter of them at least. ``O(n)``.
    """
    low = points.min(axis=0)
    cell = float((points.max(axis=0) - low).max()) / _CELLS or 1.0
    at = np.floor((points - low) / cell).astype(int) + _MARGIN
    every = _density(at, tuple(at.max(axis=0) + _MARGIN + 1))
    surplus, inside = _crowded_region(at, every, damaged)
    gathered = int((inside & damaged).sum())
    random = np.random.default_rng(0)
    by_chance = 0
    for _ in range(_SHUFFLES if gathered < damaged.sum() < len(damaged) else 0):
        flags = random.permutation(damaged)
        by_chance = max(by_chance, int((_crowded_region(at, every, flags)[1] & flags).sum()))
    if gathered <= max(by_chance, _GATHERED * damaged.sum()):
        return Region(np.empty((0, 4)), 0, 0, int(damaged.sum()))
    outline = (_contour(surplus) + 0.5 - _MARGIN) * cell + np.tile(low, 2)
    return Region(outline, int(inside.sum()), gathered, int(damaged.sum()))


def _density(at: np.ndarray, shape: tuple[int, ...]) -> Floats:
    counts = np.bincount(np.ravel_multi_index(tuple(at.T), shape), minlength=shape[0] * shape[1])
    return gaussian_filter(counts.reshape(shape).astype(float), _BLUR, mode="constant")


def _crowded_region(at: np.ndarray, every: Floats, damaged: np.ndarray) -> tuple[Floats, np.ndarray]:
    """A field that is positive in the region, so that its contour at 0 is the outline; the rows inside."""
    wrong = _density(at[damaged], every.shape)
    places, here = tuple(at.T), tuple(at[damaged].T)
    usual = np.median(wrong[here] / every[here]) if damaged.any() else 1.0
    passing = max(min(_CERTAIN, _ABOVE * damaged.mean()), usual / 2)
    empty = _PAPER * np.median(every[places])
    surplus = np.minimum(wrong - passing * every, passing * (every - empty))
    patches, n_patches = label(surplus > 0)
    crowd = np.bincount(patches[here], minlength=n_patches + 1)
    dropped = crowd < max(_FEWEST, _LEAST_SHARE * damaged.sum())
    dropped[0] = False
    surplus[dropped[patches]] = -1e-9
    patches[dropped[patches]] = 0
    return surplus, patches[places] > 0


def _contour(field: Floats) -> Floats:
    """Segments of the line where ``field`` is 0, by marching triangles: each cell is cut along a diagonal."""
    i, j = (part.ravel() for part in np.indices((field.shape[0] - 1, field.shape[1] - 1)))
    corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
    found = []
    for triangle in ((0, 1, 2), (0, 2, 3)):
        values = np.array([field[corners[c]] for c in triangle])
        places = np.array([np.column_stack(corners[c]) for c in triangle], float)
        inside = values > 0
        for apex in range(3):  # the corner that is alone on its side of the line
            one, two = (apex + 1) % 3, (apex + 2) % 3
            cut = (inside[one] == inside[two]) & (inside[apex] != inside[one])
            ends = []
            for other in (one, two):
                t = values[apex, cut] / (values[apex, cut] - values[other, cut])
                ends.append(places[apex, cut] + t[:, None] * (places[other, cut] - places[apex, cut]))
            found.append(np.hstack(ends))
    return np.concatenate(found)
