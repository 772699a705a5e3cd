"""Variational autoencoder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..._core.arguments import Real
from ..._core.errors import require_count
from ..._core.runtime import generator, one_blas_thread
from ..._core.specs import Array, Number, Whole
from ..._core.state import Sub
from ...embedding.embedder import Embedder, SupportsInverse
from ...embedding.input_rows import checked_coordinates
from ...embedding.maps.network import AutoencoderMap, Layers
from ...embedding.training_data import NComponents, NJobs, training_data
from .training import (
    PRECISIONS,
    HiddenLayers,
    MaxEpochs,
    Precision,
    ScaledRows,
    TrainingSplit,
    WeightDecay,
    autoencoder_errors,
    autoencoder_map,
    checked_layers,
    train,
)

# ---- The evidence lower bound (ELBO) of a variational autoencoder, and its gradient --------------


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

    The loss that :func:`~.training.train` minimises: ``-E log p(x | z) + beta KL(q(z | x) | N(0, I))`` per
    feature, the expectation over one draw ``z = mu + sigma e`` for each row (reparametrised).
    """

    def __init__(
        self, encoder: Layers, decoder: Layers, split: TrainingSplit, beta: float, weight_decay: float
    ):
        """The parameters of both are copied into one vector, the logarithm of the noise last."""
        first, second = len(encoder.vector), len(encoder.vector) + len(decoder.vector)
        start = np.zeros(1, encoder.vector.dtype)  # all that varies is noise
        self.vector = np.concatenate([encoder.vector, decoder.vector, start])
        self.encoder = Layers(encoder.sizes, encoder.activations, self.vector[:first])
        self.decoder = Layers(decoder.sizes, decoder.activations, self.vector[first:second])
        self.split, self.beta, self.weight_decay = split, beta, weight_decay

    @property
    def noise(self) -> float:
        """The variance of the noise, in the unit of the scaled rows."""
        return float(np.exp(max(_FASTER * float(self.vector[-1]), _LEAST_NOISE)))

    def batches(self, random: np.random.RandomState) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for X in self.split.batches(random):
            yield X, self._draws(len(X), random)

    def gradient(self, batch: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
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
        """The loss of the validation set, with the same draws in every epoch."""
        return -self.bound(self.split.blocks(self.split.validation)).value(self.beta) / self.encoder.sizes[0]

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


_DRAWS = 4  # of the place of a row, for the bound that is stated


class VariationalMap(AutoencoderMap):
    """The encoder gives a mean and the logarithm of a variance; a row is placed at the mean."""

    outputs = 2


class VariationalAutoencoder(SupportsInverse, Embedder):
    """Variational autoencoder: an autoencoder with a likelihood, whose coordinates are sampled around 0.

    The model is ``z ~ N(0, I)``, ``x ~ N(g(z), s^2 I)`` with a network g. The encoder gives a mean and a
    variance of z for every row; the training maximises the evidence lower bound (ELBO)
    ``E log p(x | z) - beta KL(q(z | x) | N(0, I))`` for the weights of both and for s. So every place near 0
    decodes to a row like the fitted ones, and :meth:`sample` draws new ones. A row is placed at the mean.
    Without hidden layers this is probabilistic PCA. Scaling, batches and the end of the training are those of
    :class:`Autoencoder`.

    Cost: ``O(n w)`` time an epoch for w weights, ``O(w)`` memory beyond the table and the map. A new row:
    ``O(w)``.

    Parameters
    ----------
    n_components : int
        Dimension of the map.
    layers : tuple of int
        Units of the hidden layers of the encoder, rectified linear ones; the decoder has them in reverse.
    beta : float
        Weight of the divergence: more gives coordinates that depend less on each other, and carry less.
    max_epochs : int
        Passes over the rows at most.
    weight_decay : float
        More gives a smoother map.
    precision : {"single", "double"}
        Of the training. What a row gives is computed in double precision.
    random_state : int, RandomState or None
        Of the weights, the batches, the places drawn and the rows held back. None is a fixed seed.
    n_jobs : int, optional
        Threads that place rows. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
        Means. Their spread tells how far the places are from the standard normal that `sample` draws from.
    elbo_ : float
        Of all rows, per row in nats, in the unit of the data and with ``beta = 1``: at most the mean
        logarithm of the likelihood.
    held_out_elbo_ : float
        Of the rows held back.
    divergences_ : array of shape (n_components,)
        Mean KL divergence by coordinate, in nats: what a coordinate tells of a row. One near 0 is not used.
    noise_variance_ : float
        ``s^2``, in the unit of the data.
    reconstruction_error_ : float
        Mean of the squares of ``x - g(z)`` over all features, z the places of all rows.
    held_out_error_ : float
        Of the rows held back.
    n_epochs_ : int
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Kingma and Welling (2014); Higgins et al. (2017) for beta.

    Examples
    --------
    >>> from isentropic import VariationalAutoencoder, datasets
    >>> X = datasets.load("builtin:digits").X
    >>> model = VariationalAutoencoder(layers=(64,), max_epochs=10).fit(X)
    >>> model.sample(3, random_state=0).shape, bool(model.elbo_ > -200)
    ((3, 64), True)
    """

    _in_batches = True
    elbo_: Annotated[float, Number()]
    held_out_elbo_: Annotated[float, Number()]
    divergences_: Annotated[np.ndarray, Array("d", least=0)]
    noise_variance_: Annotated[float, Number(0)]
    reconstruction_error_: Annotated[float, Number(0)]
    held_out_error_: Annotated[float, Number(0)]
    n_epochs_: Annotated[int, Whole(1)]
    _map: Annotated[VariationalMap, Sub(VariationalMap)]

    def __init__(
        self,
        n_components: NComponents = 2,
        *,
        layers: HiddenLayers = (256, 64),
        beta: Annotated[float, Real("a number of at least 0")] = 1.0,
        max_epochs: MaxEpochs = 200,
        weight_decay: WeightDecay = 5e-4,
        precision: Precision = "single",
        random_state: Any = None,
        n_jobs: NJobs = None,
    ):
        self.n_components = n_components
        self.layers = layers
        self.beta = beta
        self.max_epochs = max_epochs
        self.weight_decay = weight_decay
        self.precision = precision
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Scale; maximise the evidence lower bound; place every row at its mean. ``y`` is not used."""
        data, d, n_jobs = training_data(self, X, keep_rows=False), int(self.n_components), self.n_jobs
        hidden, dtype = checked_layers(self.layers), PRECISIONS[self.precision]
        random = generator(self.random_state)
        rows, m = ScaledRows.standard(data.table, dtype), data.table.shape[1]
        split = TrainingSplit.of(rows, random)
        activations = (*("relu" for _ in hidden), "linear")
        encoder = Layers.initialized((m, *hidden, 2 * d), activations, random, dtype)
        decoder = Layers.initialized((d, *hidden[::-1], m), activations, random, dtype)
        network = VariationalNetwork(encoder, decoder, split, float(self.beta), float(self.weight_decay))
        trained = train(network.vector, network, split.schedule(int(self.max_epochs)), random)
        new_rows = autoencoder_map(VariationalMap, d, rows, network.encoder, network.decoder)
        Z = checked_coordinates(new_rows.transform(rows.X, n_jobs))
        return self._set_fit(Z, new_rows, n_epochs_=trained.n_epochs, **_bounds(network),
                             **autoencoder_errors(new_rows, Z, split))  # fmt: skip

    def sample(self, n_samples=1, random_state=None) -> np.ndarray:
        """Rows that places drawn from ``N(0, I)`` decode to, without the noise of the model."""
        check_is_fitted(self)
        count = require_count("n_samples", n_samples)
        return self.inverse_transform(generator(random_state).standard_normal((count, self._n_features_out)))


def _bounds(network: VariationalNetwork) -> dict[str, Any]:
    """The evidence lower bound and its terms, in the unit of the data."""
    split, rows = network.split, network.split.rows
    unit = rows.X.shape[1] * np.log(rows.unit)  # a density is one per unit of the data
    with one_blas_thread():
        bound = network.bound(rows.blocks(), _DRAWS)
        validation = network.bound(split.blocks(split.validation), _DRAWS)
    return {
        "elbo_": float(bound.value() - unit),
        "held_out_elbo_": float(validation.value() - unit),
        "divergences_": np.maximum(bound.divergences, 0.0),  # rounding may leave less than nothing
        "noise_variance_": network.noise * rows.unit**2,
    }
