"""``compare``: fit, time and score every method on one table; a failing method is recorded as such."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .._core.errors import require_count, require_flag, require_number, require_one_of
from .._core.runtime import config_context, get_config, worker_threads
from .._core.values import Integers
from .._core.workers import worker_pool
from ..distances import Metric, checked_metric
from ..selection import CRITERIA
from .budget.comparison_plan import ComparisonPlan, MostRows
from .budget.cost_model import SAMPLE_SHARE, TimeLimit, memory_messages
from .budget.method_runner import MakeEvaluation, MethodRunner, RunsByLabel, Turn
from .budget.progress import Progress
from .budget.time_budget import FullEvaluation, evaluate_full_in_time, evaluate_in_time, read_back
from .evaluation.candidates import Candidate, Methods
from .evaluation.method_evaluation import Evaluation
from .evaluation.runs import Run, RunCache
from .evaluation.worker_calls import Setting
from .presets import PRESETS, Preset
from .verdict import Verdict, verdict

_MOST_MODEL_BYTES = 2**28  # bytes of the table, times methods: beyond, fitted models are not held

OnPartial = Callable[[Callable[[], "Comparison"]], None]
OnRun = Callable[[Run, bool], None]  # called with each Run as it is there, and whether it was read back


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Runs of one table; of a large one those of a sample of its rows, and then one Run of all rows.

    The runs of a sample are Runs of the sampled table: row i of their maps, and of all that is known row by
    row, is row ``rows[i]`` of the full one. ``full_run`` is the recommended method on all rows, which are in
    the order of the table. Identical rows are mapped and scored once: then ``rows`` names one of each that
    was compared, ``copies`` how often it is there, and ``row_of`` where the map has every row of the table.
    """

    runs: tuple[Run, ...]  # in the order of the methods
    rows: Integers | None = None  # that were compared; None: all
    full_run: Run | None = None  # None where all rows were compared, or no map is to be trusted
    notes: tuple[str, ...] = ()  # what was left out, a sentence each
    verdict: Verdict | None = None  # of all Runs; None without any
    sampled: bool = False  # whether ``rows`` are a sample
    copies: Integers | None = None  # (n,) of each compared row: how many rows of the table it is; None: one
    row_of: Integers | None = None
    # (N,) of each row of the table: which row of ``full_run``, of the runs where there was no sample, it is
    distinct: Integers | None = None  # (u,) rows of the table that stand for all that are identical with them

    @property
    def all_runs(self) -> list[Run]:
        """All Runs, the one of all rows last: as :func:`compare` returns and ``verdict`` takes them."""
        return [*self.runs, *([] if self.full_run is None else [self.full_run])]

    def in_distinct_rows(self) -> Comparison:
        """Count rows among the distinct ones; the same comparison where no row is repeated."""
        if self.row_of is None:
            return self
        rows = self.row_of[self.rows] if self.sampled and self.rows is not None else None
        return replace(self, runs=tuple(replace(run, rows=rows) for run in self.runs), rows=rows)


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
    seconds: float | None = None,
    n_jobs: int | None = None,
    folder: str | Path | None = None,
    on_run: OnRun | None = None,
) -> list[Run]:
    """Fit every method, measure seconds and memory, assess every map, and compare it with chance.

    A method that fails, needs classes that are not given, or is not made for so many rows, is a Run with
    the reason. The results of a method do not depend on which others are compared, but for whether its map
    jumps between rows: only the shown map is tested for jumps, unless the preset is thorough.

    Rows that are identical in all columns are mapped and scored once, with the class that most of them have;
    Runs then say in ``copies`` how often each is there, and :func:`~isentropic.comparison.maps_frame` gives
    every row of the table its place.

    A table of more than 10,000 rows is compared on 5,000, by Gower's metric on 3,000, sampled from each class
    in proportion, or from each tenth of the column that varies most; parameters are chosen on 1,500 of them.
    These Runs say in ``rows`` which rows they are of. The method that is recommended
    (:func:`~isentropic.comparison.verdict`) is then fitted on all rows; its Run is the last, with ``rows``
    of None: 2,000 of its rows are compared with all others. So they are of more than 6,000 rows by Gower's
    metric. Where the cost of a method grows with the square of the rows, or it is not made for so many, those
    beyond the sample are mapped by ``transform``.

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
        objects of any library whose ``fit_transform(X)`` or ``fit(X)`` returns the map, or functions of X,
        ``{"mine": lambda X: X[:, :2]}``. Default: those of the preset.
    metric : str, callable or Gower
        By which rows are compared, fitted and measured: ``table.metric`` of a loaded table. Methods that know
        nothing but columns of numbers are then no part of a preset, and fail where they are named.
    preset : {"quick", "standard", "thorough"}
        Defaults of what is not given: methods, tuning, budget and seeds.
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
    seconds : float, optional
        What all of it may take. Methods are tried on few rows first; then the cheapest come first, on so many
        rows, with so many settings and seeds as the time allows, and what takes longer is stopped.
        Which Runs there are then depends on the machine. See :func:`run_comparison` for what was left out.
    n_jobs : int or None
        Cores; None is all of them. Methods run side by side from 500 rows on, each fit on one thread in a
        process of its own; 1 keeps all in this process. The maps and their measures do not depend on it.
    folder : path, optional
        Each Run is written there when it is done. Runs of the same data, method, parameters, seed, code and
        libraries are read back instead of computed; those that failed are tried again.
    on_run : callable, optional
        Called with each Run as it is done, and whether it was read back.

    Returns
    -------
    list of Run
        In the order of the methods; then, of a table that was sampled, that of all rows, unless no map is to
        be trusted.

    Examples
    --------
    >>> from isentropic import compare, datasets
    >>> wine = datasets.load("builtin:wine")
    >>> runs = compare(wine.X, wine.y, ["pca", "isomap"], tune=False)
    >>> [run.method for run in runs], runs[0].embedding.shape
    (['pca', 'isomap'], (178, 2))
    >>> bool(runs[0].accuracy[0] > 0.8)  # on rows that were held out
    True
    """
    chosen = preset_with(preset, tune=tune, budget=budget, n_seeds=n_seeds)
    limit = None
    if seconds is not None:
        seconds = require_number("seconds", seconds, "a positive number of seconds", above=0.0)
        limit = TimeLimit(time.perf_counter(), seconds)
    return run_comparison(
        X,
        y,
        methods,
        chosen,
        metric=metric,
        criterion=criterion,
        random_state=random_state,
        most_rows=most_rows,
        limit=limit,
        n_jobs=n_jobs,
        folder=folder,
        on_run=on_run,
    ).all_runs


def run_comparison(
    X: Any,
    y: Any,
    methods: Methods | None,
    preset: Preset,
    *,
    metric: Metric = "euclidean",
    criterion: str = "rnx_auc",
    random_state: int = 0,
    most_rows: MostRows = "auto",
    limit: TimeLimit | None = None,
    n_jobs: int | None = None,
    folder: str | Path | None = None,
    on_run: OnRun | None = None,
    on_methods: Callable[[Sequence[str]], None] | None = None,
    on_partial: OnPartial | None = None,
) -> Comparison:
    """Run :func:`compare` and return notes and the verdict too.

    ``on_methods`` is called with the labels. ``on_partial`` is called after each method with a function that
    gives the comparison so far, judged as it is.
    """
    seed = require_count("random_state", random_state, "a whole number, as seeds count on", least=0)
    if most_rows not in (None, "auto"):
        require_count("most_rows", most_rows, "'auto', None for all, or a number of rows", least=4)
    worker_threads(n_jobs)  # raises now, not in the middle
    require_one_of("criterion", criterion, CRITERIA)
    callback = get_config().progress
    with (
        config_context(progress=None),
        worker_pool(n_jobs) as workers,
    ):  # the bar counts methods, not blocks of rows
        plan = ComparisonPlan.of(
            X, y, methods, preset, seed, most_rows, checked_metric(metric), limit, n_jobs
        )
        ends = None if limit is None else limit.ends(plan.unit_cost)
        if limit is not None and not limit.is_feasible(plan.unit_cost, len(plan.data.X)):
            ends = time.perf_counter()  # what cannot be left out is done, and nothing else
        cache = RunCache.at(folder, len(plan.candidates) * len(plan.data.X))
        pending = plan.steps
        progress = Progress(callback, sum(map(len, pending.values())), pending)
        in_table = (lambda run: run) if plan.copies is None else plan.copies.in_table

        so_far: dict[str, Run] = {}

        def notify(run: Run, read_back: bool) -> None:
            if on_run is not None:
                on_run(in_table(run), read_back)
            if on_partial is not None and len(so_far) < len(plan.candidates):  # not of the map of all rows
                so_far[run.method] = run
                on_partial(lambda: _partial(plan, so_far))

        out_of_sample_maps = _out_of_sample_maps(plan)
        if on_methods is not None:
            on_methods([candidate.label for candidate in plan.candidates])

        holds_maps = out_of_sample_maps is not None
        setting = Setting(plan.data, criterion, seed, 1, holds_maps, {})

        def make_evaluation(candidate: Candidate, preset: Preset) -> Evaluation:
            return Evaluation(
                candidate, plan.data, preset, criterion, seed, n_jobs, progress, out_of_sample_maps
            )

        runner = MethodRunner(make_evaluation, setting, cache, progress, workers)
        runs, notes = _evaluate_all(plan, make_evaluation, runner, cache, ends, notify)
        notes = (*plan.notes, *notes, *memory_messages(runs))
        judged = verdict(runs) if runs else None
        runs = _with_jumps_of_shown(plan, runs, judged, runner, cache if ends is None else None)
        runner.end_processes()
        if plan.rows is None or judged is None or judged.recommended is None:
            return _as_comparison(plan, runs, None, notes, judged)
        candidate = next(
            candidate for candidate in plan.candidates if candidate.label == runs[judged.recommended].method
        )
        last = FullEvaluation(
            candidate, plan.full_data, preset.for_full_table, criterion, seed, n_jobs, progress
        )
        given = (runs[judged.recommended], plan.rows, cache)
        run, read_back = (
            last.evaluate_full(*given) if ends is None else evaluate_full_in_time(last, *given, ends)
        )
        notify(run, read_back)
        return _as_comparison(plan, runs, run, notes, verdict([*runs, run]))


def _partial(plan: ComparisonPlan, so_far: Mapping[str, Run]) -> Comparison:
    """The comparison of the methods that are done."""
    runs = [so_far[candidate.label] for candidate in plan.candidates if candidate.label in so_far]
    return _as_comparison(plan, runs, None, plan.notes, verdict(runs))


def _out_of_sample_maps(plan: ComparisonPlan) -> dict[str, Any] | None:
    """Where ``transform`` of each method is held until the shown map is known; None: all are tested."""
    if plan.preset.every_walk or len(plan.candidates) * plan.data.X.nbytes > _MOST_MODEL_BYTES:
        return None
    return {}


def _with_jumps_of_shown(
    plan: ComparisonPlan,
    runs: list[Run],
    judged: Verdict | None,
    runner: MethodRunner,
    cache: RunCache | None,
) -> list[Run]:
    """Test only the shown map for jumps, where not all are tested: the verdict does not depend on it."""
    if judged is None or judged.shown is None:
        return runs
    label = runs[judged.shown].method
    candidate = next(candidate for candidate in plan.candidates if candidate.label == label)
    tested = runner.with_map_jumps(runs[judged.shown], candidate, plan.preset, cache)
    return [replace(tested, rows=plan.rows) if i == judged.shown else run for i, run in enumerate(runs)]


def _as_comparison(
    plan: ComparisonPlan,
    runs: list[Run],
    full_run: Run | None,
    notes: tuple[str, ...],
    judged: Verdict | None,
) -> Comparison:
    """The comparison, with rows counted in the table as it was given, duplicates included."""
    copies, sampled = plan.copies, plan.rows is not None
    if copies is None:
        return Comparison(tuple(runs), plan.rows, full_run, notes, judged, sampled)
    return Comparison(
        tuple(map(copies.in_table, runs)),
        copies.rows if plan.rows is None else copies.rows[plan.rows],
        None if full_run is None else copies.in_table(full_run),
        notes,
        judged,
        sampled,
        copies.counts if plan.rows is None else copies.counts[plan.rows],
        copies.row_of,
        copies.rows,
    )


def _evaluate_all(
    plan: ComparisonPlan,
    make_evaluation: MakeEvaluation,
    runner: MethodRunner,
    cache: RunCache,
    ends: float | None,
    notify: OnRun,
) -> tuple[list[Run], tuple[str, ...]]:
    """The Runs in the order of the methods, and what was left out for time."""

    def in_sample(run: Run, read_back: bool) -> None:
        notify(replace(run, rows=plan.rows), read_back)

    notes: tuple[str, ...] = ()
    if ends is None:
        found = _evaluate_each(plan, make_evaluation, runner, cache, in_sample)
    else:
        share = 1.0 if plan.rows is None else SAMPLE_SHARE
        until = time.perf_counter() + share * (ends - time.perf_counter())
        found, notes = evaluate_in_time(
            plan.candidates, plan.preset, make_evaluation, runner, cache, until, plan.unit_cost, in_sample
        )
    labels = [candidate.label for candidate in plan.candidates if candidate.label in found]
    return [replace(found[label][0], rows=plan.rows) for label in labels], notes


def _evaluate_each(
    plan: ComparisonPlan,
    make_evaluation: MakeEvaluation,
    runner: MethodRunner,
    cache: RunCache,
    notify: OnRun,
) -> RunsByLabel:
    """Every Run, however long it takes."""
    asked = {one.label: make_evaluation(one, plan.preset) for one in plan.candidates}
    found = read_back(asked, cache, notify)

    def done(candidate: Candidate, run: Run, _: float) -> None:
        found[candidate.label] = run, False
        notify(run, False)

    left = [one for one in plan.candidates if one.label not in found]
    ends = get_config().deadline  # of whoever called
    runner.run(left, lambda candidate, _: Turn(candidate, plan.preset, ends), done)
    return found


def preset_with(name: str, **changes: Any) -> Preset:
    """The preset of this name, with these changes."""
    require_one_of("preset", name, PRESETS)
    return _with_changes(PRESETS[name], **changes)


def _with_changes(preset: Preset, **changes: Any) -> Preset:
    given = {name: value for name, value in changes.items() if value is not None}
    for name in ("budget", "n_seeds"):
        require_count(name, given.get(name, 1))
    require_flag("tune", given.get("tune", True))
    if given.get("tune") and "budget" not in given and preset.budget == 1:
        given["budget"] = PRESETS["standard"].budget  # a preset without tuning has no budget of its own
    return replace(preset, **given)
