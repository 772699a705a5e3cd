"""The nodes of a lattice, coloured: the U-matrix of a self-organising map, and one plane a feature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from .._core.arguments import as_numbers
from .._core.errors import require, require_count
from . import palette
from .palette import fading, new_axes, new_figure, plain_text, quiet_colorbar, title_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PANEL = 2.4  # inches


def lattice(places: Any, values: Any, *, title: str = "", label: str = "", ax: Axes | None = None) -> Figure:
    """Draw every node of a lattice as a cell, coloured by a value: a U-matrix, magnification, counts.

    Parameters
    ----------
    places
        ``model.places_`` of a method on a lattice: where its nodes are, (r, 1) or (r, 2).
    values
        One for each node, as ``model.u_matrix_``.
    title, label
        Of the figure, and of its colours.
    ax
        Axes to draw on, instead of a figure of its own.
    """
    places, values = _checked(places, values)
    axes = new_axes() if ax is None else ax
    drawn = _draw_cells(axes, places, values)
    axes.set_title(title_text(title), loc="left", color=palette.INK)
    quiet_colorbar(axes, drawn, label)
    return cast("Figure", axes.figure)


def component_planes(
    places: Any, codebook: Any, *, feature_names: Sequence[str] = (), most: int = 12, title: str = ""
) -> Figure:
    """Draw the lattice once for each feature, coloured by the feature of every node's row.

    Planes that look alike are features that go together. Those drawn vary most from node to node.

    Parameters
    ----------
    places, codebook
        ``model.places_`` and ``model.codebook_`` of a method on a lattice.
    feature_names
        ``model.feature_names_in_``, or ``table.feature_names``; numbers by default.
    most
        Planes at most.
    """
    codebook = as_numbers("codebook", codebook)
    require(codebook.size > 0, "codebook", "a row of features for each node", codebook.shape)
    count = codebook.shape[1]
    names = list(map(plain_text, feature_names)) or [f"feature {number}" for number in range(1, count + 1)]
    require(len(names) == count, "feature_names", f"a name for each of the {count} features", len(names))
    require_count("most", most)
    shown = np.sort(np.argsort(-codebook.std(axis=0), kind="stable")[:most])
    columns = min(4, len(shown))
    rows = -(-len(shown) // columns)
    figure = new_figure(_PANEL * columns, _PANEL * rows)
    figure.suptitle(title_text(title), color=palette.INK)
    for place, feature in enumerate(shown, 1):
        axes = figure.add_subplot(rows, columns, place)
        drawn = _draw_cells(axes, *_checked(places, codebook[:, feature]))
        axes.set_title(names[feature], loc="left", fontsize="small", color=palette.INK)
        quiet_colorbar(axes, drawn)
    return figure


def _checked(places: Any, values: Any) -> tuple[np.ndarray, np.ndarray]:
    places, values = as_numbers("places", places), as_numbers("values", values, 1)
    flat = len(places) > 0 and places.shape[1] in (1, 2)
    require(flat, "places", "one or two coordinates for each node", places.shape)
    fits = len(values) == len(places)
    require(fits, "values", f"a finite number for each of the {len(places)} nodes", values.shape)
    return np.hstack([places, np.zeros((len(places), 2 - places.shape[1]))]), values


def _draw_cells(axes: Axes, places: np.ndarray, values: np.ndarray) -> Any:
    """A square for each node, or a hexagon where every second row is moved."""
    from matplotlib.collections import PolyCollection

    step = _step(places)
    hexagonal = len(np.unique(places[:, 1].round(9))) > 1 and _is_shifted(places, step)
    corners = np.arange(6) * np.pi / 3 + np.pi / 6 if hexagonal else np.arange(4) * np.pi / 2 + np.pi / 4
    radius = step / np.sqrt(3) if hexagonal else step / np.sqrt(2)
    shape = radius * np.stack([np.cos(corners), np.sin(corners)], axis=1)
    cells = PolyCollection(places[:, None] + shape, array=values, cmap=fading(palette.INK), edgecolors="face")
    axes.add_collection(cells)
    axes.set_aspect("equal")
    axes.autoscale_view()
    axes.set_axis_off()
    return cells


def _step(places: np.ndarray) -> float:
    """The distance of a node to the next one."""
    apart = np.sqrt(((places - places[0]) ** 2).sum(axis=1))
    return float(apart[apart > 0].min(initial=np.inf)) if (apart > 0).any() else 1.0


def _is_shifted(places: np.ndarray, step: float) -> bool:
    lowest = np.isclose(places[:, 1], places[:, 1].min())
    heights = np.unique(places[:, 1].round(9))
    second = np.isclose(places[:, 1], heights[1])
    return not np.isclose(places[lowest, 0].min(), places[second, 0].min(), atol=1e-6 * step)
