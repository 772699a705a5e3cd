"""What one map keeps of its table, by :mod:`~isentropic.comparison.bars`, in numbers and words."""

from __future__ import annotations

from dataclasses import dataclass

from .bars import (
    are_related,
    is_coarse,
    is_exact,
    is_worthless,
    kept_size,
    labels_of,
    r_nx,
    reaches,
    score,
)
from .runs import Run
from .words import text_of


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
    unrelated = keeps != "neither" and not worthless and not are_related(run) and not is_exact(run)
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
        text_of(run, keeps, worthless, unrelated),
        unrelated,
        labels,
        r_nx(quality, kept_size(quality)) if is_coarse(quality) else None,
    )
