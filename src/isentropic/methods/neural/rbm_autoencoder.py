"""Deep autoencoder that begins as a stack of restricted Boltzmann machines."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from ..._core.parameters import Count
from ..._core.runtime import generator
from ..._core.specs import Array, Number, Whole
from ..._core.state import Sub
from ...embedding.embedder import Embedder
from ...embedding.input_rows import checked_coordinates
from ...embedding.inverse import SupportsInverse
from ...embedding.maps.network import AutoencoderMap
from ...embedding.parameters import NComponents, NJobs
from ...embedding.training_data import training_data
from .boltzmann import stacked
from .lessons import (
    PRECISIONS,
    Lessons,
    MaxEpochs,
    MaybeHiddenLayers,
    Precision,
    Reconstruction,
    WeightDecay,
    autoencoder_errors,
    autoencoder_map,
    checked_layers,
)
from .scaled_rows import ScaledRows
from .training import train

_WIDE = 500  # features from which on the first layer has 1,000 units


class RBMAutoencoder(SupportsInverse, Embedder):
    """Deep autoencoder of logistic units whose start is a stack of restricted Boltzmann machines.

    Layer after layer, a machine with the energy ``-v W h - v a - h b`` is trained on what the layer below
    gives for the rows, by one step of contrastive divergence (CD-1); the last has Gaussian units, the
    coordinates. The stack is unrolled, encoder upwards and decoder downwards, and fine-tuned by the mean
    squared error as :class:`Autoencoder` is. The features are moved to begin at 0 and divided by the longest
    of their ranges, so that they lie within [0, 1] as probabilities do.

    Cost: ``O(n w)`` time an epoch for w weights, ``O(w)`` memory beyond the table and the map. A new row:
    ``O(w)``.

    Parameters
    ----------
    n_components : int
        Dimension of the map.
    layers : tuple of int, optional
        Units of the hidden layers of the encoder. None is 500 and 250, after 1,000 where there are 500
        features or more: ``(1000, 500, 250)``.
    pretrain_epochs : int
        Passes over the rows for every machine; 0 leaves them as they were drawn.
    max_epochs : int
        Passes over the rows at most, of the fine-tuning.
    weight_decay : float
        Of the fine-tuning: more gives a smoother map.
    precision : {"single", "double"}
        Of the training. What a row gives is computed in double precision.
    random_state : int, RandomState or None
        Of the weights, the batches, the units drawn and the rows held back. None is a fixed seed.
    n_jobs : int, optional
        Threads that place rows. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    free_energy_gaps_ : array
        Of each machine, mean free energy of the rows held back less that of learnt ones, in nats: one that
        is large beside the others has learnt its rows by heart.
    reconstruction_error_ : float
        Mean of the squares of ``x - g(f(x))`` over all features, of all rows.
    held_out_error_ : float
        Of the rows held back.
    n_epochs_ : int
        Of the fine-tuning.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Hinton and Salakhutdinov (2006).

    Examples
    --------
    >>> from isentropic import RBMAutoencoder, datasets
    >>> X = datasets.load("builtin:digits").X
    >>> network = RBMAutoencoder(layers=(64,), pretrain_epochs=5, max_epochs=5).fit(X)
    >>> network.embedding_.shape, len(network.free_energy_gaps_)
    ((1797, 2), 2)
    """

    _in_batches = True
    free_energy_gaps_: Annotated[np.ndarray, Array(None)]
    reconstruction_error_: Annotated[float, Number(0)]
    held_out_error_: Annotated[float, Number(0)]
    n_epochs_: Annotated[int, Whole(1)]
    _map: Annotated[AutoencoderMap, Sub(AutoencoderMap)]

    def __init__(
        self,
        n_components: NComponents = 2,
        *,
        layers: MaybeHiddenLayers = None,
        pretrain_epochs: Annotated[int, Count(least=0)] = 50,
        max_epochs: MaxEpochs = 200,
        weight_decay: WeightDecay = 1e-5,
        precision: Precision = "single",
        random_state: Any = None,
        n_jobs: NJobs = None,
    ):
        self.n_components = n_components
        self.layers = layers
        self.pretrain_epochs = pretrain_epochs
        self.max_epochs = max_epochs
        self.weight_decay = weight_decay
        self.precision = precision
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Scale; machine upon machine; unroll them; fine-tune; place every row. ``y`` is not used."""
        data, d, n_jobs = training_data(self, X, keep_rows=False), int(self.n_components), self.n_jobs
        m, dtype, random = data.table.shape[1], PRECISIONS[self.precision], generator(self.random_state)
        default = (1000, 500, 250) if m >= _WIDE else (500, 250)
        hidden = default if self.layers is None else checked_layers(self.layers)
        rows = ScaledRows.within_one(data.table, dtype)
        lessons = Lessons.of(rows, random)
        stack = stacked((m, *hidden, d), lessons, int(self.pretrain_epochs), random, dtype)
        layers = stack.unrolled()
        lesson = Reconstruction(layers, lessons, float(self.weight_decay))
        trained = train(layers.vector, lesson, lessons.schedule(int(self.max_epochs)), random)
        half = len(hidden) + 1
        new_rows = autoencoder_map(AutoencoderMap, d, rows, layers[:half], layers[half:])
        Z = checked_coordinates(new_rows.transform(rows.X, n_jobs))
        errors = autoencoder_errors(new_rows, Z, lessons)
        return self._set_fit(Z, new_rows, free_energy_gaps_=stack.gaps, n_epochs_=trained.n_epochs, **errors)
