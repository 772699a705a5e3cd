"""What one map keeps of its table, held against chance, against shuffled columns, and against two bars.

- Against chance: the same points in random places, over and over. A map that is no better is **worthless**.
- Against a bar, for being better than chance is little. A map keeps **local** structure when of the nearest
  rows it keeps half, beyond chance: ``R_NX(k)`` reaches ``LOCAL_BAR`` at the smallest k, 10, or, of many
  rows, for the neighbourhoods of a twentieth of them, which are called **coarse**. It keeps **global**
  structure when Kendall's tau of all distances reaches ``GLOBAL_BAR``: of two pairs of rows, the map puts
  three of four in the right order.
- Against the table with each column shuffled by itself. Few columns, and those of long tails, give maps that
  reach the bars though nothing is related to anything. If rows lie no closer together than in such tables
  (p above ``RELATED``), only a map that is nearly exact is trusted, as that of two columns is.
- A map that saw the classes, against maps of permuted ones. If held-out rows are told apart no better than
  there, what it shows of the classes is an **effect of the labels**, and it is not trusted; nor is it where
  that was not tested.

The measure of local structure, its bar and that of tau are those that were right most often about maps of
planted tables of which the truth is known: ``benchmarks/verdict_rules.py``, and docs/guide/report.md for how
often they are wrong. One number decides whether a map keeps neighbourhoods and which map keeps most.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..quality import Quality
from .label_values import LabelTest
from .runs import Run

LOCAL_BAR = 0.5  # R_NX(k)
GLOBAL_BAR = 0.5  # Kendall's tau
EXACT_BAR = 0.9  # R_NX(k): a drawing so exact is right whatever it draws
RELATED = 0.01  # p of the columns: closer together than in every one of 99 shuffled tables
_COARSE = 20  # a coarse neighbourhood is one of this part of the rows
_COARSER = 2  # times the smallest k: less is no other neighbourhood
_MARGIN = 2.0  # times the way from the mean of chance to its 97.5% quantile


@dataclass(frozen=True, slots=True)
class Standing:
    """What one map keeps."""

    method: str
    run: int  # position among the runs
    keeps: str  # "local", "global", "both", "neither", or "" for a run that failed
    local: float | None  # R_NX at the smallest k
    overall: float | None  # Kendall's tau
    trusted: bool
    worthless: bool  # not above the permutation baseline
    text: str
    unrelated: bool = False  # of columns that have nothing to do with each other
    labels: str = ""  # of a map that saw the classes: "real", "effect" or "untested"; "" for any other
    coarse: float | None = None  # R_NX of coarse neighbourhoods, where these are kept and those of k are not


def standing(run: Run, position: int) -> Standing:
    """Judge one map by itself."""
    if run.failed or run.quality is None:
        text = f"{run.method} gave no map: {run.reason}"
        return Standing(run.method, position, "", None, None, False, False, text, False, labels_of(run))
    quality = run.quality
    local, overall = reaches(quality)
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
        r_nx(quality, quality.n_neighbors[0]),
        score(run, "kendall_tau"),
        trusted,
        worthless,
        _text(run, keeps, worthless, unrelated),
        unrelated,
        labels,
        r_nx(quality, kept_size(quality)) if is_coarse(quality) else None,
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
    return (
        r_nx(quality, kept_size(quality)) >= LOCAL_BAR,
        tau is not None and tau.value >= GLOBAL_BAR,
    )


def r_nx(quality: Quality, k: int) -> float:
    """The share of the k nearest rows that are kept, beyond chance."""
    measure = quality.measures.get(f"r_nx({k})")
    return float(quality.curves.r_nx[k - 1]) if measure is None else measure.value


def kept_size(quality: Quality) -> int:
    """Rows of the smallest neighbourhoods of which a map keeps half; the smallest k where it keeps none."""
    k, coarse = quality.n_neighbors[0], quality.n // _COARSE
    if coarse < _COARSER * k or r_nx(quality, k) >= LOCAL_BAR or r_nx(quality, coarse) < LOCAL_BAR:
        return k
    return coarse


def is_coarse(quality: Quality) -> bool:
    """Whether the neighbourhoods that a map keeps are coarse ones only."""
    return kept_size(quality) > quality.n_neighbors[0]


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
    return r_nx(run.quality, run.quality.n_neighbors[0]) >= EXACT_BAR


def score(run: Run, name: str) -> float | None:
    """A measure of a map by its name; None where it is not defined."""
    assert run.quality is not None
    measure = run.quality.measures.get(name)
    return None if measure is None else measure.value


# ---- words -------------------------------------------------------------------------------------


def in_plain_words(run: Run) -> str:
    """What a map keeps, for those who never heard of R_NX or tau.

    Of neighbours the share is Q_NX(k), as of 10 rows; by chance k^2 / (n - 1) of k are. Of a map that keeps
    the order of distances alone it is the share of pairs in the right order, (1 + tau) / 2.
    """
    assert run.quality is not None
    tau = score(run, "kendall_tau")
    if reaches(run.quality) == (False, True) and tau is not None:
        return (
            "Of two distances between rows, this map shows the longer one as longer in "
            f"{(1 + tau) / 2:.0%} of cases (by chance: 50%)."
        )
    k, n = kept_size(run.quality), run.quality.n
    share, chance = float(run.quality.curves.q_nx[k - 1]), k * k / (n - 1)
    if k == 1:
        return f"For {share:.0%} of the rows the nearest on this map is the nearest in the table."
    by_chance = "fewer than 1" if chance < 0.95 else f"about {chance:,.0f}"
    return (
        f"Of the {k:,} nearest rows on this map, {_about(k * share, k)} really among the {k:,} nearest in "
        f"the table (by chance: {by_chance})."
    )


def _about(kept: float, k: int) -> str:
    """
    >>> _about(0.3, 10), _about(1.2, 10), _about(6.6, 10), _about(9.8, 10)
    ('hardly any is', 'about 1 is', 'about 7 are', 'nearly all are')
    """
    count = round(kept)
    if count == k:
        return "all are" if kept == k else "nearly all are"
    return {0: "hardly any is", 1: "about 1 is"}.get(count, f"about {count:,} are")


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
    near = "neighbourhoods"
    if is_coarse(run.quality):
        near = f"coarse neighbourhoods, of {kept_size(run.quality):,} rows,"
    what = {
        "both": f"keeps {near} and the order of distances",
        "local": f"keeps {near.rstrip(',')} (local structure), not the order of distances",
        "global": "keeps the order of distances (global structure), less than half of the neighbourhoods",
        "neither": "keeps less than half of the neighbourhoods, and not the order of distances",
    }[keeps]
    return f"{run.method} {what}: {_numbers(run)}."


def _numbers(run: Run) -> str:
    assert run.quality is not None
    quality, found = run.quality, run.quality.measures
    k, tau = quality.n_neighbors[0], score(run, "kendall_tau")
    sizes = dict.fromkeys((kept_size(quality), k))
    parts = [
        *(f"{local_name(size)} {r_nx(quality, size):.2f}" for size in sizes),
        f"T({k}) {found[f'trustworthiness({k})'].value:.2f}",
        f"C({k}) {found[f'continuity({k})'].value:.2f}",
    ]
    return ", ".join(parts if tau is None else [*parts, f"tau {tau:.2f}"])


def local_name(k: int) -> str:
    """As it is written.

    >>> local_name(10)
    'R_NX(10)'
    """
    return f"R_NX({k:,})"
