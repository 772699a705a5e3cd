"""The words of errors and warnings about tables: short lists of names, warnings that point at the caller."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Mapping

from .._errors import InvalidInputError, TableWarning, nearest

_MOST = 8  # names that a message lists before it counts the rest


def notice(text: str) -> None:
    """Warn, as if from the line outside isentropic that asked for the table."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("isentropic."):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, TableWarning, stacklevel=level)


def listed(names: Iterable[object]) -> str:
    """``'a', 'b' and 3 more``."""
    return _joined([repr(str(name)) for name in names])


def counted(counts: Mapping[str, int]) -> str:
    """``'a' 10, 'b' 2 and 3 more``, the most frequent first."""
    order = sorted(counts, key=lambda name: -counts[name])
    return _joined([f"{name!r} {counts[name]}" for name in order])


def _joined(words: list[str]) -> str:
    if len(words) > _MOST:
        return f"{', '.join(words[:_MOST])} and {len(words) - _MOST} more"
    return ", ".join(words)


def plural(n: int, noun: str) -> str:
    """``1 row``, ``2 rows``."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def no_such_column(what: str, table: str, got: str, columns: Iterable[str]) -> InvalidInputError:
    """The error for a column that is not there; it offers the nearest names."""
    known = list(columns)
    return InvalidInputError(
        f"{what} must be a column of {table}, got {got!r}. {nearest(got, known)}The columns are "
        f"{listed(known)}."
    )
