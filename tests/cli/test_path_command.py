"""isentropic path: the table, the document, the figure, and what it refuses."""

import json

import isentropic

ROLL = ("builtin:swiss-roll", "--samples", "300")


def test_the_document_is_the_path(run, tmp_path):
    plot = tmp_path / "path.png"
    result = run("path", *ROLL, "--k", "8,6,12", "--json", "--plot", plot)
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    X = isentropic.datasets.load("builtin:swiss-roll", n_samples=300).X
    path = isentropic.isomap_path(X, [6, 8, 12])
    assert document["neighbors"] == [6, 8, 12]
    assert document["chosen"] == path.chosen
    assert document["short_circuits"] == list(path.short_circuits)
    assert document["residual_variance"] == path.residual_variance.tolist()
    assert document["stability"] == [None, *path.stability[1:].tolist()]
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_the_table_marks_the_choice(run):
    result = run("path", *ROLL, "--radius", "6,8")
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["neighbours", "6", "8"]
    assert sum("chosen" in line for line in lines) == 1
    assert run("path", *ROLL, "--k", "8", "--quiet").stdout == ""


def test_what_it_cannot_read_is_refused(run):
    assert "numbers with commas" in run("path", *ROLL, "--k", "5;6").stderr
    assert "one or the other" in run("path", *ROLL, "--k", "5", "--radius", "2").stderr
    assert run("path", *ROLL, "--k", "5", "--plot", "path.txt").exit_code != 0
