"""The meaning of cells: amounts, stray words, ordered words and missing-value codes, alike for new rows."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from isentropic._core.errors import InvalidInputError, TableWarning
from isentropic.datasets import Preparation, load
from isentropic.tables.cells import ordered_levels, read_numbers
from isentropic.tables.prepare.meaning import missing_codes

RNG = np.random.default_rng(31)
N = 60


def read(values, **options):
    """The first feature of a column beside another, and what was said."""
    frame = pd.DataFrame({"a": values, "b": RNG.normal(size=len(values))})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = load(frame, **{"scaling": "none", "missing": "keep", **options})
    return table, [str(one.message) for one in caught]


def again(table) -> Preparation:
    return Preparation.from_json(json.loads(json.dumps(table.preparation.to_json())))


# ---- amounts -----------------------------------------------------------------------------------


def grouped(number: int, mark: str) -> str:
    return f"{number:,}".replace(",", mark)


STYLES = {
    "plain, money before": lambda i, f: f"${i}.{f:02}",
    "english": lambda i, f: f"{grouped(i, ',')}.{f:02}",
    "german": lambda i, f: f"{grouped(i, '.')},{f:02}",
    "french": lambda i, f: f"{grouped(i, chr(0x202F))},{f:02} €",
    "swiss": lambda i, f: f"CHF {grouped(i, chr(39))}.{f:02}",
    "percent": lambda i, f: f"{i}.{f:02} %",
    "kilograms": lambda i, f: f"{i},{f:02} kg",
}


@pytest.mark.parametrize("style", STYLES)
@given(st.lists(st.tuples(st.integers(0, 10**7), st.integers(0, 99)), min_size=3, max_size=9, unique=True))
def test_every_style_is_the_same_number(style, parts):
    reading = read_numbers({STYLES[style](*part): 1 for part in parts})
    assert reading is not None
    assert_allclose(list(reading.values.values()), [i + f / 100 for i, f in parts], rtol=1e-15)
    assert not reading.is_ambiguous


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        (["(120)", "35", "(1,200,000)"], [-120, 35, -1200000]),
        (["1.2M", "300k", "950"], [1.2e6, 3e5, 950]),
        (["$12k", "$1.5M", "$900"], [12e3, 1.5e6, 900]),
        (["300 K", "280 K", "77 K"], [300, 280, 77]),  # kelvin: one suffix for all is a unit
        (["−5", "+3", "0"], [-5, 3, 0]),
        (["3%", "0", "-4%"], [3, 0, -4]),
        (["0,123", "1,234", "2,5"], [0.123, 1.234, 2.5]),
        (["1,234", "12345", "2,500"], [1.234, 12345, 2.5]),  # thousands would be marked everywhere
        (["1 234", "99", "1 234 567"], [1234, 99, 1234567]),
    ],
)
def test_amounts(words, numbers):
    table, said = read(words)
    assert_allclose(table.X[:, 0], numbers)
    assert said[0].startswith("amounts written as text are read as numbers: 'a' (")
    assert table.feature_names == ("a", "b")


def test_a_comma_that_may_be_either_is_thousands_and_said():
    table, (said,) = read(["1,234", "5,678", "999"])
    assert_array_equal(table.X[:, 0], [1234, 5678, 999])
    assert "may separate thousands or decimals, and is read as thousands: 'a' ('1,234' is 1234)" in said


@pytest.mark.parametrize(
    "words",
    [["5 kg", "3 lb"], ["$5", "5%"], ["12A", "13A", "14B"], ["1.2.3", "1.2.4"], ["10:30", "11:45"],
     ["1,5", "2.5"], ["5'11", "6'02"], ["007-1", "007-2"], ["x", "y"]],
)  # fmt: skip
def test_other_words_are_no_numbers(words):
    assert read_numbers(dict.fromkeys(words, 10)) is None


def test_new_rows_are_read_in_the_fitted_style():
    table, _ = read(["1.234,5 €", "10,25 €", "3 €"])
    new = pd.DataFrame({"a": ["1.234 €", "7", 2.5], "b": 0.0})
    assert_array_equal(load(new, preparation=again(table)).X[:, 0], [1234, 7, 2.5])
    with pytest.raises(InvalidInputError, match="column 'a' must be numbers, as '1234,5 €', got '5 kg'"):
        load(new.assign(a="5 kg"), preparation=again(table))


def test_an_amount_to_colour_by_is_a_number():
    frame = pd.DataFrame({"x": [1.0, 2.0, 4.0], "price": ["$256,230", "$1,000,000", "$5.50"]})
    with pytest.warns(TableWarning, match="'price' "):
        table = load(frame, "price")
    assert_array_equal(table.y, [256230, 1000000, 5.5])
    assert table.class_names == ()


# ---- stray words -------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["-", "ND", "n/a*", "unknown", "rotary", "see note", "."])
def test_a_stray_word_among_numbers_is_missing_and_said(word):
    values = [*map(str, range(40)), word]
    table, said = read(values)
    assert_array_equal(table.X[:, 0], [*range(40), np.nan])
    assert f"count as missing: 'a' ('{word}' in 1 row)" in said[0]
    assert "levels=[...]" in said[0]
    new = pd.DataFrame({"a": ["3", word, None], "b": 0.0})
    assert_array_equal(load(new, preparation=again(table)).X[:, 0], [3, np.nan, np.nan])
    with pytest.raises(InvalidInputError, match="got 'elsewhere'"):
        load(new.assign(a="elsewhere"), preparation=again(table))


def test_known_words_for_missing_values_may_be_many():
    table, _ = read([*"123456", *["-"] * 20])
    assert np.isnan(table.X[:, 0]).sum() == 20


def test_values_with_a_mark_are_the_number_in_them():
    table, said = read([*map(str, range(20)), "<1", "5+", "[209]", "7*"])
    assert_array_equal(table.X[-4:, 0], [1, 5, 209, 7])
    assert "read as the number in them: 'a' ('<1', '5+', '[209]', '7*')" in said[0]


def test_many_other_words_are_levels():
    values = [*"1234567890" * 3, *["other"] * 8]
    table, said = read(values)
    assert len(table.feature_names) == 12
    assert "looks numeric but is read as 11 levels" in said[0]


def test_a_column_read_as_levels_keeps_its_letters(tmp_path):
    text = "zip,b\n" + "".join(f"{i % 4:05},{i * i}\n" for i in range(20))
    (tmp_path / "t.csv").write_text(text)
    assert load(tmp_path / "t.csv", levels=["zip"]).feature_names[:2] == ("zip=00000", "zip=00001")
    with pytest.raises(InvalidInputError, match="levels must be a column of t, got 'zap'"):
        load(tmp_path / "t.csv", levels=["zap"])


# ---- ordered words -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "levels",
    [
        ("never", "rarely", "sometimes", "often", "always"),
        ("Low", "Medium", "High"),
        ("Low", "Medium", "High", "Very_High"),
        ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
        ("S", "M", "L", "XL"),
        ("Poor", "Fair", "Good", "Excellent"),
        ("Mon", "Tue", "Fri", "Sun"),
        ("January", "March", "December"),
        ("C", "B-", "B", "A+"),
        ("1st", "2nd", "3rd", "10th"),
        ("High School", "Bachelor", "Master", "PhD"),
        ("Stage 1", "Stage 2", "Stage 10"),
        ("0 days", "1-2 days", "3-5 days", "6+ days"),
        ("<18", "18-24", "25-34", "35-64", "65+"),
        ("under $10k", "$10k - $20k", "$20k - $50k", "$50k or more"),
        ("(0, 10]", "(10, 20]", "(20, 100]"),
        ("0", "1-2", "3-4"),
    ],
)
def test_ordered_words_and_bins_are_numbers_in_their_order(levels):
    assert ordered_levels(sorted(levels, key=hash)) == levels
    values = [levels[i % len(levels)] for i in range(N)]
    table, said = read(values)
    assert_array_equal(table.X[:, 0], np.arange(N) % len(levels))
    assert "ordered words count as numbers in equal steps: 'a' (" in said[0]
    gower, _ = read(values, metric="gower", scaling="auto")
    assert gower.metric.ordered == (0,)
    unordered, said = read(values, levels=["a"])
    assert len(unordered.feature_names) == len(levels) + 1
    assert said == []


@pytest.mark.parametrize(
    "words",
    [["yes", "no"], ["A", "B", "C"], ["red", "green", "blue"], ["3-1", "2-2", "1-0"], ["low", "high"],
     ["1-2 days", "1-2 weeks", "3-4 weeks"], ["10-30", "20-40", "30-50"], ["low", "medium", "moderate"],
     ["may", "june", "rose"], ["555-1234", "555-9876", "555-4321"]],
)  # fmt: skip
def test_other_words_have_no_order(words):
    assert ordered_levels(words) is None


def test_an_answer_that_is_none_is_missing_beside_ordered_words():
    table, said = read(["18-24", "25-34", "65+", "unknown"] * 5)
    assert np.isnan(table.X[3::4, 0]).all()
    assert any("'unknown' in 5 rows" in text for text in said)
    new = pd.DataFrame({"a": ["65+", "unknown"], "b": 0.0})
    assert_array_equal(load(new, preparation=again(table)).X[:, 0], [2, np.nan])


def test_ordered_levels_are_one_number_and_an_unseen_one_is_refused():
    values = pd.Categorical(["b", "a", "c"] * 5, ["c", "a", "b"], ordered=True)
    table, said = read(values)
    assert said == []
    assert_array_equal(table.X[:3, 0], [2, 1, 0])
    with pytest.raises(InvalidInputError, match=r"must hold the levels of the fitted table.*levels=\['a'\]"):
        load(pd.DataFrame({"a": ["z"], "b": 0.0}), preparation=again(table))


def test_a_preparation_of_the_second_format_keeps_ordered_levels_apart():
    """As saved before ordered levels were numbers: one feature each."""
    table, _ = read(pd.Categorical(["b", "a"] * 5, ["a", "b"]))
    saved = table.preparation.to_json()
    saved["format"] = 2
    saved["columns"][0]["ordered"] = True
    assert Preparation.from_json(saved).feature_names == ("a=a", "a=b", "b")


# ---- codes -------------------------------------------------------------------------------------


def with_codes(values, *codes, times=5):
    values = np.array(values, dtype=float)
    for i, code in enumerate(codes):
        values[i * times : (i + 1) * times] = code
    return values


AGES, LIKERT = RNG.integers(18, 91, 200), RNG.integers(1, 6, 200)
CODED = {
    "temperature": with_codes(RNG.normal(15, 9, 200), -999),
    "income": with_codes(RNG.lognormal(10, 1, 200), -99),
    "age": with_codes(AGES, 999),
    "answers": with_codes(LIKERT, 99),
    "answers with reasons": with_codes(LIKERT, 99, 98, 97),
    "days since": with_codes(RNG.integers(1, 300, 200), -1),
    "elevation": with_codes(RNG.normal(1000, 300, 200), 9999),
    "yes or no": with_codes(RNG.integers(0, 2, 200), 99),
    "weather": with_codes(RNG.normal(10, 5, 200), 9999.9),
}
HONEST = {
    "centenarians": with_codes(AGES, 99),
    "once or twice": with_codes(AGES, 999, times=2),
    "answers": LIKERT,
    "counts": RNG.poisson(0.4, 200),
    "censored": np.minimum(RNG.lognormal(3, 0.4, 200), 50),
    "differences": RNG.integers(-1, 9, 200),
    "votes": RNG.integers(-1, 2, 200),
    "percent": RNG.integers(0, 100, 200),
    "prices": with_codes(RNG.uniform(1, 20, 200), 99.99),
    "years": with_codes(RNG.integers(1950, 1999, 200), 1999),
    "longitude": with_codes(RNG.uniform(-120, -60, 200), -99),
    "constant but for": with_codes(np.zeros(200), 999),
    "heavy tail": with_codes(RNG.lognormal(8, 2, 200), 99999),
}


@pytest.mark.parametrize("name", CODED)
def test_codes_for_missing_values_are_missing_and_said(name):
    values = CODED[name]
    codes = missing_codes(values)
    assert 1 <= len(codes) <= 3
    table, said = read(values)
    assert_array_equal(np.isnan(table.X[:, 0]), np.isin(values, codes))
    assert f"count as missing: 'a' ({codes[0]:g}" in said[0]
    assert "codes='keep'" in said[0]
    kept, said = read(values, codes="keep")
    assert_array_equal(kept.X[:, 0], values)
    assert said == []
    new = pd.DataFrame({"a": [codes[0], 5.0], "b": 0.0})
    assert_array_equal(load(new, preparation=again(table)).X[:, 0], [np.nan, 5])


@pytest.mark.parametrize("name", HONEST)
def test_honest_values_are_no_codes(name):
    assert missing_codes(np.asarray(HONEST[name], dtype=float)) == ()


def test_a_code_of_one_column_counts_once_in_another():
    frame = pd.DataFrame({"a": CODED["temperature"], "b": RNG.normal(size=200), "c": RNG.normal(size=200)})
    frame.loc[7, "b"] = -999
    with pytest.warns(TableWarning, match=r"'a' \(-999 in 5 rows\); 'b' \(-999 in 1 row\)"):
        table = load(frame, missing="keep", scaling="none")
    assert np.isnan(table.X[7, 1])
    alone = load(frame.drop(columns="a"), scaling="none")
    assert alone.X[7, 0] == -999


def test_a_target_keeps_its_codes():
    frame = pd.DataFrame({"x": RNG.normal(size=200), "y": CODED["answers"]})
    assert "99" in load(frame, "y").class_names


def test_rows_in_another_order_have_the_same_codes():
    values = CODED["answers with reasons"]
    assert missing_codes(values[::-1]) == missing_codes(values) == missing_codes(np.r_[values, np.nan])
