"""Principal component analysis, with its probabilistic and sparse variants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from scipy.linalg import qr
from sklearn.decomposition import PCA as _PCA

from ..._core.arguments import Choice, Real, Switch
from ..._core.errors import IsentropicWarning, require, warn
from ..._core.specs import Array, Number
from ..._core.state import Sub
from ...embedding.embedder import Embedder, SupportsInverse
from ...embedding.maps.linear import LinearMap, padded_directions, require_features
from ...embedding.training_data import NComponents, NJobs, Part, TrainingData, training_data
from ...linalg.centering import RANK, CentredRows, Moments, short_products
from ...linalg.factor_model import LEAST_NOISE, FactorModel, by_em, closed_form, posterior


class PCA(SupportsInverse, Embedder):
    """Directions of largest variance: ``z = C (x - mean)``, C the leading eigenvectors of the covariance.

    The baseline of every comparison. Fitted by scikit-learn; a row gets the same coordinates in any batch.

    Cost: ``O(n m min(n, m))`` time, ``O(n m)`` memory.

    Parameters
    ----------
    n_components : int
        Dimension of the map, at most ``min(n, m)``.
    whiten : bool
        Scale every coordinate to unit variance.
    n_jobs : int, optional
        Threads of ``transform``. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    components_ : array of shape (n_components, m)
        Of length 1, or divided by the deviation where coordinates are whitened. The entry of largest
        magnitude of each is positive.
    mean_ : array of shape (m,)
    explained_variance_ : array of shape (n_components,)
    explained_variance_ratio_ : array of shape (n_components,)
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Pearson (1901).

    Examples
    --------
    >>> from isentropic import PCA, datasets
    >>> pca = PCA().fit(datasets.load("builtin:iris").X)
    >>> pca.explained_variance_ratio_.round(3).tolist()
    [0.73, 0.229]
    """

    components_: Annotated[np.ndarray, Array("d", "m")]
    mean_: Annotated[np.ndarray, Array("m")]
    explained_variance_: Annotated[np.ndarray, Array("d")]
    explained_variance_ratio_: Annotated[np.ndarray, Array("d")]
    _map: Annotated[LinearMap, Sub(LinearMap)]

    def __init__(
        self,
        n_components: NComponents = 2,
        *,
        whiten: Annotated[bool, Switch()] = False,
        n_jobs: NJobs = None,
    ):
        self.n_components = n_components
        self.whiten = whiten
        self.n_jobs = n_jobs

    def fit(self, X, y=None, *, moments=None):
        """Centre, decompose, fix the signs, place every row. ``y`` is not used.

        With the ``moments`` of more rows, of which X is a sample, mean and directions are those of all.
        """
        data, d, n_jobs = training_data(self, X, keep_rows=False), self.n_components, self.n_jobs
        X, most = data.table, min(data.table.shape)
        require(d <= most, "n_components", f"at most min(rows, features) = {most}", d)
        if moments is not None:
            return self._fit_moments(data, moments)
        # The solver is fixed: scikit-learn's choice by size would make results jump with n.
        solver = "covariance_eigh" if X.shape[1] <= 1000 and len(X) >= X.shape[1] else "full"
        centre = X.mean(axis=0)  # before the solver forms products, in which an offset would drown the rest
        with np.errstate(invalid="ignore"):  # constant data: 0 / 0 in the ratios, which are 0 below
            pca = _PCA(d, svd_solver=solver).fit(X - centre)
        scales = _to_unit_variance(pca.explained_variance_) if self.whiten else np.ones(d)
        new_rows = LinearMap.along(data, centre + pca.mean_, pca.components_ * scales[:, None])
        return self._set_fit(new_rows.transform(X, n_jobs), new_rows, components_=new_rows.components,
                             mean_=new_rows.mean, explained_variance_=pca.explained_variance_,
                             explained_variance_ratio_=np.nan_to_num(pca.explained_variance_ratio_, nan=0.0)
                             )  # fmt: skip

    def _fit_moments(self, data: TrainingData, moments: Moments):
        d = self.n_components
        variances, axes = moments.axes()
        scales = _to_unit_variance(variances[:d]) if self.whiten else np.ones(d)
        new_rows = LinearMap.along(data, moments.mean, axes[:d] * scales[:, None])
        return self._set_fit(new_rows.transform(data.table, self.n_jobs), new_rows,
                             components_=new_rows.components, mean_=new_rows.mean,
                             explained_variance_=variances[:d],
                             explained_variance_ratio_=variances[:d] / (variances.sum() or 1.0))  # fmt: skip


def _to_unit_variance(variances: np.ndarray) -> np.ndarray:
    """The factor of each coordinate; one without variance stays zero."""
    deviations = np.sqrt(variances)
    spread = deviations > 1e-12 * deviations.max()
    return np.divide(1.0, deviations, out=np.zeros_like(deviations), where=spread)


@dataclass(frozen=True, eq=False)
class FactorMap(Part):
    """The mean of the factors given what is known of a row: linear, where that is all of it."""

    linear: Annotated[LinearMap, Sub(LinearMap)]
    variances: Annotated[np.ndarray, Array("d", least=0)]  # along the directions, noise included
    noise: Annotated[float, Number(0)]

    @property
    def data(self) -> TrainingData:
        return self.linear.data

    @classmethod
    def of(cls, data: TrainingData, model: FactorModel, centred: CentredRows, d: int) -> FactorMap:
        """The model in the units of the table; directions that have no more variance than noise are zero."""
        noise, square = model.noise, centred.unit**2
        axes = padded_directions(model.axes, d, f"X has a rank of {len(model.axes)}")
        variances = np.concatenate([model.variances, np.full(d - len(model.variances), noise)])
        spread = np.sqrt(np.maximum(variances - noise, 0.0))
        scales = np.divide(spread, variances, out=np.zeros_like(spread), where=variances > 0)
        mean = centred.mean + centred.unit * model.mean
        linear = LinearMap.along(data, mean, axes, scales / centred.unit)
        return cls(linear, variances * square, float(noise * square))

    def transform(self, X: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """A complete row by the linear map, one with holes by the same mean given what is known of it."""
        holes = np.isnan(X)
        some = np.flatnonzero(holes.any(axis=1))
        if not len(some):
            return self.linear.transform(X, n_jobs)
        mean, directions = self.linear.mean, self.linear.components.T
        Z = self.linear.transform(np.where(holes, mean, X), n_jobs)
        unit = np.sqrt(self.variances.max()) or 1.0
        spread = np.sqrt(np.maximum(self.variances - self.noise, 0.0)) / unit
        noise = max(self.noise / unit**2, LEAST_NOISE)
        Z[some] = posterior((X[some] - mean) / unit, directions * spread, noise, n_jobs).means
        return Z

    def inverse(self, Z: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """As that of the linear map."""
        return self.linear.inverse(Z, n_jobs)


class ProbabilisticPCA(SupportsInverse, Embedder):
    """PCA as a model with a likelihood: ``x = W z + mean + e``, z normal, e normal noise of one variance.

    The coordinates of a row are the mean of z given what is known of it. Of a complete table the model has a
    closed form: with l the eigenvalues of the covariance (divisor n), the noise s is the mean of those beyond
    the first d, and ``z_j = sqrt(l_j - s) / l_j`` times the j-th coordinate of PCA. With values missing at
    random (NaN) it is fitted by expectation-maximisation, and no row is left out or filled in.

    Cost: ``O(n m min(n, m))`` time; with holes ``O(n m d^2)`` for each of some hundred rounds. ``O(n m)``
    memory.

    Parameters
    ----------
    n_components : int
        Dimension of the map, at most the number of features; all of them leave no noise, with a warning.
    missing : {"error", "em"}
        Whether NaN is refused, or a value that is not known, in ``fit`` and for new rows.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
        Of mean square below 1, the less so the more noise there is.
    components_ : array of shape (n_components, m)
        Orthonormal: W has these directions. The entry of largest magnitude of each is positive.
    mean_ : array of shape (m,)
    noise_variance_ : float
        Maximum likelihood, also where there are more features than rows.
    explained_variance_ : array of shape (n_components,)
        Of the model, noise included.
    explained_variance_ratio_ : array of shape (n_components,)
    log_likelihood_ : float
        Of what is known, per row; infinite where the noise is zero.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Tipping and Bishop (1999).

    Examples
    --------
    >>> import numpy as np
    >>> from isentropic import ProbabilisticPCA, datasets
    >>> X = datasets.load("builtin:wine").X
    >>> X[::7, 3] = np.nan
    >>> Z = ProbabilisticPCA(missing="em").fit_transform(X)
    >>> Z.shape, bool(np.isfinite(Z).all())
    ((178, 2), True)
    """

    components_: Annotated[np.ndarray, Array("d", "m")]
    mean_: Annotated[np.ndarray, Array("m")]
    noise_variance_: Annotated[float, Number(0)]
    explained_variance_: Annotated[np.ndarray, Array("d", least=0)]
    explained_variance_ratio_: Annotated[np.ndarray, Array("d", least=0)]
    log_likelihood_: Annotated[float, Number(infinite=True)]
    _map: Annotated[FactorMap, Sub(FactorMap)]

    def __init__(
        self,
        n_components: NComponents = 2,
        *,
        missing: Annotated[str, Choice("error", "em")] = "error",
        n_jobs: NJobs = None,
    ):
        self.n_components = n_components
        self.missing = missing
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Centre; the closed form, or rounds of expectation and maximisation; place every row.

        ``y`` is not used.
        """
        data, d, n_jobs = training_data(self, X, keep_rows=False), self.n_components, self.n_jobs
        X, m = data.table, data.table.shape[1]
        require_features(d, X)
        there = ~np.isnan(X)
        empty = np.flatnonzero(~there.any(axis=0)).tolist()
        require(
            not empty, "X", "known in some row for each feature", f"none in columns {empty}", "Drop them."
        )
        centred, complete = CentredRows.of(X), bool(there.all())
        if d == m:
            require(complete, "n_components", f"less than {m} for rows with holes", d)
            text = f"{m} directions of {m} features leave no noise: this is PCA, whitened."
            warn(text, IsentropicWarning)
        model = closed_form(centred, d) if complete else by_em(centred, d, n_jobs)
        new_rows = FactorMap.of(data, model, centred, d)
        known = float(there.sum(axis=1).mean()) * np.log(centred.unit)
        return self._set_fit(new_rows.transform(X, n_jobs), new_rows, components_=new_rows.linear.components,
                             mean_=new_rows.linear.mean, noise_variance_=new_rows.noise,
                             explained_variance_=new_rows.variances,
                             explained_variance_ratio_=_shares(model, d, m),
                             log_likelihood_=float(model.log_likelihood - known))  # fmt: skip

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "em"
        return tags


def _shares(model: FactorModel, d: int, m: int) -> np.ndarray:
    """The share of the variance of the model along each of d directions, noise included."""
    variances = np.concatenate([model.variances, np.full(d - len(model.variances), model.noise)])
    return variances / ((variances.sum() + (m - d) * model.noise) or 1.0)


_MOST_ROUNDS = 10_000
_STILL = 1e-9  # step of the unit vector at which a direction has been found


class SparsePCA(SupportsInverse, Embedder):
    """Sparse PCA: directions of large variance made of few features.

    One after the other, ``max_x sum_j ([|a_j' x| - g]_+)^2`` over unit vectors x, a_j the centred columns
    and g = rho times the length of the longest; the direction has the entries ``[|a_j' x| - g]_+ sign(a_j'
    x)``, and is projected out before the next (generalised power method). Every step raises the criterion.
    Unlike a penalty in units of the data, rho means the same in any unit, and at 0 this is PCA.

    Cost: ``O(n m min(n, m))`` once and ``O(m min(n, m))`` a step; ``O(n m)`` memory.

    Parameters
    ----------
    n_components : int
        Dimension of the map, at most the number of features.
    rho : float
        From 0, all features, to just below 1, one feature for each direction.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    components_ : array of shape (n_components, m)
        Of length 1, in general not orthogonal. The entry of largest magnitude of each is positive.
    mean_ : array of shape (m,)
    explained_variance_ratio_ : array of shape (n_components,)
        Of the coordinates, what they share with earlier ones left out (adjusted variance); largest first.
    zeros_ : array of shape (n_components,)
        Share of the features that each direction leaves out.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Journée, Nesterov, Richtárik and Sepulchre (2010); Zou, Hastie and Tibshirani (2006).

    Examples
    --------
    >>> from isentropic import SparsePCA, datasets
    >>> sparse = SparsePCA(rho=0.4).fit(datasets.load("builtin:wine").X)
    >>> bool((sparse.zeros_ > 0.2).all())
    True
    """

    components_: Annotated[np.ndarray, Array("d", "m")]
    mean_: Annotated[np.ndarray, Array("m")]
    explained_variance_ratio_: Annotated[np.ndarray, Array("d")]
    zeros_: Annotated[np.ndarray, Array("d")]
    _map: Annotated[LinearMap, Sub(LinearMap)]

    def __init__(
        self,
        n_components: NComponents = 2,
        *,
        rho: Annotated[float, Real("a number from 0 to below 1", below=1.0)] = 0.25,
        n_jobs: NJobs = None,
    ):
        self.n_components = n_components
        self.rho = rho
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Centre; one direction after the other, each projected out; order, place every row.

        ``y`` is not used.
        """
        data, d, n_jobs = training_data(self, X, keep_rows=False), self.n_components, self.n_jobs
        require_features(d, data.table)
        centred = CentredRows.of(data.table)
        found = _directions(centred.rows, d, float(self.rho))
        found = found[np.argsort(-_adjusted(centred.rows, found), kind="stable")]
        variances = np.pad(_adjusted(centred.rows, found), (0, d - len(found)))
        components = padded_directions(found, d, f"X has a rank of {len(found)}")
        new_rows = LinearMap.along(data, centred.mean, components)
        return self._set_fit(new_rows.transform(data.table, n_jobs), new_rows,
                             components_=new_rows.components, mean_=new_rows.mean,
                             explained_variance_ratio_=variances / ((centred.rows**2).sum() or 1.0),
                             zeros_=(components == 0).mean(axis=1))  # fmt: skip


def _directions(rows: np.ndarray, count: int, rho: float) -> np.ndarray:
    """Unit vectors (count, m), fewer where nothing is left."""
    if len(rows) > rows.shape[1]:
        rows = qr(rows, mode="r")[0][: rows.shape[1]]  # fewer rows with the same products of columns
    least = RANK * np.sqrt((rows**2).sum())
    found: list[np.ndarray] = []
    while len(found) < count and np.sqrt((rows**2).sum()) > least:
        with short_products(rows.size):
            direction = power_direction(rows, rho)
        found.append(direction)
        rows = rows - np.outer(rows @ direction, direction)
    return np.array(found).reshape(-1, rows.shape[1])


def power_direction(rows: np.ndarray, rho: float) -> np.ndarray:
    """One direction (m,), from the longest column on."""
    lengths = np.sqrt((rows**2).sum(axis=0))
    longest = int(lengths.argmax())
    x, threshold = rows[:, longest] / lengths[longest], rho * lengths[longest]
    for _ in range(_MOST_ROUNDS):
        products = x @ rows
        entries = np.sign(products) * np.maximum(np.abs(products) - threshold, 0.0)
        before, x = x, rows @ entries
        x = x / np.sqrt(x @ x)
        if np.abs(x - before).max() <= _STILL:
            break
    else:
        text = f"A direction still turns after {_MOST_ROUNDS} rounds, by {np.abs(x - before).max():.2g}."
        warn(text, IsentropicWarning)
    return entries / np.sqrt(entries @ entries)


def _adjusted(rows: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Squared lengths of the coordinates, what they share with earlier ones left out."""
    if not len(directions):
        return np.zeros(0)
    return np.diag(qr(rows @ directions.T, mode="r")[0][: len(directions)]) ** 2
