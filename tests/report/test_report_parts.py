"""Parts of the page: which rows are drawn, where damage is outlined, and colours for every eye."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from made_comparisons import FACTS, first_columns, make_runs, make_table, make_verdict, page

from isentropic import report
from isentropic._core.values import Table
from isentropic.comparison import collect_page_data
from isentropic.comparison.page_data import damaged_region, sampled_rows, shown_groups
from isentropic.report.collect.first_screen import map_sections
from isentropic.report.payload.diagrams import curve_ks
from isentropic.report.payload.packed_arrays import pack, pack_points, pack_shares
from isentropic.report.payload.page_rows import CLASSES

# ---- rows --------------------------------------------------------------------------------------


def plain_table(X, y=None, class_names=()):
    return Table(X, y, tuple("abc"[: X.shape[1]]), tuple(map(str, range(len(X)))), class_names, "t", "none")


def test_a_sample_has_every_class_in_proportion():
    y = np.repeat([0, 1, 2], [9_000, 990, 10])
    rows = sampled_rows(plain_table(np.zeros((10_000, 1)), y, ("a", "b", "c")), 1_000)
    assert len(rows) == len(set(rows.tolist())) == 1_000
    counts = np.bincount(y[rows])
    assert abs(counts[0] - 900) <= 2
    assert abs(counts[1] - 99) <= 2
    assert counts[2] >= 1


def test_a_sample_without_classes_covers_the_whole_range():
    X = np.random.default_rng(0).permutation(np.arange(5_000.0))[:, None]
    counts, _ = np.histogram(X[sampled_rows(plain_table(X), 500), 0], bins=10, range=(0, 5_000))
    assert counts.min() >= 48
    assert counts.max() <= 52


def test_a_sample_is_the_same_every_time():
    X = np.random.default_rng(0).normal(size=(3_000, 2))
    np.testing.assert_array_equal(sampled_rows(plain_table(X), 100), sampled_rows(plain_table(X), 100))


# ---- arrays ------------------------------------------------------------------------------------


def unpacked(text, kind):
    import base64

    return np.frombuffer(base64.b64decode(text), f"<{kind}")


def test_points_keep_their_shape():
    points = np.random.default_rng(0).normal(size=(50, 2)) * [10, 1]
    drawn = pack_points(points)
    found = unpacked(drawn["points"], "u2").reshape(-1, 2) / 65_535
    expected = (points - points.min(axis=0)) / np.ptp(points[:, 0])
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert drawn["width"] == 1.0
    assert drawn["height"] == pytest.approx(np.ptp(points[:, 1]) / np.ptp(points[:, 0]))


def test_equal_points_are_points():
    assert pack_points(np.ones((3, 2)))["points"] == pack(np.zeros(6), "u2")


def test_unknown_scores_stay_unknown():
    assert unpacked(pack_shares(np.array([0.0, np.nan, 1.0, 7.0])), "u1").tolist() == [0, 255, 254, 254]


def test_values_of_k_are_few_and_reach_both_ends():
    for n in (3, 4, 10, 201, 100_000):
        ks = curve_ks(n)
        assert len(ks) <= 200
        assert (ks[0], ks[-1]) == (1, max(1, n - 2))


# ---- regions -----------------------------------------------------------------------------------


@pytest.fixture
def field():
    return np.random.default_rng(0).uniform(size=(2_000, 2))


def test_the_region_is_where_the_damage_is(field):
    damaged = np.hypot(*(field - [0.3, 0.7]).T) < 0.15
    region = damaged_region(field, damaged)
    assert region.damaged == damaged.sum()
    assert region.damaged_inside > 0.9 * region.damaged
    assert region.inside < 1.3 * region.damaged
    ends = region.outline.reshape(-1, 2)
    radii = np.hypot(*(ends - [0.3, 0.7]).T)
    assert 0.1 < radii.min() <= radii.max() < 0.22


def test_outlines_are_closed(field):
    damaged = (field[:, 0] < 0.2) | (np.hypot(*(field - [0.8, 0.5]).T) < 0.1)
    ends = np.round(damaged_region(field, damaged).outline.reshape(-1, 2), 9)
    _, counts = np.unique(ends, axis=0, return_counts=True)
    assert (counts % 2 == 0).all()


def test_scattered_damage_has_no_region(field):
    damaged = np.zeros(len(field), bool)
    damaged[::40] = True
    region = damaged_region(field, damaged)
    assert (region.damaged, region.damaged_inside, len(region.outline)) == (50, 0, 0)


@pytest.mark.parametrize("flags", [np.zeros(50, bool), np.ones(50, bool)])
def test_none_or_all_damaged_is_no_failure(flags):
    region = damaged_region(np.random.default_rng(0).normal(size=(50, 2)), flags)
    assert region.damaged_inside <= region.damaged == flags.sum()


def test_a_map_in_one_place_is_no_failure():
    assert damaged_region(np.zeros((20, 2)), np.arange(20) < 10).damaged == 10


# ---- colours -----------------------------------------------------------------------------------

# How the colour-blind see linear RGB: Machado, Oliveira and Fernandes (2009), severity 1.
SEEN = {
    "all": np.eye(3),
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881],
    ],
    "protanopia": [
        [0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039],
    ],
}  # fmt: skip


def lab(color, seen):
    """CIELAB of a colour in hexadecimal digits, as seen by these eyes."""
    channels = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz = to_xyz @ np.clip(np.array(seen) @ linear, 0, 1) / [0.9505, 1.0, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def nearest_pair(colors, seen):
    seen_colors = [lab(color, seen) for color in colors]
    return min(np.linalg.norm(one - two) for one, two in itertools.combinations(seen_colors, 2))


@pytest.mark.parametrize("eyes", SEEN)
@pytest.mark.parametrize("theme", CLASSES)
def test_colours_of_classes_stay_apart_for_every_eye(theme, eyes):
    assert nearest_pair(CLASSES[theme], SEEN[eyes]) > 15


def test_the_simulation_notices_red_and_green():
    pair = ["#B86060", "#808040"]
    assert nearest_pair(pair, SEEN["deuteranopia"]) < 15 < nearest_pair(pair, SEEN["all"])


# ---- what is pure ------------------------------------------------------------------------------


def test_nothing_is_drawn_at_random_in_a_report(monkeypatch):
    table = make_table()
    runs = make_runs(table)
    verdict = make_verdict(runs, range(0, 120, 3))
    found = collect_page_data(
        table, runs, verdict, group_test=shown_groups(table, runs, verdict, embed=first_columns)
    )
    expected = page(table, runs, verdict, FACTS)

    def refuse(*args, **options):
        raise AssertionError("a page draws nothing at random")

    monkeypatch.setattr(np.random, "default_rng", refuse)
    monkeypatch.setattr(np.random, "RandomState", refuse)
    assert report.page(table, runs, verdict, found, FACTS) == expected
    with pytest.raises(AssertionError, match="at random"):
        collect_page_data(table, runs, verdict)


# ---- the order of the maps ---------------------------------------------------------------------


def test_maps_stand_in_the_order_of_their_grades():
    """The map that is shown, then those of use by neighbours and distances; beyond eight by family."""
    from made_comparisons import with_value

    runs = make_runs(make_table(), 12)
    near = [0.5, 0.6, 0.6, *(0.7 + i / 100 for i in range(7)), 0.99, 0.95]
    far = [0.9, 0.6, 0.65, *(0.7 for _ in range(9))]
    found = make_verdict(runs)
    ratings = [
        replace(
            rating,
            neighbors=with_value(rating.neighbors, near[i]),
            distances=with_value(rating.distances, far[i]),
            usable=i != 10,
        )
        for i, rating in enumerate(found.ratings[:-1])
    ]
    (shelf,) = map_sections(runs, replace(found, ratings=(*ratings, found.ratings[-1])))
    assert shelf.first == (0, 11, 9, 8, 7, 6, 5, 4)
    assert shelf.others == (("other", (3, 2, 1, 10)),)
