"""The picture of a permutation test of labels: every permutation a dot, the true labels a line."""

import pytest

from isentropic import LabelTest

pytest.importorskip("matplotlib")

from isentropic.plot import label_null

NULL, SEEN = (0.3, 0.3, 0.4, -0.1), (0.9, 1.0, 0.9, 0.8)
TEST = LabelTest("honest", "kappa", 0.75, NULL, 1.0, SEEN, 70, 30, 1, 0)


def drawn(figure):
    """Dots and lines, as places along the axis."""
    lines = figure.axes[0].get_lines()
    dots = [line.get_xdata()[0] for line in lines if line.get_marker() == "o"]
    return dots, [line.get_xdata()[0] for line in lines if line.get_marker() != "o"]


def test_every_permutation_is_a_dot_and_the_true_labels_a_line():
    figure = label_null(TEST, title="lda")
    dots, lines = drawn(figure)
    assert sorted(dots) == sorted([*NULL, *SEEN])
    assert lines == [0.75, 1.0]
    axes = figure.axes[0]
    assert axes.get_title(loc="left") == "lda"
    assert axes.get_xlim()[0] <= -0.1
    assert "p = 0.2" in [text.get_text() for text in axes.texts]
    assert axes.get_xlabel() == "kappa of k-NN: true labels (line) and 4 permutations"


def test_equal_scores_are_stacked():
    lines = label_null(TEST).axes[0].get_lines()
    heights = [
        line.get_ydata()[0] for line in lines if line.get_marker() == "o" and line.get_xdata()[0] == 0.3
    ]
    assert len(set(heights)) == 2


def test_it_draws_on_given_axes_and_names_the_protocol():
    from isentropic.plot.palette import new_axes

    axes = new_axes()
    published = LabelTest("published", "accuracy", 0.9, NULL[:1], 1.0, SEEN[:1], 70, 35, 1, 0)
    assert label_null(published, ax=axes) is axes.get_figure()
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels[0].startswith("scored rows")
    first = label_null(TEST).axes[0].get_yticklabels()[0]
    assert first.get_text() == "held-out rows"
