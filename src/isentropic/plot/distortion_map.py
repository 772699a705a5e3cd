"""Where a map is wrong: its rows coloured by a score, the worst on top; and all about a map on one page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.arguments import as_numbers, as_positions
from .._core.errors import require, require_number
from ..plot import palette
from .axes import fading, new_axes, new_figure, plain_text, quiet_axes, quiet_colorbar, title_text
from .density_plots import coranking
from .quality_curve import quality_curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
