"""Independent component analysis: whiten the principal subspace, then turn it. Methods differ in the turning.

``z = W K (x - mean)``: K makes the leading principal coordinates white, W independent; the variance is 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..._core.errors import IsentropicWarning, warn
from ...embedding.maps.linear import padded
from ...linalg import fixed_signs
from ...linalg.centering import CentredRows, short_products

# W (r, r) for white rows (n, r), from an orthogonal start; and how many rounds it took
Unmix = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, int]]


@dataclass(frozen=True, slots=True)
class WhiteRows:
    """The leading principal coordinates of rows, each of variance 1."""

    rows: np.ndarray  # (n, r), r at most the rank
    whitening: np.ndarray  # K: (r, m)
    axes: np.ndarray  # (r, m)
    values: np.ndarray  # (r,): singular values

    @classmethod
    def of(cls, centred: CentredRows, n_components: int) -> WhiteRows:
        values, axes = (part[:n_components] for part in centred.axes())
        whitening = np.sqrt(len(centred.rows)) * axes / values[:, None]
        white = fixed_signs(centred.rows @ whitening.T)
        # Signs by the rows, not the features: a start that turns with the rows leads to the same components.
        signs = np.where((white * (centred.rows @ whitening.T)).sum(axis=0) < 0, -1.0, 1.0)
        return cls(white, whitening * signs[:, None], axes * signs[:, None], values)

    def unmixed(self, unmix: Unmix) -> tuple[np.ndarray, int]:
        """W for components of variance 1, and the rounds; a single coordinate is not mixed."""
        found, n_iter = np.eye(len(self.axes)), 0
        if len(self.axes) > 1:
            with short_products(self.rows.size * len(self.axes)):
                found, n_iter = unmix(self.rows, fixed_start(len(self.axes)))
        components = self.rows @ found.T
        return found / np.sqrt((components**2).mean(axis=0))[:, None], n_iter


def ordered_components(
    centred: CentredRows, white: WhiteRows, unmixing: np.ndarray, n_components: int
) -> tuple[np.ndarray, np.ndarray]:
    """``W K`` (d, m) and the share of the variance that each component contributes, largest first."""
    n, rank = len(centred.rows), len(white.axes)
    mixing = white.axes.T * white.values / np.sqrt(n) @ np.linalg.pinv(unmixing)  # (m, r)
    order = np.argsort(-(mixing**2).sum(axis=0), kind="stable")
    components = padded(unmixing[order] @ white.whitening, n_components, f"X has a rank of {rank}")
    total = (centred.rows**2).sum() / n
    shares = (mixing[:, order] ** 2).sum(axis=0) / (total or 1.0)
    return components / centred.unit, np.pad(shares, (0, n_components - rank))


def warn_unfinished(n_iter: int, change: float) -> None:
    """Tell that the last round still changed the components."""
    text = f"No independent components after {n_iter} rounds: they still change by {change:.2g}."
    hint = "Normal data have none; for others raise max_iter, or take fewer components."
    warn(f"{text} {hint}", IsentropicWarning)


def fixed_start(count: int) -> np.ndarray:
    """A fixed rotation: the axes themselves may be as good as any of several, and then no way leads on."""
    return np.linalg.qr(np.random.default_rng(0).normal(size=(count, count)))[0]
