"""Text that a spreadsheet would run as a formula: neutralised in CSV files, and matched when read back."""

import csv
import json
from itertools import product

import numpy as np
import pandas as pd
import pytest

from isentropic.tables.map_files import escape_formula, unescape_formula

STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
NAMES = [
    "=1+1", "'=1+1", "''=1+1", "+cmd", "-x", "@sum", "\ttab", "\rreturn", "\nfeed", "＝full", "'tis", "'",
    "-5", "+5", "NA", " space", '"quoted"', "a,b", "two\rlines", "=a\r\nb", "007", "x", "-", "''",
]  # fmt: skip


def is_dangerous(cell):
    try:
        float(cell)
    except ValueError:
        return cell.startswith(STARTS)
    return cell.startswith(("\t", "\r", "\n"))


def cells_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file, delimiter="\t" if ".tsv" in path.name else ","))


@pytest.fixture
def table(tmp_path):
    """Names of rows and of columns, and classes, that are formulas; the same table with plain names."""
    X = np.random.default_rng(0).normal(size=(len(NAMES), 3)).round(3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame.insert(0, "=id", NAMES)
    frame["@class"] = ["=x", "'=x", "-1", "y"] * (len(NAMES) // 4)
    frame.to_parquet(tmp_path / "t.parquet")
    return tmp_path / "t.parquet"


OPTIONS = ("--index", "=id", "--target", "@class")


def embedded(run, table, out, *options):
    result = run("embed", table, "-m", "pca", "-o", out, *OPTIONS, *options)
    assert result.exit_code == 0, result.stderr
    return cells_of(out)


def test_escaping_has_an_exact_inverse():
    parts = (("", "'", "''", "'''"), (*STARTS, "x", "5", "'", ""), ("", "1", "1+1", "x", "1.5e3", "'"))
    every = list(map("".join, product(*parts)))
    written = [escape_formula(name) for name in every]
    assert [unescape_formula(name) for name in written] == every
    assert len(set(written)) == len(set(every))
    assert not any(map(is_dangerous, written))
    assert escape_formula("-5") == "-5"
    assert escape_formula(-5.0) == -5.0
    # what is written needs no second quote, and what was never escaped loses none
    assert unescape_formula("'tis") == "'tis"


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_embed_writes_no_formula_and_every_name_is_there(run, table, tmp_path, suffix):
    rows = embedded(run, table, tmp_path / f"map{suffix}")
    assert not any(is_dangerous(cell) for row in rows for cell in row)
    assert rows[0] == ["'=id", "pca0", "pca1", "'@class"]
    assert [unescape_formula(row[0]) for row in rows[1:]] == NAMES
    assert [row[3] for row in rows[1:5]] == ["'=x", "''=x", "-1", "y"]
    raw = embedded(run, table, tmp_path / f"raw{suffix}", "--raw-text")
    assert raw[0] == ["=id", "pca0", "pca1", "@class"]
    assert [row[0] for row in raw[1:]] == NAMES


@pytest.mark.parametrize("options", [(), ("--raw-text",)])
@pytest.mark.parametrize("suffix", [".csv", ".tsv.gz", ".parquet"])
def test_rows_are_matched_by_name_when_a_map_is_read_back(run, table, tmp_path, options, suffix):
    """The rows are shuffled in between, so that a name that is not matched shows."""
    plain, other = tmp_path / "map.parquet", tmp_path / f"other{suffix}"
    frame = pd.read_parquet(table)
    frame.sample(frac=1, random_state=0).to_parquet(tmp_path / "shuffled.parquet")
    for source, out in ((table, plain), (tmp_path / "shuffled.parquet", other)):
        assert run("embed", source, "-m", "pca", "-o", out, *OPTIONS, *options).exit_code == 0
    found = [run("quality", table, path, "--json", *OPTIONS) for path in (plain, other)]
    assert [one.exit_code for one in found] == [0, 0], found[1].stderr
    one, two = (json.loads(one.stdout)["quality"]["measures"] for one in found)
    assert one["trustworthiness(10)"]["value"] == pytest.approx(two["trustworthiness(10)"]["value"])
    out = tmp_path / "moved.csv"
    result = run("compare-maps", plain, other, table, "--out", out, *OPTIONS)
    assert result.exit_code == 0, result.stderr
    assert "at most 0%" in result.stdout
    rows = cells_of(out)
    assert [unescape_formula(row[0]) for row in rows[1:]] == NAMES
    assert not any(is_dangerous(cell) for row in rows for cell in row)


def test_quality_transform_and_update_write_none_either(run, table, tmp_path):
    model, made = tmp_path / "m.isentropic", tmp_path / "map.csv"
    assert (
        run(
            "embed", table, "-m", "isomap", "-p", "neighbors=knn:8", "-o", made, "--save", model, *OPTIONS
        ).exit_code
        == 0
    )
    new = pd.read_parquet(table).assign(**{"=id": [f"={i}" for i in range(len(NAMES))]})
    new[["a", "b", "c"]] += 0.01
    new.to_parquet(tmp_path / "new.parquet")
    for command in (
        ("quality", table, made, *OPTIONS),
        ("transform", model, tmp_path / "new.parquet"),
        ("update", model, tmp_path / "new.parquet"),
    ):
        for raw in ((), ("--raw-text",)):
            out = tmp_path / f"{command[0]}{len(raw)}.csv"
            result = run(*command, "--out", out, *raw)
            assert result.exit_code == 0, result.stderr
            assert any(is_dangerous(cell) for row in cells_of(out) for cell in row) == bool(raw)


@pytest.mark.parametrize("raw", [(), ("--raw-text",)])
def test_the_maps_of_a_report(run, table, tmp_path, raw):
    out = tmp_path / "maps.csv"
    result = run("report", table, "--methods", "pca", "--metric", "euclidean", "--maps", out, "-o",
                 tmp_path / "r.html", *OPTIONS, *raw)  # fmt: skip
    assert result.exit_code == 0, result.stderr
    rows = cells_of(out)
    assert [unescape_formula(row[0]) if not raw else row[0] for row in rows[1:]] == NAMES
    assert any(is_dangerous(cell) for row in rows for cell in row) == bool(raw)


@pytest.mark.parametrize("raw", [(), ("--raw-text",)])
def test_the_numbers_of_an_experiment(run, tmp_path, raw):
    folder = tmp_path / "=tables"
    folder.mkdir()
    X = np.random.default_rng(0).normal(size=(60, 3))
    frame = pd.DataFrame(X, columns=list("abc")).assign(target=np.where(X[:, 0] > 0, "x", "y"))
    for name in ("=cmd", "@b\rc"):
        frame.to_csv(folder / f"{name}.csv", index=False)
    result = run("experiment", folder, "--methods", "pca", "--classifiers", "KNN", "--repeats", 2,
                 "--jobs", 1, "-o", tmp_path / "page.html", "-q", *raw)  # fmt: skip
    assert result.exit_code == 0, result.stderr
    cells = {cell for row in cells_of(tmp_path / "page.csv") for cell in row}
    assert ("=cmd" in cells) == bool(raw)
    assert any(map(is_dangerous, cells)) == bool(raw)
