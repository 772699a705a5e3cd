"""Restricted Boltzmann machines, trained by contrastive divergence: the start of a deep autoencoder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.special import expit

from ..._core.errors import require
from ..._core.runtime import one_blas_thread, row_blocks
from ...embedding.maps.layers import Layers
from .lessons import Lessons
from .training import drawn_batches

_RATE, _GAUSSIAN_RATE = 0.1, 0.001  # of learning: linear units have no bound that would hold them
_MOMENTUM, _LATER_MOMENTUM, _EARLY = 0.5, 0.9, 5  # the first for so many epochs
_DECAY = 2e-4
_BATCH = 100
_FIRST_WEIGHTS = 0.1  # their standard deviation: from 0.01 few rows all end on one point


@dataclass(frozen=True, slots=True)
class Boltzmann:
    """``E(v, h) = -v W h - v a - h b`` over visible and hidden units, no two of a kind connected.

    Visible units are 0 or 1, or their probabilities; hidden ones too, or, if ``gaussian``, normal with
    variance 1, which adds ``h^2 / 2`` to the energy.
    """

    weights: np.ndarray  # W, (v, h)
    visible: np.ndarray  # a
    hidden: np.ndarray  # b
    gaussian: bool = False

    @classmethod
    def drawn(
        cls, n_visible: int, n_hidden: int, gaussian: bool, random: np.random.RandomState, dtype: type
    ) -> Boltzmann:
        weights: np.ndarray = (_FIRST_WEIGHTS * random.standard_normal((n_visible, n_hidden))).astype(dtype)
        return cls(weights, np.zeros(n_visible, dtype), np.zeros(n_hidden, dtype), gaussian)

    def hidden_means(self, V: np.ndarray) -> np.ndarray:
        """``E(h | v)``, of every row v."""
        inputs = V @ self.weights + self.hidden
        return inputs if self.gaussian else expit(inputs)

    def visible_means(self, H: np.ndarray) -> np.ndarray:
        """``E(v | h)``, of every row h."""
        return expit(H @ self.weights.T + self.visible)

    def drawn_hidden(self, means: np.ndarray, random: np.random.RandomState) -> np.ndarray:
        """Hidden units, drawn from their distributions with these means."""
        if self.gaussian:
            return means + random.standard_normal(means.shape).astype(means.dtype)
        return (random.random_sample(means.shape) < means).astype(means.dtype)

    def free_energy(self, V: np.ndarray) -> np.ndarray:
        """``-log sum_h exp(-E(v, h))`` of every row v; of Gaussian units up to a constant."""
        inputs = V @ self.weights + self.hidden
        of_hidden = inputs**2 / 2 if self.gaussian else np.logaddexp(0, inputs)
        return -(V @ self.visible) - of_hidden.sum(axis=1)

    def statistics(self, V: np.ndarray, means: np.ndarray) -> Slopes:
        """Mean over the rows of ``v h``, ``v`` and ``h``: minus the slopes of their free energy."""
        return V.T @ means / len(V), V.mean(axis=0), means.mean(axis=0)

    def contrastive_divergence(self, V: np.ndarray, random: np.random.RandomState) -> Slopes:
        """CD-1: statistics of the rows less those of what one step of Gibbs sampling makes of them."""
        means = self.hidden_means(V)
        again = self.visible_means(self.drawn_hidden(means, random))
        of_rows, of_model = self.statistics(V, means), self.statistics(again, self.hidden_means(again))
        return tuple(a - b for a, b in zip(of_rows, of_model, strict=True))


Slopes = tuple[np.ndarray, ...]  # by weights, visible and hidden biases


@dataclass(frozen=True, slots=True)
class Stack:
    """Machines one above the other, each trained on what the one below gives for the rows."""

    machines: tuple[Boltzmann, ...]
    gaps: np.ndarray  # of each: mean free energy of rows held back less that of rows learnt

    def unrolled(self) -> Layers:
        """An encoder of the hidden means, and a decoder of the visible ones, as one network."""
        up = [(one.weights, one.hidden, "linear" if one.gaussian else "logistic") for one in self.machines]
        down = [(one.weights.T, one.visible, "logistic") for one in self.machines[::-1]]
        return Layers.of(*zip(*up, *down, strict=True))


def stacked(
    sizes: tuple[int, ...], lessons: Lessons, n_epochs: int, random: np.random.RandomState, dtype: type
) -> Stack:
    """Greedy training, layer after layer; the units of the last are Gaussian. ``O(n w)`` an epoch."""
    machines: list[Boltzmann] = []
    gaps = []
    with one_blas_thread():
        for layer, (below, above) in enumerate(pairwise(sizes)):
            machine = Boltzmann.drawn(below, above, layer == len(sizes) - 2, random, dtype)
            _train(machine, machines, lessons, n_epochs, random)
            machines.append(machine)
            gaps.append(_gap(machine, machines[:-1], lessons))
            require(bool(np.isfinite(gaps[-1])), "The free energy of the rows", "finite", gaps[-1], _HINT)
    return Stack(tuple(machines), np.array(gaps))


_HINT = "The training of a layer ran away: take fewer units, or fewer pretrain_epochs."


def _train(
    machine: Boltzmann, below: list[Boltzmann], lessons: Lessons, n_epochs: int, random: np.random.RandomState
) -> None:
    """Stochastic ascent with momentum, the parameters changed in place."""
    parameters = (machine.weights, machine.visible, machine.hidden)
    steps = [np.zeros_like(part) for part in parameters]
    rate = _GAUSSIAN_RATE if machine.gaussian else _RATE
    for epoch in row_blocks(n_epochs, "contrastive divergence", size=1):
        momentum = _MOMENTUM if epoch.start < _EARLY else _LATER_MOMENTUM
        for numbers in drawn_batches(lessons.learnt, min(_BATCH, lessons.size), random):
            slopes = machine.contrastive_divergence(_through(below, lessons.rows.take(numbers)), random)
            slopes[0][...] -= slopes[0].dtype.type(_DECAY) * machine.weights
            for part, step, slope in zip(parameters, steps, slopes, strict=True):
                step *= step.dtype.type(momentum)
                step += slope.dtype.type(rate) * slope
                part += step


def _through(machines: list[Boltzmann], V: np.ndarray) -> np.ndarray:
    for machine in machines:
        V = machine.hidden_means(V)
    return V


def _gap(machine: Boltzmann, below: list[Boltzmann], lessons: Lessons) -> float:
    """Mean free energy of the rows held back less that of as many learnt ones: it grows with overfitting."""
    learnt = lessons.learnt[np.linspace(0, len(lessons.learnt) - 1, len(lessons.held)).astype(int)]

    def mean(blocks: Iterator[np.ndarray]) -> float:
        energies = [machine.free_energy(_through(below, V)) for V in blocks]
        return float(np.concatenate(energies).mean(dtype=np.float64))

    return mean(lessons.blocks(lessons.held)) - mean(lessons.blocks(learnt))
