"""The verdict as the page reads it, and today's verdict in that form.

Everything here is replaced by ``comparison.verdict``: the classes by its own, ``bridged`` by nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .._arguments import require_kind
from .runs import Run
from .standings import Standing
from .verdicts import Verdict as FormerVerdict

_MOST_CAVEATS = 3


@dataclass(frozen=True, slots=True)
class Grade:
    """The answer to one question about one map."""

    question: str  # "neighbors" or "distances"
    title: str
    level: str  # "good", "fair", "poor", "chance" or "unknown"
    sentence: str
    value: float  # share as the sentence shows it, 0 to 1
    chance: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Rating:
    """Both grades of one map."""

    method: str
    title: str
    run: int
    neighbors: Grade | None
    distances: Grade | None
    text: str
    usable: bool
    failed: bool = False
    labels: str = ""


@dataclass(frozen=True, slots=True)
class Caveat:
    """A sentence to be careful about, and the rows that it is about."""

    text: str
    rows: tuple[int, ...] = ()
    kind: str = ""
    severity: float = 0.0


@dataclass(frozen=True, slots=True)
class GroupAnswer:
    """Whether there are groups."""

    level: str  # "yes", "no" or "not tested"
    sentence: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What to use the map for, and what not; positions are those of the runs."""

    recommended: int | None
    shown: int | None
    use: str
    caution: str
    groups: GroupAnswer
    shows: tuple[str, ...] = ()
    caveats: tuple[Caveat, ...] = ()
    choice: tuple[str, ...] = ()
    ratings: tuple[Rating, ...] = ()
    classes: tuple[str, ...] = ()
    sampled: str = ""

    @property
    def headline(self) -> str:
        return f"{self.use} {self.caution}".strip()


AnyVerdict = Verdict | FormerVerdict


def bridged(verdict: AnyVerdict, runs: Sequence[Run]) -> Verdict:
    """A verdict of either form in the new one."""
    if isinstance(verdict, Verdict):
        return verdict
    require_kind("verdict", verdict, FormerVerdict, "Give comparison.verdict(runs).")
    ratings = tuple(_rating(runs[s.run], s) for s in verdict.standings)
    use, _, caution = verdict.headline.partition(". ")
    return Verdict(
        recommended=verdict.recommended,
        shown=verdict.shown,
        use=use if use.endswith(".") else f"{use}.",
        caution=caution.partition(". ")[0],
        groups=GroupAnswer("not tested", "Not tested."),
        caveats=tuple(Caveat(f.text, f.rows, f.kind, f.severity) for f in verdict.worst[:_MOST_CAVEATS]),
        choice=verdict.reasons,
        ratings=ratings,
        classes=verdict.classes,
        sampled=verdict.sampled,
    )


def _rating(run: Run, found: Standing) -> Rating:
    quality = run.quality
    if run.failed or quality is None:
        return Rating(run.method, run.method, found.run, None, None, found.text, False, True, found.labels)
    k, n = quality.n_neighbors[0], quality.n
    share, chance = float(quality.curves.q_nx[k - 1]), k / (n - 1)
    near = Grade(
        "neighbors", "Which rows are alike", _level(share, 0.6, 0.4, chance),
        f"{int(k * share)} of the {k} points beside a point are close to it in the data too; "
        f"by chance {'fewer than 1' if k * chance < 1 else int(k * chance)}.",
        share, chance,
    )  # fmt: skip
    ordered = None if found.overall is None else (1 + found.overall) / 2
    far = None if ordered is None else Grade(
        "distances", "How far apart things are", _level(ordered, 0.85, 0.75, 0.5),
        f"{int(100 * ordered)} of 100 pairs of distances are in the right order on the map; by chance 50.",
        ordered, 0.5,
    )  # fmt: skip
    return Rating(
        run.method, run.method, found.run, near, far, found.text, found.trusted, False, found.labels
    )


def _level(value: float, good: float, fair: float, chance: float) -> str:
    return "good" if value >= good else "fair" if value >= fair else "poor" if value > chance else "chance"
