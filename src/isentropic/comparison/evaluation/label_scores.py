"""How well the classes are told apart in a map, with the true labels and with permuted ones.

Two protocols. *Honest*: rows are split first, the method learns from one part, the others are placed without
their labels, and k-NN is scored on them. *Published*: the method learns from all rows and labels, then half
of its map is scored by k-NN from the other half, as papers on supervised maps do; the labels that are scored
have made the map.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import train_test_split

from ..._core.errors import require
from ..._core.runtime import one_blas_thread, worker_threads
from ..._core.values import Floats, Integers
from ...quality.labels import cohen_kappa
from .fitting import Split, voted_classes

PROTOCOLS = ("honest", "published")
SCORES = ("accuracy", "kappa")
_NEIGHBORS = {"honest": 10, "published": 7}
_SMALL = 500  # rows
_PUBLISHED_SEED = 42  # of the split into halves
_WORTH_WORKERS = 10.0  # seconds of fits, below which starting processes takes longer than it saves

Scores = tuple[float, float]  # of the rows that the protocol scores, and of those that the map learnt from


@dataclass(frozen=True, slots=True, eq=False)
class LabelTrial:
    """One method on one table: ``trial(0)`` scores the true labels, ``trial(i)`` the i-th permutation.

    The null is exact: a score is a function of the table and one labelling, the splits included, and the
    true labelling and the permuted ones go the same way. Labels that were permuted anew for each split would
    not do: a labelling meets the same rows in several, and its scores go up and down together.
    """

    estimator: Any
    X: Floats
    classes: Integers
    protocol: str
    score: str
    seed: int
    quiet: bool = False  # whether the true labels are fitted without warnings too

    @classmethod
    def of(
        cls, estimator: Any, X: Floats, classes: Integers, *, protocol: str, score: str, seed: int
    ) -> LabelTrial:
        """Of the rows with a class, those of -1 having none; raises where there is nothing to score."""
        _require_taught(estimator, places=protocol == "honest")
        X, classes = X[classes >= 0], classes[classes >= 0]
        n, n_classes = len(X), len(np.unique(classes))
        hint = "Fewer have nothing to tell apart."
        require(
            n >= 10 and n_classes >= 2, "y", "two classes of at least 10 rows in all", (n, n_classes), hint
        )
        return cls(_seeded(estimator, n, seed), X, classes, protocol, score, seed)

    def __call__(self, i: int) -> Scores:
        """The labels depend on the seed and i alone."""
        with warnings.catch_warnings():
            if i or self.quiet:
                warnings.simplefilter("ignore")  # the true labels said what there is to say
            return self._scored(self.labels(i))

    def labels(self, i: int) -> Integers:
        """All permuted, before any split."""
        return self.classes if i == 0 else np.random.default_rng([self.seed, i]).permutation(self.classes)

    def splits(self, labels: Integers) -> tuple[Split, ...]:
        """Of an honest test so many that enough rows are scored, the classes of these labels in equal shares.

        Their number and sizes are those of any permutation. The published split knows no labels.
        """
        if self.protocol == "honest":
            return Split.several(labels, self.seed)
        return (
            Split(*train_test_split(np.arange(len(self.X)), test_size=0.5, random_state=_PUBLISHED_SEED)),
        )

    def _scored(self, labels: Integers) -> Scores:
        """Of the rows of all splits together."""
        parts = zip(*(self._voted(labels, split) for split in self.splits(labels)), strict=True)
        voted, true, seen, learnt = (np.concatenate(part) for part in parts)
        return self._agreement(voted, true), self._agreement(seen, learnt)

    def _voted(self, labels: Integers, split: Split) -> tuple[Integers, Integers, Integers, Integers]:
        """What neighbours vote for and what is true: of the rows to score, and of those that were seen."""
        known, new = split.train, split.test
        model, k = clone(self.estimator), _NEIGHBORS[self.protocol]
        if self.protocol == "honest":
            Z = np.asarray(model.fit_transform(self.X[known], labels[known]), float)
            voted = voted_classes(Z, labels[known], model.transform(self.X[new]), k)
            learnt = labels[known]
        else:
            Z = np.asarray(model.fit_transform(self.X, labels), float)
            voted = voted_classes(Z[known], labels[known], Z[new], k)
            learnt = labels
        return voted, labels[new], voted_classes(Z, learnt, Z, k, selves=np.arange(len(Z))), learnt

    def _agreement(self, voted: Integers, true: Integers) -> float:
        if self.score == "accuracy":
            return float(np.mean(voted == true))
        one = len(np.union1d(voted, true)) == 1  # a single class among the scored rows: nothing beyond chance
        return 0.0 if one else cohen_kappa(true, voted)


def _require_taught(estimator: Any, *, places: bool) -> None:
    """Raise for what cannot be given labels, or cannot place the rows that are held out."""
    fit: Any = getattr(estimator, "fit_transform", None)
    fits = fit is not None and hasattr(estimator, "get_params") and not isinstance(estimator, type)
    require(fits, "estimator", "one with fit_transform(X, y) and get_params()", estimator)
    taken = signature(fit).parameters.values()
    given = sum(one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) for one in taken)
    fits = given >= 2 or any(one.kind == one.VAR_POSITIONAL for one in taken)
    hint = "Permuted labels change nothing for one that sees none."
    require(fits, "estimator", "one whose fit_transform takes labels", estimator, hint)
    hint = "With protocol='published' nothing is placed."
    fits = not places or hasattr(estimator, "transform")
    require(fits, "estimator", "one that places new rows", estimator, hint)


def _seeded(estimator: Any, n_rows: int, seed: int) -> Any:
    """A copy that draws the same in every process; of a small table on one thread, which takes less time."""
    params = estimator.get_params(deep=False)
    fixed: dict[str, Any] = {}
    if "random_state" in params and params["random_state"] is None:
        fixed["random_state"] = seed
    if "n_jobs" in params and n_rows <= _SMALL:
        fixed["n_jobs"] = 1
    return clone(estimator).set_params(**fixed)


def trial_scores(
    trial: LabelTrial, wanted: Sequence[int], n_jobs: int | None
) -> Iterator[tuple[int, Scores]]:
    """The scores of these permutations in order, as they come; in several processes where that pays.

    Equal bits in either case: BLAS has one thread.
    """
    if not wanted:
        return
    with one_blas_thread():
        began = time.perf_counter()
        yield wanted[0], trial(wanted[0])
        seconds, rest = time.perf_counter() - began, wanted[1:]
        workers = min(worker_threads(n_jobs), len(rest))
        if workers < 2 or seconds * len(rest) < _WORTH_WORKERS:
            for i in rest:
                yield i, trial(i)
            return
    from joblib import Parallel, delayed

    if "n_jobs" in trial.estimator.get_params(deep=False):  # a core for each process
        trial = replace(trial, estimator=clone(trial.estimator).set_params(n_jobs=1))
    # without memory maps: compiled code would be compiled again for arrays that cannot be written
    running = Parallel(n_jobs=workers, return_as="generator", max_nbytes=None)
    yield from zip(rest, running(delayed(_in_worker)(trial, i) for i in rest), strict=True)


def _in_worker(trial: LabelTrial, i: int) -> Scores:
    with one_blas_thread():
        return trial(i)
