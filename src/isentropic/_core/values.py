"""Frozen values that the stages exchange. Each states its conventions here, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from .state import Array, Each, Flag, Maybe, Number, OneOf, Starts, Text, Value, Whole

# --------------------------------------------------------------------------------------------------
# Choices of a dissimilarity that counts classes: values like those of :mod:`isentropic._core.values`.


@dataclass(frozen=True, slots=True)
class Dis1:
    """Dissimilarity ``sqrt(1 - exp(-d^2 / beta))`` within a class, ``exp(d^2 / 2 beta) - alpha`` between.

    ``beta="auto"`` is the mean squared distance. With ``alpha=0`` all rows of a class come before any other.
    """

    alpha: Annotated[float, Number(0, most=1)] = 0.5
    beta: Annotated[float | Literal["auto"], OneOf(Number(above=0), Text("auto"))] = "auto"


@dataclass(frozen=True, slots=True)
class Dis2:
    """Dissimilarity ``d / psi`` within a class, ``d`` between."""

    psi: Annotated[float, Number(1)] = 2.0


@dataclass(frozen=True, slots=True)
class Dis3:
    """Dissimilarity ``d`` within a class, ``d + mu max d`` between."""

    mu: Annotated[float, Number(0, most=1)] = 0.1


@dataclass(frozen=True, slots=True)
class Dis4:
    """Dissimilarity ``d exp(v_i - v_j)`` within a class, ``d`` between; from i to j, not back.

    v is a ``column`` of X, by its number from 0, such as a time or a level; d is the distance by the others.
    """

    column: Annotated[int, Whole(0)]


@dataclass(frozen=True, slots=True)
class ClassDivergence:
    """Dissimilarity ``d + alpha s DE``, DE the divergence between the Gaussians of the classes.

    ``scale="match"`` has the largest ``s DE`` equal the largest d; None adds nats to lengths, s = 1.
    """

    alpha: Annotated[float, Number(0, most=1)] = 0.1
    divergence: Annotated[str, Text()] = "kl"
    scale: Annotated[Literal["match"] | None, Maybe(Text("match"))] = "match"


# ---- The metric of mixed tables, as a choice that an estimator takes and a model file holds ------


@dataclass(frozen=True, slots=True)
class Gower:
    """A metric for mixed tables with holes: the mean of what two rows differ by, column by column.

    ``d(a, b) = sum_j w_j d_j / sum_j w_j`` over the columns j that both rows have (Gower, 1971); NaN is a
    value that is missing. Each ``d_j`` is from 0 to 1: of numbers ``|a_j - b_j|`` in the range of the fitted
    column, at most 1; of the columns ``levels`` 0 for equal codes and 1 for others; of the columns
    ``ordered`` the difference of their ranks among the fitted levels, in the range of these. ``weights`` has
    a number for every column, None for 1; ``datasets.load`` balances them, so that each column has the same
    share of the mean distance. ``metric="gower"`` is all columns as numbers of weight 1.

    A new row beyond the range of a column is as far in it as can be, so that one odd value never drowns the
    others; a level that no fitted row has differs from all; a column that is constant tells no rows apart.
    Rows without a common column are at distance 1, the largest there is. With holes it is no metric: the
    triangle inequality fails, and two rows with different holes may be at distance 0.

    >>> from isentropic import ClassicalMDS
    >>> import numpy as np
    >>> X = np.array([[1.0, 0], [3.0, 0], [np.nan, 1], [5.0, 1]])
    >>> ClassicalMDS(metric=Gower(levels=(1,))).fit(X).embedding_.shape
    (4, 2)
    """

    levels: Annotated[tuple[int, ...], Each(Whole(0))] = ()  # numbers of columns, from 0
    ordered: Annotated[tuple[int, ...], Each(Whole(0))] = ()
    weights: Annotated[tuple[float, ...] | None, Maybe(Each(Number(0)))] = None


Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.integer[Any]]


# ---- choices of a stage ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Knn:
    """The ``k`` nearest neighbours; edges weighted by distance.

    ``approximate="auto"`` searches approximately above ``exact_below`` rows, unless the data have so few
    features, or fall into such groups or levels, that an exact tree compares a row with few others.
    """

    kind: ClassVar[str] = "knn"
    k: Annotated[int, Whole(1)] = 10
    approximate: Annotated[bool | Literal["auto"], OneOf(Flag(), Text("auto"))] = "auto"
    exact_below: Annotated[int, Number()] = 10_000


@dataclass(frozen=True, slots=True)
class Radius:
    """Neighbours are the rows nearer than ``eps``; edges weighted by distance."""

    kind: ClassVar[str] = "radius"
    eps: Annotated[float, Number(above=0)]


@dataclass(frozen=True, slots=True)
class Percentile:
    """Each row has its own radius, the ``p``-th percentile of its distances; inclusive."""

    kind: ClassVar[str] = "percentile"
    p: Annotated[float, Number(above=0, most=100)] = 10.0


@dataclass(frozen=True, slots=True)
class Can:
    """Clustering with adaptive neighbours: affinities that sum to one over ``k`` neighbours."""

    kind: ClassVar[str] = "can"
    k: Annotated[int, Whole(1)] = 10


@dataclass(frozen=True, slots=True)
class Pnn:
    """Probabilistic nearest neighbours: affinities from 1 (the nearest) down to 0 (the next after k).

    They fall with the squared distance or, where ``t`` is given, with ``exp(-d^2 / t)``.
    """

    kind: ClassVar[str] = "pnn"
    k: Annotated[int, Whole(1)] = 10
    t: Annotated[float | None, Maybe(Number(above=0, infinite=True))] = None


NeighborRule = Knn | Radius | Percentile | Can | Pnn


@dataclass(frozen=True, slots=True)
class Landmarks:
    """``n`` landmarks, spread out (``"maxmin"``) or drawn at random."""

    n: Annotated[int, Whole(1)]
    rule: Annotated[Literal["maxmin", "random"], Text("maxmin", "random")] = "maxmin"


@dataclass(frozen=True, slots=True)
class Inflate:
    """A policy for a graph in parts, for reproduction only.

    Missing distances become ``factor`` times the largest one there is. 0 puts the parts on top of each other,
    as programs do whose matrix of shortest paths holds 0 where there is none.
    """

    factor: Annotated[float, Number(0)] = 10.0


@dataclass(frozen=True, slots=True)
class Geodesic:
    """A metric: the shortest way over the neighbour graph of the rows.

    ``neighbors`` is a number of neighbours, or ``Knn``, ``Radius`` or ``Percentile``; ``metric`` that of the
    graph; ``on_disconnected`` what to do about a graph in parts, ``"bridge"`` or ``"raise"``.
    """

    neighbors: Annotated[
        int | NeighborRule, OneOf(Whole(1), Value(Knn), Value(Radius), Value(Percentile))
    ] = 10
    metric: Annotated[str | Gower, OneOf(Text(), Value(Gower))] = "euclidean"
    on_disconnected: Annotated[str, Text("bridge", "raise")] = "bridge"


MOST_STEPS = 10_000  # of walks: each is a product with the graph, for every row that is placed


@dataclass(frozen=True, slots=True)
class Diffusion:
    """A metric: how differently walks of ``t`` steps over the neighbour graph spread from two rows.

    ``(sum_l (P^t_il - P^t_jl)^2 / phi_l)^1/2``, as :class:`DiffusionMaps` has it, with its ``sigma`` and
    ``alpha``; the rest is as in :class:`Geodesic`. Rows whose walks do not meet are all about equally far:
    take a larger ``t`` to see them apart. ``O(t)`` products with the graph for each row.
    """

    neighbors: Annotated[
        int | NeighborRule, OneOf(Whole(1), Value(Knn), Value(Radius), Value(Percentile))
    ] = 10
    t: Annotated[int, Whole(1, below=MOST_STEPS + 1)] = 1
    sigma: Annotated[float | Literal["auto"], OneOf(Number(above=0, infinite=True), Text("auto"))] = "auto"
    alpha: Annotated[float, Number(0, most=1)] = 0.0
    metric: Annotated[str | Gower, OneOf(Text(), Value(Gower))] = "euclidean"
    on_disconnected: Annotated[str, Text("bridge", "raise")] = "bridge"


GraphMetric = Geodesic | Diffusion  # metrics over the neighbour graph of the rows


@dataclass(frozen=True, slots=True)
class Momentum:
    """An optimiser, for reproduction only: gradient descent with momentum and gains, as published for SDD."""

    max_iter: Annotated[int, Whole(0)] = 2000
    learning_rate: Annotated[float, Number(above=0)] = 7.0
    momentum: Annotated[float, Number(0)] = 0.8


# by the names that the command line takes, which a saved model may hold and the package exports
STAGES: Mapping[str, type] = MappingProxyType(
    {
        choice.__name__.lower(): choice
        for choice in (
            Can,
            ClassDivergence,
            Diffusion,
            Dis1,
            Dis2,
            Dis3,
            Dis4,
            Geodesic,
            Gower,
            Inflate,
            Knn,
            Landmarks,
            Momentum,
            Percentile,
            Pnn,
            Radius,
        )
    }
)


# ---- what the stages hand on -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Neighbors:
    """The ``k`` nearest neighbours of every row: directed, nearest first, ties by index, self excluded."""

    indices: Annotated[npt.NDArray[np.int32], Array("n", "k", dtype=np.int32, below="n")]
    distances: Annotated[Floats, Array("n", "k", least=0)]  # (n, k), not squared
    metric: Annotated[str, Text()]
    exact: Annotated[bool, Flag()]
    # share of true neighbours found, estimated on sampled rows when not exact
    recall: Annotated[float, Number(0)] = 1.0


@dataclass(frozen=True, slots=True)
class NeighborGraph:
    """An undirected weighted graph in CSR form: symmetric, indices sorted, explicit zeros kept, no loops.

    ``weights`` are distances for the kinds knn, radius and percentile, affinities for can and pnn.
    ``components`` labels the rows by connected component *before* any repair, the largest first;
    ``bridges`` are the edges (i, j) that a repair added.
    """

    indptr: Annotated[npt.NDArray[np.int64], Starts("n", "edges")]
    indices: Annotated[npt.NDArray[np.int32], Array("edges", dtype=np.int32, below="n", empty=True)]
    weights: Annotated[Floats, Array("edges", least=0, empty=True)]
    kind: Annotated[str, Text("knn", "radius", "percentile", "can", "pnn")]
    components: Annotated[npt.NDArray[np.int32], Array("n", dtype=np.int32, below="n")]
    bridges: Annotated[npt.NDArray[np.int32], Array("bridges", 2, dtype=np.int32, below="n", empty=True)] = (
        field(default_factory=lambda: np.empty((0, 2), np.int32))
    )
    exact: Annotated[bool, Flag()] = True
    recall: Annotated[float, Number(0)] = 1.0

    @property
    def n_rows(self) -> int:
        return len(self.indptr) - 1

    @property
    def n_components(self) -> int:
        """Number of connected components before any repair."""
        return int(self.components.max(initial=-1)) + 1

    @property
    def is_distance(self) -> bool:
        """Whether the weights are lengths that a path can add up."""
        return self.kind in ("knn", "radius", "percentile")


@dataclass(frozen=True, slots=True)
class DistanceRows:
    """Answers "the distances of these rows to all rows", whatever they come from: what quality reads.

    ``rows`` takes row numbers (b,) and returns distances (b, n), not squared, 0 from a row to itself. The
    same row gives the same bits in any batch. Nothing of size n×n is held unless it was given. Distances
    are in multiples of ``2**exponent``: of 1, unless they are so large or small that squares are no numbers.
    """

    n: int
    rows: Callable[[Integers], Floats]
    name: str  # of the metric
    # distances of rows i (b,) to rows j (b,), one by one, where that takes less than whole rows
    pairs: Callable[[Integers, Integers], Floats] | None = None
    exponent: int = 0


Role = Literal["feature", "label", "target", "name", "ignored"]


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    """How one column of the source was used, and why.

    Features alone make the distance between rows. Labels colour maps, stand in tooltips and take part in
    ``explain``; the column of role ``name`` names the rows.
    """

    name: str
    role: Role
    why: str  # a short phrase: "text with 142 levels of 12 rows each"
    kind: Literal["number", "date", "levels", "ordered", "text"]
    missing: int = 0  # number of missing values
    change: str = ""  # what was done to it: "standardised", "days since 1970"
    share: float | None = None  # of the mean distance between rows, for a feature
    command: str = ""  # the option that changes its role: "--keep country"


@dataclass(frozen=True, slots=True)
class Table:
    """A table ready to be embedded: numbers only, scaled as ``scaling`` says; NaN where a value is missing.

    ``y`` holds class codes 0..c-1 in the order of ``class_names``, -1 for a row without a class; a float
    target is kept as numbers, NaN where it is missing, and ``class_names`` is then empty. ``y`` is None
    without a target.
    """

    X: Any  # (n, m) floats, or SparseRows
    y: npt.NDArray[Any] | None
    feature_names: tuple[str, ...]
    row_names: tuple[str, ...]
    class_names: tuple[str, ...]
    name: str
    scaling: str
    preparation: Any = None  # datasets.Preparation: what made the columns numbers, to treat new rows alike
    metric: Any = "euclidean"  # by which its rows are to be compared: a name, or Gower(...)
    columns: tuple[ColumnSummary, ...] = ()  # of every column of the source, in their order
    other_columns: Any = None  # pandas frame (n, ...) of all columns but the features, as they were read

    @property
    def labels(self) -> npt.NDArray[Any] | None:
        """The class of each row by name, None for a row without one; or the float target; or None."""
        if self.y is None or not self.class_names:
            return self.y
        names: npt.NDArray[Any] = np.array([*self.class_names, None], dtype=object)[self.y]
        return names

    @property
    def classes(self) -> npt.NDArray[Any] | None:
        """Class codes: whole numbers, or floats with NaN where rows have no class; None without classes."""
        if self.y is None or not self.class_names:
            return None
        return np.where(self.y < 0, np.nan, self.y) if (self.y < 0).any() else self.y

    @property
    def sampled_classes(self) -> tuple[npt.NDArray[Any], tuple[str, ...]] | None:
        """Class codes and names for figures: rows without a class are one more, the last; or None."""
        if self.y is None or not self.class_names:
            return None
        more = ("(no class)",) if (self.y < 0).any() else ()
        return np.where(self.y < 0, len(self.class_names), self.y), (*self.class_names, *more)
