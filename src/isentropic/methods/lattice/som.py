"""The self-organising map."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from ..._core.errors import require_count, require_flag
from ..._core.runtime import one_blas_thread, require_memory, row_blocks
from ..._core.state import Array, Number, State, Whole
from ...distances import rows_per_block
from ...embedding.input_rows import checked_rows
from ...linalg.centred import CentredRows
from ...neighbors import RowIndex
from .lattice import (
    LatticeEmbedder,
    adjacent_nodes,
    checked_lattice,
    checked_sides,
    lattice_distances,
    lattice_places,
    principal_sheet,
)

_LAST_WIDTH = 1 / 3  # of the neighbourhood, in steps of the lattice


class SOM(LatticeEmbedder):
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

    _state = State(
        u_matrix_=Array("r"), quantization_error_=Number(), topographic_error_=Number(), n_iter_=Whole(1)
    )

    def __init__(
        self, n_components=2, *, shape=None, lattice="rectangular", smooth=False, max_iter=30, n_jobs=None
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
        X = checked_rows(self, X)
        d = require_count("n_components", self.n_components, most=3)
        checked_lattice(self.lattice, d)
        require_flag("smooth", self.smooth)
        epochs = require_count("max_iter", self.max_iter)
        rows = CentredRows.of(X)
        sides = checked_sides(self.shape, d, rows)
        n_nodes = int(np.prod([float(side) for side in sides]))
        require_memory(48 * n_nodes**2, f"A lattice of {n_nodes:,} nodes", "Take a smaller shape.")
        places = lattice_places(sides, self.lattice)
        nodes = self._organised(rows, places, np.geomspace(max(max(sides) / 2, 1.0), _LAST_WIDTH, epochs))
        distances, adjacent = self._errors(rows.rows, nodes, adjacent_nodes(places, self.lattice))
        precision = 1 / max(float((distances**2).mean()), np.finfo(float).tiny) if self.smooth else None
        self._keep(X, rows, nodes, places, precision)
        self.n_iter_ = epochs
        self.quantization_error_ = float(distances.mean()) * rows.unit
        self.topographic_error_ = 1 - float(adjacent.mean())
        self.u_matrix_ = _mean_next(nodes, adjacent_nodes(places, self.lattice)) * rows.unit
        return self

    def _organised(self, rows: CentredRows, places: np.ndarray, widths: np.ndarray) -> np.ndarray:
        """The nodes after the last epoch."""
        squares = lattice_distances(places) ** 2
        nodes = principal_sheet(rows, places)
        with one_blas_thread():
            for epoch in row_blocks(len(widths), "epochs", size=1):
                winners = _winners(rows.rows, nodes)
                nodes = _neighbourhood_means(rows.rows, winners, squares, float(widths[epoch.start]))
        return nodes

    def _errors(self, rows, nodes, adjacent) -> tuple[np.ndarray, np.ndarray]:
        """The distance of each row to its node, and whether its two nearest ones are next to each other."""
        k = min(2, len(nodes))
        indices, distances = RowIndex(nodes).nearest(rows, k, n_jobs=self.n_jobs)
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
