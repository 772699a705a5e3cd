"""No damaged model file crashes, places rows at NaN, or becomes another class: see model_fuzz.py."""

import os
import subprocess
import zlib
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import isentropic
import model_fuzz
from isentropic import PCA, Isomap

# Mutations of each method. ISENTROPIC_FUZZ=1000 for a new kind of state: that is a minute for 30 methods.
COUNT = int(os.environ.get("ISENTROPIC_FUZZ", "200"))


def test_damaged_files_of_every_method():
    names = model_fuzz.specimen_names()
    report = model_fuzz.watched(names, COUNT, seed=0, timeout=300 + 4 * COUNT)
    assert report["failures"] == []
    assert sum(report["counts"].values()) == COUNT * len(names)
    assert report["counts"]["refused"] > report["counts"]["placed"] > 0


def test_a_worker_that_dies_is_reported():
    report = model_fuzz.watched(["no-such-method"], 1, seed=0, timeout=120)
    assert "the worker ended with 1 after" in report["failures"][0]


@pytest.fixture(scope="module")
def specimen():
    return model_fuzz.made("pca")


@pytest.fixture
def path(specimen, tmp_path):
    (tmp_path / "model.isentropic").write_bytes(model_fuzz.whole(specimen))
    return tmp_path / "model.isentropic"


def test_a_whole_file_places_rows(specimen, path):
    assert model_fuzz.outcome(specimen, path) == "placed"


def test_another_class_is_noticed(specimen, path):
    with pytest.raises(AssertionError, match="another class"):
        model_fuzz.outcome(replace(specimen, kind=Isomap), path)


def test_places_that_are_not_finite_are_noticed(specimen, path, monkeypatch):
    monkeypatch.setattr(PCA, "transform", lambda self, X: np.full((len(X), 2), np.nan))
    with pytest.raises(AssertionError, match="not finite"):
        model_fuzz.outcome(specimen, path)


def test_a_refusal_without_the_file_is_noticed(specimen, path, monkeypatch):
    path.write_bytes(b"junk")
    monkeypatch.setattr("isentropic._core.models.saving.refusal", lambda *args: "no")
    assert model_fuzz.outcome(specimen, path) == "refused badly: no"
    monkeypatch.setattr("isentropic._core.models.saving.refusal", lambda path, *args: f"{path} {'x' * 2000}")
    assert model_fuzz.outcome(specimen, path).startswith("refused badly: ")


DOINGS = {
    "a command": lambda path: os.system("true"),
    "a process": lambda path: subprocess.run(["true"], check=True),
    "code": lambda path: eval("1 + 1"),
    "a file": lambda path: (path.parent / "made").write_text("x", encoding="utf-8"),
    "a file that is gone": lambda path: path.unlink(),
}


@pytest.mark.parametrize("what", DOINGS)
def test_a_load_that_does_more_than_read_is_noticed(specimen, path, monkeypatch, what):
    load = isentropic.load

    def load_and_more(path):
        model = load(path)
        DOINGS[what](path)
        return model

    monkeypatch.setattr(isentropic, "load", load_and_more)
    with pytest.raises(AssertionError, match="it did "):
        model_fuzz.outcome(specimen, path)


def test_a_load_that_takes_more_memory_than_the_file_is_noticed(specimen, path, monkeypatch):
    load = isentropic.load
    monkeypatch.setattr(isentropic, "load", lambda path: (np.ones(2**20), load(path))[1])
    with pytest.raises(AssertionError, match="loading took"):
        model_fuzz.outcome(specimen, path)


def test_a_file_that_hangs_is_reported(monkeypatch):
    monkeypatch.setenv("MODEL_FUZZ_LONGEST", "0.01")
    report = model_fuzz.watched(["pca"], 1000, seed=0, timeout=300)
    assert "the worker ended with 1 after: pca " in report["failures"][0]
    assert "Timeout" in report["failures"][0]


def test_mutations_are_of_many_kinds_and_the_same_again(specimen):
    def drawn(number):
        return model_fuzz.mutated(specimen, np.random.default_rng([number, zlib.crc32(b"pca")]))

    kinds = Counter(drawn(number)[1].split(": ")[-1] for number in range(400))
    assert len(kinds) > 60
    assert drawn(7) == drawn(7)
    assert len({drawn(number)[0] for number in range(50)}) > 45
