"""Nonlinear PCA in its inverse form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ..._core.arguments import Count, Real
from ..._core.errors import require
from ..._core.runtime import generator, row_blocks
from ..._core.specs import Array, Double, Number, StateError, Whole
from ..._core.state import Sub, Value
from ...distances import rows_per_block
from ...embedding.embedder import Embedder, SupportsInverse
from ...embedding.maps.network import Layers, decoded_rows, require_decoder, scaled
from ...embedding.training_data import NComponents, NJobs, Part, TrainingData, training_data
from ...kernels._jit import threads
from ...kernels.rows.row_descent import optimize_decoded_rows
from ...linalg import fixed_signs
from ...linalg.centering import CentredRows
from ...optim import lbfgs

_CANDIDATES = 100  # places from which the search for that of a row may begin
_TOL = 1e-7  # of the cost at the start, by which the last step lowers it


@dataclass(frozen=True, eq=False)
class SurfaceMap(Part):
    """Map a row to its nearest point of a decoded surface, from the nearest of some fitted coordinates."""

    data: Annotated[TrainingData, Sub(TrainingData)]  # without rows: a training row is placed as any other
    origin: Annotated[np.ndarray, Array("m")]
    unit: Annotated[float, Double(above=0)]
    decoder: Annotated[Layers, Value(Layers)]
    candidates: Annotated[np.ndarray, Array("s", "d")]
    penalty: Annotated[float, Number(0)]  # of the squares of a place

    def transform(self, X: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Coordinates of rows, by Levenberg and Marquardt; NaN is a value that is not known."""
        _require_known(X)
        parts, d = self.decoder.parts(), self.candidates.shape[1]
        bent = len(parts) > 1
        (inner, inner_bias), (outer, outer_bias) = parts if bent else ((np.eye(d), np.zeros(d)), *parts)
        decoder = tuple(np.array(part, order="C") for part in (inner.T, inner_bias, outer.T, outer_bias))
        candidates = np.array(self.candidates)
        decoded = self.decoder.apply(candidates, n_jobs)
        Z = np.empty((len(X), d))
        for block in row_blocks(len(X), "placing rows", size=rows_per_block(X.shape[1]), adapt=True):
            rows = scaled(X[block], self.origin, self.unit)
            with threads(n_jobs):
                optimize_decoded_rows(rows, candidates, decoded, decoder, bent, float(self.penalty), Z[block])
        return Z

    def inverse(self, Z: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """The points of the surface."""
        return decoded_rows(self.decoder, Z, self.origin, self.unit, n_jobs)

    def mean_square(self, X: np.ndarray, Z: np.ndarray) -> float:
        """Mean squared difference between the known values of rows and what their coordinates decode to."""
        away = scaled(X, self.origin, self.unit) - self.decoder.forward(Z)[-1]
        return float(np.nanmean(away**2)) * self.unit**2

    def _require_sound(self) -> None:
        require_decoder(self.decoder, self.candidates.shape[1], len(self.origin))
        if len(self.decoder.sizes) > 3:
            raise StateError("decoder", "must have one hidden layer at most")
        if self.decoder.activations != ("tanh", "linear")[-len(self.decoder.activations) :]:
            raise StateError("decoder", "must have units of tanh, and linear outputs")


class NonlinearPCA(SupportsInverse, Embedder):
    """Nonlinear PCA, inverse form: a network fits a curve or surface to rows that may have missing values.

    The decoder ``g(z) = b + V' tanh(c + W' z)`` and the places z minimise
    ``sum (x_ij - g(z_i)_j)^2 + weight_decay (|V|^2 + |W|^2 + |z|^2)`` over all values that are known: NaN is
    one that is not, and takes no part. The features are centred and divided by one number. L-BFGS finds
    weights and places together, from the coordinates of PCA; a row, fitted or new, is then placed where the
    sum over its own values is least, by Levenberg and Marquardt from the nearest of 100 fitted places.
    Without hidden units this is PCA. Its coordinates have no order.

    Cost: ``O(n m h)`` time a step for h hidden units, ``O(n (m + d))`` memory.

    Parameters
    ----------
    n_components : int
        Dimension of the map.
    n_hidden : int, optional
        Hidden units: more can bend more often. None is ``2 n_components + 2``, for one coordinate 6; 0 is a
        linear decoder.
    weight_decay : float
        More gives a smoother surface.
    max_iter : int
        Steps at most.
    random_state : int, RandomState or None
        Of the weights at the start. None is a fixed seed.
    n_jobs : int, optional
        Threads that place rows. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    reconstruction_error_ : float
        Mean of the squares of ``x - g(z)`` over the values that are known.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Scholz, Kaplan, Guy, Kopka and Selbig (2005).

    Examples
    --------
    >>> from isentropic import NonlinearPCA
    >>> t = np.linspace(0, np.pi, 60)
    >>> arc = np.column_stack([np.cos(t), np.sin(t)])
    >>> arc[::7, 0] = np.nan
    >>> curve = NonlinearPCA(1).fit(arc)
    >>> bool(curve.reconstruction_error_ < 1e-3)
    True
    """

    reconstruction_error_: Annotated[float, Number(0)]
    n_iter_: Annotated[int, Whole(0)]
    _map: Annotated[SurfaceMap, Sub(SurfaceMap)]

    def __init__(
        self,
        n_components: NComponents = 2,
        *,
        n_hidden: Annotated[
            int | None, Count("a number of units, or None", least=0, most=10**6, optional=True)
        ] = None,
        weight_decay: Annotated[float, Real("a number of at least 0")] = 1e-3,
        max_iter: Annotated[int, Count()] = 5000,
        random_state: Any = None,
        n_jobs: NJobs = None,
    ):
        self.n_components = n_components
        self.n_hidden = n_hidden
        self.weight_decay = weight_decay
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Scale; places and weights together by L-BFGS; every row to its nearest point of the surface.

        ``y`` is not used.
        """
        data, d, n_jobs = training_data(self, X, keep_rows=False), int(self.n_components), self.n_jobs
        h = _default_units(d) if self.n_hidden is None else int(self.n_hidden)
        X, penalty = data.table, float(self.weight_decay)
        _require_known(X)
        empty = np.flatnonzero(np.isnan(X).all(axis=0))[:5].tolist()
        require(
            not empty, "X", "known in some row for each feature", f"none in columns {empty}", "Drop them."
        )
        random, centred = generator(self.random_state), CentredRows.of(X)
        spread = float(np.sqrt(np.nanmean(centred.rows**2))) or 1.0
        rows = centred.rows / spread
        sizes, bent = ((d, h, X.shape[1]), ("tanh", "linear")) if h else ((d, X.shape[1]), ("linear",))
        start = Layers.initialized(sizes, bent, random)
        surface = _Surface(rows, start, penalty)
        found = lbfgs(surface, surface.start(random), max_iter=int(self.max_iter), tol=_TOL)
        places, decoder = surface.split(found.point)
        candidates = places[random.permutation(data.n)[:_CANDIDATES]]
        new_rows = SurfaceMap(TrainingData(data.n, None, data.metric), centred.mean, centred.unit * spread,
                              decoder.astype(np.float64), candidates, penalty)  # fmt: skip
        Z = new_rows.transform(X, n_jobs)
        error = new_rows.mean_square(X, Z)
        return self._set_fit(Z, new_rows, reconstruction_error_=error, n_iter_=found.n_iter)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _default_units(d: int) -> int:
    return 6 if d == 1 else 2 * d + 2


class _Surface:
    """The cost of coordinates and weights, as one vector, and its gradient."""

    def __init__(self, rows: np.ndarray, layers: Layers, penalty: float):
        self.holes = np.isnan(rows)
        self.rows, self.layers, self.penalty = np.where(self.holes, 0.0, rows), layers, penalty
        self.n_places = len(rows) * layers.sizes[0]

    def start(self, random: np.random.RandomState) -> np.ndarray:
        """Initial point: coordinates of PCA, with means for missing values; random weights."""
        n, d = len(self.rows), self.layers.sizes[0]
        places = 0.1 * random.standard_normal((n, d))
        values, axes = CentredRows.of(self.rows).axes()
        found = self.rows @ fixed_signs(axes[:d].T)
        places[:, : found.shape[1]] = found / (values[0] / np.sqrt(n)) if len(values) else 0.0
        return np.concatenate([places.ravel(), self.layers.vector])

    def split(self, point: np.ndarray) -> tuple[np.ndarray, Layers]:
        """Places (n, d) and the decoder of a point."""
        sizes, activations = self.layers.sizes, self.layers.activations
        places = point[: self.n_places].reshape(-1, sizes[0])
        return places, Layers(sizes, activations, point[self.n_places :])

    def __call__(self, point: np.ndarray) -> tuple[float, np.ndarray]:
        places, layers = self.split(point)
        outputs = layers.forward(places)
        away = outputs[-1] - self.rows
        away[self.holes] = 0.0
        squares = sum(float((weights**2).sum()) for weights, _ in layers.parts()) + float((places**2).sum())
        gradient = np.zeros_like(point)
        of_places = layers.backward(outputs, 2 * away, gradient[self.n_places :], to_rows=True)
        layers.decay(2 * self.penalty, gradient[self.n_places :])
        gradient[: self.n_places] = (of_places + 2 * self.penalty * places).ravel()
        return float((away**2).sum()) + self.penalty * squares, gradient


def _require_known(X: np.ndarray) -> None:
    """Require a known value in every row."""
    known = ~np.isnan(X)
    empty = np.flatnonzero(~known.any(axis=1))[:5].tolist()
    require(not empty, "X", "known in some feature for each row", f"none in rows {empty}", "Drop them.")
