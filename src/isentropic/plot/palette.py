"""Colours that stay apart for colour-blind readers and in print.

Classes use the colours of Okabe and Ito (2008), a violet and a brown; after ten classes the same
colours come again with another marker. Numbers use cividis. Axes step back behind what they show.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._core.errors import printable, require_extra
from ..comparison.presentation import CLASS_COLORS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLORS = (*CLASS_COLORS, "#7B2FD0", "#6B2D0B")
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "*")
CONTINUOUS = "cividis"
INK = "#333333"
FAINT = "#9A9A9A"
PALE = "#D8D8D8"
PLAIN = COLORS[0]


def color(code: int) -> str:
    """The colour of class number ``code``."""
    return COLORS[code % len(COLORS)]


def marker(code: int) -> str:
    """The marker of class number ``code``: it changes when the colours begin again."""
    return MARKERS[code // len(COLORS) % len(MARKERS)]


# ---- figures and axes ----------------------------------------------------------------------------


def new_figure(width: float = 6.4, height: float = 4.8) -> Figure:
    """An empty figure, unknown to pyplot."""
    require_extra("plot", "A figure")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def plain_text(name: object) -> str:
    r"""A name as it stands, drawn by any font and well-formed in SVG: no control characters, no formulas.

    >>> print(plain_text("$5\x01"))
    \$5\x01
    """
    return printable(name).replace("$", r"\$")


def title_text(title: str) -> str:
    """A title, of lines that may hold formulas, as any font draws it."""
    return "\n".join(map(printable, str(title).split("\n")))


def new_axes() -> Axes:
    """The axes of a new figure."""
    return new_figure().add_subplot()


def quiet_axes(axes: Axes, x: str, y: str, title: str = "") -> None:
    """Label the axes, and take away what is not needed to read them."""
    axes.set_xlabel(x, color=INK)
    axes.set_ylabel(y, color=INK)
    if title:
        axes.set_title(title_text(title), loc="left", color=INK)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(FAINT)
    axes.tick_params(which="both", colors=FAINT, labelcolor=INK, labelsize="small", length=3)
    axes.tick_params(which="minor", length=2)


def quiet_colorbar(axes: Axes, drawn: Any, title: str = "") -> None:
    """A narrow colour bar without a frame."""
    bar = axes.figure.colorbar(drawn, ax=axes, fraction=0.04, pad=0.02)
    if bar.solids is not None:
        bar.solids.set_alpha(1.0)
    bar.outline.set_visible(False)
    bar.ax.tick_params(which="both", colors=INK, labelsize="small", length=2)
    bar.ax.set_title(title_text(title), fontsize="small", color=INK)


def fading(color: str, start: str = "#F4F4F4") -> Any:
    """Colours from almost white to ``color``, for counts and scores."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list(f"fading {color}", [start, color])
