"""isentropic report: the verdict, the page, the folder, and what it refuses."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from stubs import PAGE, with_stubs

import isentropic.report
from isentropic import registry
from isentropic.comparison import PRESETS, Verdict

STUBS = Path(__file__).with_name("stubs.py")


@pytest.fixture
def pages(monkeypatch):
    """A page that holds its verdict; the arguments of each call."""
    calls = []

    def page(table, runs, verdict, page_data, facts, *, color=None, copies=None, comparing=None):
        calls.append({"table": table, "runs": runs, "verdict": verdict, "facts": facts, "color": color})
        return f"{PAGE}{verdict.headline}"

    monkeypatch.setattr(isentropic.report, "page", page, raising=False)
    return calls


@pytest.fixture
def report(run, pages, tmp_path, monkeypatch):
    """Run the command in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments, **options):
        return run("report", *arguments, **options)

    return invoke


FLATS = ("--index", "flat", "--methods", "pca,isomap", "--preset", "quick")


# ---- what it says and writes -------------------------------------------------------------------


def test_the_verdict_and_the_page(report, pages, flats, tmp_path):
    out = tmp_path / "flats.html"
    result = report(flats, "--target", "quarter", "--out", out, *FLATS)
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    (call,) = pages
    assert lines[:-2] == list(call["verdict"].lines)
    assert lines[0].startswith(("Use ", "No map of this table", "No flat map"))
    assert lines[-2].startswith("Compared 2 methods in ")
    assert lines[-2].endswith("(the methods asked for, as they come, as by the preset quick).")
    assert lines[-1] == f"wrote {out}"
    began, *done, page = result.stderr.splitlines()  # what is piped has a line for each method
    assert (began, page) == ("comparing 2 methods: pca, isomap", "writing the page")
    for line, (name, place) in zip(done, [("pca", "1 of 2"), ("isomap", "2 of 2")], strict=True):
        assert re.fullmatch(rf"{name}: done in [0-9.]+ m?s \({place}\)", line)
    assert isinstance(call["verdict"], Verdict)
    assert [run.method for run in call["runs"]] == ["pca", "isomap"]
    assert out.read_text(encoding="utf-8") == f"{PAGE}{call['verdict'].headline}"


def test_the_page_itself(report, tmp_path, monkeypatch):
    """Nothing stands in for anything here: from the table to the file."""
    monkeypatch.undo()
    out = tmp_path / "iris.html"
    result = report("builtin:iris", "--methods", "pca,classical-mds", "--preset", "quick", "--out", out)
    assert result.exit_code == 0, result.stderr
    text = out.read_text(encoding="utf-8")
    assert text.lower().startswith("<!doctype html>")
    assert "classical-mds" in text


def test_the_same_command_gives_the_same_bytes_but_for_what_is_measured(report, flats, tmp_path, monkeypatch):
    """Times, memory and the date are marked as measured; nothing else may differ."""
    monkeypatch.undo()
    pages = []
    for _ in range(2):
        result = report(flats, "--target", "quarter", "--out", tmp_path / "flats.html", *FLATS)
        assert result.exit_code == 0, result.stderr
        text = (tmp_path / "flats.html").read_text(encoding="utf-8")
        cells = re.findall(r'<(td|dd)([^>]*)class="measured">.*?</', text)
        assert len(cells) == 2 * 2 + 2  # seconds and memory of two runs, time and date of the page
        pages.append(re.sub(r'<(td|dd)[^>]*class="measured">.*?</', "", text))
    assert pages[0] == pages[1]


def test_the_target_can_colour_the_maps(report, flats, tmp_path, monkeypatch):
    monkeypatch.undo()
    out = tmp_path / "flats.html"
    result = report(flats, "--target", "quarter", "--color", "quarter", "--out", out, *FLATS)
    assert result.exit_code == 0, result.stderr
    assert out.exists()


def test_facts_are_all_there_and_plain(report, pages, flats, tmp_path):
    report(flats, "--target", "quarter", "--color", "area", "--drop", "heating", *FLATS)
    (call,) = pages
    assert call["color"] == "area"
    facts = json.loads(json.dumps(call["facts"], allow_nan=False))
    assert facts["command"] == (
        f"isentropic report {flats} --target quarter --methods pca,isomap --preset quick --color area "
        "--drop heating --index flat --out report.html"
    )
    assert facts["rows"] == 30
    assert facts["features"] == 2
    assert facts["preset"] is None
    assert facts["seed"] == 0
    assert facts["seconds"] > 0
    assert set(facts["dimensions"]) == {"maximum likelihood", "two nearest neighbours"}
    assert set(facts["how_to_misread"]) == {"pca", "isomap"}
    assert {"isentropic", "python", "numpy"} <= set(facts["versions"])
    assert facts["date"].endswith("+00:00")
    assert Path("report.html").exists()


def test_programs_read_which_maps_saw_the_classes(report, pages):
    result = report("builtin:iris", "--methods", "pca,lda", "--preset", "quick", "--json")
    assert result.exit_code == 0, result.stderr
    told = json.loads(result.stdout)
    pca, lda = told["runs"]
    assert (pca["saw_classes"], pca["label_test"]) == (False, None)
    assert lda["saw_classes"]
    assert lda["label_test"]["p"] == 0.1
    assert lda["label_test"]["effect_of_labels"] is False
    assert len(lda["label_test"]["null"]) == 9
    assert set(pca["classifiers"]) == {"k-NN", "QDA", "LDA"}
    assert {"trustworthiness(10)", "continuity(10)", "rnx_auc", "kendall_tau"} <= set(lda["measures"])
    assert told["verdict"]["effects_of_labels"] == []
    assert [rating["labels"] for rating in told["verdict"]["ratings"]] == ["", "real"]
    assert told["verdict"]["classes"][0].startswith("LDA saw the classes and tells them apart: ")


def test_the_preset_says_what_it_runs(report, pages):
    result = report("builtin:iris", "--preset", "quick")
    assert result.exit_code == 0, result.stderr
    (call,) = pages
    assert call["facts"]["preset"] == "quick"
    assert call["facts"]["preset_text"] == PRESETS["quick"].text
    assert f"(preset quick: {PRESETS['quick'].text})." in result.stdout
    assert [run.method for run in call["runs"]] == ["pca", "parameter-free-sdd", "t-sne", "umap"]


def test_json_for_programs(report, flats, tmp_path):
    result = report(flats, "--target", "quarter", "--json", "--folder", tmp_path / "runs", *FLATS)
    found = json.loads(result.stdout)
    assert found["verdict"]["recommended"] in ("pca", "isomap", None)
    assert found["verdict"]["lines"][0] == found["verdict"]["headline"]
    assert [run["method"] for run in found["runs"]] == ["pca", "isomap"]
    assert found["runs"][0]["measures"]["rnx_auc"]["value"] > 0
    assert [group["n"] == len(group["rows"]) for group in found["groups"]] == [True] * len(found["groups"])
    assert found["out"] == "report.html"
    assert found["folder"] == str(tmp_path / "runs")
    assert found["resumed"] == 0


def test_quiet(report, flats):
    result = report(flats, "--drop", "quarter", "-q", *FLATS)
    assert (result.stdout, result.stderr, result.exit_code) == ("", "", 0)


def test_the_second_time_nothing_is_computed_again(report, pages, flats, tmp_path):
    call = (flats, "--target", "quarter", "--folder", tmp_path / "runs", *FLATS)
    first, second = report(*call), report(*call)
    assert first.stdout.splitlines()[:4] == second.stdout.splitlines()[:4]
    assert [call["facts"]["resumed"] for call in pages] == [0, 2]
    assert "; results in " in second.stdout


def test_a_failed_method_is_a_row(report, pages, flats, stub_methods):
    result = report(flats, "--drop", "quarter", "--index", "flat", "--methods", "labelled,pca")
    assert result.exit_code == 0, result.stderr
    (call,) = pages
    assert [run.failed for run in call["runs"]] == [True, False]


def test_if_all_fail_the_page_says_why_and_the_code_is_1(report, flats, stub_methods):
    result = report(flats, "--drop", "quarter", "--index", "flat", "--methods", "labelled")
    assert result.exit_code == 1
    assert result.stdout.startswith("No method gave a map of this table.")
    assert "labelled gave no map: y must be" in result.stdout
    assert "labelled learns from it" in result.stdout
    assert Path("report.html").exists()


# ---- bad input ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--methods", "isomup"), "Did you mean 'isomap'"),
        (("--methods", " , "), "--methods must be names with commas between"),
        (("--preset", "standart"), "Did you mean 'standard'"),
        (("--out", "page.pdf"), "--out must be a file ending in .html"),
        (("--color", "aera"), "Did you mean 'area'"),
        (("--target", "quartier"), "Did you mean 'quarter'"),
        (("--target", "flat"), "--target must be a column of classes or of a quantity, got 'flat'"),
        (("--seed", "-1"), "seed"),
    ],
)  # fmt: skip
def test_usage_errors(report, pages, flats, arguments, text):
    result = report(flats, *arguments)
    assert result.exit_code == 2
    assert text in result.stderr
    assert "Traceback" not in result.stderr
    assert pages == []
    assert not Path("report.html").exists()


def test_an_identifier_of_numbers_is_no_target(report, tmp_path):
    path = tmp_path / "numbered.csv"
    rows = [f"{1000 + i},{i * 7 % 13},{i * 5 % 11}" for i in range(150)]
    path.write_text("\n".join(["nr,a,b", *rows]) + "\n", encoding="utf-8")
    result = report(path, "--target", "nr")
    assert result.exit_code == 2
    assert "names rows: nearly every one of 150 has a value of its own. Say --index" in result.stderr


def test_fifty_classes(report, pages, tmp_path):
    path = tmp_path / "classes.csv"
    rows = [f"c{i % 50},{i * 7 % 101},{i * 31 % 97}" for i in range(200)]
    path.write_text("\n".join(["kind,a,b", *rows]) + "\n", encoding="utf-8")
    result = report(path, "--target", "kind", "--methods", "pca")
    assert result.exit_code == 0, result.stderr
    assert len(pages[0]["table"].class_names) == 50
    assert pages[0]["runs"][0].accuracy is not None


def test_two_rows_and_one_feature(report, tmp_path):
    rows, feature = tmp_path / "rows.csv", tmp_path / "feature.csv"
    rows.write_text("a,b\n1,2.5\n3,4\n", encoding="utf-8")
    feature.write_text("a\n" + "\n".join(str(i * 0.37 % 1) for i in range(20)) + "\n", encoding="utf-8")
    result = report(rows)
    assert result.exit_code == 2
    assert "SOURCE must be a table of at least 4 rows, got 2." in result.stderr
    result = report(feature)
    assert result.exit_code == 2
    assert "SOURCE must be a table of at least 2 features, got 1. One column needs no map" in result.stderr


def test_rows_that_are_all_equal_have_no_map(report, tmp_path):
    path = tmp_path / "equal.csv"
    path.write_text("a,b\n" + "1,2.5\n" * 30, encoding="utf-8")
    result = report(path)
    assert result.exit_code == 2
    assert "SOURCE must be a table whose rows differ, got '30 equal rows'. All columns are" in result.stderr
    assert not list(tmp_path.glob("*.html"))


def test_names_with_markup_go_through_as_they_are(report, pages, tmp_path):
    path = tmp_path / "markup.csv"
    rows = [f"{i * 7 % 101},{i * 31 % 97},<b>{i % 3}</b>" for i in range(40)]
    header = '<script>alert(1)</script>,[red]b[/red],"</script>"'
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    result = report(path, "--target", "</script>", "--color", "[red]b[/red]", "--methods", "pca")
    assert result.exit_code == 0, result.stderr
    assert pages[0]["table"].feature_names == ("<script>alert(1)</script>", "[red]b[/red]")
    assert pages[0]["color"] == "[red]b[/red]"


def test_a_folder_that_takes_no_files(report, pages, flats, tmp_path):
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")
    result = report(flats, "--folder", file, "--drop", "quarter", *FLATS)
    assert result.exit_code == 1
    assert "cannot be a folder of runs" in result.stderr
    result = report(flats, "--out", tmp_path / "nowhere" / "page.html", "--drop", "quarter", *FLATS)
    assert result.exit_code == 1
    assert "there is no folder" in result.stderr
    assert pages == []


def test_a_folder_without_rights(report, pages, flats, tmp_path, monkeypatch):
    locked, real = tmp_path / "locked", open

    def refused(file, *given, **options):  # root may write anywhere: its refusal is played
        if str(file).startswith(str(locked)):
            raise PermissionError(13, "Permission denied")
        return real(file, *given, **options)

    monkeypatch.setattr("builtins.open", refused)
    result = report(flats, "--folder", locked, "--drop", "quarter", *FLATS)
    assert result.exit_code == 1
    assert "cannot be written: permission denied. Choose a folder" in result.stderr
    assert pages == []


def test_a_full_disk_leaves_the_old_page(report, flats, tmp_path, monkeypatch):
    old = tmp_path / "report.html"
    old.write_text("old", encoding="utf-8")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    result = report(flats, "--drop", "quarter", "--out", old, *FLATS)
    assert result.exit_code == 1
    assert "cannot be written: no space left on device" in result.stderr
    assert old.read_text(encoding="utf-8") == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["flats.csv", "report.html"]


def test_a_missing_extra_is_named_before_any_work(run, flats, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    result = run("report", flats, "--out", tmp_path / "page.html")
    assert result.exit_code == 1
    assert "pip install 'isentropic[report]'" in result.stderr


def test_ctrl_c_in_the_middle(report, flats, tmp_path, monkeypatch, stub_methods):
    monkeypatch.setattr(
        registry, "make", lambda name, real=registry.make, **params: _interrupting(real, name, params)
    )
    result = report(flats, "--drop", "quarter", "--folder", tmp_path / "runs", "--methods", "pca,stub")
    assert result.exit_code == 130
    assert "Interrupted. No file is half-written." in result.stderr
    assert not (tmp_path / "report.html").exists()
    assert [path.name[:4] for path in (tmp_path / "runs").iterdir()] == ["pca-"]


def _interrupting(real, name, params):
    return real(name, **params, does="interrupt") if name == "stub" else real(name, **params)


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
def test_ctrl_c_in_a_process(tmp_path):
    script = tmp_path / "slow.py"
    script.write_text(
        f"import sys; sys.path.insert(0, {str(STUBS.parent)!r})\n"
        "import stubs, isentropic.cli.report\n"
        "from isentropic.cli.shared import early_pages\n"
        "early_pages._FIRST = 1e9\n"  # on a busy machine there may be a page by then
        "from isentropic import registry\n"
        "from isentropic.cli import run\n"
        "registry.METHODS = stubs.with_stubs(registry.METHODS)\n"
        "stubs.Stub.__init__.__kwdefaults__['does'] = 'wait'\n"
        "run()\n",
        encoding="utf-8",
    )
    assert "stub" in with_stubs(registry.METHODS)
    command = [sys.executable, script, "report", "builtin:iris", "--methods", "pca,stub", "--folder", "runs"]
    command += ["--quiet"]
    process = subprocess.Popen(
        [str(part) for part in command],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "STUBS_SAY": "1"},
    )
    try:
        assert process.stderr.readline() == "fitting\n"
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 130
    assert stderr == "Interrupted. No file is half-written.\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["runs", "slow.py"]
    (kept,) = (tmp_path / "runs").iterdir()
    assert kept.name.startswith("pca-")


def test_a_large_table_is_compared_on_a_sample(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call = ("report", "builtin:wine", "--methods", "pca,isomap", "--preset", "quick", "--most-rows", "60")
    result = run(*call, "--json", "--folder", "runs")
    assert result.exit_code == 0, result.stderr
    told = json.loads(result.stdout)
    assert (told["rows"], told["compared_rows"]) == (178, 60)
    assert told["verdict"]["sampled"].startswith("Compared on 60 of 178 rows; ")
    assert told["whole"]["method"] == told["verdict"]["recommended"]
    assert [one["method"] for one in told["runs"]] == ["pca", "isomap"]
    assert "--most-rows 60" in told["command"]
    page = Path("report.html").read_text(encoding="utf-8")
    assert told["verdict"]["sampled"] in page
    assert "178 rows, of which 60 were compared" in page
    again = json.loads(run(*call, "--json", "--folder", "runs").stdout)
    assert again["resumed"] == 3


def test_a_budget_is_a_time(report):
    result = report("builtin:wine", "--methods", "pca", "--preset", "quick", "--budget", "10m", "--json")
    assert result.exit_code == 0, result.stderr
    told = json.loads(result.stdout)
    assert "--budget 10m" in told["command"]
    assert told["notes"] == []
    short = report("builtin:iris", "--methods", "pca,isomap", "--preset", "quick", "--budget", "1s", "--json")
    assert short.exit_code == 0, short.stderr
    if len(json.loads(short.stdout)["runs"]) < 2:  # a second may do where the libraries are loaded
        assert json.loads(short.stdout)["notes"][1] == "Left out for time: isomap."
    refused = report("builtin:iris", "--budget", "soon")
    assert refused.exit_code == 2
    assert "as 30s, 5m or 1h, got 'soon'" in refused.stderr


def test_a_budget_that_cannot_be_kept_is_said_before_the_work_starts(report, monkeypatch):
    monkeypatch.setattr(
        "isentropic.comparison.budget.comparison_plan.measure_unit_cost", lambda data, n_jobs: 100.0
    )
    methods = ("--methods", "isomap,pca", "--preset", "quick")
    result = report("builtin:iris", *methods, "--budget", "20s", "--json")
    assert result.exit_code == 0, result.stderr
    assert "Warning: The time of 20 s cannot be kept: " in result.stderr
    assert (
        "one method and the page take about 2304.4 s more. Here and now the least is about " in result.stderr
    )
    told = json.loads(result.stdout)
    assert [run["method"] for run in told["runs"]] == ["isomap"]
    assert told["notes"][1] == "Left out for time: pca."
    assert told["warnings"][0].startswith("The time of 20 s cannot be kept")


def test_a_memory_limit_is_of_the_whole_process(report, monkeypatch):
    held = []
    monkeypatch.setattr("isentropic._core.runtime.used_memory", lambda: held.append(1) or 300 * 2**20)
    refused = report("builtin:iris", "--methods", "pca", "--memory", "400M")
    assert refused.exit_code == 2
    assert "--memory must be at least 461M for this table, got '400M'." in refused.stderr
    assert "The libraries and the table take 300M already." in refused.stderr
    held.clear()
    assert report("builtin:iris", "--methods", "pca", "--preset", "quick", "--memory", "461M").exit_code == 0
    assert len(held) > 1  # asked again by what is computed


def test_the_process_of_a_command_starts_with_its_process(monkeypatch):
    import time

    from isentropic.cli.shared import process as _process

    monkeypatch.setattr(_process, "_began", None)
    monkeypatch.setattr(_process, "_age", lambda: 5_000.0)
    before = time.perf_counter()
    assert _process.command_start() >= before  # of a process that is no command
    _process.start_clock()
    assert before <= _process.command_start() + 5_000 <= time.perf_counter()


def test_a_process_knows_its_age():
    from isentropic.cli.shared.process import _age

    first = _age()
    assert 0 < first <= _age()
