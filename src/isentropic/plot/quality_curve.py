"""Measures of a map for every size of neighbourhood."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.arguments import as_numbers
from .._core.errors import require, require_count
from ..plot import palette
from .axes import new_axes, plain_text, quiet_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def quality_curves(
    curves: Mapping[str, Any],
    *,
    half_widths: Mapping[str, tuple[Any, Any]] | None = None,
    n_neighbors: Sequence[int] = (),
    title: str = "",
    ax: Axes | None = None,
) -> Figure:
    """Draw measures over the number k of neighbours, on a logarithmic axis.

    Parameters
    ----------
    curves
        The values at k = 1, 2, ... of each measure, by the name that stands in the legend.
    half_widths
        Values of k, and half the width of the interval at each, by the same names: drawn as bands.
    n_neighbors
        Values of k to mark.
    title
        Stands above the curves, on the left.
    ax
        Draw here; by default a new figure is made, outside pyplot.
    """
    is_some = isinstance(curves, Mapping) and len(curves) > 0
    require(is_some, "curves", "values of at least one measure, by name", curves)
    marked = [require_count("n_neighbors", k) for k in n_neighbors]
    axes = new_axes() if ax is None else ax
    for k in marked:
        axes.axvline(k, color=palette.PALE, linewidth=1.0, zorder=0)
        axes.annotate(
            f"k = {k}", (k, 0.0), xycoords=("data", "axes fraction"), xytext=(3, 3),
            textcoords="offset points", color=palette.FAINT, fontsize="small",
        )  # fmt: skip
    lowest, longest = 0.0, 1
    for number, (name, values) in enumerate(curves.items()):
        values = as_numbers(name, values, 1)
        require(len(values) > 0, name, "finite values, one for each k", values.shape)
        lowest, longest = min(lowest, float(values.min())), max(longest, len(values))
        color = palette.color(number)
        axes.plot(np.arange(1, len(values) + 1), values, color=color, linewidth=1.8, label=plain_text(name))
        if half_widths and name in half_widths:
            grid, half = (as_numbers("half_widths", each, 1, least=0) for each in half_widths[name])
            grid, half = grid[grid <= len(values)], half[grid <= len(values)]
            middle = values[grid.astype(int) - 1]
            axes.fill_between(grid, middle - half, middle + half, color=color, alpha=0.2, linewidth=0)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda k, _: f"{k:,.0f}")
    axes.set_xlim(1, max(longest, 2))
    axes.set_ylim(1.05 * lowest, 1.02)
    quiet_axes(axes, "neighbours k", "", title)
    axes.legend(loc="best", frameon=False, labelcolor=palette.INK, fontsize="small", handlelength=1.4)
    return axes.get_figure()  # type: ignore[return-value]
