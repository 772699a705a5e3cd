"""isentropic warm."""

import pytest

from isentropic.comparison import kernel_warmup
from isentropic.registry import METHODS


@pytest.fixture
def asked(monkeypatch):
    calls = []
    monkeypatch.setattr(kernel_warmup, "warm_up", lambda *args, **options: calls.append((args, options)))
    return calls


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ((), None),
        (("--methods", "pca, isomap"), ("pca", "isomap")),
        (("--methods", "all"), tuple(METHODS)),
    ],
)
def test_what_is_compiled(run, asked, words, names):
    result = run("warm", *words)
    assert result.exit_code == 0
    assert "Compiled kernels are ready" in result.stdout
    assert asked[0][0] == (names,)


@pytest.mark.parametrize("names", ["isomup", " , "])
def test_names_that_are_none(run, asked, names):
    result = run("warm", "--methods", names)
    assert result.exit_code == 2
    assert "--methods must be" in result.stderr
    assert asked == []


def test_quiet_says_nothing(run, asked):
    assert run("warm", "--quiet").stdout == ""
