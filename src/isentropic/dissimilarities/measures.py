"""How far rows are apart once their classes count: dis1 to dis4 and class divergences, as fitted to a table.

Each has two forms: ``between`` for rows whose classes are known, and ``expected`` for new rows, which have a
share of every class (None: nothing is guessed, and the term of the classes is left out). For rows of one
class both grow with the distance: so the nearest by a dissimilarity are among the nearest of each class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from .._core.class_choices import ClassDivergence, Dis1, Dis2, Dis3, Dis4
from .._core.errors import require, require_count, require_number, require_one_of
from .._core.state import Array, Double, Whole
from ..distances import Metric, is_gower
from .classes import class_aware_distances, expected_shares
from .spreads import largest_distance, mean_squared_distance

MOST_SPREAD = 100.0  # of the column of dis4: exp of it, squared and times distances, is still a number
CHOICES = {"dis1": Dis1, "dis2": Dis2, "dis3": Dis3, "divergence": ClassDivergence}


@dataclass(frozen=True, slots=True)
class Exponential:
    """dis1: within a class below 1, between classes without bound."""

    width: Annotated[float, Double(above=0)]
    discount: Annotated[float, Double(0, most=1)]

    def between(
        self, d: np.ndarray, heads: np.ndarray, tails: np.ndarray, *, told: bool = True
    ) -> np.ndarray:
        same = heads == tails
        return class_aware_distances(d, same, width=self.width, discount=self.discount, told=told)

    def expected(self, d: np.ndarray, shares: np.ndarray | None, tails: np.ndarray) -> np.ndarray:
        same = same_class(shares, tails)
        return class_aware_distances(d, same, width=self.width, discount=self.discount, told=False)


@dataclass(frozen=True, slots=True)
class Shrunk:
    """dis2: within a class a share of the distance."""

    factor: Annotated[float, Double(1)]

    def between(
        self, d: np.ndarray, heads: np.ndarray, tails: np.ndarray, *, told: bool = True
    ) -> np.ndarray:
        return np.where(heads == tails, d / self.factor, d)

    def expected(self, d: np.ndarray, shares: np.ndarray | None, tails: np.ndarray) -> np.ndarray:
        same = same_class(shares, tails)
        return same * (d / self.factor) + (1 - same) * d


@dataclass(frozen=True, slots=True)
class Added:
    """dis3 and class divergences: a length for each pair of classes comes to the distance."""

    lengths: Annotated[np.ndarray, Array("c", "c", least=0)]  # (c, c), zero on the diagonal

    def between(
        self, d: np.ndarray, heads: np.ndarray, tails: np.ndarray, *, told: bool = True
    ) -> np.ndarray:
        return d + self.lengths[heads, tails]

    def expected(self, d: np.ndarray, shares: np.ndarray | None, tails: np.ndarray) -> np.ndarray:
        if shares is None:
            return d + 0.0
        return d + np.take_along_axis(expected_shares(shares, self.lengths), tails, axis=1)


@dataclass(frozen=True, slots=True)
class Directed:
    """dis4, by a column of the rows: it needs both rows, so that the nearest of a class may be any of it."""

    column: Annotated[int, Whole(0)]

    def split(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The columns that distances are of, and the one that they are weighed by."""
        return np.ascontiguousarray(np.delete(X, self.column, axis=1)), X[:, self.column]


ClassDistance = Exponential | Shrunk | Added


def same_class(shares: np.ndarray | None, tails: np.ndarray) -> Any:
    """Probability, (b, k), that a new row has the class of each of k others; 1 where nothing is guessed."""
    return 1.0 if shares is None else np.take_along_axis(shares, tails, axis=1)


def directed_distances(
    d: np.ndarray, share: np.ndarray | float, heads: np.ndarray, tails: np.ndarray
) -> np.ndarray:
    """dis4: ``d exp(v_i - v_j)`` within a class, v a number of each row, as its time; d between classes.

    Directed. Its mean with the other direction, ``d cosh(v_i - v_j)``, can only push rows of a class apart:
    a method that needs one number a pair has no use for it. ``heads`` and ``tails`` are v of both rows.

    >>> import numpy as np
    >>> directed_distances(np.array([2.0, 2.0]), np.array([1, 0]), 0.0, np.log(2.0)).tolist()
    [1.0, 2.0]
    """
    return share * d * np.exp(heads - tails) + (1 - share) * d


def checked_dissimilarity(choice: Any, *, directed: bool = False) -> Any:
    """The value of a choice that may be given by name, its numbers checked; ``directed`` allows dis4."""
    if directed and isinstance(choice, Dis4):
        require_count("column", choice.column, "the number of a column, from 0", least=0)
        return choice
    hint = "Or give Dis1(...), Dis2(...), Dis3(...) or ClassDivergence(...)."
    if isinstance(choice, str):
        require_one_of("dissimilarity", choice, CHOICES, hint)
        choice = CHOICES[choice]()
    require(type(choice) in CHOICES.values(), "dissimilarity", f"one of {', '.join(CHOICES)}", choice, hint)
    if isinstance(choice, Dis1):
        require_number("alpha", choice.alpha, "a number in [0, 1]", most=1)
        if not (isinstance(choice.beta, str) and choice.beta == "auto"):
            require_number("beta", choice.beta, "'auto' or a positive number in squared units of X", above=0)
    elif isinstance(choice, Dis2):
        require_number("psi", choice.psi, "a number of at least 1", least=1)
    elif isinstance(choice, Dis3):
        require_number("mu", choice.mu, "a number in [0, 1]", most=1)
    else:
        require_number("alpha", choice.alpha, "a number in [0, 1]", most=1)
        checked_scale(choice.scale)
    return choice


def fitted_dissimilarity(
    choice: Any,
    X: np.ndarray,
    classes: np.ndarray,
    *,
    metric: Metric = "euclidean",
    n_jobs: int | None = None,
) -> ClassDistance:
    """dis1 to dis3 with their numbers found from a table; of a single class the plain distance."""
    choice, count = checked_dissimilarity(choice), int(classes.max()) + 1
    if count == 1:
        return Added(np.zeros((1, 1)))
    if isinstance(choice, Dis1):
        auto = isinstance(choice.beta, str)
        width = mean_squared_distance(X, metric, n_jobs) if auto else float(choice.beta)
        return Exponential(width, float(choice.alpha))
    if isinstance(choice, Dis2):
        return Shrunk(float(choice.psi))
    longest = largest_distance(X, metric, n_jobs)
    return Added(choice.mu * longest * (1.0 - np.eye(count)))


def fitted_column(choice: Dis4, X: np.ndarray, metric: Metric) -> Directed:
    """dis4 of a table that has its column, and others beside it."""
    must_be = "dis1, dis2 or dis3 for distances that are given, or Gower's, whose columns are no numbers"
    require(metric != "precomputed" and not is_gower(metric), "dissimilarity", must_be, choice)
    m = X.shape[1]
    require(choice.column < m and m > 1, "column", f"one of {m}, and not the only one", choice.column)
    spread = float(np.ptp(X[:, choice.column]))
    hint = "Scale the column: it is the logarithm of a factor."
    require(spread <= MOST_SPREAD, "column", f"one that spans at most {MOST_SPREAD:g}", spread, hint)
    return Directed(int(choice.column))


def checked_scale(scale: Any) -> None:
    fits = scale is None or (isinstance(scale, str) and scale == "match")
    require(fits, "scale", "'match' or None", scale, "None adds nats to lengths.")
