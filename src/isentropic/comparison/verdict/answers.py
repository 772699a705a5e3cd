"""Answers about groups, and about columns that dominate the distances of a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from ..._core.values import Table
from ...tables.prepare.balance import common_factor
from . import text
from .thresholds import DOMINANT, ONE_DIRECTION

_FEW_COLUMNS = 1 / 3
_MOST_NAMED = 6  # columns that a sentence, and a command that leaves them out, can name


class TestedGroup(Protocol):
    """What the verdict reads of a group."""

    @property
    def name(self) -> str: ...
    @property
    def made_by(self) -> tuple[str, ...]: ...


class TestedGroups(Protocol):
    """What the verdict reads of the test of groups by disjoint halves."""

    @property
    def answer(self) -> str: ...
    @property
    def reason(self) -> str: ...
    @property
    def groups(self) -> Sequence[TestedGroup]: ...


@dataclass(frozen=True, slots=True)
class GroupAnswer:
    """Whether the groups of the shown map are real."""

    level: Literal["yes", "no", "not tested"]
    sentence: str
    names: tuple[str, ...] = ()
    made_by: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()
    # columns, and the groups that they alone make

    @classmethod
    def of(cls, test: TestedGroups | None) -> GroupAnswer:
        """From the test; None where there was none."""
        if test is None or test.answer == "not tested":
            return cls("not tested", text.groups_not_tested("" if test is None else test.reason))
        if test.answer == "none":
            return cls("no", text.groups(0))
        groups_by_columns: dict[tuple[str, ...], list[str]] = {}
        for group in test.groups:
            if group.made_by:
                groups_by_columns.setdefault(group.made_by, []).append(group.name)
        if all(group.made_by for group in test.groups):
            return cls("no", text.groups_of_columns(list(dict.fromkeys(sum(groups_by_columns, ())))))
        names = tuple(group.name for group in test.groups)
        made_by = tuple((columns, tuple(made)) for columns, made in groups_by_columns.items())
        return cls("yes", text.groups(len(names)), names, made_by)


class FeatureColumn(Protocol):
    """What the verdict reads of a column of the table."""

    @property
    def name(self) -> str: ...
    @property
    def role(self) -> str: ...
    @property
    def share(self) -> float | None: ...


def about_table(table: Table) -> tuple[str, ...]:
    """Sentences: few columns that make most of the distance, one direction in which all columns rise."""
    factor = (
        common_factor(table.X) if isinstance(table.metric, str) and table.metric != "precomputed" else None
    )
    direction = () if factor is None else about_one_direction(factor.share, factor.same_sign)
    return (*about_columns(table.columns), *direction)


def about_columns(columns: Sequence[FeatureColumn]) -> Iterator[str]:
    """A sentence where few columns make most of the difference between rows."""
    features = [
        (column.share, column.name) for column in columns if column.role == "feature" and column.share
    ]
    features.sort(key=lambda pair: -(pair[0] or 0.0))
    total: float = 0.0
    names: list[str] = []
    for share, name in features[: min(_MOST_NAMED, int(_FEW_COLUMNS * len(features)))]:
        total, names = total + (share or 0.0), [*names, name]
        if total > DOMINANT:
            yield text.columns_share(total, names, len(features))
            break


def about_one_direction(share: float, same_sign: bool) -> Iterator[str]:
    """A sentence where most of the variance is one direction in which all columns rise."""
    if share >= ONE_DIRECTION and same_sign:
        yield text.common_factor(share)
