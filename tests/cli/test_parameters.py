"""-p key=value."""

import math

import pytest

from isentropic import (
    PCA,
    Can,
    Diffusion,
    Geodesic,
    Isomap,
    Knn,
    Landmarks,
    Momentum,
    Percentile,
    Pnn,
    Radius,
)
from isentropic._core.errors import InvalidInputError
from isentropic._core.values import Inflate
from isentropic.cli.embed import parse_parameters, parse_value, with_seed_and_jobs


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("-3", -3),
        ("1e-3", 0.001),
        ("0.5", 0.5),
        ("3.0", 3.0),
        ("inf", math.inf),
        ("true", True),
        ("False", False),
        ("None", None),
        ("cityblock", "cityblock"),
        ("", ""),
        ("3px", "3px"),
        ("a=b", "a=b"),
        ("1,2.5", (1, 2.5)),
        ("1,b", "1,b"),
        ("1,", "1,"),
    ],
)
def test_words_and_numbers(text, value):
    parsed = parse_value(text)
    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("knn:15", Knn(15)),
        ("knn:15,approximate=false", Knn(15, approximate=False)),
        ("knn:k=4,exact_below=10", Knn(4, exact_below=10)),
        ("radius:0.5", Radius(0.5)),
        ("percentile:5", Percentile(5)),
        ("can:7", Can(7)),
        ("pnn:7", Pnn(7)),
        ("landmarks:300,rule=random", Landmarks(300, rule="random")),
        ("inflate:3", Inflate(3)),
        ("geodesic:12", Geodesic(12)),
        ("diffusion:12,t=8,sigma=2.5", Diffusion(12, t=8, sigma=2.5)),
        ("momentum:50,learning_rate=3", Momentum(50, learning_rate=3)),
    ],
)
def test_stage_values(text, value):
    assert parse_parameters([f"neighbors={text}"]) == {"neighbors": value}


def test_the_value_may_have_an_equals_sign_and_a_colon():
    assert parse_parameters(["a=x=y", "b=p:q"]) == {"a": "x=y", "b": "p:q"}


@pytest.mark.parametrize(
    ("items", "problem"),
    [
        (["n_neighbors"], r"-p must be key=value, got 'n_neighbors'\. For instance"),
        (["=3"], "-p must be key=value"),
        (["k=3", "k=4"], "-p must be given once for k"),
        (["neighbors=raduis:0.5"], "Did you mean 'radius'"),
        (["neighbors=knn:15,aproximate=false"], "Did you mean 'approximate'"),
        (["neighbors=knn:15,3"], "neighbors must be name:first,field=value"),
        (["n_landmarks=landmarks:rule=random9"], "needs a value for n"),
    ],
)
def test_what_is_refused(items, problem):
    with pytest.raises(InvalidInputError, match=problem):
        parse_parameters(items)


def test_seed_and_jobs_go_where_the_method_has_them():
    assert with_seed_and_jobs({"a": 1}, Isomap, 3, 2) == {"a": 1, "random_state": 3, "n_jobs": 2}
    assert with_seed_and_jobs({}, PCA, 3, None) == {}
    with pytest.raises(InvalidInputError, match="--seed must be left out where -p random_state is given"):
        with_seed_and_jobs({"random_state": 1}, Isomap, 3, None)
