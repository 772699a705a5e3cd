"""Messages about tables: short lists of names, warnings that point at the caller."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Mapping

from .._core.errors import InvalidInputError, TableWarning, nearest
from .._core.errors import plural as plural  # beside the other words of notices

_LONGEST = 80  # letters of a name that a message repeats
_MOST = 8  # names that a message lists before it counts the rest


def notice(text: str) -> None:
    """Warn, as if from the line outside isentropic that asked for the table."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("isentropic."):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, TableWarning, stacklevel=level)


def listing(names: Iterable[object]) -> str:
    """``'a', 'b' and 3 more``."""
    words = list(names)
    return _joined([repr(_short(str(name))) for name in words[:_MOST]], len(words))


def count_text(counts: Mapping[str, int]) -> str:
    """``'a' 10, 'b' 2 and 3 more``, the most frequent first."""
    order = sorted(counts, key=lambda name: -counts[name])
    return _joined([f"{_short(name)!r} {counts[name]}" for name in order[:_MOST]], len(order))


def _joined(words: list[str], n_all: int) -> str:
    more = f" and {n_all - len(words)} more" if n_all > len(words) else ""
    return ", ".join(words) + more


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"


def no_such_column(what: str, table: str, got: str, columns: Iterable[str]) -> InvalidInputError:
    """The error for a column that is not there; it offers the nearest names."""
    known = list(columns)
    return InvalidInputError(
        f"{what} must be a column of {table}, got {_short(got)!r}. {nearest(got, known)}The columns are "
        f"{listing(known)}."
    )
