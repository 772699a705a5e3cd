"""One grammar of messages: what, must be, got, next step."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assertions import assert_grammar
from isentropic import _errors
from isentropic._errors import (
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


def test_require_is_silent_when_it_holds():
    assert require(True, "k", "positive", 3) is None


def test_require_raises_when_it_does_not():
    with pytest.raises(InvalidInputError) as caught:
        require(False, "k", "positive", -3, "Take more.")
    assert str(caught.value) == "k must be positive, got -3. Take more."


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
