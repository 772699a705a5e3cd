"""isentropic embed: what it writes and what it says."""

import errno
import json
import logging
import os
import sys
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

import isentropic
from isentropic.cli.shared.options import parse_bytes


def files_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_rows_coordinates_and_target_in_this_order(run, flats, tmp_path):
    out = tmp_path / "map.csv"
    result = run(
        "embed",
        flats,
        "-m",
        "isomap",
        "-p",
        "n_neighbors=6",
        "-o",
        out,
        "--index",
        "flat",
        "--target",
        "quarter",
    )
    assert result.exit_code == 0, result.stderr
    frame = pd.read_csv(out)
    assert list(frame.columns) == ["flat", "isomap0", "isomap1", "quarter"]
    assert list(frame.flat) == [f"f{i:02}" for i in range(30)]
    assert list(frame.quarter[:3]) == ["north", "south", "west"]


def test_the_coordinates_are_those_of_the_library_to_the_bit(run, flats, tmp_path):
    run(
        "embed",
        flats,
        "-m",
        "pca",
        "-p",
        "n_components=3",
        "-o",
        tmp_path / "map.csv",
        "--drop",
        "flat",
        "--drop",
        "quarter",
    )
    table = isentropic.datasets.load(flats, drop=["flat", "quarter"])
    Z = isentropic.make("pca", n_components=3).fit_transform(table.X)
    header, *rows = (tmp_path / "map.csv").read_text(encoding="utf-8").splitlines()
    assert header == "row,pca0,pca1,pca2"
    assert_array_equal([[float(cell) for cell in row.split(",")] for row in rows], np.c_[np.arange(30), Z])


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("map.csv", pd.read_csv),
        ("map.csv.gz", pd.read_csv),
        ("map.tsv", lambda path: pd.read_csv(path, sep="\t")),
        ("map.TSV.gz", lambda path: pd.read_csv(path, sep="\t", compression="gzip")),
        ("map.parquet", pd.read_parquet),
    ],
)
def test_every_kind_of_file(run, tmp_path, name, read):
    assert run("embed", "builtin:iris", "-m", "pca", "-o", tmp_path / name).exit_code == 0
    frame = read(tmp_path / name)
    assert list(frame.columns) == ["row", "pca0", "pca1", "target"]
    assert len(frame) == 150
    assert frame.target[149] == "virginica"


def test_a_number_to_colour_by_stays_a_number(run, tmp_path):
    run("embed", "builtin:swiss-roll", "--samples", 60, "-m", "pca", "-o", tmp_path / "map.parquet")
    frame = pd.read_parquet(tmp_path / "map.parquet")
    assert len(frame) == 60
    assert frame.position.dtype == np.float64


def test_columns_of_an_earlier_map_do_not_hide_the_new_ones(run, tmp_path):
    first, second = tmp_path / "1.csv", tmp_path / "2.csv"
    run("embed", "builtin:iris", "-m", "pca", "-o", first)
    result = run("embed", first, "-m", "pca", "-p", "n_components=1", "-o", second,
                 "--index", "row", "--target", "pca0", "--drop", "target")  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert list(pd.read_csv(second).columns) == ["row", "pca0", "pca0_"]


def test_the_summary_is_a_few_calm_lines(run, tmp_path):
    out = tmp_path / "map.csv"
    result = run("embed", "builtin:iris", "-m", "pca", "-o", out, "-p", "whiten=true")
    lines = result.stdout.splitlines()
    assert lines[0] == "iris: 150 rows, 4 features, scaling standard"
    assert lines[1].startswith("pca (whiten=True): 2 coordinates in ")
    assert lines[-1] == f"wrote {out}"
    assert len(lines) <= 5
    assert result.stderr == ""


def test_quiet_says_nothing(run, tmp_path):
    result = run("embed", "builtin:iris", "-m", "pca", "-o", tmp_path / "map.csv", "--quiet")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")


def test_json_for_programs(run, tmp_path):
    out, save, plot = (tmp_path / name for name in ("map.csv", "model.isentropic", "map.png"))
    result = run("embed", "builtin:iris", "-m", "isomap", "-p", "neighbors=knn:9", "-p", "n_neighbors=3",
                 "-o", out, "--save", save, "--plot", plot, "--json")  # fmt: skip
    summary = json.loads(result.stdout)
    assert summary["method"] == "isomap"
    assert summary["parameters"]["n_neighbors"] == 3
    assert summary["parameters"]["neighbors"].startswith("Knn(k=9")
    assert (summary["table"], summary["rows"], summary["features"], summary["coordinates"]) == (
        "iris",
        150,
        4,
        2,
    )
    assert summary["seconds"] >= 0
    assert [summary[name] for name in ("out", "save", "plot")] == [str(out), str(save), str(plot)]
    assert len(summary["eigenvalues"]) == 2
    assert 0 <= summary["residual_variance"] <= 1
    assert isinstance(summary["warnings"], list)


def test_presets_of_the_registry_apply(run, tmp_path):
    result = run("embed", "builtin:iris", "-m", "landmark-isomap", "-p", "n_landmarks=20",
                 "-o", tmp_path / "map.csv", "--save", tmp_path / "model.isentropic")  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert len(isentropic.load(tmp_path / "model.isentropic").landmarks_) == 20


def test_seed_and_jobs_reach_the_method(run, stub_methods, tmp_path, monkeypatch):
    import stubs

    seen = []
    monkeypatch.setattr(stubs.Stub, "fit", lambda self, X, y=None: seen.append(self.get_params()))
    run("embed", "builtin:iris", "-m", "stub", "-o", tmp_path / "map.csv", "--seed", 7, "--jobs", 2)
    assert (seen[0]["random_state"], seen[0]["n_jobs"]) == (7, 2)


def test_the_options_of_the_table_reach_it(run, tmp_path):
    (tmp_path / "a.csv").write_text("x,y,c\n1,2,p\n,3,q\n4,9,p\n5,1,q\n", encoding="utf-8")
    command = ("embed", tmp_path / "a.csv", "-m", "pca", "-o", tmp_path / "map.csv", "--json")
    summary = json.loads(
        run(*command, "--missing", "drop", "--nominal", "coded", "--scaling", "minmax").stdout
    )
    assert (summary["rows"], summary["features"], summary["scaling"]) == (3, 3, "minmax")


@pytest.mark.parametrize(("name", "start"), [("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("a.pdf", b"%PDF")])
def test_plot(run, tmp_path, name, start):
    result = run("embed", "builtin:iris", "-m", "pca", "-o", tmp_path / "map.csv", "--plot", tmp_path / name)
    assert result.exit_code == 0, result.stderr
    assert (tmp_path / name).read_bytes().startswith(start)


# ---- warnings ----------------------------------------------------------------------------------


def test_our_warnings_are_one_line_each_and_others_are_not_shown(run, stub_methods, tmp_path):
    result = run(
        "embed", "builtin:iris", "-m", "stub", "-p", "does=warn", "-o", tmp_path / "map.csv", "--json"
    )
    assert result.stderr == "Warning: The map is doubtful. Look twice.\n"
    assert json.loads(result.stdout)["warnings"] == ["The map is doubtful. Look twice."]


def test_debug_shows_the_warnings_of_libraries_too(run, stub_methods, tmp_path):
    result = run(
        "--debug", "embed", "builtin:iris", "-m", "stub", "-p", "does=warn", "-o", tmp_path / "map.csv"
    )
    assert "Warning: RuntimeWarning: noise from a library" in result.stderr


def test_advice_is_given_in_options(run, stub_methods, tmp_path):
    result = run("embed", "builtin:iris", "-m", "stub", "-p", "does=advise", "-o", tmp_path / "map.csv")
    assert result.stderr == "Warning: Column 'a' is odd. Leave it out with --drop a.\n"


# ---- what goes wrong ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["-m", "isomup"], "--method must be one of"),
        (["-m", "isomup"], "Did you mean 'isomap'"),
        (
            ["-m", "pca", "-p", "n_component=3"],
            "pca has no parameter 'n_component'. Did you mean 'n_components'",
        ),
        (["-m", "pca", "-p", "n_components=three"], "n_components must be"),
        (["-m", "pca", "-p", "n_components=9"], "n_components must be at most"),
        (["-m", "pca", "-p", "whiten"], "-p must be key=value"),
        (["-m", "isomap", "-p", "neighbors=raduis:0.5"], "Did you mean 'radius'"),
        (["-m", "pca", "--target", "spezies"], "target must be a column of iris, got 'spezies'"),
        (["-m", "pca", "--drop", "spezies"], "drop must be a column of iris"),
        (["-m", "pca", "--scaling", "standart"], "Did you mean 'standard'"),
        (["-m", "pca", "--nominal", "x"], "nominal must be one of"),
        (["-m", "pca", "--missing", "x"], "missing must be one of"),
        (["-m", "labelled", "--drop", "target"], "--target must be given, because labelled learns from it"),
        (["-m", "stub", "-p", "does=refuse"], "stub refused the table: Found array with 1 sample"),
        (["-m", "pca", "--seed", "x"], "Invalid value for"),
        ([], "Missing option"),
    ],
)
def test_usage_errors(run, stub_methods, tmp_path, arguments, problem):
    result = run("embed", "builtin:iris", "-o", tmp_path / "map.csv", *arguments)
    assert result.exit_code == 2
    assert problem in result.stderr
    assert "Traceback" not in result.stderr
    assert files_in(tmp_path) == []


@pytest.mark.parametrize(
    ("does", "problem"),
    [
        ("exceed", "All distances needs"),
        ("swell", "The work does not fit into memory."),
        ("diverge", "stub refused the table: Eigenvalues did not converge"),
        ("crash", "KeyError: 'some inner name'. This is a bug. Please report it"),
    ],
)
def test_failures(run, stub_methods, tmp_path, does, problem):
    result = run("embed", "builtin:iris", "-m", "stub", "-p", f"does={does}", "-o", tmp_path / "map.csv")
    assert result.exit_code == 1
    assert problem in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert files_in(tmp_path) == []


def test_the_memory_budget_can_be_set(run, tmp_path):
    command = ("embed", "builtin:iris", "-m", "isomap", "-o", tmp_path / "map.csv")
    result = run(*command, "--memory", "10K")
    assert result.exit_code == 1
    assert result.stderr.endswith("Or raise the budget: --memory SIZE.\n")
    assert run(*command, "--memory", "1").exit_code == 0
    assert run(*command, "--memory", "500M").exit_code == 0


@pytest.mark.parametrize("size", ["-1", "0", "0G", "much", "4X", "4 G B", "nan", "inf", "", "9" * 400])
def test_a_memory_budget_is_a_size(run, tmp_path, size):
    result = run("embed", "builtin:iris", "-m", "pca", "-o", tmp_path / "map.csv", "--memory", size)
    assert result.exit_code == 2
    assert "--memory must be a size above 0, as 4G, 4GiB or 500M, got" in result.stderr
    assert result.stderr.endswith("A plain number is GiB.\n")
    assert files_in(tmp_path) == []


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4", 4 * 2**30), ("4G", 4 * 2**30), ("4GiB", 4 * 2**30), ("4gib", 4 * 2**30), ("4 GB", 4 * 10**9),
        ("500M", 500 * 2**20), (".5T", 2**39), ("1.5k", 1536),
    ],
)  # fmt: skip
def test_sizes_in_words(text, size):
    assert parse_bytes("--memory", text) == size


def test_debug_shows_the_traceback(run, stub_methods, tmp_path):
    command = ("embed", "builtin:iris", "-m", "stub", "-p", "does=crash", "-o", tmp_path / "map.csv")
    for result in (run("--debug", *command), run(*command, env={"ISENTROPIC_DEBUG": "1"})):
        assert result.exit_code == 1
        assert "Traceback (most recent call last)" in result.stderr
        assert "in crash" in result.stderr
    assert logging.getLogger("isentropic").level == logging.DEBUG
    assert "Traceback" not in run(*command).stderr
    assert logging.getLogger("isentropic").level == logging.NOTSET


TABLES = {
    "infinite.csv": "x,y\n1,2\ninf,4\n5,6\n",
    "one_row.csv": "x,y\n1,2\n",
    "no_rows.csv": "x,y\n",
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_that_cannot_be_embedded(run, tmp_path, name):
    (tmp_path / name).write_text(TABLES[name], encoding="utf-8")
    result = run("embed", tmp_path / name, "-m", "pca", "-o", tmp_path / "map.csv")
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1].startswith("Error: ")
    assert "Traceback" not in result.stderr
    assert files_in(tmp_path) == [name]


def test_a_missing_value_names_the_option_that_helps(run, tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n,4\n5,6\n", encoding="utf-8")
    command = ("embed", tmp_path / "a.csv", "-m", "pca", "-o", tmp_path / "map.csv")
    filled = run(*command)
    assert filled.exit_code == 0
    assert "1 missing value: the median takes their place" in filled.stderr
    assert "--missing drop" in filled.stderr
    result = run(*command, "--metric", "euclidean")
    assert result.exit_code == 2
    assert "--missing drop" in result.stderr
    assert "or --missing keep and the method probabilistic-pca" in result.stderr


def test_rows_with_holes_are_mapped_and_placed_again(run, tmp_path):
    table = np.round(np.random.default_rng(0).normal(size=(30, 4)), 3).astype(str)
    table[::4, 1] = ""
    lines = [",".join(row) for row in (["a", "b", "c", "d"], *table.tolist())]
    (tmp_path / "a.csv").write_text("\n".join(lines), encoding="utf-8")
    result = run("embed", tmp_path / "a.csv", "-m", "probabilistic-pca", "--missing", "keep",
                 "-o", tmp_path / "map.csv", "--save", tmp_path / "model.isentropic")  # fmt: skip
    assert result.exit_code == 0, result.stderr
    result = run("transform", tmp_path / "model.isentropic", tmp_path / "a.csv", "-o", tmp_path / "again.csv")
    assert result.exit_code == 0, result.stderr
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "map.csv").read_bytes()
    assert len(pd.read_csv(tmp_path / "map.csv").dropna()) == 30


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            ["embed", "-m", "pca", "-o"],
            "--missing must be raise, drop, median, ppca or mean for pca, got 'keep'. probabilistic",
        ),
        (
            ["quality"],
            "--missing must be raise, drop, median, ppca or mean, since rows with holes have no neighbours",
        ),
        (
            ["report", "--metric", "euclidean", "-o"],
            "--missing must be raise, drop, median, ppca or mean, since rows with holes have no neighbours",
        ),
    ],
)
def test_other_methods_and_comparisons_need_complete_rows(run, tmp_path, command, said):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n,4\n5,6\n", encoding="utf-8")
    result = run(command[0], tmp_path / "a.csv", *command[1:], tmp_path / "out.csv", "--missing", "keep")
    assert result.exit_code == 2
    assert said in result.stderr


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.csv", b""),
        ("binary.csv", bytes(range(256)) * 20),
        ("broken.parquet", b"PAR1 not really"),
        (None, None),
    ],
)
def test_files_that_cannot_be_read(run, tmp_path, name, content):
    if name is not None:
        (tmp_path / name).write_bytes(content)
    result = run("embed", tmp_path / (name or "none.csv"), "-m", "pca", "-o", tmp_path / "map.csv")
    assert result.exit_code in (1, 2)
    assert result.stderr.startswith("Error: ")
    assert "This is a bug" not in result.stderr
    assert not (tmp_path / "map.csv").exists()


def test_a_source_that_is_not_there_is_a_failure(run, tmp_path):
    assert run("embed", tmp_path / "none.csv", "-m", "pca", "-o", tmp_path / "map.csv").exit_code == 1


# ---- files that cannot be written --------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "problem", "code"),
    [
        (
            ["-o", "map.txt"],
            "ending in .csv, .csv.gz, .tsv, .tsv.gz, .parquet, .feather, .h5ad, got 'map.txt'",
            2,
        ),
        (["-o", "map.csv", "--plot", "map.bmp"], "--plot must be a file ending in .png", 2),
        (["-o", "map.csv", "--save", "./map.csv"], "--save must be another file than --out", 2),
        (["-o", "none/map.csv"], "there is no folder none. Choose a folder", 1),
        (["-o", "file/map.csv"], "cannot be written: not a directory", 1),
        (["-o", "folder.csv"], "folder.csv must be a file, got a folder", 1),
        (["-o", "map.csv", "--save", "none/model.isentropic"], "none/model.isentropic cannot be written", 1),
    ],
)
def test_outputs_are_checked_before_the_work(
    run, stub_methods, tmp_path, monkeypatch, arguments, problem, code
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    (tmp_path / "folder.csv").mkdir()
    result = run("embed", "builtin:iris", "-m", "stub", "-p", "does=crash", *arguments)
    assert result.exit_code == code
    assert problem in result.stderr
    assert files_in(tmp_path) == ["file", "folder.csv"]


def test_the_source_is_not_overwritten(run, flats):
    before = flats.read_bytes()
    result = run("embed", flats, "-m", "pca", "-o", flats)
    assert result.exit_code == 2
    assert "another file than its sources" in result.stderr
    assert flats.read_bytes() == before


@pytest.mark.parametrize(
    ("option", "name"), [("-o", "map.csv"), ("--save", "model.isentropic"), ("--plot", "map.png")]
)
def test_a_full_disk_leaves_the_old_file(run, tmp_path, monkeypatch, option, name):
    (tmp_path / name).write_bytes(b"old")
    replace = os.replace

    def full(source, target):
        if str(target).endswith(name):
            raise OSError(errno.ENOSPC, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", full)
    others = [] if option == "-o" else ["-o", tmp_path / "other.csv"]
    result = run("embed", "builtin:iris", "-m", "pca", option, tmp_path / name, *others)
    assert result.exit_code == 1
    assert f"{name} cannot be written: no space left on device." in result.stderr
    assert (tmp_path / name).read_bytes() == b"old"
    assert [file for file in files_in(tmp_path) if file.startswith(".")] == []


def test_ctrl_c_ends_with_130_and_no_file(run, stub_methods, tmp_path):
    result = run("embed", "builtin:iris", "-m", "stub", "-p", "does=interrupt", "-o", tmp_path / "map.csv")
    assert result.exit_code == 130
    assert result.stderr == "Interrupted. No file is half-written.\n"
    assert files_in(tmp_path) == []


@pytest.mark.parametrize(
    ("module", "arguments", "extra"),
    [
        ("matplotlib", ["-o", "map.csv", "--plot", "map.png"], "plot"),
        ("pyarrow", ["-o", "map.parquet"], "parquet"),
    ],
)
def test_a_missing_extra_is_one_line(run, tmp_path, monkeypatch, module, arguments, extra):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, module, None)
    result = run("embed", "builtin:iris", "-m", "pca", *arguments)
    assert result.exit_code == 1
    assert f"pip install 'isentropic[{extra}]'" in result.stderr
    assert files_in(tmp_path) == []


def test_umap_does_not_see_the_target(run, flats, tmp_path):
    """It would draw the classes apart; supervised-umap is the method that is told to."""
    maps = []
    for name, options in (("told", ["--target", "quarter"]), ("alone", ["--drop", "quarter"])):
        out = tmp_path / f"{name}.csv"
        run("embed", flats, "-m", "umap", "-p", "n_epochs=5", "-o", out, "--drop", "flat", *options)
        maps.append(pd.read_csv(out)[["umap0", "umap1"]].to_numpy())
    assert_array_equal(*maps)


@pytest.mark.parametrize("name", ["a\x01b", "$x$", "<&>", "a\ufffeb"], ids=ascii)
def test_a_saved_figure_is_well_formed_whatever_a_table_and_its_classes_are_called(run, tmp_path, name):
    pytest.importorskip("matplotlib")
    source, plot = tmp_path / f"{name}.jsonl", tmp_path / "map.svg"
    records = ({"a": i * 7 % 5, "b": i * i % 7, "kind": [name, "other"][i % 2]} for i in range(12))
    source.write_text("\n".join(map(json.dumps, records)))
    result = run("embed", source, "-m", "pca", "-o", tmp_path / "map.csv", "--target", "kind", "--plot", plot)
    assert result.exit_code == 0, result.stderr
    assert ElementTree.parse(plot).getroot().tag.endswith("svg")
