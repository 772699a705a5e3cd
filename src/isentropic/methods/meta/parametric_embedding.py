"""A network that mimics any embedder, so that new rows need nothing of the old ones."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from ..._core.errors import IsentropicWarning, require, require_count, require_number
from ..._core.runtime import generator, row_blocks
from ..._core.state import (
    Array,
    Double,
    Each,
    Maybe,
    Model,
    Number,
    State,
    StateError,
    Whole,
    estimator_named,
)
from ...embedding.distance_correlation import table_tau
from ...embedding.input_rows import checked_components, checked_rows
from ...embedding.maps.network import Layers
from ...embedding.placement import Placer
from ..neural.lessons import checked_layers
from ..neural.training import Schedule, drawn_batches, held_and_learnt, train

_EMBEDDER = "parameter-free-sdd"  # whose map is learnt where none is given
_ENOUGH = 4500  # rows, fitted and synthetic: with fewer, a network of these layers learns them by heart
_FARTHEST = 0.5  # that a synthetic row lies off its own, in multiples of the way between two others
_FAR_OFF = 1.5  # from the middle of the map, in extents: an embedder that puts a synthetic row there is lost
_ROWS_AT_ONCE = 512
_HELD = 0.2  # of the rows
_FEWEST_TO_HOLD = 20  # rows: the share of fewer says nothing
_PATIENCE = 3  # epochs without progress, at each rate
_BATCH = 32  # rows


class ParametricEmbedding(Placer):
    """A network learns the map of any embedder, and then places rows without the fitted ones.

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

    _state = State(
        target_embedding_=Array("n", "d"),
        n_epochs_=Whole(0),
        loss_=Number(0),
        _centre=Array("m"),
        _spread=Double(above=0),
        _low=Array("d"),
        _extent=Double(above=0),
        _weights=Each(Array(None, None), list),
        _biases=Each(Array(None), list),
    )
    _parameters = State(embedder=Maybe(Model(fitted=False)))

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
        """The embedder's map, and a network that gives it. ``y`` is the embedder's."""
        checked_components(self.n_components)
        random = generator(self.random_state)
        sizes, weight_decay = self._checked()
        given, X = X, checked_rows(self, X)
        teacher, target = self._taught(given if hasattr(given, "iloc") else X, y, random)
        self._centre = X.mean(axis=0)
        self._spread = float(np.sqrt(((X - self._centre) ** 2).mean())) or 1.0
        self._low, extent = target.min(axis=0), np.ptp(target, axis=0)
        self._extent = float(extent.max()) or 1.0  # one for all coordinates: their proportions are the map
        lesson, answers = self._scaled(X), (target - self._low) / self._extent
        count = self._count_of_synthetic(teacher, X)
        if count:
            between, places = self._synthetic(teacher, given, _mixed_rows(X, count, random), target)
            lesson = np.concatenate([lesson, self._scaled(between)])
            answers = np.concatenate([answers, places])
        layers = self._trained((X.shape[1], *sizes, target.shape[1]), lesson, answers, weight_decay, random)
        self._weights, self._biases = (list(part) for part in zip(*layers.parts(), strict=True))
        self.target_embedding_ = target
        self._n_features_out = target.shape[1]
        self.embedding_ = self._place(X)
        self.loss_ = float((((self.embedding_ - target) / self._extent) ** 2).mean())
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if hasattr(self.embedder, "__sklearn_tags__") and not isinstance(self.embedder, type):
            inner = get_tags(self.embedder)
            tags.input_tags.pairwise = inner.input_tags.pairwise
            tags.target_tags = inner.target_tags
        return tags

    def _require_sound(self) -> None:
        widths = [self.n_features_in_, *(len(bias) for bias in self._biases)]
        shapes = list(pairwise(widths))  # a layer takes what the one before it gives
        if [weights.shape for weights in self._weights] != shapes or widths[-1] != self._n_features_out:
            raise StateError("_weights", "must lead from the features to the coordinates, layer by layer")

    def score(self, X, y=None) -> float:
        """Kendall's tau of the Euclidean distances of these rows and of those where the network puts them."""
        Z = self.transform(X)
        return table_tau(checked_rows(self, X, fitting=False), Z, n_jobs=self.n_jobs).value

    def _checked(self) -> tuple[tuple[int, ...], float]:
        """The units of the hidden layers, and the decay."""
        sizes = checked_layers(self.layers)
        require(len(sizes) > 0, "layers", "a sequence of positive integers", self.layers)
        require_count("max_epochs", self.max_epochs)
        if not (isinstance(self.synthetic, str) and self.synthetic == "auto"):
            require_count("synthetic", self.synthetic, "'auto' or a number of rows", least=0)
        return sizes, require_number("weight_decay", self.weight_decay, "a number of at least 0")

    def _trained(
        self,
        sizes: tuple[int, ...],
        rows: np.ndarray,
        answers: np.ndarray,
        weight_decay: float,
        random: np.random.RandomState,
    ) -> Layers:
        """A network that gives the answers for the rows."""
        held, learnt = held_and_learnt(len(rows), _HELD, random, fewest=_FEWEST_TO_HOLD)
        layers = Layers.drawn(sizes, (*("relu" for _ in sizes[2:]), "linear"), random)
        lesson = _Answers(layers, rows, answers, held, learnt, weight_decay)
        schedule = Schedule(int(self.max_epochs), patience=_PATIENCE, anew=True)
        self.n_epochs_ = train(layers.vector, lesson, schedule, random).n_epochs
        return layers

    def _count_of_synthetic(self, teacher, X: np.ndarray) -> int:
        if self.synthetic == 0 or not hasattr(teacher, "transform"):
            self._require_not_asked(teacher)
            return 0
        tags = get_tags(teacher).input_tags
        if tags.pairwise or tags.positive_only or bool(np.isin(X, (0, 1)).all()):  # sums are no such rows
            self._require_not_asked(teacher)
            return 0
        return max(_ENOUGH - len(X), 0) if self.synthetic == "auto" else int(self.synthetic)

    def _require_not_asked(self, teacher) -> None:
        asked = self.synthetic not in ("auto", 0)
        require(not asked, "embedder", "one that can place synthetic rows", teacher, "Give synthetic=0.")

    def _synthetic(
        self, teacher, given, rows: np.ndarray, target: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Synthetic rows and where the embedder puts them, in extents; without those it puts far off."""
        try:
            table = type(given)(rows, columns=given.columns) if hasattr(given, "iloc") else rows
            places = (np.asarray(teacher.transform(table), np.float64) - self._low) / self._extent
            if places.shape != (len(rows), target.shape[1]) or not np.isfinite(places).all():
                raise ValueError(f"it gives {places.shape} numbers, or some that are not finite")
        except Exception as reason:  # whatever the embedder of somebody else may raise
            hint = f"Give synthetic=0: its transform fails on sums of rows ({reason})."
            require(self.synthetic == "auto", "embedder", "one that can place synthetic rows", teacher, hint)
            text = (
                f"The network learns the fitted rows alone: the embedder places no synthetic ones ({reason})."
            )
            warnings.warn(text, IsentropicWarning, stacklevel=3)
            return rows[:0], np.empty((0, target.shape[1]))
        near = (np.abs(places - 0.5) <= _FAR_OFF).all(axis=1)
        return rows[near], places[near]

    def _taught(self, X, y, random: np.random.RandomState) -> tuple[Any, np.ndarray]:
        """The fitted embedder, and the map to learn, (n, d)."""
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

    def _scaled(self, X: np.ndarray) -> np.ndarray:
        return (X - self._centre) / self._spread

    def _place(self, X: np.ndarray) -> np.ndarray:
        """What the network gives for each row."""
        activations = (*("relu" for _ in self._weights[1:]), "linear")
        layers = Layers.of(self._weights, self._biases, activations)
        Z = np.empty((len(X), self._n_features_out))
        for block in row_blocks(len(X), "network", size=_ROWS_AT_ONCE):
            Z[block] = layers.place(self._scaled(X[block]), self.n_jobs)
        return self._low + self._extent * Z


@dataclass(frozen=True, slots=True)
class _Answers:
    """The lesson: half the squared difference from the answers, summed over coordinates, and weight decay."""

    layers: Layers
    rows: np.ndarray
    answers: np.ndarray
    held: np.ndarray  # numbers of rows
    learnt: np.ndarray
    weight_decay: float

    def batches(self, random: np.random.RandomState):
        return drawn_batches(self.learnt, _BATCH, random)

    def slopes(self, batch: np.ndarray) -> np.ndarray:
        outputs = self.layers.forward(self.rows[batch])
        gradient = np.zeros_like(self.layers.vector)
        self.layers.backward(outputs, (outputs[-1] - self.answers[batch]) / len(batch), gradient)
        self.layers.decay(self.weight_decay / len(batch), gradient)
        return gradient

    def error(self) -> float:
        found = self.layers.forward(self.rows[self.held])[-1]
        return float(((found - self.answers[self.held]) ** 2).mean())


def _mixed_rows(X: np.ndarray, count: int, random: np.random.RandomState) -> np.ndarray:
    """``count`` rows ``x_i + t (x_j - x_l)``: off the fitted ones, in directions in which those differ."""
    base, end, start = random.randint(len(X), size=(3, count))
    return X[base] + random.uniform(0.0, _FARTHEST, size=(count, 1)) * (X[end] - X[start])
