"""Which map to trust, how much, and where not: from Runs to plain sentences.

A map is held against two things. Against chance: the same points in random places, over and over. A map that
is no better is **worthless**. And against a bar that does not depend on the table, for being better than
chance is little: the best map of pure noise in 50 dimensions is that, and shows nothing.

- It keeps **local** structure when the mean of trustworthiness and continuity at the smallest k reaches
  ``LOCAL_BAR``: three quarters of the way from chance, which gives 0.5, to a perfect map. Maps of isotropic
  Gaussian noise in 10 dimensions and more stay below, whatever made them: what they do not tear they glue.
- It keeps **global** structure when Kendall's tau of all distances reaches ``GLOBAL_BAR``: of two pairs of
  rows, the map puts at least three of four in the right order.

A map that keeps neither is not to be trusted. Recommended is, of the maps that keep local structure, the one
with the greatest area under R_NX; if there is none, the one with the greatest tau.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .._errors import require
from .facts import Fact, worst_facts
from .runs import Run

LOCAL_BAR = 0.875  # the mean of trustworthiness and continuity
GLOBAL_BAR = 0.5  # Kendall's tau
FINE_BAR = 0.5  # area under R_NX: below it near stays near, but which rows are nearest is lost
_MARGIN = 2.0  # times the way from the mean of chance to its 97.5% quantile
_DIGITS = 6  # scores that agree so far are equal: the earlier map is preferred


@dataclass(frozen=True, slots=True)
class Standing:
    """What one map keeps."""

    method: str
    run: int  # position among the runs
    keeps: str  # "local", "global", "both", "neither", or "" for a run that failed
    local: float | None  # area under R_NX
    overall: float | None  # Kendall's tau
    trusted: bool
    worthless: bool  # not above the permutation baseline
    text: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The recommended map, why, and its worst facts; positions are those of the runs."""

    recommended: int | None  # None: no map is to be trusted
    best_local: int | None
    best_global: int | None
    headline: str
    reasons: tuple[str, ...]
    worst: tuple[Fact, ...]  # of the recommended map, or of the best of those not to be trusted
    standings: tuple[Standing, ...]

    @property
    def worthless(self) -> tuple[str, ...]:
        """Names of the maps that are no better than chance."""
        return tuple(standing.method for standing in self.standings if standing.worthless)

    @property
    def lines(self) -> tuple[str, ...]:
        """Five lines: what, why, what else, and two facts to beware of."""
        facts = [f"Beware: {fact.text}" for fact in self.worst]
        return (self.headline, *self.reasons[:2], *facts)[:5]


def verdict(runs: Sequence[Run]) -> Verdict:
    """Judge the maps of one table by what they keep of it. ``O(n)`` for each.

    >>> from isentropic import compare, datasets
    >>> from isentropic.comparison import verdict
    >>> roll = datasets.load("builtin:swiss-roll")
    >>> found = verdict(compare(roll.X, methods=["classical-mds", "isomap"], tune=False))
    >>> [(standing.method, standing.keeps) for standing in found.standings]
    [('classical-mds', 'both'), ('isomap', 'local')]
    >>> found.best_local, found.best_global, found.recommended
    (1, 0, 1)
    """
    require(len(runs) > 0, "runs", "at least one", len(runs))
    standings = tuple(_standing(run, position) for position, run in enumerate(runs))
    trusted = [standing for standing in standings if standing.trusted]
    best_local = _best([s for s in trusted if s.keeps in ("local", "both")], "local")
    best_global = _best([s for s in trusted if s.keeps in ("global", "both")], "overall")
    recommended = best_local if best_local is not None else best_global
    shown = _best([s for s in standings if s.keeps], "local") if recommended is None else recommended
    return Verdict(
        recommended=recommended,
        best_local=best_local,
        best_global=best_global,
        headline=_headline(runs, standings, recommended, shown),
        reasons=_reasons(runs, standings, recommended, best_global, shown),
        worst=() if shown is None else worst_facts(runs[shown]),
        standings=standings,
    )


def _best(standings: Sequence[Standing], score: str) -> int | None:
    """Position of the greatest score, the first of equal ones."""
    if not standings:
        return None
    return max(standings, key=lambda s: (round(getattr(s, score), _DIGITS), -s.run)).run


# ---- one map -----------------------------------------------------------------------------------


def _standing(run: Run, position: int) -> Standing:
    if run.failed or run.quality is None:
        text = f"{run.method} gave no map: {run.reason}"
        return Standing(run.method, position, "", None, None, False, False, text)
    area, tau = _score(run, "rnx_auc"), _score(run, "kendall_tau")
    local = sum(_local(run)) / 2 >= LOCAL_BAR
    overall = tau is not None and tau >= GLOBAL_BAR
    worthless = is_worthless(run)
    keeps = {(True, True): "both", (True, False): "local", (False, True): "global"}.get(
        (local, overall), "neither"
    )
    trusted = keeps != "neither" and not worthless
    text = _kept(run, "neither" if worthless else keeps, worthless)
    return Standing(run.method, position, keeps, area, tau, trusted, worthless, text)


def is_worthless(run: Run) -> bool:
    """Whether the area under R_NX is that of chance: of the same points in random places.

    ``area <= m + 2 (q - m)`` with m the mean and q the 97.5% quantile over random orders of the rows of the
    map: some four deviations, so that of a thousand shuffled maps about one passes for more.
    """
    assert run.quality is not None
    if "rnx_auc" not in run.baseline:
        return False
    mean, high = run.baseline["rnx_auc"]
    return run.quality.measures["rnx_auc"].value <= mean + _MARGIN * (high - mean)


def _score(run: Run, name: str) -> float | None:
    assert run.quality is not None
    measure = run.quality.measures.get(name)
    return None if measure is None else measure.value


def _local(run: Run) -> tuple[float, float]:
    assert run.quality is not None
    k = run.quality.n_neighbors[0]
    found = run.quality.measures
    return found[f"trustworthiness({k})"].value, found[f"continuity({k})"].value


def _kept(run: Run, keeps: str, worthless: bool) -> str:
    if worthless:
        return (
            f"{run.method} is worthless: no better than the same points in random places ({_numbers(run)})."
        )
    area = _score(run, "rnx_auc")
    near = "neighbourhoods" if area is None or area >= FINE_BAR else "neighbourhoods roughly"
    what = {
        "both": f"keeps {near} and the order of distances",
        "local": f"keeps {near} (local structure), not the order of distances",
        "global": "keeps the order of distances (global structure), not neighbourhoods",
        "neither": "keeps neither neighbourhoods nor the order of distances",
    }[keeps]
    return f"{run.method} {what}: {_numbers(run)}."


def _numbers(run: Run) -> str:
    assert run.quality is not None
    trust, continuity = _local(run)
    k, area, tau = run.quality.n_neighbors[0], _score(run, "rnx_auc"), _score(run, "kendall_tau")
    parts = [f"area under R_NX {area:.2f}", f"T({k}) {trust:.2f}", f"C({k}) {continuity:.2f}"]
    return ", ".join(parts if tau is None else [*parts, f"tau {tau:.2f}"])


# ---- all maps ----------------------------------------------------------------------------------


def _headline(
    runs: Sequence[Run], standings: Sequence[Standing], recommended: int | None, shown: int | None
) -> str:
    if recommended is not None:
        run = runs[recommended]
        chosen = ", ".join(f"{name}={value}" for name, value in run.params.items())
        return f"Recommended: {run.method}{f' ({chosen})' if chosen else ''}. {standings[recommended].text}"
    if shown is None:
        return "No map is to be trusted: every method failed."
    return (
        f"No map of this table is to be trusted: none reaches {LOCAL_BAR:g} on average of T and C, "
        f"nor {GLOBAL_BAR:g} by tau."
    )


def _reasons(
    runs: Sequence[Run],
    standings: Sequence[Standing],
    recommended: int | None,
    best_global: int | None,
    shown: int | None,
) -> tuple[str, ...]:
    reasons = []
    if recommended is None and shown is not None:
        reasons.append(f"The best of them, {standings[shown].text}")
    elif recommended is not None:
        reasons.append(_why(runs, standings, recommended))
        reasons.append(_global_reason(standings, recommended, best_global))
    worthless = [s.method for s in standings if s.worthless]
    if worthless:
        reasons.append(f"Worthless, no better than chance: {', '.join(worthless)}.")
    elif recommended is None and shown is not None:
        reasons.append("All are better than chance, but that alone says little.")
    failed = [s.text for s in standings if not s.keeps]
    return (*reasons, *failed)


def _why(runs: Sequence[Run], standings: Sequence[Standing], recommended: int) -> str:
    chance = runs[recommended].baseline.get("rnx_auc", (0.0, 0.0))[1]
    best = standings[recommended]
    others = [s.local for s in standings if s.local is not None and s.run != recommended and not s.worthless]
    next_best = f", the next map {max(others):.2f}" if others else ""
    by = "the order of distances" if best.keeps == "global" else "neighbourhoods"
    return (
        f"It keeps {by} best of {len(standings)}: area under R_NX {best.local:.2f} (1 is perfect, chance at "
        f"most {chance:.2f}{next_best})."
    )


def _global_reason(standings: Sequence[Standing], recommended: int, best_global: int | None) -> str:
    if best_global is None:
        best = max(
            (s for s in standings if s.overall is not None), key=lambda s: s.overall or 0, default=None
        )
        said = "" if best is None else f": the best tau is {best.overall:.2f} ({best.method})"
        return f"No map keeps the order of distances{said}. Do not read gaps between groups."
    if best_global == recommended:
        return f"It also keeps the order of distances best: tau {standings[best_global].overall:.2f}."
    found = standings[best_global]
    same = [s.method for s in standings if s.trusted and s.run != recommended and _equal(s, found)]
    named = " or ".join(same)
    return f"For distances across the whole table read {named} instead: tau {found.overall:.2f}."


def _equal(one: Standing, other: Standing) -> bool:
    return one.overall is not None and round(one.overall, _DIGITS) == round(other.overall or 0.0, _DIGITS)
