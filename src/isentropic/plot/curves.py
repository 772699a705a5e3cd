"""Curves and diagrams: quality for all k, label permutations, critical differences, neighborhood sizes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.arguments import as_numbers
from .._core.errors import require, require_count, require_number
from ..comparison import LabelTest
from ..experiments.statistics import RankMark, rank_layout
from ..meta import Path
from . import palette
from .palette import new_axes, new_figure, plain_text, quiet_axes, title_text

# ---- Measures of a map for every size of neighbourhood -------------------------------------------


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


# ---- The score of a supervised map beside its scores with permuted labels ------------------------


_BINS = 60  # along the axis: scores in one bin are stacked


def label_null(test: LabelTest, *, title: str = "", ax: Axes | None = None) -> Figure:
    """Draw a permutation test of labels: each permutation a dot, the true labels a line.

    Above, the rows that the test scores; below, those that the map learnt from. Where the dots below reach
    the line, the method separates any labels.

    Parameters
    ----------
    test
        From :func:`isentropic.label_permutation_test`.
    title
        Stands above, on the left.
    ax
        Draw here; by default a new figure is made, outside pyplot.
    """
    is_test = isinstance(test, LabelTest)
    require(
        is_test, "test", "a LabelTest", type(test).__name__, "Give label_permutation_test(estimator, X, y)."
    )
    axes = new_figure(6.4, 3.2).add_subplot() if ax is None else ax
    scored = "held-out rows" if test.protocol == "honest" else "scored rows,\nwhich it saw too"
    _row(axes, 1.0, test.observed, test.null, palette.COLORS[0])
    _row(axes, 0.0, test.seen, test.seen_null, palette.COLORS[5])
    axes.set_yticks([1.0, 0.0], [scored, "rows that\nthe map saw"])
    axes.set_ylim(-0.25, 2.0)
    axes.set_xlim(min(0.0, *test.null, *test.seen_null), 1.02)
    quiet_axes(axes, f"{test.score} of k-NN: true labels (line) and {len(test.null)} permutations", "", title)
    axes.text(test.observed, 1.86, f"p = {test.p:.2g}", ha="right", color=palette.INK, fontsize="small")
    return axes.get_figure()  # type: ignore[return-value]


def _row(axes: Axes, base: float, observed: float, null: Sequence[float], color: str) -> None:
    bins = np.round(np.asarray(null) * _BINS).astype(int)
    tallest = max(Counter(bins.tolist()).values())
    below: Counter[int] = Counter()
    for value, at in zip(null, bins.tolist(), strict=True):
        height = base + 0.7 * below[at] / max(tallest, 12)
        axes.plot(value, height, "o", color=palette.FAINT, markersize=4, markeredgewidth=0)
        below[at] += 1
    axes.plot([observed, observed], [base - 0.08, base + 0.78], color=color, linewidth=2.5)


# ---- Mean ranks of methods, and which of them do not differ --------------------------------------


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


# ---- What a path over the size of the neighbourhood found ----------------------------------------


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
