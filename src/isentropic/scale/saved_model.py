"""Models that ``isentropic embed --save`` wrote: the map, its preparation, and what its rows are called.

Each comes with reference outputs: rows and their coordinates, by which another machine checks its bits.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._core.errors import FileFormatError, InvalidInputError, IsentropicError, printable, require

if TYPE_CHECKING:
    from .._core.values import Floats, Table
    from ..tables import Preparation

_LONGEST = 100  # letters in the name of a method
_AGAIN = "Use isentropic.load in Python, or save it with 'isentropic embed --save'."


@dataclass(frozen=True, slots=True)
class Rows:
    """What the rows of a map are called, and their classes or numbers; None where nothing is known."""

    names: tuple[str, ...] | None = None
    labels: tuple[Any, ...] | None = None

    @classmethod
    def of(cls, table: Table) -> Rows:
        """Those of a table; names that only count the rows are none."""
        counted = table.row_names == tuple(map(str, range(len(table.row_names))))
        labels = None if table.labels is None else tuple(table.labels.tolist())
        return cls(None if counted else table.row_names, labels)

    def to_json(self) -> dict[str, Any]:
        names, labels = (None if part is None else list(part) for part in (self.names, self.labels))
        return {"names": names, "labels": labels}


@dataclass(frozen=True, slots=True)
class SavedModel:
    """A fitted estimator, and what the command line keeps with it."""

    estimator: Any
    method: str
    preparation: Preparation
    rows: Rows | None  # None for a file of a version that kept none
    reference_outputs: ReferenceOutputs | None = None  # rows, and where the model was seen to place them
    has_fingerprint: bool = True  # the file says which preparation the map belongs to; those of 0.1.0 do not
    made_from: str = ""  # hash of rows and parameters, of a model that was fitted to a sample of many files
    n_fitted: int | None = None  # rows of many files that it was fitted to: may be more than it keeps

    @property
    def text_columns(self) -> frozenset[str]:
        """Columns whose text matters to the letter, as in '007': known levels, and names of rows."""
        levels = {column.name for column in self.preparation.columns if column.kind == "nominal"}
        index = self.preparation.index
        return frozenset(levels if index is None else {*levels, index})

    def require_rule(self, missing: str) -> None:
        """Raise where missing values of new rows would be kept, and the method takes none."""
        takes_holes = self.estimator.__sklearn_tags__().input_tags.allow_nan
        fits = missing != "keep" or takes_holes
        require(fits, "--missing", f"drop or mean for {self.method}, which maps no rows with holes", missing)

    def write(self, path: Path) -> None:
        from .._core.models.saving import save

        prepared = self.preparation.to_json()
        extra: dict[str, Any] = {"method": self.method, "preparation": prepared}
        extra["preparation_sha256"] = _fingerprint(prepared, self.estimator)
        if self.rows is not None:
            extra["rows"] = self.rows.to_json()
        if self.made_from:
            extra["made_from"] = self.made_from
        if self.n_fitted is not None:
            extra["n_fitted"] = self.n_fitted
        if self.reference_outputs is not None:
            extra["reference_outputs"] = self.reference_outputs.to_json()
        save(self.estimator, path, extra=extra)


def read_model(path: Path) -> SavedModel:
    """The model in a file that places rows; raises for any other."""
    from .._core.models.saving import load_with_extra, refusal

    estimator, extra = load_with_extra(path)
    method = extra.get("method", type(estimator).__name__)
    if not isinstance(method, str) or len(method) > _LONGEST or method != printable(method):
        raise FileFormatError(refusal(path, f"its method must be a name, got {method!r}"))
    if not hasattr(estimator, "transform"):
        raise InvalidInputError(f"{method} cannot place new rows. Embed them together with the first table.")
    preparation = _preparation(path, extra, estimator)
    rows = _rows(path, extra, len(estimator.embedding_))
    known, outputs = "preparation_sha256" in extra, read_reference_outputs(extra, estimator, path)
    made_from, n_fitted = str(extra.get("made_from", "")), extra.get("n_fitted")
    if n_fitted is not None and (type(n_fitted) is not int or n_fitted < 1):
        raise FileFormatError(refusal(path, "the number of rows that it was fitted to must be from 1"))
    return SavedModel(estimator, method, preparation, rows, outputs, known, made_from, n_fitted)


def _fingerprint(prepared: dict[str, Any], estimator: Any) -> str:
    """Of a preparation and the map of the table that it made: they belong together."""
    import numpy as np

    found = hashlib.sha256(json.dumps(prepared, sort_keys=True).encode())
    found.update(np.ascontiguousarray(estimator.embedding_).data)
    return found.hexdigest()


def _preparation(path: Path, extra: dict[str, Any], estimator: Any) -> Preparation:
    from .._core.models.saving import refusal, shortened
    from ..tables import Preparation

    if "preparation" not in extra:
        raise FileFormatError(
            f"{path} must say how its table was prepared, but it was saved without that. {_AGAIN}"
        )
    try:
        preparation = Preparation.from_json(extra["preparation"])
    except InvalidInputError as error:
        raise FileFormatError(f"{path} is damaged: {shortened(printable(error))}") from error
    count, n_features = len(preparation.feature_names), estimator.n_features_in_
    if count != n_features:
        reason = f"its preparation gives {count} features, and its map takes {n_features}"
        raise FileFormatError(refusal(path, reason))
    fingerprint = _fingerprint(extra["preparation"], estimator)
    if extra.get("preparation_sha256", fingerprint) != fingerprint:
        reason = "its preparation is not the one that its map was made with"
        raise FileFormatError(refusal(path, reason))
    return preparation


def _rows(path: Path, extra: dict[str, Any], n_rows: int) -> Rows | None:
    from .._core.models.saving import refusal

    if "rows" not in extra:
        return None
    given, kinds = extra["rows"], (str, int, float, bool, type(None))
    sound = isinstance(given, dict) and set(given) == {"names", "labels"}
    for name, allowed in (("names", (str,)), ("labels", kinds)):
        part = given[name] if sound else None
        listed = isinstance(part, list) and len(part) == n_rows and all(type(one) in allowed for one in part)
        sound = sound and (part is None or listed)
    if not sound:
        raise FileFormatError(refusal(path, f"its rows must be names and labels of {n_rows} rows"))
    return Rows(*(None if given[name] is None else tuple(given[name]) for name in ("names", "labels")))


# ---- reference outputs -------------------------------------------------------------------------


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

    from .._core.sparse_rows import SparseRows

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

    from ..embedding.input_rows import holds_sparse

    coordinates: Floats = estimator.transform(csr_array(rows) if holds_sparse(estimator) else rows)
    return coordinates


def read_reference_outputs(extra: dict[str, Any], estimator: Any, path: Path) -> ReferenceOutputs | None:
    """As it was saved; None where there is none."""
    import numpy as np

    from .._core.models.saving import refusal

    if "reference_outputs" not in extra:
        return None
    try:
        rows, coordinates = (
            np.array(extra["reference_outputs"][key], dtype=np.float64) for key in ("rows", "coordinates")
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise FileFormatError(
            refusal(path, f"its reference outputs must be rows and coordinates ({error})")
        ) from error
    m, d = estimator.n_features_in_, estimator.embedding_.shape[1]
    fits = rows.ndim == 2 and rows.shape[1] == m and coordinates.shape == (len(rows), d) and len(rows) > 0
    if not fits or not (np.isfinite(rows).all() and np.isfinite(coordinates).all()):
        reason = f"its reference outputs must be rows of {m} features and their {d} coordinates, all finite"
        raise FileFormatError(refusal(path, reason))
    return ReferenceOutputs(rows, coordinates)
