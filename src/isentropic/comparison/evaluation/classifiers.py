"""What plain classifiers reach on the rows themselves: a map of the classes is worth no more than these."""

from __future__ import annotations

import warnings
from contextlib import suppress

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from ..._core.values import Floats, Integers
from ...dissimilarities import class_gaussians, posterior
from ...distances import EUCLIDEAN, Metric
from .fitting import Accuracy, Split, accuracy_between, shares_right

_MOST_WORK = 1e11  # products of numbers, beyond which a classifier is left out
_MOST_CELLS = 2e7  # of all covariances


def raw_accuracies(
    X: Floats, classes: Integers, split: Split, metric: Metric = "euclidean"
) -> dict[str, Accuracy]:
    """Accuracy of k-NN, QDA and LDA on the held-out rows of the table, each with Wilson's 95% interval.

    QDA is that of Gaussians whose covariances are shrunk towards the pooled one, so that small classes and
    constant columns have one too. One that would take too long, or has no solution, is left out, and so are
    those of Gaussians where the metric is another than the Euclidean.
    ``O(n m min(n, m))`` and, for QDA, ``O(n m r + c r^3)`` with ``r = min(n, m)``.
    """
    train, test = split.train, split.test
    found = {"k-NN": accuracy_between(X[train], classes[train], X[test], classes[test], metric=metric)}
    if metric not in EUCLIDEAN:
        return found
    names, codes = np.unique(classes[train], return_inverse=True)
    (n, m), c = X.shape, len(names)
    with suppress(np.linalg.LinAlgError, ValueError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if c > 1 and c * m**2 <= _MOST_CELLS and n * c * m**2 <= _MOST_WORK:
            voted = posterior(X[test], class_gaussians(X[train], codes)).argmax(axis=1)
            found["QDA"] = shares_right(names[voted], classes[test])
    with suppress(np.linalg.LinAlgError, ValueError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if c > 1 and n * m * min(n, m) <= _MOST_WORK:
            model = LinearDiscriminantAnalysis().fit(X[train], classes[train])
            found["LDA"] = shares_right(model.predict(X[test]), classes[test])
    return found
