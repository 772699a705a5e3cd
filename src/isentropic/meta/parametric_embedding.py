"""A network that mimics any embedder, so that new rows need nothing of the old ones."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPRegressor
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from .._errors import require
from .._runtime import row_blocks
from ..families.embedder import Embedder, require_array
from ..families.faithfulness import table_tau
from ..families.pairs import PairsEmbedder
from ..families.rows import checked_components, checked_rows

_VALIDATION = 0.2  # share of the rows
_PATIENCE = 3  # epochs without progress
_FEWEST_TO_VALIDATE = 20  # rows: the share of fewer says nothing
_BATCH = 32  # rows
_RATES = (1e-3, 1e-4)  # of learning: the second, from where the first ends, takes the noise out
_ENOUGH = 3000  # rows, fitted and synthetic: with fewer, a network of these layers learns them by heart
_FARTHEST = 0.5  # that a synthetic row lies off its own, in multiples of the way between two others
_ROWS_AT_ONCE = 512
_INTERRUPTED = "Training interrupted by user"


class ParametricEmbedding(Embedder):
    """A network learns the map of any embedder, and then places rows without the fitted ones.

    The embedder maps the rows; a network with ``layers`` of rectified linear units and an identity output
    learns that map, scaled to [0, 1], by mean squared error and Adam, until three epochs in a row bring no
    progress on a fifth of the rows that is held back, or ``max_epochs`` are over. The features are centred
    and divided by one number, so that the distances keep their proportions. ``embedding_`` is the network's
    output, what any row gets; the map that it learnt from is ``target_embedding_``.

    A few rows say little about what lies between them, and the network would learn them by heart. So where
    the embedder has ``transform``, it also places synthetic rows ``x_i + t (x_j - x_l)``, t uniform from 0 to
    1/2, for the network to learn: it then follows the embedder off the fitted rows too.

    Cost: that of the embedder, and ``O(n w)`` time an epoch for w weights; ``O(w)`` a new row.

    Parameters
    ----------
    embedder : estimator, optional
        Any estimator with ``fit_transform``. None is parameter-free SDD.
    n_components : int
        Dimension of the map where ``embedder`` is None; otherwise the embedder says it.
    layers : tuple of int
        Units of the hidden layers.
    max_epochs : int
        Passes over the rows at most.
    weight_decay : float
        Factor of the squared weights in the loss: more gives a smoother map.
    synthetic : "auto" or int
        Number of synthetic rows. ``"auto"`` is as many as bring the rows to 3,000; none where the embedder
        has no ``transform``, or takes distances or positive numbers only.
    random_state : int, RandomState or None
        Of the weights, the batches and the rows held back. None is a fixed seed: two runs agree.
    n_jobs : int, optional
        Threads of the default embedder.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
        What the network gives for the fitted rows.
    target_embedding_ : array of shape (n, n_components)
        What the embedder gives for them.
    n_epochs_ : int
    loss_ : float
        Mean squared error of the last epoch, of coordinates in [0, 1], halved.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Espadoto, Hirata and Telea (2020).

    Examples
    --------
    >>> from isentropic import PCA, ParametricEmbedding, datasets
    >>> X = datasets.load("builtin:iris").X
    >>> network = ParametricEmbedding(PCA(), layers=(64,)).fit(X[::2])
    >>> network.transform(X[1::2]).shape
    (75, 2)
    >>> bool(network.score(X[1::2]) > 0.8)
    True
    """

    def __init__(
        self,
        embedder=None,
        n_components=2,
        *,
        layers=(256, 512, 256),
        max_epochs=80,
        weight_decay=0.003,
        synthetic="auto",
        random_state=None,
        n_jobs=None,
    ):
        self.embedder = embedder
        self.n_components = n_components
        self.layers = layers
        self.max_epochs = max_epochs
        self.weight_decay = weight_decay
        self.synthetic = synthetic
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """The embedder's map, and a network that gives it."""
        checked_components(self.n_components)
        random = check_random_state(0 if self.random_state is None else self.random_state)
        network = self._network(int(random.randint(2**31 - 1)))
        X = checked_rows(self, X)
        teacher, target = self._taught(X, y)
        self._centre = X.mean(axis=0)
        self._spread = float(np.sqrt(((X - self._centre) ** 2).mean())) or 1.0
        self._low, extent = target.min(axis=0), np.ptp(target, axis=0)
        self._extent = float(extent.max()) or 1.0  # one for all coordinates: their proportions are the map
        between = _synthetic_rows(X, self._count_of_synthetic(teacher, len(X)), random)
        lesson, answers = X, target
        if len(between):
            lesson = np.concatenate([X, between])
            answers = np.concatenate([target, _placed(teacher, between, target.shape[1])])
        self.n_epochs_ = _trained(network, self._scaled(lesson), (answers - self._low) / self._extent)
        self._weights, self._biases = list(network.coefs_), list(network.intercepts_)
        self.loss_ = float(network.loss_curve_[-1])
        self.target_embedding_ = target
        self._n_features_out = target.shape[1]
        self.embedding_ = self._output(X)
        return self

    def _require_sound(self) -> None:
        super()._require_sound()
        width = self.n_features_in_
        require_array("centre", self._centre, (width,))
        for weights, bias in zip(self._weights, self._biases, strict=True):
            require_array("weights", weights, (width, None))
            width = weights.shape[1]
            require_array("biases", bias, (width,))
        require_array("least coordinates", self._low, (width,))
        require_array("coordinates", self.embedding_, (None, width))

    def transform(self, X) -> np.ndarray:
        """What the network gives for each row."""
        check_is_fitted(self)
        return self._output(checked_rows(self, X, fitting=False))

    def score(self, X, y=None) -> float:
        """Kendall's tau of the distances of these rows, in the data and where the network puts them."""
        Z = self.transform(X)
        return table_tau(checked_rows(self, X, fitting=False), Z, n_jobs=self.n_jobs).value

    def _network(self, seed: int) -> MLPRegressor:
        sizes = tuple(self.layers) if np.iterable(self.layers) else (self.layers,)
        whole = all(isinstance(size, int | np.integer) and not isinstance(size, bool) for size in sizes)
        positive = whole and len(sizes) > 0 and min(sizes) > 0
        require(positive, "layers", "a sequence of positive integers", self.layers)
        is_count = isinstance(self.max_epochs, int | np.integer) and not isinstance(self.max_epochs, bool)
        require(is_count and self.max_epochs > 0, "max_epochs", "a positive integer", self.max_epochs)
        is_decay = isinstance(self.weight_decay, int | float | np.number)
        is_decay = (
            is_decay and not isinstance(self.weight_decay, bool) and bool(0 <= self.weight_decay < np.inf)
        )
        require(is_decay, "weight_decay", "a number of at least 0", self.weight_decay)
        asked = self.synthetic
        is_count = isinstance(asked, int | np.integer) and not isinstance(asked, bool)
        is_auto = isinstance(asked, str) and asked == "auto"
        require(is_auto or bool(is_count and asked >= 0), "synthetic", "'auto' or a number of rows", asked)
        return MLPRegressor(
            hidden_layer_sizes=sizes,
            activation="relu",
            solver="adam",
            max_iter=int(self.max_epochs),
            validation_fraction=_VALIDATION,
            n_iter_no_change=_PATIENCE,
            alpha=float(self.weight_decay),
            warm_start=True,
            random_state=seed,
        )

    def _count_of_synthetic(self, teacher, n: int) -> int:
        tags = get_tags(teacher).input_tags  # sums of rows are no rows of such tables
        asked, places = (
            self.synthetic,
            hasattr(teacher, "transform") and not (tags.pairwise or tags.positive_only),
        )
        if isinstance(asked, str):
            return max(_ENOUGH - n, 0) if places else 0
        hint = "Give synthetic=0."
        require(asked == 0 or places, "embedder", "one that can place synthetic rows", teacher, hint)
        return int(asked)

    def _taught(self, X: np.ndarray, y) -> tuple[Any, np.ndarray]:
        """The fitted embedder, and the map to learn, (n, d)."""
        if self.embedder is None:
            seed = self.random_state
            sdd = PairsEmbedder(self.n_components, random_state=seed, n_jobs=self.n_jobs).fit(X)
            return sdd, sdd.embedding_
        hint = "Give an estimator such as isentropic.Isomap()."
        parts = all(hasattr(self.embedder, name) for name in ("get_params", "fit_transform"))
        fits = parts and not isinstance(self.embedder, type)
        require(fits, "embedder", "an estimator with fit_transform", self.embedder, hint)
        teacher = clone(self.embedder)
        target = np.asarray(teacher.fit_transform(X, y), np.float64)
        require(
            target.ndim == 2 and len(target) == len(X), "embedder", "one that maps every row", target.shape
        )
        return teacher, target

    def _scaled(self, X: np.ndarray) -> np.ndarray:
        return (X - self._centre) / self._spread

    def _output(self, X: np.ndarray) -> np.ndarray:
        Z = np.empty((len(X), self._n_features_out))
        for block in row_blocks(len(X), "network", size=_ROWS_AT_ONCE):
            layer = self._scaled(X[block])
            for i, (weights, bias) in enumerate(zip(self._weights, self._biases, strict=True)):
                layer = layer @ weights + bias
                if i < len(self._weights) - 1:
                    layer = np.maximum(layer, 0.0)
            Z[block] = layer
        return self._low + self._extent * Z


def _synthetic_rows(X: np.ndarray, count: int, random: np.random.RandomState) -> np.ndarray:
    """``count`` rows ``x_i + t (x_j - x_l)``: off the fitted ones, in directions in which those differ."""
    base, end, start = random.randint(len(X), size=(3, count))
    return X[base] + random.uniform(0.0, _FARTHEST, size=(count, 1)) * (X[end] - X[start])


def _placed(teacher, rows: np.ndarray, n_components: int) -> np.ndarray:
    """Where the embedder puts synthetic rows."""
    places = np.asarray(teacher.transform(rows), np.float64)
    got, hint = places.shape, "Give synthetic=0 to do without its transform."
    require(
        got == (len(rows), n_components), "embedder.transform", f"{len(rows)} x {n_components}", got, hint
    )
    return places


def _trained(network: MLPRegressor, X: np.ndarray, targets: np.ndarray) -> int:
    """Train at one rate after the other, let Ctrl-C through; the epochs that it took."""
    held_back = int(np.ceil(_VALIDATION * len(X))) if len(X) >= _FEWEST_TO_VALIDATE else 0
    network.set_params(early_stopping=held_back > 0, batch_size=min(_BATCH, len(X) - held_back))
    most, epochs = network.max_iter, 0
    for rate in _RATES:
        if epochs < most:
            _train(network.set_params(learning_rate_init=rate, max_iter=most - epochs), X, targets)
            epochs += int(network.n_iter_)
    return epochs


def _train(network: MLPRegressor, X: np.ndarray, targets: np.ndarray) -> None:
    # One thread: products of 32 rows gain nothing from more, and lose much where others are busy.
    with warnings.catch_warnings(), threadpool_limits(1, user_api="blas"):
        warnings.simplefilter("ignore", ConvergenceWarning)  # the last epoch is a rule, not a failure
        # scikit-learn turns Ctrl-C into a warning and goes on with a network half trained
        warnings.filterwarnings("error", _INTERRUPTED, UserWarning)
        try:
            network.fit(X, _as_targets(targets))
        except UserWarning as warning:
            if _INTERRUPTED in str(warning):
                raise KeyboardInterrupt from None
            raise


def _as_targets(scaled: np.ndarray) -> np.ndarray:
    """scikit-learn takes a single coordinate as a list."""
    return scaled.ravel() if scaled.shape[1] == 1 else scaled
