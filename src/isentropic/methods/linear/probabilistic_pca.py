"""Probabilistic PCA, also of a table with holes."""

from __future__ import annotations

import warnings

import numpy as np

from ..._core.errors import IsentropicWarning, require, require_one_of
from ..._core.state import Array, Number, State
from ...embedding.input_rows import checked_components, checked_rows
from ...embedding.maps.linear import LinearEmbedder, padded, require_features
from ...linalg.centred import CentredRows
from ...linalg.factor_model import LEAST_NOISE, FactorModel, by_em, closed_form, posterior


class ProbabilisticPCA(LinearEmbedder):
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

    _state = State(
        noise_variance_=Number(0),
        explained_variance_=Array("d", least=0),
        explained_variance_ratio_=Array("d", least=0),
        log_likelihood_=Number(infinite=True),
    )

    def __init__(self, n_components=2, *, missing="error", n_jobs=None):
        self.n_components = n_components
        self.missing = missing
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Centre; the closed form, or rounds of expectation and maximisation; place every row.

        ``y`` is not used.
        """
        require_one_of("missing", self.missing, ("error", "em"))
        X = checked_rows(self, X)
        n_components, m = checked_components(self.n_components), X.shape[1]
        require_features(n_components, X)
        there = ~np.isnan(X)
        empty = np.flatnonzero(~there.any(axis=0)).tolist()
        require(
            not empty, "X", "known in some row for each feature", f"none in columns {empty}", "Drop them."
        )
        centred = CentredRows.of(X)
        complete = bool(there.all())
        if n_components == m:
            require(complete, "n_components", f"less than {m} for rows with holes", n_components)
            text = f"{m} directions of {m} features leave no noise: this is PCA, whitened."
            warnings.warn(text, IsentropicWarning, stacklevel=2)
        model = closed_form(centred, n_components) if complete else by_em(centred, n_components, self.n_jobs)
        self._keep(X, model, centred, float(there.sum(axis=1).mean()))
        return self

    def _keep(self, X: np.ndarray, model: FactorModel, centred: CentredRows, known: float) -> None:
        """The model in the units of the table; directions that have no more variance than noise are zero."""
        noise, m = model.noise, X.shape[1]
        variances, axes = (
            model.variances,
            padded(model.axes, self.n_components, f"X has a rank of {len(model.axes)}"),
        )
        variances = np.concatenate([variances, np.full(self.n_components - len(variances), noise)])
        square = centred.unit**2
        self.noise_variance_ = float(noise * square)
        self.explained_variance_ = variances * square
        total = variances.sum() + (m - len(variances)) * noise
        self.explained_variance_ratio_ = variances / (total or 1.0)
        self.log_likelihood_ = float(model.log_likelihood - known * np.log(centred.unit))
        spread = np.sqrt(np.maximum(variances - noise, 0.0))
        scales = np.divide(spread, variances, out=np.zeros_like(spread), where=variances > 0)
        self._project(X, centred.mean + centred.unit * model.mean, axes, scales / centred.unit)

    def _place(self, X: np.ndarray) -> np.ndarray:
        """A complete row by the linear map, one with holes by the same mean given what is known of it."""
        holes = np.isnan(X)
        some = np.flatnonzero(holes.any(axis=1))
        if not len(some):
            return super()._place(X)
        Z = super()._place(np.where(holes, self.mean_, X))
        unit = np.sqrt(self.explained_variance_.max()) or 1.0
        spread = np.sqrt(np.maximum(self.explained_variance_ - self.noise_variance_, 0.0)) / unit
        noise = max(self.noise_variance_ / unit**2, LEAST_NOISE)
        rows = (X[some] - self.mean_) / unit
        Z[some] = posterior(rows, self.components_.T * spread, noise, self.n_jobs).means
        return Z

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "em"
        return tags
