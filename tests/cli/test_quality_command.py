"""isentropic quality: the table, the document, the figure, and maps that do not fit their table."""

import json
import sys

import numpy as np
import pandas as pd
import pytest

import isentropic
from isentropic.quality import Quality, assess


@pytest.fixture
def flat_map(run, flats, tmp_path):
    """The flats embedded, with names and a target."""
    out = tmp_path / "map.csv"
    result = run("embed", flats, "-m", "pca", "-o", out, "--index", "flat", "--target", "quarter")
    assert result.exit_code == 0, result.stderr
    return out


OPTIONS = ("--index", "flat", "--target", "quarter")


def measures(result):
    """The printed table as ``{measure: value}``."""
    lines = result.stdout.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("measure"))
    rows = [line.split() for line in lines[first + 1 :]]
    return {row[0]: float(row[1].replace(",", "")) for row in rows[: rows.index([]) if [] in rows else None]}


def expected(flats, flat_map, k=10):
    table = isentropic.datasets.load(flats, "quarter", index="flat")
    Z = pd.read_csv(flat_map)[["pca0", "pca1"]].to_numpy()
    return assess(table.X, Z, table.y, n_neighbors=k)


# ---- what it prints ----------------------------------------------------------------------------


def test_the_table_holds_every_measure(run, flats, flat_map):
    result = run("quality", flats, flat_map, *OPTIONS)
    assert result.exit_code == 0, result.stderr
    quality = expected(flats, flat_map)
    found = measures(result)
    assert list(found) == list(quality.measures)
    for name, measure in quality.measures.items():
        assert found[name] == pytest.approx(measure.value, abs=0.6 if measure.value >= 1000 else 6e-5), name
    assert {"kendall_tau", "scaled_stress", "topological_product", "silhouette", "kappa"} <= set(found)
    assert "flats: 30 rows, 4 features, scaling standard\n" in result.stdout
    assert "map.csv: 2 coordinates\nexact: all 30 rows against all others" in result.stdout


def test_one_line_for_each_measure_in_a_pipe(run, flats, flat_map):
    result = run("quality", flats, flat_map, *OPTIONS)
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("kendall_tau")]
    assert line.split() == ["kendall_tau", line.split()[1], "-1", "to", "1", "higher"]
    assert "\x1b" not in result.stdout
    assert result.stderr == ""


def test_ties_are_told(run, flats, flat_map):
    assert "Tied distances: " in run("quality", flats, flat_map, *OPTIONS).stdout


def test_k_is_the_size_of_the_neighbourhoods(run, flats, flat_map):
    found = measures(run("quality", flats, flat_map, "--k", 4, *OPTIONS))
    assert "trustworthiness(4)" in found
    assert "trustworthiness(10)" not in found


def test_without_a_target_there_are_no_measures_of_classes(run, flats, flat_map):
    found = measures(run("quality", flats, flat_map, "--index", "flat", "--drop", "quarter"))
    assert "silhouette" not in found
    assert "kendall_tau" in found


def test_a_target_of_numbers_has_no_classes(run, tmp_path):
    out = tmp_path / "map.parquet"
    run("embed", "builtin:swiss-roll", "--samples", 40, "-m", "pca", "-o", out)
    result = run("quality", "builtin:swiss-roll", out, "--samples", 40)
    assert result.exit_code == 0, result.stderr
    assert "kappa" not in measures(result)


def test_json_is_the_whole_value(run, flats, flat_map):
    document = json.loads(run("quality", flats, flat_map, "--json", *OPTIONS).stdout)
    assert document["table"] == "flats"
    assert (document["rows"], document["features"], document["coordinates"]) == (30, 4, 2)
    assert document["warnings"] == []
    found = Quality.from_json(json.dumps(document["quality"]))
    assert found.to_json() == expected(flats, flat_map).to_json()


def test_quiet_says_nothing(run, flats, flat_map):
    result = run("quality", flats, flat_map, "--quiet", *OPTIONS)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")


def test_a_sample_has_intervals(run, flats, flat_map, monkeypatch):
    from isentropic.quality import sampling

    monkeypatch.setattr(sampling, "EXACT_ROWS", 20)
    monkeypatch.setattr(sampling, "FIRST_ROWS", 15)
    monkeypatch.setattr(sampling, "WIDTH", 1.0)
    result = run("quality", flats, flat_map, "--seed", 3, *OPTIONS)
    assert "estimated: 15 rows drawn at random" in result.stdout
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("trustworthiness(10)")]
    value, low, to, high = line.split()[1:5]
    assert float(low) < float(value) < float(high)
    assert to == "to"


# ---- the map beside its table ------------------------------------------------------------------


def same_measures(run, flats, flat_map, other, *options):
    one, two = run("quality", flats, flat_map, *OPTIONS), run("quality", flats, other, *(options or OPTIONS))
    assert two.exit_code == 0, two.stderr
    return measures(one) == measures(two)


def test_rows_are_matched_by_name(run, flats, flat_map, tmp_path):
    frame = pd.read_csv(flat_map)
    frame.sample(frac=1, random_state=0).to_csv(tmp_path / "mixed.csv", index=False)
    assert same_measures(run, flats, flat_map, tmp_path / "mixed.csv")
    # and it would matter: without their names the rows are taken as they come
    frame.sample(frac=1, random_state=0).drop(columns="flat").to_csv(tmp_path / "nameless.csv", index=False)
    assert not same_measures(run, flats, flat_map, tmp_path / "nameless.csv")


@pytest.mark.parametrize("name", ["map.csv.gz", "map.tsv", "map.tsv.gz", "map.parquet"])
def test_every_kind_of_file(run, flats, flat_map, tmp_path, name):
    run("embed", flats, "-m", "pca", "-o", tmp_path / name, *OPTIONS)
    assert same_measures(run, flats, flat_map, tmp_path / name)


def test_coordinates_may_have_any_name(run, flats, flat_map, tmp_path):
    frame = pd.read_csv(flat_map).rename(columns={"pca0": "across", "pca1": "up"})
    frame.to_csv(tmp_path / "named.csv", index=False)
    assert same_measures(run, flats, flat_map, tmp_path / "named.csv")
    frame.drop(columns="flat").to_csv(tmp_path / "bare.csv", index=False)
    assert same_measures(run, flats, flat_map, tmp_path / "bare.csv")


def test_a_target_of_numbers_is_no_coordinate(run, tmp_path):
    """Whether its name is numbered, as those of coordinates, or not."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=40), "b": rng.normal(size=40), "c": rng.normal(size=40)})
    for target in ("price", "price1"):
        frame[target] = rng.normal(size=40)
        frame.to_csv(tmp_path / "data.csv", index=False)
        run("embed", tmp_path / "data.csv", "-m", "pca", "-p", "n_components=1", "-o", tmp_path / "map.csv",
            "--target", target)  # fmt: skip
        result = run("quality", tmp_path / "data.csv", tmp_path / "map.csv", "--target", target)
        assert "map.csv: 1 coordinate\n" in result.stdout
        frame = frame.drop(columns=target)


def test_numbers_for_names_stand_for_the_order(run, flats, flat_map, tmp_path):
    frame = pd.read_csv(flat_map)
    frame["flat"] = range(30)
    frame.to_csv(tmp_path / "numbered.csv", index=False)
    assert same_measures(run, flats, flat_map, tmp_path / "numbered.csv")


def test_names_that_repeat_are_fine_in_the_same_order(run, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"name": ["a", "a", "b"] * 8, "x": rng.normal(size=24), "y": rng.normal(size=24)})
    table.to_csv(tmp_path / "data.csv", index=False)
    table.rename(columns={"x": "z0", "y": "z1"}).to_csv(tmp_path / "map.csv", index=False)
    table[::-1].rename(columns={"x": "z0", "y": "z1"}).to_csv(tmp_path / "reversed.csv", index=False)
    options = ("--index", "name", "--scaling", "none")
    result = run("quality", tmp_path / "data.csv", tmp_path / "map.csv", *options)
    assert measures(result)["trustworthiness(10)"] == 1
    result = run("quality", tmp_path / "data.csv", tmp_path / "reversed.csv", *options)
    assert result.exit_code == 2
    assert "names that repeat" in result.stderr


# ---- the figure --------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "start"), [("q.png", b"\x89PNG"), ("q.svg", b"<?xml"), ("q.pdf", b"%PDF")])
def test_the_figure_is_written(run, flats, flat_map, tmp_path, name, start):
    pytest.importorskip("matplotlib")
    result = run("quality", flats, flat_map, "--plot", tmp_path / name, *OPTIONS)
    assert result.exit_code == 0, result.stderr
    assert (tmp_path / name).read_bytes().startswith(start)
    assert result.stdout.endswith(f"wrote {tmp_path / name}\n")


def test_one_coordinate_is_drawn_too(run, flats, tmp_path):
    pytest.importorskip("matplotlib")
    run("embed", flats, "-m", "pca", "-p", "n_components=1", "-o", tmp_path / "map.csv", *OPTIONS)
    result = run("quality", flats, tmp_path / "map.csv", "--plot", tmp_path / "q.png", *OPTIONS)
    assert result.exit_code == 0, result.stderr


def test_the_figure_of_a_sample(run, flats, flat_map, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    from isentropic.quality import sampling

    monkeypatch.setattr(sampling, "EXACT_ROWS", 20)
    monkeypatch.setattr(sampling, "FIRST_ROWS", 15)
    result = run("quality", flats, flat_map, "--k", 3, "--plot", tmp_path / "q.png", *OPTIONS)
    assert result.exit_code == 0, result.stderr


# ---- what goes wrong ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "problem", "code"),
    [
        (lambda frame: frame[:-1], "EMBEDDING must be a map of the 30 rows of DATA, got '29 rows'", 2),
        (
            lambda frame: frame.assign(pca0=np.nan),
            "the coordinates in EMBEDDING must be finite everywhere",
            2,
        ),
        (lambda frame: frame.assign(flat="nobody"), "but has no row 'f00'", 2),
        (
            lambda frame: frame[["flat", "quarter"]],
            "must have columns of coordinates, got flat, quarter",
            1,
        ),
        (lambda frame: frame[:0], "bad must have at least one row", 2),
    ],
)
def test_a_map_that_does_not_fit(run, flats, flat_map, tmp_path, change, problem, code):
    change(pd.read_csv(flat_map)).to_csv(tmp_path / "bad.csv", index=False)
    result = run("quality", flats, tmp_path / "bad.csv", *OPTIONS)
    assert result.exit_code == code
    assert result.stderr.startswith("Error: ")
    assert problem in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "content", "problem", "code"),
    [
        ("map.txt", b"", "EMBEDDING must be a file ending in .csv", 2),
        ("map.csv", b"", "must hold a table, got an empty file", 1),
        ("map.csv", b"a,b\n1,2,3\n4", "must have as many fields in every line", 1),
        ("map.csv", b"\xff\xfe\x00", "must be UTF-8 text", 1),
        ("map.csv.gz", b"no gzip", "must be a whole gzip file", 1),
        ("map.parquet", b"no parquet", "must be a Parquet file", 1),
        ("map.csv", None, "No such file or directory", 1),
    ],
)
def test_a_file_that_is_no_map(run, flats, tmp_path, name, content, problem, code):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    result = run("quality", flats, tmp_path / name, *OPTIONS)
    assert result.exit_code == code
    assert problem in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("k", [0, 30, -2])
def test_k_out_of_range(run, flats, flat_map, k):
    result = run("quality", flats, flat_map, "--k", k, *OPTIONS)
    assert result.exit_code == 2
    assert f"--k must be from 1 to 29, the number of other rows, got {k}." in result.stderr


def test_few_rows_need_no_k(run, tmp_path):
    (tmp_path / "data.csv").write_text("a,b\n0,1\n2,3\n4,1\n5,5\n", encoding="utf-8")
    (tmp_path / "map.csv").write_text("row,z0\n0,1\n1,2\n2,4\n3,9\n", encoding="utf-8")
    result = run("quality", tmp_path / "data.csv", tmp_path / "map.csv")
    assert result.exit_code == 0, result.stderr
    assert "trustworthiness(1)" in result.stdout


@pytest.mark.parametrize("n", [1, 2])
def test_too_few_rows(run, tmp_path, n):
    rows = "".join(f"{i},{i}\n" for i in range(n))
    (tmp_path / "data.csv").write_text("a,b\n" + rows, encoding="utf-8")
    (tmp_path / "map.csv").write_text("row,z0\n" + rows, encoding="utf-8")
    result = run("quality", tmp_path / "data.csv", tmp_path / "map.csv")
    assert result.exit_code == 2
    assert "Traceback" not in result.stderr
    assert "bug" not in result.stderr


def test_a_map_of_one_point_is_told(run, flats, flat_map, tmp_path):
    pd.read_csv(flat_map).assign(pca0=1.0, pca1=2.0).to_csv(tmp_path / "point.csv", index=False)
    result = run("quality", flats, tmp_path / "point.csv", "--plot", tmp_path / "q.png", *OPTIONS)
    assert result.exit_code == 0, result.stderr
    assert "All rows of Z are equal" in result.stderr + result.stdout
    assert "Z must be rows at different distances, or kendall_tau" in result.stdout
    assert "kendall_tau" not in measures(result)
    assert measures(result)["normalized_stress"] == 1


def test_one_class_is_told(run, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(20, 3)), columns=["a", "b", "c"]).assign(kind="only")
    frame.to_csv(tmp_path / "data.csv", index=False)
    run("embed", tmp_path / "data.csv", "-m", "pca", "-o", tmp_path / "map.csv", "--target", "kind")
    result = run("quality", tmp_path / "data.csv", tmp_path / "map.csv", "--target", "kind", "--k", 3)
    assert result.exit_code == 0, result.stderr
    assert "a single class: silhouette and kappa are undefined" in result.stdout


@pytest.mark.parametrize(
    ("plot", "problem", "code"),
    [
        ("q.bmp", "--plot must be a file ending in .png, .svg, .pdf", 2),
        ("none/q.png", "there is no folder none", 1),
        ("map.png", "--plot must be another file than its sources", 2),
    ],
)
def test_the_figure_is_checked_before_the_work(run, flats, tmp_path, monkeypatch, plot, problem, code):
    monkeypatch.chdir(tmp_path)
    result = run("quality", flats, "map.png", "--plot", plot)
    assert result.exit_code == code
    assert problem in result.stderr


def test_a_missing_extra_is_one_line(run, flats, flat_map, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = run("quality", flats, flat_map, "--plot", tmp_path / "q.png", *OPTIONS)
    assert result.exit_code == 1
    assert "pip install 'isentropic[plot]'" in result.stderr


def test_ctrl_c_ends_with_130(run, flats, flat_map, tmp_path, monkeypatch):
    def interrupt(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("isentropic.quality.assess", interrupt)
    result = run("quality", flats, flat_map, "--plot", tmp_path / "q.png", *OPTIONS)
    assert result.exit_code == 130
    assert not (tmp_path / "q.png").exists()


def test_names_that_count_the_rows_are_names_in_any_order(run, tmp_path):
    """A map by its numbered rows, and the same table in another order: matched by name, not by place."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, 3)), columns=list("abc")).assign(id=range(40))
    data, shuffled, out = tmp_path / "data.csv", tmp_path / "shuffled.csv", tmp_path / "map.csv"
    frame.to_csv(data, index=False)
    frame.sample(frac=1.0, random_state=1).to_csv(shuffled, index=False)
    assert run("embed", data, "-m", "pca", "-o", out, "-q").exit_code == 0
    documents = [json.loads(run("quality", source, out, "--json").stdout) for source in (data, shuffled)]
    first, second = (Quality.from_json(json.dumps(one["quality"])).at(5) for one in documents)
    assert first["trustworthiness"].value == pytest.approx(second["trustworthiness"].value)
