"""Maps that are networks: nothing of the training rows is needed to place another one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from ..._core.errors import require
from ..._core.runtime import row_blocks
from ..._core.specs import Array, Double, Size, StateError
from ..._core.state import Sub, Value
from ..part import Part
from ..training_data import TrainingData
from .layers import Layers

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
            Z[block] = self.encoder.place(rows, n_jobs)[:, : self.n_components]
        return Z

    def _require_sound(self) -> None:
        ends = self.encoder.sizes[0], self.encoder.sizes[-1]
        if ends != (len(self.origin), self.outputs * self.n_components):
            raise StateError("encoder", "must lead from the features to the coordinates")


@dataclass(frozen=True, eq=False)
class AutoencoderMap(NetworkMap):
    """With a second network that leads back, from coordinates to rows."""

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
        X[block] = decoder.place(Z[block], n_jobs) * unit + origin
    lost = int(np.count_nonzero(~np.isfinite(X).all(axis=1)))
    require(lost == 0, "Z", "coordinates whose rows are finite numbers", f"{lost} that lead beyond them")
    return X


def require_decoder(decoder: Layers, n_components: int, n_features: int) -> None:
    """Refuse one that does not lead from the coordinates to the features."""
    if (decoder.sizes[0], decoder.sizes[-1]) != (n_components, n_features):
        raise StateError("decoder", "must lead from the coordinates to the features")
