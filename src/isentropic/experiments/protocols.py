"""The honest protocol, and what chance gives under any protocol.

Honest: rows are split first. Scaling, what stands for missing values, parameters, the map, its own scale and
the classifier come from the training rows alone; the others are placed by ``transform``, without a label, and
their labels are seen by nothing but the count of right answers.
"""

from __future__ import annotations

import math
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ShuffleSplit, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsRegressor

from .._core.errors import require, require_count, require_number, require_one_of
from .._core.values import Floats, Integers
from ..comparison.evaluation.fitting import Split
from ..quality.class_measures import silhouette
from ..selection import as_grid, select
from ..tables.class_labels import class_codes
from .classifiers import EIGHT, agreement, classifier
from .tasks import Refused

SIX = ("KNN", "SVM", "NB", "DT", "QDA", "RFC")  # of the eight, those that take seconds
CHOICES = ("quality", "folds")
_INNER = 3  # folds of the training rows
_NEIGHBORS = 7  # of the regressor that judges a map by numbers

_RANGES = {"accuracy": (0.0, 1.0), "kappa": (-1.0, 1.0), "r2": (-math.inf, 1.0)}

Scores = dict[str, float]


@dataclass(frozen=True, slots=True)
class Protocol:
    """How a map is judged honestly.

    ``measure`` is "accuracy", "kappa", or "r2" where the target is a number and k-NN the judge. Parameters
    are chosen by the "quality" of the map of the training rows, without labels, or by the accuracy of k-NN in
    inner "folds" of them. ``n_repeats`` splits are drawn, ``test_share`` of the rows held out in each.
    """

    classifiers: tuple[str, ...] = SIX
    battery: str = "article"
    measure: str = "accuracy"
    choose: str = "quality"
    n_repeats: int = 10
    test_share: float = 0.5
    seed: int = 0

    def __post_init__(self) -> None:
        require_one_of("measure", self.measure, _RANGES)
        require_one_of("choose", self.choose, CHOICES)
        require_count("n_repeats", self.n_repeats)
        require_number("test_share", self.test_share, "a share between 0 and 1", above=0.0, below=1.0)
        require(len(self.classifiers) > 0, "classifiers", "at least one", self.classifiers)
        for name in self.classifiers:
            require_one_of("classifier", name, EIGHT)

    def splits(self, y: Any) -> tuple[Split, ...]:
        """Rows to learn from and rows to judge, classes in equal shares; too few rows are refused."""
        if self.measure == "r2":
            drawn = ShuffleSplit(self.n_repeats, test_size=self.test_share, random_state=self.seed)
            return tuple(Split(*pair) for pair in drawn.split(y))
        codes = class_codes(y, len(y))
        found = Split.several(codes, self.seed, self.n_repeats, self.test_share)
        n_classes = len(np.unique(codes))
        got = f"{len(y):,} rows of {n_classes:,} class{'es' if n_classes > 1 else ''}"
        hint = "Fewer have nothing to tell apart."
        require(len(found) > 0, "the target", "two classes or more on at least 10 rows", got, hint)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Repeats:
    """Scores of each split, by name, and how many rows taught and were judged."""

    scores: tuple[Scores, ...]
    n_train: int
    n_test: int
    range: tuple[float, float] = (-math.inf, math.inf)  # what the measure can be

    def measures(self) -> Scores:
        """Means over splits, each with the ends of its 95% interval: ``name``, ``name low``, ``name high``.

        The splits share rows, so their scores vary less than those of new data would: the corrected resampled
        t interval (Nadeau and Bengio), of variance ``(1 / R + n_test / n_train) s^2``. One split has none.
        A name that some split lacks, as a classifier refused, is left out.
        """
        names = [name for name in self.scores[0] if all(name in one for one in self.scores)]
        found: Scores = {}
        for name in names:
            values = np.array([one[name] for one in self.scores])
            found[name] = float(values.mean())
            if len(values) > 1:
                half = _half_width(values, 1 / len(values) + self.n_test / self.n_train)
                low, high = (-1.0, 1.0) if name == "silhouette" else self.range
                found[f"{name} low"] = max(found[name] - half, low)
                found[f"{name} high"] = min(found[name] + half, high)
        return found


def _half_width(values: Floats, share: float) -> float:
    from scipy.stats import t

    return float(t.ppf(0.975, len(values) - 1) * values.std(ddof=1) * math.sqrt(share))


def honest_scores(
    estimator: Any,
    X: Floats,
    y: Any,
    protocol: Protocol | None = None,
    *,
    needs_y: bool = False,
    grid: Any = None,
) -> Repeats:
    """Judge a method on rows that it did not see: for each split every classifier, ``mean`` and ``max``.

    ``max`` is the score of the classifier that is best in inner folds of the training rows: what an honest
    reader gets where a source prints the best of all. ``silhouette`` is that of the judged rows.
    ``estimator`` None judges the standardised rows themselves. Without ``grid`` nothing is chosen.

    >>> from isentropic import PCA, datasets
    >>> wine = datasets.load("builtin:wine", scaling="none")
    >>> found = honest_scores(PCA(2), wine.X, wine.y, Protocol(("KNN",), n_repeats=3)).measures()
    >>> round(found["KNN"], 2), found["KNN low"] < found["KNN"] < found["KNN high"]
    (0.97, True)
    """
    protocol = protocol or Protocol()
    X = np.asarray(X, float)
    target = np.asarray(y, float) if protocol.measure == "r2" else class_codes(y, len(X))
    if estimator is not None and not hasattr(estimator, "transform"):
        raise Refused("It places no new rows, so that nothing can be said of rows that it did not see.")
    splits = protocol.splits(target)
    sets = None if grid is None else as_grid(grid)
    scores = tuple(
        _judged(*_mapped(estimator, X, target, split, protocol, sets, needs_y), target, split, protocol)
        for split in splits
    )
    return Repeats(scores, len(splits[0].train), len(splits[0].test), _RANGES[protocol.measure])


def _mapped(
    estimator: Any,
    X: Floats,
    target: Any,
    split: Split,
    protocol: Protocol,
    sets: Sequence[Mapping[str, Any]] | None,
    needs_y: bool,
) -> tuple[Floats, Floats]:
    """Places of the training rows and of the others, at unit variance by the former."""
    rows = Moments.of(X[split.train])
    known, new = rows.scaled(X[split.train]), rows.scaled(X[split.test])
    if estimator is None:
        return known, new
    labels = target[split.train] if needs_y else None
    model = clone(estimator)
    if sets is not None and len(sets) > 1:
        model.set_params(**_chosen(model, known, target[split.train], needs_y, sets, protocol))
    Z = np.asarray(model.fit_transform(known, labels), float)
    places = Moments.of(Z)
    return places.scaled(Z), places.scaled(np.asarray(model.transform(new), float))


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Means and standard deviations of columns; a constant column keeps its unit."""

    mean: Floats
    spread: Floats

    @classmethod
    def of(cls, X: Floats) -> Self:
        """Of the values that are there; a column without any has the mean 0."""
        known = np.isfinite(X)
        count = np.maximum(known.sum(axis=0), 1)
        mean = np.where(known, X, 0.0).sum(axis=0) / count
        spread = np.sqrt((np.where(known, X - mean, 0.0) ** 2).sum(axis=0) / count)
        tiny = spread <= 1e-12 * np.maximum(np.abs(mean), np.finfo(float).tiny)
        return cls(mean, np.where(tiny, 1.0, spread))

    def scaled(self, X: Floats) -> Floats:
        """At mean 0 and variance 1 by these moments; a missing value is at the mean."""
        return np.where(np.isnan(X), 0.0, (X - self.mean) / self.spread)


def _chosen(
    model: Any, X: Floats, target: Any, needs_y: bool, sets: Sequence[Mapping[str, Any]], protocol: Protocol
) -> Mapping[str, Any]:
    """The parameters that the training rows choose."""
    if protocol.choose == "quality":
        return select(model, X, sets, y=target if needs_y else None, metric="euclidean").params
    inner = [*_folds(target, protocol)]

    def score(params: Mapping[str, Any]) -> float:
        found = 0.0
        for train, test in inner:
            tried = clone(model).set_params(**params)
            Z = tried.fit_transform(X[train], target[train] if needs_y else None)
            judge = _judge("KNN", protocol).fit(Z, target[train])
            found += float(judge.score(tried.transform(X[test]), target[test]))
        return found

    return max(sets, key=score)  # the first of the best


def _folds(target: Any, protocol: Protocol) -> Any:
    if protocol.measure == "r2":
        return ShuffleSplit(_INNER, test_size=1 / _INNER, random_state=protocol.seed).split(target)
    splits = Split.several(target, protocol.seed, _INNER, 1 / _INNER)
    return ((split.train, split.test) for split in splits)


def _judge(name: str, protocol: Protocol) -> Any:
    if protocol.measure == "r2":
        return KNeighborsRegressor(_NEIGHBORS)
    return classifier(name, protocol.battery, protocol.seed)


def _judged(known: Floats, new: Floats, target: Any, split: Split, protocol: Protocol) -> Scores:
    """Each classifier taught by the places of the training rows, on those of the others."""
    taught, true = target[split.train], target[split.test]
    if protocol.measure == "r2":
        score = float(_judge("KNN", protocol).fit(known, taught).score(new, true))
        return {"KNN": score, "mean": score, "max": score}
    found: Scores = {}
    for name in protocol.classifiers:
        try:
            said = _judge(name, protocol).fit(known, taught).predict(new)
        except (ValueError, np.linalg.LinAlgError):  # QDA: a class of one row
            continue
        found[name] = agreement(true, said, protocol.measure)
    require(bool(found), "y", "classes that some classifier can learn", protocol.classifiers)
    best = _best_within(known, taught, tuple(found), protocol)
    found |= {"mean": float(np.mean(list(found.values()))), "max": found[best]}
    if 1 < len(np.unique(true)) < len(true):
        found["silhouette"] = silhouette(new, true, n_jobs=1)
    return found


def _best_within(known: Floats, taught: Integers, names: Sequence[str], protocol: Protocol) -> str:
    """The classifier that is best in folds of the training rows; not one that no fold is enough for."""
    folds = min(_INNER, int(np.bincount(taught).max()))
    if len(names) == 1 or folds < 2:
        return names[0]
    inner = StratifiedKFold(folds, shuffle=True, random_state=protocol.seed)
    means = {}
    for name in names:
        try:
            scores = cross_val_score(_judge(name, protocol), known, taught, cv=inner, error_score=0.0)
        except ValueError:  # all folds failed: QDA, where a class has fewer rows than there are columns
            scores = np.array([-np.inf])
        means[name] = float(scores.mean())
    return max(names, key=means.__getitem__)


# ---- what chance gives -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Null:
    """Scores with labels at random: their mean with its 95% interval, and where 95% of them lie."""

    mean: float
    low: float
    high: float
    least: float
    most: float
    n_permutations: int

    @property
    def leaks(self) -> bool:
        """Whether labels that mean nothing score above 0, Cohen's kappa being the score: something looked."""
        return self.low > 0


def permuted_null(score: Callable[[Any], float], y: Any, n_permutations: int = 20, seed: int = 0) -> Null:
    """Score labels that are permuted among all rows, before anything is split or fitted.

    ``score`` is a whole protocol, from labels to its number. By Cohen's kappa an honest one gives 0 on
    average, whatever the classes: one that gives more has seen the labels that it judges by, or has chosen by
    them. ``n_permutations`` runs of the protocol.
    """
    n_permutations = require_count("n_permutations", n_permutations, least=2)
    y = np.asarray(y)
    draws = (np.random.default_rng([seed, i]).permutation(y) for i in range(n_permutations))
    values = np.array([score(labels) for labels in draws])
    half = _half_width(values, 1 / n_permutations)
    mean = float(values.mean())
    least, most = np.quantile(values, [0.025, 0.975]).tolist()
    return Null(mean, mean - half, mean + half, least, most, n_permutations)


# ---- A bound on the processor time that a piece of work may take ---------------------------------


_AGAIN = 0.05  # seconds of processor time after which a signal that was not heard is repeated


@contextmanager
def cpu_limit(seconds: float, what: str) -> Iterator[None]:
    """Refuse what takes more seconds of processor time, all threads together, than this.

    The clock is the system's (SIGPROF), which Python hears between two steps of its own: kernels work in
    blocks, so it is late by a block. Outside the main thread, and where there is no such clock, nothing is
    bounded.

    >>> with cpu_limit(0.05, "counting"):
    ...     while True:
    ...         pass
    Traceback (most recent call last):
    ...
    isentropic.experiments.tasks.Refused: counting takes more than 0.05 s of processor time.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    refused = Refused(f"{what} takes more than {seconds:g} s of processor time.")
    over = False

    def end(*_: Any) -> None:
        nonlocal over
        over = True
        signal.setitimer(signal.ITIMER_PROF, 0)
        raise refused

    before = signal.signal(signal.SIGPROF, end)
    # again and again: a signal that another thread receives may not be heard while this one computes
    signal.setitimer(signal.ITIMER_PROF, seconds, _AGAIN)
    try:
        yield
    except Exception:  # numba turns what is raised as a kernel returns into an error of its own
        if over:
            raise refused from None
        raise
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
