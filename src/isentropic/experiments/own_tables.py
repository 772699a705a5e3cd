"""An experiment of one's own: every method on every table of a folder, by the honest protocol."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from .._core.errors import FileFormatError, IsentropicError, IsentropicWarning, require
from .._core.files import path_of
from ..tables.readers.table_files import LOOSE, SUFFIXES, kind_of_file, table_name
from .findings.rankings import FEWEST_BLOCKS, FEWEST_METHODS, complete
from .honest_work import RAW, has_numbers, usual_target
from .values import HONEST, PERMUTED, Cell, Outcome, PublishedTable, Task, measured

OWN = "experiment"
R2 = "R²"  # of k-NN, where the target is a number
PROTOCOLS = (HONEST, PERMUTED)
MEASURES = ("accuracy", "kappa")
_NAMES = {False: "classes", True: "numbers"}
_WORKS = "isentropic.experiments.honest_work"


def tables_in(folder: str | Path) -> tuple[Path, ...]:
    """Files of a folder that hold a table, by name; a single file is one too."""
    path = path_of(folder)
    if path.is_file():
        return (path,)
    if not path.is_dir():
        raise FileFormatError(f"{path} must be a folder of tables, or one table, got nothing of this name.")
    found = tuple(
        sorted(one for one in path.iterdir() if one.is_file() and kind_of_file(one) not in (None, *LOOSE))
    )
    if not found:
        raise FileFormatError(f"{path} must hold tables ({', '.join(SUFFIXES)}), got none.")
    return found


@dataclass(frozen=True, slots=True)
class Study:
    """How one's own tables are read and judged."""

    target: str | None = None  # the column; None: the usual one of each table
    protocol: str = HONEST
    measure: str = "accuracy"  # of tables with classes: or "kappa"
    classifiers: tuple[str, ...] | None = None
    n_repeats: int = 10
    test_share: float = 0.5
    seed: int = 0
    choose: bool = True  # parameters, within the training rows; else those that a method comes with
    reading: Mapping[str, Any] = field(default_factory=dict)  # as isentropic.datasets.load takes it

    def arguments(self, path: Path, method: str, params: Mapping[str, Any], kind: str) -> dict[str, Any]:
        """Of the work of one task: what differs from its defaults, so that equal work has equal words."""
        found: dict[str, Any] = {"source": str(path.absolute()), "method": method, "params": dict(params)}
        found |= {"seed": self.seed}
        if kind == HONEST:
            found |= {"n_repeats": self.n_repeats} | ({} if self.choose else {"grid": None})
        if kind == PERMUTED or self.measure != "accuracy":
            found["measure"] = self.measure  # of both, or the null would be of another measure
        found |= {} if self.classifiers is None else {"classifiers": list(self.classifiers)}
        found |= {} if self.test_share == 0.5 else {"test_share": self.test_share}
        return found | ({"reading": dict(self.reading)} if self.reading else {})


def own_experiment(
    paths: Sequence[Path], methods: Mapping[str, Mapping[str, Any]], study: Study | None = None
) -> tuple[PublishedTable, ...]:
    """Tables by methods, each judged on rows that it did not see; with "permuted" its null beside it.

    ``methods`` are names of the registry with parameters, which are then not chosen. The standardised rows
    themselves are always judged too: a map is worth what it adds to them. Tables with classes and tables
    with numbers for a target are apart: their scores have nothing to do with each other.
    """
    require(len(methods) > 0, "methods", "at least one", methods)
    study = study or Study()
    names = [table_name(path) for path in paths]
    labels = [name if names.count(name) == 1 else path.name for name, path in zip(names, paths, strict=True)]
    every = {**{name: dict(params) for name, params in methods.items()}, RAW: {}}
    kinds: dict[bool, list[_Own]] = {False: [], True: []}
    for path, label in zip(paths, labels, strict=True):
        target, numeric, notices = _looked_at(path, study)
        kinds[numeric].append(_Own(path, label, target, notices))
    both = all(kinds.values())
    return tuple(_table(own, every, study, numeric, both) for numeric, own in kinds.items() if own)


@dataclass(frozen=True, slots=True)
class _Own:
    """A table of the user's: its file, its name on the page, its target as far as it had to be guessed."""

    path: Path
    label: str
    target: str | None
    notices: tuple[str, ...]  # what reading it had to say


def _table(
    own: Sequence[_Own], every: Mapping[str, Mapping[str, Any]], study: Study, numeric: bool, both: bool
) -> PublishedTable:
    """All methods on tables of one kind; it has a name only where there are ``both`` kinds."""
    measure = R2 if numeric else study.measure
    kinds = (HONEST, PERMUTED) if study.protocol == PERMUTED else (HONEST,)
    tasks = tuple(_task(one, method, params, kind, study) for one in own for method, params in every.items()
                  for kind in kinds)  # fmt: skip
    cells = tuple(Cell(one.label, method, measure) for one in own for method in every)
    tables = f"{len(own)} table" + ("" if len(own) == 1 else "s")
    title = f"{len(every)} methods on {tables}"
    return PublishedTable(
        source=OWN,
        name=_NAMES[numeric] if both else "",
        title=f"{title} with {_NAMES[numeric]} for a target" if both else title,
        cells=cells,
        tasks=lambda quick: tasks,
        ours=measured(cells, {measure: "mean"}),
        note=_NOTE,
        facts=partial(_facts, own, tuple(every)),
    )


def _task(one: _Own, method: str, params: Mapping[str, Any], kind: str, study: Study) -> Task:
    arguments = study.arguments(one.path, method, params, kind)
    arguments |= {} if one.target is None else {"target": one.target}
    data = (str(one.path.absolute()),)
    return Task(OWN, "", one.label, method, kind, f"{_WORKS}:{kind}", arguments, data)


def _looked_at(path: Path, study: Study) -> tuple[str | None, bool, tuple[str, ...]]:
    """The column that is taken for the target, None where the file says; whether it holds numbers; notices.

    A file that cannot be read is a row with its reason among those with classes.
    """
    found, numeric = study.target, False
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", IsentropicWarning)
        with suppress(IsentropicError):
            found = found or usual_target(str(path), study.reading)
            numeric = has_numbers(str(path), found, dict(study.reading))
    said = dict.fromkeys(str(one.message).partition(". ")[0] for one in caught)  # not how else it is read
    return found, numeric, tuple(said)


def _facts(own: Sequence[_Own], methods: Sequence[str], outcomes: Mapping[Task, Outcome]) -> tuple[str, ...]:
    """What is told apart, what reading had to say, and why there is no ranking."""
    told = [f"{one.label} {one.target}" for one in own if one.target is not None]
    said = [f"Targets: {', '.join(told)}."] if told else []
    said += [f"{one.label}: {notice.rstrip('.')}." for one in own for notice in one.notices]
    rows: dict[tuple[str, str], dict[str, float]] = {}
    for task, outcome in outcomes.items():
        if task.protocol == HONEST and "mean" in outcome.measures:
            rows.setdefault((task.dataset, ""), {})[task.method] = outcome.measures["mean"]
    ranked, blocks, _ = complete(rows)
    if len(blocks) < FEWEST_BLOCKS or len(ranked) < FEWEST_METHODS:
        said.append(
            f"Nothing is ranked: that takes {FEWEST_METHODS} methods, raw included, and {FEWEST_BLOCKS} "
            f"tables on which each has a score; here are {len(ranked)} and {len(blocks)}."
        )
    elif len(ranked) < len(methods):
        rare = ", ".join(name for name in methods if name not in ranked)
        said.append(f"Not ranked, for a score on less than half of the tables: {rare}.")
    return tuple(said)


_NOTE = """The score is the mean over the classifiers, or R² of k-NN where the target is a number, on rows
that were held out: scale, parameters and map come from the others, and the rows that are judged are placed
without their labels. *raw* is the standardised rows without a map."""
