"""One grammar of messages: what, must be, got, next step."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assertions import assert_grammar
from isentropic._core import errors as _errors
from isentropic._core.errors import (
    DisconnectedGraphError,
    FileFormatError,
    InvalidInputError,
    IsentropicError,
    IsentropicWarning,
    MemoryBudgetError,
    MissingExtraError,
    message,
    nearest,
    require,
    require_count,
    require_number,
    require_one_of,
)


def test_a_message_by_hand():
    said = message("eps", "a positive radius", -0.3, "Give a distance in the units of the data.")
    assert said == "eps must be a positive radius, got -0.3. Give a distance in the units of the data."
    assert message("eps", "a positive radius", -0.3) == "eps must be a positive radius, got -0.3."
    assert message("metric", "a name", "x") == "metric must be a name, got 'x'."  # text is quoted


@given(
    got=st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.integers()))
)
def test_every_message_has_the_grammar(got):
    assert_grammar(message("k", "a positive integer", got), "k", got)
    assert_grammar(message("k", "a positive integer", got, "Take fewer."), "k", got)


class Unshown:
    """What no message may show, however deep it lies."""

    def __repr__(self):
        raise AssertionError("it was shown")


NONE = Unshown()
MANY = [NONE] * 2000
LONG = [MANY, tuple(MANY), dict(enumerate(MANY)), [[[NONE] * 40] * 40], {"a": MANY}]


@pytest.mark.parametrize("got", LONG, ids=lambda got: type(got).__name__)
def test_a_long_collection_is_counted_and_not_shown(got):
    kind, items = type(got).__name__, "1 item" if len(got) == 1 else "2,000 items"
    assert message("k", "a number", got) == f"k must be a number, got a {kind} of {items}."
    with pytest.raises(InvalidInputError, match=f"got a {kind} of {items}"):
        require_one_of("k", got, ["a", "b"])


def test_a_collection_that_holds_itself_is_counted():
    got = []
    got.append(got)
    got.append(got)
    assert message("k", "a number", got) == "k must be a number, got a list of 2 items."


def test_a_long_text_is_cut():
    said = message("k", "a number", "x" * 10**6)
    assert said == f"k must be a number, got '{'x' * 1999}...."
    assert message("k", "a number", "x" * 1998) == f"k must be a number, got '{'x' * 1998}'."


def test_require_is_silent_when_it_holds():
    assert require(True, "k", "positive", 3) is None


def test_require_raises_when_it_does_not():
    with pytest.raises(InvalidInputError) as caught:
        require(False, "k", "positive", -3, "Take more.")
    assert str(caught.value) == "k must be positive, got -3. Take more."


# ---- counts and numbers ------------------------------------------------------------------------


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3)])
def test_a_count_comes_back_as_a_plain_integer(value):
    found = require_count("k", value, least=3, most=3)
    assert type(found) is int
    assert found == 3


NO_COUNTS = [True, np.True_, 3.0, np.float64(3.0), "3", None, [3], np.array([3]), math.nan]


@pytest.mark.parametrize("value", [*NO_COUNTS, 0, -1, np.int64(0), 8], ids=repr)
def test_what_is_no_count_within_the_bounds_is_refused(value):
    with pytest.raises(InvalidInputError) as caught:
        require_count("k", value, most=7, hint="Take fewer.")
    assert str(caught.value) == f"k must be an integer from 1 to 7, got {value!r}. Take fewer."


@pytest.mark.parametrize(
    ("least", "said"),
    [(1, "a positive integer"), (0, "an integer of at least 0"), (2, "an integer of at least 2")],
)
def test_the_bounds_of_a_count_are_said(least, said):
    with pytest.raises(InvalidInputError, match=f"k must be {said}, got -5"):
        require_count("k", -5, least=least)
    with pytest.raises(InvalidInputError, match="k must be 'auto' or a count, got -5"):
        require_count("k", -5, "'auto' or a count", least=least)


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.int64(2), Fraction(2)])
def test_a_number_comes_back_as_a_plain_float(value):
    found = require_number("x", value, "a number")
    assert type(found) is float
    assert found == 2.0


@pytest.mark.parametrize(
    ("bounds", "within", "without"),
    [
        ({}, [0, 1e308], [-1e-300, math.inf, 10**400]),
        ({"above": 0}, [1e-300], [0, -1]),
        ({"most": 100}, [100], [100.1]),
        ({"below": 1}, [0.999], [1]),
        ({"least": -5, "most": math.inf}, [-5, math.inf], [-6, 10**400, -(10**400)]),
    ],
)
def test_numbers_have_bounds(bounds, within, without):
    for value in within:
        assert require_number("x", value, "within them", **bounds) == value
    for value in (
        *without,
        math.nan,
        np.nan,
        True,
        np.True_,
        "1",
        None,
        1j,
        np.complex128(1),
        np.array([1.0]),
    ):
        with pytest.raises(InvalidInputError, match="x must be within them, got"):
            require_number("x", value, "within them", **bounds)


# ---- one of ------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["knn", "radius"])
def test_an_option_is_accepted(value):
    require_one_of("kind", value, ("knn", "radius"))


def test_a_misspelt_option_offers_the_nearest():
    with pytest.raises(InvalidInputError) as caught:
        require_one_of("kind", "radios", ("knn", "radius"))
    assert str(caught.value) == "kind must be one of knn, radius, got 'radios'. Did you mean 'radius'?"


def test_the_hint_follows_the_offer():
    with pytest.raises(InvalidInputError) as caught:
        require_one_of("kind", "radios", ("knn", "radius"), hint="Or give a function.")
    assert (
        str(caught.value)
        == "kind must be one of knn, radius, got 'radios'. Did you mean 'radius'? Or give a function."
    )
    with pytest.raises(InvalidInputError) as caught:
        require_one_of("kind", 7, ("knn", "radius"), hint="Or give a function.")
    assert str(caught.value) == "kind must be one of knn, radius, got 7. Or give a function."


@pytest.mark.parametrize("value", [None, 3, ["knn"], {"a": 1}, "", "KNN"])
def test_what_is_no_option_is_refused(value):
    with pytest.raises(InvalidInputError) as caught:
        require_one_of("kind", value, ("knn", "radius"))
    assert str(caught.value).startswith(f"kind must be one of knn, radius, got {value!r}.")


def test_options_may_come_from_an_iterator():
    require_one_of("kind", "b", iter("abc"))
    with pytest.raises(InvalidInputError, match="one of a, b, c, got 'd'"):
        require_one_of("kind", "d", iter("abc"))


def test_nearest_names_up_to_three():
    assert nearest("isomup", ["isomap", "pca"]) == "Did you mean 'isomap'? "
    assert nearest("abcd", ["abce", "abcf", "abcg", "abch"]).count("'") == 6
    assert nearest("zzz", ["isomap", "pca"]) == ""
    assert nearest("zzz", []) == ""


# ---- kinds -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (InvalidInputError, ValueError),
        (DisconnectedGraphError, ValueError),
        (MemoryBudgetError, MemoryError),
        (MissingExtraError, ImportError),
        (FileFormatError, OSError),
    ],
)
def test_an_error_is_ours_and_what_python_calls_it(error, builtin):
    assert issubclass(error, IsentropicError)
    assert issubclass(error, builtin)
    assert str(error("said")) == "said"
    assert str(pickle.loads(pickle.dumps(error("said")))) == "said"  # from a parallel worker


def test_every_error_and_warning_has_our_base():
    kinds = [
        kind
        for kind in vars(_errors).values()
        if isinstance(kind, type) and kind.__module__ == _errors.__name__
    ]
    assert len(kinds) > 8
    for kind in kinds:
        assert issubclass(kind, IsentropicWarning if issubclass(kind, Warning) else IsentropicError)
        assert kind.__doc__
