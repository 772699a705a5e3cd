"""An experiment of one's own: every method on every table of a folder, by the honest protocol."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .. import registry
from .._core.errors import (
    FileFormatError,
    IsentropicError,
    IsentropicWarning,
    require,
    require_count,
    require_one_of,
)
from .._core.files import path_of
from .._core.values import Floats
from ..comparison.presets import grid_of
from ..methods.linear.random_projection import RandomProjection
from ..tables import load
from ..tables.readers.layout import Layout
from ..tables.readers.table_files import LOOSE, SUFFIXES, kind_of_file, table_name
from ..tables.table_sources import read_source
from .findings.rankings import FEWEST_BLOCKS, FEWEST_METHODS, complete
from .protocols import Protocol, Scores, honest_scores, permuted_null
from .tasks import HONEST, PERMUTED, Cell, Outcome, PublishedTable, Refused, Task, measured

# ---- Works of the honest protocol: a source of data and a method by name, measures out -----------
#
# Each is called with what JSON can say, so that tasks of any table, and of a user's own, may name it:
# ``isentropic.experiments.own_tables:honest``, ``:permuted`` and ``:random_projections``.


RAW = "raw"  # the standardised rows themselves, no map: what every map is held against
_TARGETS = ("target", "class", "label")
_TRIED = 5  # values of a parameter, where the grid is "auto"


def honest(
    source: str,
    method: str,
    params: dict[str, Any] | None = None,
    grid: Any = "auto",
    target: str | None = None,
    reading: dict[str, Any] | None = None,
    **protocol: Any,
) -> Scores:
    """A method of the registry, or ``"raw"``, under the honest protocol (:class:`.protocols.Protocol`).

    ``grid`` is None, sets of parameters, or "auto": five values of what decides most. A method that learns
    from classes chooses by inner folds unless ``choose`` is said: its own map flatters it. ``reading`` are
    arguments of :func:`isentropic.datasets.load`, in place of ours.
    """
    X, y, numeric = _table(source, target, reading)
    judged = _protocol(protocol, numeric, method)
    estimator, sets = _method(method, params, grid, len(X), judged)
    return honest_scores(estimator, X, y, judged, needs_y=_needs_y(method), grid=sets).measures()


def permuted(
    source: str,
    method: str,
    params: dict[str, Any] | None = None,
    grid: Any = None,
    target: str | None = None,
    reading: dict[str, Any] | None = None,
    n_permutations: int = 20,
    **protocol: Any,
) -> Scores:
    """Kappa, or the measure asked for, of the same with labels at random: ``mean`` of the classifiers.

    One split for each permutation. Kappa is 0 where nothing leaks.
    """
    X, y, numeric = _table(source, target, reading)
    judged = _protocol({"measure": "kappa", **protocol, "n_repeats": 1}, numeric, method)
    estimator, sets = _method(method, params, grid, len(X), judged)

    def score(labels: Any) -> float:
        found = honest_scores(estimator, X, labels, judged, needs_y=_needs_y(method), grid=sets)
        return found.scores[0]["mean"]

    null = permuted_null(score, y, n_permutations, judged.seed)
    return {"mean": null.mean, "mean low": null.low, "mean high": null.high, "least": null.least,
            "most": null.most}  # fmt: skip


def random_projections(
    source: str, n_projections: int = 49, n_components: int = 2, target: str | None = None, **protocol: Any
) -> Scores:
    """What choosing among maps that know nothing of the data gives.

    ``mean`` and ``max`` are of the projection that is best on the test rows, as a source has it that chooses
    there; ``unchosen`` is what all give on average, ``chosen inside`` what the one gives that k-NN prefers in
    folds of the training rows. Means over the splits.
    """
    X, y, numeric = _table(source, target)
    judged = _protocol(protocol, numeric, RAW)
    seeds, d = range(require_count("n_projections", n_projections)), min(n_components, X.shape[1])
    tried = [honest_scores(RandomProjection(d, random_state=seed), X, y, judged).scores for seed in seeds]
    means = np.array([[one["mean"] for one in scores] for scores in tried])
    tops = np.array([[one["max"] for one in scores] for scores in tried])
    inside = replace(judged, choose="folds")
    chosen = honest_scores(RandomProjection(d), X, y, inside, grid={"random_state": list(seeds)})
    return {
        "mean": float(means.max(axis=0).mean()),
        "max": float(tops.max(axis=0).mean()),
        "unchosen": float(means.mean()),
        "chosen inside": chosen.measures()["mean"],
    }


# ---- by name -----------------------------------------------------------------------------------


def has_numbers(source: str, target: str | None, reading: dict[str, Any] | None = None) -> bool:
    """Whether the target of a table is a number, and not a class."""
    return _table(source, target, reading)[2]


def _table(
    source: str, target: str | None, reading: dict[str, Any] | None = None
) -> tuple[Floats, Any, bool]:
    """Rows as they are, NaN where a value is missing, and a target; whether that is a number."""
    found = target or usual_target(source, reading)
    table = load(
        source, found, **{"nominal": "coded", "missing": "keep", "scaling": "none", **(reading or {})}
    )
    if table.y is None:
        raise Refused(f"{table.name} has no target, so that there is nothing to tell apart. Name one.")
    return table.X, table.y, not table.class_names


def usual_target(source: str, reading: Mapping[str, Any] | None = None) -> str | None:
    """Of a file that knows none: the column that is called so, else the last; None where the source knows."""
    if not Path(source).is_file():
        return None
    given = reading or {}
    layout = Layout.of(given.get("separator"), given.get("header"))
    raw = read_source(Path(source), None, frozenset(), None, 0, layout)
    if raw.target is not None:
        return None
    columns = [str(name) for name in raw.frame.columns]
    return next((name for name in columns if name.lower() in _TARGETS), columns[-1])


def _protocol(given: dict[str, Any], numeric: bool, method: str) -> Protocol:
    fixed = {"measure": "r2"} if numeric else {}
    choose = {"choose": "folds" if _needs_y(method) else "quality"}
    listed = {"classifiers": tuple(given["classifiers"])} if "classifiers" in given else {}
    return Protocol(**{**choose, **given, **listed, **fixed})


def _needs_y(method: str) -> bool:
    return method != RAW and registry.METHODS[method].needs_y


def _method(
    method: str, params: dict[str, Any] | None, grid: Any, n_rows: int, protocol: Protocol
) -> tuple[Any, Any]:
    """The estimator, and the sets of parameters to choose from."""
    if method == RAW:
        return None, None
    require_one_of("method", method, registry.METHODS)
    line = registry.METHODS[method]
    n_train = round((1 - protocol.test_share) * n_rows)
    if n_train > line.max_rows:
        raise Refused(f"It is made for at most {line.max_rows:,} rows, and {n_train:,} are to learn from.")
    if line.needs_y and protocol.measure == "r2":
        raise Refused("It learns from classes, and the target is a number.")
    estimator = registry.make(method, **(params or {}))
    if grid == "auto":
        known = estimator.get_params(deep=False)
        grid = grid_of({name: known[name] for name in known if name not in (params or {})}, n_train, _TRIED)
    return estimator, grid or None


OWN = "experiment"
R2 = "R²"  # of k-NN, where the target is a number
PROTOCOLS = (HONEST, PERMUTED)
MEASURES = ("accuracy", "kappa")
_NAMES = {False: "classes", True: "numbers"}
_WORKS = "isentropic.experiments.own_tables"


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
    return tuple(_table_of_kind(own, every, study, numeric, both) for numeric, own in kinds.items() if own)


@dataclass(frozen=True, slots=True)
class _Own:
    """A table of the user's: its file, its name on the page, its target as far as it had to be guessed."""

    path: Path
    label: str
    target: str | None
    notices: tuple[str, ...]  # what reading it had to say


def _table_of_kind(
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
    targets = [f"{one.label} {one.target}" for one in own if one.target is not None]
    said = [f"Targets: {', '.join(targets)}."] if targets else []
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
