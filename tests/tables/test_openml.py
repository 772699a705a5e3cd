"""OpenML: what scikit-learn fetches, and what happens without a network. Nothing is downloaded here."""

from __future__ import annotations

from urllib.error import HTTPError, URLError

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets
from sklearn.utils import Bunch

from isentropic._core.errors import FileFormatError, TableWarning
from isentropic.datasets import load

FRAME = pd.DataFrame(
    {
        "size": [1.0, 2.0, 4.0],
        "zone": pd.Categorical(["b", "a", "b"], categories=["b", "a"]),
        "kind": ["p", "q", "p"],
    }
)


@pytest.fixture
def answer(monkeypatch):
    """Let OpenML answer with a value or an exception; returns the requests."""
    asked = []

    def give(reply):
        def fetch(**request):
            asked.append(request)
            if isinstance(reply, Exception):
                raise reply
            return reply

        monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
        return asked

    return give


def bunch(*targets: str) -> Bunch:
    return Bunch(frame=FRAME, target_names=list(targets), details={"name": "flats"})


def test_by_name(answer):
    asked = answer(bunch("kind"))
    table = load("openml:flats")
    assert asked == [{"name": "flats", "as_frame": True, "parser": "auto"}]
    assert table.feature_names == ("size", "zone=b", "zone=a")
    assert table.class_names == ("p", "q")
    assert table.name == "flats"


def test_by_number(answer):
    asked = answer(bunch("kind"))
    assert load("openml:61").name == "flats"
    assert asked[0]["data_id"] == 61


@pytest.mark.parametrize(
    ("word", "request_"),
    [("flats@2", {"name": "flats", "version": 2}), ("a@b@3", {"name": "a@b", "version": 3}),
     ("flats@x", {"name": "flats@x"}), ("@2", {"name": "@2"})],
)  # fmt: skip
def test_by_name_and_version(answer, word, request_):
    asked = answer(bunch("kind"))
    load(f"openml:{word}")
    assert asked == [{**request_, "as_frame": True, "parser": "auto"}]


def test_another_target_or_none_or_several(answer):
    answer(bunch("kind"))
    with pytest.warns(TableWarning, match="'kind', which flats knows as its target, is now a feature"):
        assert load("openml:flats", "size").class_names == ("1", "2", "4")
    answer(bunch())
    assert load("openml:flats").y is None
    answer(bunch("kind", "zone"))
    assert load("openml:flats").y is None


@pytest.mark.parametrize(
    "problem",
    [
        URLError("no route"),
        HTTPError("address", 503, "busy", {}, None),
        ConnectionResetError("reset"),
        ValueError("No active dataset flats found."),
    ],
)
def test_what_goes_wrong_has_next_steps(answer, problem):
    answer(problem)
    with pytest.raises(FileFormatError, match=r"openml:flats must be .* ISENTROPIC_DATA to a folder"):
        load("openml:flats")


def test_missing_values_are_counted(answer):
    answer(Bunch(frame=FRAME.assign(size=[1.0, np.nan, np.nan]), target_names=["kind"], details=None))
    with pytest.raises(ValueError, match="2 missing values: 'size' 2"):
        load("openml:flats")
