"""isentropic compare-maps: what is printed, written, and refused."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from isentropic.quality import map_agreement

OPTIONS = ("--index", "flat", "--target", "quarter")


@pytest.fixture
def maps(run, flats, tmp_path):
    """The flats by two methods, with names and a target."""
    paths = []
    for method in ("pca", "isomap"):
        paths.append(tmp_path / f"{method}.csv")
        result = run("embed", flats, "-m", method, "-o", paths[-1], *OPTIONS)
        assert result.exit_code == 0, result.stderr
    return paths


def test_what_it_says_and_writes(run, flats, maps, tmp_path):
    out = tmp_path / "moved.csv"
    result = run("compare-maps", *maps, flats, *OPTIONS, "--k", 5, "--out", out)
    assert result.exit_code == 0, result.stderr
    coordinates = [pd.read_csv(path).filter(regex=r"\d$").to_numpy() for path in maps]
    expected = map_agreement(*coordinates, n_neighbors=5)
    assert (
        f"Of the 5 nearest rows on one map, {5 * expected.mean:.1f} are among the 5 nearest" in result.stdout
    )
    assert "trustworthiness(5)" in result.stdout
    written = pd.read_csv(out)
    assert list(written.columns) == ["flat", "agreement", "moved"]
    assert written["agreement"].to_numpy() == pytest.approx(expected.shares)
    assert written["moved"].to_numpy() == pytest.approx(expected.moved)


def test_rows_are_matched_by_name(run, flats, maps, tmp_path):
    shuffled = tmp_path / "shuffled.csv"
    pd.read_csv(maps[0]).sample(frac=1.0, random_state=0).to_csv(shuffled, index=False)
    result = run("compare-maps", maps[0], shuffled, flats, *OPTIONS, "--json")
    assert result.exit_code == 0, result.stderr
    told = json.loads(result.stdout)
    assert told["agreement"] == 1.0
    assert told["moved"]["most"] < 1e-9
    assert {group["agreement"] for group in told["groups"]} == {1.0}
    assert {row["better"] for row in told["quality"]} == {"undecided"}


def test_both_maps_are_drawn(run, flats, maps, tmp_path):
    out, plot = tmp_path / "moved.feather", tmp_path / "moved.svg"
    result = run("compare-maps", *maps, flats, *OPTIONS, "--out", out, "--plot", plot)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.splitlines()[-1] == f"wrote {out}, {plot}"
    text = plot.read_text(encoding="utf-8")
    assert text.count('id="axes_') >= 2
    assert list(pd.read_feather(out).columns) == ["flat", "agreement", "moved"]
    told = json.loads(run("compare-maps", *maps, flats, *OPTIONS, "--plot", plot, "--json").stdout)
    assert told["plot"] == str(plot)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--out", "moved.h5ad"), "--out must be a file ending in"),
        (("--plot", "moved.txt"), "--plot must be a file ending in"),
        (("--k", 10_000), "--k must be from 1 to"),
        (("--out", "map.xlsx"), "--out must be a file ending in"),
        (("--missing", "keep"), "--missing must be raise, drop"),
    ],
)
def test_usage_is_refused_with_a_next_step(run, flats, maps, options, message):
    result = run("compare-maps", *maps, flats, *OPTIONS, *options)
    assert result.exit_code == 2
    assert message in result.stderr


def test_the_maps_are_not_written_over(run, flats, maps):
    before = maps[0].read_bytes()
    result = run("compare-maps", *maps, flats, *OPTIONS, "--out", maps[0])
    assert result.exit_code == 2
    assert "another file than its sources" in result.stderr
    assert maps[0].read_bytes() == before


def test_the_error_says_which_of_the_two_maps_does_not_fit(run, flats, maps, tmp_path):
    short, repeated = tmp_path / "short.csv", tmp_path / "repeated.csv"
    pd.read_csv(maps[1]).iloc[:-2].to_csv(short, index=False)
    result = run("compare-maps", maps[0], short, flats, *OPTIONS)
    assert result.exit_code == 2
    assert f"SECOND ({short}) must be a map of the" in result.stderr
    pd.DataFrame({"row": [0, 1, 1, 3], "x0": [1.5, 2, 4, 8]}).to_csv(repeated, index=False)
    numbered = tmp_path / "numbered.csv"
    numbered.write_text("a,b\n1,2.5\n3,4\n9,1\n2,8\n", encoding="utf-8")
    result = run("compare-maps", repeated, maps[0], numbered)
    assert result.exit_code == 2  # by the order, row 2 would stand in the place of another
    assert f"FIRST ({repeated}) must be a map of the rows of DATA, but has no row '2'" in result.stderr
