"""What is said of a large table: which rows were compared, and what the map of all rows keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from .criticisms import worst_facts
from .runs import Run
from .standings import in_plain_words, standing

if TYPE_CHECKING:
    from .verdicts import Verdict


def parted(runs: Sequence[Run]) -> tuple[Sequence[Run], Run | None]:
    """The Runs that are compared, and the one of all rows, which stands last where they are of a sample."""
    if len(runs) > 1 and runs[-1].rows is None and runs[0].rows is not None:
        return runs[:-1], runs[-1]
    return runs, None


def with_whole(judged: Verdict, runs: Sequence[Run], whole: Run | None) -> Verdict:
    """The verdict on runs of a sample, with what the recommended map keeps of all rows in its headline.

    Which map is recommended, and why, is that of the sample: scores of other numbers of rows are not to be
    compared with them.
    """
    if runs[0].rows is None:
        return judged
    said = _about_rows(len(runs[0].rows), judged, whole)
    if whole is None or whole.failed:
        return replace(judged, sampled=said)
    found = standing(whole, len(runs))
    chosen = ", ".join(f"{name}={value}" for name, value in whole.params.items())
    name = f"{whole.method}{f' ({chosen})' if chosen else ''}"
    first = f"Recommended: {name}." if found.trusted else f"Recommended by the sample: {name}. Of all rows:"
    headline = f"{first} {in_plain_words(whole)} {found.text}"
    return replace(judged, headline=headline, worst=worst_facts(whole), sampled=said)


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
