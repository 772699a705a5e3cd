"""Model files with one thing wrong, by the thousand: what loads must place rows, and nothing may crash.

    python tests/model_fuzz.py --count 1000 --seed 0 [--methods isomap,sdd]

Every mutation has a number: the same seed, method and number give the same file. A worker process notes the
number before it loads the file, so that a crash can be traced, and one that hangs is ended with its
traceback; ``watched`` starts one and reads the note. Nine of ten files have the checksum of what they hold,
so that the checks behind it are tried; the others have that of the whole file, and must be refused.

No load may run, import or write anything, or allocate more than a small multiple of the file.
"""

from __future__ import annotations

import argparse
import copy
import faulthandler
import hashlib
import io
import json
import os
import struct
import subprocess
import sys
import tempfile
import threading
import tracemalloc
import warnings
import zlib
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

import numpy as np

import memory_peaks

FEW_ROWS = 12
NEW_ROWS = 3
BUDGET = 2**28  # bytes that placing rows may take, kernels that are compiled for it included
TIMES_THE_FILE, TIMES_THE_TEXT, BESIDE_THE_FILE = 4, 64, 2**20  # bytes that a load may take
LONGEST = float(os.environ.get("MODEL_FUZZ_LONGEST", "120"))  # seconds for one file; kernels may be compiled
MEMBER = "model.json"
TINY = {  # parameters that keep the smallest of models small
    "landmark-isomap": {"n_landmarks": 5},
    "kde-isomap": {"percentile": 40, "n_bins": 16},
    "sdd": {"degree": [1, 3]},
    "multi-sdd": {"degrees": {1, 2}},
    "parametric": {"layers": (3,), "max_epochs": 2, "synthetic": 0},
}


@dataclass(frozen=True)
class Specimen:
    """A model file in its members, and what it should do."""

    kind: type
    members: dict[str, bytes]  # without model.json
    text: str  # model.json
    queries: np.ndarray
    places: np.ndarray


# ---- specimens ---------------------------------------------------------------------------------


def specimen_names():
    from isentropic.registry import METHODS

    special = (
        "isomap-of-distances",
        "isomap-of-parts",
        "sdd-of-geodesics",
        "mds-of-diffusion",
        "mds-of-levels",
        "lle-apart",
        "selected-parametric",
        "parametric-selected",
    )
    return [*METHODS, "selected", *special]


def _unfitted(name):
    import isentropic
    from isentropic.meta import ParametricEmbedding, Selected

    tiny = TINY["parametric"]
    special = {
        "selected": lambda: Selected(isentropic.Isomap(4), {"n_neighbors": [3, 4]}, n_jobs=1),
        "selected-parametric": lambda: Selected(
            ParametricEmbedding(isentropic.PCA(), **tiny), {"max_epochs": [1, 2]}, n_jobs=1
        ),
        "parametric-selected": lambda: ParametricEmbedding(
            Selected(isentropic.PCA(), {"whiten": [False, True]}, n_jobs=1), **tiny
        ),
        "isomap-of-distances": lambda: isentropic.Isomap(4, metric="precomputed"),
        "mds-of-levels": lambda: isentropic.ClassicalMDS(
            metric=isentropic.Gower((1,), (2,), (1.0, 2.0, 0.5))
        ),
        "isomap-of-parts": lambda: isentropic.Isomap(2, on_disconnected="largest"),
        "lle-apart": lambda: isentropic.LLE(3, on_disconnected="separate"),
        "sdd-of-geodesics": lambda: isentropic.SDD(2, metric=isentropic.Geodesic(4)),
        "mds-of-diffusion": lambda: isentropic.MetricMDS(2, metric=isentropic.Diffusion(4, t=3)),
    }
    return special[name]() if name in special else isentropic.make(name, **TINY.get(name, {}))


def made(name):
    """A fitted specimen: few rows, so that all of its arrays are short."""
    import isentropic

    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(FEW_ROWS, 3)), rng.normal(size=(NEW_ROWS, 3))
    if name == "isomap-of-parts":
        X[-3:] += 100
    if name == "lle-apart":
        X[-5:] += 100
    if name == "mds-of-levels":
        X, new = X.round(), new.round()
        X[3, 0] = X[5, 1] = new[0, 2] = np.nan
    if name == "isomap-of-distances":
        new, X = (np.linalg.norm(A[:, None] - X, axis=2) for A in (new, X))
    queries = np.concatenate([X[:1], new])
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        model = _unfitted(name).fit(X, np.arange(len(X)) % 2)
        places = model.transform(queries)
        isentropic.save(model, Path(folder) / "model.isentropic", extra={"note": "hello"})
        isentropic.load(Path(folder) / "model.isentropic")  # what follows has nothing left to import
        members = members_of(Path(folder) / "model.isentropic")
    text = json.dumps(json.loads(members.pop(MEMBER)))
    _prepare_named_methods()
    return Specimen(type(model), members, text, queries, places)


def _prepare_named_methods():
    """Import what a mutation may name, and read its specs: a load then has no reason to run anything."""
    import sklearn.neighbors  # noqa: F401  it knows the names of metrics

    from isentropic._core.models.model_file import buildable
    from isentropic._core.state import estimator_named

    for kind in (estimator_named(name) for name in METHOD_NAMES if type(name) is str):
        if kind is not None:
            buildable(kind)


# ---- files ---------------------------------------------------------------------------------------


def members_of(path):
    """The members of a model file: their bytes by their names."""
    with ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def whole(specimen):
    """The bytes of a file with nothing wrong."""
    return zipped({**specimen.members, MEMBER: specimen.text.encode()})


MARK, DIGITS = b"sha256:", 64  # of the checksum that a model file ends in


def sealed(content):
    """The bytes of a model file with the checksum of what is in it now."""
    start = content[:-DIGITS]
    return start + hashlib.sha256(start).hexdigest().encode()


def zipped(members):
    """The bytes of a model file with these members, nothing compressed; written here for speed."""
    body, directory = io.BytesIO(), io.BytesIO()
    for name, content in members.items():
        raw = name.encode()
        fields = struct.pack("<HHHHHIIIHH", 20, 0x800, 0, 0, 33, zlib.crc32(content), len(content),
                             len(content), len(raw), 0)  # fmt: skip
        directory.write(b"PK\x01\x02\x14\x00" + fields + bytes(10) + struct.pack("<I", body.tell()) + raw)
        body.write(b"PK\x03\x04" + fields + raw + content)
    sizes = directory.tell(), body.tell(), len(MARK) + DIGITS
    end = struct.pack("<HHHHIIH", 0, 0, len(members), len(members), *sizes)
    return sealed(body.getvalue() + directory.getvalue() + b"PK\x05\x06" + end + MARK + bytes(DIGITS))


def rezipped(path, change):
    """Change the members of a model file, a dictionary of bytes by name, and its checksum."""
    members = members_of(path)
    change(members)
    path.write_bytes(zipped(members))


def reworded(path, change):
    """Change ``model.json`` of a model file, as an object, and the checksum of the file."""

    def changed(members):
        found = json.loads(members[MEMBER])
        change(found)
        members[MEMBER] = json.dumps(found).encode()

    rezipped(path, changed)


# ---- mutations ---------------------------------------------------------------------------------


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


def _with_one(array, value):
    changed = array.copy()
    if changed.size:
        with np.errstate(all="ignore"):
            changed.reshape(-1)[changed.size // 2] = np.array(value).astype(changed.dtype)
    return changed


def _claimed(array, shape):
    """The same numbers under a header that says otherwise."""
    header = io.BytesIO()
    description = {"descr": array.dtype.str, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(header, description)
    return header.getvalue() + array.tobytes()


ARRAYS = {
    "cut": lambda a, rng: a[:-1] if a.ndim else a,
    "cut to one": lambda a, rng: a[:1] if a.ndim else a,
    "cut by a column": lambda a, rng: a[..., :-1] if a.ndim else a,
    "longer": lambda a, rng: np.concatenate([a, a[-1:]]) if a.ndim else a[None],
    "much longer": lambda a, rng: np.concatenate([a] * 40) if a.ndim else a[None],
    "wider": lambda a, rng: np.concatenate([a, a], axis=-1) if a.ndim else a[None],
    "empty": lambda a, rng: a[:0] if a.ndim else a.reshape(1)[:0],
    "no axis": lambda a, rng: a.reshape(-1)[:1].sum() if a.dtype.kind != "O" else a,
    "flat": lambda a, rng: a.reshape(-1),
    "one more axis": lambda a, rng: a[None],
    "transposed": lambda a, rng: np.ascontiguousarray(a.T),
    "fortran": lambda a, rng: np.asfortranarray(a),
    "backwards": lambda a, rng: a[::-1],
    "shuffled": lambda a, rng: rng.permutation(a.reshape(-1)).reshape(a.shape),
    "float32": lambda a, rng: a.astype(np.float32),
    "float64": lambda a, rng: a.astype(np.float64),
    "int64": lambda a, rng: np.nan_to_num(a).astype(np.int64),
    "int32": lambda a, rng: np.nan_to_num(a).astype(np.int32),
    "uint8": lambda a, rng: np.nan_to_num(a).astype(np.int64).astype(np.uint8),
    "complex": lambda a, rng: a.astype(complex),
    "text": lambda a, rng: a.astype("U8"),
    "objects": lambda a, rng: a.astype(object),
    "swapped bytes": lambda a, rng: a.astype(a.dtype.newbyteorder(">")),
    "nan": lambda a, rng: _with_one(a, np.nan) if a.dtype.kind == "f" else a,
    "inf": lambda a, rng: _with_one(a, np.inf) if a.dtype.kind == "f" else a,
    "-inf": lambda a, rng: _with_one(a, -np.inf) if a.dtype.kind == "f" else a,
    "1e308": lambda a, rng: _with_one(a, 1e308) if a.dtype.kind == "f" else a,
    "all 1e308": lambda a, rng: np.full_like(a, 1e308) if a.dtype.kind == "f" else a,
    "1e-320": lambda a, rng: np.full_like(a, 1e-320) if a.dtype.kind == "f" else a,
    "1e300": lambda a, rng: _with_one(a, 1e300) if a.dtype.kind == "f" else a,
    "-1e300": lambda a, rng: _with_one(a, -1e300) if a.dtype.kind == "f" else a,
    "all 1e300": lambda a, rng: np.full_like(a, 1e300) if a.dtype.kind == "f" else a,
    "times 1e155": lambda a, rng: a * 1e155 if a.dtype.kind == "f" else a,
    "times 1e140": lambda a, rng: a * 1e140 if a.dtype.kind == "f" else a,
    "1e-300": lambda a, rng: _with_one(a, 1e-300) if a.dtype.kind == "f" else a,
    "times 1e-140": lambda a, rng: a * 1e-140 if a.dtype.kind == "f" else a,
    "times 1e-300": lambda a, rng: a * 1e-300 if a.dtype.kind == "f" else a,
    "5e-324": lambda a, rng: _with_one(a, 5e-324) if a.dtype.kind == "f" else a,
    "all 5e-324": lambda a, rng: np.full_like(a, 5e-324) if a.dtype.kind == "f" else a,
    "-0.0": lambda a, rng: np.full_like(a, -0.0) if a.dtype.kind == "f" else a,
    "zero": lambda a, rng: _with_one(a, 0),
    "equal rows": lambda a, rng: np.repeat(a[:1], len(a), axis=0) if a.ndim else a,
    "offset": lambda a, rng: a + 1e15 if a.dtype.kind == "f" else a,
    "zeros": lambda a, rng: np.zeros_like(a),
    "ones": lambda a, rng: np.ones_like(a),
    "minus one": lambda a, rng: _with_one(a.astype(np.int64), -1).astype(a.dtype),
    "negated": lambda a, rng: (-a.astype(float)).astype(a.dtype) if a.dtype.kind in "fi" else a,
    "2^30": lambda a, rng: _with_one(a, 2**30),
    "rows": lambda a, rng: _with_one(a, FEW_ROWS),
    "last row": lambda a, rng: _with_one(a, FEW_ROWS - 1),
    "one up": lambda a, rng: a + a.dtype.type(1),
    "one down": lambda a, rng: a - a.dtype.type(1),
    "noise": lambda a, rng: rng.normal(size=a.shape).astype(a.dtype) if a.dtype.kind == "f" else a,
}
CLAIMS = {
    "claims 2^40": lambda a: (2**40,),
    "claims 2^62 by 4": lambda a: (2**62, 4),
    "claims one more": lambda a: (*a.shape[:-1], a.shape[-1] + 1) if a.ndim else (2,),
    "claims less": lambda a: (*a.shape[:-1], max(a.shape[-1] - 1, 0)) if a.ndim else (),
    "claims minus": lambda a: (-1, *a.shape[1:]),
    "claims minus twice": lambda a: (-1, -a.size),
    "claims nothing by 2^40": lambda a: (0, 2**40),
    "claims 2^40 by nothing": lambda a: (2**40, 0),
    "claims true": lambda a: (True, a.size),
    "claims 40 axes": lambda a: (*[1] * 40, a.size),
}
SCALARS = [
    "null", "true", "false", "0", "1", "-1", "2", "3", "12", "1000000000", "2147483648",
    "9223372036854775808", "-7.5", "0.5", "1e308", "-1e308", "1e-320", "NaN", "Infinity", "-Infinity",
    '""', '"x"', '"euclidean"',
    '"precomputed"', '"cosine"', '"knn"', '"can"', '"low-rank"', '"auto"', "[1, 2]",
    '{"a": 1}', "1" * 4000,
]  # fmt: skip
METHODS_OF_ALL = [
    "transform", "fit", "fit_transform", "_require_sound", "_place", "_find", "_entries", "get_params",
    "metric", "__class__", "__dict__", "__init__", "__getstate__", "__setstate__", "__reduce__", "_state",
    "_parameters", "_n_features_out", "_get_param_names", "_landmark_geodesics", "_index_of_fitted",
]  # fmt: skip
TAGS = ["array", "part", "tuple", "list", "set", "dict", "names", "float", "scalar", "value", "model",
        "kind", "method", "fields", ""]  # fmt: skip
KINDS = ["TrainingData", "NearestRows", "StudentLayout", "StudentMap", "ClassModel", "NeighborGraph", "Knn",
         "Neighbors", "Landmarks", "Geodesic", "Gower", "LinearMap", "ChosenMap", "MimicMap", "Selection",
         "Trial", "Layers", "Embedder", "Part", "Table", "PCA", "TSNE", "Selected", "ModelReader",
         "eval", "exec", "os.system", "builtins.eval", "numpy.ndarray", "", 3, None]  # fmt: skip
METHOD_NAMES = ["t-sne", "umap", "pca", "isomap", "sdd", "parametric", "selected", "no-such-method", "",
                "TSNE", "isentropic.methods.linear.pca:PCA", "sklearn.decomposition:PCA", "os:system", 3,
                None]  # fmt: skip


def _places(found):
    """Every value of a model file with where it stands: (parent, key, value, path)."""
    places, queue = [], [(found["model"], "/model"), (found["parts"], "/parts")]
    while queue:
        place, path = queue.pop()
        for key, value in place.items() if isinstance(place, dict) else enumerate(place):
            places.append((place, key, value, f"{path}/{key}"))
            if isinstance(value, dict | list):
                queue.append((value, f"{path}/{key}"))
    return places


def _mutate_array(node, members, path, rng):
    array = np.load(io.BytesIO(members[f"{node['array']}.npy"]))
    name_of, change = _drawn([*ARRAYS.items(), *CLAIMS.items()], rng)
    node["array"] = 10**6 + len(members)  # a member of its own: another part may share the one before
    name = f"{node['array']}.npy"
    if name_of in CLAIMS:
        members[name] = _claimed(array, change(array))
        return f"{path}: {name_of}"
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        changed = change(array, rng)
    members[name] = npy(changed)
    return f"{path}: {name_of}"


def _mutate(found, members, rng):
    """Change one value of a model; returns what was done."""
    parent, key, value, path = _drawn(_places(found), rng)
    if isinstance(value, dict) and set(value) == {"array"} and rng.random() < 0.7:
        return _mutate_array(value, members, path, rng)
    if not isinstance(value, dict | list) and rng.random() < 0.7:
        text = _drawn(SCALARS, rng)
        parent[key] = json.loads(text)
        return f"{path}: {text[:20]}"
    action = _drawn([*ACTIONS, *ON_PARTS], rng)
    if action in ON_PARTS:
        ON_PARTS[action](found["parts"], rng)
        return action
    ACTIONS[action](found, (parent, key, value), rng)
    return f"{path}: {action}"


def _remove(found, place, rng):
    parent, key, _ = place
    parent.pop(key)


def _add(found, place, rng):
    group = _drawn(_estimators(found), rng)[_drawn(["fitted", "parameters"], rng)]
    group[_drawn([*METHODS_OF_ALL, "_map", "embedding_", "estimator", "best_estimator_"], rng)] = (
        copy.deepcopy(place[2])
    )


def _rename(found, place, rng):
    _add(found, place, rng)
    _remove(found, place, rng)


def _swap(found, place, rng):
    parent, key, _ = place
    parent[key] = copy.deepcopy(_drawn(_places(found), rng)[2])


def _kind(found, place, rng):
    own = [part.get("kind") for part in found["parts"]]
    _drawn(found["parts"], rng)["kind"] = _drawn([*KINDS, *own], rng)


def _tag(found, place, rng):
    parent, key, value = place
    parent[key] = {_drawn(TAGS, rng): value}


def _two_tags(found, place, rng):
    place[2][_drawn(TAGS, rng)] = 0


def _wrap(found, place, rng):
    parent, key, value = place
    parent[key] = {_drawn(["list", "tuple", "set"], rng): [value]}


def _deep(found, place, rng):
    parent, key, value = place
    for _ in range(int(_drawn([3, 40, 120], rng))):
        value = {"list": [value]}
    parent[key] = value


def _gut(found, place, rng):
    place[2].clear()


def _item(found, place, rng):
    value = place[2]
    items = value if isinstance(value, list) else _drawn(list(value.values()), rng)
    items.append(copy.deepcopy(items[0])) if rng.random() < 0.5 else items.pop()


def _refer(found, place, rng):
    """To any part: an earlier one, a later one, the part that it is in, or none at all."""
    parent, key, _ = place
    n = len(found["parts"])
    parent[key] = {"part": int(_drawn([-1, *range(n), n, 10**9], rng))}


def _many(found, place, rng):
    parent, key, value = place
    parent[key] = {_drawn(["list", "tuple"], rng): [value] * 2000}


def _method(found, place, rng):
    _drawn(_estimators(found), rng)["method"] = _drawn(METHOD_NAMES, rng)


def _estimator(found, place, rng):
    """An estimator where a part stands, or as one more of the parts."""
    copied = copy.deepcopy(found["model"])
    found["parts"][int(rng.integers(len(found["parts"])))] = copied


ACTIONS = {
    "remove": _remove, "rename": _rename, "add": _add, "swap": _swap, "kind": _kind, "tag": _tag,
    "two tags": _two_tags, "wrap": _wrap, "deep": _deep, "gut": _gut, "item": _item, "part": _refer,
    "many": _many, "method": _method, "an estimator as a part": _estimator,
}  # fmt: skip
ON_PARTS = {
    "parts backwards": lambda parts, rng: parts.reverse(),
    "parts shuffled": lambda parts, rng: rng.shuffle(parts),
    "the first part is gone": lambda parts, rng: parts.pop(0),
    "the last part is gone": lambda parts, rng: parts.pop(),
    "a part twice": lambda parts, rng: parts.insert(0, copy.deepcopy(parts[-1])),
    "a part is no part": lambda parts, rng: parts.append(_drawn([None, 3, "kind", "method", [], {}], rng)),
}


def _estimators(found):
    """The model and those that it holds."""
    return [found["model"], *(part for part in found["parts"] if "method" in part)]


def _drawn(options, rng):
    options = list(options)
    return options[int(rng.integers(len(options)))]


HEADERS = [
    b"", b"[]", b"{}", b"null", b'{"format": 3}',
    b'{"format": 0, "versions": {"isentropic": "0"}, "extra": {}}',
    b'{"format": 1, "format": 2, "versions": {"isentropic": "0"}, "extra": {}}',
    b'{"format": true, "versions": {"isentropic": "0"}, "extra": {}}',
    b'{"format": 1, "versions": [], "extra": {}}',
    b'{"format": "1", "versions": {"isentropic": "0"}, "extra": {}}',
    b'{"format": 1, "versions": {"isentropic": "0"}, "extra": []}',
    b'{"format": NaN, "versions": {"isentropic": "0"}, "extra": {}}', b"[" * 100_000, b"\xff\xfe",
    b'{"format": 99, "versions": {"isentropic": {}}, "extra": {}}',
]  # fmt: skip


def mutated(specimen, rng):
    """The bytes of a file with one to three things wrong, and what they are."""
    members, found = dict(specimen.members), json.loads(specimen.text)
    where = rng.random()
    if where < 0.02:
        return zipped({**members, MEMBER: _with_header(found, _drawn(HEADERS, rng))}), "header"
    done = []
    for _ in range(_drawn([1, 1, 1, 2, 3], rng)):
        with suppress(
            LookupError, TypeError, ValueError, AttributeError, MemoryError
        ):  # the first left nothing to change
            done.append(_mutate(found, members, rng))
    text = json.dumps(found).encode()
    if where < 0.04:
        start = int(rng.integers(len(text)))
        changed = text[:start] + bytes(rng.integers(256, size=3)) + text[start + 3 :]
        return zipped({**members, MEMBER: changed}), f"{MEMBER} at {start}"
    if where < 0.06:
        key = _drawn([*found, "part", "kind", "array", "0"], rng)
        return zipped({**members, MEMBER: text.replace(b"{", b'{"%s": 0, ' % key.encode(), 2)}), "keys twice"
    content = zipped({**members, MEMBER: text})
    if where < 0.08:
        start = int(rng.integers(len(content)))
        cut = rng.random() < 0.5
        content = content[:start] + (b"" if cut else bytes(rng.integers(256, size=2)) + content[start + 2 :])
        content = content if cut else sealed(content)
        done.append(f"byte {start}{' is the last' if cut else ''}")
    return content, "; ".join(done)


def _with_header(found, header):
    """A model file whose first lines are those of another header, where this is one."""
    try:
        other = json.loads(header)
    except (ValueError, RecursionError):
        return header
    return json.dumps({**found, **other} if isinstance(other, dict) and other else other).encode()


# ---- what must hold ----------------------------------------------------------------------------


OUTCOMES = ("refused", "refused to place", "placed")
_RUNS = (
    "exec", "import", "marshal.", "pickle.", "os.", "subprocess.", "socket.", "shutil.", "ctypes.", "signal.",
    "code.", "cpython.", "webbrowser.", "urllib.", "tempfile.", "glob.",
)  # fmt: skip
_READS = {"os.listdir", "os.scandir", "os.walk"}
_watched: dict[int, list[str]] = {}  # what threads do while a file is loaded there


def _audit(event, arguments):
    doings = _watched.get(threading.get_ident())
    if doings is None:
        return
    writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
    if writes or (event.startswith(_RUNS) and event not in _READS):
        doings.append(f"{event} {str(arguments)[:120]}")


@contextmanager
def nothing_runs():
    """Fails if the block runs code that it found, imports, or writes a file."""
    if not hasattr(sys, "_model_fuzz_audits"):  # a hook stays as long as the process
        sys._model_fuzz_audits = True
        sys.addaudithook(_audit)
    doings = _watched[threading.get_ident()] = []
    try:
        yield
    finally:
        del _watched[threading.get_ident()]
    assert not doings, f"it did {doings[:3]}"


class TooMuchMemory(AssertionError):
    """A block allocated more than it may."""


@contextmanager
def at_most(n_bytes, what):
    """Fails if the block allocates more, as far as Python and numpy allocate it."""
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    if peak > n_bytes:
        raise TooMuchMemory(f"{what} took {peak} bytes, more than {n_bytes}")


def memory_of(path):
    """Bytes that loading a file may take: more for JSON, whose lists and dictionaries are large."""
    size, text = path.stat().st_size, 0
    with suppress(Exception), ZipFile(path) as archive:
        text = min(size, archive.getinfo(MEMBER).file_size)
    return TIMES_THE_FILE * size + TIMES_THE_TEXT * text + BESIDE_THE_FILE


def outcome(specimen, path):
    """One of OUTCOMES, or what is wrong with the refusal; AssertionError for a model that is none."""
    import isentropic
    from isentropic import FileFormatError, IsentropicError, MemoryBudgetError

    def load():
        with at_most(memory_of(path), "loading"), nothing_runs():
            try:
                return isentropic.load(path), None
            except (FileFormatError, MemoryBudgetError) as found:
                return None, str(found)

    try:
        model, error = load()
    except TooMuchMemory:  # other threads of the process allocate, too: what loading takes, it takes again
        model, error = load()
    if error is not None:
        sound = error.startswith(f"{path} ") or f" {path} " in error
        plain = len(error) < 1000 + len(str(path)) and "bug" not in error
        return "refused" if sound and plain else f"refused badly: {error}"
    assert type(model) is specimen.kind, f"another class: {type(model)}"
    shadowed = [name for name in vars(model) if callable(getattr(specimen.kind, name, None))]
    assert not shadowed, f"shadowed: {shadowed}"
    try:
        with at_most(BUDGET, "placing"):
            Z = model.transform(specimen.queries)
    except IsentropicError:
        return "refused to place"
    shape = (len(specimen.queries), model.embedding_.shape[1])
    assert type(Z) is np.ndarray, f"placed as {type(Z)}"
    assert Z.shape == shape, f"placed in {Z.shape}, not {shape}"
    assert np.isfinite(Z).all(), "not finite"
    return "placed"


def work(names, count, seed, note):
    """Try ``count`` mutations of each specimen; ``note`` gets the number of each before it is tried."""
    import isentropic

    counts, failures = Counter(), []
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    isentropic.set_config(memory_limit=BUDGET)
    with tempfile.TemporaryDirectory() as folder, open(note, "wb", buffering=0) as noted:
        path = Path(folder) / "model.isentropic"
        for name in names:
            specimen = made(name)
            sound = whole(specimen)
            path.write_bytes(sound)
            assert outcome(specimen, path) == "placed", name
            for number in range(count):
                content, what = mutated(
                    specimen, np.random.default_rng([seed, number, zlib.crc32(name.encode())])
                )
                stale = number % 10 == 9 and content[:-DIGITS] != sound[:-DIGITS]
                if stale:
                    content, what = content[:-DIGITS] + sound[-DIGITS:], f"{what}; the checksum before"
                os.pwrite(noted.fileno(), f"{name} {number} {what}"[:500].ljust(500).encode(), 0)
                path.write_bytes(content)
                faulthandler.dump_traceback_later(LONGEST, exit=True)
                try:
                    found = outcome(specimen, path)
                    assert found in (OUTCOMES[:1] if stale else OUTCOMES), found
                    counts[found] += 1
                except Exception as error:
                    counts["failed"] += 1
                    failures.append(f"{name} {number} ({what}): {type(error).__name__}: {error}"[:400])
                faulthandler.cancel_dump_traceback_later()
        peak = memory_peaks.kib("VmHWM") // 1024 if memory_peaks.are_known() else 0
    return {"counts": dict(counts), "failures": failures, "peak_mib": peak}


def watched(names, count, seed, timeout):
    """The report of a worker process; one that dies fails with the mutation that it had noted."""
    with tempfile.TemporaryDirectory() as folder:
        note, report = Path(folder) / "note", Path(folder) / "report.json"
        command = [
            sys.executable,
            __file__,
            "--count",
            str(count),
            "--seed",
            str(seed),
            "--methods",
            ",".join(names),
        ]
        command += ["--note", str(note), "--report", str(report)]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
        if report.exists():
            return json.loads(report.read_text(encoding="utf-8"))
        last = note.read_text(encoding="utf-8").strip() if note.exists() else "nothing"
        failure = f"the worker ended with {ended.returncode} after: {last}\n{ended.stderr[-2000:]}"
        return {"counts": {"crashed": 1}, "failures": [failure], "peak_mib": 0}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000, help="mutations of each method")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--methods", help="names with commas between; default: all")
    parser.add_argument("--note", type=Path, default=Path(tempfile.gettempdir()) / "model_fuzz.note")
    parser.add_argument("--report", type=Path)
    args = parser.parse_args()
    os.environ.update(dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS"), "1"))  # rows are few
    faulthandler.enable()
    names = args.methods.split(",") if args.methods else specimen_names()
    report = work(names, args.count, args.seed, args.note)
    if args.report:
        args.report.write_text(json.dumps(report), encoding="utf-8")
    sys.stdout.write(
        "\n".join([*report["failures"][:60], str(report["counts"]), f"{report['peak_mib']} MiB", ""])
    )
    return bool(report["failures"])


if __name__ == "__main__":
    sys.exit(main())
