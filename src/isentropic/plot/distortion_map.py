"""Where a map is wrong: its rows coloured by a score, the worst on top; and all about a map on one page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.arguments import as_numbers, as_positions
from .._core.errors import require, require_number
from . import palette
from .curves import quality_curves
from .palette import fading, new_axes, new_figure, plain_text, quiet_axes, quiet_colorbar, title_text

# ---- How often something occurs, in two directions: ranks against ranks, distances against distances ----


if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_CELLS = 200  # a side; finer ones show chance more than shape
_POINTS = 2_000  # pairs of a Shepard diagram that are drawn one by one


def coranking(counts: Any, edges: Any = None, *, title: str = "", ax: Axes | None = None) -> Figure:
    """Draw a co-ranking matrix, dark where many pairs of rows are, on a logarithmic scale.

    All on the diagonal is perfect. Below it (to the lower left) lie false neighbours, above it tears.

    Parameters
    ----------
    counts
        (b, b): pairs by rank in the data (rows) and in the map (columns).
    edges
        (b + 1,): the first rank of each bin, and one past the last; by default 1, 2, ..., b + 1.
    title
        Stands above the matrix, on the left.
    ax
        Draw here; by default a new figure is made, outside pyplot.
    """
    counts = as_numbers("counts", counts, least=0)
    square = counts.shape[0] == counts.shape[1] and counts.sum() > 0
    require(square, "counts", "a square matrix with some pairs", counts.shape)
    edges = np.arange(1, len(counts) + 2) if edges is None else as_numbers("edges", edges, 1)
    require(edges.shape == (len(counts) + 1,), "edges", f"{len(counts) + 1} ranks", edges.shape)
    axes = new_axes() if ax is None else ax
    from matplotlib.colors import LogNorm

    cells = _coarser(counts.astype(float))
    extent = (edges[0] - 0.5, edges[-1] - 0.5, edges[-1] - 0.5, edges[0] - 0.5)
    drawn = axes.imshow(
        np.where(cells > 0, cells, np.nan), norm=LogNorm(vmin=cells[cells > 0].min(), vmax=cells.max()),
        cmap=_counts_map(), extent=extent, interpolation="nearest", aspect="equal",
    )  # fmt: skip
    for words, x, side in (("false neighbours", 0.03, "left"), ("tears", 0.97, "right")):
        axes.text(x, x, words, transform=axes.transAxes, ha=side, va="center", color=palette.INK,
                  fontsize="small", alpha=0.75)  # fmt: skip
    quiet_axes(axes, "rank in the map", "rank in the data", title)
    quiet_colorbar(axes, drawn, "pairs")
    return axes.get_figure()  # type: ignore[return-value]


def _coarser(counts: np.ndarray) -> np.ndarray:
    """Sums over blocks of cells, so that at most ``_CELLS`` are left on a side."""
    step = -(-len(counts) // _CELLS)
    starts = np.arange(0, len(counts), step)
    return np.add.reduceat(np.add.reduceat(counts, starts, axis=0), starts, axis=1)


def _counts_map() -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("counts", ["#EAF1F7", "#7FB2D6", palette.PLAIN, "#0B2A45"])


def shepard(given: Any, mapped: Any, *, title: str = "", ax: Axes | None = None) -> Figure:
    """Draw the distances in a map against those in the data: a narrow band along a line is good.

    The line is the best scale of the map, ``z = d / s`` with ``s = sum d z / sum z^2``. Many pairs are drawn
    as a density on a logarithmic scale.

    Parameters
    ----------
    given, mapped
        Distances of the same pairs of rows, as ``isentropic.quality.shepard_pairs`` gives them.
    title
        Stands above the diagram, on the left.
    ax
        Draw here; by default a new figure is made, outside pyplot.
    """
    given, mapped = as_numbers("given", given, 1, least=0), as_numbers("mapped", mapped, 1, least=0)
    same = given.shape == mapped.shape and len(given) > 0
    require(same, "mapped", "as many distances as given", mapped.shape)
    axes = new_axes() if ax is None else ax
    if len(given) <= _POINTS:
        axes.scatter(given, mapped, s=6, c=palette.PLAIN, alpha=0.4, linewidths=0)
    else:
        drawn = axes.hexbin(
            given, mapped, gridsize=70, bins="log", mincnt=1, cmap=_counts_map(), linewidths=0.1
        )
        quiet_colorbar(axes, drawn, "pairs")
    square = float((mapped * mapped).sum())
    if square > 0:
        scale = float((given * mapped).sum()) / square
        reach = min(given.max(), scale * mapped.max())
        axes.plot([0, reach], [0, reach / scale if scale else 0], color=palette.INK, linewidth=1.0, alpha=0.7)
    axes.set_xlim(0, None)
    axes.set_ylim(0, None)
    quiet_axes(axes, "distance in the data", "distance in the map", title)
    return axes.get_figure()  # type: ignore[return-value]


FALSE, TORN = "#B5370A", "#5B2A9D"
_RASTER_ABOVE = 5_000  # points; a vector file with more of them is slow to open


def distortion(
    Z: Any,
    scores: Any,
    *,
    rows: Any = None,
    color: str = FALSE,
    title: str = "",
    greatest: float | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw the rows of a map coloured by how wrong each is: pale where all is well, the worst on top.

    Parameters
    ----------
    Z
        Coordinates, (n, d); the first two are drawn, or the only one over the row number.
    scores
        Of each row, or of those in ``rows``; 0 is right.
    rows
        Which rows have a score; the others are drawn as faint points.
    color
        Of the worst score.
    title
        Stands above the map, on the left.
    greatest
        The score that has the full colour; by default the 99th percentile, so that one bad row does not
        hide all others.
    ax
        Draw here; by default a new figure is made, outside pyplot.
    """
    points, scores = as_numbers("Z", Z), as_numbers("scores", scores, 1)
    require(points.size > 0, "Z", "a table of coordinates with rows", points.shape)
    rows = np.arange(len(points)) if rows is None else as_positions("rows", rows, len(points))
    require(len(rows) > 0, "rows", "at least one row", "none")
    require(scores.shape == rows.shape, "scores", f"one for each of {len(rows)} rows", scores.shape)
    if greatest is not None:
        greatest = require_number("greatest", greatest, "a positive score", above=0)
    flat = points.shape[1] == 1
    x = points[:, 0]
    y = np.arange(len(points)) if flat else points[:, 1]
    axes = new_axes() if ax is None else ax
    if len(rows) < len(points):
        axes.scatter(x, y, s=2, c=palette.PALE, linewidths=0, rasterized=len(points) > _RASTER_ABOVE)
    order = rows[np.argsort(scores, kind="stable")]
    full = float(np.quantile(scores, 0.99)) if greatest is None else greatest
    size = float(np.clip(40 * np.sqrt(150 / len(rows)), 2.0, 30.0))
    drawn = axes.scatter(
        x[order], y[order], c=np.sort(scores, kind="stable"), cmap=fading(color, "#DADADA"), vmin=0.0,
        vmax=full or 1.0, s=size, linewidths=0, rasterized=len(rows) > _RASTER_ABOVE,
    )  # fmt: skip
    names = [plain_text(name) for name in getattr(Z, "columns", ("coordinate 1", "coordinate 2"))]
    quiet_axes(axes, names[0], "row" if flat else names[1], title)
    if not flat:
        axes.set_aspect("equal", adjustable="datalim")
    quiet_colorbar(axes, drawn, "score")
    return axes.get_figure()  # type: ignore[return-value]


def quality_sheet(
    Z: Any,
    curves: Mapping[str, Any],
    counts: Any,
    false_neighbors: Any,
    tears: Any,
    *,
    k: int,
    edges: Any = None,
    rows: Any = None,
    half_widths: Mapping[str, tuple[Any, Any]] | None = None,
    title: str = "",
) -> Figure:
    """All about a map on one page: curves, co-ranking matrix, and the map by false neighbours and by tears.

    Parameters are those of :func:`quality_curves`, :func:`coranking` and :func:`distortion`; ``k`` is the
    number of neighbours of both scores.
    """
    figure = new_figure(11.0, 9.0)
    figure.get_layout_engine().set(wspace=0.06, hspace=0.06)  # type: ignore[union-attr, call-arg]
    (above_left, above_right), (below_left, below_right) = figure.subplots(2, 2)
    quality_curves(
        curves, half_widths=half_widths, n_neighbors=(k,), title="neighbourhoods of every size", ax=above_left
    )
    coranking(counts, edges, title="co-ranking matrix", ax=above_right)
    distortion(Z, false_neighbors, rows=rows, title=f"false neighbours, k = {k}", ax=below_left)
    distortion(Z, tears, rows=rows, color=TORN, title=f"tears, k = {k}", ax=below_right)
    if title:
        figure.suptitle(
            title_text(title), x=0.01, ha="left", color=palette.INK, fontsize="x-large", fontweight="bold"
        )
    return figure
