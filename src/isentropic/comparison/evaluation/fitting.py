"""Timed fits: seconds, memory and warnings of one fit; held-out splits and k-NN accuracy of its map."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

from ..._core.arguments import as_numbers
from ..._core.errors import InvalidInputError
from ..._core.runtime import row_blocks, used_memory
from ..._core.values import Floats, Integers
from ...distances import Metric
from ...neighbors import class_votes, nearest_among
from ...quality.inputs import wilson
from ...selection import embedding_of

HELD_OUT = 0.3  # share of the rows on which accuracy is measured
_ENOUGH = 200  # rows held out, in several splits of a small table
_MOST_SPLITS = 10
_MAPPED_AT_ONCE = 2_000  # rows at a time
_SMALL = 500  # rows, for which one thread takes less time than several
_NOISE = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ImportWarning, ResourceWarning)

Accuracy = tuple[float, float, float]


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A map, with the seconds, memory and warnings of its fit."""

    embedding: Floats
    seconds: float
    memory_mib: float | None
    warnings: tuple[str, ...]
    transform: Callable[[Floats], Any] | None = None  # new rows, where the method can


def time_fit(mapped: Callable[[], Any], n_rows: int) -> Fit:
    """Call ``mapped`` for a map of ``n_rows`` rows and time it; raise unless it is a finite map."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        before = _peak_from_now()
        began = time.perf_counter()
        found = mapped()
        seconds = time.perf_counter() - began
        memory = None if before is None else _memory_since(before)
    Z = as_numbers("The map", found, None, holes=True, infinite=True)
    if Z.ndim != 2 or len(Z) != n_rows or Z.shape[1] == 0:
        raise InvalidInputError(f"The map must have {n_rows} rows of coordinates, got the shape {Z.shape}.")
    lost = int(np.count_nonzero(~np.isfinite(Z)))
    if lost:
        raise InvalidInputError(f"The map must be finite, got {lost} coordinates that are not.")
    messages = [str(entry.message) for entry in caught if not issubclass(entry.category, _NOISE)]
    return Fit(np.ascontiguousarray(Z), seconds, memory, tuple(dict.fromkeys(messages)))


def fit_and_map(estimator: Any, X: Floats, y: Any, rows: Integers) -> Floats:
    """Fit some rows of X and map the others by ``transform``, each by itself."""
    training = as_numbers("The map", embedding_of(estimator, X[rows], None if y is None else y[rows]))
    others = np.setdiff1d(np.arange(len(X)), rows)
    Z = np.empty((len(X), training.shape[1]))
    Z[rows] = training
    for part in row_blocks(len(others), "rows placed", size=_MAPPED_AT_ONCE):
        Z[others[part]] = estimator.transform(X[others[part]])
    return Z


# ---- memory ------------------------------------------------------------------------------------


def _peak_from_now() -> int | None:
    """Reset the memory peak of this process; bytes held now, or None where the system cannot."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")  # Linux
        return used_memory()
    return None


def _memory_since(before: int) -> float | None:
    """MiB that the process held at its peak beyond ``before``; below 1 MiB is noise."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):  # KiB
                return float(round(max(int(line.split()[1]) * 1024 - before, 0) / 2**20))
    return None


# ---- classes -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Training rows and held-out rows, stratified by class where possible."""

    train: Integers
    test: Integers

    @classmethod
    def of(cls, classes: Integers, seed: int) -> Split | None:
        """One split; None where there are too few rows or classes. -1 is no class."""
        found = cls.several(classes, seed, 1)
        return found[0] if found else None

    @classmethod
    def several(
        cls, classes: Integers, seed: int, count: int | None = None, share: float = HELD_OUT
    ) -> tuple[Split, ...]:
        """Several random splits, the first as by :meth:`of`; by default until 200 rows are held out.

        A class of one row is never held out: nothing could tell it.
        """
        named = np.flatnonzero(classes >= 0)
        counts = np.bincount(classes[named])
        if len(named) < 10 or np.count_nonzero(counts) < 2:
            return ()
        able = named[counts[classes[named]] > 1]
        able = able if len(able) else named
        n_test = max(round(share * len(able)), 1)
        n_classes = len(np.unique(classes[able]))
        stratified = n_classes < len(able) and n_classes <= min(n_test, len(able) - n_test)
        splitter = StratifiedShuffleSplit if stratified else ShuffleSplit
        count = min(-(-_ENOUGH // n_test), _MOST_SPLITS) if count is None else count
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that so many classes might be a quantity
            splits = splitter(count, test_size=n_test, random_state=seed).split(able, classes[able])
            return tuple(cls(np.setdiff1d(named, able[test]), np.sort(able[test])) for _, test in splits)


def held_out_accuracy(
    estimator: Any, X: Floats, classes: Integers, split: Split, *, needs_y: bool
) -> Accuracy:
    """Fit the training rows alone, map the others by ``transform``, and classify them by k-NN.

    Labels of held-out rows are seen by nothing but the count of hits.
    """
    train, test = split.train, split.test
    model = clone(estimator)
    training = embedding_of(model, X[train], classes[train] if needs_y else None)
    return accuracy_between(training, classes[train], model.transform(X[test]), classes[test])


def accuracy_between(
    training: Floats,
    training_classes: Integers,
    mapped: Floats,
    mapped_classes: Integers,
    n_neighbors: int = 10,
    metric: Metric = "euclidean",
) -> Accuracy:
    """k-NN accuracy of mapped rows among training rows, with Wilson's 95% interval."""
    voted = knn_vote(training, training_classes, mapped, n_neighbors, metric=metric)
    return accuracy_interval(voted, mapped_classes)


def accuracy_interval(found: Integers, true: Integers) -> Accuracy:
    """Accuracy with Wilson's 95% interval."""
    right = int(np.count_nonzero(found == true)) / len(true)
    return right, *wilson(right, len(true))


def knn_vote(
    training: Floats,
    training_classes: Integers,
    mapped: Floats,
    n_neighbors: int,
    selves: Integers | None = None,
    metric: Metric = "euclidean",
) -> Integers:
    """k-NN vote: the most frequent class among the nearest training rows, the row itself left out.

    Ties of the vote go to the first class, as in scikit-learn.
    """
    sides = (np.ascontiguousarray(mapped, float), np.ascontiguousarray(training, float))
    others = len(training) - (selves is not None)
    n_jobs = 1 if len(mapped) <= _SMALL else None
    k = min(n_neighbors, others)
    nearest, _ = nearest_among(*sides, k, metric=metric, selves=selves, n_jobs=n_jobs)
    winners: Integers = class_votes(training_classes[nearest], int(training_classes.max()) + 1).argmax(axis=1)
    return winners
