"""``RowTrust``: row by row, what speaks against the place of a row in one map. To and from JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._core.json_checks import is_count, is_number, maybe, record, require_fields, several
from ..._core.values import Floats, Integers
from ...quality import Quality
from ...quality.rows.jumps import JUMP
from ...quality.rows.row_tests import doubtful_above

_FIELDS = {
    "p": several(is_number),
    "by_chance": is_number,
    "walked": maybe(several(is_count)),
    "jumps": maybe(several(is_number)),
    "unsteady": maybe(several(is_number)),
}
is_row_trust = record(**_FIELDS)


@dataclass(frozen=True, slots=True, eq=False)
class RowTrust:
    """What speaks against the places of rows in a map, for each of the compared ones, ``quality.rows``."""

    p: Floats  # (s,) of the order of a row's distances in a random place: above 0.05, no better than chance
    by_chance: float  # estimated share of rows that are placed no better than by chance
    walked: Integers | None = None  # (w,) rows from which the map was walked, where it can place new ones
    jumps: Floats | None = None  # (w,) how far it jumps on the way to a neighbour: above 1.5 it is torn
    unsteady: Floats | None = None  # (s,) share of its neighbours that a row does not keep with other seeds

    @property
    def doubtful_share(self) -> float:
        """Of rows whose p is above 0.05; of fewer than 40 rows, above the least p that there is."""
        return float(np.mean(self.p > doubtful_above(len(self.p))))  # of few rows all are tested

    @property
    def jumping_share(self) -> float | None:
        """Of the rows from which the map was walked, those where it jumps."""
        return None if self.jumps is None else float(np.mean(self.jumps > JUMP))

    def to_fields(self) -> dict[str, Any]:
        """As plain data."""
        values = {name: getattr(self, name) for name in _FIELDS}
        return {name: v.tolist() if isinstance(v, np.ndarray) else v for name, v in values.items()}

    @classmethod
    def of_fields(cls, data: dict[str, Any]) -> RowTrust:
        """From plain data; raises ValueError where they do not fit."""
        require_fields(data, _FIELDS)
        kinds = {"p": float, "walked": np.int64, "jumps": float, "unsteady": float}
        arrays = {name: None if data[name] is None else np.array(data[name], kinds[name]) for name in kinds}
        return cls(**{**data, **arrays})

    def require_sound(self, quality: Quality) -> None:
        """Raise ValueError unless it is of the rows that were compared."""
        s, walked, jumps = len(quality.rows), self.walked, self.jumps
        if len(self.p) != s or (self.unsteady is not None and len(self.unsteady) != s):
            raise ValueError(f"its tests of rows are not of the {s} compared ones")
        if (None if walked is None else len(walked)) != (None if jumps is None else len(jumps)):
            raise ValueError("it has as many jumps as rows from which the map was walked, or neither")
        if walked is not None and len(walked) and walked.max() >= quality.n:
            raise ValueError(f"it was walked from row {walked.max()} of {quality.n}")
