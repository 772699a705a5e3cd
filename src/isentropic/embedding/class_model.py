"""Classes of training rows and guesses for new rows; divergences and graphs of classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from .._core.errors import require, require_one_of
from .._core.runtime import row_blocks
from .._core.specs import Array, Maybe, OneOf, Size, StateError, Text, Whole
from .._core.state import Sub, Value
from .._core.values import ClassDivergence, NeighborGraph
from ..dissimilarities import (
    Added,
    ClassDistance,
    ClassGaussians,
    ClassIndex,
    WideGaussians,
    checked_dissimilarity,
    class_gaussians,
    fitted_dissimilarity,
    largest_distance,
    posterior,
    votes,
)
from ..distances import Metric, is_gower
from ..divergences import EDGE_DIVERGENCES, FullForm
from ..divergences.gaussian_divergences import fisher_rao, kl
from ..neighbors import RowIndex, directed_lists, joined_graph
from .training_data import UNLABELLED, Part, TrainingData

# ---- How likely two rows are of one class, where some of them have none --------------------------


_NUMBERS_AT_ONCE = 2**21  # shares of the pairs of a block


@dataclass(frozen=True, slots=True)
class FittedClasses:
    """Classes of training rows, and estimated ones for rows without a class.

    >>> import numpy as np
    >>> some = FittedClasses(np.array([0, 1, -1]), 2, np.array([[0.25, 0.75]]))
    >>> some.same(np.array([0, 0, 2]), np.array([1, 2, 1])).tolist()
    [0.0, 0.25, 0.75]
    """

    codes: np.ndarray  # (n,), -1 where a row has no class
    count: int  # of classes
    guessed: np.ndarray | None = (
        None  # (u, c) shares of the rows without one, in their order; None: nothing is
    )

    def same(self, heads: np.ndarray, tails: np.ndarray) -> np.ndarray:
        """Probability that both rows of each pair are of one class; 1 where none is estimated."""
        out = np.ones(len(heads))
        for block in row_blocks(len(heads), "classes", size=max(1, _NUMBERS_AT_ONCE // self.count)):
            a, b = self.codes[heads[block]], self.codes[tails[block]]
            equal = (a == b).astype(float)
            some = (a < 0) | (b < 0)
            equal[some] = 1.0
            if self.guessed is not None and some.any():
                equal[some] = (self.shares(heads[block][some]) * self.shares(tails[block][some])).sum(axis=1)
            out[block] = equal
        return out

    def same_as_new(self, shares: np.ndarray | None, near: np.ndarray) -> np.ndarray:
        """Probability, (b, k), that new rows, whose shares (b, c) are guessed, have the class of others."""
        if shares is None:
            return np.ones(near.shape)
        codes = self.codes[near]
        out = np.take_along_axis(shares, np.maximum(codes, 0), axis=1)
        new, which = np.nonzero(codes < 0)
        if len(new):
            out[new, which] = (shares[new] * self.shares(near[new, which])).sum(axis=1)
        return out

    def shares(self, rows: np.ndarray) -> np.ndarray:
        """Class probabilities (r, c): 1 for the class of a row, estimates for a row without one."""
        out = (self.codes[rows][:, None] == np.arange(self.count)).astype(float)
        open_ones = self.codes[rows] < 0
        if self.guessed is not None and open_ones.any():
            number = np.cumsum(self.codes < 0) - 1
            out[open_ones] = self.guessed[number[rows[open_ones]]]
        return out


@dataclass(frozen=True, eq=False)
class ClassModel(Part):
    """Probabilities of classes, for rows that have none.

    ``rule`` says how they are found: ``"votes"`` of the nearest labelled rows, the ``"posterior"`` of a
    Gaussian for each class, or ``"neutral"``, which guesses nothing.
    """

    data: Annotated[TrainingData, Sub(TrainingData)]
    n_classes: Annotated[int, Size("c")]
    rule: Annotated[str, Text(*UNLABELLED)]
    n_votes: Annotated[int, Whole(1)]
    gaussians: Annotated[
        Any, Maybe(OneOf(Value(ClassGaussians, c="c", m="m"), Value(WideGaussians, c="c", m="m")))
    ] = None
    guesses: Annotated[Any, Maybe(Array("u", "c", least=0))] = None  # of training rows without a class

    @classmethod
    def fit(
        cls,
        data: TrainingData,
        n_classes: int,
        rule: str,
        n_votes: int,
        n_jobs: int | None,
        gaussians: ClassGaussians | WideGaussians | None = None,
        *,
        guess: bool = True,
    ) -> ClassModel:
        """Gaussians, where the rule needs them, and guesses for training rows without a class.

        ``guess=False`` for a method that places such rows as new ones.
        """
        labelled = data.labelled
        if rule != "posterior":
            gaussians = None
        elif gaussians is None:
            gaussians = class_gaussians(data.table[labelled], data.labels[labelled])
        model = cls(data, n_classes, rule, min(n_votes, len(labelled)), gaussians)
        open_rows = np.flatnonzero(data.labels < 0)
        if len(open_rows) == 0 or rule == "neutral" or not guess:
            return model
        return model.with_guesses(model.shares(data.table[open_rows], n_jobs))

    def with_guesses(self, guesses: np.ndarray | None) -> ClassModel:
        """The same model with class probabilities of unlabelled training rows."""
        return ClassModel(self.data, self.n_classes, self.rule, self.n_votes, self.gaussians, guesses)

    @cached_property
    def training(self) -> FittedClasses:
        """Classes of training rows, estimated for those without one."""
        return FittedClasses(self.data.labels, self.n_classes, self.guesses)

    def shares(
        self, X: np.ndarray, n_jobs: int | None, vote: Callable[[np.ndarray], np.ndarray] | None = None
    ) -> np.ndarray | None:
        """``p(c | x)`` of new rows, (b, c), each by itself; None where no class is estimated.

        ``vote`` gives the classes, (b, k), of the nearest rows, where a method finds them itself.
        """
        if self.rule == "neutral":
            return None
        if self.rule == "posterior":
            return posterior(X, self.gaussians)
        return votes(self._voters(X, n_jobs) if vote is None else vote(X), self.n_classes)

    def same_class(self, X: np.ndarray, near: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Probability, (b, k), that new rows have the class of the training rows ``near`` them."""
        return self.training.same_as_new(self.shares(X, n_jobs), near)

    @cached_property
    def labelled_index(self) -> ClassIndex:
        """The rows with a class, to be searched by a dissimilarity."""
        return ClassIndex(self.labelled_rows, self.data.labels[self.data.labelled], self.data.metric)

    @property
    def labelled_rows(self) -> np.ndarray:
        """The rows with a class; without features where distances are precomputed."""
        labelled = self.data.labelled
        rows: np.ndarray = np.empty((len(labelled), 0)) if self.data.X is None else self.data.X[labelled]
        return rows

    def _voters(self, X: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Classes of the nearest labelled rows."""
        labelled = self.data.labelled
        if self.data.row_metric == "precomputed":
            X = np.ascontiguousarray(X[:, labelled])
        near = self._row_index.nearest(X, self.n_votes, n_jobs=n_jobs)[0]
        found: np.ndarray = self.data.labels[labelled[near]]
        return found

    @cached_property
    def _row_index(self) -> RowIndex:
        return RowIndex(self.labelled_rows, self.data.row_metric)

    def _require_sound(self) -> None:
        labels = self.data.labels
        if labels is None:
            raise StateError("data.labels", "must be there where classes are")
        if len(set(labels[labels >= 0].tolist())) != self.n_classes:
            raise StateError("data.labels", "must have rows of every class")
        if (self.gaussians is None) == (self.rule == "posterior"):
            raise StateError("gaussians", "must be there for posteriors, and for nothing else")
        if self.n_votes > np.count_nonzero(labels >= 0):
            raise StateError("n_votes", "must be at most the number of rows with a class")
        if self.guesses is not None and len(self.guesses) != np.count_nonzero(labels < 0):
            raise StateError("guesses", "must be there for each row without a class")

    def require_guesses(self) -> None:
        """Raise unless classes are estimated for training rows without one; for ``_require_sound``."""
        if self.rule != "neutral" and self.guesses is None and (self.data.labels < 0).any():
            raise StateError("guesses", "must be there for each row without a class")


# --------------------------------------------------------------------------------------------------
# Divergences between the Gaussians of classes, and the dissimilarities of rows that are made of them.


DIRECTED = {**EDGE_DIVERGENCES, "directed-kl": kl}  # for methods that do not need one number a pair


def checked_divergence(name: Any, known: Any = EDGE_DIVERGENCES) -> str:
    require_one_of("divergence", name, known)
    return str(name)


def class_divergences(gaussians: ClassGaussians | WideGaussians, divergence: str = "kl") -> np.ndarray:
    """Divergence of each pair of classes, (c, c), 0 on the diagonal. ``O(c m^3 + c^2 m^2)`` time.

    Of Gaussians in r coordinates m is r, but for ``"fisher-rao"``, which takes ``O(c m r^2)``.

    >>> import numpy as np
    >>> one = np.ones((2, 1, 1))
    >>> class_divergences(ClassGaussians(np.array([[0.0], [2.0]]), one, np.array([5, 5]))).tolist()
    [[0.0, 2.0], [2.0, 0.0]]
    """
    c = len(gaussians.means)
    heads, tails = np.nonzero(~np.eye(c, dtype=bool))
    table = np.zeros((c, c))
    if isinstance(gaussians, WideGaussians) and divergence == "fisher-rao":  # not the same in another basis
        table[heads, tails] = fisher_rao(gaussians, heads, tails)
    else:
        inside = gaussians.inside if isinstance(gaussians, WideGaussians) else gaussians
        table[heads, tails] = DIRECTED[divergence](_form(inside), heads, tails)
    finite = bool(np.isfinite(table).all())
    hint = "Scale the features, or leave out those that vary in one class only."
    require(finite, "A divergence between classes", "finite", "infinite or missing numbers", hint)
    return table


def _form(gaussians: ClassGaussians) -> FullForm:
    """In a unit that is a power of two, so that no square is lost; a divergence itself has none."""
    m = gaussians.means.shape[1]
    size = float(np.sqrt(gaussians.covariances[:, np.arange(m), np.arange(m)].mean()))
    unit = float(np.ldexp(1.0, int(np.frexp(size)[1])))
    means = (gaussians.means - gaussians.means.mean(axis=0)) / unit
    return FullForm(means, gaussians.covariances / unit / unit)


def dissimilarity_of(
    choice: Any,
    X: np.ndarray,
    classes: np.ndarray,
    *,
    metric: Metric = "euclidean",
    directed: bool = False,
    n_jobs: int | None = None,
) -> ClassDistance:
    """Fit a dissimilarity to a table with classes."""
    choice = checked_dissimilarity(choice)
    if not isinstance(choice, ClassDivergence):
        return fitted_dissimilarity(choice, X, classes, metric=metric, n_jobs=n_jobs)
    must_be = "dis1, dis2 or dis3 for distances that are given, or Gower's, which have no Gaussians"
    require(metric != "precomputed" and not is_gower(metric), "dissimilarity", must_be, choice)
    checked_divergence(choice.divergence, DIRECTED if directed else EDGE_DIVERGENCES)
    table = class_divergences(class_gaussians(X, classes), choice.divergence)
    if choice.scale == "match" and table.any():
        table *= largest_distance(X, metric, n_jobs) / table.max()
    return Added(choice.alpha * table)


def class_graph(
    X: np.ndarray,
    classes: np.ndarray,
    measure: ClassDistance,
    k: int,
    *,
    metric: Metric = "euclidean",
    on_disconnected="bridge",
    n_jobs: int | None = None,
) -> NeighborGraph:
    """The union of the k nearest of each row by the dissimilarity, weighed by it, repaired by the policy.

    A bridge joins the two rows of its parts that are nearest in the data.
    """
    near, lengths = ClassIndex(X, classes, metric).among(k, measure, n_jobs)
    graph = joined_graph(X, directed_lists(near, lengths), "knn", metric=metric,
                         on_disconnected=on_disconnected, n_jobs=n_jobs)  # fmt: skip
    return replace(graph, weights=weighed(graph, measure, classes))


def weighed(graph: NeighborGraph, measure: ClassDistance, classes: np.ndarray) -> np.ndarray:
    """The dissimilarities of the ends of all edges, from their lengths in the data."""
    heads = np.repeat(classes, np.diff(graph.indptr))
    return measure.between(graph.weights, heads, classes[graph.indices])
