"""Cells of a lattice, coloured by what they are given."""

import numpy as np
import pytest

from isentropic._core.errors import InvalidInputError
from isentropic.embedding.maps.lattice import lattice_coordinates
from isentropic.plot import component_planes, lattice


@pytest.mark.parametrize(("kind", "corners"), [("rectangular", 4), ("hexagonal", 6)])
def test_a_cell_for_every_node(kind, corners):
    places = lattice_coordinates((4, 3), kind)
    cells = lattice(places, np.arange(12.0), title="U-matrix").axes[0].collections[0]
    np.testing.assert_array_equal(cells.get_array(), np.arange(12.0))
    assert {len(path.vertices) for path in cells.get_paths()} == {corners + 1}
    middles = np.array([path.vertices[:-1].mean(axis=0) for path in cells.get_paths()])
    np.testing.assert_allclose(middles, places, atol=1e-12)


def test_the_planes_that_vary_most():
    codebook = np.random.default_rng(0).normal(size=(6, 5)) * (1, 9, 1, 9, 0)
    names = ["a", "b", "c", "d", "e"]
    figure = component_planes(lattice_coordinates((6,)), codebook, feature_names=names, most=2)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert [title for title in titles if title] == ["b", "d"]


def test_bad_arrays():
    with pytest.raises(InvalidInputError, match="values must be finite everywhere"):
        lattice(lattice_coordinates((2, 2)), [1.0, np.nan, 0.0, 0.0])
    with pytest.raises(InvalidInputError, match="values must be a finite number for each of the 4 nodes"):
        lattice(lattice_coordinates((2, 2)), [1.0, 0.0, 0.0])
    with pytest.raises(InvalidInputError, match="places must be one or two coordinates"):
        lattice(np.zeros((2, 3)), [1.0, 2.0])
    with pytest.raises(InvalidInputError, match="a name for each of the 2 features"):
        component_planes(lattice_coordinates((2, 2)), np.zeros((4, 2)), feature_names=["a"])
