"""``Group``, ``Groups`` and ``GroupTest``: rows that belong together, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..._core.values import Integers
from ..explain.explanation import Explanation

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
