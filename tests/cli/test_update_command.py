"""isentropic update: rows appended to a saved map, what is told of the old ones, and what is refused."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import isentropic
from isentropic import Isomap
from isentropic._core.models.saving import load_with_extra
from isentropic.quality import aligned_distance

METHODS = {
    "isomap": ("isomap", "-p", "n_neighbors=12"),
    "landmark-isomap": ("landmark-isomap", "-p", "n_neighbors=12", "-p", "n_landmarks=10"),
    "t-sne": ("t-sne", "-p", "perplexity=5", "-p", "max_iter=200"),
    "sdd": ("sdd", "-p", "degree=2"),
    "umap": ("umap", "-p", "n_neighbors=12", "-p", "n_epochs=60"),
}


@pytest.fixture
def more(flats, tmp_path):
    """Ten rows that the first table has not."""
    lines = flats.read_text(encoding="utf-8").splitlines()
    new = [lines[0], *(line.replace("f", "g", 1).replace(",3", ",4") for line in lines[5:15])]
    (tmp_path / "more.csv").write_text("\n".join(new) + "\n", encoding="utf-8")
    return tmp_path / "more.csv"


@pytest.fixture
def model(run, flats, tmp_path):
    """Embeds the flats by a method; gives the model file."""

    def embedded(name, *options):
        given = options or ("--index", "flat", "--target", "quarter")
        path = tmp_path / f"{name}.isentropic"
        result = run("embed", flats, "-m", *METHODS.get(name, (name,)), "-o", tmp_path / "map.csv", *given,
                     "--save", path)  # fmt: skip
        assert result.exit_code == 0, result.stderr
        return path

    return embedded


def table_of(path, **options):
    return isentropic.datasets.load(path, "quarter", index="flat", **options)


@pytest.mark.parametrize("name", METHODS)
def test_new_rows_come_after_the_old_ones(run, model, more, tmp_path, name):
    path, out = model(name), tmp_path / "grown.csv"
    result = run("update", path, more, "-o", out, "--save", path, "--json")
    assert result.exit_code == 0, result.stderr
    before, after = pd.read_csv(tmp_path / "map.csv", index_col=0), pd.read_csv(out, index_col=0)
    assert list(after.index) == [*before.index, *pd.read_csv(more).flat]
    assert list(after.columns) == list(before.columns)
    assert list(after.quarter[:30]) == list(before.quarter)
    assert list(after.quarter[30:]) == list(pd.read_csv(more).quarter)
    told = json.loads(result.stdout)
    moved = aligned_distance(before.iloc[:, :2], after.iloc[:, :2])
    assert_allclose(
        [told["moved_median"], told["moved_worst"]], [moved.median, moved.worst], rtol=1e-6, atol=1e-9
    )
    assert (told["rows_before"], told["rows"], told["save"]) == (30, 10, str(path))
    assert told["update"] == ("exact" if "isomap" in name else "refined")
    grown = isentropic.load(path)
    assert_array_equal(grown.embedding_, after.iloc[:, :2].to_numpy())
    again = run("transform", path, more, "-o", tmp_path / "placed.csv")
    assert again.exit_code == 0, again.stderr
    assert_allclose(pd.read_csv(tmp_path / "placed.csv").iloc[:, 1:3], after.iloc[30:, :2])


def test_isomap_is_that_of_all_rows(run, model, flats, more, tmp_path):
    path = model("isomap")
    assert run("update", path, more, "-o", tmp_path / "grown.csv").exit_code == 0
    first = table_of(flats)
    X = np.concatenate([first.X, isentropic.datasets.load(more, preparation=first.preparation).X])
    found = pd.read_csv(tmp_path / "grown.csv").iloc[:, 1:3].to_numpy()
    assert aligned_distance(Isomap(12).fit(X), found).worst < 1e-6
    assert len(isentropic.load(path).embedding_) == 30  # without --save the model stays


def test_with_no_steps_no_old_row_moves(run, model, more, tmp_path):
    path = model("t-sne")
    result = run("update", path, more, "-o", tmp_path / "grown.csv", "--refine", "0")
    assert "new rows placed, old ones as they were" in result.stdout
    assert "old rows moved by 0% of the map's width in the median, 0% at most" in result.stdout
    before, after = (pd.read_csv(tmp_path / name).iloc[:, 1:3] for name in ("map.csv", "grown.csv"))
    assert_array_equal(after[:30], before)
    assert run("transform", path, more, "-o", tmp_path / "placed.csv").exit_code == 0
    assert_array_equal(after[30:], pd.read_csv(tmp_path / "placed.csv").iloc[:, 1:3])


def test_the_summary(run, model, more, tmp_path):
    path, out = model("sdd"), tmp_path / "grown.csv"
    lines = run("update", path, more, "-o", out).stdout.splitlines()
    assert lines[0] == "more: 10 new rows, 40 in the map"
    assert lines[1].startswith("sdd: new rows placed, then ")
    assert lines[2].startswith("old rows moved by ")
    assert lines[3] == f"wrote {out}"
    assert run("update", path, more, "-o", out, "-q").stdout == ""


def test_an_update_follows_another(run, model, more, tmp_path):
    path, out = model("isomap"), tmp_path / "grown.csv"
    text = more.read_text(encoding="utf-8")
    for letter in "gh":
        more.write_text(text.replace("\ng", f"\n{letter}"), encoding="utf-8")
        assert run("update", path, more, "-o", out, "--save", path).exit_code == 0
    assert len(pd.read_csv(out)) == 50
    assert "10 that it has, such as 'h04'" in run("update", path, more, "-o", out).stderr


def test_rows_without_names_are_counted_on(run, model, more, tmp_path):
    path, out = model("sdd", "--drop", "flat"), tmp_path / "grown.csv"
    for total in (40, 50):
        assert run("update", path, more, "-o", out, "--save", path).exit_code == 0
        assert list(pd.read_csv(out).row) == list(range(total))
    assert "target" not in pd.read_csv(out).columns


def test_new_rows_need_no_class(run, model, more, tmp_path):
    path, out = model("sdd"), tmp_path / "grown.csv"
    pd.read_csv(more).drop(columns="quarter").to_csv(more, index=False)
    assert run("update", path, more, "-o", out).exit_code == 0
    assert pd.read_csv(out).quarter.isna().tolist() == [False] * 30 + [True] * 10


def refused(run, path, source, out, code=2, *options):
    held = path.read_bytes()
    result = run("update", path, source, "-o", out, "--save", path, *options)
    assert result.exit_code == code
    assert not out.exists()
    assert path.read_bytes() == held
    assert len(result.stderr.splitlines()) == 1
    return result.stderr


def test_names_that_come_twice_are_refused(run, model, flats, more, tmp_path):
    path, out = model("sdd"), tmp_path / "grown.csv"
    told = refused(run, path, flats, out)
    assert "rows whose names the map does not have yet, got \"30 that it has, such as 'f00'\"" in told
    lines = more.read_text(encoding="utf-8").splitlines()
    more.write_text("\n".join([*lines, lines[-1]]) + "\n", encoding="utf-8")
    told = refused(run, path, more, out)
    assert "the names of the rows in SOURCE must be different for every row, got \"'g13' 2 times\"" in told


def test_other_columns_are_refused(run, model, more, tmp_path):
    path, out = model("isomap"), tmp_path / "grown.csv"
    pd.read_csv(more).drop(columns=["area", "heating"]).to_csv(more, index=False)
    assert "'area', 'heating'" in refused(run, path, more, out)


def test_a_method_that_cannot_grow_names_those_that_can(run, model, more, tmp_path):
    told = refused(run, model("pca"), more, tmp_path / "grown.csv")
    assert "pca cannot take more rows. 'isentropic transform' places them" in told
    for name in METHODS:
        assert name in told


def test_bad_options_and_files_are_refused(run, model, more, tmp_path):
    path, out = model("sdd"), tmp_path / "grown.csv"
    assert "--refine must be a number of steps" in refused(run, path, more, out, 2, "--refine", "-1")
    estimator, extra = load_with_extra(path)
    for rows in ([], {"names": None}, {"names": ["a"], "labels": None}, {"names": None, "labels": [[]] * 30}):
        isentropic.save(estimator, path, extra={**extra, "rows": rows})
        assert "its rows must be names and labels of 30 rows" in refused(run, path, more, out, 1)
    del extra["rows"]
    isentropic.save(estimator, path, extra=extra)
    assert "must know the names of its rows, but was saved without them" in refused(run, path, more, out)


def test_missing_values_have_an_option(run, model, more, tmp_path):
    frame = pd.read_csv(more)
    frame.loc[0, "rooms"] = np.nan
    frame.to_csv(more, index=False)
    path, out = model("isomap"), tmp_path / "all.csv"
    text = refused(run, path, more, out)
    assert "--missing mean" in text
    assert run("update", path, more, "-o", out, "--missing", "mean").exit_code == 0


def test_rows_without_names_do_not_meet_whole_numbers_that_are_names(run, flats, more, tmp_path):
    """The numbers of rows without a name would be names that the map has already."""
    frame = pd.read_csv(flats)
    frame.assign(flat=range(len(frame))).to_csv(flats, index=False)
    path = tmp_path / "numbered.isentropic"
    done = run("embed", flats, "-m", "isomap", "--index", "flat", "--target", "quarter",
               "-o", tmp_path / "map.csv", "--save", path)  # fmt: skip
    assert done.exit_code == 0, done.stderr
    pd.read_csv(more).drop(columns="flat").to_csv(more, index=False)
    assert "index must be a column of" in refused(run, path, more, tmp_path / "all.csv")


@pytest.mark.parametrize(
    "stage",
    [
        "methods.meta.appended_rows.aligned_distance",
        "cli.update.write_map",
        "_core.models.saving._write_checksum",
    ],
)
def test_an_interrupt_leaves_the_saved_model_as_it_was(run, model, more, tmp_path, monkeypatch, stage):
    path = model("isomap")
    held = path.read_bytes()

    def interrupt(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(f"isentropic.{stage}", interrupt)
    result = run("update", path, more, "-o", tmp_path / "grown.csv", "--save", path)
    assert (result.exit_code, result.stderr) == (130, "Interrupted. No file is half-written.\n")
    assert path.read_bytes() == held
    assert not [entry for entry in tmp_path.iterdir() if entry.suffix == ".tmp"]
