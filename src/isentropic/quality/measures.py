"""One number about a map, with what is needed to read it: interval, range, and which way is better."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

Better = Literal["higher", "lower", "nearer"]


@dataclass(frozen=True, slots=True)
class Measure:
    """``value``, with its 95% interval where it was estimated from a sample, and how to read it.

    ``best`` is the value of a perfect map. ``better`` says which of two values is preferable: the
    ``"higher"``, the ``"lower"``, or the one ``"nearer"`` to ``best``. ``range`` holds the least and the
    greatest possible value, infinite where there is none. ``note`` states what a reader must know,
    such as terms that were left out.

    >>> Measure(0.94, best=1.0, better="higher", range=(0.0, 1.0)).exact
    True
    """

    value: float
    low: float | None = None  # None: the value is exact
    high: float | None = None
    best: float = 1.0
    better: Better = "higher"
    range: tuple[float, float] = (-math.inf, math.inf)
    note: str = ""

    @property
    def exact(self) -> bool:
        """Whether the value was computed from all rows, and so has no interval."""
        return self.low is None

    def __float__(self) -> float:
        return float(self.value)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; an infinite end of the range is None there."""
        ends = [None if math.isinf(end) else end for end in self.range]
        return {**asdict(self), "range": ends}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Measure:
        """The inverse of :meth:`to_dict`."""
        low, high = data["range"]
        ends = (-math.inf if low is None else float(low), math.inf if high is None else float(high))
        return cls(**{**data, "range": ends})
