"""--metric: mixed tables through embed, transform, quality, path, compare-maps and report."""

import json

import numpy as np
import pytest
from scipy import sparse


@pytest.fixture
def mixed(tmp_path):
    """Text beside numbers, with holes."""
    lines = ["flat,rooms,area,heating,quarter"]
    for i in range(40):
        heating, quarter = ("gas", "oil", "")[i % 3], ("north", "south")[i % 2]
        area = "" if i % 7 == 3 else 30 + 7 * (i % 5) + (i * 37 % 11)
        lines.append(f"f{i:02},{1 + i % 5},{area},{heating},{quarter}")
    path = tmp_path / "mixed.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


TABLE = ("--index", "flat", "--target", "quarter")


def test_a_mixed_table_through_every_command(run, mixed, tmp_path):
    out, model, new = tmp_path / "map.csv", tmp_path / "model.isentropic", tmp_path / "new.csv"
    by = (*TABLE, "--metric", "gower")
    result = run("embed", mixed, "-m", "classical-mds", *by, "--out", out, "--save", model)
    assert result.exit_code == 0, result.stderr
    new.write_text("flat,rooms,area,heating\nn1,9,,wood\n", encoding="utf-8")
    for source, again in ((mixed, tmp_path / "again.csv"), (new, tmp_path / "placed.csv")):
        result = run("transform", model, source, "--out", again)
        assert result.exit_code == 0, result.stderr
    assert (tmp_path / "again.csv").read_bytes() == out.read_bytes()
    result = run("quality", mixed, out, *by, "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["quality"]["metric"] == "gower"
    for command in (("path", mixed, "--k", "5,10", *by), ("compare-maps", out, out, mixed, *by)):
        result = run(*command)
        assert result.exit_code == 0, result.stderr


def test_a_sparse_table_by_cosine_through_every_command(run, tmp_path):
    words = np.random.default_rng(0).poisson(0.4, size=(40, 30))
    source, new = tmp_path / "words.npz", tmp_path / "new.npz"
    sparse.save_npz(source, sparse.csr_array(words))
    sparse.save_npz(new, sparse.csr_array(words[:3]))
    out, model, placed = tmp_path / "map.csv", tmp_path / "model.isentropic", tmp_path / "placed.csv"
    by = ("--metric", "cosine")
    for command in (
        ("embed", source, "-m", "isomap", *by, "--out", out, "--save", model),
        ("transform", model, new, "--out", placed),
        ("verify", model),
        ("quality", source, out, *by),
        ("compare-maps", out, out, source, *by),
    ):
        result = run(*command)
        assert result.exit_code == 0, result.stderr
    assert placed.read_bytes() == b"\n".join(out.read_bytes().split(b"\n")[:4]) + b"\n"
    result = run("report", source, *by, "--out", tmp_path / "page.html")
    assert result.exit_code == 2
    assert "Give --rank 50 when it is loaded" in result.stderr


def test_a_report_of_a_mixed_table_takes_no_option(run, mixed, tmp_path):
    page = tmp_path / "page.html"
    result = run("report", mixed, "--methods", "classical-mds", "--preset", "quick", "--out", page, "--json")
    assert result.exit_code == 0, result.stderr
    facts = json.loads(result.stdout)
    said = " ".join(facts["warnings"])
    assert "missing values: the median takes their place" in said
    assert "--missing drop leaves the rows out; --metric gower" in said
    assert "--metric" not in facts["command"]
    assert page.stat().st_size > 10_000


def test_methods_of_columns_stay_in_a_comparison_of_a_mixed_table(run, mixed, tmp_path):
    call = ("--methods", "pca", "--preset", "quick", "--out", tmp_path / "page.html", "--json")
    result = run("report", mixed, *call)
    assert result.exit_code == 0, result.stderr
    (found,) = json.loads(result.stdout)["runs"]
    assert (found["method"], found["reason"]) == ("pca", "")


def test_weights_rows_and_tails_through_embed_and_transform(run, tmp_path):
    rng = np.random.default_rng(0)
    source, out, model = tmp_path / "towns.csv", tmp_path / "map.csv", tmp_path / "model.isentropic"
    rows = np.exp(rng.normal(size=(60, 3)) * [2.0, 0.2, 0.2])
    source.write_text(
        "a,b,c\n" + "\n".join(",".join(map(repr, row.tolist())) for row in rows), encoding="utf-8"
    )
    again = tmp_path / "again.csv"
    for options in (("--weights", "a=3,b=0.5"), ("--rows-as", "shares"), ("--tails", "keep"), ()):
        result = run("embed", source, "-m", "pca", *options, "--out", out, "--save", model)
        assert result.exit_code == 0, result.stderr
        assert ("--tails keep leaves them" in result.stderr) == (not options or options[0] == "--weights")
        result = run("transform", model, source, "--out", again)
        assert result.exit_code == 0, result.stderr
        assert again.read_bytes() == out.read_bytes()
    result = run("embed", source, "-m", "pca", "--weights", "a:3", "--out", out)
    assert result.exit_code == 2
    assert "--weights must be columns with numbers, as island=0.5,sex=2, got 'a:3'" in result.stderr


def test_a_distance_matrix_needs_no_option(run, tmp_path):
    places = np.random.default_rng(1).normal(size=(24, 2))
    D = np.linalg.norm(places[:, None] - places, axis=2)
    source, out, model = tmp_path / "towns.csv", tmp_path / "map.csv", tmp_path / "model.isentropic"
    names = [f"town {chr(65 + i)}" for i in range(24)]
    lines = [",".join(["town", *names])]
    lines += [",".join([name, *map(repr, row)]) for name, row in zip(names, D.tolist(), strict=True)]
    source.write_text("\n".join(lines), encoding="utf-8")
    result = run("embed", source, "-m", "classical-mds", "--out", out, "--save", model)
    assert result.exit_code == 0, result.stderr
    assert "it is read as the distances between its rows. --metric euclidean reads features" in result.stderr
    result = run("transform", model, source, "--out", tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == out.read_bytes()
    result = run("quality", source, out, "--json")
    assert json.loads(result.stdout)["quality"]["measures"]["rnx_auc"]["value"] == pytest.approx(1.0)
    methods, page = ("--methods", "classical-mds,isomap,pca", "--preset", "quick"), tmp_path / "page.html"
    result = run("report", source, *methods, "--out", page, "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["metric"] == "precomputed"
    result = run("embed", source, "-m", "pca", "--out", out)
    assert result.exit_code == 2
    assert "--metric must be euclidean for pca, got 'precomputed'" in result.stderr


def test_a_method_that_takes_no_metric_is_refused(run, mixed, tmp_path):
    result = run("embed", mixed, "-m", "pca", "--metric", "gower", "--out", tmp_path / "map.csv")
    assert result.exit_code == 2
    assert "--metric must be euclidean for pca, got 'gower'" in result.stderr
    result = run("quality", mixed, mixed, "--metric", "gowr")
    assert result.exit_code == 2
    assert "--metric must be one of" in result.stderr
