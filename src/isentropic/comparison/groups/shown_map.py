"""The test of groups for one map of a comparison: its method is fitted again to halves of the rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ... import registry
from ..._core.values import Floats, Integers, Table
from ...distances import is_gower
from ..budget.strata import taken
from ..evaluation.runs import Run
from ..evaluation.tasks import Task
from .halves import Embed
from .testing import not_tested, test_groups
from .values import GroupTest

_SAW_CLASSES = "The map was fitted with the classes: any half of the rows would show them again."


def embed_by_task(task: Task, params: Mapping[str, Any], seed: int, n_jobs: int | None = None) -> Embed:
    """Fit the method of a comparison, with these parameters, to other rows of the same table."""

    def embed(X: Any) -> Any:
        model = None if task.make is None else task.estimator(params, seed, n_jobs)
        return task.embed(model, X, None)

    return embed


def embed_by_run(run: Run, metric: Any, n_jobs: int | None = None) -> Embed | None:
    """Fit the method of a Run again, by its name and parameters; None where the registry has no such name."""
    if run.method not in registry.METHODS:
        return None
    given = {**run.params, **({} if run.seed is None else {"random_state": run.seed})}
    if is_gower(metric):
        given["metric"] = metric  # a Run has its name only
    accepted = registry.make(run.method).get_params(deep=False)
    if n_jobs is not None and "n_jobs" in accepted:
        given["n_jobs"] = n_jobs

    def embed(X: Any) -> Any:
        return registry.make(run.method, **given).fit_transform(X)

    return embed


def group_test_of_run(
    table: Table,
    run: Run,
    rows: Integers | None = None,
    *,
    embed: Embed | None = None,
    n_jobs: int | None = None,
    random_state: int = 0,
) -> GroupTest:
    """Are the groups that one map shows real? Its first two coordinates are tested, as they are drawn.

    ``rows`` are those that are drawn; the rows of the answer count them. ``embed`` maps some rows by the same
    method; by default the registry knows it by the name of the Run.
    """
    assert run.embedding is not None
    drawn = np.arange(len(table.X)) if rows is None else rows
    Z: Floats = run.embedding[drawn, :2]
    if run.saw_classes:
        return not_tested(len(drawn), _SAW_CLASSES)
    again = embed_by_run(run, table.metric, n_jobs) if embed is None else embed
    if again is None:
        return not_tested(
            len(drawn), f"{run.method} is no method of the registry: give embed to fit it again."
        )
    some = table if len(drawn) == len(table.X) else taken(table, drawn)
    return test_groups(
        some.X,
        Z,
        lambda X: np.asarray(again(X))[:, :2],
        table=some,
        metric=table.metric,
        random_state=random_state,
        n_jobs=n_jobs,
    )
