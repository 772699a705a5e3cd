"""``LabelTest``: the score of a supervised map beside its scores with permuted labels. To and from JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..._core.errors import FileFormatError
from ..._core.json_checks import is_count, is_number, is_text, record, require_fields, several

_FORMAT = "isentropic.label-test/1"
_MARGIN = 3.0  # deviations of the null, beside its greatest value: few permutations leave much to luck
_FIELDS = {
    "protocol": is_text,
    "score": is_text,
    "observed": is_number,
    "null": several(is_number),
    "seen": is_number,
    "seen_null": several(is_number),
    "n_fitted": is_count,
    "n_scored": is_count,
    "n_splits": is_count,
    "random_state": is_count,
}


@dataclass(frozen=True, slots=True)
class LabelTest:
    """A score of the classes in a map, and the same score with permuted labels, the method fitted anew.

    ``seen`` scores the rows that the map learnt from, each by its nearest others: what a reader of the
    picture sees. Where ``seen_null`` is high, the method separates any labels: the picture proves nothing.
    """

    protocol: str  # "honest" or "published"
    score: str  # "accuracy" or "kappa", of k-NN
    observed: float  # with the labels as they are
    null: tuple[float, ...]  # with permuted ones
    seen: float
    seen_null: tuple[float, ...]
    n_fitted: int  # rows, in each split
    n_scored: int
    n_splits: int
    random_state: int

    @property
    def p(self) -> float:
        """Share of labellings, the true one among them, that score at least as well."""
        return (1 + sum(value >= self.observed for value in self.null)) / (1 + len(self.null))

    @property
    def mean(self) -> float:
        """Of the null: chance, under the honest protocol."""
        return float(np.mean(self.null))

    @property
    def highest(self) -> float:
        """Of the null."""
        return max(self.null)

    @property
    def reached(self) -> bool:
        """Whether permuted labels score as well, so that the score is an effect of the labels.

        One of the null reaches it, or ``observed <= m + 3 s`` with m the mean of the null and s its standard
        deviation: by luck the greatest of 19 is reached once in twenty, this, if they are normal,
        once in 200.
        """
        spread = float(np.std(self.null, ddof=1)) if len(self.null) > 1 else 0.0
        return self.observed <= max(self.highest, self.mean + _MARGIN * spread)

    def to_json(self) -> str:
        """All of it as text; every number survives."""
        return json.dumps({"format": _FORMAT, **self.to_fields()}, allow_nan=False)

    def to_fields(self) -> dict[str, Any]:
        """As plain data."""
        return {**asdict(self), "null": list(self.null), "seen_null": list(self.seen_null)}

    @classmethod
    def from_json(cls, text: str) -> LabelTest:
        """The inverse of :meth:`to_json`; raises where text is not whole or a field of another type."""
        try:
            data = json.loads(text)
            if not isinstance(data, dict) or data.pop("format", None) != _FORMAT:
                raise ValueError(f"its format is not {_FORMAT}")
            return cls.of_fields(data)
        except (ValueError, RecursionError) as error:
            raise FileFormatError(
                f"text must be JSON of format {_FORMAT}, but {error}. Write it by to_json()."
            ) from error

    @classmethod
    def of_fields(cls, data: dict[str, Any]) -> LabelTest:
        """From plain data; raises ValueError where they do not fit."""
        require_fields(data, _FIELDS)
        if not data["null"] or len(data["null"]) != len(data["seen_null"]):
            raise ValueError("its two nulls must have as many entries, one at least")
        return cls(**{**data, "null": tuple(data["null"]), "seen_null": tuple(data["seen_null"])})


def is_label_test(value: Any) -> bool:
    """Whether plain data can become a :class:`LabelTest`."""
    return record(**_FIELDS)(value) and 0 < len(value["null"]) == len(value["seen_null"])
