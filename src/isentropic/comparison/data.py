"""The table that methods are compared on, and what every one of them is measured against."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._errors import IsentropicError, require
from .._values import Floats, Integers
from ..quality.labels import class_codes
from .fitting import Accuracy, Split, accuracy_between
from .store import fingerprint
from .structure import column_relation


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """The table, and what every method is measured against."""

    X: Floats
    y: Any  # as given, for methods that learn from it
    classes: Integers | None
    split: Split | None
    accuracy: Accuracy | None  # of k-NN in the data
    mark: str
    relation: tuple[float, float] | None  # of its columns: strength and chance

    @classmethod
    def of(cls, X: Any, y: Any, seed: int) -> Data:
        X = np.ascontiguousarray(X, float)
        require(X.ndim == 2 and X.shape[1] >= 1, "X", "a table of rows and columns", X.shape)
        require(len(X) >= 4, "X", "a table of at least 4 rows", len(X), "Fewer have nothing to compare.")
        require(bool(np.isfinite(X).all()), "X", "finite everywhere", "values that are missing or infinite")
        classes = split = accuracy = None
        if y is not None:
            y = np.asarray(y)
            require(y.shape == (len(X),), "y", f"one class for each of {len(X)} rows", y.shape)
            with suppress(IsentropicError):  # a target of numbers has no classes
                classes = class_codes(y, len(X))
        if classes is not None:
            split = Split.of(classes, seed)
        if classes is not None and split is not None:
            train, test = split.train, split.test
            accuracy = accuracy_between(X[train], classes[train], X[test], classes[test])
        found = column_relation(X, seed)
        relation = None if found is None else (found.strength, found.p_value)
        return cls(X, y, classes, split, accuracy, fingerprint(X, y), relation)
