"""Autoencoder."""

from __future__ import annotations

from typing import Annotated, Any

from ..._core.arguments import Choice
from ..._core.runtime import generator
from ..._core.specs import Number, Whole
from ..._core.state import Sub
from ...embedding.embedder import Embedder, SupportsInverse
from ...embedding.input_rows import checked_coordinates
from ...embedding.maps.network import AutoencoderMap
from ...embedding.training_data import NComponents, NJobs, training_data
from .training import (
    PRECISIONS,
    HiddenLayers,
    MaxEpochs,
    Precision,
    Reconstruction,
    ScaledRows,
    TrainingSplit,
    WeightDecay,
    autoencoder_errors,
    autoencoder_map,
    checked_layers,
    mirrored,
    train,
)


class Autoencoder(SupportsInverse, Embedder):
    """Autoencoder: a network that reconstructs each row from a few units, whose outputs are the coordinates.

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

    _in_batches = True
    reconstruction_error_: Annotated[float, Number(0)]
    held_out_error_: Annotated[float, Number(0)]
    n_epochs_: Annotated[int, Whole(1)]
    _map: Annotated[AutoencoderMap, Sub(AutoencoderMap)]

    def __init__(
        self,
        n_components: NComponents = 2,
        *,
        layers: HiddenLayers = (256, 64),
        activation: Annotated[str, Choice("relu", "tanh")] = "relu",
        max_epochs: MaxEpochs = 200,
        weight_decay: WeightDecay = 5e-4,
        precision: Precision = "single",
        random_state: Any = None,
        n_jobs: NJobs = None,
    ):
        self.n_components = n_components
        self.layers = layers
        self.activation = activation
        self.max_epochs = max_epochs
        self.weight_decay = weight_decay
        self.precision = precision
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Scale; train encoder and decoder as one network; place every row. ``y`` is not used."""
        data, d, n_jobs = training_data(self, X, keep_rows=False), int(self.n_components), self.n_jobs
        hidden, dtype = checked_layers(self.layers), PRECISIONS[self.precision]
        random = generator(self.random_state)
        rows = ScaledRows.standard(data.table, dtype)
        layers = mirrored((rows.X.shape[1], *hidden, d), self.activation, random, dtype)
        split = TrainingSplit.of(rows, random)
        loss = Reconstruction(layers, split, float(self.weight_decay))
        trained = train(layers.vector, loss, split.schedule(int(self.max_epochs)), random)
        half = len(hidden) + 1
        new_rows = autoencoder_map(AutoencoderMap, d, rows, layers[:half], layers[half:])
        Z = checked_coordinates(new_rows.transform(rows.X, n_jobs))
        errors = autoencoder_errors(new_rows, Z, split)
        return self._set_fit(Z, new_rows, n_epochs_=trained.n_epochs, **errors)
