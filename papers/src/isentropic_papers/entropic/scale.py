"""Maps of the entropic sources at unit variance: what is left of a column that the scale of a map made."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isentropic.experiments.classifiers import half_scores
from isentropic.experiments.tasks import PUBLISHED, Task

from .maps import published_map
from .sets import prepared

SCALED = "(unit variance)"  # marks the column of a method whose map is rescaled, which no source prints
_WORK = f"{__name__}:classified_at_unit_variance"


def classified_at_unit_variance(
    source: str, method: str, battery: str, classifiers: Sequence[str]
) -> dict[str, float]:
    """Accuracies on the test half as published, but for the map: its columns have variance 1.

    Eigenvectors have length 1, so that coordinates shrink with the root of n; a classifier that looks at
    distances with a unit of its own then sees one place.
    """
    X, y = prepared(source)
    Z = published_map(method, X, y)
    spread = Z.std(axis=0)
    Z = Z / np.where(spread > 0, spread, 1.0)
    scores = half_scores(Z, y, classifiers, battery=battery, measure="accuracy")
    return scores | {"mean": float(np.mean(list(scores.values())))}


def scaled_task(table: str, dataset: str, method: str, file: str, classifiers: Sequence[str]) -> Task:
    """Of a method of source 000."""
    arguments = {"source": file, "method": method, "battery": "article", "classifiers": list(classifiers)}
    return Task("000", table, dataset, f"{method} {SCALED}", PUBLISHED, _WORK, arguments, (file,))
