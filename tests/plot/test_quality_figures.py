"""Figures of quality: what is drawn, where, and in which order."""

import io
import sys

import numpy as np
import pytest

from isentropic._core.errors import InvalidInputError
from isentropic.plot import coranking, distortion, quality_curves, quality_sheet, shepard

pytest.importorskip("matplotlib")

CURVES = {"trustworthiness": np.linspace(1, 0.4, 50), "R_NX": np.linspace(0.2, -0.1, 49)}


@pytest.fixture
def counts():
    matrix = np.diag(np.full(30, 40))
    matrix[20, 3] = 7
    return matrix


@pytest.fixture
def Z():
    return np.random.default_rng(0).normal(size=(60, 2))


def png(figure):
    file = io.BytesIO()
    figure.savefig(file, format="png")
    return file.getvalue()


# ---- curves ------------------------------------------------------------------------------------


def test_every_curve_starts_at_one_neighbour():
    axes = quality_curves(CURVES, title="digits").axes[0]
    assert axes.get_xscale() == "log"
    assert axes.get_title(loc="left") == "digits"
    for line, (name, values) in zip(axes.get_lines(), CURVES.items(), strict=True):
        assert line.get_label() == name
        np.testing.assert_array_equal(line.get_xdata(), np.arange(1, len(values) + 1))
        np.testing.assert_array_equal(line.get_ydata(), values)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == list(CURVES)
    assert axes.get_ylim()[0] < -0.1


def test_chosen_neighbours_are_marked():
    axes = quality_curves(CURVES, n_neighbors=(10, 30)).axes[0]
    assert [text.get_text() for text in axes.texts] == ["k = 10", "k = 30"]
    assert [line.get_xdata()[0] for line in axes.get_lines()[:2]] == [10, 30]


def test_intervals_are_bands_about_the_curve():
    axes = quality_curves(CURVES, half_widths={"R_NX": ([1, 10, 49], [0.1, 0.2, 0.1])}).axes[0]
    (band,) = axes.collections
    corners = band.get_paths()[0].vertices
    assert corners[:, 1].min() == pytest.approx(-0.1 - 0.1)
    assert set(corners[:, 0]) == {1, 10, 49}


# ---- densities ---------------------------------------------------------------------------------


def test_the_matrix_has_data_down_and_map_across(counts):
    axes = coranking(counts, title="co-ranking").axes[0]
    (image,) = axes.get_images()
    shown = np.ma.filled(image.get_array(), 0)
    assert shown[20, 3] == 7
    assert shown[3, 20] == 0  # no pair: no colour
    assert tuple(image.get_extent()) == (0.5, 30.5, 30.5, 0.5)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("rank in the map", "rank in the data")
    assert [text.get_text() for text in axes.texts] == ["false neighbours", "tears"]


def test_a_large_matrix_is_summed_up():
    axes = coranking(np.ones((450, 450)), np.arange(1, 4502, 10)).axes[0]
    (image,) = axes.get_images()
    assert image.get_array().shape == (150, 150)
    assert np.unique(image.get_array()).tolist() == [9]
    assert image.get_extent()[1] == 4500.5


def test_a_perfect_map_is_drawn():
    png(coranking(np.eye(5)))
    png(coranking(np.ones((1, 1))))


def test_few_pairs_are_points_and_many_a_density():
    rng = np.random.default_rng(0)
    given = rng.uniform(size=5000)
    mapped = np.abs(2 * given + rng.normal(scale=0.05, size=5000))
    few, many = shepard(given[:100], mapped[:100]), shepard(given, mapped)
    assert len(few.axes) == 1
    assert len(few.axes[0].collections[0].get_offsets()) == 100
    assert len(many.axes) == 2  # with a colour bar
    slope = np.divide(*few.axes[0].get_lines()[0].get_xydata()[1][::-1])
    assert slope == pytest.approx(2, rel=0.05)


def test_a_map_of_one_point_is_drawn():
    png(shepard(np.ones(5), np.zeros(5)))


# ---- damage ------------------------------------------------------------------------------------


def test_the_worst_rows_are_drawn_last(Z):
    scores = np.random.default_rng(1).uniform(size=60)
    axes = distortion(Z, scores, title="tears").axes[0]
    (drawn,) = axes.collections
    np.testing.assert_array_equal(drawn.get_offsets(), Z[np.argsort(scores)])
    assert (np.diff(drawn.get_array()) >= 0).all()
    assert axes.get_title(loc="left") == "tears"
    assert axes.get_aspect() == 1.0


def test_rows_without_a_score_are_faint(Z):
    faint, drawn = distortion(Z, [0.5, 0.1], rows=[7, 3]).axes[0].collections
    assert len(faint.get_offsets()) == 60
    np.testing.assert_array_equal(drawn.get_offsets(), Z[[3, 7]])


def test_one_bad_row_does_not_hide_the_others(Z):
    scores = np.linspace(0, 0.2, 60)
    scores[5] = 1.0
    assert distortion(Z, scores).axes[0].collections[0].get_clim()[1] < 0.6
    assert distortion(Z, scores, greatest=1.0).axes[0].collections[0].get_clim() == (0.0, 1.0)
    assert distortion(Z, np.zeros(60)).axes[0].collections[0].get_clim() == (0.0, 1.0)


def test_one_coordinate_is_drawn_over_the_rows(Z):
    axes = distortion(Z[:, :1], np.zeros(60)).axes[0]
    assert axes.get_ylabel() == "row"


def test_the_sheet_has_four_pictures(Z, counts):
    figure = quality_sheet(Z, CURVES, counts, np.zeros(60), np.ones(60), k=10, title="digits, pca")
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert [title for title in titles if title] == [
        "neighbourhoods of every size",
        "co-ranking matrix",
        "false neighbours, k = 10",
        "tears, k = 10",
    ]
    assert png(figure) == png(
        quality_sheet(Z, CURVES, counts, np.zeros(60), np.ones(60), k=10, title="digits, pca")
    )


def test_pyplot_is_left_alone(Z, counts):
    before = "matplotlib.pyplot" in sys.modules
    quality_sheet(Z, CURVES, counts, np.zeros(60), np.ones(60), k=10)
    assert ("matplotlib.pyplot" in sys.modules) == before


def test_drawn_on_given_axes(Z, counts):
    from matplotlib.figure import Figure

    figure = Figure()
    axes = figure.subplots(2, 2).ravel()
    assert quality_curves(CURVES, ax=axes[0]) is figure
    assert coranking(counts, ax=axes[1]) is figure
    assert shepard([1.0], [2.0], ax=axes[2]) is figure
    assert distortion(Z, np.zeros(60), ax=axes[3]) is figure


@pytest.mark.parametrize(
    ("draw", "name"),
    [
        (lambda: quality_curves({}), "curves"),
        (lambda: quality_curves({"T": [1.0, np.nan]}), "T"),
        (lambda: quality_curves({"T": []}), "T"),
        (lambda: coranking(np.ones((2, 3))), "counts"),
        (lambda: coranking(np.zeros((2, 2))), "counts"),
        (lambda: coranking(np.ones((2, 2)), [1, 2]), "edges"),
        (lambda: shepard([1.0, 2.0], [1.0]), "mapped"),
        (lambda: shepard([], []), "mapped"),
        (lambda: distortion(np.zeros(3), np.zeros(3)), "Z"),
        (lambda: distortion(np.zeros((3, 2)), np.zeros(2)), "scores"),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw, name):
    with pytest.raises(InvalidInputError, match=rf"^{name} must be"):
        draw()
