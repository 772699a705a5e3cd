"""One method on one table: parameters chosen, map fitted and measured, held against chance."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._core.errors import DeadlineError, InvalidInputError, IsentropicError, IsentropicWarning, require
from ..._core.runtime import config_context, get_config
from ..._core.values import Floats
from ...quality import Quality, assess, baseline
from ...quality.maps.map_differences import left_out
from ...quality.measures import judged
from ...selection import Selection, select
from ..budget.progress import Steps, count_steps, grid_for
from ..budget.stratified_sample import strata_of, stratified_rows
from ..presets import Preset
from ..run_cache import Store, as_written, key_of
from .candidates import Task, in_words, plain
from .data import Data
from .fitting import Fit, fitted
from .label_tests import with_accuracy, with_label_test
from .row_diagnostics import false_shares, with_other_seeds, with_row_tests, with_walks
from .runs import FOR_MEMORY, Run

_FEWEST_TO_LEAVE_OUT = 40  # rows: a twentieth of fewer is one, and another one would change much
_SMALL = 500  # rows
_CHANCE_ROWS = 250  # of a large table, compared for what chance gives, which varies little between rows
Place = Callable[[Floats], Any]  # places new rows on a map
_CHANCE_OF_ALL = 1_000  # rows, up to which chance is measured on all
STOPPED = "stopped after"  # begins the reason of a method whose time was over
_WARM_UP = 60  # rows that a method sees before it is timed: loading compiled code is no part of its cost


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
    placers: dict[str, Place] | None = None  # kept here by label, where only the shown map is walked

    def stored(self, store: Store) -> tuple[Run, bool]:
        """The Run, read back or computed and written; whether it was read back."""
        return self._kept(store, self._settings(), lambda blank: self._computed(blank, store))

    def found(self, store: Store) -> Run | None:
        """The Run, if it can be read back."""
        key = key_of(self.data.mark, self.task.label, self._settings(), self.seed)
        return store.read(self.task.label, key) if self.task.repeatable else None

    def seconds_of(self, n_rows: int) -> float:
        """What a fit of some of the rows takes, by default parameters."""
        rows = np.arange(0, len(self.data.X), max(1, len(self.data.X) // n_rows))[:n_rows]
        X, y = self.data.taken(rows)
        part = replace(self, data=replace(self.data, X=X, y=y))
        part._warm_up()
        return part._fit({}, 0).seconds

    def _kept(
        self, store: Store, settings: Mapping[str, Any], computed: Callable[[Run], Run]
    ) -> tuple[Run, bool]:
        label, steps = self.task.label, count_steps(self.task, self.preset, len(self.data.X))
        key = key_of(self.data.mark, label, settings, self.seed)
        run = store.read(label, key) if self.task.repeatable else None
        if run is not None:
            self.steps.now(label, steps)
            return run, True
        began = self.steps.done
        run = self._run(computed)
        store.write(key, run)
        self.steps.now(label, began + steps - self.steps.done)
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
            "n_walks": self.preset.n_walks,
            "n_label_permutations": self.preset.n_label_permutations if self.task.needs_y else 0,
            "tuned_rows": self.preset.tuned_rows,
            "scored_rows": self.preset.scored_rows,
        }

    def _run(self, computed: Callable[[Run], Run]) -> Run:
        task = self.task
        blank = Run(task.label, plain(task.params), self._run_seed(0), seconds=0.0, memory_mib=None)
        blank = replace(blank, saw_classes=task.needs_y)
        began = time.perf_counter()
        try:
            with _named_warnings(task.label):
                return computed(blank)
        except DeadlineError:
            return replace(blank, reason=f"{STOPPED} {time.perf_counter() - began:.0f} s: the budget.")
        except MemoryError as error:
            return replace(blank, reason=f"{FOR_MEMORY} {error}".strip())
        except Exception as error:  # whatever a method raises, the others are compared
            text = str(error) if isinstance(error, IsentropicError) else f"{type(error).__name__}: {error}"
            return replace(blank, reason=text)

    def _require_possible(self) -> None:
        task, n = self.task, len(self.data.X)
        if task.needs_y:
            require(self.data.y is not None, "y", f"given, because {task.label} learns from it", None)
        if task.refusal:
            raise InvalidInputError(task.refusal)
        if task.max_rows is not None:
            hint = "Compare a sample of the rows, or a method of lower cost."
            require(n <= task.max_rows, "X", f"at most {task.max_rows:,} rows for {task.label}", n, hint)

    def _computed(self, blank: Run, store: Store) -> Run:
        self._require_possible()
        label = self.task.label
        self.steps.begin(f"{label}: first rows")
        self._warm_up()
        selection = self._selection()
        params = {} if selection is None else selection.params
        self.steps.now(f"{label}: map")
        fit = self._fit(params, 0)
        self.steps.now(f"{label}: measures", 1)
        quality = self._assessed(fit)
        run = replace(
            blank,
            params=plain({**self.task.params, **params}),
            seconds=fit.seconds,
            memory_mib=fit.memory_mib,
            embedding=fit.embedding,
            quality=quality,
            criterion="" if selection is None else selection.criterion,
            trials=() if selection is None else selection.trials,
            baseline=self._baseline(fit),
            warnings=fit.warnings,
            false_share=self._false_shares(fit, quality),
            without=self._without(fit, quality),
            relation=self.data.relation,
        )
        with suppress(DeadlineError):  # the map stands without what there is no time for
            run = with_row_tests(run, self.data.X, self.seed, self._threads, self.data.metric)
            if self.placers is None:
                run = self._with_walks(run, fit.place)
            elif fit.place is not None:
                self.placers[label] = fit.place
            run = self._with_classes(run, params, store)
        return self._with_repeats(run, params, fit.embedding)

    def walked(self, run: Run, store: Store | None) -> Run:
        """The Run with what walks on its map say, where it has none; written again, if there is a store."""
        if self.placers is None or run.row_trust is None or run.row_trust.walked is not None:
            return run
        place = self.placers.get(run.method)
        if place is None and self.data.is_euclidean and self.task.make is not None:  # it was read back
            chosen = {name: run.params[name] for trial in run.trials[:1] for name in trial.params}
            place = self._fit(chosen, 0).place
        run = self._with_walks(replace(run, rows=None), place)
        if store is not None and self.task.repeatable:
            store.write(key_of(self.data.mark, run.method, self._settings(), self.seed), run)
        return run

    def _with_walks(self, run: Run, place: Place | None) -> Run:
        place = place if self.data.is_euclidean else None  # there is no way between two levels
        return with_walks(run, place, self.data.X, self.preset.n_walks, self.seed, self.n_jobs)

    def _warm_up(self) -> None:
        if self.task.make is not None:
            with suppress(Exception):  # what is wrong with the method will show on all rows
                X, y = self.data.taken(np.arange(min(_WARM_UP, len(self.data.X))))
                y = y if self.task.needs_y else None
                fitted(lambda: self.task.embed(self._estimator({}, 0), X, y), len(X))

    def _selection(self) -> Selection | None:
        sets = grid_for(self.task, self.preset, len(self.data.X))
        if not sets:
            return None
        names = [f"{self.task.label}: {in_words(params)}" for params in sets]
        self.steps.now(names[0])
        X, y = self._tuned()
        ends = get_config().deadline
        half = None if ends is None else (time.perf_counter() + ends) / 2  # the rest is for the map
        with config_context(deadline=half):
            return self._selected(X, y, sets, names)

    def _selected(self, X: Floats, y: Any, sets: list[dict[str, Any]], names: list[str]) -> Selection:
        def mapped(X: Floats, **params: Any) -> Any:
            return self.task.embed(self._estimator(params, 0), X, y)

        return select(
            mapped if self.task.foreign else self._estimator({}, 0),
            X,
            sets,
            y=y if self.task.needs_y else None,
            criterion=self.criterion,
            metric=self.data.metric,
            n_jobs=self.n_jobs,
            on_trial=lambda trial, done, total: self.steps.now(names[min(done, total - 1)], 1),
        )

    def _tuned(self) -> tuple[Floats, Any]:
        """The rows on which parameters are chosen."""
        X, y, most = self.data.X, self.data.y, self.preset.tuned_rows
        if most is None or len(X) <= most:
            return X, y
        rows = stratified_rows(strata_of(X, self.data.classes), most, self.seed)
        return self.data.taken(rows)

    def _estimator(self, params: Mapping[str, Any], repeat: int) -> Any:
        return self.task.estimator(params, self.seed + repeat, self.n_jobs)

    def _fit(self, params: Mapping[str, Any], repeat: int) -> Fit:
        X, y = self.data.X, self.data.y
        model = None if self.task.make is None else self._estimator(params, repeat)
        fit = fitted(lambda: self.task.embed(model, X, y), len(X))
        return replace(fit, place=getattr(model, "transform", None))

    def _run_seed(self, repeat: int) -> int | None:
        return self.seed + repeat if self._draws else None

    def _assessed(self, fit: Fit) -> Quality:
        classes = self.data.classes
        labels = classes if classes is not None and (classes >= 0).all() else None
        return assess(
            self.data.X,
            fit.embedding,
            labels,
            metric=self.data.metric,
            sample=self.preset.scored_rows if self._estimated else "auto",
            random_state=self.seed,
            n_jobs=self._threads,
        )

    def _false_shares(self, fit: Fit, quality: Quality) -> Floats:
        return false_shares(self.data.rows, fit.embedding, quality, self.data.metric, self.n_jobs)

    @property
    def _estimated(self) -> bool:
        """Whether scores are read off some of the rows."""
        most = self.preset.scored_rows
        return most is not None and len(self.data.X) > most

    @property
    def _chance_of_few(self) -> bool:
        """Whether chance is measured on few rows: of many, what it gives hardly varies."""
        return self._estimated or (not self.preset.every_walk and len(self.data.X) > _CHANCE_OF_ALL)

    def _baseline(self, fit: Fit) -> dict[str, tuple[float, float]]:
        found = baseline(
            self.data.X,
            fit.embedding,
            metric=self.data.metric,
            n_permutations=self.preset.n_permutations,
            sample=min(_CHANCE_ROWS, len(self.data.X)) if self._chance_of_few else "auto",
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

    def _with_repeats(self, run: Run, params: Mapping[str, Any], first: Floats) -> Run:
        """Measures of the maps of other seeds; none where the next seed gives the very same map."""
        found: list[dict[str, float]] = []
        maps: list[Floats] = []
        for repeat in range(1, self.preset.n_seeds if self._draws else 1):
            self.steps.now(f"{self.task.label}: seed {self.seed + repeat}", 1)
            try:
                fit = self._fit(params, repeat)
                if not found and np.array_equal(fit.embedding, first):  # it draws only for larger tables
                    self.steps.now(self.task.label, self.preset.n_seeds - 1 - repeat)
                    return replace(run, seed=None)
                found.append({"seed": float(self.seed + repeat), **_few(self._assessed(fit))})
                maps.append(fit.embedding)
            except DeadlineError:  # the map stands with fewer seeds
                break
        return with_other_seeds(replace(run, repeats=tuple(found)), maps, self._threads)


@contextmanager
def _named_warnings(label: str) -> Iterator[None]:
    """Within the block, warnings of ours say which method they are about."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", IsentropicWarning)
        try:
            yield
        finally:
            said = [entry for entry in caught if issubclass(entry.category, IsentropicWarning)]
            others = [entry for entry in caught if entry not in said]
    for entry in others:
        warnings.warn_explicit(entry.message, entry.category, entry.filename, entry.lineno)
    for text, kind in dict.fromkeys((str(entry.message), entry.category) for entry in said):
        warnings.warn(f"{label}: {text}", kind, stacklevel=2)


def _few(quality: Quality) -> dict[str, float]:
    names = [name for kind in judged() for name in kind.names(quality.n_neighbors)]
    return {name: quality.measures[name].value for name in names if name in quality.measures}
