"""Lessons of networks: rows in batches, rows held back, and what an autoencoder makes of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ..._core.arguments import Choice, Count, Parameter, Real
from ..._core.errors import IsentropicWarning, is_whole, require, warn
from ..._core.runtime import one_blas_thread
from ...embedding.maps.network import AutoencoderMap, Layers
from ...embedding.training_data import TrainingData
from .training import ScaledRows, Schedule, drawn_batches, held_and_learnt

PRECISIONS = {"single": np.float32, "double": np.float64}
_HELD = 0.1  # of the rows, and at most so many:
_MOST_HELD = 10_000
FEW = 50  # rows: a network learns fewer by heart
_BATCH = 128  # rows at most
_LEAST_BATCH = 8
_STEPS = 20  # of an epoch at least, where that leaves batches of some rows
_PATIENCE, _PATIENT_STEPS = 5, 500  # epochs and steps without progress that end the training at a rate
_ROWS = 512  # at a time


class _Layers(Parameter):
    """Units of hidden layers."""

    def __init__(self, *, optional: bool = False):
        self.optional = optional

    def _accepted(self, name: str, value: Any) -> tuple[int, ...]:
        return checked_layers(value)


HiddenLayers = Annotated[Any, _Layers()]
MaybeHiddenLayers = Annotated[Any, _Layers(optional=True)]
MaxEpochs = Annotated[int, Count()]
WeightDecay = Annotated[float, Real("a number of at least 0")]
Precision = Annotated[str, Choice(*PRECISIONS)]


@dataclass(frozen=True, slots=True)
class Lessons:
    """Batches of rows that a network learns from, and rows that are held back."""

    rows: ScaledRows
    learnt: np.ndarray  # numbers of rows
    held: np.ndarray
    size: int  # of a batch

    @classmethod
    def of(cls, rows: ScaledRows, random: np.random.RandomState) -> Lessons:
        """A tenth of the rows is held back, of fewer than 50 none: then the learnt ones tell when to end."""
        n = len(rows)
        warn_of_few(n)
        held, learnt = held_and_learnt(n, _HELD, random, fewest=FEW, most=_MOST_HELD)
        return cls(rows, learnt, held, min(_BATCH, max(_LEAST_BATCH, len(learnt) // _STEPS)))

    def schedule(self, max_epochs: int) -> Schedule:
        """An end after five epochs without progress, or 500 steps where those are more."""
        steps = max(len(self.learnt) // self.size, 1)
        return Schedule(max_epochs, patience=max(_PATIENCE, _PATIENT_STEPS // steps))

    def batches(self, random: np.random.RandomState) -> Iterator[np.ndarray]:
        for numbers in drawn_batches(self.learnt, self.size, random):
            yield self.rows.take(numbers)

    def blocks(self, numbers: np.ndarray) -> Iterator[np.ndarray]:
        """These rows, some at a time."""
        for first in range(0, len(numbers), _ROWS):
            yield self.rows.take(numbers[first : first + _ROWS])


class Reconstruction:
    """The lesson of an autoencoder: mean squared error of the rows that it gives, and weight decay."""

    def __init__(self, layers: Layers, lessons: Lessons, weight_decay: float):
        self.layers, self.lessons, self.weight_decay = layers, lessons, weight_decay

    def batches(self, random: np.random.RandomState) -> Iterator[np.ndarray]:
        return self.lessons.batches(random)

    def slopes(self, batch: np.ndarray) -> np.ndarray:
        outputs = self.layers.forward(batch)
        gradient = np.zeros_like(self.layers.vector)
        self.layers.backward(outputs, (outputs[-1] - batch) * batch.dtype.type(2 / batch.size), gradient)
        self.layers.decay(self.weight_decay, gradient)
        return gradient

    def error(self) -> float:
        total = sum(
            float(((self.layers.forward(X)[-1] - X) ** 2).sum())
            for X in self.lessons.blocks(self.lessons.held)
        )
        return total / (len(self.lessons.held) * self.layers.sizes[0])


def warn_of_few(n: int) -> None:
    """Say that there are too few rows to hold some back."""
    if n < FEW:
        text = f"A network learns {n} rows by heart: coordinates of others need not mean anything."
        warn(text, IsentropicWarning)


def checked_layers(layers) -> tuple[int, ...]:
    """The units of hidden layers; none at all make a linear map."""
    given = tuple(layers) if np.iterable(layers) and not isinstance(layers, str) else (layers,)
    whole = all(is_whole(size) and size > 0 for size in given)
    require(whole, "layers", "a sequence of positive integers", layers)
    return tuple(map(int, given))


def mirrored(sizes: tuple[int, ...], activation: str, random: np.random.RandomState, dtype: type) -> Layers:
    """An encoder with linear outputs, then the same layers in reverse, as one network."""
    bent = (*(activation for _ in sizes[1:-1]), "linear")
    return Layers.drawn(sizes + sizes[-2::-1], bent + bent, random, dtype)


def decoding_error(new_rows: AutoencoderMap, Z: np.ndarray, rows: ScaledRows, some: np.ndarray) -> float:
    """Mean squared difference of a feature between some rows, by number, and those that the decoder gives."""
    total = 0.0
    with one_blas_thread():
        for first in range(0, len(some), _ROWS):
            numbers = some[first : first + _ROWS]
            away = new_rows.decoder.forward(Z[numbers])[-1] - rows.take(numbers)
            total += float((away**2).sum())
    return total / (len(some) * rows.X.shape[1]) * rows.unit**2


def autoencoder_map(
    kind: type[AutoencoderMap], n_components: int, rows: ScaledRows, encoder: Layers, decoder: Layers
) -> AutoencoderMap:
    """The map of trained networks, in double precision."""
    data = TrainingData(len(rows), None, "euclidean")
    both = encoder.astype(np.float64), decoder.astype(np.float64)
    return kind(data, n_components, rows.origin, rows.unit, *both)


def autoencoder_errors(new_rows: AutoencoderMap, Z: np.ndarray, lessons: Lessons) -> dict[str, float]:
    """How well the decoder gives all rows again, and those held back."""
    return {
        "reconstruction_error_": decoding_error(new_rows, Z, lessons.rows, np.arange(len(Z))),
        "held_out_error_": decoding_error(new_rows, Z, lessons.rows, lessons.held),
    }
