"""Mean ranks of methods, and which of them do not differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .._core.errors import require, require_number
from ..experiments.rank_layout import RankMark, rank_layout
from ..plot import palette
from .axes import new_axes, plain_text, title_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROW = 1.0  # height of the row of a name
_BAR = 0.55  # and of that of a bar


def critical_difference_diagram(
    average_ranks: Mapping[str, float], difference: float, *, title: str = "", ax: Axes | None = None
) -> Figure:
    """Draw mean ranks on a line, 1 the best; bars join methods that do not differ (Nemenyi).

    Parameters
    ----------
    average_ranks
        Of each method, by its name.
    difference
        The critical one: :func:`isentropic.experiments.statistics.critical_difference`.
    title
        Stands above, on the left.
    ax
        Draw here; by default a new figure is made, outside pyplot.

    Examples
    --------
    >>> figure = critical_difference_diagram({"a": 1.4, "b": 2.6, "c": 2.0}, 0.8, title="three")
    >>> [text.get_text() for text in figure.axes[0].texts][-1]
    'critical difference 0.80'
    """
    is_some = isinstance(average_ranks, Mapping) and len(average_ranks) > 1
    require(is_some, "average_ranks", "mean ranks of at least two methods, by name", average_ranks)
    for name, rank in average_ranks.items():
        require_number(f"average_ranks[{name!r}]", rank, "a rank of at least 1", least=1.0)
    require_number("difference", difference, "a critical difference of at least 0")
    layout = rank_layout(tuple(average_ranks), tuple(average_ranks.values()), difference)
    axes = new_axes() if ax is None else ax
    axes.axis("off")
    axes.hlines(0, 0, 1, color=palette.INK, linewidth=1.0)
    for rank, place in layout.ticks:
        axes.vlines(place, 0, 0.25, color=palette.INK, linewidth=1.0)
        axes.text(place, 0.4, str(rank), ha="center", va="bottom", color=palette.INK, fontsize="small")
    below = -_BAR * (len(layout.bars) + 1)
    for level, (start, end) in enumerate(layout.bars, 1):
        axes.hlines(-_BAR * level, start - 0.006, end + 0.006, color=palette.PLAIN, linewidth=4.0)
    for mark in layout.marks:
        _draw_mark(axes, mark, below)
    axes.hlines(1.9, 0, layout.difference, color=palette.INK, linewidth=2.0)
    words = f"critical difference {difference:.2f}"
    axes.set_xlim(-0.45, 1.45)
    axes.set_ylim(below - _ROW * (layout.n_rows + 0.5), 2.6)
    axes.set_title(title_text(title), loc="left", color=palette.INK)
    axes.text(layout.difference + 0.02, 1.9, words, va="center", color=palette.INK, fontsize="small")
    return axes.get_figure()  # type: ignore[return-value]


def _draw_mark(axes: Axes, mark: RankMark, below: float) -> None:
    """A line from the place on the axis down to the row of the name, and to its side."""
    height, side = below - _ROW * mark.row, -0.03 if mark.left else 1.03
    color, name = palette.FAINT, plain_text(mark.name)
    axes.plot([mark.place, mark.place, side], [0, height, height], color=color, linewidth=0.9, zorder=0)
    text = f"{name}  {mark.rank:.2f}" if mark.left else f"{mark.rank:.2f}  {name}"
    where = "right" if mark.left else "left"
    shift = -0.01 if mark.left else 0.01
    axes.text(side + shift, height, text, ha=where, va="center", color=palette.INK, fontsize="small")
