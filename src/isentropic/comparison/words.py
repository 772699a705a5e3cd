"""What is said of one map: in plain words, and with the numbers that decide, neither gainsaying the other."""

from __future__ import annotations

from .bars import GLOBAL_BAR, is_coarse, kept_size, labels_of, local_bar, r_nx, reaches, score
from .label_values import LabelTest
from .runs import Run

_MOST_DIGITS = 6


def name_of(run: Run) -> str:
    """Its method, with the parameters that were given or chosen."""
    chosen = ", ".join(f"{name}={value}" for name, value in run.params.items())
    return f"{run.method} ({chosen})" if chosen else run.method


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
    k, least, n = kept_size(run.quality), run.quality.n_neighbors[0], run.quality.n
    share, chance = float(run.quality.curves.q_nx[k - 1]), k * k / (n - 1)
    if k == 1:
        return f"For {share:.0%} of the rows the nearest on this map is the nearest in the table."
    by_chance = "fewer than 1" if chance < 0.95 else f"about {chance:,.0f}"
    said = (
        f"Of the {k:,} nearest rows on this map, {_about(k * share, k)} really among the {k:,} nearest in "
        f"the table (by chance: {by_chance})."
    )
    if k == least:
        return said
    return (
        f"{said} Of the {least} nearest {_about(least * float(run.quality.curves.q_nx[least - 1]), least)}."
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


def text_of(run: Run, keeps: str, worthless: bool, unrelated: bool) -> str:
    """One sentence with its numbers; of a map that saw the classes, another one on what they are worth."""
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
        return f"{run.method} is worthless, no better than the same points in random places: {_numbers(run)}."
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
        "global": "keeps the order of distances (global structure), too few of the neighbourhoods",
        "neither": "keeps too few of the neighbourhoods, and not the order of distances",
    }[keeps]
    return f"{run.method} {what}: {_numbers(run)}."


def _numbers(run: Run) -> str:
    assert run.quality is not None
    quality, found = run.quality, run.quality.measures
    k, tau = quality.n_neighbors[0], score(run, "kendall_tau")
    sizes = dict.fromkeys((kept_size(quality), k))
    parts = [
        *(f"{local_name(size)} {with_bar(r_nx(quality, size), local_bar(quality.n))}" for size in sizes),
        f"T({k}) {found[f'trustworthiness({k})'].value:.2f}",
        f"C({k}) {found[f'continuity({k})'].value:.2f}",
    ]
    return ", ".join(parts if tau is None else [*parts, f"tau {with_bar(tau, GLOBAL_BAR)}"])


def local_name(k: int) -> str:
    """As it is written.

    >>> local_name(10)
    'R_NX(10)'
    """
    return f"R_NX({k:,})"


def with_bar(value: float, bar: float) -> str:
    """A score, beside what is asked where it is less.

    >>> with_bar(0.61, 0.5516), with_bar(0.3, 0.5516), with_bar(0.551, 0.5516)
    ('0.61', '0.30 (0.55 is asked)', '0.551 (0.552 is asked)')
    """
    if value >= bar:
        return f"{value:.2f}"
    own, asked = written_apart(value, bar)
    return f"{own} ({asked} is asked)"


def written_apart(one: float, other: float) -> tuple[str, str]:
    """Two numbers, written with as many digits as tell them apart, two at least.

    >>> written_apart(0.5, 0.25), written_apart(0.6512, 0.6534), written_apart(0.4, 0.4)
    (('0.50', '0.25'), ('0.651', '0.653'), ('0.40', '0.40'))
    """
    for digits in range(2, _MOST_DIGITS + 1):
        if f"{one:.{digits}f}" != f"{other:.{digits}f}":
            return f"{one:.{digits}f}", f"{other:.{digits}f}"
    return f"{one:.2f}", f"{other:.2f}"
