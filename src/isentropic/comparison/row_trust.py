"""``RowTrust``: row by row, what speaks against the place of a row in one map. To and from JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._fields import is_count, is_number, maybe, record, require_fields, several
from .._values import Floats, Integers
from ..neighbors import nearest_among
from ..quality import Quality
from ..quality.jumps import JUMP, map_jumps
from ..quality.row_tests import CHANCE, row_tests
from ..quality.shared_neighbors import shared_neighbors

_FEWEST = 8  # rows of a map that are tested
_BLOCK = 4_096  # rows whose differences are held at a time
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
        """Of rows whose p is above 0.05."""
        return float(np.mean(self.p > CHANCE))

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


def tested_rows(X: Floats, Z: Floats, quality: Quality, seed: int, n_jobs: int | None) -> RowTrust | None:
    """Of the compared rows; None of too few to test."""
    if quality.n < _FEWEST:
        return None
    found = row_tests(X, Z, rows=quality.rows, random_state=seed, n_jobs=n_jobs)
    return RowTrust(found.p, found.by_chance)


def walked_rows(
    place: Callable[[Floats], Any], X: Floats, Z: Floats, count: int, seed: int, n_jobs: int | None
) -> tuple[Integers, Floats]:
    """Rows from which the map is walked, and how far it jumps."""
    found = map_jumps(place, X, Z, sample=min(count, len(X)), random_state=seed, n_jobs=n_jobs)
    return found.rows, found.jumps


def unsteady_rows(maps: Sequence[Floats], quality: Quality, n_jobs: int | None) -> Floats:
    """Of each compared row: the share of its neighbours that it does not have in the map of every seed."""
    shares = shared_neighbors(maps, quality.n_neighbors[0], n_jobs=n_jobs).shares
    unsteady: Floats = 1.0 - shares[quality.rows]
    return unsteady


def false_shares(X: Floats, Z: Floats, quality: Quality, n_jobs: int | None = None) -> Floats:
    """Of each compared row: the share of its k nearest rows in the map that are not so in the data.

    One that is as near in the data as the k-th there is none that is false: which of equal ones are counted
    among the k nearest is chance.
    """
    rows, k = quality.rows, quality.n_neighbors[0]
    farthest = nearest_among(X[rows], X, k, selves=rows, n_jobs=n_jobs)[1][:, -1]
    near = nearest_among(Z[rows], Z, k, selves=rows, n_jobs=n_jobs)[0]
    apart = np.empty((len(rows), k))
    for j in range(k):
        for start in range(0, len(rows), _BLOCK):
            part = slice(start, start + _BLOCK)
            apart[part, j] = np.linalg.norm(X[rows[part]] - X[near[part, j]], axis=1)
    return (apart > farthest[:, None] * (1 + 1e-9)).mean(axis=1)
