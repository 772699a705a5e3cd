"""Deep autoencoder that begins as a stack of restricted Boltzmann machines."""

from __future__ import annotations

from ..._core.errors import require_count
from ..._core.state import Array, State
from ...embedding.input_rows import checked_rows
from .boltzmann import stacked
from .neural import AutoencoderEmbedder, Lessons, Reconstruction
from .scaled_rows import ScaledRows
from .training import train

_WIDE = 500  # features from which on the first layer has 1,000 units


class RBMAutoencoder(AutoencoderEmbedder):
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

    _state = State(free_energy_gaps_=Array(None))

    def __init__(
        self,
        n_components=2,
        *,
        layers=None,
        pretrain_epochs=50,
        max_epochs=200,
        weight_decay=1e-5,
        precision="single",
        random_state=None,
        n_jobs=None,
    ):
        super().__init__(
            n_components, layers=layers, max_epochs=max_epochs, weight_decay=weight_decay,
            precision=precision, random_state=random_state, n_jobs=n_jobs,
        )  # fmt: skip
        self.pretrain_epochs = pretrain_epochs

    def fit(self, X, y=None):
        """Scale; machine upon machine; unroll them; fine-tune; place every row. ``y`` is not used."""
        pretrain_epochs = require_count("pretrain_epochs", self.pretrain_epochs, least=0)
        X = checked_rows(self, X)
        m = X.shape[1]
        settings = self._settings((1000, 500, 250) if m >= _WIDE else (500, 250))
        lessons = Lessons.of(ScaledRows.within_one(X, settings.dtype), settings.random)
        sizes = (m, *settings.layers, settings.n_components)
        stack = stacked(sizes, lessons, pretrain_epochs, settings.random, settings.dtype)
        layers = stack.unrolled()
        lesson = Reconstruction(layers, lessons, settings.weight_decay)
        trained = train(layers.vector, lesson, lessons.schedule(settings.max_epochs), settings.random)
        half = len(settings.layers) + 1
        self._keep_both(lessons, layers[:half], layers[half:], trained)
        self.free_energy_gaps_ = stack.gaps
        return self
