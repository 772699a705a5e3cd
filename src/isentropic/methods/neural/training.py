"""Train networks: scaled rows, batches, the schedule, and parameters that neural methods share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, Protocol

import numpy as np

from ..._core.arguments import Choice, Count, Parameter, Real
from ..._core.errors import IsentropicWarning, is_whole, require, warn
from ..._core.runtime import one_blas_thread, row_blocks
from ...embedding.maps.network import AutoencoderMap, Layers, scaled
from ...embedding.training_data import TrainingData
from ...optim import Adam

_RUN, _WINDOW = 256, 2**17  # rows that lie together, and that are mixed with each other, in a large table


class NetworkLoss(Protocol):
    """The loss that a network is trained by."""

    def batches(self, random: np.random.RandomState) -> Iterator[Any]:
        """The batches of one epoch."""
        ...

    def gradient(self, batch: Any) -> np.ndarray:
        """The gradient of the cost of a batch by the parameters, as one vector."""
        ...

    def error(self) -> float:
        """The error of the validation set: the least is the best."""
        ...


@dataclass(frozen=True, slots=True)
class Schedule:
    """How long to train: at one rate after the other, from the best parameters so far."""

    max_epochs: int
    patience: int = 5  # epochs without progress that end a rate
    rates: tuple[float, ...] = (1e-3, 1e-4)  # the second takes the noise of the first out
    anew: bool = False  # Adam begins anew with every epoch: longer steps, which a small network gains from


@dataclass(frozen=True, slots=True)
class Trained:
    """How a training went; the parameters are those of its best epoch."""

    error: float  # of the best epoch
    errors: tuple[float, ...]  # of every epoch

    @property
    def n_epochs(self) -> int:
        return len(self.errors)


def train(
    vector: np.ndarray, loss: NetworkLoss, schedule: Schedule, random: np.random.RandomState
) -> Trained:
    """Train a network: change its parameters ``vector`` in place, and end with those of the best epoch.

    BLAS runs on one thread, so that the bits depend on the seed alone.
    """
    errors: list[float] = []
    best, least = vector.copy(), np.inf
    epochs = row_blocks(schedule.max_epochs, "epochs", size=1)
    with one_blas_thread():
        for rate in schedule.rates:
            vector[:] = best
            adam, idle = Adam(vector, rate), 0
            while idle < schedule.patience and next(epochs, None) is not None:
                adam = Adam(vector, rate) if schedule.anew else adam
                for batch in loss.batches(random):
                    adam.step(loss.gradient(batch))
                errors.append(loss.error())
                idle += 1
                if errors[-1] < least:
                    least, idle = errors[-1], 0
                    best[:] = vector
    vector[:] = best
    hint = "The training runs away: rescale the features, or take fewer and smaller layers."
    require(bool(np.isfinite(least)), "The error of the network", "finite", errors[-1], hint)
    return Trained(least, tuple(errors))


def validation_split(
    n: int, share: float, random: np.random.RandomState, *, fewest: int, most: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the validation and of the training rows; of fewer than ``fewest`` rows all are both."""
    order = random.permutation(n)
    if n < fewest:
        return order, order
    n_held = min(int(np.ceil(share * n)), n if most is None else most)
    training = order[n_held:]
    return order[:n_held], np.sort(training) if n > _WINDOW else training  # in the order in which they lie


def shuffled_batches(rows: np.ndarray, size: int, random: np.random.RandomState) -> Iterator[np.ndarray]:
    """Split the numbers of ``rows`` into shuffled batches.

    Of a table of many rows, which may lie on a disk, runs of rows that lie together come in a drawn order,
    and windows of some of them are mixed: as good as drawn at will, and read as fast as in order.
    """
    if len(rows) <= _WINDOW:
        mixed = random.permutation(rows)
    else:
        starts = random.permutation(np.arange(0, len(rows), _RUN))
        mixed = np.concatenate([rows[start : start + _RUN] for start in starts])
        for first in range(0, len(mixed), _WINDOW):
            random.shuffle(mixed[first : first + _WINDOW])
    # A last batch of a few rows would be mostly noise: such rows join the one before.
    edges = [*range(0, max(len(mixed) - (size - 1) // 2, 1), size), len(mixed)]
    for first, last in pairwise(edges):
        yield mixed[first:last]


# ---- Rows of a table for a network: moved and divided by one number, a batch at a time -----------


_BLOCK = 2**18  # numbers that are read at once


@dataclass(frozen=True, slots=True)
class ScaledRows:
    """``(x - origin) / unit`` for any rows x of a table, which stays as it is and where it lies.

    The unit is one for all features: distances keep their proportions.
    """

    X: np.ndarray  # (n, m), single or double precision
    origin: np.ndarray  # (m,)
    unit: float
    dtype: type = np.float64  # of what is given

    @classmethod
    def standard(cls, X: np.ndarray, dtype: type = np.float64) -> ScaledRows:
        """Around the mean, in the root mean square of what is left: two passes over the table."""
        first = X[0].astype(np.float64)  # from which an offset of the columns costs no digits
        total, largest = np.zeros(X.shape[1]), 0.0
        for block in _doubles(X):
            away = block - first
            total += away.sum(axis=0)
            largest = max(largest, float(np.abs(away).max()))
        middle = total / len(X)
        exponent = int(np.frexp(largest)[1])  # no square overflows or vanishes
        squares = 0.0
        for block in _doubles(X):
            squares += float((np.ldexp(block - first - middle, -exponent) ** 2).sum())
        unit = float(np.ldexp(np.sqrt(squares / X.size), exponent))
        return cls(X, first + middle, unit or 1.0, dtype)

    @classmethod
    def within_one(cls, X: np.ndarray, dtype: type = np.float64) -> ScaledRows:
        """From 0 to 1: above the least of each feature, in the longest of their ranges."""
        low, high = X[0].astype(np.float64), X[0].astype(np.float64)
        for block in _doubles(X):
            np.minimum(low, block.min(axis=0), out=low)
            np.maximum(high, block.max(axis=0), out=high)
        return cls(X, low, float((high - low).max()) or 1.0, dtype)

    def __len__(self) -> int:
        return len(self.X)

    def take(self, rows: np.ndarray | slice) -> np.ndarray:
        """Some of the rows, by their numbers."""
        return scaled(self.X[rows], self.origin, self.unit).astype(self.dtype, copy=False)

    def blocks(self) -> Iterator[np.ndarray]:
        """All rows in order, in blocks."""
        for first in range(0, len(self.X), size := _rows_at_once(self.X)):
            yield self.take(slice(first, first + size))


def _doubles(X: np.ndarray) -> Iterator[np.ndarray]:
    for block in row_blocks(len(X), "reading rows", size=_rows_at_once(X)):
        yield np.ascontiguousarray(X[block], np.float64)  # sums follow the layout, bits must not


def _rows_at_once(X: np.ndarray) -> int:
    return max(1, _BLOCK // X.shape[1])


PRECISIONS = {"single": np.float32, "double": np.float64}
_VALIDATION = 0.1  # of the rows, and at most so many:
_MOST_VALIDATION = 10_000
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
class TrainingSplit:
    """A training set in batches, and a validation set."""

    rows: ScaledRows
    training: np.ndarray  # numbers of rows
    validation: np.ndarray
    size: int  # of a batch

    @classmethod
    def of(cls, rows: ScaledRows, random: np.random.RandomState) -> TrainingSplit:
        """Hold a tenth of the rows back; of fewer than 50 none, and the training set says when to end."""
        n = len(rows)
        warn_of_few(n)
        validation, training = validation_split(n, _VALIDATION, random, fewest=FEW, most=_MOST_VALIDATION)
        return cls(rows, training, validation, min(_BATCH, max(_LEAST_BATCH, len(training) // _STEPS)))

    def schedule(self, max_epochs: int) -> Schedule:
        """End after five epochs without progress, or 500 steps where those are more."""
        steps = max(len(self.training) // self.size, 1)
        return Schedule(max_epochs, patience=max(_PATIENCE, _PATIENT_STEPS // steps))

    def batches(self, random: np.random.RandomState) -> Iterator[np.ndarray]:
        for numbers in shuffled_batches(self.training, self.size, random):
            yield self.rows.take(numbers)

    def blocks(self, numbers: np.ndarray) -> Iterator[np.ndarray]:
        """These rows, some at a time."""
        for first in range(0, len(numbers), _ROWS):
            yield self.rows.take(numbers[first : first + _ROWS])


class Reconstruction:
    """The loss of an autoencoder: mean squared reconstruction error, and weight decay."""

    def __init__(self, layers: Layers, split: TrainingSplit, weight_decay: float):
        self.layers, self.split, self.weight_decay = layers, split, weight_decay

    def batches(self, random: np.random.RandomState) -> Iterator[np.ndarray]:
        return self.split.batches(random)

    def gradient(self, batch: np.ndarray) -> np.ndarray:
        outputs = self.layers.forward(batch)
        gradient = np.zeros_like(self.layers.vector)
        self.layers.backward(outputs, (outputs[-1] - batch) * batch.dtype.type(2 / batch.size), gradient)
        self.layers.decay(self.weight_decay, gradient)
        return gradient

    def error(self) -> float:
        total = sum(
            float(((self.layers.forward(X)[-1] - X) ** 2).sum())
            for X in self.split.blocks(self.split.validation)
        )
        return total / (len(self.split.validation) * self.layers.sizes[0])


def warn_of_few(n: int) -> None:
    """Warn of too few rows for a validation set."""
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
    activations = (*(activation for _ in sizes[1:-1]), "linear")
    return Layers.initialized(sizes + sizes[-2::-1], activations + activations, random, dtype)


def decoding_error(new_rows: AutoencoderMap, Z: np.ndarray, rows: ScaledRows, some: np.ndarray) -> float:
    """Mean squared reconstruction error of a feature, over some rows by number."""
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


def autoencoder_errors(new_rows: AutoencoderMap, Z: np.ndarray, split: TrainingSplit) -> dict[str, float]:
    """Reconstruction errors of all rows, and of the validation set."""
    return {
        "reconstruction_error_": decoding_error(new_rows, Z, split.rows, np.arange(len(Z))),
        "held_out_error_": decoding_error(new_rows, Z, split.rows, split.validation),
    }
