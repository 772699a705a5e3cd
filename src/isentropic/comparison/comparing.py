"""``compare``: every method on one table, each fitted, timed, scored; a failure is a row, not an end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from .._errors import require, require_count, require_one_of
from .._runtime import config_context, get_config, worker_threads
from ..distances import Metric, checked_metric
from ..selection import CRITERIA
from .data import Data
from .jobs import Job, Steps, count_steps
from .presets import PRESETS, Preset, methods_of
from .runs import Run
from .store import Store
from .tasks import Methods, as_tasks

OnRun = Callable[[Run, bool], None]  # called with each Run as it is there, and whether it was read back


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
    n_jobs: int | None = None,
    folder: str | Path | None = None,
    on_run: OnRun | None = None,
) -> list[Run]:
    """Fit every method, measure seconds and memory, assess every map, and compare it with chance.

    A method that fails, needs classes that are not given, or is not made for so many rows, is a Run with
    the reason. What is said of a method does not depend on which others are compared.

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
        In the order of the methods.

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
    require_one_of("preset", preset, PRESETS)
    chosen = _with(PRESETS[preset], tune=tune, budget=budget, n_seeds=n_seeds)
    seed = require_count("random_state", random_state, "a whole number, as seeds count on", least=0)
    worker_threads(n_jobs)  # raises now, not in the middle
    require_one_of("criterion", criterion, CRITERIA)
    progress = get_config().progress
    runs = []
    with config_context(progress=None):  # the bar is about methods, not about blocks of rows
        data = Data.of(X, y, seed, checked_metric(metric))
        if methods is None:
            has_classes, of_columns = data.classes is not None, data.is_euclidean
            methods = methods_of(chosen, len(data.X), has_classes=has_classes, of_columns=of_columns)
        tasks = as_tasks(methods)
        if not data.is_euclidean:
            tasks = tuple(task.by_metric(metric) for task in tasks)
        store = Store.at(folder, len(tasks) * len(data.X))
        steps = Steps(progress, sum(count_steps(task, chosen, len(data.X)) for task in tasks))
        for task in tasks:
            job = Job(task, data, chosen, criterion, seed, n_jobs, steps)
            run, read_back = job.stored(store)
            runs.append(run)
            if on_run is not None:
                on_run(run, read_back)
    return runs


def _with(preset: Preset, **changes: Any) -> Preset:
    given = {name: value for name, value in changes.items() if value is not None}
    for name in ("budget", "n_seeds"):
        require_count(name, given.get(name, 1))
    require(given.get("tune", True) in (True, False), "tune", "True or False", given.get("tune"))
    if given.get("tune") and "budget" not in given and preset.budget == 1:
        given["budget"] = PRESETS["standard"].budget  # a preset without tuning has no budget of its own
    return replace(preset, **given)
