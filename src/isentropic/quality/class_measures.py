"""Class measures of a map: silhouette, k-NN accuracy, Cohen's kappa."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._core.errors import InvalidInputError, message, require, require_count
from .._core.runtime import row_blocks
from .._core.values import DistanceRows, Floats, Integers
from ..distances import Metric, rows_per_block, scaled_distance_rows
from ..kernels._jit import threads
from ..kernels.distances.euclidean import class_sums
from ..kernels.nearest import nearest_in_rows
from ..neighbors import class_votes
from ..tables.class_labels import class_codes
from .inputs import mean_measure, share_interval
from .measures import MEASURES, Measure


def silhouette(Z: Any, y: Any, *, metric: Metric = "euclidean", n_jobs: int | None = None) -> float:
    """Mean silhouette of the rows of ``Z`` with classes ``y``, as scikit-learn's ``silhouette_score``.

    ``(b - a) / max(a, b)`` with a the mean distance to the other rows of the same class and b that to the
    nearest other class; 0 for a row alone in its class. ``O(n^2)`` time, ``O(n c)`` memory for c classes.

    >>> round(silhouette([[0.0], [1.0], [10.0], [11.0]], ["a", "a", "b", "b"]), 12)
    0.899749373434
    """
    mapped, classes = _labelled(Z, y, metric, n_jobs)
    _require_classes(classes, "silhouette")
    return _silhouette(_row_terms(mapped, classes, None, 1, n_jobs), mapped.n, sampled=False).value


def knn_accuracy(
    Z: Any, y: Any, n_neighbors: int = 10, *, metric: Metric = "euclidean", n_jobs: int | None = None
) -> float:
    """Share of rows whose class is the most frequent one among their ``n_neighbors`` nearest other rows.

    Ties of the vote go to the class that sorts first, as in scikit-learn. With a single class it is 1.
    ``O(n^2)`` time, ``O(n c)`` memory for c classes.

    >>> knn_accuracy([[0.0], [1.0], [10.0], [11.0]], ["a", "a", "b", "b"], n_neighbors=1)
    1.0
    """
    mapped, classes = _labelled(Z, y, metric, n_jobs)
    return _accuracy(_row_terms(mapped, classes, None, n_neighbors, n_jobs), mapped.n, sampled=False).value


def kappa(
    Z: Any, y: Any, n_neighbors: int = 10, *, metric: Metric = "euclidean", n_jobs: int | None = None
) -> float:
    """Cohen's kappa of the classes ``y`` and those that the nearest rows vote for (:func:`knn_accuracy`).

    ``(n sum_c m_cc - sum_c m_c+ m_+c) / (n^2 - sum_c m_c+ m_+c)`` with m the confusion matrix: 0 is chance.

    >>> kappa([[0.0], [1.0], [10.0], [11.0]], ["a", "a", "b", "b"], n_neighbors=1)
    1.0
    """
    mapped, classes = _labelled(Z, y, metric, n_jobs)
    _require_classes(classes, "kappa")
    return _kappa(_row_terms(mapped, classes, None, n_neighbors, n_jobs), mapped.n, sampled=False).value


def label_measures(
    Z: DistanceRows,
    y: Any,
    sampled_rows: Integers | None = None,
    *,
    n_neighbors: int = 10,
    n_jobs: int | None = None,
) -> dict[str, Measure]:
    """The measures of this module in one pass; of sampled rows with a 95% interval.

    With one class only the accuracy is there, and its note says why; with a class for each row no silhouette.
    """
    classes = class_codes(y, Z.n)
    terms = _row_terms(Z, classes, sampled_rows, n_neighbors, n_jobs)
    sampled = sampled_rows is not None
    n_classes = int(classes.max()) + 1
    accuracy = _accuracy(terms, Z.n, sampled)
    if n_classes == 1:
        note = "a single class: silhouette and kappa are undefined"
        return {"knn_accuracy": replace(accuracy, note=note)}
    found = {"knn_accuracy": accuracy, "kappa": _kappa(terms, Z.n, sampled)}
    return found if n_classes == Z.n else {"silhouette": _silhouette(terms, Z.n, sampled), **found}


def _labelled(Z: Any, y: Any, metric: Metric, n_jobs: int | None) -> tuple[DistanceRows, Integers]:
    mapped = scaled_distance_rows(Z, metric, name="Z", n_jobs=n_jobs)
    require(mapped.n >= 2, "Z", "a table of at least 2 rows", mapped.n)
    return mapped, class_codes(y, mapped.n)


def _require_classes(classes: Integers, name: str) -> None:
    n_classes = int(classes.max()) + 1
    require(n_classes >= 2, "y", f"at least two classes for {name}", n_classes)
    if name == "silhouette":
        must_be = f"at most {len(classes) - 1} classes, so that some class has two rows"
        require(n_classes < len(classes), "y", must_be, n_classes)


# ---- rows --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Terms:
    """Per row: its class, the class that its neighbours vote for, and its silhouette."""

    own: Integers
    voted: Integers
    silhouettes: Floats


def _row_terms(
    Z: DistanceRows, classes: Integers, sampled_rows: Integers | None, n_neighbors: int, n_jobs: int | None
) -> _Terms:
    must_be = f"an integer from 1 to {Z.n - 1}, the number of other rows"
    n_neighbors = require_count("n_neighbors", n_neighbors, must_be, most=Z.n - 1)
    rows = np.arange(Z.n) if sampled_rows is None else np.asarray(sampled_rows)
    sizes = np.bincount(classes)
    voted, silhouettes = np.empty(len(rows), np.int64), np.empty(len(rows))
    for block in row_blocks(len(rows), "labels of neighbours", size=rows_per_block(Z.n)):
        D = Z.rows(rows[block])
        sums = np.zeros((len(D), len(sizes)))
        nearest = np.empty((len(D), n_neighbors), np.int32)
        with threads(n_jobs):
            class_sums(D, classes, sums)
            nearest_in_rows(D, rows[block], nearest, np.empty(nearest.shape))
        silhouettes[block] = _silhouettes(sums, classes[rows[block]], sizes)
        voted[block] = class_votes(classes[nearest], len(sizes)).argmax(axis=1)
    return _Terms(classes[rows], voted, silhouettes)


def _silhouettes(sums: Floats, own: Integers, sizes: Integers) -> Floats:
    every = np.arange(len(own))
    if len(sizes) == 1:
        return np.zeros(len(own))
    others = sizes[own] - 1
    inside = sums[every, own] / np.maximum(others, 1)
    means = sums / sizes
    means[every, own] = np.inf
    outside = means.min(axis=1)
    larger = np.maximum(inside, outside)
    defined = (others > 0) & (larger > 0)
    return np.divide(outside - inside, larger, out=np.zeros(len(own)), where=defined)


# ---- measures ----------------------------------------------------------------------------------


def _silhouette(terms: _Terms, n: int, sampled: bool) -> Measure:
    return mean_measure(terms.silhouettes, n, sampled, MEASURES["silhouette"].measure())


def _accuracy(terms: _Terms, n: int, sampled: bool) -> Measure:
    agree = float((terms.own == terms.voted).mean())
    low, high = share_interval(agree, len(terms.own), n) if sampled else (None, None)
    return replace(MEASURES["knn_accuracy"].measure(agree), low=low, high=high)


def _kappa(terms: _Terms, n: int, sampled: bool) -> Measure:
    own, voted = _class_shares(terms.own, terms.voted)
    agree = terms.own == terms.voted
    by_chance = float(own @ voted)
    value = cohen_kappa(terms.own, terms.voted)
    # what each row adds to first order: to the agreement, and to that by chance
    chance = voted[terms.own] + own[terms.voted] - 2 * by_chance
    rows = (agree - agree.mean()) - (1 - value) * chance
    measure = MEASURES["kappa"].measure(value)
    if not sampled:
        return measure
    # that of the agreement, not empty where all rows agree, as much wider as chance varies too
    wider = float(rows.std() / agree.std()) if 0 < agree.mean() < 1 else 1.0
    ends = np.array(share_interval(float(agree.mean()), len(agree), n)) - agree.mean()
    low, high = np.clip(value + wider * ends / (1 - by_chance), *measure.range).tolist()
    return replace(measure, low=low, high=high)


def cohen_kappa(own: Integers, voted: Integers) -> float:
    """Cohen's kappa: agreement beyond that by chance, as a share of what there is beyond it."""
    by_chance = float(np.dot(*_class_shares(own, voted)))
    if by_chance == 1:
        raise InvalidInputError(message("y", "at least two classes for kappa", 1))
    return float(((own == voted).mean() - by_chance) / (1 - by_chance))


def _class_shares(own: Integers, voted: Integers) -> tuple[Floats, Floats]:
    n, n_classes = len(own), int(max(own.max(), voted.max())) + 1
    return np.bincount(own, minlength=n_classes) / n, np.bincount(voted, minlength=n_classes) / n
