"""The table that methods are compared on, and what every map is measured against."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from ..._core.arguments import as_numbers
from ..._core.errors import InvalidInputError, IsentropicError, message, require
from ..._core.sparse_rows import is_sparse
from ..._core.values import Floats, Integers
from ...dissimilarities import class_gaussians, posterior
from ...distances import EUCLIDEAN, Metric, in_units, is_gower, metric_name, rows_of
from ...tables.class_labels import as_labels, compared_classes, unlabelled_as_nan
from ..explain.column_relation import column_relation
from .fitting import Accuracy, Split, accuracy_between, accuracy_interval
from .runs import fingerprint


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """The compared table: rows, classes, held-out split, classifiers, metric."""

    X: Floats
    y: Any  # as given, for methods that learn from it
    classes: Integers | None  # -1 where a row has none
    split: Split | None
    classifiers: Mapping[str, Accuracy]  # on the held-out rows of the table itself, by name
    key: str
    relation: tuple[float, float, float] | None  # of its columns: strength, p and density
    metric: Metric = "euclidean"  # of the rows

    @property
    def is_euclidean(self) -> bool:
        return self.metric in EUCLIDEAN

    @property
    def rows(self) -> Floats:
        """The rows in the units of the metric."""
        return in_units(self.X, self.metric)

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any,
        seed: int,
        metric: Metric = "euclidean",
        *,
        measured: bool = True,
        with_copies: Floats | None = None,
    ) -> Data:
        """Check the table; ``measured``: also find what its maps are measured against.

        ``with_copies`` is the table with its identical rows, where X has each once: how often they are there
        says whether columns are related.
        """
        if is_sparse(X):
            hint = (
                "Give rank=50 when it is loaded: its rows are compared by the cosines of so many components."
            )
            raise InvalidInputError(message("X", "dense to be compared", f"a sparse table {X.shape}", hint))
        X = as_numbers("X", X, None, holes=True, infinite=True)
        require(X.ndim == 2 and X.shape[1] >= 1, "X", "a table of rows and columns", X.shape)
        require(len(X) >= 4, "X", "a table of at least 4 rows", len(X), "Fewer have nothing to compare.")
        finite = not np.isinf(X).any() if is_gower(metric) else np.isfinite(X).all()
        hint = "Rows with missing values are compared by metric='gower'."
        require(bool(finite), "X", "finite everywhere", "values that are missing or infinite", hint)
        classes = split = None
        classifiers: dict[str, Accuracy] = {}
        if y is not None:
            y = as_labels(y)
            require(y.shape == (len(X),), "y", f"one class for each of {len(X)} rows", y.shape)
            with suppress(IsentropicError):  # a target of numbers has no classes
                classes = compared_classes(y, len(X))[1]
                y = unlabelled_as_nan(y, classes)
        key = fingerprint(X, y)
        if metric not in EUCLIDEAN:
            key = f"{key} by {metric_name(metric) if callable(metric) else metric!r}"
        if not measured:
            return cls(X, y, classes, None, {}, key, None, metric)
        if classes is not None and metric != "precomputed":  # of which no rows can be held out
            split = Split.of(classes, seed)
        if classes is not None and split is not None:
            classifiers = classifier_accuracies(in_units(X, metric), classes, split, metric)
        found = column_relation(X if with_copies is None else with_copies, seed, metric)
        relation = None if found is None else (found.strength, found.p_value, found.density)
        return cls(X, y, classes, split, classifiers, key, relation, metric)

    def select_rows(self, rows: Integers | None) -> tuple[Floats, Any]:
        """X and y of some rows; None for all."""
        if rows is None:
            return self.X, self.y
        X = rows_of(self.X, rows, self.metric)
        return np.ascontiguousarray(X), None if self.y is None else self.y[rows]


# ---- classifiers on the table itself -------------------------------------------------------------


_MOST_WORK = 1e11  # products of numbers, beyond which a classifier is left out
_MOST_CELLS = 2e7  # of all covariances


def classifier_accuracies(
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
            found["QDA"] = accuracy_interval(names[voted], classes[test])
    with suppress(np.linalg.LinAlgError, ValueError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if c > 1 and n * m * min(n, m) <= _MOST_WORK:
            model = LinearDiscriminantAnalysis().fit(X[train], classes[train])
            found["LDA"] = accuracy_interval(model.predict(X[test]), classes[test])
    return found
