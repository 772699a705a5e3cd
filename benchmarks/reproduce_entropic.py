"""The published silhouettes of ISOMAP-KL and KDE-ISOMAP beside ours, and our own choices compared.

    python -m benchmarks.reproduce_entropic [anchors | kl | kde | regularization | auto | grid ...] [--render]

Needs the data folder (ISENTROPIC_DATA) and, for the printed figures, the tables of the sources
(ISENTROPIC_PUBLISHED). Every cell is kept in out/entropic as soon as it is measured, so that a run can be
continued; ``--render`` writes docs/guide/entropic-reproduction.md from what is there.

Features are standardised, nominal ones by the order of their categories, as the published programs have
them. Where the sources print k, ours is measured at that k, elsewhere at the k (or p) of the best silhouette.
"""

from __future__ import annotations

import sys
from functools import partial

from .entropic_data import (
    PUBLISHED_K,
    TABLE_9,
    TABLE_I,
    Cells,
    both_scores,
    by_size,
    map_silhouette,
    silhouette_of,
    table,
)
from .entropic_program import published_kde_map, published_kl_map

BANDWIDTHS = {"K-ISO-F": 0.1, "K-ISO-SIL": "silverman", "K-ISO-SC": "scott"}
REGULARIZATIONS = (0.001, 0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, "oas", "ledoit-wolf", "reference")
ISOMAP_K_001, ISOMAP_K_000 = 40, 20  # neighbours of plain ISOMAP in both sources: found, not printed
LARGE = 2_500  # rows; beyond that only the printed k is measured at first
SIZES = (10, 20, 40)  # neighbours at which the regularisations are compared


def program_silhouette(made, X, y, *parameters) -> float:
    return silhouette_of(made(X, *parameters), y)


def kl() -> None:
    """001 Table I: every k of its grid (the largest tables: the printed k first), ISOMAP at its k of 40."""
    from isentropic import EntropicIsomap, Isomap

    cells = Cells("kl")
    for name in by_size(TABLE_I):
        X, y = table(TABLE_I[name])
        grid = {k for k in range(10, 201, 10) if k < len(X)} if len(X) <= LARGE else set()
        for k in sorted(grid | {PUBLISHED_K.get(name, 20)}):
            model = EntropicIsomap(k, regularization="reference")
            cells.get(name, "ISO-KL", k, measure=partial(map_silhouette, model, X, y))
            cells.get(name, "program", k, measure=partial(program_silhouette, published_kl_map, X, y, k))
        cells.get(name, "ISO", ISOMAP_K_001, measure=partial(map_silhouette, Isomap(ISOMAP_K_001), X, y))


def grid() -> None:
    """001 Table I: the rest of the grid of k for the tables of thousands of rows."""
    from isentropic import EntropicIsomap

    cells = Cells("kl")
    for name in by_size(TABLE_I):
        X, y = table(TABLE_I[name])
        for k in (k for k in range(10, 201, 10) if k < len(X)):
            model = EntropicIsomap(k, regularization="reference")
            cells.get(name, "ISO-KL", k, measure=partial(map_silhouette, model, X, y))


def kde() -> None:
    """000 Tables 8 and 9: percentiles 1 to 20, three bandwidths, floors as published; ISOMAP at k = 20."""
    from isentropic import PCA, Isomap, KDEIsomap

    cells = Cells("kde")
    for name in by_size(TABLE_9):
        X, y = table(TABLE_9[name])
        for p in range(1, 21):
            for method, h in BANDWIDTHS.items():
                m = KDEIsomap(p, bandwidth=h, bandwidth_floor="reference", on_disconnected="inflate")
                cells.get(name, method, p, measure=partial(map_silhouette, m, X, y))
                cells.get(name, f"{method} program", p,
                          measure=partial(program_silhouette, published_kde_map, X, y, p, h))  # fmt: skip
        cells.get(name, "PCA", 2, measure=partial(map_silhouette, PCA(2), X, y))
        k = min(ISOMAP_K_000, len(X) - 1)
        cells.get(name, "ISOMAP", k, measure=partial(map_silhouette, Isomap(k), X, y))


def regularization() -> None:
    """Silhouette and area under R_NX for every regularisation at three sizes of a patch."""
    from isentropic import EntropicIsomap, Isomap

    cells = Cells("regularization")
    for name in by_size(TABLE_I):
        X, y = table(TABLE_I[name])
        for k in SIZES:
            for rule in REGULARIZATIONS:
                model = EntropicIsomap(k, regularization=rule)
                cells.get(name, k, rule, measure=partial(both_scores, model, X, y))
            cells.get(name, k, "isomap", measure=partial(both_scores, Isomap(k), X, y))


def anchors() -> None:
    """The three figures that must be met within 0.02."""
    from isentropic import EntropicIsomap

    cells = Cells("anchors")
    for name, k in (("iris", 20), ("wine", 40), ("SPECTF", 80)):
        X, y = table(TABLE_I[name])
        model = EntropicIsomap(k, regularization="reference")
        cells.get(name, k, measure=partial(map_silhouette, model, X, y))


def auto() -> None:
    """One k chosen by the area under R_NX against the default k."""
    from isentropic import EntropicIsomap

    cells = Cells("auto")
    models = {
        "n_neighbors=20": EntropicIsomap(20),
        'n_neighbors="auto"': EntropicIsomap("auto"),
    }
    for name in by_size(TABLE_I):
        X, y = table(TABLE_I[name])
        for setting, model in models.items():
            cells.get(name, setting, measure=partial(both_scores, model, X, y))


TASKS = {task.__name__: task for task in (anchors, kl, kde, regularization, auto, grid)}

if __name__ == "__main__":
    named = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    for task in named or ([] if "--render" in sys.argv else TASKS):
        TASKS[task]()
    if "--render" in sys.argv:
        from .entropic_page import render

        render()
