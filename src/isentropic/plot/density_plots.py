"""How often something occurs, in two directions: ranks against ranks, distances against distances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.arguments import as_numbers
from .._core.errors import require
from ..plot import palette
from .axes import new_axes, quiet_axes, quiet_colorbar

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
