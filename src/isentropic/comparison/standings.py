"""What one map keeps of its table, held against chance, against shuffled columns, and against fixed bars.

- Against chance: the same points in random places, over and over. A map that is no better is **worthless**.
- Against a bar, for being better than chance is little. A map keeps **local** structure when the mean of
  trustworthiness and continuity at the smallest k reaches ``LOCAL_BAR``: three quarters of the way from
  chance, which gives 0.5, to a perfect map. It keeps **global** structure when Kendall's tau of all
  distances reaches ``GLOBAL_BAR``: of two pairs of rows, the map puts three of four in the right order.
- Against the table with each column shuffled by itself. Few columns, and those of long tails, give maps that
  reach the bars though nothing is related to anything. If rows lie no closer together than in such tables
  (p above ``RELATED``), only a map that is nearly exact is trusted, as that of two columns is.
- A map that saw the classes, against maps of permuted ones. If held-out rows are told apart no better than
  there, what it shows of the classes is an **effect of the labels**, and it is not trusted; nor is it where
  that was not tested.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..quality import Quality
from .label_values import LabelTest
from .runs import Run

LOCAL_BAR = 0.875  # the mean of trustworthiness and continuity
GLOBAL_BAR = 0.5  # Kendall's tau
FINE_BAR = 0.5  # local R_NX: below it near stays near, but which rows are nearest is lost
RELATED = 0.01  # p of the columns: closer together than in every one of 99 shuffled tables
_EXACT_LOCAL, _EXACT_GLOBAL = 0.97, 0.9  # a drawing so exact is right whatever it draws
_MARGIN = 2.0  # times the way from the mean of chance to its 97.5% quantile


@dataclass(frozen=True, slots=True)
class Standing:
    """What one map keeps."""

    method: str
    run: int  # position among the runs
    keeps: str  # "local", "global", "both", "neither", or "" for a run that failed
    local: float | None  # area under R_NX up to the smallest k
    overall: float | None  # Kendall's tau
    trusted: bool
    worthless: bool  # not above the permutation baseline
    text: str
    unrelated: bool = False  # of columns that have nothing to do with each other
    labels: str = ""  # of a map that saw the classes: "real", "effect" or "untested"; "" for any other


def standing(run: Run, position: int) -> Standing:
    """Judge one map by itself."""
    if run.failed or run.quality is None:
        text = f"{run.method} gave no map: {run.reason}"
        return Standing(run.method, position, "", None, None, False, False, text, False, labels_of(run))
    local, overall = reaches(run.quality)
    keeps = {(True, True): "both", (True, False): "local", (False, True): "global"}.get(
        (local, overall), "neither"
    )
    worthless = is_worthless(run)
    unrelated = keeps != "neither" and not worthless and not are_related(run) and not _is_exact(run)
    labels = labels_of(run)
    trusted = keeps != "neither" and not worthless and not unrelated and labels in ("", "real")
    return Standing(
        run.method,
        position,
        keeps,
        score(run, "rnx_local"),
        score(run, "kendall_tau"),
        trusted,
        worthless,
        _text(run, keeps, worthless, unrelated),
        unrelated,
        labels,
    )


def labels_of(run: Run) -> str:
    """What the labels that a map saw are worth: "real", "effect", "untested"; "" where it saw none."""
    if not run.saw_classes:
        return ""
    if run.label_test is None:
        return "untested"
    return "effect" if run.label_test.reached else "real"


def reaches(quality: Quality) -> tuple[bool, bool]:
    """Whether a map reaches the bar of local and that of global structure."""
    tau = quality.measures.get("kendall_tau")
    return _local(quality) >= LOCAL_BAR, tau is not None and tau.value >= GLOBAL_BAR


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


def are_related(run: Run) -> bool:
    """Whether the columns of its table have to do with each other; also where that was not measured."""
    return run.relation is None or run.relation[1] <= RELATED


def _is_exact(run: Run) -> bool:
    """A drawing so near to the data that it is right whatever it draws."""
    assert run.quality is not None
    tau = score(run, "kendall_tau")
    return _local(run.quality) >= _EXACT_LOCAL or (tau is not None and tau >= _EXACT_GLOBAL)


def score(run: Run, name: str) -> float | None:
    """A measure of a map by its name; None where it is not defined."""
    assert run.quality is not None
    measure = run.quality.measures.get(name)
    return None if measure is None else measure.value


# ---- words -------------------------------------------------------------------------------------


def in_plain_words(run: Run) -> str:
    """How many neighbours on the map are neighbours in the table, for those who never heard of R_NX.

    The share is Q_NX(k), as of 10 rows; by chance k^2 / (n - 1) of k are.
    """
    assert run.quality is not None
    k, n = run.quality.n_neighbors[0], run.quality.n
    kept, chance = k * float(run.quality.curves.q_nx[k - 1]), k * k / (n - 1)
    by_chance = "fewer than 1" if chance < 0.95 else f"about {chance:.0f}"
    if k == 1:
        return f"For {kept:.0%} of the rows the nearest on this map is the nearest in the table."
    return (
        f"Of the {k} nearest rows on this map, about {kept:.0f} are really among the {k} nearest in the "
        f"table (by chance: {by_chance})."
    )


def _text(run: Run, keeps: str, worthless: bool, unrelated: bool) -> str:
    said = _of_data(run, keeps, worthless, unrelated)
    labels = labels_of(run)
    if not labels:
        return said
    if run.label_test is None:
        return f"{said} It saw the classes, and nothing tells whether they are more than labels."
    effect = "shows an effect of the labels" if labels == "effect" else "saw the classes"
    return f"{said} It {effect}: {label_numbers(run.label_test)}."


def label_numbers(test: LabelTest) -> str:
    """The score beside its null, in words."""
    return (
        f"of held-out rows {test.observed:.0%} are classified rightly by their neighbours, with permuted "
        f"labels {test.mean:.0%}, at most {test.highest:.0%}"
    )


def _of_data(run: Run, keeps: str, worthless: bool, unrelated: bool) -> str:
    if worthless:
        return (
            f"{run.method} is worthless: no better than the same points in random places ({_numbers(run)})."
        )
    if unrelated:
        return (
            f"{run.method} draws columns that cannot be told from unrelated ones, so what it shows may be "
            f"noise: {_numbers(run)}."
        )
    assert run.quality is not None
    fine = run.quality.measures["rnx_local"].value >= FINE_BAR
    near = "neighbourhoods" if fine else "coarse neighbourhoods"
    what = {
        "both": f"keeps {near} and the order of distances",
        "local": f"keeps {near} (local structure), not the order of distances",
        "global": "keeps the order of distances (global structure), not neighbourhoods",
        "neither": "keeps neither neighbourhoods nor the order of distances",
    }[keeps]
    return f"{run.method} {what}: {_numbers(run)}."


def _numbers(run: Run) -> str:
    assert run.quality is not None
    trust, continuity = _points(run.quality)
    k, tau = run.quality.n_neighbors[0], score(run, "kendall_tau")
    parts = [
        f"{local_name(k)} {run.quality.measures['rnx_local'].value:.2f}",
        f"T({k}) {trust:.2f}",
        f"C({k}) {continuity:.2f}",
    ]
    return ", ".join(parts if tau is None else [*parts, f"tau {tau:.2f}"])


def local_name(k: int) -> str:
    """As it is written.

    >>> local_name(10)
    'R_NX(1–10)'
    """
    return f"R_NX(1–{k})" if k > 1 else "R_NX(1)"


def _points(quality: Quality) -> tuple[float, float]:
    k, found = quality.n_neighbors[0], quality.measures
    return found[f"trustworthiness({k})"].value, found[f"continuity({k})"].value


def _local(quality: Quality) -> float:
    return sum(_points(quality)) / 2
