"""``test_groups``: whether disjoint halves of the rows show the same clusters, and what to call them."""

# ruff: noqa: PT028  (no test of pytest: a public function with defaults)

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ... import registry
from ..._core.arguments import as_numbers
from ..._core.errors import require, require_count
from ..._core.runtime import worker_threads
from ..._core.values import Floats, Integers, Table
from ...distances import Metric, checked_metric, euclidean_rows, is_gower
from ...linalg import rows_in_unit
from ...neighbors import nearest_among
from ..budget.comparison_plan import select_rows
from ..evaluation.runs import Run
from ..explain.explanation import Difference, Explanation
from .cluster_tree import (
    FEWEST,
    LEAST,
    LEAST_ON_CURVES,
    Embed,
    Flags,
    accept_clusters,
    cluster_tree,
    reproducibilities,
    vote,
)
from .column_groups import defining_columns
from .density_groups import Group, Groups, GroupTest, explain_groups, map_dimension

FEWEST_ROWS = 30
_MOST_ROWS = 2_000  # that are mapped and clustered, half of them at a time
_VOTERS = 5
_CURVE = 1.75  # dimensions below which a map is a curve
_LONG = 0.6  # least over greatest deviation: rounder neighborhoods are clumps, not pieces of a curve
_WIDE = 0.05  # share of the rows in which the dimension is seen: a curve with some width is one, too


def test_groups(
    X: Any,
    Z: Any,
    embed: Embed,
    *,
    table: Any = None,
    metric: Metric = "euclidean",
    n_splits: int = 4,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> GroupTest:
    """Test whether the groups of a map are real: whether disjoint halves of the rows show them again.

    The map is clustered at all densities (HDBSCAN's tree, at least 3% of the rows and 10). Then the rows are
    split into two halves. Each half is mapped and clustered by itself, and names the rows of the other half
    by the vote of their five nearest rows in the data. A group is found again as far as it and a cluster of
    either half agree, all three with each other (the least Jaccard index of the three pairs; of a group of
    most rows that of the rows outside). The mean over the splits is its reproducibility. It counts from 0.65
    if the clusters are those that HDBSCAN chooses in the halves, from 0.8 if they are any branch of their
    trees. On a curve (intrinsic dimension below 1.75 in the nearest 5% of the rows, which lie along it) both
    halves share a gap where few rows are missing: there it counts from 0.85, of chosen clusters only. A
    branch is a group unless two groups inside it are found again.

    Copies of a row count once: they would show the same groups in both halves. Of more than 2,000 distinct
    rows a sample of 2,000 is tested; the others are named by their five nearest rows on the map.
    Cost: ``2 n_splits`` fits of half the rows, at most 1,000, and one for each group that few columns might
    alone make.

    Parameters
    ----------
    X : array (n, m)
        The rows that were mapped; NaN where the metric takes it.
    Z : array (n, d)
        Their map.
    embed : callable
        ``embed(X_rows)`` fits the same method, with the same parameters, to some rows and returns their map.
    table : Table, DataFrame or array, optional
        Its columns explain and name the groups. Default: X.
    metric : str, callable or Gower
        Of the rows of X. Given distances are not tested.
    n_splits : int
        Into two halves.
    random_state : int
        Seed of the halves.
    n_jobs : int or None
        Threads; the answer does not depend on them.

    Returns
    -------
    GroupTest
        ``answer`` is "groups", "none" or "not tested" (with the ``reason``: fewer than 30 distinct rows,
        given distances, or half of the rows cannot be mapped).

    References
    ----------
    R. Tibshirani, G. Walther, Cluster validation by prediction strength, Journal of Computational and
    Graphical Statistics 14 (2005). C. Hennig, Cluster-wise assessment of cluster stability, Computational
    Statistics & Data Analysis 52 (2007).

    Examples
    --------
    >>> from isentropic import PCA, comparison, datasets
    >>> iris = datasets.load("builtin:iris")
    >>> embed = PCA().fit_transform
    >>> found = comparison.test_groups(iris.X, embed(iris.X), embed, table=iris)
    >>> found.answer, [len(group.rows) for group in found.groups]
    ('groups', [98, 50])
    """
    Z = euclidean_rows(Z, "Z")
    n_splits = require_count("n_splits", n_splits)
    seed = require_count("random_state", random_state, least=0)
    worker_threads(n_jobs)  # raises now, not in the middle
    if isinstance(metric, str) and metric == "precomputed":
        return not_tested(len(Z), "The table is a distance matrix: its rows cannot be mapped in halves.")
    metric = checked_metric(metric)
    X = as_numbers("X", X, holes=is_gower(metric))
    require(callable(embed), "embed", "a function that maps some rows", embed)
    require(len(X) == len(Z), "Z", f"a map of the {len(X)} rows of X", len(Z))
    sample = _Sample.of(X, seed)
    if len(sample.rows) < FEWEST_ROWS:
        copies = " distinct" if len(X) >= FEWEST_ROWS else ""
        return not_tested(len(Z), f"Not tested below {FEWEST_ROWS}{copies} rows.")
    some = np.ascontiguousarray(X[sample.rows])
    tree = cluster_tree(Z[sample.rows], FEWEST)
    curve = _is_curve(Z[sample.rows], n_jobs)
    least = LEAST_ON_CURVES if curve else LEAST
    found: dict[int, float] = {}
    if tree.members.shape[1]:
        try:
            args = (some, tree, embed, metric, n_splits, seed, n_jobs)
            found = accept_clusters(tree, *reproducibilities(*args), on_curve=curve)
        except Exception as error:  # whatever a method raises of few rows, the comparison goes on
            return not_tested(len(Z), f"Half of the rows cannot be mapped by themselves: {error}")
    members = tree.members[:, list(found)]
    membership = sample.spread(members, Z, n_jobs)
    order = np.argsort(-membership.sum(axis=0), kind="stable")
    scores = np.array(list(found.values()))[order]
    defining = defining_columns(some, _rows_of(table, sample.rows), members[:, order], embed)
    groups = _groups(membership[:, order], scores, defining, X if table is None else table, seed)
    n_clusters = int(tree.chosen.sum())
    groups_found = Groups(groups, len(Z), max(0, n_clusters - len(groups)), n_splits, least)
    return GroupTest("groups" if groups else "none", groups_found, n_splits, least)


test_groups.__test__ = False  # type: ignore[attr-defined]  # for pytest: it is no test


def not_tested(n_rows: int, reason: str) -> GroupTest:
    """A group test that was not done, with the reason."""
    return GroupTest("not tested", Groups((), n_rows, 0, 0, LEAST), 0, LEAST, reason)


def _is_curve(Z: Floats, n_jobs: int | None) -> bool:
    """Whether a map is a curve: of less than two dimensions, and long in the neighborhood of most rows."""
    places = np.unique(Z, axis=0)
    k = max(FEWEST, int(np.ceil(_WIDE * len(Z))))
    if len(places) <= k:
        return False
    near, far = nearest_among(places, places, k, selves=np.arange(len(places)), n_jobs=n_jobs)
    if map_dimension(far, Z.shape[1]) >= _CURVE:
        return False
    return Z.shape[1] == 1 or _roundness(rows_in_unit(places)[0][near]) < _LONG


def _roundness(patches: Floats) -> float:
    """Median over patches (n, k, d) of the least over the greatest deviation; 1: round, 0: on a line."""
    centered = patches - patches.mean(axis=1, keepdims=True)
    variances = np.linalg.eigvalsh(np.einsum("nki,nkj->nij", centered, centered))
    return float(np.median(np.sqrt(np.maximum(variances[:, 0], 0.0) / variances[:, -1])))


@dataclass(frozen=True, slots=True, eq=False)
class _Sample:
    """Distinct rows that are tested, in an order that depends on what they hold, not on where they stand."""

    rows: Integers
    own: Integers  # (n,) the place among ``rows`` of each row or of the one it is a copy of; -1: not tested

    @classmethod
    def of(cls, X: Floats, seed: int) -> _Sample:
        plain = np.where(np.isnan(X), np.inf, X)  # so that missing values are equal
        _, first, place = np.unique(plain, axis=0, return_index=True, return_inverse=True)
        retained = np.arange(len(first))
        if len(first) > _MOST_ROWS:
            retained = np.sort(np.random.default_rng(seed).permutation(len(first))[:_MOST_ROWS])
        position = np.full(len(first), -1)
        position[retained] = np.arange(len(retained))
        return cls(first[retained], position[place.ravel()])

    def spread(self, members: Flags, Z: Floats, n_jobs: int | None) -> Flags:
        """Membership of all rows; untested ones by a vote of the nearest tested rows on the map."""
        membership = members[self.own]
        others = np.flatnonzero(self.own < 0)
        if len(others) and members.shape[1]:
            near, _ = nearest_among(Z[others], Z[self.rows], _VOTERS, n_jobs=n_jobs)
            membership[others] = vote(members, near)
        return membership


def _rows_of(table: Any, rows: Integers) -> Any:
    if table is None:
        return None
    if isinstance(table, Table):
        return select_rows(table, rows)
    return table.iloc[rows] if hasattr(table, "iloc") else np.asarray(table)[rows]


def _groups(
    members: Flags, scores: Floats, defining: list[tuple[str, ...]], table: Any, seed: int
) -> tuple[Group, ...]:
    """The groups, explained and named."""
    rows = [np.flatnonzero(flags) for flags in members.T]
    explained = list(explain_groups(rows, table, len(members), seed))
    return tuple(
        Group(name, own, float(score), explanation, columns)
        for name, own, score, explanation, columns in zip(
            group_names(explained), rows, scores, explained, defining, strict=True
        )
    )


# ---- groups of a run -----------------------------------------------------------------------------


_SAW_CLASSES = "The map was fitted with the classes: any half of the rows would show them again."


@dataclass(frozen=True, slots=True)
class RunEmbed:
    """Fits the method of a Run again, by its name and parameters; the first two coordinates."""

    method: str
    params: Mapping[str, Any]

    @classmethod
    def of(cls, run: Run, metric: Any, n_jobs: int | None = None) -> RunEmbed | None:
        """None where the registry has no such name."""
        if run.method not in registry.METHODS:
            return None
        given = {**run.params, **({} if run.seed is None else {"random_state": run.seed})}
        if is_gower(metric):
            given["metric"] = metric  # a Run has its name only
        found = cls(run.method, given)
        return found if n_jobs is None else found.on_threads(n_jobs)

    def on_threads(self, n_jobs: int) -> RunEmbed:
        """The same on so many threads."""
        accepted = registry.make(self.method).get_params(deep=False)
        return replace(self, params={**self.params, "n_jobs": n_jobs}) if "n_jobs" in accepted else self

    def __call__(self, X: Any) -> Any:
        return np.asarray(registry.make(self.method, **self.params).fit_transform(X))[:, :2]


def _two_coordinates(embed: Embed) -> Embed:
    return lambda X: np.asarray(embed(X))[:, :2]


def group_test_of_run(
    table: Table,
    run: Run,
    rows: Integers | None = None,
    *,
    embed: Embed | None = None,
    n_jobs: int | None = None,
    random_state: int = 0,
) -> GroupTest:
    """Test the groups that the map of a Run shows, in its first two coordinates.

    ``rows`` are those that are drawn; the rows of the answer count them. ``embed`` maps some rows by the same
    method; by default the registry knows it by the name of the Run.
    """
    assert run.embedding is not None
    shown_rows = np.arange(len(table.X)) if rows is None else rows
    Z: Floats = run.embedding[shown_rows, :2]
    if run.saw_classes:
        return not_tested(len(shown_rows), _SAW_CLASSES)
    again = RunEmbed.of(run, table.metric, n_jobs) if embed is None else _two_coordinates(embed)
    if again is None:
        return not_tested(
            len(shown_rows), f"{run.method} is no method of the registry: give embed to fit it again."
        )
    some = table if len(shown_rows) == len(table.X) else select_rows(table, shown_rows)
    return test_groups(
        some.X,
        Z,
        again,
        table=some,
        metric=table.metric,
        random_state=random_state,
        n_jobs=n_jobs,
    )


# ---- names of groups -----------------------------------------------------------------------------


_STRENGTHS = (0.4, 0.6)  # of the first and the second column: AUC 0.7 and 0.8, or 40 and 60 points of a level
_LONGEST = 24  # characters of a level; longer ones are cut
_FLAGS = {"0", "1", "yes", "no", "y", "n", "true", "false", "t", "f"}  # levels that say nothing alone


def group_names(explanations: Sequence[Explanation | None]) -> list[str]:
    """A name for each group: "high flipper_length, Gentoo"; numbered where columns give none, or the same."""
    names = [
        f"group {number}" if explanation is None else _name(explanation) or f"group {number}"
        for number, explanation in enumerate(explanations, start=1)
    ]
    return [
        name if names.count(name) == 1 else f"{name} ({names[: place + 1].count(name)})"
        for place, name in enumerate(names)
    ]


def _name(explanation: Explanation) -> str:
    explained: dict[str, str] = {}
    for one in sorted(explanation.differences, key=_order):
        if (
            one.column not in explained
            and len(explained) < len(_STRENGTHS)
            and one.strength >= _STRENGTHS[len(explained)]
        ):
            explained[one.column] = _describe(one)
    return ", ".join(explained.values())


def _order(one: Difference) -> tuple[bool, float]:
    """The strongest first; levels that a group has not come last."""
    return bool(one.level) and one.auc < 0.5, -one.strength


def _describe(one: Difference) -> str:
    if one.lift is None:
        words = ("late", "early") if one.dates else ("high", "low")
        return f"{words[one.auc < 0.5]} {one.column}"
    level = one.level if len(one.level) <= _LONGEST else f"{one.level[: _LONGEST - 1]}\u2026"
    says_nothing = one.level.casefold() in _FLAGS or one.level.replace(".", "", 1).isdigit()
    text = f"{one.column} {level}" if says_nothing else level
    return text if one.auc > 0.5 else f"not {text}"
