"""Autoencoder."""

from __future__ import annotations

from ..._core.errors import require_one_of
from ...embedding.input_rows import checked_rows
from .neural import AutoencoderEmbedder, Lessons, Reconstruction, mirrored
from .scaled_rows import ScaledRows
from .training import train


class Autoencoder(AutoencoderEmbedder):
    """A network that gives each row again through a layer of a few units, whose outputs are the coordinates.

    ``z = f(x)`` and ``g(z)`` minimise the mean of ``|x - g(f(x))|^2`` and ``weight_decay |W|^2 / 2``. The
    encoder f has hidden ``layers`` and linear outputs, the decoder g the same in reverse. Without hidden
    layers it finds the plane of PCA. The features are centred and divided by one number, so that errors are
    those of the table. Adam takes batches of up to 128 rows; a tenth of the rows, 10,000 at most, is held
    back: five epochs, and 500 steps, without progress on them end the training at a rate of 0.001, then at a
    tenth of it. The weights are those of the best epoch.

    Cost: ``O(n w)`` time an epoch for w weights, ``O(w)`` memory beyond the table and the map: the table may
    lie on a disk (``numpy.memmap``), also in single precision. A new row: ``O(w)``.

    Parameters
    ----------
    n_components : int
        Dimension of the map.
    layers : tuple of int
        Units of the hidden layers of the encoder.
    activation : {"relu", "tanh"}
        Of the hidden units; tanh makes it the nonlinear PCA of Kramer.
    max_epochs : int
        Passes over the rows at most.
    weight_decay : float
        More gives a smoother map, and rows that were not fitted errors nearer to those that were.
    precision : {"single", "double"}
        Of the training. What a row gives is computed in double precision.
    random_state : int, RandomState or None
        Of the weights, the batches and the rows held back. None is a fixed seed.
    n_jobs : int, optional
        Threads that place rows. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    reconstruction_error_ : float
        Mean of the squares of ``x - g(f(x))`` over all features, of all rows.
    held_out_error_ : float
        Of the rows held back, in the best epoch.
    n_epochs_ : int
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Kramer (1991); Hinton and Salakhutdinov (2006).

    Examples
    --------
    >>> from isentropic import PCA, Autoencoder, datasets
    >>> X = datasets.load("builtin:digits").X
    >>> network = Autoencoder(layers=(64,), max_epochs=30).fit(X)
    >>> pca = PCA().fit(X)
    >>> linear = ((X - pca.inverse_transform(pca.embedding_)) ** 2).mean()
    >>> bool(network.reconstruction_error_ < 0.8 * linear)
    True
    """

    def __init__(
        self,
        n_components=2,
        *,
        layers=(256, 64),
        activation="relu",
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
        self.activation = activation

    def fit(self, X, y=None):
        """Scale; train encoder and decoder as one network; place every row. ``y`` is not used."""
        require_one_of("activation", self.activation, ("relu", "tanh"))
        settings = self._settings()
        X = checked_rows(self, X)
        rows = ScaledRows.standard(X, settings.dtype)
        layers = mirrored(X.shape[1], settings, self.activation)
        lessons = Lessons.of(rows, settings.random)
        lesson = Reconstruction(layers, lessons, settings.weight_decay)
        trained = train(layers.vector, lesson, lessons.schedule(settings.max_epochs), settings.random)
        half = len(settings.layers) + 1
        self._keep_both(lessons, layers[:half], layers[half:], trained)
        return self
