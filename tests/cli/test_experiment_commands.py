"""isentropic reproduce, isentropic experiment: a page, a file of numbers, results that are kept."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from published_stub import install_sources

ENDED = """
from pathlib import Path
from work_stub import task
from isentropic.cli.shared.experiments import Asked, run_and_write
tasks = [task(i, log={log!r}, seconds=0 if i < 3 else 600) for i in range(6)]
asked = Asked("", "", Path({out!r}), Path({folder!r}), {jobs}, None)
run_and_write([], tasks, asked, quiet=True, as_json=False)
"""


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_end_from_outside_is_prompt_keeps_what_is_done_and_leaves_nobody(tmp_path, jobs):
    log, folder, out = (str(tmp_path / name) for name in ("log", "results", "page.html"))
    places = [*sys.path, str(Path(__file__).parents[1] / "experiments")]
    process = subprocess.Popen(
        [sys.executable, "-c", ENDED.format(log=log, folder=folder, out=out, jobs=jobs)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(places)}, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    until(lambda: len(lines(log)) == 3 + jobs)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)  # the work would take ten minutes
    assert process.returncode == 143
    assert said == "Ended from outside. What is done is kept; no file is half-written.\n"
    until(lambda: not any(Path(f"/proc/{line.split()[2]}").exists() for line in lines(log)))
    assert len(list(Path(folder).glob("*.json"))) == 3
    assert not Path(out).exists()


def lines(log):
    return Path(log).read_text(encoding="utf-8").splitlines() if Path(log).exists() else []


def until(holds):
    end = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.05)


@pytest.fixture
def small_source(monkeypatch):
    """One source of three methods on five data sets, and one whose module is not here."""
    install_sources(monkeypatch, **{"small": "published_stub:SOURCE", "004": "published_nowhere:SOURCE"})


LEFT_OUT = (
    "Warning: Source 'published_nowhere:SOURCE' is left out: it cannot be loaded (No module named "
    "'published_nowhere').\n"
)


def test_sources_are_listed(run, small_source):
    result = run("reproduce", "list")
    lines = result.stdout.splitlines()
    assert len(lines) == 2
    assert lines[1].split()[0] == "small"
    assert "15" in lines[1]
    assert result.stderr == LEFT_OUT
    listed = json.loads(run("reproduce", "--json").stdout)
    assert [one["source"] for one in listed] == ["small"]
    assert (listed[0]["printed"], listed[0]["tables"]) == (15, ["1"])


@pytest.mark.parametrize("words", [(), ("list",), ("--json",), ("002", "--quick"), ("all", "--minutes", 0)])
def test_without_the_papers_one_line_says_what_to_install(run, monkeypatch, tmp_path, words):
    install_sources(monkeypatch)
    monkeypatch.chdir(tmp_path)
    result = run("reproduce", *words)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        "Error: Published tables need isentropic-papers, which is not installed. Install it with: "
        "pip install isentropic-papers\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_an_experiment_needs_no_papers(run, tables, monkeypatch, tmp_path):
    install_sources(monkeypatch)
    given = ("--methods", "pca", "--classifiers", "NB", "--repeats", 2, "--jobs", 1)
    result = run("experiment", tables, *given, "--out", tmp_path / "page.html")
    assert result.exit_code == 0, result.stderr
    assert (tmp_path / "page.html").exists()


def test_a_source_becomes_a_page_and_a_file(run, small_source, tmp_path):
    out = tmp_path / "page.html"
    result = run("reproduce", "small", "--out", out, "--jobs", 1)
    assert result.exit_code == 0, result.stderr
    assert "Of 12 printed numbers that were computed again, 7 are met" in result.stdout
    assert "A small source" in out.read_text(encoding="utf-8")
    with open(tmp_path / "page.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 15
    assert (rows[0]["printed"], rows[0]["agreement"]) == ("0.7", "same")
    kept = list((tmp_path / "isentropic-results").glob("*.json"))
    assert len(kept) == 32  # all but the three of the data set that is not here
    before = {path: path.stat().st_mtime_ns for path in kept}
    again = json.loads(run("reproduce", "small:1", "--out", out, "--jobs", 1, "--json").stdout)
    assert {path: path.stat().st_mtime_ns for path in kept} == before
    assert (again["results"], again["failed"]) == (35, 3)
    assert again["chapters"][0]["tables"][0]["met"] == 7


def test_the_quick_form_and_the_honest_one(run, small_source, tmp_path):
    out = tmp_path / "page.html"
    quick = json.loads(run("reproduce", "all", "--quick", "--out", out, "--jobs", 1, "--json").stdout)
    assert quick["results"] == 16
    honest = run("reproduce", "small", "--honest-only", "--out", out, "--jobs", 1, "--json")
    assert json.loads(honest.stdout)["results"] == 12
    assert "--honest-only" in out.read_text(encoding="utf-8")


def test_a_page_of_what_is_kept(run, small_source, tmp_path):
    out = tmp_path / "page.html"
    published = run("reproduce", "small", "--published-only", "--out", out, "--jobs", 1, "--json")
    assert json.loads(published.stdout)["results"] == 15
    found = json.loads(run("reproduce", "small", "--minutes", 0, "--out", out, "--json").stdout)
    assert (found["results"], found["left"], found["chapters"][0]["tables"][0]["left"]) == (12, 23, 23)
    text = out.read_text(encoding="utf-8")
    assert "Not all was run: 12 of 35 pieces of work are done" in text
    assert "Not run: 3 as published, 12 honest, 4 with labels at random, 4 of random projections." in text
    both = run("reproduce", "small", "--published-only", "--honest-only", "--out", out)
    assert both.exit_code == 2
    assert "must be given one at a time" in both.stderr


def test_what_cannot_be_is_refused_before_anything_is_run(run, small_source, tmp_path):
    assert "source must be one of small, all" in run("reproduce", "smal", "--out", tmp_path / "a.html").stderr
    said = run("reproduce", "004", "--out", tmp_path / "a.html").stderr
    assert said.startswith(LEFT_OUT)
    assert "source must be one of small, all, got '004'" in said
    assert (
        "--out must be a file ending in .html"
        in run("reproduce", "small", "--out", tmp_path / "a.pdf").stderr
    )
    assert run("reproduce", "small", "--out", tmp_path / "no" / "a.html").exit_code == 1
    assert list(tmp_path.iterdir()) == []


# ---- experiment ----------------------------------------------------------------------------------


@pytest.fixture
def tables(tmp_path):
    """Three tables with a signal, one without classes enough, and a file that is no table."""
    folder = tmp_path / "tables"
    folder.mkdir()
    random = np.random.default_rng(0)
    for name in ("a", "b", "c"):
        y = np.arange(40) % 2
        X = random.normal(size=(40, 4)) + 2.5 * y[:, None]
        lines = [
            "p,q,r,s,class",
            *(",".join(f"{v:.4f}" for v in row) + f",k{c}" for row, c in zip(X, y, strict=True)),
        ]
        (folder / f"{name}.csv").write_text("\n".join(lines), encoding="utf-8")
    (folder / "short.csv").write_text("p,q,class\n1,2,a\n2,1,b\n3,3,a\n", encoding="utf-8")
    (folder / "notes.txt").write_text("nothing", encoding="utf-8")
    return folder


def test_an_experiment_of_ones_own(run, tables, tmp_path):
    out = tmp_path / "page.html"
    given = ("--methods", "pca,lda", "--classifiers", "NB", "--repeats", 2, "--out", out, "--jobs", 1)
    result = run("experiment", tables, *given, "--json")
    assert result.exit_code == 0, result.stderr
    (chapter,) = json.loads(result.stdout)["chapters"]
    assert chapter["title"] == "3 methods on 4 tables"
    assert {one[0] for one in chapter["tables"][0]["failures"]} == {"short"}
    (ranking,) = chapter["rankings"]
    assert (ranking["column"], ranking["n_blocks"]) == ("honest", 3)
    assert set(ranking["methods"]) == {"pca", "lda", "raw"}
    rows = numbers(tmp_path / "page.csv")
    assert float(rows["a", "pca"]["honest"]) > 0.8
    assert (
        "two classes or more on at least 10 rows, got '3 rows of 2 classes'" in rows["short", "pca"]["reason"]
    )
    assert chapter["survives"][-2] == "Targets: a class, b class, c class, short class."
    (against,) = (one["first"] for one in chapter["rankings"])
    assert (against["rope"], len(against["against"])) == (0.01, 2)
    assert "--methods pca,lda --classifiers NB --repeats 2" in out.read_text(encoding="utf-8")


def test_an_experiment_says_what_it_took_for_the_target_and_why_nothing_is_ranked(run, tables, tmp_path):
    """The last column is a target where none is called so; one class is a reason, as is a broken file."""
    text = (tables / "a.csv").read_text(encoding="utf-8")
    (tables / "b.csv").write_text(text.replace("class", "kind"), encoding="utf-8")
    (tables / "c.csv").write_text(text.replace("k1", "k0"), encoding="utf-8")
    (tables / "short.csv").write_text("p,q,class\n1,2\n", encoding="utf-8")
    named = [f"r{i}," + line for i, line in enumerate(text.splitlines()[1:])]
    (tables / "a.csv").write_text("\n".join(["id,p,q,r,s,class", *named]), encoding="utf-8")
    out = tmp_path / "page.html"
    given = ("--methods", "pca", "--classifiers", "NB", "--repeats", 2, "--out", out, "--jobs", 1)
    said = run("experiment", tables, *given).stdout
    assert "Targets: a class, b kind, c class" in said
    assert "\na: columns that number or name the rows, or hardly repeat, are no features: 'id'.\n" in said
    assert "Nothing is ranked: that takes 3 methods, raw included, and 3 tables" in said
    assert "here are 2 and 2." in said
    rows = numbers(tmp_path / "page.csv")
    assert float(rows["b", "pca"]["honest"]) > 0.8
    assert "got '40 rows of 1 class'" in rows["c", "pca"]["reason"]
    assert rows["short", "raw"]["reason"]
    assert '<span class="none">–<sup>1</sup></span>' in out.read_text(encoding="utf-8")


def test_an_experiment_with_labels_at_random_beside_it(run, tables, tmp_path):
    out = tmp_path / "page.html"
    given = ("--methods", "lda", "--classifiers", "NB", "--repeats", 2, "--out", out, "--jobs", 1)
    result = run("experiment", tables / "a.csv", *given, "--protocol", "permuted")
    assert "lda with labels at random, which mean nothing: accuracy " in result.stdout
    rows = numbers(tmp_path / "page.csv")
    assert float(rows["a", "lda"]["honest"]) > 0.8
    assert abs(float(rows["a", "lda"]["permuted"]) - 0.5) < 0.15  # of the same measure
    kappa = run("experiment", tables / "a.csv", *given, "--protocol", "permuted", "--measure", "kappa")
    assert "which mean nothing: kappa " in kappa.stdout
    assert abs(float(numbers(tmp_path / "page.csv")["a", "lda"]["permuted"])) < 0.3
    assert "--protocol permuted" in out.read_text(encoding="utf-8")


def test_classes_and_numbers_are_ranked_apart(run, tables, tmp_path):
    random = np.random.default_rng(1)
    for name in ("u", "v", "w"):
        X = random.normal(size=(30, 3))
        lines = ["p,q,r,target", *(",".join(map(str, (*row, row.sum()))) for row in X)]
        (tables / f"{name}.csv").write_text("\n".join(lines), encoding="utf-8")
    out = tmp_path / "page.html"
    given = ("--methods", "pca,isomap", "--classifiers", "NB", "--repeats", 2, "--out", out, "--jobs", 1)
    more = ("--components", 1, "--defaults", "--test-share", 0.4)
    (chapter,) = json.loads(run("experiment", tables, *given, *more, "--json").stdout)["chapters"]
    assert [table["table"] for table in chapter["tables"]] == ["classes", "numbers"]
    first, second = chapter["rankings"]
    assert (first["tables"], first["data"]) == ("experiment:classes", ["a", "b", "c"])
    assert (second["tables"], second["data"]) == ("experiment:numbers", ["u", "v", "w"])
    assert min(first["means"]) > 0.7 > max(second["means"])
    rows = numbers(tmp_path / "page.csv")
    assert {rows[name, "pca"]["measure"] for name in "abc"} == {"accuracy"}
    assert {rows[name, "pca"]["measure"] for name in "uvw"} == {"R²"}
    with open(tmp_path / "page-ranks.csv", encoding="utf-8") as file:
        ranks = list(csv.DictReader(file))
    assert [row["tables"] for row in ranks] == ["experiment:classes"] * 3 + ["experiment:numbers"] * 3
    for one, ranking in ((ranks[0], first), (ranks[3], second)):
        assert float(one["mean_rank"]) == min(ranking["average_ranks"])
        assert one["against"] == one["p_nemenyi"] == ""
    assert ranks[1]["against"] == ranks[0]["method"]
    at = [first["methods"].index(ranks[i]["method"]) for i in (0, 1)]
    assert float(ranks[1]["p_nemenyi"]) == first["p_values"]["nemenyi"][at[0]][at[1]]
    assert "--components 1 --defaults --repeats 2 --test-share 0.4" in out.read_text(encoding="utf-8")
    run("experiment", tables / "a.csv", *given)
    assert not (tmp_path / "page-ranks.csv").exists()


def numbers(path):
    with open(path, encoding="utf-8") as file:
        return {(row["dataset"], row["method"]): row for row in csv.DictReader(file)}


def test_an_experiment_that_cannot_be_is_refused(run, tables, tmp_path):
    out = ("--out", tmp_path / "page.html")
    assert "--methods must be one of" in run("experiment", tables, "--methods", "pka", *out).stderr
    assert (
        "--protocol must be one of honest, permuted"
        in run("experiment", tables, "--protocol", "x", *out).stderr
    )
    assert (
        "--classifiers must be one of KNN" in run("experiment", tables, "--classifiers", "knn", *out).stderr
    )
    assert "--repeats must be" in run("experiment", tables, "--repeats", 1, *out).stderr
    assert "must be a folder of tables" in run("experiment", tmp_path / "none", *out).stderr
    table = next(iter(sorted(tables.iterdir())))
    refused = run("experiment", table, "--out", table.with_suffix(".html")).stderr
    assert "the file of numbers beside --out must be" in refused
    assert "give --out another name" in refused
    (tmp_path / "empty").mkdir()
    assert "got none" in run("experiment", tmp_path / "empty", *out).stderr
