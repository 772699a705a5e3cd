"""Learning from classes: who has one, what is guessed of rows that have none, and which rows are the same.

A method of this kind begins its ``fit(X, y)`` with :meth:`ClassLearner._taught`, calls
:meth:`ClassLearner._learn` before its family keeps the map, and asks :meth:`ClassLearner._shares` for the
classes that new rows may have. No label of a new row is ever asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import column_or_1d

from .._arguments import unmasked
from .._errors import IsentropicWarning, is_real, require, require_one_of, warn
from .._state import Absent, Array, State, StateError, Text, Value, Whole
from ..dissimilarities import ClassGaussians, ClassIndex, class_gaussians, posterior, votes
from ..distances import is_gower
from ..neighbors import RowIndex
from ..quality.labels import class_codes, missing_classes
from .embedder import class_names
from .input_rows import KnownRows, checked_rows, found_at_zero, one_place_for_equals
from .placement import RowKeeper

UNLABELLED = ("votes", "posterior", "neutral")


class ClassLearner(RowKeeper):
    """Keeps the class of each fitted row, and says which classes a new row may have.

    ``unlabelled`` says how: ``"votes"`` of the nearest labelled rows, the ``"posterior"`` of a Gaussian for
    each class, or ``"neutral"``, which leaves the term of the classes out. Rows of ``y`` may have none: they
    are placed as new ones, unless a method has them in its graph. Equal rows of two classes have two places.
    """

    _learns_from_y = True
    _state = State(
        _codes=Array("n", dtype=np.int64, least=-1, below="c"),  # -1: no class was given
        _fit_unlabelled=Text(*UNLABELLED),
        _n_votes=Whole(1),
        _gaussians=Absent(Value(ClassGaussians, c="c", m="m")),
    )
    _found_again: tuple[str, ...] = ("_index_of_labelled", "_index_of_classes")
    _index_of_labelled: RowIndex | None
    _index_of_classes: ClassIndex | None
    _gaussians: Any

    def _taught(self, X, y, *, metric="euclidean") -> tuple[np.ndarray, np.ndarray]:
        """Rows, and the class of each as a number from 0, -1 where ``y`` has none; sets ``classes_``."""
        name = type(self).__name__
        hint = f"{name} requires y to be passed, but the target y is None."  # as scikit-learn has it
        require(y is not None, "y", f"given, because {name} learns from it", y, hint)
        unlabelled = getattr(self, "unlabelled", "neutral")
        require_one_of("unlabelled", unlabelled, UNLABELLED)
        fits = unlabelled != "posterior" or not (metric == "precomputed" or is_gower(metric))
        must_be = "votes or neutral for distances that are given, or Gower's: these have no Gaussians"
        require(fits, "unlabelled", must_be, unlabelled)
        X = checked_rows(self, X, metric=metric)
        names, codes = half_labelled(y, len(X))
        self.classes_ = class_names(names)
        if len(names) == 1:
            warn("y has a single class: the map is that of the method without classes.", IsentropicWarning)
        return X, codes

    def _learn(self, X: np.ndarray, codes: np.ndarray, n_votes: int, unlabelled: str = "neutral") -> None:
        """Keep the classes, and what tells those of new rows, ``n_votes`` nearest labelled rows at most."""
        labelled = np.flatnonzero(codes >= 0)
        self._gaussians = class_gaussians(X[labelled], codes[labelled]) if unlabelled == "posterior" else None
        self._codes, self._fit_unlabelled = codes, unlabelled
        self._n_votes, self._index_of_labelled = min(n_votes, len(labelled)), None
        self._index_of_classes = None

    def _shares(
        self, X: np.ndarray, vote: Callable[[np.ndarray], np.ndarray] | None = None
    ) -> np.ndarray | None:
        """``p(c | x)`` of new rows, (b, c), each by itself; None where nothing is guessed.

        ``vote`` gives the classes, (b, k), of the nearest rows, where a method finds them itself.
        """
        if self._fit_unlabelled == "neutral":
            return None
        if self._fit_unlabelled == "posterior":
            return posterior(X, self._gaussians)
        return votes((vote or self._voters)(X), len(self.classes_))

    def _voters(self, X: np.ndarray) -> np.ndarray:
        """Classes of the nearest labelled rows."""
        labelled = np.flatnonzero(self._codes >= 0)
        if self._fit_metric == "precomputed":
            X = np.ascontiguousarray(X[:, labelled])
        near = self._labelled_rows(labelled).nearest(X, self._n_votes, n_jobs=self.n_jobs)[0]
        return self._codes[labelled[near]]

    def _labelled_rows(self, labelled: np.ndarray) -> RowIndex:
        index = getattr(self, "_index_of_labelled", None)
        if index is None:
            rows = np.empty((len(labelled), 0)) if self._known is None else self._known.X[labelled]
            index = self._index_of_labelled = RowIndex(rows, self._fit_metric)
        return index

    def _rows_by_class(self) -> ClassIndex:
        """The rows with a class, to be searched by a dissimilarity."""
        index = getattr(self, "_index_of_classes", None)
        if index is None:
            labelled = np.flatnonzero(self._codes >= 0)
            rows = np.empty((len(labelled), 0)) if self._known is None else self._known.X[labelled]
            index = self._index_of_classes = ClassIndex(rows, self._codes[labelled], self._fit_metric)
        return index

    # ---- which rows are the same one -----------------------------------------------------------

    def _remember(self, X: np.ndarray, classes: np.ndarray | None = None) -> None:
        super()._remember(X, None if self.metric == "precomputed" else self._likened(X)[1])

    def _find(self, X: np.ndarray) -> np.ndarray:
        if self._fit_metric != "precomputed":
            return super()._find(X)
        return _of_one_class(X, self._codes)

    def _one_place(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """Equal rows of a class get one place, and so do rows without a class that are equal to them."""
        like, codes = self._likened(X)
        if self.metric == "precomputed":
            return Z[like]
        return one_place_for_equals(np.column_stack([X, codes]), Z[like])

    def _likened(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For each row the one whose place it has, and its class: one without may equal some with a class."""
        like, codes = np.arange(len(X)), self._codes.copy()
        labelled, others = np.flatnonzero(codes >= 0), np.flatnonzero(codes < 0)
        if len(others):
            if self.metric == "precomputed":
                found = _of_one_class(X[np.ix_(others, labelled)], codes[labelled])
            else:
                found = KnownRows.of(X[labelled], codes[labelled]).find(X[others])
            like[others[found >= 0]] = labelled[found[found >= 0]]
        return like, codes[like]

    def _require_sound(self) -> None:
        super()._require_sound()
        if not (self._codes >= 0).any() or len(set(self._codes[self._codes >= 0])) != len(self.classes_):
            raise StateError("_codes", "must have rows of every class")
        if (getattr(self, "_gaussians", None) is None) == (self._fit_unlabelled == "posterior"):
            raise StateError("_gaussians", "must be there for posteriors, and for nothing else")
        if self._n_votes > np.count_nonzero(self._codes >= 0):
            raise StateError("_n_votes", "must be at most the number of rows with a class")


def half_labelled(y: Any, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """The classes of ``y``, sorted, and the number of each row's, -1 where it is missing.

    Missing are NaN, None, pd.NA and empty text; -1 itself is a class like any other.

    >>> half_labelled(["b", None, "a"], 3)[1].tolist()
    [1, -1, 0]
    """
    y = np.asarray(unmasked("y", y, holes=True))
    require(y.ndim < 2 or y.shape[1:] == (1,), "y", "one class a row", y.shape)
    y = column_or_1d(y, warn=True)
    require(len(y) == n_rows, "y", f"one class, or a missing one, for each of the {n_rows} rows", y.shape)
    missing = missing_classes(y)
    given = y[~missing]
    must_be = "a class for at least two rows"
    require(len(given) >= 2, "y", must_be, f"{len(given)} with one", "Label some rows, or take a map of all.")
    if given.dtype == object and all(is_real(value) for value in given):
        given = np.array(given.tolist())
    codes = np.full(n_rows, -1)
    codes[~missing] = class_codes(given, len(given))
    return given[np.unique(codes[~missing], return_index=True)[1]], codes


def _of_one_class(D: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """The first row at distance 0 of each row of distances; -1 without one, or where they are of two."""
    classes = (np.unique(codes[(row == 0) & (codes >= 0)]) for row in D)
    return np.where([len(several) > 1 for several in classes], -1, found_at_zero(D))
