"""ARFF: dense numeric, nominal and date attributes; every other thing is an error with its line."""

from __future__ import annotations

import io

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from isentropic._core.errors import FileFormatError, InvalidInputError, TableWarning
from isentropic.datasets import load
from isentropic.tables.readers.arff import read_arff

ARFF = """% a comment
@RELATION 'two words'

@attribute 'size of it' NUMERIC
@ATTRIBUTE heating {gas, 'oil, heavy', "don't", '?'}
@attribute n integer
@attribute\twhen date "yyyy-MM-dd HH:mm"
@attribute class {no,yes}

@data
% another
1.5, gas, 1, "1970-01-02 12:00", yes
-2e1,'oil, heavy',2,'1970-01-03 00:00',no
3,"don't",3,"1970-01-03 00:00",no
4,'don\\'t',?,?,yes
5,'?',5,"1970-01-03 00:00",?
6,?,6,"1970-01-03 00:00",yes
"""


def test_every_kind_of_attribute(write):
    frame = read_arff(write("t.arff", ARFF))
    assert list(frame.columns) == ["size of it", "heating", "n", "when", "class"]
    assert_array_equal(frame["size of it"], [1.5, -20, 3, 4, 5, 6])
    assert frame["heating"].tolist()[:5] == ["gas", "oil, heavy", "don't", "don't", "?"]
    assert list(frame["heating"].cat.categories) == ["gas", "oil, heavy", "don't", "?"]
    assert frame.isna().sum().to_dict() == {"size of it": 0, "heating": 1, "n": 1, "when": 1, "class": 1}


def test_a_table_of_it(write):
    with pytest.warns(TableWarning) as told:
        table = load(write("t.arff.gz", ARFF), "class", missing="drop", scaling="none")
    said = [str(warning.message) for warning in told]
    assert any("dates count as features" in text for text in said)
    assert any("with missing values left out" in text for text in said)
    assert table.feature_names[:3] == ("size of it", "heating=gas", "heating=oil, heavy")
    assert table.class_names == ("no", "yes")
    assert_array_equal(table.X[:, -1], [1.5, 2, 2])


def test_agrees_with_scipy(write):
    from scipy.io import arff

    text = "@relation r\n@attribute a real\n@attribute b {x,y}\n@data\n" + "".join(
        f"{value!r},{'xy'[i % 2]}\n"
        for i, value in enumerate(np.random.default_rng(0).normal(size=9000).tolist())
    )
    expected, _ = arff.loadarff(io.StringIO(text))
    frame = read_arff(write("t.arff", text))  # longer than a block
    assert_array_equal(frame["a"], expected["a"])
    assert frame["b"].tolist() == [level.decode() for level in expected["b"]]


@pytest.mark.parametrize(
    ("declared", "value", "days"),
    [
        ("date", "1970-01-02T06:00:00", 1.25),
        ("date yyyy-MM-dd", "1970-01-02", 1.0),
        ("DATE 'dd.MM.yyyy HH:mm:ss.SSS'", "02.01.1970 12:00:00.000", 1.5),
    ],
)
def test_dates(write, declared, value, days):
    path = write("t.arff", f"@relation r\n@attribute a {declared}\n@data\n{value!r}\n")
    with pytest.warns(TableWarning, match="dates"):
        assert load(path, scaling="none").X[0, 0] == days


HEAD = "@relation r\n@attribute a numeric\n@attribute b {x,y}\n@data\n"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (HEAD + "{0 1, 1 x}\n", "line 5, must be a dense row, got a sparse one"),
        (HEAD + "1,x\n2\n", "line 6, must be 2 fields, one for each attribute, got 1"),
        (HEAD + "1,x,3\n", "line 5, must be 2 fields"),
        (HEAD + "%\none,x\n", "line 6, must be a number or \\? for 'a', got 'one'"),
        (HEAD + "1,z\n", "line 5, must be one of 'x', 'y' for 'b', got 'z'"),
        (HEAD + "1,'x\n", "line 5, must be fields with balanced quotes"),
        (
            "@relation r\n@attribute a string\n@data\nx\n",
            "line 2, must be numeric, nominal .* or date for 'a', got 'str",
        ),
        ("@relation r\n@attribute a relational\n@data\nx\n", "line 2, must be numeric"),
        ("@relation r\n@attribute a\n@data\nx\n", "line 2, must be @attribute NAME TYPE"),
        ("@relation r\n@attribute a {x,x}\n@data\nx\n", "line 2, must be levels that differ"),
        (
            "@relation r\n@attribute a date 'EEE'\n@data\nx\n",
            "line 2, must be a date format of yyyy, .*'EEE'",
        ),
        ("@relation r\n@attribute a date yyyy\n@data\nx\n", "line 4, must be a date .* for 'a', got 'x'"),
        ("@relation r\n@attribute a numeric\n", "must be followed by @data, got the end"),
        ("@relation r\n@data\n1\n", "must be preceded by @attribute lines"),
        ("<html>\n", "line 1, must be @relation, @attribute or @data, got '<html>'"),
    ],
)
def test_what_is_refused(write, text, problem):
    with pytest.raises(FileFormatError, match=problem):
        load(write("t.arff", text))


def test_names_and_rows_and_letters(write):
    with pytest.raises(InvalidInputError, match="names that differ, got 'a' more than once"):
        load(write("t.arff", "@attribute a real\n@attribute a real\n@data\n1,2\n"))
    with pytest.raises(InvalidInputError, match="at least one row"):
        load(write("t.arff", HEAD))
    with pytest.raises(FileFormatError, match="must be UTF-8 text, got byte 0xe9"):
        load(write("t.arff", (HEAD + "1,é\n").encode("latin-1")))
