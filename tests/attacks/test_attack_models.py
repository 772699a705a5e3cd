"""Attacks on files that are read back and trusted: saved models, preparations, kept results.

A file that is not as it was written must be refused, with its name and the next step, or computed again.
Where the attacker computed the checksum anew, it may load, but then it must place rows at finite coordinates,
and where the members are the same, at the same ones. ``ISENTROPIC_ATTACKS=20`` tries twenty times as many.
"""

import copy
import gzip
import io
import json
import os
import pickle
import struct
import threading
import warnings
import zipfile
from collections import Counter

import numpy as np
import pytest

import isentropic
import model_fuzz
from isentropic import FileFormatError, IsentropicError, MemoryBudgetError, datasets
from isentropic._core.cache import ResultCache
from isentropic._core.errors import StoredRunWarning
from isentropic._core.models import saving as _saving
from isentropic.scale.saved_model import Rows, SavedModel, _fingerprint, read_model
from model_fuzz import DIGITS, MARK, MEMBER, npy, reworded, sealed, zipped

TIMES = int(os.environ.get("ISENTROPIC_ATTACKS", "1"))
NAMES = ["pca", "isomap", "selected", "t-sne", "parametric", "umap"][: max(3, TIMES)]


@pytest.fixture(scope="module")
def specimens():
    return {name: model_fuzz.made(name) for name in NAMES}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.isentropic"


def assert_refused(path, content):
    path.write_bytes(content)
    with pytest.raises((FileFormatError, MemoryBudgetError)) as caught:
        isentropic.load(path)
    text = str(caught.value)
    assert str(path) in text
    assert "bug" not in text
    assert text.endswith((".", "memory_limit=...)."))


def outcome_of(specimen, path, content):
    """What model_fuzz makes of a file: refused, refused to place, or placed; anything else fails."""
    path.write_bytes(content)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = model_fuzz.outcome(specimen, path)
    assert found in model_fuzz.OUTCOMES, found
    return found


# ---- bytes -------------------------------------------------------------------------------------


def flipped(content, rng):
    at = int(rng.integers(len(content)))
    return content[:at] + bytes([content[at] ^ int(rng.integers(1, 256))]) + content[at + 1 :]


def overwritten(content, rng):
    at, length = int(rng.integers(len(content))), int(rng.integers(1, 600))
    return content[:at] + bytes(length) + content[at + length :]


def moved(content, rng):
    a, b, c = sorted(int(place) for place in rng.integers(len(content), size=3))
    return content[:a] + content[b:c] + content[a:b] + content[c:]


BYTES = {
    "a byte flipped": flipped,
    "a span of zeros": overwritten,
    "two spans swapped": moved,
    "cut off": lambda content, rng: content[: int(rng.integers(len(content)))],
    "the start is gone": lambda content, rng: content[int(rng.integers(1, 400)) :],
    "bytes before": lambda content, rng: rng.bytes(int(rng.integers(1, 60))) + content,
    "bytes behind": lambda content, rng: content + rng.bytes(int(rng.integers(1, 60))),
    "twice": lambda content, rng: content + content,
    "padded to a block": lambda content, rng: content + bytes(-len(content) % 4096),
    "line ends of another system": lambda content, rng: content.replace(b"\n", b"\r\n"),
    "read as text": lambda content, rng: content.decode("latin-1").encode(),
    "compressed": lambda content, rng: gzip.compress(content),
    "another checksum": lambda content, rng: content[:-DIGITS] + b"%064x" % int(rng.integers(2**62)),
    "no checksum": lambda content, rng: content[: -DIGITS - len(MARK)],
    "an empty comment": lambda content, rng: content[: -DIGITS - len(MARK) - 2] + bytes(2),
    "empty": lambda content, rng: b"",
    "a pickle": lambda content, rng: pickle.dumps(content),
}


@pytest.mark.parametrize("attack", BYTES)
def test_a_file_with_other_bytes_is_refused(specimens, path, attack):
    rng = np.random.default_rng(0)
    for specimen in specimens.values():
        sound = model_fuzz.whole(specimen)
        assert outcome_of(specimen, path, sound) == "placed"
        for _ in range(10 * TIMES):
            content = BYTES[attack](sound, rng)
            if content != sound:
                assert_refused(path, content)


# ---- archives whose checksum was computed anew ---------------------------------------------------


def archived(members, *, method=zipfile.ZIP_STORED, names=None):
    """A model file written by zipfile, with its checksum."""
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", method) as archive:
        warnings.simplefilter("ignore")  # of names that come twice
        for name, content in members if isinstance(members, list) else members.items():
            archive.writestr((names or {}).get(name, name), content)
        archive.comment = MARK + bytes(DIGITS)
    return sealed(buffer.getvalue())


def edited(content, mark, offset, value):
    """Bytes at an offset after each place where ``mark`` is."""
    out, at = bytearray(content), content.find(mark)
    while at >= 0:
        out[at + offset : at + offset + len(value)] = value
        at = content.find(mark, at + 4)
    return sealed(bytes(out))


LOCAL, CENTRAL, END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
SAME = {  # the same members, packed otherwise: what is wrong is nothing that a reader of zip files follows
    "encrypted inside": lambda members: edited(archived(members), LOCAL, 6, b"\x01\x00"),
    "fewer in the directory": lambda members: edited(archived(members), END, 8, b"\x01\x00\x01\x00"),
    "another disk": lambda members: edited(archived(members), END, 4, b"\x01\x00"),
    "bytes before": lambda members: sealed(LOCAL + bytes(40) + archived(members)),
    "in another order": lambda members: archived(dict(reversed(members.items()))),
    "another member": lambda members: archived({**members, "note.txt": b"hello"}),
    "a member outside": lambda members: archived({**members, "../../evil.npy": b"x", "/etc/evil": b"x"}),
    "a folder": lambda members: archived({**members, "folder/": b""}),
    "many members": lambda members: archived(members | {f"{i}.txt": b"" for i in range(2000)}),
    "links": lambda members: edited(archived(members), CENTRAL, 38, struct.pack("<I", 0o120777 << 16)),
    "other dates": lambda members: edited(archived(members), CENTRAL, 12, b"\xff\xff\xff\xff"),
}
OTHER = {
    "a member twice": lambda members: archived([*members.items(), (MEMBER, b"{}")]),
    "the same twice": lambda members: archived([*members.items(), (MEMBER, members[MEMBER])]),
    "an array twice": lambda members: archived([*members.items(), ("0.npy", members["1.npy"])]),
    "the first twice": lambda members: archived([("0.npy", members["0.npy"]), *members.items()]),
    "no model": lambda members: archived({k: v for k, v in members.items() if k != MEMBER}),
    "no arrays": lambda members: archived({MEMBER: members[MEMBER]}),
    "one array less": lambda members: archived({k: v for k, v in members.items() if k != "1.npy"}),
    "the model in a folder": lambda members: archived(members, names={MEMBER: f"../{MEMBER}"}),
    "an array in a folder": lambda members: archived(members, names={"0.npy": "./0.npy"}),
    "another case": lambda members: archived(members, names={MEMBER: MEMBER.upper()}),
    "arrays of another case": lambda members: archived(members, names={"0.npy": "0.NPY"}),
    "deflated": lambda members: archived(members, method=zipfile.ZIP_DEFLATED),
    "bzip2": lambda members: archived(members, method=zipfile.ZIP_BZIP2),
    "lzma": lambda members: archived(members, method=zipfile.ZIP_LZMA),
    "nothing": lambda members: archived({}),
    "encrypted": lambda members: edited(archived(members), CENTRAL, 8, b"\x01\x00"),
    "wrong sums": lambda members: edited(archived(members), CENTRAL, 16, b"\x01\x02\x03\x04"),
    "an unknown method": lambda members: edited(archived(members), CENTRAL, 10, b"\x63\x00"),
    "a method that it has not": lambda members: edited(archived(members), CENTRAL, 10, b"\x08\x00"),
    "sizes of nothing": lambda members: edited(archived(members), CENTRAL, 24, bytes(4)),
    "sizes of gigabytes": lambda members: edited(archived(members), CENTRAL, 24, b"\xf0\xff\xff\x7f"),
    "sizes of zip64": lambda members: edited(archived(members), CENTRAL, 20, b"\xff" * 8),
    "offsets elsewhere": lambda members: edited(archived(members), CENTRAL, 42, b"\x07\x00\x00\x00"),
    "all at one place": lambda members: edited(archived(members), CENTRAL, 42, bytes(4)),
    "a later version": lambda members: edited(archived(members), CENTRAL, 6, b"\xff\x00"),
    "a directory elsewhere": lambda members: edited(archived(members), END, 16, b"\x10\x00\x00\x00"),
    "a directory of another size": lambda members: edited(archived(members), END, 12, b"\x10\x00\x00\x00"),
    "a name inside": lambda members: sealed(archived(members).replace(b".json", b".jsno", 1)),
    "names with zeros": lambda members: sealed(archived(members).replace(b".json", b"\0json")),
}  # fmt: skip


def members_of(specimen):
    return {**specimen.members, MEMBER: specimen.text.encode()}


@pytest.mark.parametrize("attack", SAME)
def test_the_same_members_packed_otherwise_are_the_same_model(specimens, path, attack):
    for specimen in specimens.values():
        path.write_bytes(SAME[attack](members_of(specimen)))
        assert np.array_equal(isentropic.load(path).transform(specimen.queries), specimen.places)
        assert sorted(entry.name for entry in path.parent.iterdir()) == [path.name]  # nothing is unpacked


@pytest.mark.parametrize("attack", OTHER)
def test_an_archive_that_lies_is_refused(specimens, path, attack):
    for specimen in specimens.values():
        content = OTHER[attack](members_of(specimen))
        with isentropic.config_context(memory_limit=2**28):
            assert outcome_of(specimen, path, content) == "refused"


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("name", ["bomb.npy", "0.npy", MEMBER])
def test_a_bomb_is_refused_before_it_bursts(specimens, path, name, method):
    content = archived({**members_of(specimens["pca"]), name: bytes(2**25)}, method=method)
    with model_fuzz.at_most(2**22, "loading"):
        assert_refused(path, content)
    with isentropic.config_context(memory_limit=2**24):
        assert_refused(path, content)


def test_members_that_share_their_bytes_are_refused(specimens, path):
    """Names of one place: each is as large as it says, and together they are larger than the file."""
    for specimen in specimens.values():
        path.write_bytes(archived({**members_of(specimen), "100.npy": npy(np.zeros(4096))}))
        with zipfile.ZipFile(path, "a") as archive:
            for number in range(101, 110):
                another = copy.copy(archive.getinfo("100.npy"))
                another.filename = f"{number}.npy"
                archive.filelist.append(another)
            archive.comment = MARK + bytes(DIGITS)
        assert_refused(path, sealed(path.read_bytes()))


# ---- JSON ------------------------------------------------------------------------------------------

TEXTS = {
    "a key twice": lambda text: text.replace(b"{", b'{"format": 1, ', 1),
    "the same key twice": lambda text: text.replace(b"{", b'{"more": 1, "more": 1, ', 1),
    "a key twice, deep": lambda text: text.replace(b'": {', b'": {"a": 1, "a": 1, ', 1),
    "two values": lambda text: text + b" {}",
    "a comment": lambda text: b"// hello\n" + text,
    "single quotes": lambda text: text.replace(b'"', b"'"),
    "bytes that are no text": lambda text: text.replace(b'"', b'"\xff', 1),
    "zeros": lambda text: text + bytes(8),
    "UTF-16": lambda text: text.decode().encode("utf-16"),
    "UTF-32": lambda text: text.decode().encode("utf-32-le"),
    "a mark of UTF-8": lambda text: b"\xef\xbb\xbf" + text,
    "cut off": lambda text: text[: len(text) // 2],
    "a comma more": lambda text: text[:-1] + b",}",
    "nested": lambda text: b'{"a":' * 50_000,
    "nested lists": lambda text: b"[" * 200_000,
    "a list of it": lambda text: b"[" + text + b"]",
    "a number": lambda text: b"1" * 10_000,
    "a word": lambda text: b'"x"',
    "nothing": lambda text: b"",
    "null": lambda text: b"null",
    "NaN": lambda text: b"NaN",
}


@pytest.mark.parametrize("attack", TEXTS)
def test_json_that_is_none_or_says_two_things_is_refused(specimens, path, attack):
    for specimen in specimens.values():
        members = members_of(specimen)
        members[MEMBER] = TEXTS[attack](members[MEMBER])
        assert outcome_of(specimen, path, zipped(members)) == "refused"


FIELDS = [
    ("format", [0, -1, 2, 3, 4, 2**70, 1.0, 2.0, True, None, "2", [2], float("nan"), float("inf")]),
    ("versions", [None, [], {}, 3, "x"]),
    ("extra", [None, [], 3, "x", True]),
]


def test_headers_of_other_kinds_are_refused(specimens, path):
    for specimen in specimens.values():
        for name, values in FIELDS:
            for value in values:
                members = members_of(specimen)
                own = json.loads(members[MEMBER])
                members[MEMBER] = json.dumps(own | {name: value}).encode()
                assert outcome_of(specimen, path, zipped(members)) == "refused", (name, value)


@pytest.mark.parametrize("number", [1, 0, -1])
def test_no_format_spares_a_file_its_checksum(specimens, path, number):
    for specimen in specimens.values():
        header = json.loads(specimen.text) | {"format": number}
        content = zipped({**members_of(specimen), MEMBER: json.dumps(header).encode()})
        assert outcome_of(specimen, path, content) == ("placed" if number == 1 else "refused")
        assert_refused(path, content[:-1] + b"x")
        bare = content[: -DIGITS - len(MARK) - 2] + bytes(2)
        assert_refused(path, bare)
        assert_refused(path, bare.replace(b'"embedding_"', b'"embeddinG_"'))


# ---- arrays ------------------------------------------------------------------------------------


def with_header(text, version=b"\x01\x00", data=bytes(64)):
    size = struct.pack("<H" if version == b"\x01\x00" else "<I", len(text) + 1)
    return b"\x93NUMPY" + version + size + text + b"\n" + data


PLAIN = "'fortran_order': False, 'shape': (8,)}"
NPY = {
    "objects": lambda array: npy(array.astype(object)),
    "a pickle": lambda array: pickle.dumps(array),
    "a pickle as objects": lambda array: npy(np.array([print, os.system], dtype=object)),
    "structured": lambda array: npy(np.zeros(4, [("a", "f8"), ("b", "i4")])),
    "dates": lambda array: npy(array.astype("i8").astype("M8[s]")),
    "text": lambda array: npy(array.astype("U")),
    "bytes": lambda array: npy(array.astype("S")),
    "complex": lambda array: npy(array.astype(complex)),
    "long": lambda array: npy(array.astype(np.longdouble)),
    "half": lambda array: npy(array.astype(np.float16)),
    "void": lambda array: with_header(f"{{'descr': '|V8', {PLAIN}".encode()),
    "code in the header": lambda array: with_header(f"{{'descr': __import__('os').abort(), {PLAIN}".encode()),
    "no dictionary": lambda array: with_header(b"[1, 2, 3]"),
    "keys more": lambda array: with_header(f"{{'more': 1, 'descr': '<f8', {PLAIN}".encode()),
    "no such type": lambda array: with_header(f"{{'descr': '<f3', {PLAIN}".encode()),
    "shape of words": lambda array: with_header(b"{'descr': '<f8', 'fortran_order': False, 'shape': ('a',)}"),
    "a long header": lambda array: with_header(b" " * 60_000),
    "a header without end": lambda array: b"\x93NUMPY\x02\x00\xff\xff\xff\xff{",
    "version 3": lambda array: with_header(f"{{'descr': '<f8', {PLAIN}".encode(), b"\x03\x00"),
    "version 9": lambda array: with_header(f"{{'descr': '<f8', {PLAIN}".encode(), b"\x09\x00"),
    "no magic": lambda array: array.tobytes(),
    "an archive": lambda array: zipped({"a.npy": npy(array)}),
    "nothing": lambda array: b"",
    "one number less": lambda array: npy(array)[:-8],
    "one number more": lambda array: npy(array) + bytes(8),
}  # fmt: skip


@pytest.mark.parametrize("attack", NPY)
def test_arrays_that_are_none_are_refused(specimens, path, attack):
    for specimen in specimens.values():
        floats = [name for name, content in specimen.members.items() if b"'<f8'" in content[:80]]
        for name in floats[: 2 * TIMES]:
            changed = NPY[attack](np.load(io.BytesIO(specimen.members[name])))
            members = {**members_of(specimen), name: changed}
            assert outcome_of(specimen, path, zipped(members)) == "refused"


# ---- members of another model --------------------------------------------------------------------


def fitted_elsewhere(name, n):
    rng = np.random.default_rng(9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model_fuzz._unfitted(name).fit(rng.normal(size=(n, 3)), np.arange(n) % 2)


def arrays_of(text):
    """The members of arrays, by where they stand in the model."""
    places = model_fuzz._places(json.loads(text))
    return {path: f"{value}.npy" for _, key, value, path in places if key == "array"}


@pytest.mark.parametrize("n", [model_fuzz.FEW_ROWS, model_fuzz.FEW_ROWS + 3])
@pytest.mark.parametrize("name", NAMES)
def test_members_of_another_model(specimens, path, name, n):
    """With the checksum before they are refused; with their own they place rows, or are refused."""
    specimen = specimens[name]
    isentropic.save(fitted_elsewhere(name, n), path)
    others = model_fuzz.members_of(path)
    mine, theirs = arrays_of(specimen.text), arrays_of(others[MEMBER].decode())
    sound, found = model_fuzz.whole(specimen), Counter()
    files = [(mine[place], theirs[place]) for place in mine if place in theirs]
    assert len(files) > 3
    for here, there in files:
        content = zipped({**members_of(specimen), here: others[there]})
        found[outcome_of(specimen, path, content)] += 1
        if content != sound:
            assert_refused(path, content[:-DIGITS] + sound[-DIGITS:])
    assert found["refused"] or n == model_fuzz.FEW_ROWS


# ---- preparations --------------------------------------------------------------------------------

VALUES = [None, True, 0, -1, 2, 1e300, -1e300, 1e-300, 5e-324, float("nan"), float("inf"), 10**400, "", "x",
          "t", "a", "number", "nominal", "date", "year", [], {}, [[]], ["a"] * 2, [None]]  # fmt: skip


def places_in(data, path=()):
    for key, value in data.items() if isinstance(data, dict) else enumerate(data):
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from places_in(value, (*path, key))


def mutated_preparation(prepared, rng):
    data = json.loads(json.dumps(prepared))
    places = list(places_in(data))
    for _ in range(int(rng.integers(1, 3))):
        *outer, last = places[int(rng.integers(len(places)))]
        try:
            holder = data
            for key in outer:
                holder = holder[key]
            how = int(rng.integers(4))
            if how == 0:
                del holder[last]
            elif how == 1 and isinstance(holder, list):
                holder.append(holder[last])
            elif how == 2 and isinstance(holder, list):
                holder.reverse()
            else:
                holder[last] = VALUES[int(rng.integers(len(VALUES)))]
        except (LookupError, TypeError):  # the first change left nothing to change
            continue
    return data


@pytest.fixture(scope="module")
def saved_tables(tmp_path_factory):
    """A table of all kinds of columns, and a model of it as the command line saves it."""
    import pandas as pd

    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "id": [f"r{i}" for i in range(30)],
            "a": rng.normal(size=30),
            "b": rng.normal(size=30),
            "c": rng.choice(["x", "y", "z"], 30),
            "d": pd.date_range("2024-01-01", periods=30),
            "t": rng.choice(["p", "q"], 30),
        }
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = datasets.load(frame, "t", index="id", dates="cycle")
        model = isentropic.make("pca").fit(table.X)
    path = tmp_path_factory.mktemp("tables") / "model.isentropic"
    SavedModel(model, "pca", table.preparation, Rows.of(table)).write(path)
    return frame, path.read_bytes()


def test_preparations_with_one_thing_wrong(saved_tables, path):
    """Refused as not that of the map; with that computed anew too, refused or applied, and never a bug."""
    frame, sound = saved_tables
    rng, found = np.random.default_rng(1), Counter()
    path.write_bytes(sound)
    prepared = _saving.load_with_extra(path)[1]["preparation"]
    for number in range(150 * TIMES):
        data = mutated_preparation(prepared, rng)
        anew = number % 3 > 0

        def change(content, data=data, anew=anew):
            content["extra"]["preparation"] = data
            if anew:
                model = isentropic.load(path)
                content["extra"]["preparation_sha256"] = _fingerprint(data, model)

        path.write_bytes(sound)
        reworded(path, change)
        same = data == prepared
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                saved = read_model(path)
                assert anew or same, data
                table = datasets.load(frame, preparation=saved.preparation)
                assert np.isfinite(saved.estimator.transform(table.X)).all()
                found["applied"] += 1
        except (IsentropicError, ValueError):  # scikit-learn's of infinite rows: see computing()
            found["refused"] += 1
    assert found["refused"] > found["applied"]


# ---- who reads while another writes --------------------------------------------------------------


def test_a_reader_sees_one_model_or_the_other(specimens, path):
    models = [fitted_elsewhere("pca", n) for n in (20, 30)]
    isentropic.save(models[0], path)
    stop, seen, failures = threading.Event(), Counter(), []

    def read():
        while not stop.is_set():
            try:
                seen[len(isentropic.load(path).embedding_)] += 1
            except IsentropicError as error:
                failures.append(error)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for thread in readers:
        thread.start()
    for number in range(30 * TIMES):
        isentropic.save(models[number % 2], path)
    stop.set()
    for thread in readers:
        thread.join()
    assert failures == []
    assert set(seen) <= {20, 30}
    assert os.listdir(path.parent) == [path.name]


def test_a_model_is_saved_over_itself_many_times(specimens, path):
    model = fitted_elsewhere("isomap", 20)
    places = model.transform(specimens["isomap"].queries)
    isentropic.save(model, path)
    sizes = set()
    for _ in range(10 * TIMES):
        loaded, extra = _saving.load_with_extra(path)
        _saving.save(loaded, path, extra=extra)
        sizes.add(path.stat().st_size)
    assert len(sizes) == 1
    assert np.array_equal(isentropic.load(path).transform(specimens["isomap"].queries), places)


# ---- kept results --------------------------------------------------------------------------------


@pytest.mark.parametrize("attack", [*BYTES, "of another key"])
def test_a_kept_result_with_other_bytes_is_computed_again(tmp_path, attack):
    key, other = "0" * 20, "1" * 20
    text = json.dumps({"values": [0.1 + 0.2] * 40, "word": "x" * 60})
    files, rng = ResultCache.at(tmp_path), np.random.default_rng(2)
    files.put("result", key, text)
    files.put("result", other, text)
    mine, theirs = (tmp_path / f"result-{one}.json" for one in (key, other))
    sound = mine.read_bytes()
    assert files.get("result", key, str) == text
    for _ in range(5 * TIMES):
        content = BYTES[attack](sound, rng) if attack in BYTES else theirs.read_bytes()
        if content != sound:
            mine.write_bytes(content)
            with pytest.warns(StoredRunWarning, match="computed again"):
                assert files.get("result", key, str) is None
