"""Rows that a saved model was seen to place: by them another machine checks its bits."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..._core.errors import FileFormatError, IsentropicError

if TYPE_CHECKING:
    from ..._core.values import Floats

_ROWS = 100
_MOST = 200_000  # numbers


@dataclass(frozen=True, slots=True, eq=False)
class Witness:
    """Rows, as the model takes them, and where it placed them."""

    rows: Floats  # (r, m)
    places: Floats  # (r, d)

    def to_json(self) -> dict[str, Any]:
        return {"rows": self.rows.tolist(), "places": self.places.tolist()}


def witness_of(estimator: Any, X: Floats) -> Witness | None:
    """Rows half-way between rows of the table, with their places; None for a model that places none."""
    import numpy as np

    from ..._core.sparse_rows import SparseRows

    n, m = X.shape
    chosen = X[np.linspace(0, n - 1, max(2, min(_ROWS, n, _MOST // m))).astype(np.int64)]
    if isinstance(chosen, SparseRows):
        chosen = chosen.tocsr().toarray()
    chosen = chosen[np.isfinite(chosen).all(axis=1)]  # rows with holes are left to those without
    if not len(chosen):
        return None
    return placed_by(estimator, (chosen + np.roll(chosen, 1, axis=0)) / 2)


def placed_by(estimator: Any, rows: Floats) -> Witness | None:
    """The rows where this model places them; None for one that does not."""
    if not hasattr(estimator, "transform"):
        return None
    with suppress(IsentropicError, ValueError):  # a model that refuses the rows is saved all the same
        return Witness(rows, places_of(estimator, rows))
    return None


def places_of(estimator: Any, rows: Floats) -> Floats:
    """Where the model places rows, which it takes as it was fitted: dense or sparse."""
    from scipy.sparse import csr_array

    from ...embedding.input_rows import holds_sparse

    places: Floats = estimator.transform(csr_array(rows) if holds_sparse(estimator) else rows)
    return places


def read_witness(extra: dict[str, Any], estimator: Any, path: Path) -> Witness | None:
    """As it was saved; None where there is none."""
    import numpy as np

    from ..._core.models.io import refusal

    if "witness" not in extra:
        return None
    try:
        rows, places = (np.array(extra["witness"][key], dtype=np.float64) for key in ("rows", "places"))
    except (KeyError, TypeError, ValueError) as error:
        raise FileFormatError(refusal(path, f"its witness must be rows and places ({error})")) from error
    m, d = estimator.n_features_in_, estimator.embedding_.shape[1]
    fits = rows.ndim == 2 and rows.shape[1] == m and places.shape == (len(rows), d) and len(rows) > 0
    if not fits or not (np.isfinite(rows).all() and np.isfinite(places).all()):
        reason = f"its witness must be rows of {m} features and their {d} coordinates, all finite"
        raise FileFormatError(refusal(path, reason))
    return Witness(rows, places)
