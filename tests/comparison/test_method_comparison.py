"""compare: what a Run holds, what fails, what resumes."""

import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
import warnings
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from isentropic import Isomap, Run, compare, datasets, quality, registry
from isentropic._core import errors as _extras
from isentropic._core.errors import FileFormatError, InvalidInputError, IsentropicWarning, StoredRunWarning
from isentropic._core.runtime import config_context
from isentropic.comparison import PRESETS
from isentropic.comparison.budget.comparison_plan import ComparisonPlan
from isentropic.comparison.evaluation.method_evaluation import false_neighbor_rate
from isentropic.comparison.presets import grid_of, methods_of
from isentropic.registry import Method

FITS = []  # one entry for each fit of a stub


class Stub(BaseEstimator):
    """The first columns, and noise by seed."""

    def __init__(self, does="", noise=0.0, n_neighbors=10, random_state=None):
        self.does = does
        self.noise = noise
        self.n_neighbors = n_neighbors
        self.random_state = random_state

    def fit_transform(self, X, y=None):
        FITS.append((len(X), self.random_state))
        if self.does == "fail":
            raise KeyError("inner name")
        if self.does == "nan":
            return np.full((len(X), 2), np.nan)
        if self.does == "warn":
            warnings.warn("Look twice.", IsentropicWarning, stacklevel=2)
        draws = np.random.default_rng(self.random_state).normal(size=(len(X), 2))
        return X[:, :2] + self.noise * draws


class Placing(Stub):
    """With transform."""

    def transform(self, X):
        return X[:, :2].copy()


class Supervised(Placing):
    """Puts each class in a place of its own, which new rows cannot know."""

    def fit_transform(self, X, y=None):
        assert y is not None
        return X[:, :2] + 100.0 * np.asarray(y)[:, None]


STUBS = (
    Method("stub", f"{__name__}:Stub", "Nothing much.", "none", "O(1); O(1)", "(2000)"),
    Method("drawn", f"{__name__}:Stub", "Draws.", "none", "O(1); O(1)", "(2000)", draws_above=0),
    Method("placing", f"{__name__}:Placing", "Places.", "none", "O(1); O(1)", "(2000)"),
    Method("small", f"{__name__}:Stub", "Few rows.", "none", "O(1); O(1)", "(2000)", max_rows=20),
    Method("labelled", f"{__name__}:Supervised", "Classes.", "none", "O(1); O(1)", "(2000)", needs_y=True),
)


@pytest.fixture
def stubs(monkeypatch):
    FITS.clear()
    added = {method.name: method for method in STUBS}
    monkeypatch.setattr(registry, "METHODS", MappingProxyType({**registry.METHODS, **added}))


@pytest.fixture
def X(rng):
    return np.column_stack([rng.normal(size=(40, 2)), 0.1 * rng.normal(size=40)])


# ---- what a Run holds --------------------------------------------------------------------------


def test_a_run_holds_the_map_and_its_quality(X):
    (run,) = compare(X, methods=["isomap"], tune=False)
    np.testing.assert_array_equal(run.embedding, Isomap().fit_transform(X))
    assert run.quality.to_json() == quality.assess(X, run.embedding, random_state=0).to_json()
    assert not run.failed
    assert run.seconds > 0
    assert run.memory_mib is None or run.memory_mib >= 0
    assert run.seed is None
    assert run.params == {}
    assert run.trials == run.repeats == ()


def test_runs_survive_json(X, stubs):
    y = np.arange(40) % 2
    for run in compare(X, y, {"drawn": {"noise": 0.5}, "labelled": {}, "isomap": {}, "small": {}}):
        back = Run.from_json(run.to_json())
        assert back.to_json() == run.to_json()
        assert json.loads(run.to_json())["method"] == run.method


def test_memory_of_a_fit_is_seen_on_linux(X):
    def greedy(X):
        block = np.ones((40, 2**20))  # 320 MiB
        return X[:, :2] + 0 * block[:, :2]

    (run,) = compare(X, methods={"greedy": greedy})
    if sys.platform == "linux":
        assert run.memory_mib == pytest.approx(320, rel=0.2)


def test_the_chosen_parameters_are_the_best_of_the_trials(roll):
    (run,) = compare(roll[:200], methods=["isomap"], budget=4)
    assert run.criterion == "rnx_auc"
    assert len(run.trials) == 4
    best = max(run.trials, key=lambda trial: trial.score)
    assert run.params == best.params
    assert run.quality.measures["rnx_auc"].value == pytest.approx(best.score, abs=1e-12)


def test_seeds_are_repeated_only_where_a_method_draws(X, stubs):
    plain, drawn = compare(X, methods={"stub": {}, "drawn": {"noise": 1.0}}, tune=False, random_state=7)
    assert plain.repeats == ()
    assert drawn.seed == 7
    assert [repeat["seed"] for repeat in drawn.repeats] == [8, 9]
    areas = {drawn.quality.measures["rnx_auc"].value, *(r["rnx_auc"] for r in drawn.repeats)}
    assert len(areas) == 3
    third = X[:, :2] + np.random.default_rng(9).normal(size=(40, 2))
    assert drawn.repeats[1]["rnx_auc"] == quality.rnx_auc(X, third)
    assert drawn.repeats[1]["kendall_tau"] == quality.kendall_tau(X, third).value


def test_a_seed_that_changes_nothing_is_tried_once(X, stubs):
    (run,) = compare(X, methods={"drawn": {"noise": 0.0}}, tune=False, random_state=7)
    assert run.repeats == ()
    assert run.seed is None


def test_the_baseline_is_what_permutation_gives(X):
    (run,) = compare(X, methods=["pca"], tune=False)
    chance = quality.baseline(X, run.embedding, n_permutations=19, random_state=0)
    mean, high = run.baseline["trustworthiness(10)"]
    assert mean == chance.chance["trustworthiness"][:, 9].mean()
    assert mean < high < run.quality.measures["trustworthiness(10)"].value
    assert abs(run.baseline["rnx_auc"][0]) < 0.05


def test_false_neighbor_rates_are_counted(X, rng):
    Z = rng.normal(size=(40, 2))
    found = quality.assess(X, Z)
    k = found.n_neighbors[0]
    near = [np.argsort(((S[:, None] - S) ** 2).sum(axis=2), axis=1)[:, 1 : k + 1] for S in (X, Z)]
    expected = [1 - len(set(a) & set(b)) / k for a, b in zip(*near, strict=True)]
    np.testing.assert_allclose(false_neighbor_rate(X, Z, found), expected)


def test_rows_as_near_as_the_last_neighbour_are_not_false():
    """On a lattice the tenth neighbour has equals: the map of a turned lattice is perfect all the same."""
    lattice = np.stack(np.meshgrid(np.arange(9.0), np.arange(9.0)), axis=-1).reshape(-1, 2)
    turned = lattice @ np.array([[0.8, 0.6], [-0.6, 0.8]])
    assert false_neighbor_rate(lattice, turned, quality.assess(lattice, turned)).max() == 0
    assert false_neighbor_rate(lattice, turned[::-1] * [1, 3], quality.assess(lattice, turned)).mean() > 0.2


def test_other_methods_change_nothing_but_whether_the_map_is_walked(X):
    alone, beside = compare(X, methods=["isomap"])[0], compare(X, methods=["pca", "isomap"])[1]
    untimed = [
        replace(
            run,
            seconds=0.0,
            memory_mib=None,
            trials=tuple(replace(t, seconds=0.0) for t in run.trials),
            row_diagnostics=replace(
                run.row_diagnostics, walked=None, jumps=None
            ),  # only the shown map is walked
        )
        for run in (alone, beside)
    ]
    assert untimed[0].to_json() == untimed[1].to_json()


def test_any_number_of_threads_gives_the_same(roll):
    runs = [compare(roll[:150], methods=["isomap"], n_jobs=n_jobs)[0] for n_jobs in (1, 2)]
    assert runs[0].quality.to_json() == runs[1].quality.to_json()
    np.testing.assert_array_equal(runs[0].embedding, runs[1].embedding)


# ---- classes -----------------------------------------------------------------------------------


def test_accuracy_is_that_of_rows_held_out_from_all():
    iris = datasets.load("builtin:iris")
    (run,) = compare(iris.X, iris.y, ["pca"], tune=False)
    value, low, high = run.accuracy
    assert low < value < high
    assert value == pytest.approx(0.93, abs=0.06)
    assert run.data_accuracy[0] >= value - 0.05


def test_a_map_that_learned_the_classes_gets_no_praise_for_it(stubs, rng):
    X, y = rng.normal(size=(200, 3)), np.arange(200) % 2
    (run,) = compare(X, y, ["labelled"], tune=False)
    assert run.quality.measures["knn_accuracy"].value == 1.0  # in sample, as papers have it
    assert run.accuracy[0] == pytest.approx(0.5, abs=0.15)


def test_without_transform_or_classes_there_is_no_accuracy(X, stubs):
    y = np.arange(40) % 2
    assert compare(X, y, ["stub"], tune=False)[0].accuracy is None
    assert compare(X, y, ["placing"], tune=False)[0].accuracy is not None
    assert compare(X, None, ["placing"], tune=False)[0].accuracy is None
    assert compare(X, X[:, 0], ["placing"], tune=False)[0].accuracy is None  # a target of numbers


@pytest.mark.parametrize("n_classes", [1, 2, 30, 40])
def test_any_number_of_classes(X, n_classes):
    (run,) = compare(X, np.arange(40) % n_classes, ["pca"], tune=False)
    assert not run.failed
    assert (run.accuracy is None) == (n_classes == 1)


# ---- failures ----------------------------------------------------------------------------------


def test_a_failure_is_a_row_with_its_reason(X, stubs):
    runs = compare(
        X,
        methods={"stub": {"does": "fail"}, "drawn": {"does": "nan"}, "small": {}, "labelled": {}, "pca": {}},
        tune=False,
    )
    assert [run.failed for run in runs] == [True, True, True, True, False]
    assert runs[0].reason == "KeyError: 'inner name'"
    assert runs[1].reason == "The map must be finite, got 80 coordinates that are not."
    assert "at most 20 rows for small, got 40" in runs[2].reason
    assert "y must be given, because labelled learns from it" in runs[3].reason
    assert all(run.quality is None for run in runs[:4])


def test_warnings_are_kept(X, stubs):
    (run,) = compare(X, methods={"stub": {"does": "warn"}}, tune=False)
    assert run.warnings == ("Look twice.",)


def test_labels_with_estimators_and_functions(X):
    runs = compare(X, methods={"near": Isomap(n_neighbors=4), "first": lambda X: X[:, :2]}, tune=False)
    assert [run.method for run in runs] == ["near", "first"]
    assert runs[0].params == {"n_neighbors": 4}
    np.testing.assert_array_equal(runs[1].embedding, X[:, :2])


def test_parameters_that_json_does_not_know_are_written_out(X):
    from isentropic import Knn

    (run,) = compare(X, methods={"isomap": {"neighbors": Knn(5)}}, tune=False)
    assert run.params["neighbors"].startswith("Knn(k=5")
    assert Run.from_json(run.to_json()).params == run.params


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"methods": ["isomup"]}, "Did you mean 'isomap'"),
        ({"methods": []}, "at least one"),
        ({"methods": "pca"}, r"Say \['pca'\]"),
        ({"methods": {"mine": 3}}, "an object with fit_transform"),
        ({"preset": "fast"}, "preset"),
        ({"criterion": "rnx"}, "Did you mean 'rnx_auc'"),
        ({"budget": 0}, "budget"),
        ({"n_seeds": 1.5}, "n_seeds"),
        ({"random_state": None}, "random_state"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"X": np.eye(3)}, "at least 4 rows"),
        ({"X": np.full((9, 2), np.nan)}, "finite"),
        ({"y": np.arange(3)}, "one class for each of 40 rows"),
    ],
)
def test_what_is_refused(X, change, text):
    with pytest.raises(InvalidInputError, match=text):
        compare(**{"X": X, "methods": ["pca"], **change})


# ---- presets -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PRESETS)
def test_presets_hold_methods_of_the_registry(name):
    for n in (100, 10**6):
        chosen = methods_of(PRESETS[name], n, has_classes=False)
        assert set(chosen) <= set(registry.METHODS)
        assert "pca" in chosen
        assert not any(registry.METHODS[method].needs_y for method in chosen)
        assert not any(registry.METHODS[method].family == "wrapper" for method in chosen)


def test_a_variant_stands_in_where_the_plain_method_cannot():
    assert "landmark-isomap" not in methods_of(PRESETS["standard"], 1000, has_classes=False)
    assert "landmark-isomap" in methods_of(PRESETS["standard"], 100_000, has_classes=False)
    assert "landmark-isomap" in methods_of(PRESETS["thorough"], 1000, has_classes=False)


def test_methods_to_come_are_in_the_thorough_preset_unless_their_line_says_otherwise(stubs, monkeypatch):
    assert {"stub", "drawn"} <= set(methods_of(PRESETS["thorough"], 1000, has_classes=False))
    assert "labelled" in methods_of(PRESETS["thorough"], 1000, has_classes=True)
    assert "labelled" not in methods_of(PRESETS["thorough"], 1000, has_classes=False)
    assert "stub" not in methods_of(PRESETS["standard"], 1000, has_classes=False)
    line = replace(registry.METHODS["stub"], preset="standard")
    monkeypatch.setattr(registry, "METHODS", MappingProxyType({**registry.METHODS, "stub": line}))
    assert "stub" in methods_of(PRESETS["standard"], 1000, has_classes=False)
    assert "stub" not in methods_of(PRESETS["quick"], 1000, has_classes=False)


def test_presets_stay_small_whatever_is_registered():
    sizes = [len(methods_of(PRESETS[name], 1000, has_classes=False)) for name in PRESETS]
    assert sizes == sorted(sizes)
    assert sizes[0] <= 6
    assert sizes[1] <= 13


def test_a_method_whose_extra_is_missing_is_a_row_with_the_reason(X, stubs, monkeypatch):
    line = replace(registry.METHODS["stub"], extra="absent")
    monkeypatch.setattr(registry, "METHODS", MappingProxyType({**registry.METHODS, "stub": line}))
    monkeypatch.setattr(_extras, "EXTRAS", {"absent": ("no_such_module",)})
    missing, pca = compare(X, methods=["stub", "pca"], budget=2)
    assert missing.failed
    assert "pip install 'isentropic[absent]'" in missing.reason
    assert not pca.failed


def test_other_seeds_are_tried_where_the_rows_are_so_many_that_a_method_draws(X, monkeypatch):
    line = replace(registry.METHODS["parameter-free-sdd"], draws_above=30)
    monkeypatch.setattr(registry, "METHODS", MappingProxyType({**registry.METHODS, line.name: line}))
    monkeypatch.setattr("isentropic.methods.distance.pairs.ALL_UP_TO", 30)
    monkeypatch.setattr("isentropic.methods.distance.pairs.PAIRS_PER_ROW", 6)
    drawn, few = (compare(rows, methods=[line.name], n_seeds=3)[0] for rows in (X, X[:30]))
    assert drawn.seed == 0
    assert [repeat["seed"] for repeat in drawn.repeats] == [1, 2]
    assert few.seed is None
    assert few.repeats == ()


def test_a_class_of_another_package_is_not_taken_for_ours_by_its_name(X):
    class PCA(Stub):
        """Draws, unlike ours."""

    (run,) = compare(X, methods={"theirs": PCA(noise=1.0)}, tune=False, n_seeds=2)
    assert len(run.repeats) == 1


@pytest.mark.parametrize("n", [4, 10, 150, 5000])
@pytest.mark.parametrize("parameter", ["n_neighbors", "percentile", "perplexity"])
def test_grids_fit_small_tables(n, parameter):
    (values,) = grid_of({parameter: 10}, n, 5).values()
    assert list(values) == sorted(values)
    assert min(values) > 0
    assert max(values) <= (max(10, 1000 / n) if parameter == "percentile" else max(2, n // 2))


# ---- progress ----------------------------------------------------------------------------------


def test_progress_names_the_method_and_the_parameter(roll, stubs):
    seen = []
    with config_context(progress=lambda what, done, total: seen.append((what, done, total))):
        compare(roll[:80], methods={"isomap": {}, "drawn": {"noise": 1.0}, "small": {}}, budget=3)
    words = [what.partition(",")[0] for what, _, _ in seen]  # without the time that is left
    assert "isomap: n_neighbors = 5" in words
    assert "drawn: seed 2" in words
    done = [count for _, count, _ in seen]
    assert done == sorted(done)
    totals = {total for _, _, total in seen}
    assert totals == {done[-1]}


# ---- the folder --------------------------------------------------------------------------------


def test_runs_are_read_back(X, stubs, tmp_path):
    told = []
    call = {"methods": ["stub", "pca"], "folder": tmp_path / "new" / "runs", "tune": False}
    first = compare(X, **call, on_run=lambda run, back: told.append((run.method, back)))
    FITS.clear()
    second = compare(X, **call, on_run=lambda run, back: told.append((run.method, back)))
    assert FITS == []
    assert told == [("stub", False), ("pca", False), ("stub", True), ("pca", True)]
    assert [a.to_json() for a in first] == [b.to_json() for b in second]
    assert len(list((tmp_path / "new" / "runs").iterdir())) == 2


@pytest.mark.parametrize(
    "change",
    [
        {"X": np.ones},
        {"random_state": 1},
        {"methods": {"stub": {"noise": 0.1}}},
        {"tune": True},
        {"y": np.arange(40) % 2},
    ],
    ids=lambda change: next(iter(change)),
)
def test_anything_else_is_computed_again(X, stubs, tmp_path, change):
    call = {"X": X, "methods": ["stub"], "folder": tmp_path, "tune": False}
    compare(**call)
    FITS.clear()
    if "X" in change:
        change = {"X": X + 1e-12}
    compare(**{**call, **change})
    assert FITS


def test_another_version_computes_again(X, stubs, tmp_path, monkeypatch):
    compare(X, methods=["stub"], folder=tmp_path)
    monkeypatch.setattr("isentropic.comparison.evaluation.runs.__version__", "99")
    FITS.clear()
    compare(X, methods=["stub"], folder=tmp_path)
    assert FITS


def test_other_code_of_the_same_version_computes_again(X, stubs, tmp_path, monkeypatch):
    compare(X, methods=["stub"], folder=tmp_path)
    monkeypatch.setattr("isentropic.comparison.evaluation.runs.code_fingerprint", lambda: "another")
    FITS.clear()
    compare(X, methods=["stub"], folder=tmp_path)
    assert FITS


def test_another_class_under_the_same_label_is_computed(X, tmp_path):
    compare(X, methods={"mine": Stub()}, folder=tmp_path, tune=False)
    (run,) = compare(X, methods={"mine": Placing(noise=0.0)}, folder=tmp_path, tune=False)
    assert len(list(tmp_path.iterdir())) == 2
    assert not run.failed


def test_failures_are_tried_again_and_damage_is_mended(X, stubs, tmp_path):
    compare(X, methods={"stub": {"does": "fail"}}, folder=tmp_path)
    FITS.clear()
    compare(X, methods={"stub": {"does": "fail"}}, folder=tmp_path)
    assert FITS
    compare(X, methods=["pca"], folder=tmp_path)
    (file,) = tmp_path.glob("pca-*.json")
    file.write_text(file.read_text(encoding="utf-8")[:-30], encoding="utf-8")
    with pytest.warns(StoredRunWarning, match="is computed again.*does not match its checksum"):
        (run,) = compare(X, methods=["pca"], folder=tmp_path)
    assert not run.failed
    assert Run.from_json(file.read_text(encoding="utf-8")).method == "pca"


def test_functions_are_never_read_back(X, tmp_path):
    first = compare(X, methods={"f": lambda X: X[:, :2]}, folder=tmp_path)[0]
    second = compare(X, methods={"f": lambda X: X[:, 1:]}, folder=tmp_path)[0]
    assert not np.array_equal(first.embedding, second.embedding)


def test_a_folder_that_cannot_be_is_refused_before_any_fit(X, stubs, tmp_path):
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")
    for folder in (file, file / "below"):
        with pytest.raises(FileFormatError, match="cannot be"):
            compare(X, methods=["stub"], folder=folder)
    assert FITS == []


@pytest.mark.parametrize("fails_at", [1, 2])  # as the folder is tried, or as the second run is written
def test_a_full_disk_leaves_nothing_half_written(X, tmp_path, monkeypatch, fails_at):
    calls, fsync = [], os.fsync

    def full(descriptor):
        calls.append(descriptor)
        if len(calls) >= fails_at:
            raise OSError(28, "No space left on device")
        fsync(descriptor)

    compare(X, methods=["pca"], folder=tmp_path)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileFormatError, match="no space left on device"):
        compare(X, methods=["pca", "classical-mds"], folder=tmp_path)
    assert [path.name[:4] for path in tmp_path.iterdir()] == ["pca-"]


def test_a_disk_without_room_is_refused_before_any_fit(X, stubs, tmp_path, monkeypatch):
    left = shutil.disk_usage(tmp_path)._replace(free=9_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: left)
    with pytest.raises(FileFormatError, match="8 KiB are left of 13 that it takes"):
        compare(X, methods=["stub"], folder=tmp_path)
    assert FITS == []
    assert list(tmp_path.iterdir()) == []


def test_leftovers_of_a_killed_process_are_swept(X, tmp_path):
    old, new = (tmp_path / f".pca-{'0' * 20}.json.{name}.tmp" for name in ("a", "b"))
    for path in (old, new):
        path.write_text("half", encoding="utf-8")
    os.utime(old, (1, 1))
    compare(X, methods=["pca"], folder=tmp_path, tune=False)
    assert not old.exists()
    assert new.exists()  # another process may be writing it


KILLED = """
    import sys, time
    import numpy as np
    from isentropic import compare, registry
    from isentropic.registry import Method

    class Slow:
        def __init__(self, **params): pass
        def get_params(self, deep=False): return {}
        def fit_transform(self, X, y=None):
            sys.stderr.write("slow\\n"); sys.stderr.flush()
            time.sleep(float(sys.argv[2]))
            return X[:, :2].copy()

    sys.modules["slow"] = sys.modules["__main__"]
    line = Method("slow", "slow:Slow", "Slow.", "none", "O(1); O(1)", "(2000)")
    registry.METHODS = {**registry.METHODS, "slow": line}
    X = np.random.default_rng(0).normal(size=(60, 4))
    compare(X, methods=["pca", "isomap", "slow", "classical-mds"], folder=sys.argv[1],
            on_run=lambda run, back: print(run.method, "read" if back else "computed", flush=True))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
def test_after_kill_9_finished_runs_are_not_computed_again(tmp_path):
    script, folder = tmp_path / "killed.py", tmp_path / "runs"
    script.write_text(textwrap.dedent(KILLED), encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, script, folder, "60"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr.readline() == "slow\n"
        time.sleep(0.1)
        process.send_signal(signal.SIGKILL)
        stdout, _ = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == -signal.SIGKILL
    assert stdout.splitlines() == ["pca computed", "isomap computed"]
    for path in folder.iterdir():
        Run.from_json(path.read_text(encoding="utf-8"))  # every file there is whole
    done = subprocess.run(
        [sys.executable, script, folder, "0"], capture_output=True, text=True, check=True, timeout=100
    )
    assert done.stdout.splitlines() == ["pca read", "isomap read", "slow computed", "classical-mds computed"]


def test_the_vote_is_that_of_scikit_learn(rng):
    from sklearn.neighbors import KNeighborsClassifier

    from isentropic.comparison.evaluation.fitting import accuracy_between

    known, placed = rng.normal(size=(80, 2)), rng.normal(size=(50, 2))
    a, b = rng.integers(4, size=80), rng.integers(4, size=50)
    expected = KNeighborsClassifier(10).fit(known, a).score(placed, b)
    assert accuracy_between(known, a, placed, b)[0] == pytest.approx(expected)


def test_a_warning_names_the_method_that_it_is_about(rng):
    methods = {"pca": {}, "collapsed": lambda X: np.zeros((len(X), 2))}
    with pytest.warns(IsentropicWarning, match=r"^collapsed: All rows of Z are equal"):
        pca, _ = compare(rng.normal(size=(14, 3)), methods=methods, preset="quick")
    assert not pca.failed
    assert pca.quality.n_neighbors == (4,)  # a third of the others, of so few rows
    assert pca.false_share.max() <= 1


def test_a_preset_leaves_out_what_takes_as_long_as_the_others_unless_it_is_named(rng):
    X = rng.normal(size=(4, 2))

    def work(n, methods=None, preset="standard"):
        table = np.repeat(X, n // 4, axis=0) + 1e-3 * rng.normal(size=(n, 2))
        return ComparisonPlan.of(table, None, methods, PRESETS[preset], 0, "auto", "euclidean", None, 1)

    small, large = work(748), work(800)
    gone = {task.label for task in small.candidates} - {task.label for task in large.candidates}
    assert gone == {"multiscale-t-sne"}
    assert small.notes == ()
    assert large.notes[0].startswith(
        "Not compared, as they would take longer than most others together: mult"
    )
    assert [task.label for task in work(800, ["multiscale-t-sne"]).candidates] == ["multiscale-t-sne"]
    assert "multiscale-t-sne" in {task.label for task in work(800, preset="thorough").candidates}


def test_the_quick_preset_is_light_on_many_rows_only(rng):
    def work(n):
        return ComparisonPlan.of(
            rng.normal(size=(n, 2)), None, None, PRESETS["quick"], 0, "auto", "euclidean", None, 1
        )

    few, many = work(300), work(2_100)
    assert [task.label for task in few.candidates] == ["pca", "parameter-free-sdd", "t-sne", "umap"]
    assert (few.preset.scored_rows, many.preset.scored_rows) == (None, 1_000)
    assert [task.params for task in few.candidates] == [{}] * 4
    assert dict(many.candidates[1].params) == {"pairs": 20}
