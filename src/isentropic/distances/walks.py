"""Diffusion distances: how differently random walks over a graph spread from two rows."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from .._runtime import row_blocks
from .._values import DistanceRows, Floats, Integers
from .blocks import rows_per_block


def walk_distances(walk: csr_array, degrees: Floats, steps: int) -> DistanceRows:
    """``(sum_l (P^t_il - P^t_jl)^2 / phi_l)^1/2`` for the walk P = D^-1/2 S D^1/2, phi = D / sum D.

    ``walk`` is S, symmetric. ``O(nnz t)`` time a row, and once as much for each of the rows.

    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> there = walk_distances(csr_array(np.array([[0.75, 0.25], [0.25, 0.75]])), np.ones(2), 1)
    >>> there.rows(np.array([0])).tolist()
    [[0.0, 1.0]]
    """
    return DistanceRows(len(degrees), _Walks(walk, degrees, steps).rows, f"diffusion, t = {steps}")


class _Walks:
    """Products of the rows of ``P^t``, over phi: distances are those of a Gram matrix."""

    def __init__(self, walk: csr_array, degrees: Floats, steps: int):
        self._walk, self._steps = walk, steps
        self._roots = np.sqrt(degrees.sum() / degrees)

    def rows(self, numbers: Integers) -> Floats:
        numbers = np.asarray(numbers, np.int64)
        products = (self._spread(self._spread(self._starts(numbers))) * self._roots[:, None]).T
        squared = self._lengths[numbers, None] + self._lengths - 2.0 * products
        distances: Floats = np.sqrt(np.maximum(squared, 0.0))
        distances[np.arange(len(numbers)), numbers] = 0.0
        return distances

    @cached_property
    def _lengths(self) -> Floats:
        """Of each row with itself."""
        lengths = np.empty(len(self._roots))
        for block in row_blocks(len(lengths), "diffusion distances", size=rows_per_block(len(lengths))):
            spread = self._spread(self._starts(np.arange(block.start, block.stop)))
            lengths[block] = (spread**2).sum(axis=0)
        return lengths

    def _starts(self, numbers: Integers) -> Floats:
        starts = np.zeros((len(self._roots), len(numbers)))
        starts[numbers, np.arange(len(numbers))] = self._roots[numbers]
        return starts

    def _spread(self, B: Floats) -> Floats:
        for _ in range(self._steps):
            B = self._walk @ B
        return B
