"""Figures: what is drawn, with what colours, and without touching pyplot."""

import io
import sys

import numpy as np
import pandas as pd
import pytest

from isentropic._core.errors import InvalidInputError, MissingExtraError
from isentropic.plot import palette, scatter

pytest.importorskip("matplotlib")


@pytest.fixture
def Z():
    return np.random.default_rng(0).normal(size=(60, 2))


def points(figure):
    return sum(len(drawn.get_offsets()) for drawn in figure.axes[0].collections)


def legend(figure):
    return [text.get_text() for text in figure.axes[0].get_legend().get_texts()]


def png(figure):
    file = io.BytesIO()
    figure.savefig(file, format="png")
    return file.getvalue()


def test_every_row_is_drawn_at_its_place(Z):
    (drawn,) = scatter(Z).axes[0].collections
    assert {tuple(row) for row in drawn.get_offsets()} == {tuple(row) for row in Z}


def test_one_scale_on_both_axes(Z):
    assert scatter(Z).axes[0].get_aspect() == 1.0


def test_class_codes_take_the_colours_of_their_class(Z):
    y = np.arange(60) % 3
    figure = scatter(Z, y, class_names=("a", "b", "c"))
    (drawn,) = figure.axes[0].collections
    colors = dict(zip(map(tuple, drawn.get_offsets().data), map(tuple, drawn.get_facecolors()), strict=True))
    assert len({colors[tuple(row)] for row in Z[y == 1]}) == 1
    assert len({colors[tuple(row)] for row in Z}) == 3
    assert legend(figure) == ["a", "b", "c"]


def test_whole_numbers_are_classes_in_numeric_order(Z):
    assert legend(scatter(Z, np.arange(60) % 12))[:11] == [str(i) for i in range(11)]


def test_text_and_booleans_are_classes(Z):
    assert legend(scatter(Z, ["x", "y"] * 30)) == ["x", "y"]
    assert legend(scatter(Z, np.arange(60) > 30)) == ["False", "True"]


def test_floats_get_a_colour_bar_and_missing_ones_are_grey(Z):
    y = np.linspace(0, 1, 60)
    y[7] = np.nan
    figure = scatter(Z, y)
    assert len(figure.axes) == 2
    assert figure.axes[0].get_legend() is None
    assert points(figure) == 60
    assert png(figure).startswith(b"\x89PNG")


def test_after_the_last_colour_the_marker_changes():
    looks = {(palette.color(code), palette.marker(code)) for code in range(40)}
    assert len(looks) == 40
    assert palette.color(len(palette.COLORS)) == palette.color(0)


def test_a_long_legend_ends_with_a_count():
    Z = np.zeros((40, 2)) + np.arange(40)[:, None]
    assert legend(scatter(Z, np.arange(40)))[-1] == "and 10 more"


@pytest.mark.parametrize("y", [None, np.arange(60) % 2, np.linspace(0, 1, 60)])
def test_one_coordinate_is_a_histogram_over_a_rug(Z, y):
    figure = scatter(Z[:, :1], y)
    assert figure.axes[0].get_ylabel() == "rows"
    assert points(figure) == 60
    assert sum(bar.get_height() for bar in figure.axes[0].patches) == 60
    png(figure)


def test_more_than_two_coordinates_says_so(Z):
    figure = scatter(np.c_[Z, Z])
    assert "first two of 4" in figure.axes[0].get_xlabel()


def test_columns_name_the_axes(Z):
    axes = scatter(pd.DataFrame(Z, columns=["isomap0", "isomap1"])).axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("isomap0", "isomap1")


def test_a_named_series_heads_the_legend_and_the_colour_bar(Z):
    classes = scatter(Z, pd.Series(np.arange(60) % 2, name="species"))
    assert classes.axes[0].get_legend().get_title().get_text() == "species"
    values = scatter(Z, pd.Series(np.linspace(0, 1, 60), name="position"))
    assert values.axes[1].get_title() == "position"


def test_many_points_are_smaller_and_rasterised(Z):
    few = scatter(Z).axes[0].collections[0]
    many = scatter(np.random.default_rng(0).normal(size=(6000, 2))).axes[0].collections[0]
    assert many.get_sizes()[0] < few.get_sizes()[0]
    assert many.get_rasterized()
    assert not few.get_rasterized()


def test_degenerate_maps_are_drawn():
    png(scatter(np.zeros((5, 2))))
    png(scatter(np.zeros((5, 1))))
    png(scatter(np.ones((1, 2)), [0], class_names=["only"]))


def test_draws_on_given_axes(Z):
    from matplotlib.figure import Figure

    figure = Figure()
    ax = figure.add_subplot()
    assert scatter(Z, ax=ax) is figure


def test_pyplot_is_left_alone(Z):
    before = "matplotlib.pyplot" in sys.modules
    scatter(Z)
    assert ("matplotlib.pyplot" in sys.modules) == before


def test_same_input_gives_the_same_bytes(Z):
    assert png(scatter(Z, np.arange(60) % 3)) == png(scatter(Z, np.arange(60) % 3))


@pytest.mark.parametrize(
    ("Z", "y", "names"),
    [
        (np.zeros(3), None, ()),
        (np.zeros((0, 2)), None, ()),
        (np.array([[0.0, np.nan]]), None, ()),
        (np.zeros((3, 2)), [1, 2], ()),
        (np.zeros((3, 2)), [0, 1, 2], ("a", "b")),
    ],
)
def test_what_cannot_be_drawn_is_refused(Z, y, names):
    with pytest.raises(InvalidInputError, match=r"^(Z|y) must be"):
        scatter(Z, y, class_names=names)


def test_without_matplotlib_one_line_says_what_to_install(Z, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'isentropic\[plot\]'"):
        scatter(Z)
