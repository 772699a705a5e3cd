"""Label permutation tests: the score of a supervised map beside its scores with permuted labels."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import train_test_split

from ..._core.arguments import as_numbers
from ..._core.errors import require, require_count, require_one_of
from ..._core.files import is_number, require_fields, several
from ..._core.runtime import config_context, get_config, one_blas_thread, worker_threads
from ..._core.values import Floats, Integers
from ..._core.workers import WorkerPool, worker_pool
from ...distances import is_gower
from ...quality.class_measures import cohen_kappa
from ...tables.class_labels import compared_classes
from .data import Data
from .fitting import Split, held_out_accuracy, knn_vote
from .runs import LabelTest, Run, RunCache, fingerprint, parameter_key, run_key

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
        return cls(_with_seed(estimator, n, seed), X, classes, protocol, score, seed)

    def __call__(self, i: int) -> Scores:
        """The labels depend on the seed and i alone."""
        with warnings.catch_warnings():
            if i or self.quiet:
                warnings.simplefilter("ignore")  # the fit with the true labels has warned already
            return self._score(self.labels(i))

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

    def _score(self, labels: Integers) -> Scores:
        """Of the rows of all splits together."""
        parts = zip(*(self._vote(labels, split) for split in self.splits(labels)), strict=True)
        voted, true, seen, learnt = (np.concatenate(part) for part in parts)
        return self._agreement(voted, true), self._agreement(seen, learnt)

    def _vote(self, labels: Integers, split: Split) -> tuple[Integers, Integers, Integers, Integers]:
        """What neighbours vote for and what is true: of the rows to score, and of those that were seen."""
        known, new = split.train, split.test
        model, k = clone(self.estimator), _NEIGHBORS[self.protocol]
        if self.protocol == "honest":
            Z = np.asarray(model.fit_transform(self.X[known], labels[known]), float)
            voted = knn_vote(Z, labels[known], model.transform(self.X[new]), k)
            learnt = labels[known]
        else:
            Z = np.asarray(model.fit_transform(self.X, labels), float)
            voted = knn_vote(Z[known], labels[known], Z[new], k)
            learnt = labels
        return voted, labels[new], knn_vote(Z, learnt, Z, k, selves=np.arange(len(Z))), learnt

    def _agreement(self, voted: Integers, true: Integers) -> float:
        if self.score == "accuracy":
            return float(np.mean(voted == true))
        one = len(np.union1d(voted, true)) == 1  # a single class among the scored rows: nothing beyond chance
        return 0.0 if one else cohen_kappa(true, voted)


def _require_taught(estimator: Any, *, places: bool) -> None:
    """Raise for an estimator that takes no labels, or cannot map held-out rows."""
    fit: Any = getattr(estimator, "fit_transform", None)
    fits = fit is not None and hasattr(estimator, "get_params") and not isinstance(estimator, type)
    require(fits, "estimator", "one with fit_transform(X, y) and get_params()", estimator)
    parameters = signature(fit).parameters.values()
    given = sum(one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) for one in parameters)
    fits = given >= 2 or any(one.kind == one.VAR_POSITIONAL for one in parameters)
    hint = "Permuted labels change nothing for one that sees none."
    require(fits, "estimator", "one whose fit_transform takes labels", estimator, hint)
    hint = "With protocol='published' nothing is placed."
    fits = not places or hasattr(estimator, "transform")
    require(fits, "estimator", "one that places new rows", estimator, hint)


def _with_seed(estimator: Any, n_rows: int, seed: int) -> Any:
    """A seeded copy, which computes the same in every process; of a small table on one thread."""
    params = estimator.get_params(deep=False)
    fixed: dict[str, Any] = {}
    if "random_state" in params and params["random_state"] is None:
        fixed["random_state"] = seed
    if "n_jobs" in params and n_rows <= _SMALL:
        fixed["n_jobs"] = 1
    return clone(estimator).set_params(**fixed)


def trial_scores(
    trial: LabelTrial, wanted: Sequence[int], workers: WorkerPool | None
) -> Iterator[tuple[int, Scores]]:
    """Scores of these permutations in order, in several processes where that is faster.

    Equal bits in either case: BLAS has one thread.
    """
    if not wanted:
        return
    began = time.perf_counter()
    yield wanted[0], score_permutation(trial, wanted[0])
    seconds, rest = time.perf_counter() - began, wanted[1:]
    if workers is None or len(rest) < 2 or seconds * len(rest) < _WORTH_WORKERS:
        yield from ((i, score_permutation(trial, i)) for i in rest)
        return
    if "n_jobs" in trial.estimator.get_params(deep=False):  # a core for each process
        trial = replace(trial, estimator=clone(trial.estimator).set_params(n_jobs=1))
    name = f"{__name__}:{score_permutation.__name__}"
    yield from zip(rest, workers.map(name, [(trial, i) for i in rest]), strict=True)


def score_permutation(trial: LabelTrial, i: int) -> Scores:
    """The i-th score, on one thread of BLAS."""
    with one_blas_thread():
        return trial(i)


# ---- the test ------------------------------------------------------------------------------------


def label_permutation_test(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    protocol: str = "honest",
    n_permutations: int = 99,
    score: str = "accuracy",
    random_state: int = 0,
    n_jobs: int | None = None,
    folder: str | Path | None = None,
) -> LabelTest:
    """Permutation test of the labels that a supervised map learnt from: the null beside the score.

    The method is fitted with the labels as they are, and ``n_permutations`` times with permuted ones. Under
    the honest protocol permuted labels score what chance gives. Under the published one they may score nearly
    as well as the true ones, and the test shows by how much. ``n_permutations + 1`` fits for each split.

    Parameters
    ----------
    estimator : estimator
        With ``fit_transform(X, y)``, and ``transform`` for the honest protocol.
    X : array (n, m)
    y : array (n,)
        Classes, as text or whole numbers. Rows without one (None, NaN, pd.NA, or -1 beside several
        classes) take no part.
    protocol : {"honest", "published"}
        ``"honest"``: 30% of the rows are held out from the fit, mapped without a label by ``transform``, and
        classified by their 10 nearest fitted rows; of small tables in up to 10 splits, until 200 rows are
        scored, the score being that of all. Labels are permuted before the splits. ``"published"``: fitted
        with all labels, then half of the rows of the map are classified by their 7 nearest of the other half.
    n_permutations : int
        p is at least ``1 / (n_permutations + 1)``.
    score : {"accuracy", "kappa"}
        Of k-NN; Cohen's kappa is 0 by chance.
    random_state : int
        Of the split and the permutations; that of the estimator too, where it has none.
    n_jobs : int or None
        Processes, where the fits take long enough. The result does not depend on it.
    folder : path, optional
        Scores are written there as they come, and read back by the next call: after Ctrl-C it goes on, and
        more permutations add to those that are there.

    Returns
    -------
    LabelTest

    Examples
    --------
    >>> import numpy as np
    >>> from isentropic import LDA, label_permutation_test
    >>> random = np.random.default_rng(0)
    >>> noise, coins = random.normal(size=(60, 30)), np.repeat([0, 1], 30)
    >>> test = label_permutation_test(LDA(1), noise, coins, n_permutations=19)
    >>> test.seen > 0.8, test.reached  # it looks well on the rows that it learnt from, and means nothing
    (True, True)
    """
    require_one_of("protocol", protocol, PROTOCOLS)
    require_one_of("score", score, SCORES)
    n_permutations = require_count("n_permutations", n_permutations)
    seed = require_count("random_state", random_state, "a whole number", least=0)
    worker_threads(n_jobs)  # raises now
    X = as_numbers("X", X, holes=is_gower(getattr(estimator, "metric", None)))
    classes = compared_classes(y, len(X))[1]
    trial = LabelTrial.of(estimator, X, classes, protocol=protocol, score=score, seed=seed)
    progress = get_config().progress

    def report(done: int, total: int) -> None:
        if progress is not None:
            progress("labels permuted", done, total)

    cache, name = RunCache.at(folder), type(estimator).__name__
    with config_context(progress=None):  # the progress bar counts permutations, not blocks of rows
        return permutation_null(trial, n_permutations, n_jobs, cache, name, report)


def permutation_null(
    trial: LabelTrial,
    n_permutations: int,
    n_jobs: int | None,
    cache: RunCache,
    name: str,
    report: Callable[[int, int], None],
) -> LabelTest:
    """Score the permutations that are not in the cache yet, and store each."""
    name, key = f"{name}-labels", _key(trial)
    found = cache.get(name, key, _scores_of) or {}
    wanted = [i for i in range(n_permutations + 1) if i not in found]
    report(n_permutations + 1 - len(wanted), n_permutations + 1)
    with worker_pool(n_jobs) as workers:
        for i, scores in trial_scores(trial, wanted, workers):
            found[i] = scores
            cache.put(name, key, json.dumps({"scores": [[i, *both] for i, both in sorted(found.items())]}))
            report(len(found.keys() & set(range(n_permutations + 1))), n_permutations + 1)
    held_out, seen = np.array([found[i] for i in range(n_permutations + 1)]).T.tolist()
    splits = trial.splits(trial.classes)
    return LabelTest(
        protocol=trial.protocol,
        score=trial.score,
        observed=held_out[0],
        null=tuple(held_out[1:]),
        seen=seen[0],
        seen_null=tuple(seen[1:]),
        n_fitted=len(trial.X) if trial.protocol == "published" else len(splits[0].train),
        n_scored=len(splits[0].test),
        n_splits=len(splits),
        random_state=trial.seed,
    )


def _key(trial: LabelTrial) -> str:
    """Cache key of the scores; the number of permutations is no part of it."""
    kind = type(trial.estimator)
    params = trial.estimator.get_params(deep=False)
    settings = {
        "kind": f"{kind.__module__}:{kind.__qualname__}",
        "params": {name: parameter_key(value) for name, value in params.items() if name != "n_jobs"},
        "protocol": trial.protocol,
        "score": trial.score,
    }
    return run_key(fingerprint(trial.X, trial.classes), "labels", settings, trial.seed)


def _scores_of(text: str) -> dict[int, Scores]:
    data = json.loads(text)
    require_fields(data, {"scores": several(several(is_number, 3))})
    return {int(i): (held_out, seen) for i, held_out, seen in data["scores"]}


# ---- tests of a run ------------------------------------------------------------------------------


MOST_TESTED = 2_000  # rows: of more rows a sample is tested, as a test takes twenty fits


def with_accuracy(run: Run, estimator: Any, data: Data) -> Run:
    """A Run with its k-NN accuracy on held-out rows, and that of classifiers on the table."""
    if data.classes is None or data.split is None:
        return run
    run = replace(run, classifiers=data.classifiers)
    if not hasattr(estimator, "transform"):
        return run
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit of all rows has warned already
            found = held_out_accuracy(estimator, data.X, data.classes, data.split, needs_y=run.saw_classes)
    except Exception as error:  # the map stands without it
        return _with_warning(run, f"The accuracy on held-out rows could not be measured: {error}")
    return replace(run, accuracy=found)


def with_label_test(
    run: Run,
    estimator: Any,
    data: Data,
    n_permutations: int,
    seed: int,
    n_jobs: int | None,
    cache: RunCache,
    report: Callable[[int, int], None],
) -> Run:
    """A Run of a map that saw the classes, with its label permutation test."""
    if data.classes is None:
        return run
    rows = np.flatnonzero(data.classes >= 0)
    if len(rows) > MOST_TESTED:
        rows = np.sort(np.random.default_rng(seed).permutation(rows)[:MOST_TESTED])
    try:
        trial = LabelTrial.of(
            estimator,
            data.select_rows(rows)[0],
            data.classes[rows],
            protocol="honest",
            score="accuracy",
            seed=seed,
        )
        trial = replace(trial, quiet=True)
        test = permutation_null(trial, n_permutations, n_jobs, cache, run.method, report)
    except Exception as error:  # the map stands without it, and is not trusted
        return _with_warning(run, f"The labels that it learnt from could not be tested: {error}")
    return replace(run, label_test=test)


def _with_warning(run: Run, text: str) -> Run:
    return replace(run, warnings=(*run.warnings, text))
