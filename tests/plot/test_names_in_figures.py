"""Names of any characters in figures: drawn without warnings, as text, and well-formed in SVG."""

import io
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from isentropic import plot

pytest.importorskip("matplotlib")

Z = np.random.default_rng(0).normal(size=(24, 2))
NAMES = [
    *(f"a{chr(code)}b" for code in (0, 1, 9, 10, 11, 13, 27, 31, 0x7F, 0x85, 0xFFFE, 0xFFFF)),
    "a\ud800b", "\udc00", "caf\udce9", "a-->b", "<&>\"'", "]]>", "$x$", "$", r"$\nothing{$", r"\$a$b$", "_a",
]  # fmt: skip


def as_frame(name):
    """Coordinates under a name; pandas' own text cannot hold half a character."""
    columns = pd.Index([f"{name}0", f"{name}1"], dtype=object)
    return pd.DataFrame(Z).set_axis(columns, axis=1)


def figures(name):
    classes = np.arange(24) % 3
    yield plot.scatter(as_frame(name), pd.Series(classes, name=name), class_names=[name, "y", "z"], title="t")
    yield plot.scatter(Z[:, :1], pd.Series(Z[:, 1], name="t"), title="t")
    yield plot.biplot(Z, np.eye(2), feature_names=[name, "other"], title="t")
    yield plot.critical_difference_diagram({name: 1.5, "other": 2.5}, 0.5, title="t")
    yield plot.quality_curves({name: np.linspace(0, 1, 9)}, title="t")
    yield plot.component_planes(Z[:4], Z[:4], feature_names=[name, "other"], title="t")
    yield plot.distortion(as_frame(name), np.abs(Z[:, 0]) / 9)


def titled(title):
    yield plot.scatter(Z, pd.Series(Z[:, 0], name=title), title=title)
    yield plot.critical_difference_diagram({"one": 1.5, "other": 2.5}, 0.5, title=title)
    yield plot.component_planes(Z[:4], Z[:4], title=title)
    yield plot.lattice(Z[:4], Z[:4, 0], title=title, label="t")
    yield plot.distortion(Z, np.abs(Z[:, 0]) / 9, title=title)


def drawn(figure, *others):
    for kind in ("svg", *others):
        file = io.BytesIO()
        figure.savefig(file, format=kind)
        if kind == "svg":
            ElementTree.fromstring(file.getvalue())


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_any_name_is_drawn_as_text(name):
    drawn(next(figures(name)))


@pytest.mark.parametrize("name", ["a\x01b", "a\ud800b", r"$\nothing{$"], ids=ascii)
def test_every_figure_and_format_draws_it(name):
    for figure in figures(name):
        drawn(figure, "png", "pdf")


@pytest.mark.parametrize("title", ["a\x00b", "a\ud800b", "two\nlines\x1b", "a\uffff"], ids=ascii)
def test_any_title_is_drawn(title):
    for figure in titled(title):
        drawn(figure)


def test_lines_and_formulas_of_titles_stay():
    assert plot.scatter(Z, title="$R^2$\nof\x01all").axes[0].get_title(loc="left") == "$R^2$\nof\\x01all"


def test_a_class_whose_name_begins_with_a_line_is_in_the_legend():
    figure = plot.scatter(Z, np.arange(24) % 2, class_names=["_a", "b"])
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == [" _a", "b"]
