"""Deep autoencoder that begins as a stack of restricted Boltzmann machines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
from scipy.special import expit

from ..._core.arguments import Count
from ..._core.errors import require
from ..._core.runtime import generator, one_blas_thread, row_blocks
from ..._core.specs import Array, Number, Whole
from ..._core.state import Sub
from ...embedding.embedder import Embedder, SupportsInverse
from ...embedding.input_rows import checked_coordinates
from ...embedding.maps.network import AutoencoderMap, Layers
from ...embedding.training_data import NComponents, NJobs, training_data
from .training import (
    PRECISIONS,
    MaxEpochs,
    MaybeHiddenLayers,
    Precision,
    Reconstruction,
    ScaledRows,
    TrainingSplit,
    WeightDecay,
    autoencoder_errors,
    autoencoder_map,
    checked_layers,
    shuffled_batches,
    train,
)

# --------------------------------------------------------------------------------------------------
# Restricted Boltzmann machines, trained by contrastive divergence: the start of a deep autoencoder.


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
    def initialized(
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

    def sampled_hidden(self, means: np.ndarray, random: np.random.RandomState) -> np.ndarray:
        """Hidden units, drawn from their distributions with these means."""
        if self.gaussian:
            return means + random.standard_normal(means.shape).astype(means.dtype)
        return (random.random_sample(means.shape) < means).astype(means.dtype)

    def free_energy(self, V: np.ndarray) -> np.ndarray:
        """``-log sum_h exp(-E(v, h))`` of every row v; of Gaussian units up to a constant."""
        inputs = V @ self.weights + self.hidden
        of_hidden = inputs**2 / 2 if self.gaussian else np.logaddexp(0, inputs)
        return -(V @ self.visible) - of_hidden.sum(axis=1)

    def statistics(self, V: np.ndarray, means: np.ndarray) -> Gradients:
        """Mean over the rows of ``v h``, ``v`` and ``h``: minus the gradient of their free energy."""
        return V.T @ means / len(V), V.mean(axis=0), means.mean(axis=0)

    def contrastive_divergence(self, V: np.ndarray, random: np.random.RandomState) -> Gradients:
        """CD-1: statistics of the rows less those of what one step of Gibbs sampling makes of them."""
        means = self.hidden_means(V)
        again = self.visible_means(self.sampled_hidden(means, random))
        of_rows, of_model = self.statistics(V, means), self.statistics(again, self.hidden_means(again))
        return tuple(a - b for a, b in zip(of_rows, of_model, strict=True))


Gradients = tuple[np.ndarray, ...]  # by weights, visible and hidden biases


@dataclass(frozen=True, slots=True)
class Stack:
    """Stacked machines, each trained on the outputs of the one below."""

    machines: tuple[Boltzmann, ...]
    gaps: np.ndarray  # of each: mean free energy of rows held back less that of rows learnt

    def unrolled(self) -> Layers:
        """An encoder of the hidden means, and a decoder of the visible ones, as one network."""
        up = [(one.weights, one.hidden, "linear" if one.gaussian else "logistic") for one in self.machines]
        down = [(one.weights.T, one.visible, "logistic") for one in self.machines[::-1]]
        return Layers.of(*zip(*up, *down, strict=True))


def stacked(
    sizes: tuple[int, ...], split: TrainingSplit, n_epochs: int, random: np.random.RandomState, dtype: type
) -> Stack:
    """Greedy training, layer after layer; the units of the last are Gaussian. ``O(n w)`` an epoch."""
    machines: list[Boltzmann] = []
    gaps = []
    with one_blas_thread():
        for layer, (below, above) in enumerate(pairwise(sizes)):
            machine = Boltzmann.initialized(below, above, layer == len(sizes) - 2, random, dtype)
            _train(machine, machines, split, n_epochs, random)
            machines.append(machine)
            gaps.append(_gap(machine, machines[:-1], split))
            require(bool(np.isfinite(gaps[-1])), "The free energy of the rows", "finite", gaps[-1], _HINT)
    return Stack(tuple(machines), np.array(gaps))


_HINT = "The training of a layer ran away: take fewer units, or fewer pretrain_epochs."


def _train(
    machine: Boltzmann,
    below: list[Boltzmann],
    split: TrainingSplit,
    n_epochs: int,
    random: np.random.RandomState,
) -> None:
    """Stochastic ascent with momentum, the parameters changed in place."""
    parameters = (machine.weights, machine.visible, machine.hidden)
    steps = [np.zeros_like(part) for part in parameters]
    rate = _GAUSSIAN_RATE if machine.gaussian else _RATE
    for epoch in row_blocks(n_epochs, "contrastive divergence", size=1):
        momentum = _MOMENTUM if epoch.start < _EARLY else _LATER_MOMENTUM
        for numbers in shuffled_batches(split.training, min(_BATCH, split.size), random):
            gradients = machine.contrastive_divergence(_through(below, split.rows.take(numbers)), random)
            gradients[0][...] -= gradients[0].dtype.type(_DECAY) * machine.weights
            for part, step, gradient in zip(parameters, steps, gradients, strict=True):
                step *= step.dtype.type(momentum)
                step += gradient.dtype.type(rate) * gradient
                part += step


def _through(machines: list[Boltzmann], V: np.ndarray) -> np.ndarray:
    for machine in machines:
        V = machine.hidden_means(V)
    return V


def _gap(machine: Boltzmann, below: list[Boltzmann], split: TrainingSplit) -> float:
    """Mean free energy of validation rows less that of as many training rows: grows with overfitting."""
    training = split.training[np.linspace(0, len(split.training) - 1, len(split.validation)).astype(int)]

    def mean(blocks: Iterator[np.ndarray]) -> float:
        energies = [machine.free_energy(_through(below, V)) for V in blocks]
        return float(np.concatenate(energies).mean(dtype=np.float64))

    return mean(split.blocks(split.validation)) - mean(split.blocks(training))


_WIDE = 500  # features from which on the first layer has 1,000 units


class RBMAutoencoder(SupportsInverse, Embedder):
    """Deep autoencoder of logistic units, pretrained as a stack of restricted Boltzmann machines.

    Layer after layer, a machine with the energy ``-v W h - v a - h b`` is trained on what the layer below
    gives for the rows, by one step of contrastive divergence (CD-1); the last has Gaussian units, the
    coordinates. The stack is unrolled, encoder upwards and decoder downwards, and fine-tuned by the mean
    squared error as :class:`Autoencoder` is. The features are moved to begin at 0 and divided by the longest
    of their ranges, so that they lie within [0, 1] as probabilities do.

    Cost: ``O(n w)`` time an epoch for w weights, ``O(w)`` memory beyond the table and the map. A new row:
    ``O(w)``.

    Parameters
    ----------
    n_components : int
        Dimension of the map.
    layers : tuple of int, optional
        Units of the hidden layers of the encoder. None is 500 and 250, after 1,000 where there are 500
        features or more: ``(1000, 500, 250)``.
    pretrain_epochs : int
        Passes over the rows for every machine; 0 leaves them as they were drawn.
    max_epochs : int
        Passes over the rows at most, of the fine-tuning.
    weight_decay : float
        Of the fine-tuning: more gives a smoother map.
    precision : {"single", "double"}
        Of the training. What a row gives is computed in double precision.
    random_state : int, RandomState or None
        Of the weights, the batches, the units drawn and the rows held back. None is a fixed seed.
    n_jobs : int, optional
        Threads that place rows. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    free_energy_gaps_ : array
        Of each machine, mean free energy of the rows held back less that of learnt ones, in nats: one that
        is large beside the others has learnt its rows by heart.
    reconstruction_error_ : float
        Mean of the squares of ``x - g(f(x))`` over all features, of all rows.
    held_out_error_ : float
        Of the rows held back.
    n_epochs_ : int
        Of the fine-tuning.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Hinton and Salakhutdinov (2006).

    Examples
    --------
    >>> from isentropic import RBMAutoencoder, datasets
    >>> X = datasets.load("builtin:digits").X
    >>> network = RBMAutoencoder(layers=(64,), pretrain_epochs=5, max_epochs=5).fit(X)
    >>> network.embedding_.shape, len(network.free_energy_gaps_)
    ((1797, 2), 2)
    """

    _in_batches = True
    free_energy_gaps_: Annotated[np.ndarray, Array(None)]
    reconstruction_error_: Annotated[float, Number(0)]
    held_out_error_: Annotated[float, Number(0)]
    n_epochs_: Annotated[int, Whole(1)]
    _map: Annotated[AutoencoderMap, Sub(AutoencoderMap)]

    def __init__(
        self,
        n_components: NComponents = 2,
        *,
        layers: MaybeHiddenLayers = None,
        pretrain_epochs: Annotated[int, Count(least=0)] = 50,
        max_epochs: MaxEpochs = 200,
        weight_decay: WeightDecay = 1e-5,
        precision: Precision = "single",
        random_state: Any = None,
        n_jobs: NJobs = None,
    ):
        self.n_components = n_components
        self.layers = layers
        self.pretrain_epochs = pretrain_epochs
        self.max_epochs = max_epochs
        self.weight_decay = weight_decay
        self.precision = precision
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Scale; machine upon machine; unroll them; fine-tune; place every row. ``y`` is not used."""
        data, d, n_jobs = training_data(self, X, keep_rows=False), int(self.n_components), self.n_jobs
        m, dtype, random = data.table.shape[1], PRECISIONS[self.precision], generator(self.random_state)
        default = (1000, 500, 250) if m >= _WIDE else (500, 250)
        hidden = default if self.layers is None else checked_layers(self.layers)
        rows = ScaledRows.within_one(data.table, dtype)
        split = TrainingSplit.of(rows, random)
        stack = stacked((m, *hidden, d), split, int(self.pretrain_epochs), random, dtype)
        layers = stack.unrolled()
        loss = Reconstruction(layers, split, float(self.weight_decay))
        trained = train(layers.vector, loss, split.schedule(int(self.max_epochs)), random)
        half = len(hidden) + 1
        new_rows = autoencoder_map(AutoencoderMap, d, rows, layers[:half], layers[half:])
        Z = checked_coordinates(new_rows.transform(rows.X, n_jobs))
        errors = autoencoder_errors(new_rows, Z, split)
        return self._set_fit(Z, new_rows, free_energy_gaps_=stack.gaps, n_epochs_=trained.n_epochs, **errors)
