"""What is said of a large table: which rows were compared, and what the map of all rows keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from .criticisms import worst_facts
from .runs import Run
from .standings import standing
from .words import in_plain_words, name_of

if TYPE_CHECKING:
    from .verdicts import Verdict


def parted(runs: Sequence[Run]) -> tuple[Sequence[Run], Run | None]:
    """The Runs that are compared, and the one of all rows, which stands last where they are of a sample."""
    if len(runs) > 1 and runs[-1].rows is None and runs[0].rows is not None:
        return runs[:-1], runs[-1]
    return runs, None


def with_whole(judged: Verdict, runs: Sequence[Run], whole: Run | None) -> Verdict:
    """The verdict on runs of a sample; its headline says what the recommended map keeps of all rows.

    Which map is recommended, and why, is that of the sample: scores of other numbers of rows are not to be
    compared with them.
    """
    if runs[0].rows is None:
        return judged
    said = _about_rows(len(runs[0].rows), judged, whole)
    if whole is None or whole.failed:
        return replace(judged, sampled=said)
    found = standing(whole, len(runs))
    headline = f"Recommended: {name_of(whole)}. {in_plain_words(whole)} {found.text}"
    if not found.trusted:
        headline = _for_the_sample(judged, runs, whole, len(runs[0].rows))
    why = f"On the {len(runs[0].rows):,} compared rows, {_lowered(judged.reasons[0])}"
    reasons = (why, *judged.reasons[1:])
    return replace(judged, headline=headline, reasons=reasons, worst=worst_facts(whole), sampled=said)


def _for_the_sample(judged: Verdict, runs: Sequence[Run], whole: Run, n_compared: int) -> str:
    """A map that is to be trusted of the sample, and not of all rows, is recommended for the sample only."""
    assert judged.recommended is not None
    own = runs[judged.recommended]
    return (
        f"Recommended for the {n_compared:,} compared rows only: {name_of(own)}. "
        f"{in_plain_words(own)} {judged.standings[judged.recommended].text} Its map of all rows is not to be "
        f"trusted: {_lowered(in_plain_words(whole))}"
    )


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]


def _about_rows(n_compared: int, judged: Verdict, whole: Run | None) -> str:
    if whole is None:
        why = ", as none is to be trusted" if judged.recommended is None else ""
        return f"Compared on a sample of {n_compared:,} rows; no map was fitted on all{why}."
    if whole.failed or whole.embedding is None:
        return (
            f"Compared on a sample of {n_compared:,} rows. Of all rows {whole.method} gave no map: "
            f"{whole.reason} What is shown is its map of the sample."
        )
    n = len(whole.embedding)
    done = (
        f"the recommended map was fitted on these, and the other {whole.n_placed:,} were placed in it, "
        "each by itself."
        if whole.n_placed
        else "the recommended map was then fitted on all."
    )
    return f"Compared on {n_compared:,} of {n:,} rows; {done}"
