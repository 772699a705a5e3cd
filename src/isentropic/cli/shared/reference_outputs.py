"""Reference outputs of a saved model: rows and their coordinates, by which a machine checks its bits."""

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
class ReferenceOutputs:
    """Rows, as the model takes them, and the coordinates that it gave them."""

    rows: Floats  # (r, m)
    coordinates: Floats  # (r, d)

    def to_json(self) -> dict[str, Any]:
        return {"rows": self.rows.tolist(), "coordinates": self.coordinates.tolist()}


def make_reference_outputs(estimator: Any, X: Floats) -> ReferenceOutputs | None:
    """Rows half-way between rows of the table, with their coordinates; None for a model without transform."""
    import numpy as np

    from ..._core.sparse_rows import SparseRows

    n, m = X.shape
    chosen = X[np.linspace(0, n - 1, max(2, min(_ROWS, n, _MOST // m))).astype(np.int64)]
    if isinstance(chosen, SparseRows):
        chosen = chosen.tocsr().toarray()
    chosen = chosen[np.isfinite(chosen).all(axis=1)]  # rows with holes are left to those without
    if not len(chosen):
        return None
    return outputs_for(estimator, (chosen + np.roll(chosen, 1, axis=0)) / 2)


def outputs_for(estimator: Any, rows: Floats) -> ReferenceOutputs | None:
    """Rows and their coordinates by this model; None for one without transform."""
    if not hasattr(estimator, "transform"):
        return None
    with suppress(IsentropicError, ValueError):  # a model that refuses the rows is saved all the same
        return ReferenceOutputs(rows, transform_rows(estimator, rows))
    return None


def transform_rows(estimator: Any, rows: Floats) -> Floats:
    """Coordinates of new rows, which the model takes as it was fitted: dense or sparse."""
    from scipy.sparse import csr_array

    from ...embedding.input_rows import holds_sparse

    coordinates: Floats = estimator.transform(csr_array(rows) if holds_sparse(estimator) else rows)
    return coordinates


def read_reference_outputs(extra: dict[str, Any], estimator: Any, path: Path) -> ReferenceOutputs | None:
    """As it was saved; None where there is none."""
    import numpy as np

    from ..._core.models.io import refusal

    if "reference_outputs" not in extra:
        return None
    try:
        rows, coordinates = (
            np.array(extra["reference_outputs"][key], dtype=np.float64) for key in ("rows", "coordinates")
        )
    except (KeyError, TypeError, ValueError) as error:
        raise FileFormatError(
            refusal(path, f"its reference outputs must be rows and coordinates ({error})")
        ) from error
    m, d = estimator.n_features_in_, estimator.embedding_.shape[1]
    fits = rows.ndim == 2 and rows.shape[1] == m and coordinates.shape == (len(rows), d) and len(rows) > 0
    if not fits or not (np.isfinite(rows).all() and np.isfinite(coordinates).all()):
        reason = f"its reference outputs must be rows of {m} features and their {d} coordinates, all finite"
        raise FileFormatError(refusal(path, reason))
    return ReferenceOutputs(rows, coordinates)
