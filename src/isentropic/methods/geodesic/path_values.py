"""What a path over the size of the neighbourhood found, value by value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._core.values import Floats, Integers, Radius
from ...linalg import aligned

_JUMP = 3.0  # times the least rate before: shrinkage falls as neighbourhoods grow, unless paths take a leap
_WORTH = 0.01  # of the sum of all geodesics: what changes less is no short circuit
_NEAR_LEAST = 1.1  # times the least residual variance


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """Maps of the same rows over growing neighbourhoods; arrays have one entry for each of ``neighbors``.

    Entries that compare a value with the one before are NaN for the first.
    """

    neighbors: tuple[int | Radius, ...]  # growing
    embeddings: tuple[Floats, ...]  # (n, d) each, as Isomap finds them
    eigenvalues: Floats  # (len, d), largest first
    residual_variance: Floats  # 1 - corr(geodesics, distances in the map)^2
    rnx_auc: Floats  # area under R_NX, over log k: 1 where every neighbourhood of the table is kept
    geodesic_sum: Floats  # over all pairs of rows
    stability: Floats  # Procrustes correlation with the map before
    euclidean_defect: Floats  # (len, 2): bounds of the negative share of the spectrum
    n_parts: Integers  # connected components of the graph, before bridges

    def __len__(self) -> int:
        return len(self.neighbors)

    @property
    def sizes(self) -> Floats:
        """Neighbours, or radii, as numbers."""
        return np.array([v.eps if isinstance(v, Radius) else v for v in self.neighbors], float)

    @property
    def shrinkage(self) -> Floats:
        """``s = 1 - sum G / sum G before``: by how much the geodesics became shorter."""
        sums = self.geodesic_sum
        with np.errstate(invalid="ignore"):  # all rows equal: 0 / 0
            return np.concatenate([[np.nan], 1.0 - sums[1:] / sums[:-1]])

    @property
    def short_circuits(self) -> tuple[int | Radius, ...]:
        """Values at which geodesics shrink against the trend: an edge has leapt from sheet to sheet.

        On a surface s falls as the neighbourhoods grow. The alarm is a step by which all geodesics lose 1% or
        more, and three times as much per step of ``log k`` as in the calmest step before. Steps from a graph
        in parts do not count: they replace bridges. Two steps at least come before an alarm, so a path that
        is short-circuited from its start raises none: see the level of ``residual_variance``.
        """
        steps = np.diff(np.log(self.sizes))
        rates, shrinkage = self.shrinkage[1:] / steps, self.shrinkage[1:]
        counts = self.n_parts[:-1] == 1
        found, calmest = [], np.inf
        for i in np.flatnonzero(counts):
            if shrinkage[i] >= _WORTH and rates[i] > _JUMP * calmest:
                found.append(self.neighbors[i + 1])
            calmest = min(calmest, max(rates[i], 0.0))
        return tuple(found)

    @property
    def chosen(self) -> int | Radius:
        """The least value from which on residual variance stays within 10% of its least, before any alarm."""
        alarms = self.short_circuits
        end = self.neighbors.index(alarms[0]) if alarms else len(self)
        variance = self.residual_variance[:end]
        far = np.flatnonzero(variance > _NEAR_LEAST * variance.min())
        first = far[-1] + 1 if len(far) else 0
        return self.neighbors[first if first < end else int(variance.argmin())]

    @property
    def aligned(self) -> tuple[Floats, ...]:
        """The maps, each turned and mirrored onto the one before: for the eye, and for animation."""
        maps = [self.embeddings[0]]
        for Z in self.embeddings[1:]:
            maps.append(aligned(Z, maps[-1]))
        return tuple(maps)
