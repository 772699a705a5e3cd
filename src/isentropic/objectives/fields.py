"""Sums over all pairs of a map as a field on a grid: particle-mesh, by two real Fourier transforms."""

from __future__ import annotations

import numpy as np
from scipy import fft

from ..kernels.layouts.fields import read_field, sorted_by_line, spread_charges

SPACING = 0.35  # of the nodes, for the weights (1 + d^2)^-1
_TOUCHED = 4  # nodes that a row touches along an axis
_MOST_NODES = 4096  # along an axis; beyond that they lie farther apart
_SPARE = 1.08  # more nodes than needed, so that a map may grow before its kernel is transformed anew


class Field:
    """``sum_ij (1 + |z_i - z_j|^2)^-g`` over all pairs, and the push of all on each row, in the plane.

    Rows are spread onto a grid by cubic B-splines, convolved with the weights sampled at the nodes, and the
    field is read, with its slopes, by the same splines; the transform of the kernel is divided by theirs, so
    that the field is exact at the nodes. ``O(n + s log s)`` for s nodes, as many as the map is wide. At the
    spacing of 0.35 pushes are within 1.5% of the exact ones (root mean square) and the sum within 1e-4.
    """

    def __init__(self, power: float = 1.0):
        self.power = power
        self.spacing = SPACING / np.sqrt(max(power, 1.0))  # the weights fall faster
        self._shape: tuple[int, int] = (0, 0)
        self._at = 0.0  # the spacing that the spectrum is for

    def __call__(self, Z: np.ndarray) -> tuple[np.ndarray, float]:
        """Pushes (n, 2) in single precision, and the sum of all weights, of places (n, 2)."""
        field, _, spacing, (order, places) = self._around(Z, margin=0)
        pushes = np.empty(Z.shape, np.float32)
        total = float(read_field(field, self._near, order, places, pushes).sum())
        pushes *= np.float32(-1.0 / (2.0 * self.power * spacing))
        return pushes, total

    def nodes(self, Z: np.ndarray, margin: int) -> tuple[np.ndarray, np.ndarray, float]:
        """The coefficients of the field on a grid, where its first cell begins, and the spacing.

        ``margin`` nodes more on every side.
        """
        field, origin, spacing, _ = self._around(Z, margin)
        return field, origin, spacing

    def _around(self, Z: np.ndarray, margin: int):
        low, high = Z.min(axis=0), Z.max(axis=0)
        widest = float((high - low).max())
        spacing = np.float32(max(self.spacing, widest / (_MOST_NODES - _TOUCHED - 2 * margin)))
        origin = low - margin * spacing
        cells = ((high - low) / spacing).astype(np.int64) + 1 + 2 * margin
        nodes = cells + _TOUCHED - 1
        self._prepare(nodes, float(spacing))
        order, places, starts = sorted_by_line(Z, origin, spacing, cells[0])
        return self._convolved(places, starts, nodes), origin, float(spacing), (order, places)

    def _prepare(self, nodes: np.ndarray, spacing: float) -> None:
        """The spectrum of the kernel, anew where the map has outgrown the last one, or shrunk."""
        fits = all(2 * k <= m <= 3 * k + 64 for k, m in zip(nodes.tolist(), self._shape, strict=True))
        if fits and spacing == self._at:
            return
        shape = [fft.next_fast_len(int(2 * k * _SPARE), real=True) for k in nodes.tolist()]
        self._shape, self._at = (shape[0], shape[1]), spacing
        first, second = (np.minimum(np.arange(m), m - np.arange(m)) * spacing for m in shape)
        kernel = 1.0 + first[:, None] ** 2 + second**2
        kernel = 1.0 / kernel if self.power == 1.0 else kernel**-self.power
        spectrum = fft.rfft2(kernel).real  # even, so that its transform is real
        of_splines = [((4 + 2 * np.cos(2 * np.pi * np.arange(m) / m)) / 6) ** 2 for m in shape]
        spectrum /= of_splines[0][:, None]
        spectrum /= of_splines[1][: spectrum.shape[1]]
        self._near = _coefficients(spectrum, shape).astype(np.float32)
        self._spectrum = spectrum.astype(np.float32)

    def _convolved(self, places: np.ndarray, starts: np.ndarray, nodes: np.ndarray) -> np.ndarray:
        grid = np.empty(tuple(nodes), np.float32)
        spread_charges(places, starts, grid)
        # one axis after the other: half of the lines are empty before the second, unread after it
        waves = fft.fft(fft.rfft(grid, n=self._shape[1], axis=1), n=self._shape[0], axis=0)
        waves *= self._spectrum
        waves = fft.ifft(waves, axis=0, overwrite_x=True)[: nodes[0]]
        return fft.irfft(waves, n=self._shape[1], axis=1)


def _coefficients(spectrum: np.ndarray, shape: list[int]) -> np.ndarray:
    """The inverse transform of a real, even spectrum at the first lags of both axes."""
    lags = np.arange(_TOUCHED)[:, None]
    first = np.cos(2 * np.pi * lags * np.arange(shape[0]) / shape[0])
    second = np.cos(2 * np.pi * lags * np.arange(spectrum.shape[1]) / shape[1])
    second[:, 1 : (shape[1] + 1) // 2] *= 2.0  # these stand for their mirror images, too
    return first @ spectrum @ second.T / (shape[0] * shape[1])
