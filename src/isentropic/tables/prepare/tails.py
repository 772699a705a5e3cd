"""Heavy tails: columns of money, counts and sizes are taken by their logarithms before they are scaled.

A standardised column with a long tail is one crowd and a few far points: it tells rows of the crowd apart
hardly at all. Its logarithm tells them apart by ratios.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..._core.errors import is_real, listing, notice, plural, require, require_one_of
from ..._core.values import Floats

if TYPE_CHECKING:
    from .columns import Column
    from .encoding import Encoded

TAILS = ("auto", "log", "keep")
TRANSFORMS = ("log", "log1p", "asinh")
MOST_SKEWNESS = 2.0  # of a column that is left as it is: that of an exponential distribution
MOST_KURTOSIS = 10.0  # beyond that of a normal distribution: long tails on both sides
FEWEST_ROWS = 20  # below which a skewness says nothing
FEWEST_VALUES = 10  # different ones: fewer are grades, counts of children, answers


@dataclass(frozen=True, slots=True)
class Transform:
    """Transform of the numbers of a column before they are scaled.

    ``log(max(x, low))``, ``log1p(max(x, 0))`` or ``asinh((x - centre) / scale)``, which is linear near the
    centre and logarithmic far from it, on both sides.
    """

    kind: str  # one of TRANSFORMS
    centre: float = 0.0
    scale: float = 1.0
    low: float = 0.0  # of logarithms: smaller numbers of new rows are taken as this one

    @property
    def text(self) -> str:
        """The transform in words."""
        return {"log": "logarithm", "log1p": "log(1 + x)", "asinh": "asinh around the median"}[self.kind]

    def apply(self, values: Floats) -> Floats:
        """The transformed numbers; NaN stays."""
        if self.kind == "asinh":
            with np.errstate(over="ignore"):
                shares = (values - self.centre) / self.scale
            largest = np.finfo(np.float64).max
            return np.asarray(np.arcsinh(np.clip(shares, -largest, largest)))
        raised = np.where(values < self.low, self.low, values)
        return np.asarray(np.log1p(raised) if self.kind == "log1p" else np.log(raised))

    def undo(self, values: Floats) -> Floats:
        """The numbers as they were."""
        if self.kind == "asinh":
            return np.asarray(np.sinh(values) * self.scale + self.centre)
        return np.asarray(np.expm1(values) if self.kind == "log1p" else np.exp(values))

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "centre": self.centre, "scale": self.scale, "low": self.low}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The inverse of :meth:`to_json`; raises for anything else."""
        require_one_of("transform", data["kind"], TRANSFORMS)
        for name in ("centre", "scale", "low"):
            sound = is_real(data[name]) and bool(np.isfinite(data[name]))
            require(sound, f"{name} of a transform", "a finite number", data[name])
        require(data["scale"] > 0, "scale of a transform", "positive", data["scale"])
        least = 0.0 if data["kind"] != "log" else np.finfo(np.float64).tiny * 2**-52
        require(data["low"] >= least, "low of a transform", f"at least {least}", data["low"])
        return cls(data["kind"], float(data["centre"]), float(data["scale"]), float(data["low"]))


def skewness_and_kurtosis(values: Floats) -> tuple[float, float]:
    """Third standardised moment, and the fourth minus 3; 0 for equal values."""
    unit = float(np.abs(values).max(initial=0.0))
    if unit == 0:
        return 0.0, 0.0
    x = values / unit
    x = x - x.mean()
    variance = float((x**2).mean())
    if variance <= 1e-24:
        return 0.0, 0.0
    x /= np.sqrt(variance)
    return float((x**3).mean()), float((x**4).mean()) - 3.0


def tail_transform(values: Floats, most: float = MOST_SKEWNESS) -> Transform | None:
    """The transform of a column whose skewness or kurtosis exceeds a bound; None where none helps.

    The logarithm where all values are positive and their tail is on the right, else asinh around the median,
    in units of half the interquartile range.
    """
    there = values[np.isfinite(values)]
    if len(there) < FEWEST_ROWS or len(np.unique(there)) < FEWEST_VALUES:
        return None
    skewness, kurtosis = skewness_and_kurtosis(there)
    if abs(skewness) <= most and kurtosis <= MOST_KURTOSIS:
        return None
    for transform in _candidates(there, skewness):
        after = skewness_and_kurtosis(transform.apply(there))
        if abs(after[0]) < abs(skewness) or (kurtosis > MOST_KURTOSIS and after[1] < kurtosis):
            return transform
    return None


def _candidates(there: Floats, skewed: float) -> list[Transform]:
    low = float(there.min())
    logs = [Transform("log", low=low)] if low > 0 and skewed > 0 else []
    lower, centre, upper = (float(q) for q in np.percentile(there, [25, 50, 75]))
    scale = (upper - lower) / 2
    if scale == 0:  # half of the values are equal, often zeros
        scale = float(np.abs(there - centre).mean()) / 4
    return [*logs, Transform("asinh", centre, scale)] if 0 < scale < np.inf else logs


def with_transforms(encoded: Encoded, tails: str) -> Encoded:
    """Heavy tails brought in, said in one line; ``tails="log"`` also those of moderately skewed columns."""
    most = MOST_SKEWNESS if tails == "auto" else 1.0
    numbers = [j for j, column in enumerate(encoded.columns) if column.kind == "number"]
    found = {j: tail_transform(encoded.X[:, encoded.firsts[j]], most) for j in numbers}
    chosen = {j: transform for j, transform in found.items() if transform is not None}
    if not chosen:
        return encoded
    _name_transforms({encoded.columns[j].name: t.kind for j, t in chosen.items()})
    return apply_transforms(encoded, chosen)


def apply_transforms(encoded: Encoded, chosen: Mapping[int, Transform]) -> Encoded:
    """The table with some columns transformed, in place."""
    columns: list[Column] = list(encoded.columns)
    for j, transform in chosen.items():
        first = encoded.firsts[j]
        encoded.X[:, first] = transform.apply(encoded.X[:, first])
        columns[j] = replace(columns[j], transform=transform)
    return replace(encoded, columns=tuple(columns))


def _name_transforms(kinds: Mapping[str, str]) -> None:
    logs = [name for name, kind in kinds.items() if kind == "log"]
    others = [name for name, kind in kinds.items() if kind != "log"]
    parts = [f"the logarithm of {listing(logs)}"] if logs else []
    parts += [f"asinh, a logarithm for both signs, of {listing(others)}"] if others else []
    notice(
        f"{plural(len(kinds), 'column')} with long tails (skewness or kurtosis): rows are "
        f"compared by {' and '.join(parts)}. tails='keep' leaves them as they are."
    )


def notice_raised(column: Column, values: Floats) -> None:
    """Warn of new numbers that have no logarithm, where one is taken."""
    transform = column.transform
    if transform is None or transform.kind == "asinh":
        return
    low = int((values <= 0).sum()) if transform.kind == "log" else int((values < 0).sum())
    if low:
        notice(
            f"column {column.name!r} has {plural(low, 'value')} without a logarithm; the smallest number of "
            f"the fitted table, {transform.low:g}, takes their place."
        )
