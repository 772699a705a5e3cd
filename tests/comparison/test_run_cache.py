"""The folder of runs believes nothing: what is not as it was written is computed again, and said."""

from __future__ import annotations

import json
import os
from functools import reduce
from pathlib import Path

import numpy as np
import pytest

from isentropic import compare, config_context
from isentropic._core import cache as _kept
from isentropic._core.errors import FileFormatError, StoredRunWarning
from isentropic.comparison import Run
from isentropic.comparison.evaluation.runs import RunCache

KEY, OTHER = "0" * 20, "1" * 20


@pytest.fixture(scope="module")
def runs() -> dict[str, Run]:
    X = np.random.default_rng(0).normal(size=(24, 3))
    methods = {"pca": {}, "isomap": {"n_neighbors": 5}}
    # each by itself, as only the map that is shown is walked
    found = [compare(X, np.arange(24) % 2, {name: methods[name]}, budget=2)[0] for name in methods]
    return {run.method: run for run in found}


@pytest.fixture
def kept(tmp_path, runs) -> tuple[RunCache, Path]:
    cache = RunCache.at(tmp_path)
    cache.write(KEY, runs["pca"])
    (path,) = tmp_path.iterdir()
    return cache, path


def changed(path: Path, change) -> None:
    data = json.loads(path.read_text(encoding="utf-8"))
    change(data)
    path.write_text(json.dumps(data), encoding="utf-8")


def test_what_was_written_is_read(kept, runs):
    cache, path = kept
    assert cache.read("pca", KEY).to_json() == runs["pca"].to_json()
    assert Run.from_json(path.read_text(encoding="utf-8")).to_json() == runs["pca"].to_json()
    assert cache.read("pca", OTHER) is None  # not there: nothing to say


def raise_scores(data):
    for measure in data["quality"]["measures"].values():
        measure["value"] = 0.99


BY_HAND = {
    "scores raised": raise_scores,
    "embedding shuffled": lambda data: data["embedding"].reverse(),
    "a row swapped": lambda data: data["embedding"].insert(0, data["embedding"].pop(3)),
    "method renamed": lambda data: data.update(method="isomap"),
    "chance lowered": lambda data: data["baseline"].update(rnx_auc=[0.0, 0.0]),
    "failure hidden": lambda data: data.update(reason="", seconds=0.1),
    "NaN in the map": lambda data: data["embedding"][0].__setitem__(0, float("nan")),
    "infinite": lambda data: data["embedding"][0].__setitem__(1, float("inf")),
    "seal of another": lambda data: data.update(seal="0" * 64),
    "seal gone": lambda data: data.pop("seal"),
    "a field more": lambda data: data.update(extra=1),
}


@pytest.mark.parametrize("change", BY_HAND.values(), ids=list(BY_HAND))
def test_what_was_changed_by_hand_is_no_result(kept, change):
    cache, path = kept
    changed(path, change)
    with pytest.warns(StoredRunWarning, match="computed again.*checksum") as said:
        assert cache.read("pca", KEY) is None
    assert str(path) in str(said[0].message)
    assert len(said) == 1


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[1]", b"\xff\xfe", b"null", b"[" * 100_000, b'{"seal": "x"}', bytes(1000)]
)
def test_something_else_in_its_place(kept, content):
    cache, path = kept
    path.write_bytes(content)
    with pytest.warns(StoredRunWarning, match="computed again"):
        assert cache.read("pca", KEY) is None


@pytest.mark.parametrize("number", ["1" + "0" * 400, "9223372036854775808", "[" * 100_000, "NaN"])
@pytest.mark.parametrize(
    "place", [("seconds",), ("embedding", 0, 0), ("row_diagnostics", "walked", 0)], ids=str
)
def test_numbers_that_no_array_holds_are_no_result_though_the_checksum_is_theirs(kept, place, number):
    cache, path = kept
    data = json.loads(path.read_text(encoding="utf-8"))
    del data["seal"]
    *outer, last = place
    reduce(lambda part, key: part[key], outer, data)[last] = "@"
    text = json.dumps(data).replace('"@"', number)
    path.write_text(_kept._with_checksum(text, KEY), encoding="utf-8")
    with pytest.warns(StoredRunWarning, match="computed again"):
        assert cache.read("pca", KEY) is None
    with pytest.raises(FileFormatError, match="text must be JSON of format"):
        Run.from_json(text)


@pytest.mark.parametrize("share", [0.01, 0.3, 0.7, 0.99])
def test_a_file_that_is_cut_off(kept, share):
    cache, path = kept
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    with pytest.warns(StoredRunWarning, match="computed again"):
        assert cache.read("pca", KEY) is None


@pytest.mark.parametrize("how", ["link", "copy"])
@pytest.mark.parametrize("other", [("isomap", KEY), ("pca", OTHER)], ids=["method", "data"])
def test_the_file_of_another_run_is_no_result(tmp_path, runs, how, other):
    """Of another method, or of the same method on other data."""
    method, key = other
    cache = RunCache.at(tmp_path)
    cache.write(key, runs[method])
    (path,) = tmp_path.iterdir()
    place = tmp_path / f"pca-{KEY}.json"
    if how == "link":
        place.symlink_to(path)
    else:
        place.write_bytes(path.read_bytes())
    with pytest.warns(StoredRunWarning, match="computed again"):
        assert cache.read("pca", KEY) is None


IN_ITS_PLACE = {
    "a folder": lambda place: place.mkdir(),
    "a link that leads to itself": lambda place: place.symlink_to(place),
    "a pipe": os.mkfifo,
}


@pytest.mark.parametrize("what", IN_ITS_PLACE)
def test_what_is_no_file_is_told_of_and_left_alone(tmp_path, runs, what):
    cache, place = RunCache.at(tmp_path), tmp_path / f"pca-{KEY}.json"
    IN_ITS_PLACE[what](place)
    with pytest.warns(StoredRunWarning, match="computed again: .* it is no file, so that it is not kept"):
        assert cache.read("pca", KEY) is None
    cache.write(KEY, runs["pca"])
    assert [path.name for path in tmp_path.iterdir()] == [place.name]
    assert not place.is_file()


def test_a_file_beyond_the_budget_is_not_read(kept):
    cache, path = kept
    path.write_bytes(b" " * 1000)
    with config_context(memory_limit=4000), pytest.warns(StoredRunWarning, match="needs 7.812 KiB"):
        assert cache.read("pca", KEY) is None


def test_compare_computes_it_again_and_mends_the_file(tmp_path, runs):
    X = np.random.default_rng(0).normal(size=(24, 3))
    call = {"X": X, "methods": ["pca"], "folder": tmp_path}
    (first,) = compare(**call)
    (path,) = tmp_path.iterdir()
    changed(path, raise_scores)
    with pytest.warns(StoredRunWarning, match="computed again"):
        (second,) = compare(**call)
    assert second.quality.to_json() == first.quality.to_json()
    told = []
    compare(**call, on_run=lambda run, back: told.append(back))
    assert told == [True]


# ---- types -------------------------------------------------------------------------------------

STRANGE = [None, True, -1, "x", 1.5, [], {}, [None], ["x"], {"x": None}, float("nan"), [[1.0], [1.0, 2.0]]]


def places(data, before=()):
    """Every field of a document, and of the documents in it; of lists and measures the first entry."""
    entries = list(data.items()) if isinstance(data, dict) else []
    if isinstance(data, list) or before[-1:] == ("measures",):
        entries = list(enumerate(data))[:1] if isinstance(data, list) else entries[:1]
    for name, value in entries:
        yield (*before, name)
        yield from places(value, (*before, name))


def test_a_field_of_another_type_is_refused(runs):
    """In every place of the file: nothing gets through but another number, or nothing where that may be."""
    text = runs["isomap"].to_json()
    free = ("params",)  # whatever the method takes
    for place in places(json.loads(text)):
        for value in STRANGE:
            data = json.loads(text)
            inner = data
            for name in place[:-1]:
                inner = inner[name]
            if any(name in free for name in place) or type(inner[place[-1]]) is type(value):
                continue
            inner[place[-1]] = value
            try:
                run = Run.from_json(json.dumps(data))
            except FileFormatError:
                continue
            assert value in (None, -1, 1.5)
            assert Run.from_json(run.to_json()).to_json() == run.to_json()


@pytest.mark.parametrize("name", json.loads(Run("pca", {}, None, 0.0, None).to_json()))
def test_a_missing_field_is_named(runs, name):
    data = json.loads(runs["pca"].to_json())
    del data[name]
    with pytest.raises(FileFormatError, match=name):
        Run.from_json(json.dumps(data))


def test_a_link_in_place_of_a_result_is_not_written_through(tmp_path, runs):
    cache, table = RunCache.at(tmp_path / "runs"), tmp_path / "table.csv"
    table.write_bytes(b"a,b\n1,2\n")
    (tmp_path / "runs" / f"pca-{KEY}.json").symlink_to(table)
    cache.write(KEY, runs["pca"])
    assert table.read_bytes() == b"a,b\n1,2\n"
