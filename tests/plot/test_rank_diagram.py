"""The critical-difference diagram: every name with its rank, bars where methods do not differ."""

import pytest

from isentropic._core.errors import InvalidInputError
from isentropic.plot import critical_difference_diagram
from isentropic.plot.palette import new_axes

RANKS = {"PCA": 4.4, "KPCA": 3.17, "ISO": 3.35, "ISO-KL": 1.98, "LLE": 4.45, "LAP": 3.65}


def texts(figure):
    return [text.get_text() for text in figure.axes[0].texts]


def test_every_method_is_named_and_bars_join_what_does_not_differ():
    figure = critical_difference_diagram(RANKS, 1.686, title="silhouettes")
    words = " ".join(texts(figure))
    assert all(name in words and f"{rank:.2f}" in words for name, rank in RANKS.items())
    widths = [float(one.get_linewidth()[0]) for one in figure.axes[0].collections]
    assert widths.count(4.0) == 2  # ISO-KL to LAP, KPCA to LLE
    narrow = critical_difference_diagram(RANKS, 0.01)
    assert [float(one.get_linewidth()[0]) for one in narrow.axes[0].collections].count(4.0) == 0


def test_it_draws_where_it_is_told():
    axes = new_axes()
    assert critical_difference_diagram(RANKS, 1.0, ax=axes) is axes.get_figure()
    with pytest.raises(InvalidInputError, match="at least two methods"):
        critical_difference_diagram({"PCA": 1.0}, 1.0)
