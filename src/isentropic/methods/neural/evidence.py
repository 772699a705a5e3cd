"""The evidence lower bound (ELBO) of a variational autoencoder, and its slopes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...embedding.maps.layers import Layers
from .lessons import Lessons

_LEAST_NOISE = -14.0  # logarithm, in variances of the table: rows without noise have no finite density
_FASTER = 10.0  # than weights, for one number must come from 0 to where it belongs
_WIDEST = 20.0  # logarithm of the variance of a place, either way: beyond, nothing would be finite


@dataclass(frozen=True, slots=True)
class Bound:
    """The terms of the ELBO, means over rows, in nats and in the unit of the scaled rows."""

    log_density: float  # of a row around what its drawn place decodes to
    divergences: np.ndarray  # (d,): of the places from the standard normal distribution, by coordinate

    def value(self, beta: float = 1.0) -> float:
        return self.log_density - beta * float(self.divergences.sum())


class VariationalNetwork:
    """``z ~ N(mu(x), diag sigma(x)^2)``, ``x ~ N(g(z), noise)``: two networks and the logarithm of the noise.

    The lesson of :func:`~.training.train`: it minimises ``-E log p(x | z) + beta KL(q(z | x) | N(0, I))`` per
    feature, the expectation over one draw ``z = mu + sigma e`` for each row (reparametrised).
    """

    def __init__(self, encoder: Layers, decoder: Layers, lessons: Lessons, beta: float, weight_decay: float):
        """The parameters of both are copied into one vector, the logarithm of the noise last."""
        first, second = len(encoder.vector), len(encoder.vector) + len(decoder.vector)
        start = np.zeros(1, encoder.vector.dtype)  # all that varies is noise
        self.vector = np.concatenate([encoder.vector, decoder.vector, start])
        self.encoder = Layers(encoder.sizes, encoder.activations, self.vector[:first])
        self.decoder = Layers(decoder.sizes, decoder.activations, self.vector[first:second])
        self.lessons, self.beta, self.weight_decay = lessons, beta, weight_decay

    @property
    def noise(self) -> float:
        """The variance of the noise, in the unit of the scaled rows."""
        return float(np.exp(max(_FASTER * float(self.vector[-1]), _LEAST_NOISE)))

    def batches(self, random: np.random.RandomState) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for X in self.lessons.batches(random):
            yield X, self._draws(len(X), random)

    def slopes(self, batch: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        X, draws = batch
        n, m = X.shape
        kind, noise = X.dtype.type, self.noise
        encoded, means, logarithms = self._encoded(X)
        deviations = np.exp(logarithms / 2)
        decoded = self.decoder.forward(means + deviations * draws)
        away = decoded[-1] - X
        gradient = np.zeros_like(self.vector)
        first, last = len(self.encoder.vector), len(gradient) - 1
        by_place = self.decoder.backward(
            decoded, away * kind(1 / (noise * n * m)), gradient[first:last], to_rows=True
        )
        pull = kind(self.beta / (n * m))
        by_means = by_place + pull * means
        by_logarithms = (by_place * deviations * draws + pull * (deviations**2 - 1)) / 2
        self.encoder.backward(encoded, np.concatenate([by_means, by_logarithms], axis=1), gradient[:first])
        gradient[last] = _FASTER * (1 - float((away**2).sum()) / (noise * n * m)) / 2
        for layers, part in ((self.encoder, gradient[:first]), (self.decoder, gradient[first:last])):
            layers.decay(self.weight_decay, part)
        return gradient

    def error(self) -> float:
        """What is minimised, of the rows held back, the same draws in every epoch."""
        return -self.bound(self.lessons.blocks(self.lessons.held)).value(self.beta) / self.encoder.sizes[0]

    def bound(self, blocks: Iterator[np.ndarray], n_draws: int = 1) -> Bound:
        """The terms of the bound, of all rows of these blocks, by a mean over draws of each place."""
        random, n, m = np.random.RandomState(0), 0, self.encoder.sizes[0]
        squares, divergences = 0.0, np.zeros(self.decoder.sizes[0])
        for X in blocks:
            _, means, logarithms = self._encoded(X)
            for _ in range(n_draws):
                places = means + np.exp(logarithms / 2) * self._draws(len(X), random)
                squares += float(((self.decoder.forward(places)[-1] - X) ** 2).sum()) / n_draws
            each = (means**2 + np.exp(logarithms) - 1 - logarithms) / 2
            divergences += each.sum(axis=0, dtype=np.float64)
            n += len(X)
        density = -squares / (2 * self.noise * n) - m / 2 * np.log(2 * np.pi * self.noise)
        return Bound(density, divergences / n)

    def _encoded(self, X: np.ndarray) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
        """The outputs of the encoder, and of the last the means and the logarithms of variances."""
        outputs, d = self.encoder.forward(X), self.decoder.sizes[0]
        return outputs, outputs[-1][:, :d], np.clip(outputs[-1][:, d:], -_WIDEST, _WIDEST)

    def _draws(self, n: int, random: np.random.RandomState) -> np.ndarray:
        drawn = random.standard_normal((n, self.decoder.sizes[0]))
        return drawn.astype(self.vector.dtype)
