"""Networks as out-of-sample maps: they need no training rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, ClassVar

import numpy as np
from scipy.special import expit

from ..._core.errors import require
from ..._core.runtime import row_blocks
from ..._core.specs import Array, Double, Each, Size, StateError, Text, Whole
from ..._core.state import Sub, Value
from ...kernels._jit import threads
from ...kernels.networks import write_layer
from ..training_data import Part, TrainingData

# --------------------------------------------------------------------------------------------------
# Fully connected layers: forward, and backward by the chain rule, in numpy; one row at a time by a
# kernel.
#
# All parameters of a network are one vector, of which weights and biases are views: an optimiser changes the
# vector, a file keeps it, and the layers are told by their sizes and activations.


ACTIVATIONS = ("linear", "relu", "tanh", "logistic")  # in the order of the kernel


@dataclass(frozen=True, slots=True)
class Layers:
    """Layers of units: ``x -> activation(x W + b)``, one after the other.

    >>> random = np.random.RandomState(0)
    >>> layers = Layers.initialized((3, 8, 2), ("relu", "linear"), random)
    >>> layers.forward(np.ones((5, 3)))[-1].shape, len(layers.vector)
    ((5, 2), 50)
    """

    # of the rows that come in, and of what each layer gives
    sizes: Annotated[tuple[int, ...], Each(Whole(1))]
    activations: Annotated[tuple[str, ...], Each(Text(*ACTIVATIONS))]  # of each layer
    vector: Annotated[np.ndarray, Array(None)]  # weights (a, b), biases (b,) of one layer after the other

    @classmethod
    def initialized(
        cls, sizes: Sequence[int], activations: Sequence[str], random: np.random.RandomState, dtype=np.float64
    ) -> Layers:
        """Uniform within ``sqrt(6 / (inputs + outputs))`` (Glorot and Bengio); 2 for logistic units."""
        drawn = []
        for (a, b), activation in zip(pairwise(sizes), activations, strict=True):
            bound = np.sqrt((2 if activation == "logistic" else 6) / (a + b))
            drawn.append(random.uniform(-bound, bound, size=(a + 1) * b))
        return cls(tuple(map(int, sizes)), tuple(activations), np.concatenate(drawn).astype(dtype))

    @classmethod
    def of(
        cls, weights: Sequence[np.ndarray], biases: Sequence[np.ndarray], activations: Sequence[str]
    ) -> Layers:
        """Layers with these weights (a, b) and biases (b,)."""
        sizes = (len(weights[0]), *map(len, biases))
        parts = [part.ravel() for pair in zip(weights, biases, strict=True) for part in pair]
        return cls(sizes, tuple(activations), np.concatenate(parts))

    def parts(self, vector: np.ndarray | None = None) -> list[tuple[np.ndarray, np.ndarray]]:
        """Weights and biases of each layer, views of the vector; or of another that is laid out alike."""
        vector = self.vector if vector is None else vector
        found, start = [], 0
        for a, b in pairwise(self.sizes):
            middle, stop = start + a * b, start + (a + 1) * b
            found.append((vector[start:middle].reshape(a, b), vector[middle:stop]))
            start = stop
        return found

    def __getitem__(self, some: slice) -> Layers:
        """Consecutive layers, whose parameters are views of ours."""
        first, last, _ = some.indices(len(self.activations))
        lengths = [(a + 1) * b for a, b in pairwise(self.sizes)]
        start, stop = sum(lengths[:first]), sum(lengths[:last])
        return Layers(self.sizes[first : last + 1], self.activations[first:last], self.vector[start:stop])

    def astype(self, dtype) -> Layers:
        return Layers(self.sizes, self.activations, self.vector.astype(dtype))

    def forward(self, X: np.ndarray) -> list[np.ndarray]:
        """The rows and the outputs of every layer, which :meth:`backward` needs."""
        outputs = [X]
        for (weights, bias), activation in zip(self.parts(), self.activations, strict=True):
            out = outputs[-1] @ weights
            out += bias
            outputs.append(_activate(out, activation))
        return outputs

    def backward(
        self,
        outputs: list[np.ndarray],
        of_last: np.ndarray,
        gradient: np.ndarray,
        *,
        to_rows: bool = False,
    ) -> np.ndarray:
        """Add the gradient of a cost to ``gradient``, laid out as the vector: backpropagation.

        ``of_last`` is the gradient with respect to the last of ``outputs``. Returns that with respect to the
        rows (``to_rows``), or to the inputs of the first units.
        """
        own, into = self.parts(), self.parts(gradient)
        for layer in reversed(range(len(own))):
            before = _activation_gradient(of_last, outputs[layer + 1], self.activations[layer])
            weights, bias = into[layer]
            weights += outputs[layer].T @ before
            bias += before.sum(axis=0)
            of_last = before @ own[layer][0].T if layer or to_rows else before
        return of_last

    def decay(self, factor: float, gradient: np.ndarray) -> None:
        """Add ``factor`` times the weights, not the biases, to a gradient: that of their squares / 2."""
        for (weights, _), (into, _) in zip(self.parts(), self.parts(gradient), strict=True):
            into += weights.dtype.type(factor) * weights

    def apply(self, X: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Outputs of the last layer for rows of doubles: equal bits for a row in any batch."""
        # A kernel is compiled once more for arrays that may not be written into, such as those of a file.
        vector = self.vector if self.vector.flags.writeable else self.vector.copy()
        with threads(n_jobs):
            for (weights, bias), activation in zip(self.parts(vector), self.activations, strict=True):
                given, X = X, np.empty((len(X), len(bias)))
                write_layer(given, weights, bias, ACTIVATIONS.index(activation), X)
        return X

    def _require_sound(self) -> None:
        lengths = [(a + 1) * b for a, b in pairwise(self.sizes)]
        if len(self.activations) != len(lengths) or not lengths:
            raise StateError("activations", f"must be one for each of {len(lengths)} layers, at least one")
        if len(self.vector) != sum(lengths):
            raise StateError("vector", f"must have the {sum(lengths)} parameters of its layers")


def _activate(out: np.ndarray, activation: str) -> np.ndarray:
    """Apply the activation of units to their inputs, in place."""
    if activation == "relu":
        return np.maximum(out, 0, out=out)
    if activation == "tanh":
        return np.tanh(out, out=out)
    if activation == "logistic":
        return expit(out, out=out)
    return out


def _activation_gradient(of_last: np.ndarray, outputs: np.ndarray, activation: str) -> np.ndarray:
    """The gradient with respect to the inputs of units, from that with respect to their outputs."""
    if activation == "relu":
        return of_last * (outputs > 0)
    if activation == "tanh":
        return of_last * (1 - outputs * outputs)
    if activation == "logistic":
        return of_last * (outputs * (1 - outputs))
    return of_last


_ROWS = 512  # at a time


@dataclass(frozen=True, eq=False)
class NetworkMap(Part):
    """``z = f((x - origin) / unit)``, f a network: equal bits for a row in any batch."""

    outputs: ClassVar[int] = 1  # of the network for each coordinate; the first ones are the coordinates

    data: Annotated[TrainingData, Sub(TrainingData)]  # without rows: a training row is placed as any other
    n_components: Annotated[int, Size("d")]
    origin: Annotated[np.ndarray, Array("m")]
    unit: Annotated[float, Double(above=0)]
    encoder: Annotated[Layers, Value(Layers)]

    def transform(self, X: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Coordinates of rows."""
        Z = np.empty((len(X), self.n_components))
        for block in row_blocks(len(X), "network", size=_ROWS):
            rows = scaled(X[block], self.origin, self.unit)
            Z[block] = self.encoder.apply(rows, n_jobs)[:, : self.n_components]
        return Z

    def _require_sound(self) -> None:
        ends = self.encoder.sizes[0], self.encoder.sizes[-1]
        if ends != (len(self.origin), self.outputs * self.n_components):
            raise StateError("encoder", "must lead from the features to the coordinates")


@dataclass(frozen=True, eq=False)
class AutoencoderMap(NetworkMap):
    """A network map with a decoder, from coordinates back to rows."""

    decoder: Annotated[Layers, Value(Layers)]

    def inverse(self, Z: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """The rows that the decoder gives for coordinates."""
        return decoded_rows(self.decoder, Z, self.origin, self.unit, n_jobs)

    def _require_sound(self) -> None:
        super()._require_sound()
        require_decoder(self.decoder, self.n_components, len(self.origin))


def scaled(X: np.ndarray, origin: np.ndarray, unit: float) -> np.ndarray:
    """``(x - origin) / unit`` in double precision, contiguous."""
    return np.ascontiguousarray((X - origin) / unit)


def decoded_rows(
    decoder: Layers, Z: np.ndarray, origin: np.ndarray, unit: float, n_jobs: int | None
) -> np.ndarray:
    """The rows that a decoder gives for coordinates, in the units of the table."""
    X = np.empty((len(Z), len(origin)))
    for block in row_blocks(len(Z), "network", size=_ROWS):
        X[block] = decoder.apply(Z[block], n_jobs) * unit + origin
    lost = int(np.count_nonzero(~np.isfinite(X).all(axis=1)))
    require(lost == 0, "Z", "coordinates whose rows are finite numbers", f"{lost} that lead beyond them")
    return X


def require_decoder(decoder: Layers, n_components: int, n_features: int) -> None:
    """Refuse one that does not lead from the coordinates to the features."""
    if (decoder.sizes[0], decoder.sizes[-1]) != (n_components, n_features):
        raise StateError("decoder", "must lead from the coordinates to the features")
