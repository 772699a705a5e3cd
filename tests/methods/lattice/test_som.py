"""The self-organising map: the batch rule of the literature, lattices, errors, and what it must refuse."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from isentropic import SOM, datasets
from isentropic._core.errors import InvalidInputError
from isentropic.embedding.maps.lattice import adjacent_nodes, lattice_coordinates

IRIS = datasets.load("builtin:iris").X


def plain_epochs(X, nodes, places, widths):
    """The batch rule as it is written: winners, then means weighted over the lattice."""
    for width in widths:
        winners = [min(range(len(nodes)), key=lambda r: ((x - nodes[r]) ** 2).sum()) for x in X]
        moved = []
        for place in places:
            weights = np.array([np.exp(-((places[r] - place) ** 2).sum() / (2 * width**2)) for r in winners])
            moved.append((weights[:, None] * X).sum(axis=0) / weights.sum())
        nodes = np.array(moved)
    return nodes


@pytest.mark.parametrize("lattice", ["rectangular", "hexagonal"])
def test_epochs_are_those_of_the_batch_rule(lattice):
    """From the nodes after one epoch, three more by hand: the widths of four are known."""
    X = IRIS[::3]
    one = SOM(shape=(4, 3), lattice=lattice, max_iter=1).fit(X)
    four = SOM(shape=(4, 3), lattice=lattice, max_iter=4).fit(X)
    widths = np.geomspace(2, 1 / 3, 4)
    first = plain_epochs(X, _sheet(X, one.places_), one.places_, widths[:1])
    np.testing.assert_allclose(one.codebook_, first, atol=1e-10)
    expected = plain_epochs(X, first, one.places_, widths[1:])
    np.testing.assert_allclose(four.codebook_, expected, atol=1e-10)


def _sheet(X, places):
    """The principal plane, to two standard deviations."""
    centred = X - X.mean(axis=0)
    _, values, axes = np.linalg.svd(centred, full_matrices=False)
    axes = axes * np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])[:, None]
    scaled = 2 * places / places.max(axis=0) * (values[:2] / np.sqrt(len(X)))
    return X.mean(axis=0) + scaled @ axes[:2]


def test_a_row_stands_where_its_nearest_node_does():
    som = SOM(shape=(5, 4)).fit(IRIS)
    nearest = ((IRIS[:, None] - som.codebook_[None]) ** 2).sum(axis=2)
    np.testing.assert_array_equal(som.embedding_, som.places_[nearest.argmin(axis=1)])
    np.testing.assert_allclose(som.quantization_error_, np.sqrt(nearest.min(axis=1)).mean(), rtol=1e-12)


def test_smooth_places_lie_between_nodes():
    som = SOM(shape=(5, 4), smooth=True).fit(IRIS)
    squares = ((IRIS[:, None] - som.codebook_[None]) ** 2).sum(axis=2)
    weights = np.exp(-squares / (2 * squares.min(axis=1).mean()))
    expected = weights @ som.places_ / weights.sum(axis=1)[:, None]
    np.testing.assert_allclose(som.embedding_, expected, atol=1e-10)


def test_topographic_error_counts_rows_between_strangers():
    som = SOM(shape=(6, 5)).fit(IRIS)
    order = ((IRIS[:, None] - som.codebook_[None]) ** 2).sum(axis=2).argsort(axis=1, kind="stable")
    apart = np.abs(som.places_[order[:, 0]] - som.places_[order[:, 1]]).max(axis=1) > 1.001
    assert som.topographic_error_ == pytest.approx(apart.mean(), abs=1e-12)
    assert 0 < som.topographic_error_ < 0.5


def test_the_u_matrix_is_high_between_two_groups():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(60, 3)), rng.normal([9, 0, 0], size=(60, 3))])
    som = SOM(shape=(9, 3)).fit(X)
    heights = som.u_matrix_.reshape(9, 3).mean(axis=1)
    assert 3 <= heights.argmax() <= 5
    assert heights.max() > 1.5 * heights[[0, 8]].max()


def test_next_nodes_of_both_lattices():
    eight = adjacent_nodes(lattice_coordinates((5, 5)), "rectangular").sum(axis=1).reshape(5, 5)
    six = adjacent_nodes(lattice_coordinates((5, 5), "hexagonal"), "hexagonal").sum(axis=1).reshape(5, 5)
    assert (eight[1:-1, 1:-1] == 8).all()
    assert (six[1:-1, 1:-1] == 6).all()
    assert eight[0, 0] == 3


def test_default_sides_follow_the_rows():
    rng = np.random.default_rng(0)
    long = SOM().fit(rng.normal(size=(400, 3)) * (4, 1, 0.1))
    sides = np.ptp(long.places_, axis=0) + 1
    assert sides[0] > 2.5 * sides[1]
    assert 80 <= len(long.places_) <= 125  # about 5 sqrt(400)


def test_a_node_far_from_all_rows_has_a_row():
    X = np.concatenate([np.zeros((20, 2)), np.ones((20, 2))])
    som = SOM(shape=(60, 2), max_iter=60).fit(X)
    assert np.isfinite(som.codebook_).all()
    assert som.codebook_.min() >= -1e-9
    assert som.codebook_.max() <= 1 + 1e-9


def test_agreement_with_minisom_in_error():
    minisom = pytest.importorskip("minisom")
    X = load_digits().data
    peer = minisom.MiniSom(10, 10, 64, random_seed=0)
    peer.random_weights_init(X)
    peer.train(X, 30 * len(X))
    ours = SOM(shape=(10, 10)).fit(X)
    assert ours.quantization_error_ <= peer.quantization_error(X)
    assert ours.topographic_error_ <= peer.topographic_error(X)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_components": 4}, "n_components must be an integer from 1 to 3, got 4"),
        ({"shape": (3, 4, 5)}, "shape must be None or a tuple of 2 numbers of nodes"),
        ({"shape": (3, 0)}, "A side of shape must be a positive integer, got 0"),
        ({"shape": 7}, "shape must be None or a tuple of 2"),
        ({"lattice": "hex"}, "lattice must be one of rectangular, hexagonal, got 'hex'"),
        ({"lattice": "hexagonal", "n_components": 1}, "lattice must be 'rectangular' for a map of other"),
        ({"smooth": "no"}, "smooth must be True or False"),
        ({"max_iter": 0}, "max_iter must be a positive integer"),
        ({"shape": (10**6, 10**6)}, "A lattice of 1,000,000,000,000 nodes needs"),
    ],
)
def test_bad_parameters(parameters, words):
    with pytest.raises((InvalidInputError, MemoryError), match=words.replace("(", r"\(")):
        SOM(**parameters).fit(IRIS)


def test_one_and_three_dimensions():
    assert SOM(1).fit_transform(IRIS).shape == (150, 1)
    assert SOM(3, smooth=True).fit_transform(IRIS).shape == (150, 3)
