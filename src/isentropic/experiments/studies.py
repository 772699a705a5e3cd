"""Sources whose tables can be run again, found in the packages that are installed.

A package offers one through the entry-point group ``isentropic.experiments``: each entry point names a
:class:`Source`. ``papers/`` in the repository of isentropic is such a package, and an example to follow.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from types import MappingProxyType

from .._core.errors import InvalidInputError, IsentropicWarning, MissingExtraError, require, require_one_of
from .findings.rankings import ClaimedP, Groups
from .findings.results import Aim, Reached, TableResult
from .tasks import Outcome, PublishedTable, Task

GROUP = "isentropic.experiments"
_PAPERS = "isentropic-papers"
_COMMANDS = ("all", "list")  # words of the command line that are no source


@dataclass(frozen=True, slots=True)
class Source:
    """A thesis, an article, a benchmark, or a study of your own: its tables, and what it says of them.

    Only the first three fields are needed. ``tables`` are called once they are asked for, so that a module
    may read its files there.
    """

    name: str  # as the command line takes it, and as ``PublishedTable.source`` has it
    title: str
    tables: Callable[[], tuple[PublishedTable, ...]]  # in the order of the source
    aims: tuple[Aim, ...] = ()  # how many of its numbers must be met, and how near
    more_aims: Callable[[Sequence[TableResult], Mapping[Task, Outcome]], tuple[Reached, ...]] | None = None
    groups: Groups | None = None  # tables that rank methods together; None: each by itself
    p_values: Callable[[], tuple[ClaimedP, ...]] = tuple  # that it prints
    other_names: Mapping[str, str] = field(default_factory=dict)  # of methods, in its p-values


def require_plugin() -> None:
    """Raise :class:`MissingExtraError` unless some package offers a source; none is loaded to find out."""
    if not entry_points(group=GROUP):
        raise MissingExtraError(
            f"Published tables need {_PAPERS}, which is not installed. Install it with: pip install {_PAPERS}"
        )


def sources() -> Mapping[str, Source]:
    """Every source that is installed, by name; one that cannot be loaded is left out with a warning."""
    found: dict[str, Source] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        try:
            source = point.load()
        except Exception as error:  # whatever a foreign module raises must not break the others
            problem = f"it cannot be loaded ({error})"
        else:
            problem = "its name is taken" if source.name in (*found, *_COMMANDS) else ""
            found |= {} if problem else {source.name: source}
        if problem:
            warnings.warn(f"Source {point.value!r} is left out: {problem}.", IsentropicWarning, stacklevel=2)
    return MappingProxyType(found)


def tables_of(wanted: str, known: Mapping[str, Source] | None = None) -> tuple[PublishedTable, ...]:
    """Tables by the words of the command line: ``002``, ``000:7``, ``000:table7``, or ``all``.

    ``known`` are the sources to look in, by default all that are installed.
    """
    known = sources() if known is None else known
    if wanted == "all":
        return tuple(table for source in known.values() for table in _tables(source))
    name, _, word = wanted.partition(":")
    require_one_of("source", name, (*known, "all"))
    tables = _tables(known[name])
    if not word:
        return tables
    word = word.lower().removeprefix("table").strip(" _-")
    chosen = tuple(table for table in tables if table.name.lower() == word)
    if not chosen:
        names = ", ".join(f"{name}:{table.name}" for table in tables)
        raise InvalidInputError(f"table must be one of {names}, got {wanted!r}.")
    return chosen


def _tables(source: Source) -> tuple[PublishedTable, ...]:
    tables = source.tables()
    for table in tables:
        what = f"source of table {table.name!r}"
        require(table.source == source.name, what, f"{source.name!r}, as the source is called", table.source)
    return tables
