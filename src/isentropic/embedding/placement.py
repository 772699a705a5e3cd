"""Out-of-sample extension, the one ``transform``: a fitted row has its own place, any other is placed alone.

A method says in ``_place`` where new rows go, each by itself against the fitted state. One whose map is of
the fitted rows, and not a function of any row, keeps these rows to find them again: :class:`RowKeeper`.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._core.specs import Sizes
from .._core.state import Absent, Array, Checked, OneOf, State, StateError, Value
from .._core.values import Diffusion, Geodesic, Gower
from ..distances import GowerUnits, checked_metric, hashes_of
from ..kernels._jit import threads
from .embedder import Embedder
from .input_rows import (
    KnownRows,
    checked_coordinates,
    checked_rows,
    metric_of_rows,
    one_place_for_equals,
    require_units,
    rows_at_zero,
)


class Placer(Embedder):
    """An embedder that places new rows."""

    _state = State(_units=Absent(Value(GowerUnits, m="m")))
    _fit_metric: Any = "euclidean"
    _found_again: tuple[str, ...] = ()  # large attributes, beside those of bases, that others give: not saved

    def transform(self, X) -> np.ndarray:
        """Coordinates of rows, each placed by itself; a fitted row gets its own coordinates."""
        check_is_fitted(self)
        X = checked_rows(self, X, metric=metric_of_rows(self._fit_metric), fitting=False)
        known = self._find(X)
        Z, new = self.embedding_[known], np.flatnonzero(known < 0)
        if len(new):
            Z[new] = np.nan
            with suppress(np.linalg.LinAlgError):  # of numbers that overflowed: rows without a place are told
                Z[new] = self._place(X if len(new) == len(X) else X[new])
        return checked_coordinates(Z)

    def _place(self, X: np.ndarray) -> np.ndarray:
        """Coordinates of rows that are not fitted ones, each independent of the others."""
        raise NotImplementedError

    def _find(self, X: np.ndarray) -> np.ndarray:
        """The fitted row that each row of ``X`` is, or -1: for any where ``_place`` is the map itself."""
        return np.full(len(X), -1)

    def __getstate__(self):
        """Without what is large and can be found again."""
        state = super().__getstate__()
        left = {name for base in type(self).__mro__ for name in vars(base).get("_found_again", ())}
        return {name: value for name, value in state.items() if name not in left}


class RowKeeper(Placer):
    """A placer that knows its fitted rows: by their values, or, where distances are given, at distance 0.

    A method that learns from classes gives them to :meth:`_remember`. Its equal rows may then have a place
    for each class; such a row, which comes without its class, gets that of the class that most of them have.
    """

    _state = State(
        _fit_metric=OneOf(Checked(checked_metric), Value(Geodesic), Value(Diffusion), Value(Gower)),
        _known=Absent(Value(KnownRows, n="n", m="m")),
        _hashes=Absent(Array("n", dtype=np.uint64)),
    )
    _known: Any  # KnownRows, or None where distances are given
    _hashes: np.ndarray | None  # of the rows of given distances

    def _remember(self, X: np.ndarray, classes: np.ndarray | None = None) -> None:
        """Keep the metric and the rows, copied: the caller may set the one and write into the other."""
        self._fit_metric, self._known, self._hashes = self.metric, None, None
        with threads(self.n_jobs):
            if self._fit_metric == "precomputed":
                self._hashes = hashes_of(X)
            else:
                self._known = KnownRows.of(X.copy(), classes)

    def _find(self, X: np.ndarray) -> np.ndarray:
        if self._fit_metric == "precomputed":
            return self._at_zero(X)[0]
        with threads(self.n_jobs):
            return self._known_rows().find(X)

    def _at_zero(self, D: np.ndarray) -> tuple[np.ndarray, dict[int, np.ndarray]]:
        with threads(self.n_jobs):
            return rows_at_zero(D, getattr(self, "_hashes", None))

    def _one_place(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """Coordinates of fitted rows, the same for those that are the same row."""
        return one_place_for_equals(X, Z)

    def _known_rows(self) -> Any:
        """The fitted rows; None where distances are given."""
        return getattr(self, "_known", None)

    def _require_sound(self) -> None:
        if (self._known_rows() is None) != (self._fit_metric == "precomputed"):
            raise StateError("_known", "must be there for rows of features, and for no others")
        given = metric_of_rows(self._fit_metric)
        if not isinstance(given, Gower):
            Checked(checked_metric).check(given, "_fit_metric.metric", Sizes())
        require_units(self, given)
        if given == "precomputed" and self.n_features_in_ != len(self.embedding_):
            raise StateError("n_features_in_", "must be the number of rows, for distances to them")
