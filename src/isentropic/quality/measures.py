"""One number about a map, and ``MEASURES``: the one table of all that are known, and of how each is read.

Whatever lists measures takes them from the table: :func:`assess`, the functions of single measures, the
command line, selections, comparisons, the page. A new measure is a line here and a function in its own file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

Better = Literal["higher", "lower", "nearer"]


@dataclass(frozen=True, slots=True)
class Measure:
    """``value``, with its 95% interval where it was estimated from a sample, and how to read it.

    ``best`` is the value of a perfect map. ``better`` says which of two values is preferable: the
    ``"higher"``, the ``"lower"``, or the one ``"nearer"`` to ``best``. ``range`` holds the least and the
    greatest possible value, infinite where there is none. ``note`` states what a reader must know,
    such as terms that were left out.

    >>> Measure(0.94, best=1.0, better="higher", range=(0.0, 1.0)).exact
    True
    """

    value: float
    low: float | None = None  # None: the value is exact
    high: float | None = None
    best: float = 1.0
    better: Better = "higher"
    range: tuple[float, float] = (-math.inf, math.inf)
    note: str = ""

    @property
    def exact(self) -> bool:
        """Whether the value was computed from all rows, and so has no interval."""
        return self.low is None

    def __float__(self) -> float:
        return float(self.value)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; an infinite end of the range, or of the interval, is None there."""
        high = None if self.high is None or math.isinf(self.high) else self.high
        ends = [None if math.isinf(end) else end for end in self.range]
        return {**asdict(self), "high": high, "range": ends}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Measure:
        """The inverse of :meth:`to_dict`."""
        low, high = data["range"]
        ends = (-math.inf if low is None else float(low), math.inf if high is None else float(high))
        without_end = data["low"] is not None and data["high"] is None
        return cls(**{**data, "high": math.inf if without_end else data["high"], "range": ends})


# ---- the table ---------------------------------------------------------------------------------

# Where a measure comes from, ``source``. Three are read off the ranks of neighbours, attributes of Curves
# (ranks/rank_curves.py):
#   "curve"         an array, of which entry k - 1 is the value at k, and by which rows can be sampled
#   "local area"    the area under R_NX up to the smallest chosen k; there is one
#   "area"          one number for all k
# Three are read off pairs of rows:
#   "pair order"    an attribute of RankComparison (ranks/rank_correlations.py), which ranks all distances
#   "pair moments"  an attribute of PairSums (pairwise.py); undefined where all distances are equal
#   "pair stress"   an attribute of PairSums, and defined there, too
# Any other is "module:function", which assess calls; see Contribution in assessment.py.
OF_RANKS = ("curve", "local area", "area")
CORRELATED, STRESSES = ("pair order", "pair moments"), ("pair stress",)
OF_PAIRS = (*CORRELATED, *STRESSES)
_TOPOLOGY = "isentropic.quality.assessment:topology_measures"
OF_CLASSES = "isentropic.quality.assessment:class_measures"


@dataclass(frozen=True, slots=True)
class MeasureSpec:
    """A line of the table: what a measure is called, what it says, how it is read, where it comes from."""

    name: str  # a point of a curve adds its k, as in "lcmc(10)"
    description: str  # for a reader; {k} stands for the smallest chosen k
    source: str
    range: tuple[float, float] = (0.0, 1.0)
    best: float = 1.0
    better: Better = "higher"
    # of a curve whose bounds depend on them: at_k(n, k) is the least, the greatest and the best value
    at_k: Callable[[int, int], tuple[float, float, float]] | None = None
    is_reported: bool = True  # among the measures of assess; a curve that is not is found in Quality.at
    in_verdict: bool = False  # a comparison holds it against chance, other rows and other seeds
    column: tuple[int, str] | None = None  # place and heading in the page's table of scores
    legend: str = ""  # of a curve that is drawn for every k
    aim: str = ""  # what parameters that are chosen by it are good for; empty: none are

    def measure(self, value: float = math.nan, note: str = "") -> Measure:
        """A value, exact, and how to read it."""
        return Measure(value, best=self.best, better=self.better, range=self.range, note=note)

    def point(self, n: int, k: int, value: float, half_width: float | None = None) -> Measure:
        """A point of a curve, with the range that it has at this k, which bounds its interval too."""
        least, greatest, best = (*self.range, self.best) if self.at_k is None else self.at_k(n, k)
        low = high = None
        if half_width is not None:
            low, high = max(least, value - half_width), min(greatest, value + half_width)
        return Measure(value, low, high, best, self.better, (least, greatest))

    def names(self, ks: tuple[int, ...]) -> list[str]:
        """What it is called among measures: a curve once for each of the chosen k."""
        return [f"{self.name}({k})" for k in ks] if self.source == "curve" else [self.name]


def kinds(*sources: str) -> list[MeasureSpec]:
    """The lines of these sources, or all, in the order of the table.

    >>> [kind.name for kind in kinds("pair order")]
    ['kendall_tau', 'spearman_rho']
    """
    return [kind for kind in MEASURES.values() if not sources or kind.source in sources]


def plotted_curves() -> list[MeasureSpec]:
    """Curves that are plotted for every k and compared with chance."""
    return [kind for kind in kinds("curve") if kind.legend]


def verdict_measures(*sources: str) -> list[MeasureSpec]:
    """Measures that a comparison tests against chance, other rows and other seeds."""
    return [kind for kind in kinds(*sources) if kind.in_verdict]


def _fewest_shared(n: int, k: int) -> float:
    """Neighbours that any two lists of k share, as a share of k."""
    return max(0.0, (2 * k - n + 1) / k)


def _range_of_q(n: int, k: int) -> tuple[float, float, float]:
    return _fewest_shared(n, k), 1.0, 1.0


def _range_of_lcmc(n: int, k: int) -> tuple[float, float, float]:
    chance = k / (n - 1)
    return _fewest_shared(n, k) - chance, 1.0 - chance, 1.0 - chance


def _range_of_r(n: int, k: int) -> tuple[float, float, float]:
    return -k / (n - 1 - k) if _fewest_shared(n, k) == 0 else -(n - 1 - k) / k, 1.0, 1.0


def _range_of_near_share(n: int, k: int) -> tuple[float, float, float]:
    return _range_of_q(n, k)  # the k nearest in the data are near


def _range_of_near_chance(n: int, k: int) -> tuple[float, float, float]:
    return k / (n - 1), 1.0, k / (n - 1)


def _range_of_near(n: int, k: int) -> tuple[float, float, float]:
    return -(n - 1 - k) / k, 1.0, 1.0


_SIGNED, _BELOW_1, _LOSS = (-1.0, 1.0), (-math.inf, 1.0), (0.0, math.inf)

# fmt: off
_LINES = (
    MeasureSpec("near_neighbors", "Share of the {k} nearest points on the map that are close in the data "
        "too, from 0, chance, to 1, all. Close: at most 1.5 times as far as the {k} nearest rows on average, "
        "and in the nearest fifth of the rows or among the 2 x {k} nearest.",
        "curve", _BELOW_1, at_k=_range_of_near, in_verdict=True, column=(1, "near({k})"),
        legend="near neighbours: close in the data too", aim="neighbours that are close in the data"),
    MeasureSpec("near_share", "Share of the k nearest points on the map that are close in the data too.",
        "curve", at_k=_range_of_near_share, is_reported=False),
    MeasureSpec("near_chance", "Share of all rows that are close: what random neighbours on the map would "
        "have.",
        "curve", best=0.0, better="lower", at_k=_range_of_near_chance, is_reported=False),
    MeasureSpec("trustworthiness",
        "Trustworthiness: 1 where no stranger is among the {k} nearest in the map.",
        "curve", in_verdict=True, column=(3, "T({k})"), legend="trustworthiness: few false neighbours",
        aim="no false neighbours"),
    MeasureSpec("continuity", "Continuity: 1 where none of the {k} nearest in the data is torn away.",
        "curve", in_verdict=True, column=(4, "C({k})"), legend="continuity: few tears",
        aim="no torn neighbours"),
    MeasureSpec("q_nx", "Share of the k nearest that are the same on both sides.",
        "curve", at_k=_range_of_q, is_reported=False),
    MeasureSpec("lcmc", "Local continuity meta-criterion: the share of neighbours kept, less that by chance.",
        "curve", _SIGNED, at_k=_range_of_lcmc),
    MeasureSpec("r_nx", "Share of the {k} nearest rows that are kept, from 0, chance, to 1, all. Maps that "
        "keep neighbourhoods are ranked by it.",
        "curve", _SIGNED, at_k=_range_of_r, in_verdict=True, column=(2, "R_NX({k})"),
        legend="R_NX: neighbours kept beyond chance"),
    MeasureSpec("b_nx", "Positive where the map draws strangers near, negative where it tears neighbours.",
        "curve", _SIGNED, 0.0, "nearer"),
    MeasureSpec("mrre_false", "1 less the mean relative error of the ranks of neighbours in the map.",
        "curve", _BELOW_1),
    MeasureSpec("mrre_missing", "1 less the mean relative error of the ranks of neighbours in the data.",
        "curve", _BELOW_1),
    MeasureSpec("rnx_local", "The same in neighbourhoods of 1 to {k} rows, the small ones weighing most.",
        "local area", _SIGNED),
    MeasureSpec("rnx_auc",
        "The same for all sizes of neighbourhood: small and large structure in one number.",
        "area", _SIGNED, in_verdict=True, column=(6, "R_NX area"),
        aim="neighbourhoods of all sizes, small ones most"),
    MeasureSpec("q_local", "Mean share of neighbours kept in neighbourhoods up to that of the greatest LCMC.",
        "area"),
    MeasureSpec("q_global", "Mean share of neighbours kept in neighbourhoods from there on.", "area"),
    MeasureSpec("kendall_tau",
        "Kendall's tau between distances in the data and in the map: the large picture.",
        "pair order", _SIGNED, in_verdict=True, column=(5, "tau"), aim="the order of all distances"),
    MeasureSpec("spearman_rho", "Spearman's correlation of the distances on the two sides.",
        "pair order", _SIGNED),
    MeasureSpec("pearson_r", "Pearson's correlation of the distances on the two sides.",
        "pair moments", _SIGNED),
    MeasureSpec("residual_variance", "1 less the square of Pearson's correlation of the distances.",
        "pair moments", best=0.0, better="lower", aim="distances up to a factor"),
    MeasureSpec("raw_stress", "Root of the sum of squared differences of distances.",
        "pair stress", _LOSS, 0.0, "lower"),
    MeasureSpec("normalized_stress", "Kruskal stress: the same, relative to the distances in the data.",
        "pair stress", _LOSS, 0.0, "lower"),
    MeasureSpec("scaled_stress", "Kruskal stress at the best scale: 0 where all distances match.",
        "pair stress", best=0.0, better="lower", column=(7, "stress")),
    MeasureSpec("sammon_stress", "Sammon's stress, in which short distances weigh more.",
        "pair stress", _LOSS, 0.0, "lower"),
    MeasureSpec("neighborhood_stress", "Kruskal stress of the nearest rows only.",
        _TOPOLOGY, _LOSS, 0.0, "lower"),
    MeasureSpec("scaled_neighborhood_stress", "The same at the best scale.",
        _TOPOLOGY, best=0.0, better="lower"),
    MeasureSpec("topological_product", "0 where the order of neighbours is kept, negative where the map has "
        "too few coordinates.", _TOPOLOGY, (-math.inf, math.inf), 0.0, "nearer"),
    MeasureSpec("konig_measure", "How many of the nearest rows keep their rank, or nearly so.", _TOPOLOGY),
    MeasureSpec("retained_structure_error", "Sum of the magnitudes of all differences of ranks.",
        _TOPOLOGY, _LOSS, 0.0, "lower"),
    MeasureSpec("silhouette", "How far apart the classes lie in the map, from -1 to 1. Pulling classes "
        "apart that touch in the data raises it too.", OF_CLASSES, _SIGNED, column=(9, "silhouette")),
    MeasureSpec("knn_accuracy", "Share of rows whose class is that of most of their neighbours in the "
        "map itself. The map has seen these rows: read the held-out accuracy first.",
        OF_CLASSES, column=(8, "k-NN in map")),
    MeasureSpec("kappa", "Cohen's kappa of the classes and those that the neighbours in the map vote for.",
        OF_CLASSES, _SIGNED),
)
# fmt: on
MEASURES: dict[str, MeasureSpec] = {kind.name: kind for kind in _LINES}
