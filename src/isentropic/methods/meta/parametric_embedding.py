"""A network that mimics any embedder: new rows need no training rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from ..._core.arguments import Count, Real
from ..._core.errors import IsentropicWarning, require, require_count
from ..._core.runtime import generator
from ..._core.specs import Array, Double, Maybe, Number, Whole
from ..._core.state import Model, Sub, estimator_named
from ...embedding.embedder import Embedder
from ...embedding.input_rows import checked_rows
from ...embedding.maps.network import Layers, NetworkMap, scaled
from ...embedding.row_distances import table_tau
from ...embedding.training_data import NComponents, NJobs, training_data
from ..neural.training import Schedule, checked_layers, shuffled_batches, train, validation_split

_EMBEDDER = "parameter-free-sdd"  # whose map is learnt where none is given
_ENOUGH = 4500  # rows, fitted and synthetic: with fewer, a network of these layers learns them by heart
_FARTHEST = 0.5  # that a synthetic row lies off its own, in multiples of the way between two others
_FAR_OFF = 1.5  # from the middle of the map, in extents: an embedder that puts a synthetic row there is lost
_VALIDATION_SHARE = 0.2  # of the rows
_FEWEST_TO_SPLIT = 20  # rows: the share of fewer says nothing
_PATIENCE = 3  # epochs without progress, at each rate
_BATCH = 32  # rows


@dataclass(frozen=True, eq=False)
class MimicMap(NetworkMap):
    """``z = low + extent f((x - origin) / unit)``: the network gives coordinates between 0 and 1."""

    low: Annotated[np.ndarray, Array("d")]
    extent: Annotated[float, Double(above=0)]

    def transform(self, X: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Coordinates of rows."""
        return self.low + self.extent * super().transform(X, n_jobs)


class ParametricEmbedding(Embedder):
    """Train a network to mimic the map of any embedder; it maps new rows without the fitted ones.

    The embedder maps the rows; a network with ``layers`` of rectified linear units and an identity output
    learns that map, scaled to [0, 1], by mean squared error and Adam, until three epochs in a row bring no
    progress on a fifth of the rows that is held back; then likewise at a tenth of the rate; or until
    ``max_epochs`` are over. The weights are those of the best epoch. The features are centred and divided by
    one number, so that the distances keep their proportions. ``embedding_`` is the network's output, what
    any row gets; the map that it learnt from is ``target_embedding_``.

    A few rows say little about what lies between them, and the network would learn them by heart. So where
    the embedder has ``transform``, it also places synthetic rows ``x_i + t (x_j - x_l)``, t uniform from 0 to
    1/2, for the network to learn: it then follows the embedder off the fitted rows too.

    Cost: that of the embedder, which also places up to 4,500 rows, and ``O(n w)`` time an epoch for w
    weights; ``O(w)`` a new row.

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
        More gives a smoother map: ``alpha`` of scikit-learn's networks.
    synthetic : "auto" or int
        Number of synthetic rows. ``"auto"`` is as many as bring the rows to 4,500; none where the embedder
        has no ``transform``, or takes distances or positive numbers only, or the table is of zeros and ones.
    random_state : int, RandomState or None
        Of the weights, the batches, the synthetic rows and those held back, and of the default embedder; any
        other has its own. None is a fixed seed: two runs agree if those of the embedder do.
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
        Mean squared difference between the network's map and the one it learnt, in its greatest extents.
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

    target_embedding_: Annotated[np.ndarray, Array("n", "d")]
    n_epochs_: Annotated[int, Whole(0)]
    loss_: Annotated[float, Number(0)]
    _map: Annotated[MimicMap, Sub(MimicMap)]

    def __init__(
        self,
        embedder: Annotated[Any, Maybe(Model(fitted=False))] = None,
        n_components: NComponents = 2,
        *,
        layers=(256, 512, 256),
        max_epochs: Annotated[int, Count()] = 80,
        weight_decay: Annotated[float, Real("a number of at least 0")] = 0.003,
        synthetic="auto",
        random_state=None,
        n_jobs: NJobs = None,
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
        """The embedder's map, and a network that gives it. ``y`` is the embedder's."""
        sizes, random = self._checked(), generator(self.random_state)
        data = training_data(self, X, keep_rows=False)
        rows = data.table
        teacher, target = self._fit_embedder(X if hasattr(X, "iloc") else rows, y, random)
        origin = rows.mean(axis=0)
        unit = float(np.sqrt(((rows - origin) ** 2).mean())) or 1.0
        low = target.min(axis=0)
        extent = float(np.ptp(target, axis=0).max()) or 1.0  # one for all: their proportions are the map
        inputs, targets = scaled(rows, origin, unit), (target - low) / extent
        count = self._count_of_synthetic(teacher, rows)
        if count:
            between = _mixed_rows(rows, count, random)
            between, places = self._synthetic(teacher, X, between, (low, extent))
            inputs = np.concatenate([inputs, scaled(between, origin, unit)])
            targets = np.concatenate([targets, places])
        sizes = (rows.shape[1], *sizes, target.shape[1])
        layers, n_epochs = self._trained(sizes, inputs, targets, random)
        new_rows = MimicMap(data, target.shape[1], origin, unit, layers, low, extent)
        Z = new_rows.transform(rows, self.n_jobs)
        loss = float((((Z - target) / extent) ** 2).mean())
        return self._set_fit(Z, new_rows, target_embedding_=target, n_epochs_=n_epochs, loss_=loss)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if hasattr(self.embedder, "__sklearn_tags__") and not isinstance(self.embedder, type):
            inner = get_tags(self.embedder)
            tags.input_tags.pairwise = inner.input_tags.pairwise
            tags.target_tags = inner.target_tags
        return tags

    def score(self, X, y=None) -> float:
        """Kendall's tau of the Euclidean distances of these rows and of those where the network puts them."""
        Z = self.transform(X)
        return table_tau(checked_rows(self, X, fitting=False), Z, n_jobs=self.n_jobs).value

    def _checked(self) -> tuple[int, ...]:
        """The units of the hidden layers; the other parameters have specs."""
        sizes = checked_layers(self.layers)
        require(len(sizes) > 0, "layers", "a sequence of positive integers", self.layers)
        if not (isinstance(self.synthetic, str) and self.synthetic == "auto"):
            require_count("synthetic", self.synthetic, "'auto' or a number of rows", least=0)
        return sizes

    def _trained(
        self, sizes: tuple[int, ...], rows: np.ndarray, targets: np.ndarray, random: np.random.RandomState
    ) -> tuple[Layers, int]:
        """Train a network to give the targets of the rows; with the number of epochs."""
        validation, training = validation_split(len(rows), _VALIDATION_SHARE, random, fewest=_FEWEST_TO_SPLIT)
        layers = Layers.initialized(sizes, (*("relu" for _ in sizes[2:]), "linear"), random)
        objective = _MimicLoss(layers, rows, targets, validation, training, float(self.weight_decay))
        schedule = Schedule(int(self.max_epochs), patience=_PATIENCE, anew=True)
        return layers, train(layers.vector, objective, schedule, random).n_epochs

    def _count_of_synthetic(self, teacher, X: np.ndarray) -> int:
        if self.synthetic == 0 or not hasattr(teacher, "transform"):
            self._require_no_synthetic_rows(teacher)
            return 0
        tags = get_tags(teacher).input_tags
        if tags.pairwise or tags.positive_only or bool(np.isin(X, (0, 1)).all()):  # sums are no such rows
            self._require_no_synthetic_rows(teacher)
            return 0
        return max(_ENOUGH - len(X), 0) if self.synthetic == "auto" else int(self.synthetic)

    def _require_no_synthetic_rows(self, teacher) -> None:
        asked = self.synthetic not in ("auto", 0)
        require(not asked, "embedder", "one that can place synthetic rows", teacher, "Give synthetic=0.")

    def _synthetic(
        self, teacher, given, rows: np.ndarray, box: tuple[np.ndarray, float]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Synthetic rows and where the embedder puts them, in extents; without those it puts far off."""
        low, extent = box
        try:
            table = type(given)(rows, columns=given.columns) if hasattr(given, "iloc") else rows
            places = (np.asarray(teacher.transform(table), np.float64) - low) / extent
            if places.shape != (len(rows), len(low)) or not np.isfinite(places).all():
                raise ValueError(f"it gives {places.shape} numbers, or some that are not finite")
        except Exception as reason:  # whatever the embedder of somebody else may raise
            hint = f"Give synthetic=0: its transform fails on sums of rows ({reason})."
            require(self.synthetic == "auto", "embedder", "one that can place synthetic rows", teacher, hint)
            text = (
                f"The network learns the fitted rows alone: the embedder places no synthetic ones ({reason})."
            )
            warnings.warn(text, IsentropicWarning, stacklevel=3)
            return rows[:0], np.empty((0, len(low)))
        near = (np.abs(places - 0.5) <= _FAR_OFF).all(axis=1)
        return rows[near], places[near]

    def _fit_embedder(self, X, y, random: np.random.RandomState) -> tuple[Any, np.ndarray]:
        """Fit the embedder: it, and the map to learn (n, d)."""
        if self.embedder is None:
            seed = int(random.randint(2**31 - 1))
            kind: Any = estimator_named(_EMBEDDER)
            sdd = kind(self.n_components, random_state=seed, n_jobs=self.n_jobs).fit(X)
            return sdd, sdd.embedding_
        hint = "Give an estimator such as isentropic.Isomap()."
        parts = all(hasattr(self.embedder, name) for name in ("get_params", "fit_transform"))
        fits = parts and not isinstance(self.embedder, type)
        require(fits, "embedder", "an estimator with fit_transform", self.embedder, hint)
        teacher = clone(self.embedder)
        target = np.asarray(teacher.fit_transform(X, y), np.float64)
        every = target.ndim == 2 and len(target) == len(X)
        require(every, "embedder", "one that maps every row", target.shape)
        finite = bool(np.isfinite(target).all())
        require(finite, "embedder", "one that gives finite coordinates", "infinite or missing ones")
        return teacher, target


@dataclass(frozen=True, slots=True)
class _MimicLoss:
    """Half the squared difference from the targets, summed over coordinates, and weight decay."""

    layers: Layers
    rows: np.ndarray
    targets: np.ndarray
    validation: np.ndarray  # numbers of rows
    training: np.ndarray
    weight_decay: float

    def batches(self, random: np.random.RandomState):
        return shuffled_batches(self.training, _BATCH, random)

    def gradient(self, batch: np.ndarray) -> np.ndarray:
        outputs = self.layers.forward(self.rows[batch])
        gradient = np.zeros_like(self.layers.vector)
        self.layers.backward(outputs, (outputs[-1] - self.targets[batch]) / len(batch), gradient)
        self.layers.decay(self.weight_decay / len(batch), gradient)
        return gradient

    def error(self) -> float:
        found = self.layers.forward(self.rows[self.validation])[-1]
        return float(((found - self.targets[self.validation]) ** 2).mean())


def _mixed_rows(X: np.ndarray, count: int, random: np.random.RandomState) -> np.ndarray:
    """``count`` rows ``x_i + t (x_j - x_l)``: off the fitted ones, in directions in which those differ."""
    base, end, start = random.randint(len(X), size=(3, count))
    return X[base] + random.uniform(0.0, _FARTHEST, size=(count, 1)) * (X[end] - X[start])
