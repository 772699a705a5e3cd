"""``Quality``: everything that was found out about a map, as one frozen value."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.errors import FileFormatError, require_count
from .._core.files import (
    is_count,
    is_flag,
    is_number,
    is_text,
    maybe,
    named,
    record,
    require_fields,
    several,
)
from .._core.values import Floats, Integers
from .measures import MEASURES, Measure, kinds
from .ranks.rank_curves import Curves, rnx_area

if TYPE_CHECKING:
    import pandas as pd

_FORMAT = "isentropic.quality/1"
_PAIRS = several(several(is_number, 2))
_FIELDS = {
    "format": is_text,
    "n": is_count,
    "metric": is_text,
    "n_neighbors": several(is_count),
    "exact": is_flag,
    "method": is_text,
    "measures": named(
        record(
            value=is_number, low=maybe(is_number), high=maybe(is_number), best=is_number, better=is_text,
            range=several(maybe(is_number), 2), note=is_text,
        )
    ),
    "ties": record(share_X=is_number, share_Z=is_number, trustworthiness=_PAIRS, continuity=_PAIRS),
    "notes": several(is_text),
    "curves": named(several(is_number)),
    "rows": maybe(several(is_count)),
    "false_neighbors": several(several(is_number)),
    "tears": several(several(is_number)),
    "near_neighbors": several(several(is_number)),
    "grid": several(is_count),
    "half_widths": named(several(is_number)),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ties:
    """Equal distances around a row: their share, and what their order could change.

    ``share_X`` is the share of the ordered pairs (i, j) whose distance is also that of another pair (i, l):
    the ranks of j and l around i could as well be exchanged. Such ties are broken by row number. For
    each chosen k, the worst and the best value over all orders of ties on both sides, every row taken by
    itself, are given. They are exact for all rows; where rows were sampled, estimated from at most 1,000 of
    those with ties.
    """

    share_X: float
    share_Z: float
    trustworthiness: tuple[tuple[float, float], ...]  # (worst, best) at each chosen k
    continuity: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Quality:
    """How well a map ``Z`` keeps the neighbourhoods of ``X``: what :func:`assess` returns.

    ``measures`` holds every single number by name, ``curves`` the measures that depend on k, for every k.
    ``false_neighbors[s, c]`` and ``tears[s, c]`` are the scores of ``rows[s]`` at ``n_neighbors[c]``, from
    0 (nothing is wrong) to 1: trustworthiness and continuity are 1 less their means. ``near_neighbors[s, c]``
    is the share of its k nearest points on the map that are close in the data too, not corrected for chance:
    ``curves.near_share`` is their mean, ``curves.near_chance`` that of random neighbours. If ``exact``, they
    are those of all rows; if not, of sampled ones, and everything else is estimated from these, with 95%
    intervals: ``half_widths`` holds those of the curves at the values of k in ``grid``.
    """

    n: int
    metric: str
    n_neighbors: tuple[int, ...]
    curves: Curves
    measures: Mapping[str, Measure]
    rows: Integers  # (s,)
    false_neighbors: Floats  # (s, len(n_neighbors))
    tears: Floats
    ties: Ties
    grid: Integers = field(default_factory=lambda: np.empty(0, np.int64))
    half_widths: Mapping[str, Floats] = field(default_factory=dict)
    near_neighbors: Floats = field(default_factory=lambda: np.empty((0, 0)))  # (s, len(n_neighbors))
    notes: tuple[str, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether all rows were compared with all others."""
        return len(self.rows) == self.n

    @property
    def method(self) -> str:
        """The method of computation, in words."""
        if self.exact:
            return f"exact: all {self.n:,} rows against all others"
        return (
            f"estimated: {len(self.rows):,} rows drawn at random, each against all {self.n:,}; 95% intervals"
        )

    def at(self, k: int) -> dict[str, Measure]:
        """Every measure that depends on k; ``r_nx`` and ``near_neighbors`` are missing at k = n - 1.

        >>> import numpy as np
        >>> from isentropic.quality import assess
        >>> X = np.random.default_rng(0).normal(size=(30, 3))
        >>> assess(X, X, measures="ranks").at(7)["trustworthiness"].value
        1.0
        """
        most = self.n - 1
        k = require_count("k", k, f"an integer from 1 to {most}, one less than the rows", most=most)
        found = {}
        for kind in kinds("curve"):
            curve = getattr(self.curves, kind.name)
            if k <= len(curve):
                half = None if self.exact else self._half_width(kind.name, k)
                found[kind.name] = kind.point(self.n, int(k), float(curve[k - 1]), half)
        if "near_neighbors" in found:
            share, chance = found["near_share"].value, found["near_chance"].value
            note = f"{share:.1%} of the neighbours are close in the data; by chance {chance:.1%}"
            found["near_neighbors"] = replace(found["near_neighbors"], note=note)
        return found

    def _half_width(self, name: str, k: int) -> float:
        """Half-width of the interval at k, interpolated over ln k between the values of the grid."""
        widths = self.half_widths[name]
        return float(np.interp(np.log(k), np.log(self.grid[: len(widths)]), widths))

    def summary(self) -> pd.DataFrame:
        """Every measure as a table: value, interval, range, and which way is better."""
        import pandas as pd

        rows = {
            name: {
                "value": measure.value,
                "low": measure.low,
                "high": measure.high,
                "least": measure.range[0],
                "greatest": measure.range[1],
                "best": measure.best,
                "better": measure.better,
                "note": measure.note,
            }
            for name, measure in self.measures.items()
        }
        table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("measure")
        return table.astype({"low": float, "high": float})

    def to_json(self) -> str:
        """All of it as text; every number survives."""
        data = {
            "format": _FORMAT,
            "n": self.n,
            "metric": self.metric,
            "n_neighbors": list(self.n_neighbors),
            "exact": self.exact,
            "method": self.method,
            "measures": {name: measure.to_dict() for name, measure in self.measures.items()},
            "ties": asdict(self.ties),
            "notes": list(self.notes),
            "curves": {name: curve.tolist() for name, curve in self.curves.as_dict().items()},
            "rows": None if self.exact else self.rows.tolist(),
            "false_neighbors": self.false_neighbors.tolist(),
            "tears": self.tears.tolist(),
            "near_neighbors": self.near_neighbors.tolist(),
            "grid": self.grid.tolist(),
            "half_widths": {name: widths.tolist() for name, widths in self.half_widths.items()},
        }
        return json.dumps(data, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Quality:
        """The inverse of :meth:`to_json`."""
        try:
            data = json.loads(text)
        except json.JSONDecodeError as error:
            raise FileFormatError(f"text must be JSON of format {_FORMAT}, got none: {error}.") from error
        if not isinstance(data, dict) or data.get("format") != _FORMAT:
            found = data.get("format") if isinstance(data, dict) else type(data).__name__
            raise FileFormatError(
                f"text must be JSON of format {_FORMAT}, got {found!r}. Write it by to_json()."
            )
        try:
            data.setdefault("near_neighbors", [])  # written before this measure
            require_fields(data, _FIELDS)
            return cls._from_dict(data)
        except (KeyError, TypeError, ValueError) as error:
            raise FileFormatError(
                f"text must be JSON of format {_FORMAT}, whole as to_json() writes it, got one that is not: "
                f"{error!r}."
            ) from error

    @classmethod
    def _from_dict(cls, data: Mapping[str, Any]) -> Quality:
        n, count = data["n"], len(data["n_neighbors"])
        rows = np.arange(n) if data["rows"] is None else np.array(data["rows"], np.int64)
        if len(rows) and rows.max() >= n:
            raise ValueError(f"its rows end at {rows.max()}, but there are {n}")
        ties = data["ties"]
        found = cls(
            n=n,
            metric=data["metric"],
            n_neighbors=tuple(data["n_neighbors"]),
            curves=Curves(**{name: np.array(curve, float) for name, curve in data["curves"].items()}),
            measures={name: Measure.from_dict(measure) for name, measure in data["measures"].items()},
            rows=rows,
            false_neighbors=np.array(data["false_neighbors"], float).reshape(len(rows), count),
            tears=np.array(data["tears"], float).reshape(len(rows), count),
            ties=Ties(
                ties["share_X"], ties["share_Z"], _pairs(ties["trustworthiness"]), _pairs(ties["continuity"])
            ),
            grid=np.array(data["grid"], np.int64),
            half_widths={name: np.array(widths, float) for name, widths in data["half_widths"].items()},
            notes=tuple(data["notes"]),
            near_neighbors=_by_row(data["near_neighbors"], len(rows), count),
        )
        if "rnx_local" in found.measures:
            return found
        # written when the curve alone was kept, of which this measure is a part
        return replace(found, measures={**found.measures, "rnx_local": local_area(found)})


def _by_row(values: list[list[float]], n_rows: int, count: int) -> Floats:
    return np.array(values, float).reshape(n_rows, count) if values else np.empty((0, 0))


def _pairs(value: Any) -> tuple[tuple[float, float], ...]:
    return tuple((worst, best) for worst, best in value)


def local_area(quality: Quality) -> Measure:
    """The area under R_NX for neighbourhoods of 1 to k rows, k the smallest chosen one.

    The area of all sizes would not do: half of its weight are neighbourhoods of more than the root of
    n rows, by which a map that keeps the large picture alone wins. Where rows were sampled, its interval
    is the mean of those along the curve, which is a little too wide.
    """
    k = quality.n_neighbors[0]
    measure = MEASURES["rnx_local"].measure(quality.curves.rnx_area(k))
    if quality.exact:
        return measure
    points = [quality.at(j)["r_nx"] for j in range(1, min(k, quality.n - 2) + 1)]
    halves = [0.0 if p.low is None or p.high is None else (p.high - p.low) / 2 for p in points]
    half = float(rnx_area(np.array(halves)))
    return replace(measure, low=measure.value - half, high=measure.value + half)
