"""The score of a supervised map beside its scores with permuted labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .._core.errors import require
from ..comparison import LabelTest
from ..plot import palette
from .axes import new_figure, quiet_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
