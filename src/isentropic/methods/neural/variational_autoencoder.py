"""Variational autoencoder."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..._core.errors import require_count, require_number
from ..._core.runtime import generator, one_blas_thread
from ..._core.state import Array, Number, State
from ...embedding.input_rows import checked_rows
from .evidence import VariationalNetwork
from .networks import Layers
from .neural import AutoencoderEmbedder, Lessons
from .scaled_rows import ScaledRows
from .training import train

_DRAWS = 4  # of the place of a row, for the bound that is stated


class VariationalAutoencoder(AutoencoderEmbedder):
    """An autoencoder with a likelihood: places are drawn, near each other and around 0, and decode to rows.

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

    _outputs = 2  # a mean and the logarithm of a variance
    _state = State(
        elbo_=Number(),
        held_out_elbo_=Number(),
        divergences_=Array("d", least=0),
        noise_variance_=Number(0),
    )

    def __init__(
        self,
        n_components=2,
        *,
        layers=(256, 64),
        beta=1.0,
        max_epochs=200,
        weight_decay=5e-4,
        precision="single",
        random_state=None,
        n_jobs=None,
    ):
        super().__init__(
            n_components, layers=layers, max_epochs=max_epochs, weight_decay=weight_decay,
            precision=precision, random_state=random_state, n_jobs=n_jobs,
        )  # fmt: skip
        self.beta = beta

    def fit(self, X, y=None):
        """Scale; maximise the evidence lower bound; place every row at its mean. ``y`` is not used."""
        beta = require_number("beta", self.beta, "a number of at least 0")
        settings = self._settings()
        X = checked_rows(self, X)
        lessons = Lessons.of(ScaledRows.standard(X, settings.dtype), settings.random)
        m, d, hidden = X.shape[1], settings.n_components, settings.layers
        bent = (*("relu" for _ in hidden), "linear")
        encoder = Layers.drawn((m, *hidden, 2 * d), bent, settings.random, settings.dtype)
        decoder = Layers.drawn((d, *hidden[::-1], m), bent, settings.random, settings.dtype)
        network = VariationalNetwork(encoder, decoder, lessons, beta, settings.weight_decay)
        trained = train(network.vector, network, lessons.schedule(settings.max_epochs), settings.random)
        self._keep_both(lessons, network.encoder, network.decoder, trained)
        self._state_bounds(network)
        return self

    def _state_bounds(self, network: VariationalNetwork) -> None:
        lessons = network.lessons
        unit = self.n_features_in_ * np.log(self._unit)  # a density is one per unit of the data
        with one_blas_thread():
            bound = network.bound(lessons.rows.blocks(), _DRAWS)
            held = network.bound(lessons.blocks(lessons.held), _DRAWS)
        self.elbo_, self.held_out_elbo_ = float(bound.value() - unit), float(held.value() - unit)
        self.divergences_ = np.maximum(bound.divergences, 0.0)  # rounding may leave less than nothing
        self.noise_variance_ = network.noise * self._unit**2

    def sample(self, n_samples=1, random_state=None) -> np.ndarray:
        """Rows that places drawn from ``N(0, I)`` decode to, without the noise of the model."""
        check_is_fitted(self)
        count = require_count("n_samples", n_samples)
        return self.inverse_transform(generator(random_state).standard_normal((count, self._n_features_out)))
