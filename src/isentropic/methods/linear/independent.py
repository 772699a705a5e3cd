"""Independent component analysis: whiten the principal subspace, then turn it. Methods differ in the turning.

A method of this family says in ``_unmixing`` how white rows are unmixed.
"""

from __future__ import annotations

import warnings

import numpy as np

from ..._core.errors import IsentropicWarning, require_count
from ..._core.state import Array, State, Whole
from ...embedding.input_rows import checked_components, checked_rows
from ...embedding.maps.linear import LinearEmbedder, padded, require_features
from ...linalg import fixed_signs
from ...linalg.centred import CentredRows, short_products


class IndependentEmbedder(LinearEmbedder):
    """``z = W K (x - mean)``: K makes the leading principal coordinates white, W independent; variance 1."""

    _state = State(mixing_=Array("m", "d"), explained_variance_ratio_=Array("d"), n_iter_=Whole(0))

    def fit(self, X, y=None):
        """Whiten, unmix, order by what the components contribute to the variance, place every row.

        ``y`` is not used.
        """
        X = checked_rows(self, X)
        n_components = checked_components(self.n_components)
        require_count("max_iter", self.max_iter)
        require_features(n_components, X)
        centred = CentredRows.of(X)
        values, axes = (part[:n_components] for part in centred.axes())
        whitening = np.sqrt(len(X)) * axes / values[:, None]
        white = fixed_signs(centred.rows @ whitening.T)
        # Signs by the rows, not the features: a start that turns with the rows leads to the same components.
        signs = np.where((white * (centred.rows @ whitening.T)).sum(axis=0) < 0, -1.0, 1.0)
        axes, whitening = axes * signs[:, None], whitening * signs[:, None]
        self.n_iter_, unmixing = 0, np.eye(len(axes))
        if len(axes) > 1:
            with short_products(white.size * len(axes)):
                unmixing = self._unmixing(white, fixed_start(len(axes)))
        coordinates = white @ unmixing.T
        unmixing /= np.sqrt((coordinates**2).mean(axis=0))[:, None]
        mixing = axes.T * values / np.sqrt(len(X)) @ np.linalg.pinv(unmixing)  # (m, r)
        order = np.argsort(-(mixing**2).sum(axis=0), kind="stable")
        components = padded(unmixing[order] @ whitening, n_components, f"X has a rank of {len(axes)}")
        total = (centred.rows**2).sum() / len(X)
        shares = (mixing[:, order] ** 2).sum(axis=0) / (total or 1.0)
        self.explained_variance_ratio_ = np.pad(shares, (0, n_components - len(axes)))
        self._project(X, centred.mean, components / centred.unit)
        self.mixing_ = np.linalg.pinv(self.components_)
        return self

    def _unmixing(self, white: np.ndarray, start: np.ndarray) -> np.ndarray:
        """W (r, r) for white rows (n, r), from an orthogonal start; ``n_iter_`` is set."""
        raise NotImplementedError

    def _warn_unfinished(self, change: float) -> None:
        text = f"No independent components after {self.n_iter_} rounds: they still change by {change:.2g}."
        hint = "Normal data have none; for others raise max_iter, or take fewer components."
        warnings.warn(f"{text} {hint}", IsentropicWarning, stacklevel=5)


def fixed_start(count: int) -> np.ndarray:
    """A fixed rotation: the axes themselves may be as good as any of several, and then no way leads on."""
    return np.linalg.qr(np.random.default_rng(0).normal(size=(count, count)))[0]
