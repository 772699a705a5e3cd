"""Biplots: an arrow for each feature, in its direction, on one scale."""

import io

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isentropic import PCA, datasets
from isentropic._core.errors import InvalidInputError
from isentropic.plot import biplot

pytest.importorskip("matplotlib")

WINE = datasets.load("builtin:wine")
FITTED = PCA().fit(WINE.X)


def arrows(figure):
    return np.array(
        [text.xy for text in figure.axes[0].texts if getattr(text, "arrow_patch", None) is not None]
    )


def words(figure):
    return [text.get_text() for text in figure.axes[0].texts if text.get_text()]


def test_arrows_have_the_direction_and_the_ratio_of_the_loadings():
    figure = biplot(FITTED.embedding_, FITTED.components_, WINE.y, feature_names=WINE.feature_names, most=13)
    tips, loadings = arrows(figure), FITTED.components_.T
    order = np.argsort(-np.hypot(*loadings.T), kind="stable")
    scale = np.hypot(*tips[0]) / np.hypot(*loadings[order[0]])
    assert_allclose(tips, scale * loadings[order])
    assert words(figure) == [WINE.feature_names[feature] for feature in order]
    drawn = figure.axes[0].collections[0].get_offsets()
    assert len(drawn) > 0
    figure.savefig(io.BytesIO(), format="png")


def test_the_longest_reaches_into_the_map_in_any_unit():
    for unit in (1e-9, 1.0, 1e9):
        tips = arrows(biplot(unit * FITTED.embedding_, FITTED.components_))
        reach = np.hypot(*tips.T).max() / np.abs(unit * FITTED.embedding_).max()
        assert reach == pytest.approx(0.9)


def test_of_many_features_the_longest_are_drawn_and_it_says_so():
    figure = biplot(FITTED.embedding_, FITTED.components_, most=4)
    assert len(arrows(figure)) == 4
    assert words(figure)[-1] == "the 4 longest of 13 features"
    assert words(figure)[0].startswith("feature ")


def test_a_feature_without_loading_has_no_arrow():
    loadings = np.array([[1.0, 0.0, 2.0], [0.5, 0.0, 1.0]])
    assert len(arrows(biplot(FITTED.embedding_, loadings))) == 2
    assert len(arrows(biplot(FITTED.embedding_, 0 * loadings))) == 0


def test_it_draws_where_it_is_told_to():
    from matplotlib.figure import Figure

    left, right = Figure().subplots(1, 2)
    biplot(FITTED.embedding_, FITTED.components_, ax=right)
    assert not left.texts
    assert len(right.texts) > 12


@pytest.mark.parametrize(
    ("Z", "components", "options", "message"),
    [
        (np.ones((5, 1)), np.ones((1, 3)), {}, "Z must be a table of at least two coordinates"),
        (
            np.ones((5, 2)),
            np.ones((3, 3)),
            {},
            "components must be the loadings of 2 coordinates, got",
        ),
        (np.ones((5, 2)), np.full((2, 3), np.nan), {}, "components must be finite everywhere"),
        (
            np.ones((5, 2)),
            np.ones((2, 3)),
            {"feature_names": ["a"]},
            "a name for each of the 3 features, got 1",
        ),
        (np.ones((5, 2)), np.ones((2, 3)), {"most": 0}, "most must be a positive integer, got 0"),
    ],
)
def test_what_is_refused(Z, components, options, message):
    with pytest.raises(InvalidInputError, match=message):
        biplot(Z, components, **options)
