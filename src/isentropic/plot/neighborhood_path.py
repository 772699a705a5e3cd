"""What a path over the size of the neighbourhood found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.errors import require
from ..meta import Path
from ..plot import palette
from .axes import new_figure, quiet_axes, title_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def path_curves(path: Path, *, title: str = "") -> Figure:
    """Draw residual variance, R_NX area, shrinkage of geodesics and stability over the neighbours.

    The chosen value has a line, short circuits have red ones; hollow points are graphs in parts.
    """
    require(isinstance(path, Path), "path", "a Path", type(path).__name__, "Give isomap_path(X).")
    figure = new_figure(8.0, 6.0)
    panels = figure.subplots(2, 2, sharex=True)
    curves = {
        "residual variance": path.residual_variance,
        "area under R_NX": path.rnx_auc,
        "shrinkage of geodesics": path.shrinkage,
        "Procrustes correlation with the map before": path.stability,
    }
    sizes = path.sizes
    at = dict(zip(path.neighbors, sizes, strict=True))
    for axes, (name, values) in zip(panels.flat, curves.items(), strict=True):
        _mark(axes, at[path.chosen], palette.FAINT)
        for alarm in path.short_circuits:
            _mark(axes, at[alarm], palette.color(5))
        _curve(axes, sizes, values, path.n_parts > 1)
        quiet_axes(axes, "", "", name)
    for axes in panels[1]:
        axes.set_xlabel(
            "radius" if not isinstance(path.neighbors[0], int) else "neighbours k", color=palette.INK
        )
    if title:
        figure.suptitle(title_text(title), x=0.01, ha="left", color=palette.INK)
    return figure


def _mark(axes: Axes, size: float, color: str) -> None:
    axes.axvline(size, color=color, linewidth=1.0, zorder=0)


def _curve(axes: Axes, sizes: Any, values: Any, in_parts: Any) -> None:
    axes.plot(sizes, values, color=palette.color(0), linewidth=1.6)
    fill = np.where(in_parts, "white", palette.color(0))
    axes.scatter(sizes, values, s=22, facecolors=fill.tolist(), edgecolors=palette.color(0), zorder=3)
