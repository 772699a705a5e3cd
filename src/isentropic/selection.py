"""Choose parameters by the quality of the map, without labels: :func:`select`."""

from __future__ import annotations

import itertools
import math
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from numbers import Integral
from threading import Lock
from types import MappingProxyType
from typing import Annotated, Any, Literal

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone

from . import quality
from ._core.arguments import as_numbers
from ._core.errors import (
    InvalidInputError,
    IsentropicWarning,
    MemoryBudgetError,
    is_real,
    require,
    require_count,
    require_one_of,
)
from ._core.runtime import config_context, get_config, memory_budget, worker_threads
from ._core.state import Dict, Each, Maybe, Number, Plain, StateError, Text, Value, Whole
from ._core.values import DistanceRows, Floats
from .quality import distance_rows
from .quality.inputs import both_sides
from .quality.measures import OF_PAIRS, OF_RANKS, MeasureSpec, kinds
from .quality.pairwise import pair_measures

__all__ = [
    "CRITERIA",
    "Criterion",
    "Selection",
    "Trial",
    "as_grid",
    "geometric",
    "neighbor_grid",
    "select",
]

# ---- ``Trial`` and ``Selection``: what a parameter search tried and chose ------------------------


@dataclass(frozen=True, slots=True)
class Trial:
    """One set of parameters that was tried, and its score; a failure has a reason instead of a score."""

    params: Annotated[Mapping[str, Any], Dict(Text(), Plain())]
    score: Annotated[float | None, Maybe(Number())]
    seconds: Annotated[float, Number(0)]
    reason: Annotated[str, Text()] = ""


@dataclass(frozen=True, slots=True)
class Selection:
    """Every trial in the order of the grid, and which of them is best: of equal ones the first."""

    trials: Annotated[tuple[Trial, ...], Each(Value(Trial))]
    best: Annotated[int, Whole(0)]  # position among the trials
    criterion: Annotated[str, Text()]
    better: Annotated[Literal["higher", "lower"], Text("higher", "lower")]

    def _require_sound(self) -> None:
        if self.best >= len(self.trials) or self.trials[self.best].score is None:
            raise StateError("best", "must be the number of a trial with a score")

    @property
    def params(self) -> dict[str, Any]:
        """The chosen parameters."""
        return dict(self.trials[self.best].params)

    @property
    def score(self) -> float:
        """The score of the chosen parameters."""
        score = self.trials[self.best].score
        assert score is not None  # the best trial is none that failed
        return score

    def curve(self, name: str) -> tuple[tuple[Any, float], ...]:
        """Values of one parameter with the score of each trial that did not fail.

        >>> trials = (Trial({"k": 5}, 0.4, 1), Trial({"k": 9}, None, 1, "why"), Trial({"k": 20}, 0.6, 1))
        >>> Selection(trials, 2, "rnx_auc", "higher").curve("k")
        ((5, 0.4), (20, 0.6))
        """
        return tuple(
            (trial.params[name], trial.score)
            for trial in self.trials
            if trial.score is not None and name in trial.params
        )


Grid = Mapping[str, Sequence[Any]] | Iterable[Mapping[str, Any]]


def as_grid(grid: Grid) -> tuple[dict[str, Any], ...]:
    """Every set of parameters in a fixed order: the product of the values, or the given sets.

    >>> as_grid({"k": [5, 10], "root": [False, True]})[:2]
    ({'k': 5, 'root': False}, {'k': 5, 'root': True})
    >>> as_grid([{"k": 5}, {"eps": 0.1}])
    ({'k': 5}, {'eps': 0.1})
    """
    if isinstance(grid, Mapping):
        for name, values in grid.items():
            several = isinstance(values, Sequence | np.ndarray) and not isinstance(values, str)
            hint = f"For instance: {{{name!r}: [5, 10, 20]}}."
            require(several and len(values) > 0, f"grid[{name!r}]", "a list of values", values, hint)
        sets = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
    else:
        sets = []
        several = isinstance(grid, Iterable) and not isinstance(grid, str)
        require(several, "grid", "a mapping, or a list of mappings", grid)
        for item in grid:
            require(isinstance(item, Mapping), "grid", "a mapping, or a list of mappings", item)
            sets.append(dict(item))
    require(bool(sets), "grid", "at least one set of parameters", grid)
    return tuple({name: _plain(value) for name, value in item.items()} for item in sets)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def geometric(low: float, high: float, count: int) -> tuple[Any, ...]:
    """``count`` values from low to high, each the same multiple of the one before; whole between whole ends.

    Whole values that coincide after rounding come once.

    >>> geometric(5, 80, 5)
    (5, 10, 20, 40, 80)
    >>> geometric(0.01, 1.0, 3)
    (0.01, 0.1, 1.0)
    """
    require(
        is_real(low) and is_real(high) and 0 < low <= high < math.inf,
        "low, high",
        "0 < low <= high",
        (low, high),
    )
    count = require_count("count", count)
    values = np.geomspace(low, high, count) if count > 1 else np.array([math.sqrt(low * high)])
    if isinstance(low, Integral) and isinstance(high, Integral):
        return tuple(int(value) for value in np.unique(values.round()))
    rounded = tuple(float(f"{value:.6g}") for value in values)
    return (float(low), *rounded[1:-1], float(high)) if count > 1 else rounded


def neighbor_grid(n_rows: int, count: int, default: int | None = None) -> tuple[int, ...]:
    """Numbers of neighbours worth trying on ``n_rows`` rows: 5 to 100, at most a quarter of the rows.

    The default of the method, where given and possible, is one of them.

    >>> neighbor_grid(1000, 5)
    (5, 11, 22, 47, 100)
    >>> neighbor_grid(40, 3, default=8)
    (5, 8, 10)
    """
    high = max(2, min(100, require_count("n_rows", n_rows) // 4))
    values = geometric(min(5, high), high, count)
    if default is None or not min(values) < default < max(values) or default in values or len(values) < 3:
        return values
    inner = values[1:-1]
    # the default takes the place of the nearest value on the log scale: it costs no further trial
    nearest = min(inner, key=lambda value: abs(math.log(value / default)))
    return tuple(sorted({default, *(value for value in values if value != nearest)}))


# ---- search --------------------------------------------------------------------------------------


Mapper = Callable[..., Any]  # called with X and the parameters as keywords, returns the map
OnTrial = Callable[[Trial, int, int], None]  # called with the trial that is done, done, total


def select(
    estimator: Any,
    X: Any,
    grid: Grid,
    *,
    y: Any = None,
    criterion: str | Criterion = "rnx_auc",
    n_neighbors: int = 10,
    metric: Any = None,
    sample: Any = "auto",
    n_jobs: int | None = None,
    on_trial: OnTrial | None = None,
) -> Selection:
    """Fit every set of parameters of ``grid`` and choose the one whose map is best, without labels.

    One fit and one score for each set: ``rnx_auc``, ``trustworthiness`` and ``continuity`` take
    ``O(s n m)`` for s compared rows, ``kendall_tau`` at most ``O(n^2 log n)``, ``residual_variance``
    ``O(n^2)``.
    Trials run in parallel threads, each with one thread of its own; the result does not depend on it. Maps
    of ISOMAP for several neighbourhoods are found as by :func:`~isentropic.isomap_path`.
    Warnings about the data in the trials are not shown: the fit with the chosen parameters gives its own.

    Parameters
    ----------
    estimator : estimator or callable
        An estimator with ``fit_transform`` or ``fit``, and ``set_params``, which is cloned; or a function of
        X and of parameters by name that returns the map.
    X : array (n, m)
        The data; or all distances between them, with ``metric="precomputed"``.
    grid : mapping of names to lists of values, or list of mappings
        For a range: ``{"n_neighbors": geometric(5, 100, 6)}``.
    y : array (n,), optional
        For methods that learn from classes. The criterion never sees it.
    criterion : str or Criterion
        "rnx_auc", "near_neighbors", "trustworthiness", "continuity", "kendall_tau" or "residual_variance".
    n_neighbors : int
        k of near neighbors, trustworthiness and continuity; at most less than half of the rows.
    metric : str or callable, optional
        Of the data. Default: that of the estimator, where it has one, else Euclidean.
    sample : "auto", None or int
        Rows that are compared with all others, ``"auto"`` for at most 1,000, None for all.
    n_jobs : int or None
        Trials at the same time. None is all cores, or one inside a parallel worker.
    on_trial : callable, optional
        Called with each trial as it is done, the number of those done, and that of all.

    Returns
    -------
    Selection

    Examples
    --------
    >>> from isentropic import Isomap, datasets
    >>> from isentropic.selection import geometric, select
    >>> roll = datasets.load("builtin:swiss-roll", n_samples=300)
    >>> selection = select(Isomap(), roll.X, {"n_neighbors": geometric(5, 80, 3)}, criterion="rnx_auc")
    >>> [trial.params["n_neighbors"] for trial in selection.trials], selection.criterion
    ([5, 20, 80], 'rnx_auc')
    >>> selection.params
    {'n_neighbors': 5}
    """
    chosen, sets = checked_criterion(criterion), as_grid(grid)
    is_estimator = embeds(estimator) and hasattr(estimator, "set_params")
    require(is_estimator or callable(estimator), "estimator", "an estimator or a function", estimator)
    if metric is None:
        metric = getattr(estimator, "metric", "euclidean")
    each = 1 if n_jobs == 1 else None  # threads of a trial: None is one where trials run side by side
    mapped = _shared_maps(estimator, X, y, sets, each) or _map_with(estimator)
    given = distance_rows(X, metric, n_jobs=each)
    require(given.n >= 3, "X", "a table of at least 3 rows", given.n)
    k = min(require_count("n_neighbors", n_neighbors), max(1, (given.n - 1) // 2))
    rows = rows_to_compare(sample, given.n)

    def tried(params: dict[str, Any]) -> Trial:
        return _try(mapped, X, y, params, lambda Z: chosen.score(given, Z, k, rows, each))

    trials = tuple(_try_all(tried, sets, n_jobs, on_trial))
    return Selection(trials, _best(trials, chosen), chosen.name, chosen.better)


def embeds(given: Any) -> bool:
    """Whether it has ``fit_transform(X)`` or ``fit(X)``."""
    return any(callable(getattr(given, name, None)) for name in ("fit_transform", "fit"))


def embedding_of(estimator: Any, X: Any, y: Any = None) -> Any:
    """What ``fit_transform`` returns; where there is none, what ``fit`` returns, or leaves in ``embedding_``.

    Methods of other libraries may take no ``y`` at all, so that it is given only where there is one.
    """
    given = (X,) if y is None else (X, y)
    if callable(getattr(estimator, "fit_transform", None)):
        return estimator.fit_transform(*given)
    found = estimator.fit(*given)
    return getattr(found, "embedding_", found)


def _map_with(estimator: Any) -> Mapper:
    if not embeds(estimator):
        return lambda X, y, params: estimator(X, **params)
    return lambda X, y, params: embedding_of(clone(estimator).set_params(**params), X, y)


class _SharedMaps:
    """Maps that an estimator finds together, each handed out as it is asked for; alone if that fails.

    One thread at a time finds the next map, while others score those before it.
    """

    def __init__(self, maps: Iterator[tuple[int, Any]], sets: tuple[dict[str, Any], ...], alone: Mapper):
        self._maps, self._sets, self._alone = maps, sets, alone
        self._found: dict[int, Any] = {}
        self._lock = Lock()

    def __call__(self, X: Any, y: Any, params: dict[str, Any]) -> Any:
        place = next(i for i, one in enumerate(self._sets) if one is params)
        with self._lock, suppress(Exception):  # what is wrong with a set will show when it is fitted alone
            while place not in self._found:
                at, Z = next(self._maps)  # StopIteration, once one has failed
                self._found[at] = Z
        return self._found.pop(place) if place in self._found else self._alone(X, y, params)


def _shared_maps(
    estimator: Any, X: Any, y: Any, sets: tuple[dict[str, Any], ...], n_jobs: int | None
) -> Mapper | None:
    """The maps of all sets, from an estimator that finds them together in less time than one by one."""
    maps = None
    if y is None and hasattr(estimator, "_maps_over"):
        with suppress(Exception):  # each set has its own error, or its map
            maps = estimator._maps_over(X, sets, n_jobs)
    return None if maps is None else _SharedMaps(maps, sets, _map_with(estimator))


def _try(mapped: Mapper, X: Any, y: Any, params: dict[str, Any], score: Callable[[Any], float]) -> Trial:
    began = time.perf_counter()
    value: float | None
    try:
        value, reason = float(score(as_numbers("The map", mapped(X, y, params)))), ""
        if not np.isfinite(value):
            value, reason = None, f"its score is {value}"
    except Exception as error:  # whatever one set of parameters raises, the others are tried
        value, reason = None, f"{type(error).__name__}: {error}"
    return Trial(params, value, time.perf_counter() - began, reason)


def _try_all(
    tried: Callable[[dict[str, Any]], Trial],
    sets: tuple[dict[str, Any], ...],
    n_jobs: int | None,
    on_trial: OnTrial | None,
) -> Iterator[Trial]:
    """The trials in order, as many at the same time as ``n_jobs`` says; progress here, not in the threads."""
    progress = get_config().progress
    workers = min(worker_threads(n_jobs), len(sets))
    with warnings.catch_warnings(), config_context(progress=None):
        warnings.simplefilter("ignore", IsentropicWarning)
        if workers == 1:
            results: Iterator[Trial] = map(tried, sets)
        else:
            run = Parallel(n_jobs=workers, prefer="threads", return_as="generator")
            # each with the limits in force here, which other threads would not know
            results = run(delayed(copy_context().run)(_within, tried, params, workers) for params in sets)
        for done, trial in enumerate(results, start=1):
            if on_trial is not None:
                on_trial(trial, done, len(sets))
            elif progress is not None:
                progress("parameters", done, len(sets))
            yield trial


def _within(tried: Callable[[dict[str, Any]], Trial], params: dict[str, Any], n_workers: int) -> Trial:
    """A trial beside others: each may take its part of the memory that there is when it begins."""
    budget = memory_budget()
    part = {} if budget is None else {"memory_limit": max(budget // n_workers, 1), "memory_in_all": False}
    with config_context(**part):
        return tried(params)


def _best(trials: tuple[Trial, ...], criterion: Criterion) -> int:
    sign = 1.0 if criterion.better == "higher" else -1.0
    scored = [(sign * trial.score, -i) for i, trial in enumerate(trials) if trial.score is not None]
    if not scored:
        memory = all(trial.reason.startswith(f"{MemoryBudgetError.__name__}: ") for trial in trials)
        raise (MemoryBudgetError if memory else InvalidInputError)(
            f"No set of parameters gave a map. With {dict(trials[0].params)}: {trials[0].reason}"
        )
    return -max(scored)[1]


# ---- Criteria of parameter selection: measures of the map against the data, without labels -------


MOST_ROWS = 1_000  # "auto" compares with all others: enough to tell parameters apart


@dataclass(frozen=True, slots=True)
class Criterion:
    """A measure of a map: ``score(X, Z, k, sample, n_jobs)`` with X as distances of rows."""

    name: str
    better: Literal["higher", "lower"]
    summary: str
    score: Callable[[DistanceRows, Floats, int, int | None, int | None], float]


def _of_ranks(kind: MeasureSpec) -> Callable[..., float]:
    def score(X: DistanceRows, Z: Floats, k: int, sample: int | None, n_jobs: int | None) -> float:
        found = quality.assess(X, Z, n_neighbors=k, sample=sample, measures="ranks", n_jobs=n_jobs)
        return found.measures[kind.names((k,))[0]].value

    return score


def _of_pairs(kind: MeasureSpec) -> Callable[..., float]:
    def score(X: DistanceRows, Z: Floats, k: int, sample: int | None, n_jobs: int | None) -> float:
        samples_pairs = (
            sample is not None and kind.source == "pair order"
        )  # sums over all pairs take little time
        n_pairs = min(sample * 1_000, X.n * (X.n - 1) // 2) if samples_pairs and sample is not None else None
        sides = both_sides(X, Z, n_jobs=n_jobs)
        return pair_measures([kind.name], *sides, n_pairs=n_pairs, n_jobs=n_jobs)[kind.name].value

    return score


def _criterion(kind: MeasureSpec) -> Criterion:
    assert kind.better != "nearer"
    score = _of_pairs(kind) if kind.source in OF_PAIRS else _of_ranks(kind)
    return Criterion(kind.name, kind.better, kind.aim, score)


CRITERIA: Mapping[str, Criterion] = MappingProxyType(
    {kind.name: _criterion(kind) for kind in kinds(*OF_RANKS, *OF_PAIRS) if kind.aim}
)


def checked_criterion(criterion: Any) -> Criterion:
    """The criterion of this name, or the given one."""
    if isinstance(criterion, Criterion):
        return criterion
    require_one_of("criterion", criterion, CRITERIA)
    return CRITERIA[criterion]


def rows_to_compare(sample: Any, n: int) -> int | None:
    """How many rows are compared with all others; None for all."""
    if sample is None:
        return None
    if isinstance(sample, str) and sample == "auto":
        return MOST_ROWS if n > MOST_ROWS else None
    return require_count("sample", sample, f"'auto', None or an integer from 2 to {n}", least=2, most=n)
