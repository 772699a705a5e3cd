"""Lattices of nodes that stand for rows, and the map that places rows on one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ..._core.errors import require, require_count, require_one_of
from ..._core.runtime import row_blocks
from ..._core.specs import Array, Double, Maybe
from ..._core.state import Sub
from ...distances import rows_per_block
from ...kernels._jit import threads
from ...kernels.networks import expected_places
from ...linalg import fixed_signs
from ...linalg.centering import CentredRows
from ...neighbors import RowIndex
from ..training_data import Part, TrainingData


@dataclass(frozen=True, eq=False)
class LatticeMap(Part):
    """A row is mapped to its nearest node, or to the mean of all nodes weighted by how near they are.

    A node at squared distance ``s`` weighs ``exp(-precision s / 2)``. Nodes are in units around the mean.
    """

    data: Annotated[TrainingData, Sub(TrainingData)]  # without rows: a training row is placed as any other
    mean: Annotated[np.ndarray, Array("m")]
    unit: Annotated[float, Double(above=0)]
    nodes: Annotated[np.ndarray, Array("r", "m")]
    places: Annotated[np.ndarray, Array("r", "d")]
    precision: Annotated[Any, Maybe(Double(0))] = None  # None: the nearest node alone

    @classmethod
    def of(
        cls, rows: CentredRows, nodes: np.ndarray, places: np.ndarray, precision: float | None
    ) -> LatticeMap:
        """With nodes as they were fitted, in units around the mean."""
        data = TrainingData(len(rows.rows), None, "euclidean")
        return cls(data, rows.mean, rows.unit, np.ascontiguousarray(nodes), places, precision)

    @property
    def codebook(self) -> np.ndarray:
        """The row of the table that each node stands for."""
        return self.mean + self.nodes * self.unit

    def transform(self, X: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Coordinates of rows."""
        rows = (X - self.mean) / self.unit
        if self.precision is None:
            return self.places[RowIndex(self.nodes).nearest(rows, 1, n_jobs=n_jobs)[0][:, 0]]
        out = np.empty((len(X), self.places.shape[1]))
        for block in row_blocks(len(X), "placing rows", size=rows_per_block(len(self.nodes)), adapt=True):
            with threads(n_jobs):
                expected_places(rows[block], self.nodes, self.places, self.precision, out[block])
        return out


KINDS = ("rectangular", "hexagonal")
_REACH = {"rectangular": 1.5, "hexagonal": 1.1}  # of the next nodes, those at the corners among them


def lattice_coordinates(shape: Sequence[int], kind: str = "rectangular") -> np.ndarray:
    """Coordinates of the nodes around 0, neighbours 1 apart, the last side running fastest: (r, d).

    In a hexagonal lattice every second row is moved by half a step, so that a node has six next ones.

    >>> lattice_coordinates((2, 2)).tolist()
    [[-0.5, -0.5], [-0.5, 0.5], [0.5, -0.5], [0.5, 0.5]]
    """
    places = np.stack([side.ravel() for side in np.indices(tuple(shape))], axis=1).astype(float)
    if kind == "hexagonal":
        places[:, 0] += 0.5 * (places[:, 1] % 2)
        places[:, 1] *= np.sqrt(0.75)
    return places - (places.max(axis=0) + places.min(axis=0)) / 2


def lattice_distances(places: np.ndarray) -> np.ndarray:
    """Distances of all nodes on the lattice: (r, r)."""
    return np.sqrt(((places[:, None] - places[None]) ** 2).sum(axis=2))


def adjacent_nodes(places: np.ndarray, kind: str) -> np.ndarray:
    """Whether two nodes are next to each other: (r, r)."""
    apart = lattice_distances(places)
    return (apart > 0) & (apart < _REACH[kind])


def checked_lattice(kind: str, n_components: int) -> None:
    require_one_of("lattice", kind, KINDS)
    plane = kind != "hexagonal" or n_components == 2
    require(plane, "lattice", "'rectangular' for a map of other than 2 coordinates", kind)


def checked_sides(shape, n_components: int, rows: CentredRows) -> tuple[int, ...]:
    """The sides of a lattice; by default about ``5 sqrt(n)`` nodes, sides as the rows are long and wide."""
    if shape is None:
        return _fitting_sides(rows, n_components)
    given = shape if isinstance(shape, tuple | list) else (shape,)
    right = len(given) == n_components
    require(right, "shape", f"None or a tuple of {n_components} numbers of nodes", shape)
    return tuple(require_count("A side of shape", side) for side in given)


def _fitting_sides(rows: CentredRows, n_components: int) -> tuple[int, ...]:
    lengths = np.ones(n_components)
    found = rows.axes()[0][:n_components]
    lengths[: len(found)] = found / found[0] if len(found) else 1.0
    lengths = np.maximum(lengths, 0.1)  # else a long cloud of rows becomes a line of nodes
    total = 5 * np.sqrt(len(rows.rows))
    scale = (total / lengths.prod()) ** (1 / n_components)
    return tuple(max(2, round(float(side))) for side in scale * lengths)


def principal_sheet(rows: CentredRows, places: np.ndarray) -> np.ndarray:
    """Nodes spread over the plane of the leading principal axes, to two standard deviations: (r, m)."""
    d = places.shape[1]
    values, axes = (found[:d] for found in rows.axes())
    axes = fixed_signs(axes.T)
    deviations = values / np.sqrt(len(rows.rows))
    reach = np.maximum(np.abs(places).max(axis=0), 0.5)
    return (2 * places / reach)[:, : len(values)] * deviations @ axes.T
