"""What is asked of a map: to beat chance, to reach a bar, to be of related columns, to see no empty labels.

- Against chance: the same points in random places, over and over. A map that is no better is **worthless**.
- Against a bar, for being better than chance is little. A map keeps **local** structure when of the nearest
  rows it keeps half, beyond chance, and of few rows more (:func:`local_bar`): by ``R_NX(k)`` at the smallest
  k, 10, or, of many rows, for the neighbourhoods of a twentieth of them, which are called **coarse**. It
  keeps **global** structure when Kendall's tau of all distances reaches ``GLOBAL_BAR``: of four pairs of
  distances, the map puts three in the right order.
- Against the table with each column shuffled by itself. Few columns, and those of long tails, give maps that
  reach the bars though nothing is related to anything. If rows lie no closer together than in such tables
  (p above ``RELATED``), only a map that is nearly exact is trusted, as that of two columns is.
- A map that saw the classes, against maps of permuted ones. If held-out rows are told apart no better than
  there, what it shows of the classes is an **effect of the labels**, and it is not trusted; nor is it where
  that was not tested.

The measure of local structure, its bar and that of tau were chosen by maps of planted tables of which the
truth is known: ``benchmarks/verdict_rules.py``, and docs/guide/report.md for how often they are wrong about
other tables. One number decides whether a map keeps neighbourhoods and which map keeps most.
"""

from __future__ import annotations

import math

from ..quality import Quality
from .runs import Run

LOCAL_BAR = 0.5  # R_NX(k), of many rows
FEW_ROWS = 0.4  # over the root of the rows: what is asked beyond that bar
GLOBAL_BAR = 0.5  # Kendall's tau
EXACT_BAR = 0.9  # R_NX(k): a drawing so exact is right whatever it draws
RELATED = 0.01  # p of the columns: closer together than in every one of 99 shuffled tables
_COARSE = 20  # a coarse neighbourhood is one of this part of the rows
_COARSER = 2  # times the smallest k: less is no other neighbourhood
_MARGIN = 2.0  # times the way from the mean of chance to its 97.5% quantile


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
        r_nx(quality, kept_size(quality)) >= local_bar(quality.n),
        tau is not None and tau.value >= GLOBAL_BAR,
    )


def local_bar(n: int) -> float:
    """R_NX of a map of n rows that keeps neighbourhoods: ``0.5 + 0.4 / sqrt(n)``, as few rows tell less.

    >>> [round(local_bar(n), 2) for n in (30, 100, 1_000, 100_000)]
    [0.57, 0.54, 0.51, 0.5]
    """
    return LOCAL_BAR + FEW_ROWS / math.sqrt(n)


def r_nx(quality: Quality, k: int) -> float:
    """The share of the k nearest rows that are kept, beyond chance."""
    measure = quality.measures.get(f"r_nx({k})")
    return float(quality.curves.r_nx[k - 1]) if measure is None else measure.value


def kept_size(quality: Quality) -> int:
    """Rows of the smallest neighbourhoods that a map keeps; the smallest k where it keeps none."""
    k, coarse, bar = quality.n_neighbors[0], quality.n // _COARSE, local_bar(quality.n)
    if coarse < _COARSER * k or r_nx(quality, k) >= bar or r_nx(quality, coarse) < bar:
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


def is_exact(run: Run) -> bool:
    """A drawing so near to the data that it is right whatever it draws."""
    assert run.quality is not None
    return r_nx(run.quality, run.quality.n_neighbors[0]) >= EXACT_BAR


def score(run: Run, name: str) -> float | None:
    """A measure of a map by its name; None where it is not defined."""
    assert run.quality is not None
    measure = run.quality.measures.get(name)
    return None if measure is None else measure.value
