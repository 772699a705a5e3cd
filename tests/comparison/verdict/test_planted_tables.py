"""The verdict on tables whose truth is known: sheets, noise, shuffled columns, random places."""

import numpy as np
import pytest

from isentropic import compare, datasets
from isentropic.comparison import verdict

FIXED = {"tune": False, "n_seeds": 1}


def test_a_map_in_random_places_is_named_and_never_recommended(rng):
    iris = datasets.load("builtin:iris")
    maps = {"map": lambda X: X[:, [0, 2]], "shuffled": lambda X: rng.permutation(X[:, [0, 2]])}
    runs = compare(iris.X, methods=maps)
    found = verdict(runs)
    assert found.worthless == ("shuffled",)
    assert runs[found.recommended].method == "map"
    assert "No better than random places: shuffled." in found.choice


def test_no_map_in_random_places_passes_for_more(rng, roll):
    names = [f"shuffled {i}" for i in range(12)]
    found = verdict(compare(roll[:100], methods={name: lambda X: rng.permutation(X) for name in names}))
    assert found.recommended is None
    assert found.worthless == tuple(names)


@pytest.mark.parametrize(("n", "m"), [(60, 15), (300, 50)])
def test_no_map_of_pure_noise_is_recommended(n, m):
    X = np.random.default_rng(n + m).normal(size=(n, m))
    found = verdict(compare(X, methods=["pca", "t-sne"], **FIXED))
    assert found.recommended is None
    assert "its columns are unrelated" in found.headline


@pytest.mark.parametrize("kind", ["normal", "uniform", "cauchy", "lognormal"])
@pytest.mark.parametrize("m", [3, 5])
def test_few_columns_of_noise_draw_well_and_are_not_recommended(kind, m):
    """Two of three columns are most of what there is: the drawing is good, and shows nothing."""
    random = np.random.default_rng(m)
    X = {
        "normal": random.normal,
        "uniform": random.uniform,
        "cauchy": lambda size: random.standard_cauchy(size),
        "lognormal": lambda size: random.lognormal(0, 1, size),
    }[kind](size=(200, m))
    found = verdict(compare(X, methods=["pca"]))
    assert found.recommended is None
    assert "its columns are unrelated" in found.headline


def test_shuffled_columns_are_told_from_real_ones(rng):
    iris = datasets.load("builtin:iris").X
    shuffled = np.column_stack([rng.permutation(column) for column in iris.T])
    (own,), (other,) = (compare(X, methods=["pca"]) for X in (iris, shuffled))
    assert verdict([own]).recommended == 0
    assert verdict([other]).recommended is None
    assert f"shuffled by itself (p = {other.relation[1]:.2f})" in verdict([other]).choice[0]


def test_two_columns_may_be_drawn_though_they_are_unrelated(rng):
    assert verdict(compare(rng.normal(size=(100, 2)), methods=["pca"])).recommended == 0


def test_a_plane_in_many_columns_is_seen_and_nothing_is_wrong_with_it(rng):
    plane = rng.normal(size=(120, 2)) @ np.linalg.qr(rng.normal(size=(6, 6)))[0][:2]
    found = verdict(compare(plane, methods=["pca"]))
    assert found.use == "Use PCA to see which rows are alike, and how far apart they are."
    assert found.caveats == ()


def test_of_a_roll_the_map_of_its_neighbors_is_recommended_and_the_flat_one_named_for_distances():
    roll = datasets.load("builtin:swiss-roll", n_samples=1000)
    methods = {"classical-mds": {}, "t-sne": {}}
    runs = compare(roll.X, methods=methods, **FIXED)
    found = verdict(runs)
    assert runs[found.recommended].method == "t-sne"
    assert any(line.startswith("For distances look at classical MDS: ") for line in found.choice)


def test_digits_are_recommended_for_who_is_near_whom_and_not_for_distances():
    digits = datasets.load("builtin:digits").X[::3]
    found = verdict(compare(digits, methods=["pca", "t-sne"], **FIXED))
    assert found.headline.startswith("Use t-SNE to see which rows are alike. Do not read distances")
