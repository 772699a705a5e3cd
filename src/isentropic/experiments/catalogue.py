"""The sources whose tables can be run again, and the tables of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType

from .._core.errors import InvalidInputError, require, require_one_of
from .values import PublishedTable


@dataclass(frozen=True, slots=True)
class Source:
    """A thesis, an article or a benchmark: ``target`` names the function that gives its tables."""

    name: str
    title: str
    target: str

    @property
    def is_here(self) -> bool:
        """Whether its module is part of this version."""
        return find_spec(self.target.partition(":")[0]) is not None

    def tables(self) -> tuple[PublishedTable, ...]:
        """All that it prints and we know of, in its order."""
        module, _, function = self.target.partition(":")
        require(self.is_here, "source", "one whose tables are part of this version", self.name)
        found: tuple[PublishedTable, ...] = getattr(import_module(module), function)()
        return found


_HERE = __package__
SOURCES: Mapping[str, Source] = MappingProxyType(
    {
        source.name: source
        for source in (
            Source("000", "Entropic and supervised maps: the thesis", f"{_HERE}.entropic_thesis:tables"),
            Source("001", "ISOMAP-KL: the article", f"{_HERE}.entropic_article:tables"),
            Source("002", "PCA and ISOMAP: the thesis", f"{_HERE}.isomap_thesis:tables"),
            Source("004", "SDD and trustworthy reduction: the thesis", f"{_HERE}.trustworthy_thesis:tables"),
            Source("survey", "44 techniques on ten tables: the survey", f"{_HERE}.survey:tables"),
        )
    }
)


def tables_of(wanted: str) -> tuple[PublishedTable, ...]:
    """Tables by the words of the command line: ``002``, ``000:7``, ``000:table7``, or ``all``.

    Of ``all``, sources that are not part of this version are left out.
    """
    if wanted == "all":
        return tuple(table for source in SOURCES.values() if source.is_here for table in source.tables())
    name, _, word = wanted.partition(":")
    require_one_of("source", name, (*SOURCES, "all"))
    tables = SOURCES[name].tables()
    if not word:
        return tables
    word = word.lower().removeprefix("table").strip(" _-")
    chosen = tuple(table for table in tables if table.name.lower() == word)
    if not chosen:
        known = ", ".join(f"{name}:{table.name}" for table in tables)
        raise InvalidInputError(f"table must be one of {known}, got {wanted!r}.")
    return chosen
