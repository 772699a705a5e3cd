"""Diffusion distances: how differently random walks over a graph spread from two rows."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from .._core.runtime import row_blocks
from .._core.values import DistanceRows, Floats, Integers
from .pairwise_blocks import rows_per_block


class Walks:
    """``(sum_l (P^t_il - P^t_jl)^2 / phi_l)^1/2`` for the walk P = D^-1/2 S D^1/2, phi = D / sum D.

    ``walk`` is S, symmetric. They are distances of a Gram matrix, that of the rows of ``P^t`` over the root
    of phi, without what all rows have in common and late walks would drown in. ``O(nnz t)`` time a row, and
    once half as much for each of the rows.

    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> there = Walks(csr_array(np.array([[0.75, 0.25], [0.25, 0.75]])), np.ones(2), 1)
    >>> there.rows(np.array([0])).tolist()
    [[0.0, 1.0]]
    """

    def __init__(self, walk: csr_array, degrees: Floats, steps: int):
        self._walk, self._steps = walk, steps
        self._roots = np.sqrt(degrees.sum() / degrees)

    def source(self) -> DistanceRows:
        """The distances of the rows of the graph, for what reads distances row by row."""
        return DistanceRows(len(self._roots), self.rows, f"diffusion, t = {self._steps}")

    def rows(self, numbers: Integers) -> Floats:
        """Of rows of the graph to all: (b, n)."""
        numbers = np.asarray(numbers, np.int64)
        distances = self._to_all(self._differing(self._starts(numbers), self._steps), self._lengths[numbers])
        distances[np.arange(len(numbers)), numbers] = 0.0
        return distances

    def of_steps(self, near: Integers, shares: Floats) -> Floats:
        """Of new rows to all: (b, n). Their first steps lead to rows ``near`` (b, k), by ``shares`` of 1."""
        starts, columns = np.zeros((len(self._roots), len(near))), np.arange(len(near))
        np.add.at(starts, (near, columns[:, None]), shares * self._roots[near])  # a list may be filled up
        spread = self._differing(starts, self._steps - 1)
        return self._to_all(spread, (np.ascontiguousarray(spread.T) ** 2).sum(axis=1))

    def _to_all(self, spread: Floats, lengths: Floats) -> Floats:
        products = (self._spread(spread, self._steps) * self._roots[:, None]).T
        squared = lengths[:, None] + self._lengths - 2.0 * products
        return np.sqrt(np.maximum(squared, 0.0))

    @cached_property
    def _lengths(self) -> Floats:
        """The squared one of each row."""
        lengths = np.empty(len(self._roots))
        for block in row_blocks(len(lengths), "diffusion distances", size=rows_per_block(len(lengths))):
            spread = self._differing(self._starts(np.arange(block.start, block.stop)), self._steps)
            lengths[block] = (spread**2).sum(axis=0)
        return lengths

    def _starts(self, numbers: Integers) -> Floats:
        starts = np.zeros((len(self._roots), len(numbers)))
        starts[numbers, np.arange(len(numbers))] = self._roots[numbers]
        return starts

    def _differing(self, starts: Floats, steps: int) -> Floats:
        """Starts spread, without what all walks have in common: one part of each, along the root of phi."""
        common = 1.0 / self._roots
        spread = self._spread(starts - common[:, None], steps)
        # rounding of the first steps left some of it, which never fades; a row by itself, for equal bits
        return spread - common[:, None] * (np.ascontiguousarray(spread.T) * common).sum(axis=1)

    def _spread(self, B: Floats, steps: int) -> Floats:
        for _ in range(steps):
            B = self._walk @ B
        return B
