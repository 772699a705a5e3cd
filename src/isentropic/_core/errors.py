"""Exceptions, warnings, and the one grammar of their messages: what, must be, got, next step.

The messages about tables, which name columns and values, are at the end.
"""

from __future__ import annotations

import math
import re
import sys
import warnings
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from importlib.util import find_spec
from itertools import chain, islice
from numbers import Integral, Real
from types import MappingProxyType
from typing import Any

_LONGEST_WORD = 100  # letters beyond which two words are not compared: that takes their product
_MOST_WORDS = 10_000  # and so many words that it takes a moment
_MOST_OPTIONS = 100  # that a message names
_MOST_ITEMS = 1_000  # of a value that a message shows: each may be an array
_LONGEST_VALUE = 2_000  # characters
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


class IsentropicError(Exception):
    """Base of every error that isentropic raises on purpose."""


class InvalidInputError(IsentropicError, ValueError):
    """A parameter, a table or an array is not what the call needs."""


class UndefinedMeasureError(InvalidInputError):
    """A measure that these rows leave undefined: a correlation of distances that do not vary, say.

    ``defined`` holds those, by name, that were asked for in the same call and are defined.
    """

    def __init__(self, text: str, defined: Mapping[str, object] | None = None) -> None:
        super().__init__(text)
        self.defined = dict(defined or {})


class DisconnectedGraphError(InvalidInputError):
    """The neighbour graph falls into parts and ``on_disconnected="raise"``."""


class MemoryBudgetError(IsentropicError, MemoryError):
    """The work needs more memory than the budget allows; nothing was allocated."""

    # Pickled by tblib, which Dask brings, it would be made by MemoryError's, which refuses.
    __new__ = Exception.__new__  # type: ignore[assignment]


class DeadlineError(IsentropicError, TimeoutError):
    """The time that the work may take is over; it was stopped between two blocks of rows."""


class MissingExtraError(IsentropicError, ImportError):
    """An optional dependency is not installed."""


class FileFormatError(IsentropicError, OSError):
    """A file cannot be read or written as what it should be."""


class IsentropicWarning(UserWarning):
    """Base of every warning about the data or the result."""


class NeighborsClippedWarning(IsentropicWarning):
    """More neighbours were asked for than there are other rows."""


class PerplexityWarning(IsentropicWarning):
    """A perplexity of more than all other rows was asked for."""


class LandmarksClippedWarning(IsentropicWarning):
    """More landmarks were asked for than there are distinct rows."""


class LowRecallWarning(IsentropicWarning):
    """The approximate search missed many of the true neighbours."""


class DisconnectedGraphWarning(IsentropicWarning):
    """The neighbour graph falls into parts, and a policy dealt with it."""


class NegativeEigenvalueWarning(IsentropicWarning):
    """Coordinates belong to negative eigenvalues and were set to zero."""


class TableWarning(IsentropicWarning):
    """A table has something that the analyst should know of before trusting a map of it."""


class TimeBudgetWarning(IsentropicWarning):
    """A time is too short for the least that can be done; that is done, and takes longer."""


class StoredRunWarning(IsentropicWarning):
    """A stored result is damaged and is computed again."""


def message(name: str, must_be: str, got: object, hint: str = "") -> str:
    """``name must be ..., got .... Next step.``"""
    text = f"{name} must be {must_be}, got {_shown(got)}."
    return f"{text} {hint}" if hint else text


def _shown(value: object) -> str:
    """A value as a message shows it: a file or a program may give a list of any length."""
    if isinstance(value, list | tuple | set | dict) and _is_long(value):
        return f"a {type(value).__name__} of {plural(len(value), 'item')}"
    text = repr(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}..."


def _is_long(value: Iterable[object]) -> bool:
    """Whether collections within collections hold many items; ``value`` may hold itself."""
    waiting: list[Iterable[object]] = [value]
    count = 0
    while waiting and count <= _MOST_ITEMS:
        items = waiting.pop()
        found = chain(items, items.values()) if isinstance(items, dict) else items
        for item in islice(found, _MOST_ITEMS + 1):
            count += 1
            if isinstance(item, list | tuple | set | dict):
                waiting.append(item)
    return count > _MOST_ITEMS


def require(condition: bool, name: str, must_be: str, got: object, hint: str = "") -> None:
    """Raise :class:`InvalidInputError` unless ``condition`` holds."""
    if not condition:
        raise InvalidInputError(message(name, must_be, got, hint))


def is_whole(value: object) -> bool:
    """Whether it is an integer, Python's or numpy's; True is none."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_real(value: object) -> bool:
    """Whether it is a number, Python's or numpy's, NaN included; True is none."""
    return isinstance(value, Real) and not isinstance(value, bool)


def warn(text: str, category: type[IsentropicWarning]) -> None:
    """Warn of the user's line that led here, however many of our functions lie between."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _is_inside(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


def _is_inside(module: str) -> bool:
    return module.partition(".")[0] in ("isentropic", "sklearn")  # which wraps our transform


def require_count(
    name: str, value: Any, must_be: str = "", *, least: int = 1, most: int | None = None, hint: str = ""
) -> int:
    """``value`` as a plain integer; raise unless it is one from ``least`` to ``most``. True is none."""
    fits = is_whole(value) and least <= value and (most is None or value <= most)
    require(fits, name, must_be or _whole_numbers(least, most), value, hint)
    return int(value)


def _whole_numbers(least: int, most: int | None) -> str:
    if most is not None:
        return f"an integer from {least} to {most}"
    return "a positive integer" if least == 1 else f"an integer of at least {least}"


def require_number(
    name: str, value: Any, must_be: str, *, least: float = 0.0, above: float | None = None,
    most: float | None = None, below: float = math.inf, hint: str = "",
) -> float:  # fmt: skip
    """``value`` as a plain float; raise unless it is a number within the bounds. True and NaN are none.

    ``above`` takes the place of ``least`` and ``most`` that of ``below`` where they are given.
    """
    try:
        number = float(value) if is_real(value) else math.nan
    except OverflowError:  # an integer of 309 digits
        number = math.nan
    high_enough = number >= least if above is None else number > above
    low_enough = number < below if most is None else number <= most
    require(high_enough and low_enough, name, must_be, value, hint)
    return number


def require_flag(name: str, value: object) -> None:
    """Raise unless ``value`` is True or False: any text would count as true."""
    is_flag = type(value).__name__ in ("bool", "bool_")  # Python's and numpy's
    require(is_flag, name, "True or False", value)


def require_one_of(name: str, value: object, options: Iterable[str], hint: str = "") -> None:
    """Raise unless ``value`` is one of ``options``; the error offers the nearest of them."""
    known = list(options)
    if isinstance(value, str) and value in known:  # an array would be compared element by element
        return
    more = f" and {len(known) - _MOST_OPTIONS} more" if len(known) > _MOST_OPTIONS else ""
    must_be = f"one of {', '.join(known[:_MOST_OPTIONS])}{more}"
    word = "" if isinstance(value, list | tuple | set | dict) else str(value)
    raise InvalidInputError(message(name, must_be, value, f"{nearest(word, known)}{hint}".strip()))


def nearest(word: str, known: Iterable[str]) -> str:
    """``Did you mean 'a' or 'b'? `` for a misspelt word, or nothing."""
    if len(word) > _LONGEST_WORD:
        return ""
    by_lower_case = {name.lower(): name for name in islice(known, _MOST_WORDS) if len(name) <= _LONGEST_WORD}
    close = [by_lower_case[name] for name in get_close_matches(word.lower(), by_lower_case, n=3, cutoff=0.5)]
    return f"Did you mean {' or '.join(map(repr, close))}? " if close else ""


def plural(n: int, noun: str) -> str:
    """
    >>> plural(1, "row"), plural(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def printable(text: object) -> str:
    r"""One line that every terminal and file takes: bytes that are not UTF-8 and control characters escaped.

    >>> print(printable("caf\udce9.csv"))
    caf\xe9.csv
    """
    return _UNPRINTABLE.sub(_escaped, str(text))


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    from_a_byte = code < 0x100 or 0xDC80 <= code <= 0xDCFF  # as Python decodes the names of files
    return f"\\x{code & 0xFF:02x}" if from_a_byte else f"\\u{code:04x}"


# ---- Optional dependencies: what each extra brings, and one line for who lacks it ----------------


# extra in pyproject.toml -> modules that it brings
EXTRAS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "plot": ("matplotlib",),
        "parquet": ("pyarrow",),
        "excel": ("openpyxl",),
        "zstd": ("zstandard",),
        "report": ("jinja2",),
        "h5ad": ("h5py",),
        "scale": ("dask", "distributed"),
    }
)
# files that are written -> the extra that writes them; a reader says by require_extra what it needs
FILES: Mapping[str, str] = MappingProxyType({".parquet": "parquet", ".feather": "parquet", ".h5ad": "h5ad"})


def missing_modules(extra: str) -> tuple[str, ...]:
    """Modules of an extra that are not installed; nothing is imported to find out.

    >>> missing_modules("report")
    ()
    """
    return tuple(module for module in EXTRAS[extra] if not _is_there(module))


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ValueError:  # one that was tried, and blocked
        return False


def remedy(extra: str) -> str:
    """The command that installs an extra."""
    return f"pip install 'isentropic[{extra}]'"


def require_extra(extra: str, who: str) -> None:
    """Raise :class:`MissingExtraError` unless what ``who`` needs is installed."""
    missing = missing_modules(extra)
    if missing:
        modules = f"{' and '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} not installed"
        raise MissingExtraError(f"{who} needs {modules}. Install it with: {remedy(extra)}")


def require_file_extra(name: str) -> None:
    """Raise :class:`MissingExtraError` unless what a file of this name needs is installed."""
    suffix = name[name.rfind(".") :].lower() if "." in name else ""
    if suffix in FILES:
        require_extra(FILES[suffix], f"A {'Parquet' if suffix == '.parquet' else suffix} file")


# ---- Messages about tables -----------------------------------------------------------------------


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
