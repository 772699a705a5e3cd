"""Neural methods: a network that gives the coordinates of any row. They differ in what it learns.

A method of this family trains :class:`~.networks.Layers` in ``fit`` by :func:`~.training.train` and hands
them to :meth:`NetworkEmbedder._keep`. Nothing of the fitted rows is needed to place another one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from sklearn.utils.validation import check_array, check_is_fitted

from ..._core.arguments import unmasked
from ..._core.errors import (
    IsentropicWarning,
    is_whole,
    require,
    require_count,
    require_number,
    require_one_of,
    warn,
)
from ..._core.runtime import generator, one_blas_thread, row_blocks
from ..._core.state import Array, Double, Number, State, StateError, Value, Whole
from ...embedding.input_rows import checked_components, checked_coordinates
from ...embedding.placement import Placer
from .networks import Layers
from .scaled_rows import ScaledRows, scaled
from .training import Schedule, Trained, drawn_batches, held_and_learnt

PRECISIONS = {"single": np.float32, "double": np.float64}
_HELD = 0.1  # of the rows, and at most so many:
_MOST_HELD = 10_000
FEW = 50  # rows: a network learns fewer by heart
_BATCH = 128  # rows at most
_LEAST_BATCH = 8
_STEPS = 20  # of an epoch at least, where that leaves batches of some rows
_PATIENCE, _PATIENT_STEPS = 5, 500  # epochs and steps without progress that end the training at a rate
_PLACED_AT_ONCE = 512


class NetworkEmbedder(Placer):
    """An embedder whose coordinates are the outputs of a network."""

    _in_batches = True
    _outputs = 1  # of the network for each coordinate; the first ones are the coordinates
    _state = State(
        n_epochs_=Whole(1),
        _origin=Array("m"),
        _unit=Double(above=0),
        _encoder=Value(Layers),
    )

    def _keep(self, rows: ScaledRows, encoder: Layers, trained: Trained) -> None:
        """Keep a network of double precision, and place every row."""
        self._origin, self._unit, self._encoder = rows.origin, rows.unit, encoder.astype(np.float64)
        self.n_epochs_ = trained.n_epochs
        self._n_features_out = encoder.sizes[-1] // self._outputs
        self.embedding_ = checked_coordinates(self._place(rows.X))

    def _place(self, X: np.ndarray) -> np.ndarray:
        Z = np.empty((len(X), self._n_features_out))
        for block in row_blocks(len(X), "network", size=_PLACED_AT_ONCE):
            rows = scaled(X[block], self._origin, self._unit)
            Z[block] = self._encoder.place(rows, self.n_jobs)[:, : self._n_features_out]
        return Z

    def _require_sound(self) -> None:
        ends = self._encoder.sizes[0], self._encoder.sizes[-1]
        if ends != (self.n_features_in_, self._outputs * self._n_features_out):
            raise StateError("_encoder", "must lead from the features to the coordinates")


class DecodingEmbedder(Placer):
    """A map with a network that leads back: from coordinates to rows."""

    _state = State(
        reconstruction_error_=Number(0),
        _origin=Array("m"),
        _unit=Double(above=0),
        _decoder=Value(Layers),
    )

    def inverse_transform(self, Z) -> np.ndarray:
        """The rows that the decoder gives for coordinates."""
        check_is_fitted(self)
        Z = check_array(unmasked("Z", Z), dtype=np.float64, order="C")
        d = self._n_features_out
        require(Z.shape[1] == d, "Z", f"rows of {d} coordinates", Z.shape)
        X = np.empty((len(Z), self.n_features_in_))
        for block in row_blocks(len(Z), "network", size=_PLACED_AT_ONCE):
            X[block] = self._decoder.place(Z[block], self.n_jobs) * self._unit + self._origin
        lost = int(np.count_nonzero(~np.isfinite(X).all(axis=1)))
        require(lost == 0, "Z", "coordinates whose rows are finite numbers", f"{lost} that lead beyond them")
        return X

    def _keep_decoder(self, origin: np.ndarray, unit: float, decoder: Layers) -> None:
        self._origin, self._unit, self._decoder = origin, unit, decoder.astype(np.float64)
        self._n_features_out = decoder.sizes[0]

    def _scaled(self, X: np.ndarray) -> np.ndarray:
        return scaled(X, self._origin, self._unit)

    def _require_sound(self) -> None:
        if (self._decoder.sizes[0], self._decoder.sizes[-1]) != (self._n_features_out, self.n_features_in_):
            raise StateError("_decoder", "must lead from the coordinates to the features")


class AutoencoderEmbedder(NetworkEmbedder, DecodingEmbedder):
    """A network that gives the rows themselves, through a layer of as many units as there are coordinates."""

    _state = State(held_out_error_=Number(0))

    def __init__(
        self, n_components, *, layers, max_epochs, weight_decay, precision, random_state, n_jobs
    ):  # fmt: skip
        self.n_components = n_components
        self.layers = layers
        self.max_epochs = max_epochs
        self.weight_decay = weight_decay
        self.precision = precision
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _settings(self, layers: tuple[int, ...] | None = None) -> Settings:
        """What the constructor was given, checked; ``layers`` where it was given none."""
        require_one_of("precision", self.precision, PRECISIONS)
        return Settings(
            checked_components(self.n_components),
            checked_layers(layers if self.layers is None else self.layers),
            require_count("max_epochs", self.max_epochs),
            require_number("weight_decay", self.weight_decay, "a number of at least 0"),
            PRECISIONS[self.precision],
            generator(self.random_state),
        )

    def _keep_both(self, lessons: Lessons, encoder: Layers, decoder: Layers, trained: Trained) -> None:
        """Keep encoder and decoder, place every row, and see how well the decoder gives it again."""
        self._keep(lessons.rows, encoder, trained)
        self._keep_decoder(self._origin, self._unit, decoder)
        self.reconstruction_error_ = self._mean_square(lessons.rows, np.arange(len(lessons.rows)))
        self.held_out_error_ = self._mean_square(lessons.rows, lessons.held)

    def _require_sound(self) -> None:
        NetworkEmbedder._require_sound(self)
        DecodingEmbedder._require_sound(self)

    def _mean_square(self, rows: ScaledRows, numbers: np.ndarray) -> float:
        """Mean squared difference of a feature between rows and those that the decoder gives."""
        total = 0.0
        with one_blas_thread():
            for first in range(0, len(numbers), _PLACED_AT_ONCE):
                some = numbers[first : first + _PLACED_AT_ONCE]
                away = self._decoder.forward(self.embedding_[some])[-1] - rows.take(some)
                total += float((away**2).sum())
        return total / (len(numbers) * self.n_features_in_) * self._unit**2


@dataclass(frozen=True, slots=True)
class Settings:
    """How a network is made and trained."""

    n_components: int
    layers: tuple[int, ...]  # units of the hidden ones, of the encoder
    max_epochs: int
    weight_decay: float
    dtype: type
    random: np.random.RandomState


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
        for first in range(0, len(numbers), _PLACED_AT_ONCE):
            yield self.rows.take(numbers[first : first + _PLACED_AT_ONCE])


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


def mirrored(m: int, settings: Settings, activation: str) -> Layers:
    """An encoder with linear outputs, then the same layers in reverse, as one network."""
    hidden = settings.layers
    sizes = (m, *hidden, settings.n_components, *hidden[::-1], m)
    bent = (*(activation for _ in hidden), "linear")
    return Layers.drawn(sizes, bent + bent, settings.random, settings.dtype)
