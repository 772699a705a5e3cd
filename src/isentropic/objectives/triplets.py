"""TriMap's cost over triplets, as steps of Nesterov's with gains."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..kernels.layouts.triplet_epochs import triplet_epoch

_RATE = 0.1
_MOMENTA, _SWITCH = (0.5, 0.8), 0.625  # the second from this share of the steps on, as published for 400


@dataclass(frozen=True, slots=True)
class Triplets:
    """Row i is to be nearer to ``near[i, t]`` than to ``far[i, t]``; a weight of 0 is no triplet."""

    near: np.ndarray  # (n, t) int32
    far: np.ndarray
    weights: np.ndarray  # (n, t) float32

    def violated(self, Z: np.ndarray) -> float:
        """The share of the triplets whose far row is nearer than the near one in a map; 0 if there are none.

        A column of triplets at a time: ``O(triplets)`` time, ``O(n)`` memory.
        """
        count = 0
        for near, far, weights in zip(self.near.T, self.far.T, self.weights.T, strict=True):
            to_near, to_far = (((Z - Z[rows]) ** 2).sum(axis=1) for rows in (near, far))
            count += int(np.count_nonzero((to_near > to_far) & (weights > 0)))
        return count / max(int(np.count_nonzero(self.weights)), 1)

    def by_part(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The triplets that each row does not lead: starts, leaders, third rows, and weights, those of far
        rows negative. In the order of the leaders."""
        row, column = np.nonzero(self.weights)
        near, far, weights = (part[row, column] for part in (self.near, self.far, self.weights))
        moved = np.concatenate([near, far])
        order = np.argsort(moved, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(moved, minlength=len(self.near)))])
        leaders = np.concatenate([row, row])[order].astype(np.int32)
        others = np.concatenate([far, near])[order].astype(np.int32)
        return starts, leaders, others, np.concatenate([weights, -weights])[order]


class TripletSteps:
    """Steps down ``sum w a / (a + b)``, ``a = 1 + |z_i - z_j|^2`` and ``b = 1 + |z_i - z_k|^2``.

    Gradient descent with momentum and gains (delta-bar-delta), the gradient looked up ahead (Nesterov).
    ``O(triplets)`` a step.
    """

    n_memories = 2

    def __init__(self, triplets: Triplets, *, n_steps: int):
        self._led = triplets.near, triplets.far, triplets.weights
        self._taken = triplets.by_part()
        self._n_steps = n_steps

    def momentum(self, step: int) -> float:
        return _MOMENTA[step > _SWITCH * self._n_steps]

    def __call__(self, Z: np.ndarray, memory: np.ndarray, out: np.ndarray, epoch: int) -> None:
        ahead = self.momentum(epoch + 1) if epoch + 1 < self._n_steps else 0.0  # the last one looks nowhere
        steps = np.array([_RATE, self.momentum(epoch), ahead], np.float32)
        triplet_epoch(Z, memory, out, *self._led, *self._taken, *steps)
