"""Files that are whole or not there, and models that load without trusting the file."""

import errno
import io
import json
import os
import pickle
import stat
import struct
import subprocess
import sys
import tracemalloc
import zipfile
from dataclasses import fields, is_dataclass

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression

import isentropic
import model_fuzz
from isentropic._core import specs as _specs
from isentropic._core import values as _values
from isentropic._core.errors import FileFormatError, InvalidInputError, MemoryBudgetError
from isentropic._core.files import atomic_write, require_writable
from isentropic._core.models import saving as _saving
from isentropic._core.models.model_file import MEMBER, buildable
from isentropic._core.models.saving import load, load_with_extra, save
from isentropic._core.state import (
    estimator_name,
    estimator_named,
    field_specs,
    is_model,
    require_state,
)
from isentropic.meta import ParametricEmbedding, Selected
from isentropic.registry import METHODS
from model_fuzz import reworded, rezipped

OURS = [name for name, method in METHODS.items() if method.module.startswith("isentropic.")]
MODELS = {  # a plain one, one whose parts share others, and two that hold models
    "pca": lambda: isentropic.make("pca"),
    "isomap": lambda: isentropic.Isomap(8),
    "selected": lambda: Selected(isentropic.Isomap(8), {"n_neighbors": [8, 9]}, n_jobs=1),
    "parametric": lambda: ParametricEmbedding(
        isentropic.PCA(), layers=(3,), max_epochs=2, synthetic=0, random_state=0
    ),
}
NO_SPACE = OSError(errno.ENOSPC, "No space left on device")


def refuse(*args, **kwargs):
    raise NO_SPACE


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(40, 3))


@pytest.fixture
def model(X):
    return isentropic.make("pca").fit(X)


def written(model, folder):
    save(model, folder / "model.isentropic", extra={"note": "hello"})
    return folder / "model.isentropic"


@pytest.fixture(params=MODELS)
def saved(request, X, tmp_path):
    return written(MODELS[request.param]().fit(X), tmp_path)


@pytest.fixture
def plain(model, tmp_path):
    """A file of PCA, which has no part in common with another."""
    return written(model, tmp_path)


@pytest.fixture
def chosen(X, tmp_path):
    """A file of a model that holds another."""
    return written(MODELS["selected"]().fit(X), tmp_path)


def header_of(path):
    """What ``model.json`` of a file holds."""
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read(MEMBER))


# ---- files -------------------------------------------------------------------------------------


def write(path, content, error=None):
    with atomic_write(path) as file:
        file.write(content)
        if error is not None:
            raise error


def test_a_file_is_written_whole(tmp_path):
    with atomic_write(tmp_path / "a.txt") as file:
        file.write(b"hello")
        assert not (tmp_path / "a.txt").exists()
    assert (tmp_path / "a.txt").read_bytes() == b"hello"
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, error):
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    with pytest.raises(error):
        write(path, b"new", error)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file_and_says_so(tmp_path, monkeypatch, step):
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, step, refuse)
    with pytest.raises(FileFormatError, match="cannot be written: no space left on device"):
        write(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_permissions_stay_and_new_files_follow_the_umask(tmp_path):
    path = tmp_path / "a.txt"
    before = os.umask(0o027)
    try:
        with atomic_write(path):
            pass
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
    finally:
        os.umask(before)
    path.chmod(0o604)
    with atomic_write(path):
        pass
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


def test_a_link_keeps_pointing_where_it_pointed(tmp_path):
    (tmp_path / "real.txt").write_bytes(b"old")
    (tmp_path / "link.txt").symlink_to(tmp_path / "real.txt")
    with atomic_write(tmp_path / "link.txt") as file:
        file.write(b"new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_bytes() == b"new"


@pytest.mark.parametrize("name", ["none/a.txt", "file/a.txt", "."])
@pytest.mark.parametrize("check", [require_writable, lambda path: atomic_write(path).__enter__()])
def test_what_cannot_be_written_is_refused(tmp_path, name, check):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(FileFormatError, match=r"(Choose a folder|Add a file name)"):
        check(tmp_path / name)
    assert os.listdir(tmp_path) == ["file"]


def test_a_writable_place_is_left_as_it_was(tmp_path):
    require_writable(tmp_path / "a.txt")
    assert os.listdir(tmp_path) == []


# ---- models ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("pca", {"n_components": 3, "whiten": True}),
        ("isomap", {"neighbors": _values.Radius(1.5), "n_landmarks": _values.Landmarks(9, rule="random")}),
        ("isomap", {"neighbors": _values.Percentile(20.0), "on_disconnected": _values.Inflate(3.0)}),
        ("isomap", {"neighbors": _values.Knn(4), "n_landmarks": 12, "random_state": 3}),
    ],
)
def test_values_of_parameters_come_back(name, parameters, X, tmp_path):
    """That every method does is a law: see laws.py."""
    fitted = isentropic.make(name, **parameters).fit(X)
    save(fitted, tmp_path / "model.isentropic")
    loaded = load(tmp_path / "model.isentropic")
    assert repr(loaded) == repr(fitted)
    new = np.concatenate([X[:3], X[:7] + 0.01])
    assert_array_equal(loaded.transform(new), fitted.transform(new))


@pytest.mark.parametrize("name", [*OURS, "selected"])
def test_a_file_may_name_the_parts_of_its_method_and_no_more(name):
    found = buildable(estimator_named(name))
    for part, kind in found.items():
        assert kind.__name__ == part
        assert kind.__module__.startswith("isentropic.")
        assert is_dataclass(kind)
        assert set(field_specs(kind)) == {field.name for field in fields(kind)}  # none is left unchecked
        assert not is_model(kind)
    assert {kind.__name__ for kind in _values.STAGES.values()} <= set(found)  # parameters may be such
    assert not {"Table", "ColumnSummary", "DistanceRows", "Embedder", "Part"} & set(found)


@pytest.mark.parametrize("name", [*OURS, "selected"])
def test_every_method_is_known_by_its_name(name):
    kind = estimator_named(name)
    assert kind is (METHODS[name].load() if name in METHODS else Selected)
    assert estimator_named(estimator_name(kind)) is kind  # presets share a class
    assert estimator_named(kind.__name__) is None
    assert estimator_named(f"{kind.__module__}:{kind.__name__}") is None


NO_METHODS = [
    "isentropic.methods.linear.pca:_PCA",  # an estimator of another library, imported there
    "isentropic.methods.linear.pca:PCA",
    "isentropic.methods.linear.pca.PCA",
    "isentropic.methods.geodesic.isomap:neighbor_graph",
    "isentropic.methods.geodesic.isomap",
    "isentropic.plot.palette:Isomap",
    "nowhere:Isomap",
    "Isomap",
    "ISOMAP",
    " isomap",
    "isomap:",
    "embedder",
    "",
    "sklearn.decomposition:PCA",
    "os:system",
    "__class__",
]


@pytest.mark.parametrize("name", NO_METHODS)
def test_what_is_no_method_of_ours_is_not_trusted(name, plain):
    assert estimator_named(name) is None
    reworded(plain, lambda found: found["model"].update(method=name))
    assert f"it asks for the method {name}, which is not trusted" in refusal(plain)


@pytest.mark.parametrize("name", [None, 3, True, 1.5, ["pca"], {"pca": 1}])
def test_a_method_that_is_no_name_is_not_trusted(name, saved):
    reworded(saved, lambda found: found["model"].update(method=name))
    assert "it asks for the method " in refusal(saved)


@pytest.mark.parametrize("place", ["method", "kind"])
def test_nothing_that_a_file_names_is_imported(place, plain):
    def change(found):
        node = found["model"] if place == "method" else found["parts"][0]
        node[place] = "isentropic.cli.embed:PCA"

    reworded(plain, change)
    code = f"""
import sys
from isentropic._core.models.saving import load
try:
    load({str(plain)!r})
except OSError as error:
    print("not trusted" in str(error), "isentropic.cli" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True False"


SOME_VALUES = [
    _values.Knn(4, approximate=False),
    _values.Radius(0.5),
    _values.Percentile(),
    _values.Can(3),
    _values.Pnn(3),
    _values.Pnn(3, 0.5),
    _values.Landmarks(5, rule="random"),
    _values.Inflate(),
    _values.Geodesic(_values.Knn(4), metric="manhattan"),
    _values.Diffusion(7, t=3, alpha=0.5),
    _values.Gower((1,), (0,), (1.0, 2.0, 0.5)),
    _values.Momentum(20),
    _values.Dis1(),
    _values.Dis2(),
    _values.Dis3(),
    _values.Dis4(2),
    _values.ClassDivergence(scale=None),
    _values.Neighbors(np.array([[1], [0]], np.int32), np.ones((2, 1)), "euclidean", True),
]


def test_all_values_that_a_parameter_may_be_are_tried():
    assert {type(value) for value in SOME_VALUES} == {*_values.STAGES.values(), _values.Neighbors}


@pytest.mark.parametrize("value", SOME_VALUES, ids=lambda value: type(value).__name__)
def test_every_value_comes_back(value, tmp_path):
    loaded = read_back(value, tmp_path)
    assert type(loaded) is type(value)
    for field in fields(value):
        assert_array_equal(getattr(loaded, field.name), getattr(value, field.name))
    require_state(loaded)


def test_a_graph_comes_back(X, tmp_path):
    model = MODELS["isomap"]().fit(X)
    loaded = load(written(model, tmp_path)).graph_
    for field in fields(_values.NeighborGraph):
        assert_array_equal(getattr(loaded, field.name), getattr(model.graph_, field.name))


def read_back(value, folder):
    """A value of a parameter that may be any plain one, as it is after loading."""
    model = isentropic.SDD([1, 2]).fit(np.random.default_rng(0).normal(size=(10, 2)))
    model.degree = value
    return load(written(model, folder)).degree


def test_plain_state_comes_back(tmp_path):
    state = {
        "a": [1, 2.5, None, True],
        "b": ("x", np.float64(np.nan), -np.inf),
        "c": np.int64(3),
        "d": {1, 2},
        "e": {3: 4},
        "f": [np.bool_(True), np.float32(0.1), np.int32(-7)],
        "": [[], (), {}, set()],
    }
    assert repr(read_back(state, tmp_path)) == repr(state)
    transposed = np.arange(6.0).reshape(2, 3).T
    assert_array_equal(read_back(transposed, tmp_path), transposed)
    assert read_back(transposed, tmp_path).flags.c_contiguous
    assert read_back(np.empty((0, 2)), tmp_path).shape == (0, 2)
    assert read_back(np.array(3.0), tmp_path).shape == ()


def test_the_output_of_a_model_stays_a_frame(X, tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    fitted = isentropic.make("pca").set_output(transform="pandas").fit(frame)
    save(fitted, tmp_path / "model.isentropic")
    loaded = load(tmp_path / "model.isentropic")
    assert loaded.transform(frame).equals(fitted.transform(frame))
    assert list(loaded.feature_names_in_) == ["a", "b", "c"]


def test_extra_travels_with_the_model(saved):
    loaded, extra = load_with_extra(saved)
    assert extra == {"note": "hello"}
    assert estimator_name(type(loaded)) == header_of(saved)["model"]["method"]


def test_the_header_names_format_and_versions(saved):
    header = header_of(saved)
    assert header["format"] == _saving.FORMAT
    assert header["versions"]["isentropic"] == isentropic.__version__
    assert set(header["versions"]) == {"isentropic", "python", "numpy", "scikit-learn"}


def test_a_callable_parameter_refuses_to_save(tmp_path):
    model = isentropic.make("pca").fit(np.eye(4)).set_params(whiten=max)
    with pytest.raises(InvalidInputError, match=r"^whiten must be a plain value in a model that is saved"):
        save(model, tmp_path / "model.isentropic")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "value", [LogisticRegression(), np.sum, lambda: 0, io.StringIO(), np.random.RandomState(0)]
)
def test_state_that_would_not_load_is_not_saved(model, tmp_path, value):
    model.whiten = value
    with pytest.raises(
        InvalidInputError, match=r"^(The model cannot be saved: its whiten|whiten must be a plain)"
    ):
        save(model, tmp_path / "model.isentropic")
    assert os.listdir(tmp_path) == []


def test_only_estimators_are_saved(tmp_path):
    with pytest.raises(InvalidInputError, match=r"^model must be a fitted estimator of isentropic, got 3"):
        save(3, tmp_path / "model.isentropic")
    with pytest.raises(InvalidInputError, match=r"^model must be a fitted estimator of isentropic, got PCA"):
        save(isentropic.make("pca"), tmp_path / "model.isentropic")
    with pytest.raises(InvalidInputError, match=r"^model must be a fitted estimator of isentropic, got Log"):
        save(LogisticRegression(), tmp_path / "model.isentropic")


class Mine(isentropic.PCA):
    """It would not load again: a file names classes of isentropic only."""


def test_an_estimator_of_another_place_is_not_saved(tmp_path, X):
    with pytest.raises(InvalidInputError, match=r"^model must be a fitted estimator of isentropic, got Mine"):
        save(Mine().fit(X), tmp_path / "model.isentropic")
    selected = Selected(Mine(), {"whiten": [True, False]}, n_jobs=1).fit(X)
    with pytest.raises(InvalidInputError, match=r"its estimator must be a method of isentropic, got Mine"):
        save(selected, tmp_path / "model.isentropic")


def test_an_attribute_that_is_not_declared_is_not_saved(model, tmp_path):
    model.note_ = 3
    with pytest.raises(InvalidInputError, match=r"its note_ is no attribute of PCA"):
        save(model, tmp_path / "model.isentropic")
    assert os.listdir(tmp_path) == []


def test_a_model_larger_than_the_budget_is_not_loaded(saved):
    with isentropic.config_context(memory_limit=100), pytest.raises(MemoryBudgetError):
        load(saved)


# ---- files that are no models ------------------------------------------------------------------


def rewrite(path, changes):
    """The archive with some members replaced, and the checksum of those; None removes one."""

    def replaced(members):
        members |= {name: text.encode() if isinstance(text, str) else text for name, text in changes.items()}
        for name in [name for name, content in members.items() if content is None]:
            del members[name]

    rezipped(path, replaced)


def refusal(path):
    with pytest.raises(FileFormatError) as caught:
        load(path)
    assert str(path) in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it is empty"),
        (pickle.dumps({"a": 1}), "it is a pickle, which could run anything"),
        (bytes(range(256)), "it is a file of another kind"),
        (b"x,y\n1,2\n", "it is a file of another kind"),
        (b"PK\x03\x04" + bytes(200), "it is damaged"),
    ],
)
def test_files_of_other_kinds(tmp_path, content, reason):
    path = tmp_path / "model.isentropic"
    path.write_bytes(content)
    text = refusal(path)
    assert reason in text
    assert text.endswith("Save the model again, or get another copy.")


def test_a_truncated_model(saved):
    content = saved.read_bytes()
    for share in (0.1, 0.5, 0.9):
        saved.write_bytes(content[: int(share * len(content))])
        assert "damaged" in refusal(saved)
    saved.write_bytes(content[:-10])
    assert "damaged" in (text := refusal(saved)) or "its checksum is missing: it was cut off" in text


def test_every_changed_byte_is_noticed(saved):
    """Also those that no member holds: dates of members, their order, the end of the archive."""
    content = saved.read_bytes()
    for place in [*range(0, len(content), 53), *range(len(content) - 100, len(content))]:
        changed = bytearray(content)
        changed[place] ^= 1
        saved.write_bytes(changed)
        assert refusal(saved).endswith("Save the model again, or get another copy.")


def test_what_follows_the_end_is_noticed(saved):
    saved.write_bytes(saved.read_bytes() + b"\n")
    assert "its checksum is missing: it was cut off or edited" in refusal(saved)


def test_an_edited_member_is_noticed_before_anything_is_rebuilt(saved, monkeypatch):
    with zipfile.ZipFile(saved, "a") as archive:
        archive.writestr("note.txt", "one more")
    monkeypatch.setattr(_saving, "ModelReader", None)
    assert "its content does not match its checksum: it was damaged or edited" in refusal(saved)


@pytest.mark.parametrize("number", [_saving.FORMAT, 1])
def test_a_file_of_no_format_goes_without_its_checksum(saved, number):
    reworded(saved, lambda found: found.update(format=number))
    load(saved)
    content = saved.read_bytes()[: -len(model_fuzz.MARK) - model_fuzz.DIGITS]
    for bare in (
        content,
        content[:-2] + bytes(2),
    ):  # its comment is missing, or none
        saved.write_bytes(bare)
        refusal(saved)
    assert "its checksum is missing: it was cut off or edited" in refusal(saved)


@pytest.mark.parametrize("number", [0, -1, True, 1.0, "2", None])
def test_a_format_that_is_none(saved, number):
    reworded(saved, lambda found: found.update(format=number))
    assert "must have a positive number as its format" in refusal(saved)


@pytest.mark.parametrize("key", ["format", "method", "parameters", "fitted", "kind", "fields", "array"])
def test_a_key_that_comes_twice(saved, key):
    content = model_fuzz.members_of(saved)[MEMBER]
    mark = b'"%s":' % key.encode()
    rewrite(saved, {MEMBER: content.replace(mark, mark + b" 0, " + mark, 1)})
    assert "a key of its JSON comes twice" in refusal(saved)


def test_a_member_that_comes_twice(saved):
    content = model_fuzz.members_of(saved)
    for member in (MEMBER, next(iter(content))):
        with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(saved, "a") as archive:
            archive.writestr(member, content[member])
        saved.write_bytes(model_fuzz.sealed(saved.read_bytes()))
        assert "it has two members of one name" in refusal(saved)
        rewrite(saved, {})


@pytest.mark.parametrize(
    ("spelt", "reason"),
    [
        ("NaN", "must be finite, got nan"),
        ("-Infinity", "must be finite, got -inf"),
        ("1e999", "must be finite, got inf"),
        ('{"float": "nan"}', "must be finite, got nan"),
        ('{"float": "1"}', "must be a number"),
        ('{"float": 1}', "must be a number"),
        ('{"float": ["inf"]}', "must be a number"),
        ("1" * 400, "must be a number that fits into 64 bits"),
        ("1" * 5000, "damaged"),
    ],
)
def test_numbers_that_json_should_not_have(X, tmp_path, spelt, reason):
    path = written(MODELS["parametric"]().fit(X), tmp_path)
    reworded(path, lambda found: found["model"]["fitted"].update(loss_="here"))
    content = model_fuzz.members_of(path)[MEMBER]
    rewrite(path, {MEMBER: content.replace(b'"here"', spelt.encode())})
    assert reason in refusal(path)


def test_a_model_is_saved_to_the_file_that_it_came_from(saved, X):
    before = load(saved)
    save(before, saved)
    assert_array_equal(load(saved).transform(X), before.transform(X))


def test_memory_that_does_not_suffice_is_no_damage(saved, monkeypatch):
    def refuse_memory(*archive):
        raise MemoryError

    monkeypatch.setattr(_saving, "ModelReader", refuse_memory)
    with pytest.raises(MemoryBudgetError, match=r"does not fit into memory. Load it where there is more"):
        load(saved)


def test_a_file_that_is_not_there(tmp_path):
    assert "cannot be read: No such file" in refusal(tmp_path / "none.isentropic")
    assert "cannot be read" in refusal(tmp_path)


def test_a_newer_format(saved):
    newer = {"format": _saving.FORMAT + 1, "versions": {"isentropic": "9.9"}}
    reworded(saved, lambda found: found.update(newer))
    assert "It was saved by isentropic 9.9: install that version" in refusal(saved)
    saved.write_bytes(saved.read_bytes() + b"\n")  # of whose end this version knows nothing
    assert "It was saved by isentropic 9.9: install that version" in refusal(saved)


@pytest.mark.parametrize("header", [b"", b"[]", b"{}", b'{"format": "1", "versions": {}}'])
def test_a_broken_header(saved, header):
    rewrite(saved, {MEMBER: header})
    assert "damaged" in refusal(saved)


@pytest.mark.parametrize("key", ["model", "parts", "format", "versions", "extra"])
def test_a_header_of_other_values(saved, key):
    content = header_of(saved)
    for value in (None, -3, "x", [], {}, [[]], [None], [{}], {"part": 0}, {"dict": []}):
        if key == "extra" and type(value) is dict:
            continue
        rewrite(saved, {MEMBER: json.dumps(content | {key: value})})
        assert "damaged" in refusal(saved)
    del content[key]
    rewrite(saved, {MEMBER: json.dumps(content)})
    assert "damaged" in refusal(saved)


@pytest.mark.parametrize("member", ["schema.json", "arr_0.npy", "word/document.xml", "MODEL.JSON"])
def test_an_archive_of_another_program(tmp_path, member):
    path = tmp_path / "model.isentropic"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(member, "{}")
    assert "another program wrote it" in refusal(path)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (
            {"method": "sklearn.linear_model:LogisticRegression", "parameters": {}, "fitted": {}},
            "not trusted",
        ),
        ({"kind": "LinearMap", "fields": {}}, "damaged"),
        ({"part": 0}, "damaged"),
        ({"dict": [["a", 1]]}, "damaged"),
        ([{"method": "pca"}], "must have a model, and its parts in a list"),
        ("pca", "must have a model, and its parts in a list"),
    ],
)
def test_a_foreign_model_under_our_header(saved, model, reason):
    reworded(saved, lambda found: found.update(model=model))
    assert reason in refusal(saved)


def test_a_method_that_is_another(saved):
    """Under the name of another method of ours, the same attributes are none of its own."""
    for name in {"t-sne", "lle", "selected", "parametric"} - {header_of(saved)["model"]["method"]}:
        reworded(saved, lambda found, name=name: found["model"].update(method=name))
        assert "damaged" in refusal(saved) or "not trusted" in refusal(saved)


COMMANDS = [
    {"function": "os.system"},
    {"type": ["os", "system"]},
    {"object": ["subprocess", "Popen", {"tuple": ["true"]}]},
    {"reduce": ["os", "system", {"tuple": ["true"]}]},
    {"__reduce__": ["os.system", ["true"]]},
    {"__class__": "system", "__module__": "os", "__loader__": "FunctionNode"},
    {"py/object": "os.system"},
    {"!!python/object/apply:os.system": ["true"]},
    {"partial": {"func": "os.system"}},
    {"eval": "__import__('os').system('true')"},
    {"kind": "PCA", "fields": {}},
    {"method": "pca", "parameters": {}, "fitted": {}},
    {"scalar": ["object", 3]},
    {"scalar": ["O", 3]},
    {"scalar": ["datetime64", 3]},
    {"array": "0"},
    {"array": "../0"},
    {"array": True},
    {"array": 0.0},
    {"array": -1},
    {"names": [3]},
    {"names": [["x"]]},
    {"set": [{"list": []}]},
    {"dict": [[{"list": []}, 1]]},
    {"dict": [[1, 2, 3]]},
    {"dict": {"a": 1}},
    {"tuple": {"a": 1}},
    {"list": "abc"},
    {},
    [],
    [1, 2],
]


@pytest.mark.parametrize("node", COMMANDS, ids=lambda node: str(node)[:40])
def test_a_value_that_asks_for_more_than_plain_ones(saved, node, monkeypatch):
    monkeypatch.setattr(os, "system", lambda command: pytest.fail("it ran"))
    reworded(saved, lambda found: found["model"]["fitted"].update(embedding_=node))
    with model_fuzz.nothing_runs():
        text = refusal(saved)
    assert "it is damaged (" in text


@pytest.mark.parametrize(
    "part",
    [
        {"kind": "os.system", "fields": {}},
        {"kind": "Popen", "fields": {"args": "true"}},
        {"kind": "subprocess:Popen", "fields": {"args": "true"}},
        {"kind": "Embedder", "fields": {}},
        {"kind": "Part", "fields": {}},
        {"kind": "Table", "fields": {}},
        {"kind": "PCA", "fields": {}},
        {"kind": "StudentMap", "fields": {}},  # a part of t-SNE
        {"kind": "ndarray", "fields": {}},
        {"kind": ["LinearMap"], "fields": {}},
        {"kind": None, "fields": {}},
    ],
    ids=lambda part: str(part["kind"]),
)
def test_a_part_that_no_spec_names_is_not_trusted(saved, part, monkeypatch):
    monkeypatch.setattr(os, "system", lambda command: pytest.fail("it ran"))
    reworded(saved, lambda found: found["parts"].append(part))
    with model_fuzz.nothing_runs():
        assert f"it asks for {part['kind']}, which is not trusted" in refusal(saved)


@pytest.mark.parametrize(
    "part", [None, 3, "kind", "method", [], {}, {"kind": "TrainingData"}, {"fields": {}}]
)
def test_a_part_that_is_none(saved, part):
    reworded(saved, lambda found: found["parts"].append(part))
    assert "damaged" in refusal(saved)


def test_a_model_in_a_method_that_holds_none_is_not_built(plain):
    """Only where a spec says that a method holds models may a part be one."""
    reworded(plain, lambda found: found["parts"].append(found["model"]))
    assert "is a model, and this method holds none" in refusal(plain)


def test_a_model_where_a_part_should_be(chosen):
    def change(found):
        found["parts"].append(found["parts"][-1])
        found["model"]["fitted"]["_map"] = found["model"]["fitted"]["best_estimator_"]

    reworded(chosen, change)
    assert "it is damaged (its _map must be a ChosenMap, got Isomap)" in refusal(chosen)


# ---- what a file may cost ------------------------------------------------------------------------


def test_a_member_that_many_parts_name_is_read_once(tmp_path):
    many = np.ones(2**18)  # 2 MiB
    model = isentropic.SDD([1, 2]).fit(np.random.default_rng(0).normal(size=(10, 2)))
    model.degree = [many]
    save(model, tmp_path / "model.isentropic")
    path = tmp_path / "model.isentropic"
    reworded(path, lambda found: found["model"]["parameters"]["degree"].update(list=[{"array": 0}] * 300))
    tracemalloc.start()
    with isentropic.config_context(memory_limit=2**24):
        loaded = load(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(loaded.degree) == 300
    assert peak < 2**24


def test_a_bomb_is_refused_before_it_is_unpacked(saved):
    with zipfile.ZipFile(saved, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.npy", bytes(2**26))
    saved.write_bytes(model_fuzz.sealed(saved.read_bytes()))
    assert saved.stat().st_size < 2**22  # far below the limit: what is inside is refused, not the file
    with isentropic.config_context(memory_limit=2**25), pytest.raises(MemoryBudgetError, match=str(saved)):
        load(saved)


def test_a_member_that_says_it_is_small(saved):
    """Its size in the directory is that of the array, its content is longer."""
    with zipfile.ZipFile(saved) as archive:
        name = next(member for member in archive.namelist() if member.endswith(".npy"))
        content = archive.read(name)
    rewrite(saved, {name: content + bytes(4096)})
    whole = saved.read_bytes()
    size, more = (struct.pack("<I", length) for length in (len(content), len(content) + 4096))
    saved.write_bytes(model_fuzz.sealed(whole.replace(more + more, more + size)))
    assert "it is damaged" in refusal(saved)


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_json_that_is_nested_without_end(saved, opening):
    rewrite(saved, {MEMBER: opening * 100_000})
    assert "damaged" in refusal(saved)


@pytest.mark.parametrize("depth", [34, 60, 300])
@pytest.mark.parametrize("tag", ["list", "tuple", "dict"])
def test_collections_within_collections_without_end(plain, depth, tag):
    def change(found):
        value = found["model"]["parameters"]["n_components"]
        for _ in range(depth):
            value = {tag: [["a", value]] if tag == "dict" else [value]}
        found["model"]["parameters"]["n_components"] = value

    reworded(plain, change)
    assert "is no value that a model holds" in refusal(plain)


@pytest.mark.parametrize("depth", [8, 9, 40, 400, 3000])
def test_models_within_models_without_end(X, tmp_path, depth):
    path = written(
        ParametricEmbedding(isentropic.PCA(), layers=(3,), max_epochs=2, synthetic=0).fit(X), tmp_path
    )

    def change(found):
        unfitted = {**found["model"], "fitted": {}}
        parts, number = found["parts"], found["model"]["parameters"]["embedder"]["part"]
        for _ in range(depth - 1):
            parameters = {**unfitted["parameters"], "embedder": {"part": number}}
            parts.append({**unfitted, "parameters": parameters})
            number = len(parts) - 1
        found["model"]["parameters"]["embedder"] = {"part": number}

    reworded(path, change)
    if depth <= 8:
        assert_array_equal(load(path).transform(X[:3]), load(path).transform(X)[:3])
    else:
        assert "must not be a model in more than 8 others" in refusal(path) or "recursion" in refusal(path)


def test_models_that_share_models_are_checked_once(chosen, monkeypatch):
    """Each holds the one before twice: checked for each place, the last would take 2^6 times the first."""

    def change(found):
        parts, number = found["parts"], found["model"]["fitted"]["best_estimator_"]["part"]
        for _ in range(6):
            outer = json.loads(json.dumps(found["model"]))
            outer["parameters"]["estimator"] = outer["fitted"]["best_estimator_"] = {"part": number}
            parts.append(outer)
            number = len(parts) - 1
        found["model"]["parameters"]["estimator"] = {"part": number}
        found["model"]["fitted"]["best_estimator_"] = {"part": number}

    reworded(chosen, change)
    checked = counted(monkeypatch, isentropic.Isomap)
    loaded = load(chosen)
    assert loaded.estimator is loaded.best_estimator_
    assert len(checked) <= 4  # twice as the innermost model, with the sizes of the outer ones and without


def counted(monkeypatch, kind):
    """Appends to a list whenever the relations between the fields of a model are checked."""
    checked, sound = [], kind._require_sound

    def count(self):
        checked.append(self)
        sound(self)

    monkeypatch.setattr(kind, "_require_sound", count)
    return checked


def test_a_part_that_many_fields_name_is_checked_once(chosen, monkeypatch):
    """A thousand trials that are one, whose parameters are a thousand values that are one."""

    def change(found):
        parts = found["parts"]
        trial = next(number for number, part in enumerate(parts) if part.get("kind") == "Trial")
        selection = next(part for part in parts if part.get("kind") == "Selection")
        gower = {"kind": "Gower", "fields": {"levels": {"tuple": list(range(1000))}, "ordered": {"tuple": []},
                                             "weights": None}}  # fmt: skip
        parts.insert(0, gower)
        shifted(found)
        parts[trial + 1]["fields"]["params"] = {"dict": [["n_neighbors", {"list": [{"part": 0}] * 1000}]]}
        selection["fields"]["trials"] = {"tuple": [{"part": trial + 1}] * 1000}
        selection["fields"]["best"] = 0

    reworded(chosen, change)
    checks, check = [], _values.Whole.check

    def count(self, *arguments):
        checks.append(1)
        check(self, *arguments)

    monkeypatch.setattr(_values.Whole, "check", count)
    load(chosen)
    assert len(checks) < 10_000  # not a thousand times a thousand times a thousand


def shifted(found):
    """One more for every reference to a part, after one was put before all others."""
    waiting = [found["model"], found["parts"]]
    while waiting:
        place = waiting.pop()
        for value in place.values() if isinstance(place, dict) else place:
            if isinstance(value, dict) and set(value) == {"part"}:
                value["part"] += 1
            elif isinstance(value, dict | list):
                waiting.append(value)


def test_an_array_that_many_fields_name_is_searched_once(X, tmp_path, monkeypatch):
    path = written(isentropic.SDD([1, 2]).fit(X), tmp_path)

    def change(found):
        part = next(part for part in found["parts"] if "means" in part["fields"])
        part["fields"]["means"]["tuple"] *= 500

    reworded(path, change)
    searched, extremes = [], _specs._extremes

    def count(array, holes):
        searched.append(array)
        return extremes(array, holes)

    monkeypatch.setattr(_specs, "_extremes", count)
    assert "must be" in refusal(path)
    assert 2 < len(searched) < 50


@pytest.mark.parametrize("nested", ["lists", "dictionaries", "sets", "tags"])
def test_json_costs_no_more_memory_than_is_asked_for(tmp_path, nested):
    value = {"lists": [], "dictionaries": {}, "sets": {"set": [0]}, "tags": {"list": [{"list": []}]}}[nested]
    path = tmp_path / "model.isentropic"
    save(isentropic.SDD([1, 2]).fit(np.random.default_rng(0).normal(size=(10, 2))), path)

    def change(found):
        if nested in ("sets", "tags"):
            found["model"]["parameters"]["degree"] = {"list": [value] * 5000}
        else:
            deep = value
            for _ in range(300):
                deep = [deep] if nested == "lists" else {"": deep}
            found["extra"]["deep"] = [deep] * 60

    reworded(path, change)
    rewrite(path, {MEMBER: json.dumps(header_of(path), separators=(",", ":"))})
    with zipfile.ZipFile(path) as archive:
        asked = _saving._unpacked_size(archive)
    with model_fuzz.at_most(asked, "loading"):
        load(path)


@pytest.mark.parametrize("name", ["isomap", "t-sne", "sdd", "kernel-pca"])
def test_arrays_cost_no_more_memory_than_is_asked_for(tmp_path, name):
    parameters = {"t-sne": {"max_iter": 1}, "sdd": {"degree": 1, "max_iter": 1}}.get(name, {})
    X = np.random.default_rng(0).normal(size=(1000, 300))
    path = tmp_path / "model.isentropic"
    save(isentropic.make(name, **parameters).fit(X), path)
    load(path)  # what is imported is no part of it
    with zipfile.ZipFile(path) as archive:
        asked = _saving._unpacked_size(archive)
    assert asked > 2 * path.stat().st_size > 2**22
    with model_fuzz.at_most(asked, "loading"):
        load(path)


# ---- arrays --------------------------------------------------------------------------------------


SHAPES = [(2**40, 2), (2**62, 4), (3,), (-1, 2), (-2, -4), (0, 2**40), (2**62, 0), (True, 8), (8,), (),
          (8, 1, 1), (1,) * 70 + (8,)]  # fmt: skip


@pytest.mark.parametrize("claimed", SHAPES, ids=lambda shape: str(shape)[:20])
def test_an_array_whose_header_claims_another_shape(saved, claimed):
    number = 10**6
    reworded(saved, lambda found: found["model"]["fitted"].update(embedding_={"array": number}))
    content = io.BytesIO()
    np.lib.format.write_array_header_1_0(content, {"descr": "<f8", "fortran_order": False, "shape": claimed})
    rewrite(saved, {f"{number}.npy": content.getvalue() + bytes(64)})
    with model_fuzz.at_most(2**21, "loading"):
        text = refusal(saved)
    assert any(reason in text for reason in ("its embedding_ ", "dimension", "an integer is required"))


@pytest.mark.parametrize("kind", ["O", "U4", "S8", "c16", "f2", ">f8", "i8", "M8[s]", "V8", "?", "f4"])
def test_an_array_of_another_kind(saved, kind):
    own = load(saved).embedding_
    other = np.zeros(own.shape, kind)
    reworded(saved, lambda found: found["model"]["fitted"].update(embedding_={"array": 10**6}))
    rewrite(saved, {"1000000.npy": model_fuzz.npy(other)})
    text = refusal(saved)
    assert "its embedding_ must be an array of" in text or "Object arrays cannot be loaded" in text


def test_an_array_in_the_order_of_fortran_is_the_same(saved, X):
    before = load(saved)
    reworded(saved, lambda found: found["model"]["fitted"].update(embedding_={"array": 10**6}))
    rewrite(saved, {"1000000.npy": model_fuzz.npy(np.asfortranarray(before.embedding_))})
    loaded = load(saved)
    assert loaded.embedding_.flags.c_contiguous
    assert_array_equal(loaded.embedding_, before.embedding_)


def test_a_member_that_is_missing(saved):
    members = model_fuzz.members_of(saved)
    for name in members.keys() - {MEMBER}:
        rewrite(saved, {**members, name: None})
        text = refusal(saved)
        assert f"is missing: there is no {name}). Fit the model again" in text


# ---- what a refusal says ---------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["evil\n\x1b]0;title\x07\x1b[2J\u202e", "x" * 10**6, "\ud800", "a\rb\0c"])
def test_a_refusal_is_one_short_line_whatever_the_file_says(saved, word):

    def part_of(found):
        return next(part for part in found["parts"] if "kind" in part)

    content = header_of(saved)
    changes = [
        lambda found: found["model"].update(method=word),
        lambda found: part_of(found).update(kind=word),
        lambda found: part_of(found)["fields"].update({word: 1}),
        lambda found: found["model"]["fitted"].update({word: 1}),
        lambda found: found["model"]["fitted"].update(embedding_={word: 1}),
        lambda found: found["model"]["fitted"].update(embedding_=word),
        lambda found: found["model"]["parameters"].update(n_components=word, n_jobs=word),
        lambda found: found.update(format=10**9, versions={"isentropic": word}),
    ]
    for change in changes:
        rewrite(saved, {MEMBER: json.dumps(content)})
        reworded(saved, change)
        text = refusal(saved)
        assert len(text) < 1000 + len(str(saved))
        assert not any(sign in text for sign in "\n\r\0\x07\x1b\ud800")
