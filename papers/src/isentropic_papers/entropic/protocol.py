"""What was measured of the entropic methods: silhouettes of all rows, and classifiers on half of them.

The map is of all rows, those of the test half included (supervised maps: with their classes), and is not
rescaled; half of the rows teach the classifiers, the other half judges them, and judges which parameter and
which classifier are printed. The nulls go the same way with labels at random and with maps at random: what
they reach is what the protocol itself is worth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from sklearn.metrics import silhouette_score

from isentropic._core.values import Floats, Integers
from isentropic.experiments.classifiers import half_scores
from isentropic.experiments.protocols import permuted_null

from .maps import library_map, published_map
from .sets import prepared

Scores = dict[str, float]
Made = Callable[[float | None], Floats]  # the map of a parameter


def silhouettes(
    source: str,
    method: str,
    parameters: Sequence[float | None],
    *,
    classifiers: Sequence[str] = (),
    library: bool = False,
) -> Scores:
    """Silhouette of the classes in the map, for each parameter (k, or a percentile) and the best of them.

    With ``classifiers`` also the best accuracy of any of them on the test half, at any parameter, and what
    the parameters give on average, ``unchosen``.
    """
    X, y = prepared(source)
    make = library_map if library else published_map
    return silhouettes_of(partial(make, method, X, y), y, parameters, classifiers)


def silhouettes_of(
    made: Made, y: Integers, parameters: Sequence[float | None], classifiers: Sequence[str] = ()
) -> Scores:
    """The same of whatever makes the maps."""
    found: Scores = {}
    scores = []
    for parameter in parameters:
        if parameter is not None and parameter >= len(y):
            continue
        Z = made(parameter)
        found[f"silhouette at {parameter}"] = float(silhouette_score(Z, y))
        if classifiers:
            scores.append(_summed(half_scores(Z, y, classifiers, battery="article", measure="accuracy")))
    found["silhouette"] = max(found.values())
    return found | (_best(scores, "max") if classifiers else {})


def classified(
    source: str,
    method: str,
    parameters: Sequence[float | None],
    battery: str,
    classifiers: Sequence[str],
    *,
    measure: str = "accuracy",
    choice: str = "mean",
    alphabetical: bool = False,
) -> Scores:
    """Scores on the test half at the parameter that is best there, by the mean or the max of the classifiers.

    ``mean`` and ``max`` are over the classifiers; ``unchosen`` is what the parameters give on average: the
    difference is what choosing on the test half adds.
    """
    X, y = prepared(source, alphabetical)
    made = partial(published_map, method, X, y)
    return classified_of(made, y, parameters, battery, classifiers, measure, choice)


def classified_of(
    made: Made,
    y: Integers,
    parameters: Sequence[float | None],
    battery: str,
    classifiers: Sequence[str],
    measure: str = "accuracy",
    choice: str = "mean",
) -> Scores:
    """The same of whatever makes the maps."""

    def scores(parameter: float | None) -> Scores:
        return _summed(half_scores(made(parameter), y, classifiers, battery=battery, measure=measure))

    return _best([scores(parameter) for parameter in parameters], choice)


def permuted(
    source: str,
    method: str,
    battery: str,
    classifiers: Sequence[str],
    *,
    measure: str,
    repeats: int = 3,
    alphabetical: bool = False,
) -> Scores:
    """The best classifier's score where classes are permuted among all rows, before the map sees them.

    The mean over ``repeats``, with the ends of its 95% interval. Nothing can be learnt from such labels.
    """
    X, y = prepared(source, alphabetical)

    def score(labels: Integers) -> float:
        Z = published_map(method, X, labels)
        return max(half_scores(Z, labels, classifiers, battery=battery, measure=measure).values())

    null = permuted_null(score, y, repeats)
    return {"max": null.mean, "max low": null.low, "max high": null.high}


def random_projections(
    source: str, battery: str, classifiers: Sequence[str], *, n_projections: int = 49, seed: int = 0
) -> Scores:
    """As many random projections as there were parameters, the best chosen on the test half likewise."""
    X, y = prepared(source)
    draws = np.random.default_rng(seed)

    def scores() -> Scores:
        Z = X @ draws.normal(size=(X.shape[1], 2))
        return _summed(half_scores(Z / Z.std(axis=0), y, classifiers, battery=battery, measure="accuracy"))

    return _best([scores() for _ in range(n_projections)], "mean")


def _summed(scores: Scores) -> Scores:
    values = list(scores.values())
    return scores | {"mean": float(np.mean(values)), "max": max(values)}


def _best(found: Sequence[Scores], choice: str) -> Scores:
    first = max(found, key=lambda scores: scores[choice])
    return first | {"unchosen": float(np.mean([scores[choice] for scores in found]))}
