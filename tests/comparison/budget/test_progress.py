"""The bar of a comparison: what is counted, and how long the rest will take, by a planted clock."""

import pytest

from isentropic.comparison import PRESETS
from isentropic.comparison.budget import progress
from isentropic.comparison.budget.progress import (
    ALL_ROWS,
    Progress,
    count_steps,
    estimate_time_left,
    step_kinds,
)
from isentropic.comparison.evaluation.candidates import as_candidates

METHODS = {"pca": 1.0, "isomap": 10.0, "umap": 4.0, "t-sne": 8.0}
KINDS = {"trial": 2.0, "map": 3.0, "measures": 5.0}


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress.time, "perf_counter", lambda: now[0])
    return now


def bar(messages, **pending):
    return Progress(lambda *told: messages.append(told), sum(map(len, pending.values())), pending)


def test_the_range_holds_what_the_rest_takes(clock):
    messages = []
    counted = bar(messages, **{name: list(KINDS) for name in METHODS})
    for name in ("pca", "isomap", "umap"):
        clock[0] += 1_000  # whatever comes between two methods
        counted.start(f"{name}: first rows")
        for kind in list(KINDS)[:-1] if name == "umap" else KINDS:
            clock[0] += METHODS[name] * KINDS[kind]
            counted.update(f"{name}: {kind}", 1)
    rest = [("umap", "measures"), *(("t-sne", kind) for kind in KINDS)]
    left = [(f"method {name}", f"step {kind}") for name, kind in rest]
    low, high = estimate_time_left(counted._timings, left)
    assert low < sum(METHODS[name] * KINDS[kind] for name, kind in rest) < high
    assert messages[-1] == ("umap: map, 0 to 3 min left", 8, 12)
    assert [text for text, _, _ in messages[:3]] == [
        "pca: first rows",
        "pca: trial",
        "pca: map",
    ]  # too early


def test_what_is_read_back_or_left_out_says_nothing_about_others(clock):
    messages = []
    counted = bar(
        messages, pca=list(KINDS), isomap=list(KINDS), umap=list(KINDS), **{ALL_ROWS: ["map of all"]}
    )
    counted.update("pca", 3)
    counted.update("isomap", 3)
    assert counted._timings == []
    for _ in range(3):
        clock[0] += 100
        counted.update("umap: on", 1)
    assert [seconds for _, seconds in counted._timings] == [100, 100, 100]
    assert messages[-1][0] == "umap: on, 93 to 116 s left"  # of all rows, of which no step was seen
    clock[0] += 100
    counted.update("umap: all rows", 1)
    assert messages[-1] == ("umap: all rows", 10, 10)


@pytest.mark.parametrize("name", ["pca", "umap", "lda"])
def test_steps_are_of_a_kind(name):
    (task,) = as_candidates([name])
    kinds = step_kinds(task, PRESETS["standard"], 500)
    assert len(kinds) == count_steps(task, PRESETS["standard"], 500)
    expected = {"pca": (0, 0, 0), "umap": (5, 2, 0), "lda": (0, 0, 19)}[name]
    assert tuple(map(kinds.count, ("trial", "seed", "labels permuted"))) == expected
    assert (kinds.count("map"), kinds.count("measures")) == (1, 1)
