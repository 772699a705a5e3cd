"""``compare``: every method on one table, each fitted, timed, scored; a failure is a row, not an end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from .._errors import require, require_count, require_one_of
from .._runtime import config_context, get_config, worker_threads
from .._values import Integers
from ..distances import Metric, checked_metric, is_gower
from ..registry import METHODS
from ..selection import CRITERIA
from .data import Data
from .jobs import Job
from .presets import LARGE, MIXED, PRESETS, SAMPLE_ROWS, Preset, methods_of
from .runs import Run
from .steps import Steps, count_steps
from .store import Store
from .strata import strata_of, stratified_rows
from .tasks import Methods, Task, as_tasks
from .verdicts import verdict

MostRows = int | None | Literal["auto"]
OnRun = Callable[[Run, bool], None]  # called with each Run as it is there, and whether it was read back


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Runs of one table; of a large one those of a sample of its rows, and then one Run of all rows.

    The runs of a sample are Runs of the sampled table: row i of their maps, and of all that is known row by
    row, is row ``rows[i]`` of the whole one. ``whole`` is the recommended method on all rows, which are in
    the order of the table.
    """

    runs: tuple[Run, ...]  # in the order of the methods
    rows: Integers | None = None  # of the sample; None: all
    whole: Run | None = None  # None where all rows were compared, or no map is to be trusted
    notes: tuple[str, ...] = ()  # what was left out, a sentence each

    @property
    def listed(self) -> list[Run]:
        """All Runs, that of all rows last: as :func:`compare` returns and ``verdict`` takes them."""
        return [*self.runs, *([] if self.whole is None else [self.whole])]


def compare(  # long, with a line for each option
    X: Any,
    y: Any = None,
    methods: Methods | None = None,
    *,
    metric: Metric = "euclidean",
    preset: str = "standard",
    tune: bool | None = None,
    budget: int | None = None,
    n_seeds: int | None = None,
    criterion: str = "rnx_auc",
    random_state: int = 0,
    most_rows: MostRows = "auto",
    n_jobs: int | None = None,
    folder: str | Path | None = None,
    on_run: OnRun | None = None,
) -> list[Run]:
    """Fit every method, measure seconds and memory, assess every map, and compare it with chance.

    A method that fails, needs classes that are not given, or is not made for so many rows, is a Run with
    the reason. What is said of a method does not depend on which others are compared.

    A table of more than 20,000 rows is compared on 8,000, drawn from each class in proportion, or from each
    tenth of the column that varies most; parameters are chosen on 2,500 of them. These Runs say in ``rows``
    which rows they are of. The method that :func:`~isentropic.comparison.verdict` recommends is then fitted
    on all rows, and its Run stands last, with ``rows`` of None: 4,000 of its rows are compared with all
    others. Of more than 6,000 rows by Gower's metric 2,000 are, and parameters are chosen on 2,500. Where a
    method is not made for so many rows, those beyond the sample are placed by ``transform``.

    Cost: for each method one fit per set of parameters and seed, with classes one more on 70% of the rows,
    and ``O(n^2 m)`` for the measures, up to 30,000 rows; of more rows a sample is read. A method that learns
    from classes is fitted with permuted ones too, of at most 2,000 rows: 9, 19 or 39 times, by preset, for
    each split: of fewer than 670 rows there are several, 5 of 150.

    Parameters
    ----------
    X : array (n, m)
        The data, scaled as they are to be compared.
    y : array (n,), optional
        Classes: for the methods that learn from them, and for the accuracy of k-NN in the map, measured on
        rows that were held out from fitting too. Parameters are chosen without them. A map that saw them is
        trusted only where permuted ones score less: see :func:`isentropic.label_permutation_test`.
    methods : list of names, or mapping, optional
        Names of the registry; names with parameters, ``{"isomap": {"n_neighbors": 15}}``; or labels with
        estimators or functions of X, ``{"mine": lambda X: X[:, :2]}``. Default: those of the preset.
    metric : str, callable or Gower
        By which rows are compared, fitted and measured: ``table.metric`` of a loaded table. Methods that know
        nothing but columns of numbers are then no part of a preset, and fail where they are named.
    preset : {"quick", "standard", "thorough"}
        What is not said otherwise: methods, tuning, budget and seeds.
    tune : bool, optional
        Choose the parameter that decides most, as the number of neighbours, by ``criterion``.
    budget : int, optional
        Sets of parameters that are tried for each method.
    n_seeds : int, optional
        Seeds for methods that draw: the map is that of ``random_state``; the others show how far it varies.
    criterion : str
        Of the tuning: see :func:`isentropic.selection.select`.
    random_state : int
        The first seed.
    most_rows : "auto", int or None
        So many rows of a larger table are compared; None for all of any table.
    n_jobs : int or None
        Threads. The maps and their measures do not depend on it.
    folder : path, optional
        Each Run is written there when it is done. Runs of the same data, method, parameters, seed, code and
        libraries are read back instead of computed; those that failed are tried again.
    on_run : callable, optional
        Called with each Run, and whether it was read back.

    Returns
    -------
    list of Run
        In the order of the methods; then, of a table that was sampled, that of all rows, unless no map is to
        be trusted.

    Examples
    --------
    >>> from isentropic import compare, datasets
    >>> iris = datasets.load("builtin:iris")
    >>> runs = compare(iris.X, iris.y, ["pca", "isomap"], tune=False)
    >>> [run.method for run in runs], runs[0].embedding.shape
    (['pca', 'isomap'], (150, 2))
    >>> bool(runs[0].accuracy[0] > 0.8)  # on rows that were held out
    True
    """
    chosen = preset_of(preset, tune=tune, budget=budget, n_seeds=n_seeds)
    return compared(
        X,
        y,
        methods,
        chosen,
        metric=metric,
        criterion=criterion,
        random_state=random_state,
        most_rows=most_rows,
        n_jobs=n_jobs,
        folder=folder,
        on_run=on_run,
    ).listed


def compared(
    X: Any,
    y: Any,
    methods: Methods | None,
    preset: Preset,
    *,
    metric: Metric = "euclidean",
    criterion: str = "rnx_auc",
    random_state: int = 0,
    most_rows: MostRows = "auto",
    n_jobs: int | None = None,
    folder: str | Path | None = None,
    on_run: OnRun | None = None,
) -> Comparison:
    """As :func:`compare`, with what was done beside the Runs."""
    seed = require_count("random_state", random_state, "a whole number, as seeds count on", least=0)
    if most_rows not in (None, "auto"):
        require_count("most_rows", most_rows, "'auto', None for all, or a number of rows", least=4)
    worker_threads(n_jobs)  # raises now, not in the middle
    require_one_of("criterion", criterion, CRITERIA)
    progress = get_config().progress
    with config_context(progress=None):  # the bar is about methods, not about blocks of rows
        work = _Work.of(X, y, methods, preset, seed, most_rows, checked_metric(metric))
        store = Store.at(folder, len(work.tasks) * len(work.data.X))
        steps = Steps(progress, work.n_steps)
        told = on_run or (lambda run, read_back: None)

        def job(task: Task, data: Data, preset: Preset) -> Job:
            return Job(task, data, preset, criterion, seed, n_jobs, steps)

        runs = []
        for task in work.tasks:
            run, read_back = job(task, work.data, work.preset).stored(store)
            runs.append(replace(run, rows=work.rows))
            told(runs[-1], read_back)
        found = Comparison(tuple(runs), work.rows, None, work.notes)
        place = None if work.rows is None else verdict(runs).recommended
        if work.rows is None or place is None:
            return found
        last = job(work.tasks[place], work.all, preset.of_all)
        run, read_back = last.of_all(runs[place], work.rows, store)
        told(run, read_back)
        return replace(found, whole=run)


@dataclass(frozen=True, slots=True, eq=False)
class _Work:
    """What is to be done: which methods on which rows."""

    tasks: tuple[Task, ...]
    data: Data  # all rows, or the sample
    preset: Preset
    rows: Integers | None  # the sample
    all: Data
    notes: tuple[str, ...]

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any,
        methods: Methods | None,
        preset: Preset,
        seed: int,
        most_rows: MostRows,
        metric: Metric,
    ) -> _Work:
        notes: tuple[str, ...] = ()
        everything = Data.of(X, y, seed, metric, measured=False)
        rows, most = None, _most(most_rows, len(everything.X))
        if most < len(everything.X):
            strata = strata_of(everything.X, everything.classes)
            rows = stratified_rows(strata, most, seed)
            preset = preset.of_sample
        if is_gower(metric) and most > MIXED:
            preset = preset.of_mixed
        data = Data.of(*everything.taken(rows), seed, metric)
        if methods is None:
            has_classes, of_columns = everything.classes is not None, data.is_euclidean
            methods = methods_of(preset, most, has_classes=has_classes, of_columns=of_columns)
            if rows is not None:
                methods, notes = _that_can(methods, most)
        tasks = as_tasks(methods)
        if not data.is_euclidean:
            tasks = tuple(task.by_metric(metric) for task in tasks)
        return cls(tasks, data, preset, rows, everything, notes)

    @property
    def n_steps(self) -> int:
        steps = sum(count_steps(task, self.preset, len(self.data.X)) for task in self.tasks)
        return steps if self.rows is None else steps + 2


def _most(most_rows: MostRows, n_rows: int) -> int:
    """How many of the rows are compared."""
    if most_rows == "auto":
        return n_rows if n_rows <= LARGE else SAMPLE_ROWS
    return n_rows if most_rows is None else min(most_rows, n_rows)


def _that_can(methods: Sequence[str], n_rows: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Those of a preset that are made for so many rows, and a sentence on the others."""
    others = [name for name in methods if METHODS[name].max_rows < n_rows]
    note = f"Not compared, as they are made for fewer rows: {', '.join(others)}."
    return tuple(name for name in methods if name not in others), (note,) if others else ()


def preset_of(name: str, **changes: Any) -> Preset:
    """The preset of this name, with what is said otherwise."""
    require_one_of("preset", name, PRESETS)
    return _with(PRESETS[name], **changes)


def _with(preset: Preset, **changes: Any) -> Preset:
    given = {name: value for name, value in changes.items() if value is not None}
    for name in ("budget", "n_seeds"):
        require_count(name, given.get(name, 1))
    require(given.get("tune", True) in (True, False), "tune", "True or False", given.get("tune"))
    if given.get("tune") and "budget" not in given and preset.budget == 1:
        given["budget"] = PRESETS["standard"].budget  # a preset without tuning has no budget of its own
    return replace(preset, **given)
