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
from importlib import import_module

import numpy as np
import pytest
import skops.io
from isentropic._core.models.archive import ArchiveReader
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression

import isentropic
import model_fuzz
from isentropic._core import state as _state
from isentropic._core import values as _values
from isentropic._core.errors import FileFormatError, InvalidInputError, MemoryBudgetError
from isentropic._core.files import atomic_write, require_writable
from isentropic._core.models import io as _io
from isentropic._core.models.io import VALUES, load, load_with_extra, save
from isentropic._core.models.model_file import MEMBER
from isentropic._core.state import declared, require_state
from isentropic.meta import Selected
from isentropic.registry import METHODS
from model_fuzz import rezipped

OURS = [name for name, method in METHODS.items() if method.module.startswith("isentropic.")]
BY_SKOPS = model_fuzz.name_by_skops()
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


@pytest.fixture(params=["pca", BY_SKOPS])
def saved(request, X, tmp_path):
    """A file of a model made of parts, and one of skops."""
    return written(isentropic.make(request.param).fit(X), tmp_path)


@pytest.fixture
def by_parts(model, tmp_path):
    return written(model, tmp_path)


@pytest.fixture
def by_skops(X, tmp_path):
    return written(isentropic.make(BY_SKOPS).fit(X), tmp_path)


def header_of(path):
    """The member that holds the header of a file, and the header."""
    with zipfile.ZipFile(path) as archive:
        member = MEMBER if MEMBER in archive.namelist() else _io.HEADER
        return member, json.loads(archive.read(member))


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


def test_the_trusted_list_has_every_value_and_no_more():
    values = {
        name: value.__module__
        for name, value in vars(_values).items()
        if is_dataclass(value)
        and name not in ("Table", "ColumnSummary", "DistanceRows")  # no model holds these
    }
    assert {name for name, module in VALUES.items() if module == _values.__name__} - set(values) == set()
    for name, module in (VALUES | values).items():
        kind = getattr(import_module(module), name)
        assert kind.__module__ == module
        assert set(declared(kind)) == {field.name for field in fields(kind)}
        assert _io._trusted(f"{module}.{name}") is kind


def test_no_value_and_no_estimator_that_a_file_may_hold_share_a_name():
    lines = {line.target for line in METHODS.values() if line.module.startswith("isentropic.")}
    assert len({target.partition(":")[2] for target in lines}) == len(lines)
    assert set(VALUES) & set(_state.estimators()) == set()


@pytest.mark.parametrize("name", OURS)
def test_every_method_is_trusted_by_the_name_of_its_class(name):
    kind = METHODS[name].load()
    assert _io._trusted(METHODS[name].target.replace(":", ".")) is kind
    assert _io._trusted(f"isentropic.methods.where_it_was.{kind.__name__}") is kind
    assert _io._trusted(f"elsewhere.methods.{kind.__name__}") is None


@pytest.mark.parametrize(
    "name",
    [
        "isentropic.methods.linear.pca._PCA",  # an estimator of another library, imported there
        "isentropic.methods.geodesic.isomap.GeodesicEmbedder",
        "isentropic.methods.geodesic.isomap.neighbor_graph",
        "isentropic.methods.geodesic.isomap.Nothing",
        "isentropic.methods.geodesic.isomap",
        "nowhere.Isomap",
        "isentropic_.methods.isomap.Isomap",
        "Isomap",
        "sklearn.decomposition.PCA",
    ],
)
def test_what_is_no_estimator_or_value_of_ours_is_not_trusted(name):
    assert _io._trusted(name) is None


def test_nothing_that_a_file_names_is_imported():
    assert _io._trusted("isentropic.plot.axes.Isomap") is isentropic.Isomap
    done = subprocess.run(
        [sys.executable, "-c", "import sys; from isentropic._core.models import io; "
         "io._trusted('isentropic.cli.embed.PCA'); print('isentropic.cli' in sys.modules)"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "False"


SOME_VALUES = [
    _values.Knn(4, approximate=False),
    _values.Radius(0.5),
    _values.Percentile(),
    _values.Can(3),
    _values.Pnn(3),
    _values.Pnn(3, 0.5),
    _values.Landmarks(5, rule="random"),
    _values.Inflate(),
    _values.Neighbors(np.array([[1], [0]], np.int32), np.ones((2, 1)), "euclidean", True),
    _values.NeighborGraph(
        np.array([0, 1, 2]), np.array([1, 0], np.int32), np.ones(2), "knn", np.zeros(2, np.int32)
    ),
]


@pytest.mark.parametrize("value", SOME_VALUES, ids=lambda value: type(value).__name__)
def test_every_value_comes_back(value):
    loaded = read_back(value)
    assert type(loaded) is type(value)
    for field in fields(value):
        assert_array_equal(getattr(loaded, field.name), getattr(value, field.name))
    require_state(loaded)


def read_back(value):
    with zipfile.ZipFile(io.BytesIO(skops.io.dumps(value))) as archive:
        return ArchiveReader(archive, _io._trusted).read()


def test_plain_state_comes_back():
    state = {
        "a": [1, 2.5, None, True],
        "b": ("x", np.float64(np.nan)),
        "c": np.int64(3),
        "d": {1, 2},
        "e": {3: 4},
    }
    assert repr(read_back(state)) == repr(state)
    assert_array_equal(read_back(np.array(["p", "q"], dtype=object)), np.array(["p", "q"], dtype=object))
    transposed = np.arange(6.0).reshape(2, 3).T
    assert_array_equal(read_back(transposed), transposed)
    assert read_back(transposed).flags.c_contiguous
    assert read_back(np.empty((0, 2))).shape == (0, 2)


def test_the_output_of_a_model_stays_a_frame(X, tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    fitted = isentropic.make("pca").set_output(transform="pandas").fit(frame)
    save(fitted, tmp_path / "model.isentropic")
    loaded = load(tmp_path / "model.isentropic")
    assert loaded.transform(frame).equals(fitted.transform(frame))
    assert list(loaded.feature_names_in_) == ["a", "b", "c"]


def test_extra_travels_with_the_model(by_parts, model, X, tmp_path):
    loaded, extra = load_with_extra(by_parts)
    assert extra == {"note": "hello"}
    assert type(loaded) is type(model)
    old = isentropic.make(BY_SKOPS).fit(X)
    loaded, extra = load_with_extra(written(old, tmp_path))
    assert extra == {"note": "hello"}
    assert type(loaded) is type(old)


def test_the_header_names_format_and_versions(saved):
    member, header = header_of(saved)
    assert header["format"] == (_io.PARTS_FORMAT if member == MEMBER else _io.FORMAT)
    assert header["versions"]["isentropic"] == isentropic.__version__
    assert {"numpy", "python", "scikit-learn", "skops"} < set(header["versions"])


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
    monkeypatch.setattr(_io, "ArchiveReader", None)
    monkeypatch.setattr(_io, "ModelReader", None)
    assert "its content does not match its checksum: it was damaged or edited" in refusal(saved)


def test_a_file_of_the_first_format_has_no_checksum(by_skops, X):
    before = load(by_skops)
    header = {"format": 1, "versions": {"isentropic": "0.1.0"}, "extra": {"note": "old"}}
    rewrite(by_skops, {_io.HEADER: json.dumps(header)})
    by_skops.write_bytes(by_skops.read_bytes()[: -len(model_fuzz.MARK) - model_fuzz.DIGITS])
    loaded, extra = load_with_extra(by_skops)
    assert extra == {"note": "old"}
    assert_array_equal(loaded.transform(X), before.transform(X))


@pytest.mark.parametrize("number", [0, -1, True, 1.0, "2", None])
def test_a_format_that_is_none(saved, number):
    member, header = header_of(saved)
    rewrite(saved, {member: json.dumps({**header, "format": number})})
    assert "must have a positive number as its format" in refusal(saved)


def test_a_key_that_comes_twice_in_the_schema(by_skops):
    content = zipfile.ZipFile(by_skops).read("schema.json")
    twice = content.replace(b'"__class__":', b'"__class__": "dict", "__class__":', 1)
    rewrite(by_skops, {"schema.json": twice})
    assert "a key of its JSON comes twice" in refusal(by_skops)


def test_a_key_or_a_member_that_comes_twice(saved):
    member, header = header_of(saved)
    content = json.dumps(header).encode()
    rewrite(saved, {member: b'{"format": 1,' + content[1:]})
    assert "a key of its JSON comes twice" in refusal(saved)
    rewrite(saved, {member: content})
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(saved, "a") as archive:
        archive.writestr(member, content)
    saved.write_bytes(model_fuzz.sealed(saved.read_bytes()))
    assert "it has two members of one name" in refusal(saved)


def test_a_model_is_saved_to_the_file_that_it_came_from(saved, X):
    before = load(saved)
    save(before, saved)
    assert_array_equal(load(saved).transform(X), before.transform(X))


def test_memory_that_does_not_suffice_is_no_damage(saved, monkeypatch):
    def refuse_memory(*archive):
        raise MemoryError

    monkeypatch.setattr(_io, "_model", refuse_memory)
    with pytest.raises(MemoryBudgetError, match=r"does not fit into memory. Load it where there is more"):
        load(saved)


def test_a_file_that_is_not_there(tmp_path):
    assert "cannot be read: No such file" in refusal(tmp_path / "none.isentropic")
    assert "cannot be read" in refusal(tmp_path)


def test_a_newer_format(saved):
    member, header = header_of(saved)
    header |= {"format": header["format"] + 1, "versions": {"isentropic": "9.9"}}
    rewrite(saved, {member: json.dumps(header)})
    assert "It was saved by isentropic 9.9: install that version" in refusal(saved)


@pytest.mark.parametrize("header", [b"", b"[]", b"{}", b'{"format": "1", "versions": {}}'])
def test_a_broken_header(saved, header):
    rewrite(saved, {header_of(saved)[0]: header})
    assert "damaged" in refusal(saved)


def test_a_skops_file_of_another_program(tmp_path):
    path = tmp_path / "model.isentropic"
    skops.io.dump(LogisticRegression(), path)
    assert "another program wrote it" in refusal(path)


def test_a_foreign_model_under_our_header(by_skops):
    # skops by itself trusts all of scikit-learn
    other = zipfile.ZipFile(io.BytesIO(skops.io.dumps(LogisticRegression())))
    rewrite(by_skops, {"schema.json": other.read("schema.json")})
    assert "sklearn.linear_model._logistic.LogisticRegression, which is not trusted" in refusal(by_skops)


def test_a_plain_value_is_no_model(by_skops):
    other = zipfile.ZipFile(io.BytesIO(skops.io.dumps({"a": 1})))
    rewrite(by_skops, {"schema.json": other.read("schema.json")})
    assert "builtins.dict, which is not trusted" in refusal(by_skops)


def attack(loader, module, name, **content):
    return {"__class__": name, "__module__": module, "__loader__": loader, **content}


COMMAND = attack(
    "TupleNode", "builtins", "tuple", content=[attack("JsonNode", "builtins", "str", content='"true"')]
)


@pytest.mark.parametrize(
    "node",
    [
        attack("FunctionNode", "os", "system"),
        attack("TypeNode", "os", "system"),
        attack("ObjectNode", "subprocess", "Popen", content=COMMAND),
        attack("ConstructorFromReduceNode", "os", "system", content=COMMAND),
        attack("ConstructorFromReduceNode", "builtins", "dict", content=COMMAND),
        attack("OperatorFuncNode", "operator", "methodcaller", attrs=COMMAND),
        attack("PartialNode", "functools", "partial", content={}),
        attack("UnknownNode", "builtins", "dict"),
    ],
    ids=lambda node: f"{node['__loader__']}-{node['__module__']}",
)
def test_a_file_that_asks_for_more_than_plain_values(by_skops, node, monkeypatch):
    monkeypatch.setattr(os, "system", lambda command: pytest.fail("it ran"))
    schema = json.loads(zipfile.ZipFile(by_skops).read("schema.json"))
    schema["content"]["content"]["embedding_"] = node
    rewrite(by_skops, {"schema.json": json.dumps(schema)})
    assert f"{node['__module__']}.{node['__class__']}, which is not trusted" in refusal(by_skops)


def test_a_member_that_many_parts_name_is_read_once(tmp_path):
    many = np.ones(2**18)  # 2 MiB
    model = isentropic.SDD([1, 2]).fit(np.random.default_rng(0).normal(size=(10, 2)))
    model.degree = [many]
    save(model, tmp_path / "model.isentropic")
    header = json.loads(zipfile.ZipFile(tmp_path / "model.isentropic").read("model.json"))
    header["model"]["parameters"]["degree"]["list"] *= 300
    rewrite(tmp_path / "model.isentropic", {"model.json": json.dumps(header)})
    tracemalloc.start()
    with isentropic.config_context(memory_limit=2**24):
        loaded = load(tmp_path / "model.isentropic")
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
    with zipfile.ZipFile(saved) as archive:
        found = [member for member in archive.namelist() if member.endswith(".json")]
        contents = {member: archive.read(member) for member in found}
    for member in contents:
        rewrite(saved, contents | {member: opening * 100_000})
        assert "damaged" in refusal(saved)


def test_parts_within_parts_without_end(by_skops):
    schema = json.loads(zipfile.ZipFile(by_skops).read("schema.json"))
    node = schema["content"]["content"]["n_components"]
    for _ in range(60):
        node = attack("ListNode", "builtins", "list", content=[node])
    schema["content"]["content"]["n_components"] = node
    rewrite(by_skops, {"schema.json": json.dumps(schema)})
    assert "is more than 32 parts deep" in refusal(by_skops)


def test_collections_within_collections_without_end(by_parts):
    member, header = header_of(by_parts)
    value = header["model"]["parameters"]["n_components"]
    for _ in range(60):
        value = {"list": [value]}
    header["model"]["parameters"]["n_components"] = value
    rewrite(by_parts, {member: json.dumps(header)})
    assert "damaged" in refusal(by_parts)


@pytest.mark.parametrize("claimed", [(2**40, 2), (2**62, 4), (3,), (-1, 2)])
def test_an_array_whose_header_claims_another_shape(saved, claimed):
    if (found := header_of(saved))[0] == MEMBER:
        name, member = "embedding_", f"{found[1]['model']['fitted']['embedding_']['array']}.npy"
    else:
        text = zipfile.ZipFile(saved).read("schema.json").decode()
        nodes = json.loads(text)["content"]["content"].items()
        alone = ((name, node["file"]) for name, node in nodes if "file" in node)
        name, member = next(one for one in alone if text.count(one[1]) == 1)  # no other part shares it
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": claimed})
    rewrite(saved, {member: header.getvalue() + bytes(64)})
    assert f"its {name} " in refusal(saved)
