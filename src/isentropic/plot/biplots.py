"""A biplot: the map of a linear method, and in it the direction in which each feature grows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.arguments import as_numbers
from .._core.errors import require, require_count
from ..plot import palette
from .axes import plain_text
from .scatter_plot import scatter

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_REACH = 0.9  # of the way from the origin to the edge of the map that the longest arrow goes


def biplot(
    Z: Any,
    components: Any,
    y: Any = None,
    *,
    feature_names: Sequence[str] = (),
    class_names: Sequence[str] = (),
    most: int = 12,
    title: str = "",
    ax: Axes | None = None,
) -> Figure:
    """Draw the rows of ``Z`` as points, and the loadings of the features as arrows over them (Gabriel).

    An arrow says where a row moves when its feature grows. All arrows have one scale, so that their lengths
    and angles can be compared with each other, but not with distances between rows.

    Parameters
    ----------
    Z
        Coordinates, (n, 2) or more, of which the first two are drawn.
    components
        ``model.components_`` of a linear method: loadings of the features, (d, m).
    y, class_names, title, ax
        As for :func:`isentropic.plot.scatter`.
    feature_names
        ``model.feature_names_in_``, or ``table.feature_names``; numbers by default.
    most
        Arrows at most: the features with the longest ones.
    """
    loadings, points = as_numbers("components", components), as_numbers("Z", Z)
    shape = points.shape
    is_plane = len(shape) == 2 and shape[1] >= 2
    require(is_plane, "Z", "a table of at least two coordinates", shape, "One coordinate has no arrows.")
    fits = len(loadings) == shape[1]
    require(fits, "components", f"the loadings of {shape[1]} coordinates", loadings.shape)
    count = loadings.shape[1]
    names = list(map(str, feature_names)) or [f"feature {number}" for number in range(1, count + 1)]
    require(len(names) == count, "feature_names", f"a name for each of the {count} features", len(names))
    require_count("most", most)
    figure = scatter(Z, y, class_names=class_names, title=title, ax=ax)
    axes = figure.axes[0] if ax is None else ax
    _draw_arrows(axes, points[:, :2], loadings[:2].T, names, most)
    return figure


def _draw_arrows(axes: Axes, points: np.ndarray, arrows: np.ndarray, names: list[str], most: int) -> None:
    """From the origin of the map, the longest features only, scaled so that they fill the map."""
    from matplotlib.patheffects import withStroke

    lengths = np.hypot(*arrows.T)
    shown = [int(f) for f in np.argsort(-lengths, kind="stable")[:most] if lengths[f] > 0]
    if not shown:
        return
    scale = _REACH * float(np.abs(points).max(initial=0.0)) / float(lengths.max()) or 1.0
    halo = [withStroke(linewidth=2.5, foreground="white")]  # points lie under the words
    for feature in shown:
        tip = scale * arrows[feature]
        axes.annotate("", tip, (0.0, 0.0), arrowprops={"arrowstyle": "-|>", "color": palette.INK, "lw": 0.9})
        side = "left" if tip[0] >= 0 else "right"
        style: dict[str, Any] = {"ha": side, "va": "center", "fontsize": "small", "color": palette.INK}
        offset = (3 if side == "left" else -3, 0)
        axes.annotate(
            plain_text(names[feature]), tip, offset, textcoords="offset points", path_effects=halo, **style
        )
    axes.update_datalim(scale * arrows[shown])
    axes.autoscale_view()
    if len(shown) < len(names):
        text = f"the {len(shown)} longest of {len(names)} features"
        axes.text(0.01, 0.01, text, transform=axes.transAxes, fontsize="x-small", color=palette.INK)
