"""PaCMAP's cost over near, mid-near and further pairs, as steps of Adam's."""

from __future__ import annotations

import math

import numpy as np

from ..kernels.layouts.pair_epochs import pair_epoch

HALVES = (10.0, 10_000.0, 1.0)  # squared distances at which the three costs are at half
_PHASES = (2 / 9, 4 / 9)  # of the steps: mid-near pairs fade out in the first, end with the second
_FIRST_MID = 1000.0
_MID, _NEAR = 3.0, (2.0, 3.0, 1.0)  # the weights of mid-near pairs after the first phase, of near ones in all


def phase_weights(step: int, n_steps: int) -> tuple[float, float, float]:
    """Weights of near, mid-near and further pairs, as published for 450 steps."""
    share = step / n_steps
    if share < _PHASES[0]:
        gone = share / _PHASES[0]
        return _NEAR[0], (1.0 - gone) * _FIRST_MID + gone * _MID, 1.0
    if share < _PHASES[1]:
        return _NEAR[1], _MID, 1.0
    return _NEAR[2], 0.0, 1.0


def adam_rate(rate: float, step: int) -> float:
    """The rate of a step, with Adam's corrections of both means."""
    return rate * math.sqrt(1.0 - 0.999 ** (step + 1)) / (1.0 - 0.9 ** (step + 1))


class PairSteps:
    """Steps down ``w_near sum u / (10 + u) + w_mid sum u / (10000 + u) + w_far sum 1 / (1 + u)``,
    ``u = 1 + r^2``, over the pairs ``(i, lists[t][i, s])``; -1 in a list is no pair. ``O(pairs)`` a step.
    """

    n_memories = 2

    def __init__(self, lists: tuple[np.ndarray, ...], *, n_steps: int):
        self._starts, self._partners = both_ends(lists)
        self._n_steps = n_steps

    def __call__(self, Z: np.ndarray, memory: np.ndarray, out: np.ndarray, epoch: int) -> None:
        near, mid, far = phase_weights(epoch, self._n_steps)
        amounts = 2.0 * np.array([near * HALVES[0], mid * HALVES[1], -far * HALVES[2]])
        pair_epoch(Z, memory, out, self._starts, self._partners, amounts.astype(np.float32),
                   np.array(HALVES, np.float32), np.float32(adam_rate(1.0, epoch)))  # fmt: skip


def mean_pair_cost(near: np.ndarray, far: np.ndarray, Z: np.ndarray) -> float:
    """The mean of ``u / (10 + u)`` of near and ``1 / (1 + u)`` of further pairs in a map, ``u = 1 + r^2``.

    The cost of the last phase, over its number of pairs; a column of the lists at a time, ``O(pairs)``.
    """
    total, count = 0.0, 0
    for rows in near.T:
        u = 1.0 + ((Z - Z[rows]) ** 2).sum(axis=1)
        total += float((u / (HALVES[0] + u)).sum())
        count += len(rows)
    for rows in far.T:
        there = rows >= 0
        u = 1.0 + ((Z[there] - Z[rows[there]]) ** 2).sum(axis=1)
        total += float((1.0 / (HALVES[2] + u)).sum())
        count += len(u)
    return total / count


def both_ends(lists: tuple[np.ndarray, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Every pair in the lists of both of its rows, in an order that is fixed: where those of each kind start
    (n, kinds + 1), and the partners."""
    n, kinds = len(lists[0]), len(lists)
    heads, tails, codes = [], [], []
    for kind, near in enumerate(lists):
        own = np.repeat(np.arange(n), near.shape[1])
        other = near.ravel().astype(np.int64)
        own, other = own[other >= 0], other[other >= 0]
        heads += [own, other]
        tails += [other, own]
        codes.append(np.full(2 * len(own), kind))
    head, code = np.concatenate(heads), np.concatenate(codes)
    cell = head * kinds + code
    order = np.argsort(cell, kind="stable")
    ends = np.concatenate([[0], np.cumsum(np.bincount(cell, minlength=n * kinds))])
    starts = np.column_stack([ends[:-1].reshape(n, kinds), ends[kinds::kinds]])
    return np.ascontiguousarray(starts), np.concatenate(tails)[order].astype(np.int32)
