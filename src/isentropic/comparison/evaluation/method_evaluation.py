"""``Evaluation``: choose parameters of one method, fit and measure its map, compare it with chance."""

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
from ...quality.map_comparisons import jackknife_measures
from ...quality.measures import verdict_measures
from ...selection import Selection, select
from ..budget.comparison_plan import strata_of, stratified_rows
from ..budget.progress import Progress, parameter_sets
from ..presets import Preset
from .candidates import Candidate, json_params, parameters_text
from .data import Data
from .fitting import Fit, time_fit
from .label_tests import with_accuracy, with_label_test
from .row_diagnostics import false_neighbor_rate, with_jumps, with_other_seeds, with_row_tests
from .runs import FOR_MEMORY, Run, RunCache, parameter_key, run_key

_FEWEST_TO_LEAVE_OUT = 40  # rows: a twentieth of fewer is one, and another one would change much
_SMALL = 500  # rows
_CHANCE_ROWS = 250  # of a large table, compared for what chance gives, which varies little between rows
TransformRows = Callable[[Floats], Any]  # maps new rows
_CHANCE_OF_ALL = 1_000  # rows, up to which chance is measured on all
STOPPED = "stopped after"  # begins the reason of a method whose time was over
_WARM_UP = 60  # rows that a method sees before it is timed: loading compiled code is no part of its cost


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """The evaluation of one candidate on the data."""

    candidate: Candidate
    data: Data
    preset: Preset
    criterion: str
    seed: int
    n_jobs: int | None
    progress: Progress
    # ``transform`` by label, where only the shown map is tested for jumps
    out_of_sample_maps: dict[str, TransformRows] | None = None
    fit_threads: int | None = None  # of one fit, where others are under way beside it; None: n_jobs

    def run_cached(self, cache: RunCache) -> tuple[Run, bool]:
        """The Run, from the cache or computed and cached; and whether it was cached."""
        return self._cached(cache, self._settings(), lambda blank: self._compute(blank, cache))

    def compute(self, cache: RunCache) -> Run:
        """The Run, computed and cached."""
        return self._computed(cache, self._settings(), lambda blank: self._compute(blank, cache))

    def read_cached(self, cache: RunCache) -> Run | None:
        """The Run, if it is cached."""
        key = run_key(self.data.key, self.candidate.label, self._settings(), self.seed)
        return cache.read(self.candidate.label, key) if self.candidate.repeatable else None

    def fit_seconds(self, n_rows: int) -> float:
        """Seconds of a fit of some rows with default parameters."""
        rows = np.arange(0, len(self.data.X), max(1, len(self.data.X) // n_rows))[:n_rows]
        X, y = self.data.select_rows(rows)
        part = replace(self, data=replace(self.data, X=X, y=y))
        part._warm_up()
        return part._fit({}, 0).seconds

    def _cached(
        self, cache: RunCache, settings: Mapping[str, Any], computed: Callable[[Run], Run]
    ) -> tuple[Run, bool]:
        label = self.candidate.label
        key = run_key(self.data.key, label, settings, self.seed)
        run = cache.read(label, key) if self.candidate.repeatable else None
        if run is not None:
            self.progress.finish(self._steps)
            return run, True
        return self._computed(cache, settings, computed), False

    def _computed(self, cache: RunCache, settings: Mapping[str, Any], computed: Callable[[Run], Run]) -> Run:
        run = self._run(computed)
        cache.write(run_key(self.data.key, self.candidate.label, settings, self.seed), run)
        self.progress.finish(self._steps)
        return run

    @property
    def _steps(self) -> str:
        """Under which name its steps are counted."""
        return self.candidate.label

    @property
    def _threads(self) -> int | None:
        """Threads for measures: a small table takes less time on one."""
        return 1 if len(self.data.X) <= _SMALL else self.n_jobs

    @property
    def _draws(self) -> bool:
        return self.candidate.draws(len(self.data.X))

    def _settings(self) -> dict[str, Any]:
        return {
            "kind": self.candidate.kind,
            "params": {name: parameter_key(value) for name, value in self.candidate.params.items()},
            "grid": parameter_sets(self.candidate, self.preset, len(self.data.X)),
            "criterion": self.criterion,
            "n_seeds": self.preset.n_seeds if self._draws else 1,
            "n_permutations": self.preset.n_permutations,
            "n_walks": self.preset.n_walks,
            "n_label_permutations": self.preset.n_label_permutations if self.candidate.needs_y else 0,
            "tuned_rows": self.preset.tuned_rows,
            "scored_rows": self.preset.scored_rows,
        }

    def failed(self, reason: str) -> Run:
        """The Run of a method that gave no map."""
        self.progress.finish(self._steps)
        return replace(self._blank(), reason=reason)

    def _blank(self) -> Run:
        candidate = self.candidate
        run = Run(
            candidate.label, json_params(candidate.params), self._run_seed(0), seconds=0.0, memory_mib=None
        )
        return replace(run, saw_classes=candidate.needs_y)

    def _run(self, computed: Callable[[Run], Run]) -> Run:
        blank, began = self._blank(), time.perf_counter()
        try:
            with _named_warnings(self.candidate.label):
                return computed(blank)
        except DeadlineError:
            return replace(blank, reason=f"{STOPPED} {time.perf_counter() - began:.0f} s: the budget.")
        except MemoryError as error:
            return replace(blank, reason=f"{FOR_MEMORY} {error}".strip())
        except Exception as error:  # whatever a method raises, the others are compared
            text = str(error) if isinstance(error, IsentropicError) else f"{type(error).__name__}: {error}"
            return replace(blank, reason=text)

    def _require_possible(self) -> None:
        candidate, n = self.candidate, len(self.data.X)
        if candidate.needs_y:
            require(self.data.y is not None, "y", f"given, because {candidate.label} learns from it", None)
        if candidate.refusal:
            raise InvalidInputError(candidate.refusal)
        if candidate.max_rows is not None:
            hint = "Compare a sample of the rows, or a method of lower cost."
            require(
                n <= candidate.max_rows,
                "X",
                f"at most {candidate.max_rows:,} rows for {candidate.label}",
                n,
                hint,
            )

    def _compute(self, blank: Run, cache: RunCache) -> Run:
        self._require_possible()
        label = self.candidate.label
        self.progress.start(f"{label}: first rows")
        self._warm_up()
        selection = self._selection()
        params = {} if selection is None else selection.params
        self.progress.update(f"{label}: map")
        fit = self._fit(params, 0)
        self.progress.update(f"{label}: measures", 1)
        quality = self._assess(fit)
        run = replace(
            blank,
            params=json_params({**self.candidate.params, **params}),
            seconds=fit.seconds,
            memory_mib=fit.memory_mib,
            embedding=fit.embedding,
            quality=quality,
            criterion="" if selection is None else selection.criterion,
            trials=() if selection is None else selection.trials,
            baseline=self._baseline(fit),
            warnings=fit.warnings,
            false_share=self._false_neighbor_rate(fit, quality),
            without=self._jackknife(fit, quality),
            relation=self.data.relation,
        )
        with suppress(DeadlineError):  # the map stands without what there is no time for
            run = with_row_tests(run, self.data.X, self.seed, self._threads, self.data.metric)
            if self.out_of_sample_maps is None:
                run = self._with_jumps(run, fit.transform)
            elif fit.transform is not None:
                self.out_of_sample_maps[label] = fit.transform
            run = self._with_classes(run, params, cache)
        return self._with_repeats(run, params, fit.embedding)

    def with_map_jumps(self, run: Run, cache: RunCache | None) -> Run:
        """The Run with its test for jumps, where it has none; cached again, if there is a cache."""
        if (
            self.out_of_sample_maps is None
            or run.row_diagnostics is None
            or run.row_diagnostics.walked is not None
        ):
            return run
        transform = self.out_of_sample_maps.get(run.method)
        if (
            transform is None and self.data.is_euclidean and self.candidate.make is not None
        ):  # it was read back
            chosen = {name: run.params[name] for trial in run.trials[:1] for name in trial.params}
            transform = self._fit(chosen, 0).transform
        run = self._with_jumps(replace(run, rows=None), transform)
        if cache is not None:
            self.write_cached(cache, run)
        return run

    def write_cached(self, cache: RunCache, run: Run) -> None:
        """Write the Run in place of the one that is cached."""
        if self.candidate.repeatable:
            cache.write(run_key(self.data.key, run.method, self._settings(), self.seed), run)

    def _with_jumps(self, run: Run, transform: TransformRows | None) -> Run:
        transform = transform if self.data.is_euclidean else None  # there is no way between two levels
        return with_jumps(run, transform, self.data.X, self.preset.n_walks, self.seed, self.n_jobs)

    def _warm_up(self) -> None:
        if self.candidate.make is not None:
            with suppress(Exception):  # what is wrong with the method will show on all rows
                X, y = self.data.select_rows(np.arange(min(_WARM_UP, len(self.data.X))))
                y = y if self.candidate.needs_y else None
                time_fit(lambda: self.candidate.embed(self._estimator({}, 0), X, y), len(X))

    def _selection(self) -> Selection | None:
        sets = parameter_sets(self.candidate, self.preset, len(self.data.X))
        if not sets:
            return None
        names = [f"{self.candidate.label}: {parameters_text(params)}" for params in sets]
        self.progress.update(names[0])
        X, y = self._tuning_rows()
        ends = get_config().deadline
        half = None if ends is None else (time.perf_counter() + ends) / 2  # the rest is for the map
        with config_context(deadline=half):
            return self._select(X, y, sets, names)

    def _select(self, X: Floats, y: Any, sets: list[dict[str, Any]], names: list[str]) -> Selection:
        def mapped(X: Floats, **params: Any) -> Any:
            return self.candidate.embed(self._estimator(params, 0), X, y)

        return select(
            mapped if self.candidate.foreign else self._estimator({}, 0),
            X,
            sets,
            y=y if self.candidate.needs_y else None,
            criterion=self.criterion,
            metric=self.data.metric,
            n_jobs=self.n_jobs,
            on_trial=lambda trial, done, total: self.progress.update(names[min(done, total - 1)], 1),
        )

    def _tuning_rows(self) -> tuple[Floats, Any]:
        """The rows on which parameters are chosen."""
        X, y, most = self.data.X, self.data.y, self.preset.tuned_rows
        if most is None or len(X) <= most:
            return X, y
        rows = stratified_rows(strata_of(X, self.data.classes), most, self.seed)
        return self.data.select_rows(rows)

    def _estimator(self, params: Mapping[str, Any], repeat: int) -> Any:
        n_jobs = self.n_jobs if self.fit_threads is None else self.fit_threads
        return self.candidate.estimator(params, self.seed + repeat, n_jobs)

    def _fit(self, params: Mapping[str, Any], repeat: int) -> Fit:
        X, y = self.data.X, self.data.y
        model = None if self.candidate.make is None else self._estimator(params, repeat)
        fit = time_fit(lambda: self.candidate.embed(model, X, y), len(X))
        return replace(fit, transform=getattr(model, "transform", None))

    def _run_seed(self, repeat: int) -> int | None:
        return self.seed + repeat if self._draws else None

    def _assess(self, fit: Fit) -> Quality:
        classes = self.data.classes
        labels = classes if classes is not None and (classes >= 0).all() else None
        return assess(
            self.data.X,
            fit.embedding,
            labels,
            metric=self.data.metric,
            sample=self.preset.scored_rows if self._is_sampled else "auto",
            random_state=self.seed,
            n_jobs=self._threads,
        )

    def _false_neighbor_rate(self, fit: Fit, quality: Quality) -> Floats:
        return false_neighbor_rate(self.data.rows, fit.embedding, quality, self.data.metric, self.n_jobs)

    @property
    def _is_sampled(self) -> bool:
        """Whether scores are estimated from some of the rows."""
        most = self.preset.scored_rows
        return most is not None and len(self.data.X) > most

    @property
    def _samples_chance(self) -> bool:
        """Whether chance is measured on few rows: of many rows it hardly varies."""
        return self._is_sampled or (not self.preset.every_walk and len(self.data.X) > _CHANCE_OF_ALL)

    def _baseline(self, fit: Fit) -> dict[str, tuple[float, float]]:
        found = baseline(
            self.data.X,
            fit.embedding,
            metric=self.data.metric,
            n_permutations=self.preset.n_permutations,
            sample=min(_CHANCE_ROWS, len(self.data.X)) if self._samples_chance else "auto",
            random_state=self.seed,
            n_jobs=self._threads,
        )
        return {name: (float(v.mean()), float(np.quantile(v, 0.975))) for name, v in found.measures.items()}

    def _jackknife(self, fit: Fit, quality: Quality) -> dict[str, tuple[float, ...]]:
        """Measures with a twentieth of the rows left out; none where they have an interval already."""
        if not quality.exact or quality.n < _FEWEST_TO_LEAVE_OUT:
            return {}
        found = jackknife_measures(
            self.data.X, fit.embedding, metric=self.data.metric, random_state=self.seed, n_jobs=self.n_jobs
        )
        return {name: tuple(values.tolist()) for name, values in found.items()}

    def _with_classes(self, run: Run, params: Mapping[str, Any], cache: RunCache) -> Run:
        """The Run with its accuracy, and the label permutation test where the method learnt from classes."""
        if self.candidate.make is None:
            return run
        estimator, count = self._estimator(params, 0), self.preset.n_label_permutations
        if run.saw_classes:
            label, reported = self.candidate.label, 0

            def report(done: int, total: int) -> None:
                nonlocal reported
                before, reported = reported, min(done, count)
                self.progress.update(f"{label}: labels permuted", reported - before)

            given = (count, self.seed, self.n_jobs, cache, report)
            run = with_label_test(run, estimator, self.data, *given)
        return with_accuracy(run, estimator, self.data)

    def _with_repeats(self, run: Run, params: Mapping[str, Any], first: Floats) -> Run:
        """The Run with measures of other seeds; none where the next seed gives the same map."""
        found: list[dict[str, float]] = []
        maps: list[Floats] = []
        for repeat in range(1, self.preset.n_seeds if self._draws else 1):
            self.progress.update(f"{self.candidate.label}: seed {self.seed + repeat}", 1)
            try:
                fit = self._fit(params, repeat)
                if not found and np.array_equal(fit.embedding, first):  # it draws only for larger tables
                    self.progress.update(self.candidate.label, self.preset.n_seeds - 1 - repeat)
                    return replace(run, seed=None)
                found.append({"seed": float(self.seed + repeat), **_main_measures(self._assess(fit))})
                maps.append(fit.embedding)
            except DeadlineError:  # the map stands with fewer seeds
                break
        return with_other_seeds(replace(run, repeats=tuple(found)), maps, self._threads)


@contextmanager
def _named_warnings(label: str) -> Iterator[None]:
    """Prefix our warnings within the block by the method they are about."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", IsentropicWarning)
        try:
            yield
        finally:
            ours = [entry for entry in caught if issubclass(entry.category, IsentropicWarning)]
            others = [entry for entry in caught if entry not in ours]
    for entry in others:
        warnings.warn_explicit(entry.message, entry.category, entry.filename, entry.lineno)
    for text, kind in dict.fromkeys((str(entry.message), entry.category) for entry in ours):
        warnings.warn(f"{label}: {text}", kind, stacklevel=2)


def _main_measures(quality: Quality) -> dict[str, float]:
    names = [name for kind in verdict_measures() for name in kind.names(quality.n_neighbors)]
    return {name: quality.measures[name].value for name in names if name in quality.measures}
