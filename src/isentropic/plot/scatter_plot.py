"""An embedding as a map: one point a row, with distances that can be read off the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.arguments import as_numbers, unmasked
from .._core.errors import require, require_count
from . import palette
from .palette import new_axes, plain_text, quiet_axes, quiet_colorbar

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_RASTER_ABOVE = 5_000  # points; a vector file with more of them is slow to open
_LEGEND_ROWS = 30  # classes; more would not fit beside the map


@dataclass(frozen=True, slots=True)
class _Coloring:
    """What colours the rows: codes of classes with their names, or numbers, or neither."""

    codes: np.ndarray | None = None
    names: tuple[str, ...] = ()
    values: np.ndarray | None = None
    title: str = ""


def scatter(
    Z: Any,
    y: Any = None,
    *,
    class_names: Sequence[str] = (),
    title: str = "",
    ax: Axes | None = None,
) -> Figure:
    """Draw the rows of ``Z`` as points, coloured by class or by value.

    Both axes have one scale, so that distances can be compared in every direction. One coordinate
    is drawn as a histogram over a rug; of more than two the first two are drawn, and it says so.

    Parameters
    ----------
    Z
        Coordinates, (n, d). The columns of a DataFrame name the axes.
    y
        Class codes for ``class_names``, classes as text or whole numbers, or a float target. The
        name of a Series heads the legend or the colour bar.
    class_names
        The name of each class code.
    title
        Stands above the map, on the left.
    ax
        Draw here; by default a new figure is made, outside pyplot.
    """
    points = as_numbers("Z", Z)
    require(points.size > 0, "Z", "a table of coordinates with rows", points.shape)
    coloring = _coloring(y, class_names, len(points))
    axes = new_axes() if ax is None else ax
    if points.shape[1] == 1:
        _draw_strip(axes, points[:, 0], coloring)
    else:
        _draw_points(axes, points[:, :2], coloring)
    _label(axes, Z, points.shape[1], title)
    return axes.get_figure()  # type: ignore[return-value]


def _coloring(y: Any, class_names: Sequence[str], n_rows: int) -> _Coloring:
    if y is None:
        return _Coloring()
    title = plain_text(getattr(y, "name", None) or "")
    y = np.asarray(unmasked("y", y))
    require(y.shape == (n_rows,), "y", f"one value for each of the {n_rows} rows", y.shape)
    if len(class_names) > 0:
        require(y.dtype.kind in "iub", "y", "codes of classes, whole numbers", f"{y.dtype} values")
        codes = y.astype(int)
        in_range = codes.min() >= 0 and codes.max() < len(class_names)
        require(in_range, "y", f"codes 0 to {len(class_names) - 1}", (codes.min(), codes.max()))
        return _Coloring(codes, tuple(map(_legend_text, class_names)), title=title)
    require(y.dtype.kind != "c", "y", "classes or real numbers", "complex ones")
    if y.dtype.kind == "f":
        return _Coloring(values=y, title=title)
    levels, codes = np.unique(y if y.dtype.kind in "iu" else y.astype(str), return_inverse=True)
    return _Coloring(codes, tuple(map(_legend_text, levels)), title=title)


# ---- points ------------------------------------------------------------------------------------


def _draw_points(axes: Axes, points: np.ndarray, coloring: _Coloring) -> None:
    # in a fixed mixed order, so that no class lies on top of another
    order = np.random.default_rng(0).permutation(len(points))
    x0, x1 = points[order].T
    style = _point_style(len(points))
    if coloring.codes is not None:
        codes, n_classes = coloring.codes[order], len(coloring.names)
        colors = np.array([palette.color(code) for code in range(n_classes)])
        markers = np.array([palette.marker(code) for code in range(n_classes)])
        for marker in dict.fromkeys(markers):
            mine = markers[codes] == marker
            axes.scatter(x0[mine], x1[mine], c=colors[codes[mine]], marker=marker, **style)
        _draw_legend(axes, coloring)
    elif coloring.values is not None:
        style |= {"cmap": _color_map(), "plotnonfinite": True}
        quiet_colorbar(axes, axes.scatter(x0, x1, c=coloring.values[order], **style), coloring.title)
    else:
        axes.scatter(x0, x1, c=palette.PLAIN, **style)
    axes.set_aspect("equal", adjustable="datalim")


def _point_style(n_rows: int) -> dict[str, Any]:
    """Smaller and fainter points, the more there are."""
    return {
        "s": float(np.clip(40 * np.sqrt(150 / n_rows), 1.0, 36.0)),
        "alpha": float(np.clip(0.9 * (2_000 / n_rows) ** 0.25, 0.25, 0.9)),
        "linewidths": 0.4 if n_rows <= 1_000 else 0.0,
        "edgecolors": "white" if n_rows <= 1_000 else "none",
        "rasterized": n_rows > _RASTER_ABOVE,
    }


def _draw_strip(axes: Axes, x: np.ndarray, coloring: _Coloring) -> None:
    bins = int(np.clip(2 * len(x) ** 0.5, 10, 80))
    if coloring.codes is not None:
        groups = [x[coloring.codes == code] for code in range(len(coloring.names))]
        colors = [palette.color(code) for code in range(len(coloring.names))]
        axes.hist(groups, bins=bins, stacked=True, color=colors, range=(x.min(), x.max()))
        _draw_legend(axes, coloring)
    else:
        axes.hist(x, bins=bins, color=palette.PLAIN if coloring.values is None else palette.PALE)
    top = axes.get_ylim()[1]
    rug = np.full(len(x), -0.04 * top)
    style: dict[str, Any] = {"marker": "|", "s": 40, "linewidths": 0.7, "rasterized": len(x) > _RASTER_ABOVE}
    if coloring.values is not None:
        style |= {"cmap": _color_map(), "plotnonfinite": True}
        quiet_colorbar(axes, axes.scatter(x, rug, c=coloring.values, **style), coloring.title)
    else:
        axes.scatter(x, rug, c=palette.INK, alpha=0.4, **style)
    axes.set_ylim(-0.08 * top, top)
    axes.set_yticks([tick for tick in axes.get_yticks() if 0 <= tick <= top and tick == int(tick)])
    axes.set_ylabel("rows", color=palette.INK)


def _color_map() -> Any:
    from matplotlib import colormaps

    return colormaps[palette.CONTINUOUS].with_extremes(bad=palette.FAINT)


# ---- words -------------------------------------------------------------------------------------


def _legend_text(name: object) -> str:
    text = plain_text(name)
    return f" {text}" if text.startswith("_") else text  # matplotlib leaves such names out


def _draw_legend(axes: Axes, coloring: _Coloring) -> None:
    from matplotlib.lines import Line2D

    shown = coloring.names[:_LEGEND_ROWS]
    handles = [
        Line2D([], [], linestyle="none", marker=palette.marker(code), color=palette.color(code),
               markersize=6, label=name)
        for code, name in enumerate(shown)
    ]  # fmt: skip
    if len(coloring.names) > len(shown):
        more = f"and {len(coloring.names) - len(shown)} more"
        handles.append(Line2D([], [], linestyle="none", label=more))
    legend = axes.legend(
        handles=handles, title=coloring.title, loc="upper left", bbox_to_anchor=(1.02, 1.0),
        borderaxespad=0.0, frameon=False, labelcolor=palette.INK, handletextpad=0.2, fontsize="small",
        title_fontsize="small", alignment="left", ncols=1 + (len(handles) > 15),
    )  # fmt: skip
    legend.get_title().set_color(palette.INK)


def _label(axes: Axes, Z: Any, n_coordinates: int, title: str) -> None:
    numbered = [f"coordinate {number}" for number in range(1, n_coordinates + 1)]
    names = [plain_text(name) for name in getattr(Z, "columns", numbered)]
    more = f"   (the first two of {n_coordinates} coordinates)" if n_coordinates > 2 else ""
    y = names[1] if n_coordinates > 1 else axes.get_ylabel()
    quiet_axes(axes, names[0] + more, y, title)


# ---- A biplot: the map of a linear method, and in it the direction in which each feature grows ----


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
