"""Rows that a saved model was seen to place: by them another machine checks its bits."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .._errors import FileFormatError, IsentropicError
from .._io import refusal

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

WITNESS = "witness"  # its place in the file
_ROWS = 100
_MOST = 200_000  # numbers


def witness_of(estimator: Any, X: Any) -> dict[str, Any]:
    """Rows half-way between rows of the table, and where the model places them; nothing if it places none."""
    import numpy as np

    if not hasattr(estimator, "transform"):
        return {}
    n, m = X.shape
    count = max(2, min(_ROWS, n, _MOST // m))
    chosen = X[np.linspace(0, n - 1, count).astype(np.int64)]
    rows = (chosen + np.roll(chosen, 1, axis=0)) / 2
    with suppress(IsentropicError, ValueError):  # a model that places no such row is saved all the same
        return {WITNESS: {"rows": rows.tolist(), "places": estimator.transform(rows).tolist()}}
    return {}


def read_witness(extra: dict[str, Any], n_features: int, path: Path) -> tuple[np.ndarray, np.ndarray] | None:
    """Rows and their places, as they were saved; None where there are none."""
    import numpy as np

    if WITNESS not in extra:
        return None
    try:
        rows, places = (np.array(extra[WITNESS][key], dtype=np.float64) for key in ("rows", "places"))
    except (KeyError, TypeError, ValueError) as error:
        raise FileFormatError(refusal(path, f"its witness must be rows and places ({error})")) from error
    fits = rows.ndim == places.ndim == 2 and len(rows) == len(places) and rows.shape[1] == n_features
    if not fits or not (np.isfinite(rows).all() and np.isfinite(places).all()):
        reason = f"its witness must be rows of {n_features} features and their places, all finite"
        raise FileFormatError(refusal(path, reason))
    return rows, places
