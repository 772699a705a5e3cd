"""Robust PCA: L1-PCA, and principal component pursuit."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from scipy.linalg import qr, svd

from ..._core.arguments import Choice
from ..._core.errors import IsentropicWarning, warn
from ..._core.specs import Array
from ..._core.state import Sub
from ...embedding.embedder import Embedder, SupportsInverse
from ...embedding.maps.linear import LinearMap, padded_directions, require_features
from ...embedding.training_data import NComponents, NJobs, training_data
from ...linalg import fixed_signs
from ...linalg.centering import RANK, CentredRows, short_products

_STARTS = 10  # rows, the longest, from which the search starts beside the principal axes
_MOST_ROUNDS = 1_000
_EXACT = 1e-7  # share of the table that low rank and outliers may leave over
_STILL = 1e-12  # step, in the unit of the rows, at which the spatial median has been found


class RobustPCA(SupportsInverse, Embedder):
    """PCA that a few odd rows, or odd values, turn less: two things go by this name.

    ``"l1"``: directions of largest absolute deviation, ``max sum_i |W' (x_i - c)|_1`` over orthonormal W,
    from the spatial median c (Kwak; Nie and others). Each round raises the sum, to a local maximum; of
    several starts the best is kept. That chooses the plane; within it the first direction has the largest
    sum alone. It is robust in degree, not in breakdown: one row far enough still turns it.

    ``"pcp"``: the table is split into one of low rank and one of few values, however large, by
    ``min |L|_* + |S|_1 / sqrt(max(n, m))``, L + S = X (principal component pursuit, Candès and others), and
    the directions are the principal axes of L. It is for odd values scattered over the table.

    Cost: ``O(n m d)`` a round and start for ``"l1"``, ``O(n m min(n, m))`` a round for ``"pcp"``; ``O(n m)``
    memory.

    Parameters
    ----------
    n_components : int
        Dimension of the map, at most the number of features.
    solver : {"l1", "pcp"}
        Which of the two.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    components_ : array of shape (n_components, m)
        Orthonormal. The entry of largest magnitude of each is positive.
    mean_ : array of shape (m,)
        The spatial median of the rows, or the mean of L.
    explained_variance_ratio_ : array of shape (n_components,)
        Share of the variance of X, odd rows included.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Kwak (2008); Candès, Li, Ma and Wright (2011).

    Examples
    --------
    >>> import numpy as np
    >>> from isentropic import PCA, RobustPCA
    >>> X = np.random.default_rng(0).normal(size=(200, 3)) * [5, 1, 1]
    >>> X[0] = [0, 0, 100]
    >>> [abs(float(method.fit(X).components_[0, 0])) > 0.9 for method in (PCA(), RobustPCA())]
    [False, True]
    """

    components_: Annotated[np.ndarray, Array("d", "m")]
    mean_: Annotated[np.ndarray, Array("m")]
    explained_variance_ratio_: Annotated[np.ndarray, Array("d")]
    _map: Annotated[LinearMap, Sub(LinearMap)]

    def __init__(
        self,
        n_components: NComponents = 2,
        *,
        solver: Annotated[str, Choice("l1", "pcp")] = "l1",
        n_jobs: NJobs = None,
    ):
        self.n_components = n_components
        self.solver = solver
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Centre; the directions of either criterion; place every row. ``y`` is not used."""
        data, d, n_jobs = training_data(self, X, keep_rows=False), self.n_components, self.n_jobs
        require_features(d, data.table)
        centred = CentredRows.of(data.table)
        if self.solver == "l1":
            centre = spatial_median(centred.rows)
            with short_products(data.table.size * d):
                found = _l1_directions(centred.rows - centre, d)
        else:
            low, _ = low_rank_and_sparse(centred.rows)
            centre = low.mean(axis=0)
            found = _axes(low - centre)[1]
        components = padded_directions(found, d, f"What the directions lie in has a rank of {len(found)}")
        new_rows = LinearMap.along(data, centred.mean + centred.unit * centre, components)
        return self._set_fit(new_rows.transform(data.table, n_jobs), new_rows,
                             components_=new_rows.components, mean_=new_rows.mean,
                             explained_variance_ratio_=centred.explained(components))  # fmt: skip


def _axes(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates of the rows along their axes, largest first, and the axes (r, m), r the rank.

    Signs are those of the coordinates, so that a search that starts here turns with the rows.
    """
    _, values, axes = svd(rows, full_matrices=False)
    axes = axes[: int(np.count_nonzero(values > RANK * values[0]))]
    scores = rows @ axes.T
    fixed = fixed_signs(scores)
    return fixed, axes * np.where((fixed * scores).sum(axis=0) < 0, -1.0, 1.0)[:, None]


# ---- L1 ----------------------------------------------------------------------------------------


def spatial_median(rows: np.ndarray) -> np.ndarray:
    """The point of least summed distance to all rows: Weiszfeld's iteration, as Vardi and Zhang mended it.

    Unlike the medians of the columns it turns with the rows. ``O(n m)`` a round.
    """
    point = rows.mean(axis=0)
    for _ in range(_MOST_ROUNDS):
        apart = rows - point
        distances = np.sqrt((apart**2).sum(axis=1))
        away = distances > _STILL
        if not away.any():
            return point
        weights = 1 / distances[away]
        pull = weights @ apart[away]
        # Rows at the point itself hold it back; where they are as strong as the pull, it is the median.
        held = np.count_nonzero(~away) / max(np.sqrt(pull @ pull), _STILL)
        step = max(1 - held, 0.0) * pull / weights.sum()
        point = point + step
        if np.sqrt(step @ step) <= _STILL:
            return point
    return point


def _l1_directions(rows: np.ndarray, n_components: int) -> np.ndarray:
    """Orthonormal directions (d, m) that span the best plane, turned in it: largest absolute deviation first.

    The sum over all directions is largest where they lie between the long axes of the rows, which nobody
    wants to read; so the criterion chooses the plane, and within it one direction after the other.
    """
    scores, axes = _axes(rows)  # the optimum lies in the span of the rows
    count = min(n_components, len(axes))
    if count == 0:
        return axes
    plane = best_directions(scores, count)
    rest, turned = scores @ plane, np.empty((count, count))
    for k in range(count):
        turned[:, k : k + 1] = best_directions(rest, 1)
        rest = rest - np.outer(rest @ turned[:, k], turned[:, k])
    return (plane @ turned).T @ axes


def best_directions(rows: np.ndarray, count: int) -> np.ndarray:
    """The best local maximum (m, count) from the leading axes and from the longest rows."""
    first = np.eye(rows.shape[1], count)
    longest = np.argsort(-(rows**2).sum(axis=1), kind="stable")[:_STARTS]
    starts = [qr(np.column_stack([rows[i], first[:, :-1]]), mode="economic")[0] for i in longest]
    found = [climbed(rows, start) for start in (first, *starts)]
    return max(found, key=lambda W: np.abs(rows @ W).sum())


def climbed(rows: np.ndarray, W: np.ndarray) -> np.ndarray:
    """A local maximum of ``sum |rows W|`` over orthonormal W: signs, then the polar factor, in turn."""
    signs, zero = None, RANK * np.abs(rows).max()  # a start may be orthogonal to a row, but for rounding
    for _ in range(_MOST_ROUNDS):
        before, signs = signs, np.where(rows @ W < -zero, -1.0, 1.0)
        if before is not None and np.array_equal(signs, before):
            break
        left, _, right = svd(rows.T @ signs, full_matrices=False)
        W = left @ right
    return W


# ---- principal component pursuit ---------------------------------------------------------------


def low_rank_and_sparse(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """``rows = L + S`` of least ``|L|_* + |S|_1 / sqrt(max(n, m))``: augmented Lagrangian, inexact.

    In turn the singular values of L and the values of S are shrunk towards zero.
    """
    size, longest = np.linalg.norm(rows), np.linalg.norm(rows, 2)
    if size == 0:
        return rows.copy(), np.zeros_like(rows)
    share = 1 / np.sqrt(max(rows.shape))
    price = 1.25 / longest
    dual = rows / max(longest, np.abs(rows).max() / share)
    S = np.zeros_like(rows)
    for _ in range(_MOST_ROUNDS):
        left, values, right = svd(rows - S + dual / price, full_matrices=False)
        L = left * np.maximum(values - 1 / price, 0.0) @ right
        rest = rows - L + dual / price
        S = np.sign(rest) * np.maximum(np.abs(rest) - share / price, 0.0)
        lost = rows - L - S
        if np.linalg.norm(lost) <= _EXACT * size:
            return L, S
        dual = dual + price * lost
        price *= 1.5
    text = f"The split still leaves {np.linalg.norm(lost) / size:.2g} of X over after {_MOST_ROUNDS} rounds."
    warn(text, IsentropicWarning)
    return L, S
