"""LDA: linear discriminant analysis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from scipy.linalg import qr, svd

from ..._core.errors import is_real, require
from ..._core.specs import Array, Number
from ..._core.state import Sub
from ...embedding.embedder import Embedder, SupportsInverse
from ...embedding.maps.linear import LinearMap, padded_directions, require_features
from ...embedding.training_data import NComponents, NJobs, fully_labelled_training_data
from ...linalg.centering import RANK, CentredRows


class LDA(SupportsInverse, Embedder):
    """Linear discriminant analysis: directions that separate classes, relative to the spread within them.

    The leading solutions of ``S_b a = lambda S_w a``, S_b the covariance of the class means and S_w that
    within classes, pooled; there are one less than classes. The coordinates have the variance 1 within
    classes. Where S_w has not the rank of the data, as with more features than rows, some direction
    separates any labels perfectly, drawn ones included: there S_w is shrunk towards a multiple of the
    identity, by the amount of Ledoit and Wolf.

    Every row needs a class. -1 is one, with a warning beside two or more others, as it may mark rows without.

    Cost: ``O(n m min(n, m))`` time, ``O(n m)`` memory.

    Parameters
    ----------
    n_components : int
        Dimension of the map, at most the number of features. Coordinates beyond one less than the number of
        classes are zero, with a warning.
    shrinkage : "auto" or float
        From 0, none, to 1, the identity. ``"auto"`` is none where S_w has the rank of the data.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    components_ : array of shape (n_components, m)
        The entry of largest magnitude of each is positive.
    mean_ : array of shape (m,)
    classes_ : array
        What the classes are called.
    explained_variance_ratio_ : array of shape (n_components,)
        Share of the variance between classes.
    shrinkage_ : float
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Fisher (1936); Rao (1948); Ledoit and Wolf (2004).

    Examples
    --------
    >>> from isentropic import LDA, datasets
    >>> iris = datasets.load("builtin:iris")
    >>> LDA().fit(iris.X, iris.y).explained_variance_ratio_.round(3).tolist()
    [0.991, 0.009]
    """

    _learns_from_y = True
    components_: Annotated[np.ndarray, Array("d", "m")]
    mean_: Annotated[np.ndarray, Array("m")]
    explained_variance_ratio_: Annotated[np.ndarray, Array("d")]
    shrinkage_: Annotated[float, Number(0, most=1)]
    _map: Annotated[LinearMap, Sub(LinearMap)]

    def __init__(self, n_components: NComponents = 2, *, shrinkage: Any = "auto", n_jobs: NJobs = None):
        self.n_components = n_components
        self.shrinkage = shrinkage
        self.n_jobs = n_jobs

    def fit(self, X, y):
        """Class means, the spread within classes, the directions of the one in units of the other."""
        data = fully_labelled_training_data(self, X, y, keep_rows=False)
        d, n_jobs, count = self.n_components, self.n_jobs, len(self.classes_)
        require_features(d, data.table)
        shrinkage = _checked_shrinkage(self.shrinkage)
        require(count > 1, "y", "at least two classes", count, "PCA needs none.")
        centred = CentredRows.of(data.table)
        found = discriminants(centred, data.labels, shrinkage)
        directions = padded_directions(
            found.directions, d, f"{count} classes lie in {len(found.directions)} dimensions"
        )
        shares = found.variances[:d] / (found.variances.sum() or 1.0)
        new_rows = LinearMap.along(data, centred.mean, directions / centred.unit)
        return self._set_fit(new_rows.transform(data.table, n_jobs), new_rows,
                             components_=new_rows.components, mean_=new_rows.mean,
                             explained_variance_ratio_=np.pad(shares, (0, d - len(shares))),
                             shrinkage_=found.shrinkage)  # fmt: skip


def _checked_shrinkage(shrinkage: Any) -> float | None:
    """The shrinkage; None for ``"auto"``."""
    is_auto = isinstance(shrinkage, str) and shrinkage == "auto"
    in_range = is_auto or (is_real(shrinkage) and 0 <= shrinkage <= 1)
    require(in_range, "shrinkage", "'auto' or a number from 0 to 1", shrinkage)
    return None if is_auto else float(shrinkage)


@dataclass(frozen=True, slots=True)
class Discriminants:
    """All directions that separate classes, best first."""

    directions: np.ndarray  # (r, m)
    variances: np.ndarray  # (r,) between classes along each
    shrinkage: float  # of the covariance within classes


def discriminants(centred: CentredRows, classes: np.ndarray, shrinkage: float | None) -> Discriminants:
    """Found in the span of the rows; a shrinkage of None is that of Ledoit and Wolf where one is needed."""
    (n, m), axes = centred.rows.shape, centred.axes()[1]
    rows, sizes = centred.rows @ axes.T, np.bincount(classes)
    means = np.array([rows[classes == c].mean(axis=0) for c in range(len(sizes))])
    if not means.any():
        return Discriminants(np.zeros((0, m)), np.zeros(0), 0.0)
    rows -= means[classes]
    spreads, turn = _whole_axes(rows / np.sqrt(max(n - len(sizes), 1)))
    if shrinkage is None:
        singular = spreads[-1] <= RANK * max(spreads[0], np.abs(means).max())
        shrinkage = ledoit_wolf(rows, m) if singular else 0.0
    target = (spreads**2).sum() / m or (means**2).mean()  # equal rows in each class leave no other unit
    variances = (1 - shrinkage) * spreads**2 + shrinkage * target
    kept = variances > RANK**2 * variances.max()
    whitened = turn[kept].T / np.sqrt(variances[kept])
    _, between, found = svd(np.sqrt(sizes / n)[:, None] * means @ whitened, full_matrices=False)
    count = int(np.count_nonzero(between > RANK * between[0]))
    return Discriminants(found[:count] @ whitened.T @ axes, between[:count] ** 2, shrinkage)


def _whole_axes(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Singular values of n rows of q numbers and all q axes, those without spread included."""
    q = rows.shape[1]
    triangle = np.zeros((q, q))
    triangle[: min(rows.shape)] = qr(rows, mode="r")[0][:q]
    _, spreads, turn = svd(triangle)
    return spreads, turn


def ledoit_wolf(rows: np.ndarray, m: int) -> float:
    """The shrinkage of the covariance of centred rows of m features, given along fewer axes; 1 if zero."""
    n = len(rows)
    values = svd(rows / np.sqrt(n), compute_uv=False) ** 2
    mean = values.sum() / m
    apart = ((values**2).sum() - m * mean**2) / m
    error = ((((rows**2).sum(axis=1)) ** 2).mean() - (values**2).sum()) / (m * n)
    return float(min(max(error, 0.0) / apart, 1.0)) if apart > 0 else 1.0
