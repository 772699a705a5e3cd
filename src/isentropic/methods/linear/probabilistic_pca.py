"""Probabilistic PCA, also of a table with holes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ..._core.arguments import Choice
from ..._core.errors import IsentropicWarning, require, warn
from ..._core.specs import Array, Number
from ..._core.state import Sub
from ...embedding.embedder import Embedder, SupportsInverse
from ...embedding.maps.linear import LinearMap, padded, require_features
from ...embedding.training_data import NComponents, NJobs, Part, TrainingData, training_data
from ...linalg.centering import CentredRows
from ...linalg.factor_model import LEAST_NOISE, FactorModel, by_em, closed_form, posterior


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
        axes = padded(model.axes, d, f"X has a rank of {len(model.axes)}")
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
