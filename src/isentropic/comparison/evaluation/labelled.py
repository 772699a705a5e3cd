"""What the classes say of a map: accuracy on held-out rows, and, where it saw them, with permuted labels."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..store import Store
from .data import Data
from .fitting import held_out_accuracy
from .label_scores import LabelTrial
from .label_tests import null_beside
from .runs import Run

MOST_TESTED = 2_000  # rows: of more so many are drawn, as a test takes twenty fits


def with_accuracy(run: Run, estimator: Any, data: Data) -> Run:
    """The accuracy of k-NN on rows that were held out, and that of classifiers on the table."""
    if data.classes is None or data.split is None:
        return run
    run = replace(run, classifiers=data.classifiers)
    if not hasattr(estimator, "transform"):
        return run
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what there is to warn of, the fit of all rows has said
            found = held_out_accuracy(estimator, data.X, data.classes, data.split, needs_y=run.saw_classes)
    except Exception as error:  # the map stands without it
        return _warned(run, f"The accuracy on held-out rows could not be measured: {error}")
    return replace(run, accuracy=found)


def with_label_test(
    run: Run,
    estimator: Any,
    data: Data,
    n_permutations: int,
    seed: int,
    n_jobs: int | None,
    store: Store,
    report: Callable[[int, int], None],
) -> Run:
    """The honest test of the labels of a map that saw the classes."""
    if data.classes is None:
        return run
    rows = np.flatnonzero(data.classes >= 0)
    if len(rows) > MOST_TESTED:
        rows = np.sort(np.random.default_rng(seed).permutation(rows)[:MOST_TESTED])
    try:
        trial = LabelTrial.of(
            estimator, data.taken(rows)[0], data.classes[rows], protocol="honest", score="accuracy", seed=seed
        )
        trial = replace(trial, quiet=True)
        test = null_beside(trial, n_permutations, n_jobs, store, run.method, report)
    except Exception as error:  # the map stands without it, and is not trusted
        return _warned(run, f"The labels that it learnt from could not be tested: {error}")
    return replace(run, label_test=test)


def _warned(run: Run, text: str) -> Run:
    return replace(run, warnings=(*run.warnings, text))
