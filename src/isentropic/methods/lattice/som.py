"""The self-organising map."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from scipy.sparse import csr_array

from ..._core.arguments import Choice, Count, Switch
from ..._core.runtime import one_blas_thread, require_memory, row_blocks
from ..._core.specs import Array, Number, Whole
from ..._core.state import Sub
from ...distances import rows_per_block
from ...embedding.embedder import Embedder
from ...embedding.maps.lattice import (
    KINDS,
    LatticeMap,
    adjacent_nodes,
    checked_lattice,
    checked_sides,
    lattice_coordinates,
    lattice_distances,
    principal_sheet,
)
from ...embedding.training_data import NJobs, training_data
from ...linalg.centering import CentredRows
from ...neighbors import RowIndex

_LAST_WIDTH = 1 / 3  # of the neighbourhood, in steps of the lattice


class SOM(Embedder):
    """Self-organising map (Kohonen) by the batch rule: nodes of a lattice, each the mean of rows near it.

    In every epoch a row belongs to its nearest node, and a node moves to the mean of all rows, weighted by
    how near their nodes are on the lattice: ``c_s = sum_i v(r_i, s) x_i / sum_i v(r_i, s)``,
    ``v(r, s) = exp(-g(r, s)^2 / (2 w^2))``, g the distance on the lattice. The width w falls from half the
    longest side to a third of a step, by the same factor every epoch. The nodes start on the plane of the
    leading principal axes, so that the map depends on nothing but the rows: not on a seed or their order.

    Rows of one node share its place, unless ``smooth``. Cost: ``O(r n m)`` time an epoch for r nodes,
    ``O(n m + r^2)`` memory.

    Parameters
    ----------
    n_components : {1, 2, 3}
        Dimension of the map: that of the lattice.
    shape : tuple of int, optional
        Nodes along each side. By default about ``5 sqrt(n)`` in all, sides as the rows are long and wide.
    lattice : {"rectangular", "hexagonal"}
        A node has four next ones and four at the corners, or, in two dimensions, six.
    smooth : bool
        Place a row at the mean of all nodes' places, weighted by ``exp(-|x - c|^2 / (2 q^2))``, q the root
        mean square distance of a row to its node; else at the place of its node.
    max_iter : int
        Epochs.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
        In steps of the lattice, around its middle.
    codebook_ : array of shape (r, m)
        The row that each node stands for.
    places_ : array of shape (r, n_components)
        Where the nodes are on the lattice; draw ``codebook_`` over it by ``plot.component_planes``.
    u_matrix_ : array of shape (r,)
        Mean distance of each node to the next ones: high along a border between groups
        (``plot.lattice``).
    quantization_error_ : float
        Mean distance of a row to its node.
    topographic_error_ : float
        Share of the rows whose two nearest nodes are not next to each other.
    n_iter_ : int
        Epochs.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Kohonen (1982, 1990).

    Examples
    --------
    >>> from isentropic import SOM, datasets
    >>> som = SOM(shape=(8, 5)).fit(datasets.load("builtin:iris").X)
    >>> som.codebook_.shape, len(np.unique(som.embedding_, axis=0)) <= 40
    ((40, 4), True)
    """

    codebook_: Annotated[np.ndarray, Array("r", "m")]
    places_: Annotated[np.ndarray, Array("r", "d")]
    u_matrix_: Annotated[np.ndarray, Array("r")]
    quantization_error_: Annotated[float, Number()]
    topographic_error_: Annotated[float, Number()]
    n_iter_: Annotated[int, Whole(1)]
    _map: Annotated[LatticeMap, Sub(LatticeMap)]

    def __init__(
        self,
        n_components: Annotated[int, Count(most=3)] = 2,
        *,
        shape: Any = None,
        lattice: Annotated[str, Choice(*KINDS)] = "rectangular",
        smooth: Annotated[bool, Switch()] = False,
        max_iter: Annotated[int, Count()] = 30,
        n_jobs: NJobs = None,
    ):
        self.n_components = n_components
        self.shape = shape
        self.lattice = lattice
        self.smooth = smooth
        self.max_iter = max_iter
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Lay the lattice on the principal plane; epochs of winners and means; place every row.

        ``y`` is not used.
        """
        data, d, n_jobs = training_data(self, X, keep_rows=False), self.n_components, self.n_jobs
        checked_lattice(self.lattice, d)
        rows = CentredRows.of(data.table)
        sides = checked_sides(self.shape, d, rows)
        n_nodes = int(np.prod([float(side) for side in sides]))
        require_memory(48 * n_nodes**2, f"A lattice of {n_nodes:,} nodes", "Take a smaller shape.")
        places = lattice_coordinates(sides, self.lattice)
        widths = np.geomspace(max(max(sides) / 2, 1.0), _LAST_WIDTH, int(self.max_iter))
        nodes, adjacent = _organised(rows, places, widths), adjacent_nodes(places, self.lattice)
        distances, kept = _errors(rows.rows, nodes, adjacent, n_jobs)
        precision = 1 / max(float((distances**2).mean()), np.finfo(float).tiny) if self.smooth else None
        new_rows = LatticeMap.of(rows, nodes, places, precision)
        return self._set_fit(new_rows.transform(data.table, n_jobs), new_rows, codebook_=new_rows.codebook,
                             places_=places, u_matrix_=_mean_next(nodes, adjacent) * rows.unit,
                             quantization_error_=float(distances.mean()) * rows.unit,
                             topographic_error_=1 - float(kept.mean()), n_iter_=len(widths))  # fmt: skip


def _organised(rows: CentredRows, places: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """The nodes after the last epoch."""
    squares = lattice_distances(places) ** 2
    nodes = principal_sheet(rows, places)
    with one_blas_thread():
        for epoch in row_blocks(len(widths), "epochs", size=1):
            winners = _winners(rows.rows, nodes)
            nodes = _neighbourhood_means(rows.rows, winners, squares, float(widths[epoch.start]))
    return nodes


def _errors(
    rows: np.ndarray, nodes: np.ndarray, adjacent: np.ndarray, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """The distance of each row to its node, and whether its two nearest ones are next to each other."""
    k = min(2, len(nodes))
    indices, distances = RowIndex(nodes).nearest(rows, k, n_jobs=n_jobs)
    return distances[:, 0], adjacent[indices[:, 0], indices[:, -1]] | (k == 1)


def _winners(rows: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """The node nearest to each row, by products: while nodes move, rounding may choose between equals."""
    halves, out = (nodes**2).sum(axis=1) / 2, np.empty(len(rows), np.int64)
    size = rows_per_block(len(nodes))
    for first in range(0, len(rows), size):
        part = slice(first, first + size)
        np.argmax(rows[part] @ nodes.T - halves, axis=1, out=out[part])
    return out


def _neighbourhood_means(
    rows: np.ndarray, winners: np.ndarray, squares: np.ndarray, width: float
) -> np.ndarray:
    """The mean of the rows around each node; of a node that is far from all rows, around the nearest ones."""
    counts = np.bincount(winners, minlength=len(squares))
    ones = (np.ones(len(rows)), (winners, np.arange(len(rows))))
    filled = np.flatnonzero(counts)
    sums = (csr_array(ones, shape=(len(squares), len(rows))) @ rows)[filled]
    between = squares[:, filled]
    between = between - between.min(axis=1, keepdims=True)  # else all weights of a far node would vanish
    weights = np.exp(-between / (2 * width**2))
    return (weights @ sums) / (weights @ counts[filled])[:, None]


def _mean_next(nodes: np.ndarray, adjacent: np.ndarray) -> np.ndarray:
    """The mean distance of each node to the next ones; 0 of a lone one."""
    first, second = np.nonzero(adjacent)
    apart = np.sqrt(((nodes[first] - nodes[second]) ** 2).sum(axis=1))
    counts = np.bincount(first, minlength=len(nodes))
    return np.bincount(first, apart, minlength=len(nodes)) / np.maximum(counts, 1)
