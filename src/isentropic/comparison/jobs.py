"""One method on one table: parameters chosen, map fitted and measured, held against chance."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from .._errors import InvalidInputError, IsentropicError, require
from .._runtime import Progress
from .._values import Floats, Integers
from ..distances import EUCLIDEAN, Metric, distances_between, is_gower, pair_distances
from ..neighbors import nearest_among
from ..quality import Quality, assess, baseline
from ..quality.map_differences import left_out
from ..quality.measures import judged
from ..selection import Selection, select
from .data import Data
from .fitting import Fit, fitted
from .labelled import with_accuracy, with_label_test
from .presets import Preset, grid_of
from .runs import Run
from .store import Store, as_written, key_of
from .tasks import Task

_FEWEST_TO_LEAVE_OUT = 40  # rows: a twentieth of fewer is one, and another one would change much
_SMALL = 500  # rows
_BLOCK = 4_096  # rows whose differences are held at a time
_MANY, _DRAWN = 6_000, 2_000  # rows of a mixed table beyond which so many are compared with all others
_WARM_UP = 60  # rows that a method sees before it is timed: loading compiled code is no part of its cost


# ---- progress ----------------------------------------------------------------------------------


def count_steps(task: Task, preset: Preset, n_rows: int) -> int:
    """Steps of a task: trials, fits, those with permuted labels, and one for the measures."""
    tried = len(grid_for(task, preset, n_rows))
    permuted = preset.n_label_permutations if task.needs_y else 0
    return tried + (preset.n_seeds if task.draws(n_rows) else 1) + permuted + 1


@dataclass(slots=True)
class Steps:
    """Counts what is done, and names what is being done."""

    progress: Progress | None
    total: int
    done: int = 0

    def now(self, what: str, done: int = 0) -> None:
        self.done = min(self.done + done, self.total)
        if self.progress is not None:
            self.progress(what, self.done, self.total)


def grid_for(task: Task, preset: Preset, n_rows: int) -> list[dict[str, Any]]:
    """Sets of parameters that are tried; none where there is nothing to choose."""
    if not preset.tune or task.make is None or (task.max_rows is not None and n_rows > task.max_rows):
        return []
    with suppress(IsentropicError, ImportError):
        grid = grid_of(task.defaults(), n_rows, preset.budget)
        sets = [{name: value} for name, values in grid.items() for value in values]
        return sets if len(sets) > 1 else []
    return []


# ---- one method --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """One method on the data."""

    task: Task
    data: Data
    preset: Preset
    criterion: str
    seed: int
    n_jobs: int | None
    steps: Steps

    def stored(self, store: Store) -> tuple[Run, bool]:
        """The Run, read back or computed and written; whether it was read back."""
        label, n = self.task.label, len(self.data.X)
        key = key_of(self.data.mark, label, self._settings(), self.seed)
        run = store.read(label, key) if self.task.repeatable else None
        if run is not None:
            self.steps.now(label, count_steps(self.task, self.preset, n))
            return run, True
        began = self.steps.done
        run = self._run(store)
        store.write(key, run)
        self.steps.now(label, began + count_steps(self.task, self.preset, n) - self.steps.done)
        return run, False

    @property
    def _threads(self) -> int | None:
        """For measures: of a small table one thread takes less time than several."""
        return 1 if len(self.data.X) <= _SMALL else self.n_jobs

    @property
    def _draws(self) -> bool:
        return self.task.draws(len(self.data.X))

    def _settings(self) -> dict[str, Any]:
        return {
            "kind": self.task.kind,
            "params": {name: as_written(value) for name, value in self.task.params.items()},
            "grid": grid_for(self.task, self.preset, len(self.data.X)),
            "criterion": self.criterion,
            "n_seeds": self.preset.n_seeds if self._draws else 1,
            "n_permutations": self.preset.n_permutations,
            "n_label_permutations": self.preset.n_label_permutations if self.task.needs_y else 0,
        }

    def _run(self, store: Store) -> Run:
        task = self.task
        blank = Run(task.label, _plain(task.params), self._run_seed(0), seconds=0.0, memory_mib=None)
        blank = replace(blank, saw_classes=task.needs_y)
        try:
            self._require_possible()
            return self._computed(blank, store)
        except Exception as error:  # whatever a method raises, the others are compared
            text = str(error) if isinstance(error, IsentropicError) else f"{type(error).__name__}: {error}"
            return replace(blank, reason=text)

    def _require_possible(self) -> None:
        task, n = self.task, len(self.data.X)
        if task.refusal:
            raise InvalidInputError(task.refusal)
        if task.needs_y:
            require(self.data.y is not None, "y", f"given, because {task.label} learns from it", None)
        if task.max_rows is not None:
            hint = "Compare a sample of the rows, or a method of lower cost."
            require(n <= task.max_rows, "X", f"at most {task.max_rows:,} rows for {task.label}", n, hint)

    def _computed(self, blank: Run, store: Store) -> Run:
        label = self.task.label
        self.steps.now(f"{label}: first rows")
        self._warm_up()
        selection = self._selection()
        params = {} if selection is None else selection.params
        self.steps.now(f"{label}: map")
        fit = self._fit(params, 0)
        self.steps.now(f"{label}: measures", 1)
        quality = self._assessed(fit)
        run = replace(
            blank,
            params=_plain({**self.task.params, **params}),
            seconds=fit.seconds,
            memory_mib=fit.memory_mib,
            embedding=fit.embedding,
            quality=quality,
            criterion="" if selection is None else selection.criterion,
            trials=() if selection is None else selection.trials,
            baseline=self._baseline(fit),
            warnings=fit.warnings,
            false_share=false_shares(self.data.rows, fit.embedding, quality, self.data.metric, self.n_jobs),
            without=self._without(fit, quality),
            relation=self.data.relation,
        )
        run = self._with_classes(run, params, store)
        repeats = self._repeats(params, fit.embedding)
        tried = self._draws and self.preset.n_seeds > 1
        return replace(run, repeats=repeats, seed=None if tried and not repeats else run.seed)

    def _warm_up(self) -> None:
        if self.task.make is not None:
            with suppress(Exception):  # what is wrong with the method will show on all rows
                y = None if self.data.y is None else self.data.y[:_WARM_UP]
                X = self.data.X[:_WARM_UP]
                fitted(lambda: self._estimator({}, 0).fit_transform(X, y), len(X))

    def _selection(self) -> Selection | None:
        sets = grid_for(self.task, self.preset, len(self.data.X))
        if not sets:
            return None
        names = [f"{self.task.label}: {_words(params)}" for params in sets]
        self.steps.now(names[0])
        return select(
            self._estimator({}, 0),
            self.data.X,
            sets,
            y=self.data.y if self.task.needs_y else None,
            criterion=self.criterion,
            metric=self.data.metric,
            n_jobs=self.n_jobs,
            on_trial=lambda trial, done, total: self.steps.now(names[min(done, total - 1)], 1),
        )

    def _estimator(self, params: Mapping[str, Any], repeat: int) -> Any:
        return self.task.estimator(params, self.seed + repeat, self.n_jobs)

    def _fit(self, params: Mapping[str, Any], repeat: int) -> Fit:
        X = self.data.X
        if self.task.function is not None:
            function = self.task.function
            return fitted(lambda: function(X), len(X))
        y = self.data.y if self.task.needs_y else None
        return fitted(lambda: self._estimator(params, repeat).fit_transform(X, y), len(X))

    def _run_seed(self, repeat: int) -> int | None:
        return self.seed + repeat if self._draws else None

    def _assessed(self, fit: Fit) -> Quality:
        classes = self.data.classes
        labels = classes if classes is not None and (classes >= 0).all() else None
        return assess(self.data.X, fit.embedding, labels, metric=self.data.metric, sample=self._sample,
                      random_state=self.seed, n_jobs=self._threads)  # fmt: skip

    @property
    def _sample(self) -> Literal["auto"] | int:
        """Rows that are compared with all others: fewer where a distance takes a loop over the columns."""
        n = len(self.data.X)
        return _DRAWN if is_gower(self.data.metric) and n > _MANY else "auto"

    def _baseline(self, fit: Fit) -> dict[str, tuple[float, float]]:
        found = baseline(
            self.data.X,
            fit.embedding,
            metric=self.data.metric,
            n_permutations=self.preset.n_permutations,
            random_state=self.seed,
            n_jobs=self._threads,
        )
        return {name: (float(v.mean()), float(np.quantile(v, 0.975))) for name, v in found.measures.items()}

    def _without(self, fit: Fit, quality: Quality) -> dict[str, tuple[float, ...]]:
        """How measures vary with the rows; where they were estimated they have an interval already."""
        if not quality.exact or quality.n < _FEWEST_TO_LEAVE_OUT:
            return {}
        found = left_out(
            self.data.X, fit.embedding, metric=self.data.metric, random_state=self.seed, n_jobs=self.n_jobs
        )
        return {name: tuple(values.tolist()) for name, values in found.items()}

    def _with_classes(self, run: Run, params: Mapping[str, Any], store: Store) -> Run:
        """What the classes say of the map; where the method learnt from them, with permuted labels too."""
        if self.task.make is None:
            return run
        estimator, count = self._estimator(params, 0), self.preset.n_label_permutations
        if run.saw_classes:
            began, label = self.steps.done, self.task.label

            def report(done: int, total: int) -> None:
                self.steps.now(f"{label}: labels permuted", began + min(done, count) - self.steps.done)

            given = (count, self.seed, self.n_jobs, store, report)
            run = with_label_test(run, estimator, self.data, *given)
        return with_accuracy(run, estimator, self.data)

    def _repeats(self, params: Mapping[str, Any], first: Floats) -> tuple[dict[str, float], ...]:
        """Measures of the maps of other seeds; none where the next seed gives the very same map."""
        found: list[dict[str, float]] = []
        for repeat in range(1, self.preset.n_seeds if self._draws else 1):
            self.steps.now(f"{self.task.label}: seed {self.seed + repeat}", 1)
            fit = self._fit(params, repeat)
            if not found and np.array_equal(fit.embedding, first):  # it draws only for larger tables
                self.steps.now(self.task.label, self.preset.n_seeds - 1 - repeat)
                return ()
            found.append({"seed": float(self.seed + repeat), **_few(self._assessed(fit))})
        return tuple(found)


def _few(quality: Quality) -> dict[str, float]:
    names = [name for kind in judged() for name in kind.names(quality.n_neighbors)]
    return {name: quality.measures[name].value for name in names if name in quality.measures}


def false_shares(
    X: Floats, Z: Floats, quality: Quality, metric: Metric = "euclidean", n_jobs: int | None = None
) -> Floats:
    """Of each compared row: the share of its k nearest rows in the map that are not so in the data.

    One that is as near in the data as the k-th there is none that is false: which of equal ones are counted
    among the k nearest is chance.
    """
    rows, k = quality.rows, quality.n_neighbors[0]
    farthest = nearest_among(X[rows], X, k, metric=metric, selves=rows, n_jobs=n_jobs)[1][:, -1]
    near = nearest_among(Z[rows], Z, k, selves=rows, n_jobs=n_jobs)[0]
    apart = np.empty((len(rows), k))
    measure = pair_distances(X, metric, n_jobs)
    for start in range(0, len(rows), _BLOCK):
        part = slice(start, start + _BLOCK)
        for j in range(k):
            apart[part, j] = _apart(X, rows[part], near[part, j], metric, measure)
    return (apart > farthest[:, None] * (1 + 1e-9)).mean(axis=1)


def _apart(X: Floats, first: Integers, second: Integers, metric: Metric, measure: Any) -> Floats:
    if metric in EUCLIDEAN:
        return np.linalg.norm(X[first] - X[second], axis=1)
    if measure is not None:
        return np.asarray(measure(first, second))
    pairs = zip(first, second, strict=True)
    return np.array([distances_between(X[i : i + 1], X[j : j + 1], metric, 1)[0, 0] for i, j in pairs])


def _words(params: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in params.items())


def _plain(params: Mapping[str, Any]) -> dict[str, Any]:
    """Values that JSON knows; others as they are written."""
    known = (bool, int, float, str, type(None))
    return {
        name: value if isinstance(value, known) else "gower" if is_gower(value) else repr(value)
        for name, value in params.items()
        if name not in ("random_state", "n_jobs")
    }
