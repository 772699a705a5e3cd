"""Every public function checks its arguments: array-likes are converted, what does not fit is our error."""

import copy
import os
import warnings

import numpy as np
import pytest

import isentropic
from isentropic import IsentropicError, IsentropicWarning, config_context, get_config, set_config
from public_calls import Given, alike, calls, public_functions, same, unlike

FUNCTIONS = public_functions()
EACH = 3 * int(os.environ.get("ISENTROPIC_ATTACKS", "1"))  # of the sound kinds of an argument


def called(name, arguments):
    """The function with copies of models, which some calls change."""
    made = {key: copy.deepcopy(value) if key == "model" else value for key, value in arguments.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IsentropicWarning)
        return FUNCTIONS[name](**made)


def refused(name, arguments):
    """Whether it is an error of ours; one of another library goes through."""
    try:
        called(name, arguments)
    except IsentropicError:
        return True
    return False


def test_every_public_function_has_a_sound_call():
    """A new one fails here until it is in the table, and then below until it checks its arguments."""
    assert set(calls()) == set(FUNCTIONS)
    top = {name for name in isentropic._PUBLIC if name.islower()} - {"load", "save", "make"}
    known = {name.rpartition(".")[2] for name in FUNCTIONS}
    assert top - known == {
        "config_context",
        "get_config",
        "set_config",
    }  # tested below; load and save in test_saving


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arguments_are_checked_at_the_door(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = calls()[name]
    sound = {key: given.value for key, given in arguments.items()}
    expected = called(name, sound)
    draws = np.random.default_rng(sum(map(ord, name)))
    for key, given in arguments.items():
        kinds = list(alike(given).items())
        for place in draws.permutation(len(kinds))[:EACH]:
            how, value = kinds[place]
            assert same(expected, called(name, sound | {key: value})), f"{key} as {how}"
        for how, value in unlike(given).items():
            assert refused(name, sound | {key: value}), f"{key} may be {how}"


def test_the_comparison_of_results_notices():
    assert same((1, np.array([1.0, np.nan])), (1, np.array([1.0, np.nan])))
    assert not same((1, np.array([1.0])), (1, np.array([2.0])))
    assert not same({"a": 1}, {"a": 2})
    assert not same(Given(1, "count"), Given(2, "count"))


# ---- settings ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("progress", value) for value in (True, False, 1, "bar", [print])),
        *(("deadline", value) for value in (True, "soon", np.nan, [1.0])),
        *(("memory_fraction", value) for value in (0, 1.5, -1, "half", None, True, np.nan)),
        *(("memory_in_all", value) for value in (None, 1, "yes")),
        *(("memory_limit", value) for value in (0, -5, "2 GB", True, np.nan)),
        ("memory", 5),
    ],
)
def test_settings_are_checked_where_they_are_made(option, value):
    before = get_config()
    with pytest.raises(IsentropicError, match=f"{option if option != 'memory' else 'setting'} must be"):
        set_config(**{option: value})
    with pytest.raises(IsentropicError), config_context(**{option: value}):
        pytest.fail("the block must not begin")
    assert get_config() == before
