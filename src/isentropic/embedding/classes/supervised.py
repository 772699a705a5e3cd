"""Learning from classes: who has one, what is guessed of rows that have none, and which rows are the same.

A method of this kind begins its ``fit(X, y)`` with :meth:`ClassLearner._taught`, calls
:meth:`ClassLearner._learn` before its family keeps the map, and asks :meth:`ClassLearner._shares` for the
classes that new rows may have. No label of a new row is ever asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..._core.errors import IsentropicWarning, require, require_one_of, warn
from ..._core.state import Absent, Array, OneOf, State, StateError, Text, Value, Whole
from ...dissimilarities import ClassGaussians, ClassIndex, WideGaussians, class_gaussians, posterior, votes
from ...distances import is_gower
from ...neighbors import RowIndex
from ...tables.class_labels import NO_CLASSES, half_labelled
from ..input_rows import KnownRows, checked_rows, metric_of_rows, one_place_for_equals
from ..placement import RowKeeper
from ..training_data import UNLABELLED, class_names


class ClassLearner(RowKeeper):
    """Keeps the class of each fitted row, and says which classes a new row may have.

    ``unlabelled`` says how: ``"votes"`` of the nearest labelled rows, the ``"posterior"`` of a Gaussian for
    each class, or ``"neutral"``, which leaves the term of the classes out. Rows of ``y`` may have none: they
    are placed as new ones, unless a method has them in its graph. Equal rows of two classes have two places:
    a row that comes without its class gets that of the class that most of them have, with a warning.
    """

    _learns_from_y = True
    _hint_for_numbers = NO_CLASSES
    _state = State(
        _codes=Array("n", dtype=np.int64, least=-1, below="c"),  # -1: no class was given
        _fit_unlabelled=Text(*UNLABELLED),
        _n_votes=Whole(1),
        _gaussians=Absent(OneOf(Value(ClassGaussians, c="c", m="m"), Value(WideGaussians, c="c", m="m"))),
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
        names, codes = half_labelled(y, len(X), self._hint_for_numbers)
        self.classes_ = class_names(names)
        if len(names) == 1:
            warn("y has a single class: the map is that of the method without classes.", IsentropicWarning)
        return X, codes

    def _learn(
        self,
        X: np.ndarray,
        codes: np.ndarray,
        n_votes: int,
        unlabelled: str = "neutral",
        gaussians: ClassGaussians | WideGaussians | None = None,
    ) -> None:
        """Keep the classes, and what tells those of new rows, ``n_votes`` nearest labelled rows at most.

        ``gaussians`` of the classes, where a method has them already.
        """
        labelled = np.flatnonzero(codes >= 0)
        if unlabelled != "posterior":
            gaussians = None
        elif gaussians is None:
            gaussians = class_gaussians(X[labelled], codes[labelled])
        self._gaussians = gaussians
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
        if metric_of_rows(self._fit_metric) == "precomputed":
            X = np.ascontiguousarray(X[:, labelled])
        near = self._labelled_rows(labelled).nearest(X, self._n_votes, n_jobs=self.n_jobs)[0]
        return self._codes[labelled[near]]

    def _labelled_rows(self, labelled: np.ndarray) -> RowIndex:
        index = getattr(self, "_index_of_labelled", None)
        if index is None:
            rows = np.empty((len(labelled), 0)) if self._known is None else self._known.X[labelled]
            index = self._index_of_labelled = RowIndex(rows, metric_of_rows(self._fit_metric))
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

    @property
    def _has_classes(self) -> bool:
        """Whether the fit was given some: a method that may go without them has no codes then."""
        return vars(self).get("_codes") is not None

    def _remember(self, X: np.ndarray, classes: np.ndarray | None = None) -> None:
        known_by_values = self._has_classes and self.metric != "precomputed"
        super()._remember(X, self._likened(X)[1] if known_by_values else None)

    def _find(self, X: np.ndarray) -> np.ndarray:
        if not self._has_classes:
            return super()._find(X)
        if self._fit_metric == "precomputed":
            found, several = self._voted_at_zero(X)
        else:
            found = super()._find(X)
            several = (found >= 0) & ~self._known.one_class[found]
        if several.any():
            warn(
                f"{np.count_nonzero(several)} of {len(X)} rows have the values of fitted rows of several "
                "classes: each gets the place of the class that most of those have.",
                IsentropicWarning,
            )
        return found

    def _voted_at_zero(self, D: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The row at distance 0, of the class that most such rows have; and whether these are of several."""
        (found, alike), several = self._at_zero(D), np.zeros(len(D), np.bool_)
        for i, rows in alike.items():
            labelled = rows[self._codes[rows] >= 0]
            sizes = np.bincount(self._codes[labelled])
            if np.count_nonzero(sizes) > 1:
                found[i], several[i] = labelled[self._codes[labelled] == sizes.argmax()][0], True
        return found, several

    def _one_place(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """Equal rows of a class get one place, and so do rows without a class that are equal to them."""
        if not self._has_classes:
            return super()._one_place(X, Z)
        like, codes = self._likened(X)
        return one_place_for_equals(X, Z[like], codes)

    def _likened(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For each row the one whose place it has, and its class: one without may equal some with a class."""
        like, codes = np.arange(len(X)), self._codes.copy()
        labelled, others = np.flatnonzero(codes >= 0), np.flatnonzero(codes < 0)
        if len(others):
            found = KnownRows.of(X[labelled], codes[labelled]).find(X[others])
            like[others[found >= 0]] = labelled[found[found >= 0]]
        return like, codes[like]

    def _require_sound(self) -> None:
        super()._require_sound()
        if not self._has_classes:
            return
        known = self._known_rows()
        if known is not None and known.one_class is None:
            raise StateError("_known.one_class", "must be there where classes are")
        if not (self._codes >= 0).any() or len(set(self._codes[self._codes >= 0])) != len(self.classes_):
            raise StateError("_codes", "must have rows of every class")
        if (getattr(self, "_gaussians", None) is None) == (self._fit_unlabelled == "posterior"):
            raise StateError("_gaussians", "must be there for posteriors, and for nothing else")
        if self._n_votes > np.count_nonzero(self._codes >= 0):
            raise StateError("_n_votes", "must be at most the number of rows with a class")
