"""One fit, watched: its seconds, its memory, its warnings; and how well its map tells classes apart."""

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
from ..._core.runtime import held_memory, row_blocks
from ..._core.values import Floats, Integers
from ...distances import Metric
from ...neighbors import class_votes, nearest_among
from ...quality.intervals import wilson
from ...selection.choosing import embedding_of

HELD_OUT = 0.3  # share of the rows on which accuracy is measured
_ENOUGH = 200  # rows held out, in several splits of a small table
_MOST_SPLITS = 10
_PLACED = 2_000  # rows at a time
_SMALL = 500  # rows, for which one thread takes less time than several
_NOISE = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ImportWarning, ResourceWarning)

Accuracy = tuple[float, float, float]


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A map and what it took."""

    embedding: Floats
    seconds: float
    memory_mib: float | None
    warnings: tuple[str, ...]
    place: Callable[[Floats], Any] | None = None  # new rows, where the method can


def fitted(mapped: Callable[[], Any], n_rows: int) -> Fit:
    """Call ``mapped`` for a map of ``n_rows`` rows; raises for one that is none."""
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
    said = [str(entry.message) for entry in caught if not issubclass(entry.category, _NOISE)]
    return Fit(np.ascontiguousarray(Z), seconds, memory, tuple(dict.fromkeys(said)))


def placed_map(estimator: Any, X: Floats, y: Any, rows: Integers) -> Floats:
    """The map of all of X: ``rows`` are fitted, and the others placed by ``transform``, each by itself."""
    known = as_numbers("The map", embedding_of(estimator, X[rows], None if y is None else y[rows]))
    others = np.setdiff1d(np.arange(len(X)), rows)
    Z = np.empty((len(X), known.shape[1]))
    Z[rows] = known
    for part in row_blocks(len(others), "rows placed", size=_PLACED):
        Z[others[part]] = estimator.transform(X[others[part]])
    return Z


# ---- memory ------------------------------------------------------------------------------------


def _peak_from_now() -> int | None:
    """Let the peak of this process begin anew; the bytes that it holds now, or None where that cannot be."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")  # Linux
        return held_memory()
    return None


def _memory_since(before: int) -> float | None:
    """MiB that the process held beyond those at its peak; below 1 MiB is chance."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):  # KiB
                return float(round(max(int(line.split()[1]) * 1024 - before, 0) / 2**20))
    return None


# ---- classes -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Rows to learn from, and rows that are held out; classes in equal shares where they allow."""

    train: Integers
    test: Integers

    @classmethod
    def of(cls, classes: Integers, seed: int) -> Split | None:
        """None where there are too few rows or classes to measure anything; -1 is no class."""
        found = cls.several(classes, seed, 1)
        return found[0] if found else None

    @classmethod
    def several(
        cls, classes: Integers, seed: int, count: int | None = None, share: float = HELD_OUT
    ) -> tuple[Split, ...]:
        """So many, each drawn anew, the first that of :meth:`of`; by default until 200 rows are held out.

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
            drawn = splitter(count, test_size=n_test, random_state=seed).split(able, classes[able])
            return tuple(cls(np.setdiff1d(named, able[test]), np.sort(able[test])) for _, test in drawn)


def held_out_accuracy(
    estimator: Any, X: Floats, classes: Integers, split: Split, *, needs_y: bool
) -> Accuracy:
    """Fit on the training rows alone, place the others by ``transform``, classify them by their neighbours.

    Labels of held-out rows are seen by nothing but the count of hits.
    """
    train, test = split.train, split.test
    model = clone(estimator)
    known = embedding_of(model, X[train], classes[train] if needs_y else None)
    return accuracy_between(known, classes[train], model.transform(X[test]), classes[test])


def accuracy_between(
    known: Floats,
    known_classes: Integers,
    placed: Floats,
    placed_classes: Integers,
    n_neighbors: int = 10,
    metric: Metric = "euclidean",
) -> Accuracy:
    """Share of the placed rows whose class most of their nearest known rows have; Wilson's 95% interval."""
    voted = voted_classes(known, known_classes, placed, n_neighbors, metric=metric)
    return shares_right(voted, placed_classes)


def shares_right(found: Integers, true: Integers) -> Accuracy:
    """Accuracy, and Wilson's 95% interval."""
    right = int(np.count_nonzero(found == true)) / len(true)
    return right, *wilson(right, len(true))


def voted_classes(
    known: Floats,
    known_classes: Integers,
    placed: Floats,
    n_neighbors: int,
    selves: Integers | None = None,
    metric: Metric = "euclidean",
) -> Integers:
    """k-NN: of each placed row the class that most of its nearest known rows have, itself left out.

    Ties of the vote go to the first class, as in scikit-learn.
    """
    sides = (np.ascontiguousarray(placed, float), np.ascontiguousarray(known, float))
    others = len(known) - (selves is not None)
    n_jobs = 1 if len(placed) <= _SMALL else None
    k = min(n_neighbors, others)
    nearest, _ = nearest_among(*sides, k, metric=metric, selves=selves, n_jobs=n_jobs)
    winners: Integers = class_votes(known_classes[nearest], int(known_classes.max()) + 1).argmax(axis=1)
    return winners
