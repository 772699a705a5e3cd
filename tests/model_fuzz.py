"""Model files with one thing wrong, by the thousand: what loads must place rows, and nothing may crash.

    python tests/model_fuzz.py --count 1000 --seed 0 [--methods isomap,sdd]

Every mutation has a number: the same seed, method and number give the same file. A worker process notes the
number before it loads the file, so that a crash can be traced; ``watched`` starts one and reads the note.
Nine of ten files have the checksum of what they hold, so that the checks behind it are tried; the others have
that of the whole file, and must be refused.
"""

from __future__ import annotations

import argparse
import copy
import faulthandler
import hashlib
import io
import json
import os
import resource
import struct
import subprocess
import sys
import tempfile
import warnings
import zlib
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

import numpy as np

FEW_ROWS = 12
NEW_ROWS = 3
BUDGET = 2**28  # bytes that a load may take
TINY = {  # parameters that keep the smallest of models small
    "landmark-isomap": {"n_landmarks": 5},
    "kde-isomap": {"percentile": 40, "n_bins": 16},
    "sdd": {"degree": [1, 3]},
    "multi-sdd": {"degrees": {1, 2}},
    "parametric": {"layers": (3,), "max_epochs": 2, "synthetic": 0},
}


@dataclass(frozen=True)
class Specimen:
    """A model file in its parts, and what it should do."""

    kind: type
    members: dict[str, bytes]  # without the schema
    schema: str  # JSON
    queries: np.ndarray
    places: np.ndarray
    member: str = "schema.json"  # that holds it: "model.json" for a model made of parts


# ---- specimens ---------------------------------------------------------------------------------


def specimen_names():
    from isentropic.registry import METHODS

    special = (
        "isomap-of-distances",
        "isomap-of-parts",
        "sdd-of-geodesics",
        "mds-of-diffusion",
        "mds-of-levels",
    )
    return [*METHODS, "selected", *special]


def name_by_skops():
    """A method that is not made of parts yet, one that keeps rows if there is any: its files are of skops."""
    from isentropic._core.state import uses_parts
    from isentropic.registry import METHODS

    found = [each for each in METHODS.values() if not (uses_parts(each.load()) or each.needs_y)]
    return max(found, key=lambda each: each.precomputed).name


def _unfitted(name):
    import isentropic
    from isentropic.meta import Selected

    special = {
        "selected": lambda: Selected(isentropic.Isomap(4), {"n_neighbors": [3, 4]}, n_jobs=1),
        "isomap-of-distances": lambda: isentropic.Isomap(4, metric="precomputed"),
        "mds-of-levels": lambda: isentropic.ClassicalMDS(
            metric=isentropic.Gower((1,), (2,), (1.0, 2.0, 0.5))
        ),
        "isomap-of-parts": lambda: isentropic.Isomap(2, on_disconnected="largest"),
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
        with ZipFile(Path(folder) / "model.isentropic") as archive:
            members = {member: archive.read(member) for member in archive.namelist()}
    member = "model.json" if "model.json" in members else "schema.json"
    schema = json.dumps(json.loads(members.pop(member)))
    return Specimen(type(model), members, schema, queries, places, member)


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
    with ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    path.write_bytes(zipped(members))


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
}
SCALARS = [
    "null", "true", "false", "0", "1", "-1", "2", "3", "12", "2147483648", "9223372036854775808", "-7.5",
    "0.5", "1e308", "-1e308", "1e-320", "NaN", "Infinity", "-Infinity", '""', '"x"', '"euclidean"',
    '"precomputed"', '"cosine"', '"knn"', '"can"', '"low-rank"', '"auto"', "[1, 2]",
    '{"a": 1}', "", "{", "1" * 5000,
]  # fmt: skip
METHODS_OF_ALL = [
    "transform", "fit", "fit_transform", "_require_sound", "_place", "_find", "_entries", "get_params",
    "metric", "__class__", "__dict__", "__init__", "__getstate__", "__setstate__", "__reduce__", "_state",
    "_parameters", "_n_features_out", "_get_param_names", "_landmark_geodesics", "_index_of_fitted",
]  # fmt: skip
CLASSES = [
    ("isentropic.methods.linear.pca", "PCA"), ("isentropic.methods.geodesic.isomap", "Isomap"),
    ("isentropic.methods.distance.sdd", "SDD"),
    ("isentropic.methods.distance.sdd", "ParameterFreeSDD"),
    ("isentropic._core.values", "NeighborGraph"), ("isentropic._core.values", "Neighbors"),
    ("isentropic._core.values", "Knn"), ("isentropic._core.values", "Landmarks"),
    ("isentropic.linalg.scaling", "Scaling"), ("isentropic.embedding.input_rows", "KnownRows"),
    ("isentropic.methods.distance.pairs", "ReferenceMap"),
    ("isentropic.methods.geodesic.geodesic", "GeodesicEmbedder"), ("isentropic._core.values", "Table"),
    ("isentropic._core.models.io", "ArchiveReader"), ("sklearn.decomposition", "PCA"), ("builtins", "dict"),
    ("builtins", "list"), ("builtins", "tuple"), ("builtins", "eval"), ("os", "system"), ("numpy", "ndarray"),
    ("numpy", "float64"), ("numpy", "int64"), ("collections", "OrderedDict"),
]  # fmt: skip
LOADERS = ["DictNode", "JsonNode", "ListNode", "NdArrayNode", "ObjectNode", "SetNode", "TupleNode",
           "TypeNode", "ConstructorFromReduceNode", "FunctionNode", "CachedNode"]  # fmt: skip


def _nodes(schema):
    """Every node below the root with where it stands: (parent, key, node, path)."""
    found, queue = [], [(schema, "")]
    while queue:
        place, path = queue.pop()
        for key, value in place.items() if isinstance(place, dict) else enumerate(place):
            if isinstance(value, dict | list):
                queue.append((value, f"{path}/{key}"))
                if isinstance(value, dict) and "__loader__" in value:
                    found.append((place, key, value, f"{path}/{key}"))
    return found


def _mutate_array(node, members, path, rng):
    name = node["file"]
    array = np.load(io.BytesIO(members[name]))
    name_of, change = _drawn([*ARRAYS.items(), *CLAIMS.items()], rng)
    # under a name of its own: another part may share the member
    node["file"] = f"changed{len(members)}.npy"
    if name_of in CLAIMS:
        members[node["file"]] = _claimed(array, change(array))
        return f"{path}: {name_of}"
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        changed = change(array, rng)
    members[node["file"]] = npy(changed)
    return f"{path}: {name_of}"


def _mutate_node(schema, members, rng):
    """Change one node; returns what was done."""
    parent, key, node, path = _drawn(_nodes(schema), rng)
    loader = node["__loader__"]
    if loader == "NdArrayNode" and node["type"] == "numpy" and rng.random() < 0.7:
        return _mutate_array(node, members, path, rng)
    if loader == "JsonNode" and rng.random() < 0.7:
        node["content"] = _drawn(SCALARS, rng)
        return f"{path}: {node['content'][:20]}"
    return _mutate_shape(schema, parent, key, node, path, rng)


def _mutate_shape(schema, parent, key, node, path, rng):
    action = _drawn(
        ["remove", "rename", "add", "swap", "class", "loader", "wrap", "deep", "gut", "item"], rng
    )
    if action == "remove":
        parent.pop(key)
    elif action in ("rename", "add"):
        name = _drawn(METHODS_OF_ALL, rng)
        path = f"{path} -> {name}"
        attributes = schema["content"]["content"]
        attributes[name] = copy.deepcopy(node)
        schema["content"]["key_types"]["content"].append(_type_node("str"))
        if action == "rename" and parent is attributes:
            attributes.pop(key)
            schema["content"]["key_types"]["content"].pop()
    elif action == "swap":
        _, _, other, where = _drawn(_nodes(schema), rng)
        parent[key] = copy.deepcopy(other)
        path = f"{path} <- {where}"
    elif action == "class":
        node["__module__"], node["__class__"] = _drawn(CLASSES, rng)
        path = f"{path} = {node['__class__']}"
    elif action == "loader":
        node["__loader__"] = _drawn(LOADERS, rng)
        path = f"{path} = {node['__loader__']}"
    elif action == "wrap":
        parent[key] = _collection(_drawn(["list", "tuple", "set"], rng), [node])
    elif action == "deep":
        for _ in range(int(_drawn([3, 40, 120], rng))):
            node = _collection("list", [node])
        parent[key] = node
    elif action == "gut":
        node.pop(_drawn([name for name in node if name != "__id__"], rng))
    else:
        _mutate_items(node, rng)
    return f"{path}: {action}"


def _mutate_items(node, rng):
    """One item fewer, or one more, where the node has items."""
    content = node.get("content")
    items = content.get("content") if isinstance(content, dict) else content
    if isinstance(items, list) and items:
        if rng.random() < 0.5:
            items.pop(int(rng.integers(len(items))))
        else:
            items.append(copy.deepcopy(_drawn(items, rng)))
    elif isinstance(items, dict) and items:
        items.pop(_drawn(list(items), rng))
    else:
        node["content"] = [] if rng.random() < 0.5 else None


# ---- models made of parts ------------------------------------------------------------------------

TAGS = ["array", "part", "tuple", "list", "set", "dict", "names", "float", "scalar", "value", "model", ""]
KINDS = ["TrainingData", "NearestRows", "StudentLayout", "StudentMap", "ClassModel", "NeighborGraph", "Knn",
         "Neighbors", "Landmarks", "Embedder", "Part", "PCA", "TSNE", "eval", "", 3, None]  # fmt: skip
METHOD_NAMES = ["t-sne", "umap", "pca", "isomap", "selected", "no-such-method", "", "TSNE", 3, None]


def _places(schema):
    """Every value of a model file with where it stands: (parent, key, value, path)."""
    found, queue = [], [(schema["model"], "/model"), (schema["parts"], "/parts")]
    while queue:
        place, path = queue.pop()
        for key, value in place.items() if isinstance(place, dict) else enumerate(place):
            found.append((place, key, value, f"{path}/{key}"))
            if isinstance(value, dict | list):
                queue.append((value, f"{path}/{key}"))
    return found


def _mutate_place(schema, members, rng):
    """Change one value of a model made of parts; returns what was done."""
    parent, key, value, path = _drawn(_places(schema), rng)
    if isinstance(value, dict) and set(value) == {"array"} and rng.random() < 0.7:
        number = 10**6 + len(members)  # a name of its own: another part may share the member
        node = {"file": f"{value['array']}.npy"}
        done = _mutate_array(node, members, path, rng)
        members[f"{number}.npy"] = members.pop(node["file"])
        value["array"] = number
        return done
    if not isinstance(value, dict | list) and rng.random() < 0.7:
        text = _drawn([each for each in SCALARS if each not in ("", "{")], rng)
        parent[key] = json.loads(text) if len(text) < 4000 else int("1" * 4000)
        return f"{path}: {text[:20]}"
    action = _drawn(["remove", "rename", "add", "swap", "kind", "tag", "wrap", "deep", "gut", "item", "part",
                     "method"], rng)  # fmt: skip
    _change_place(schema, parent, key, value, action, rng)
    return f"{path}: {action}"


def _change_place(schema, parent, key, value, action, rng):
    if action == "remove":
        parent.pop(key)
    elif action in ("rename", "add"):
        group = schema["model"][_drawn(["fitted", "parameters"], rng)]
        group[_drawn([*METHODS_OF_ALL, "_map", "embedding_"], rng)] = copy.deepcopy(value)
        if action == "rename":
            parent.pop(key)
    elif action == "swap":
        parent[key] = copy.deepcopy(_drawn(_places(schema), rng)[2])
    elif action == "kind":
        _drawn(schema["parts"], rng)["kind"] = _drawn(KINDS, rng)
    elif action == "tag":
        parent[key] = {_drawn(TAGS, rng): value}
    elif action == "wrap":
        parent[key] = {_drawn(["list", "tuple", "set"], rng): [value]}
    elif action == "deep":
        for _ in range(int(_drawn([3, 40, 120], rng))):
            value = {"list": [value]}
        parent[key] = value
    elif action == "gut":
        value.clear()
    elif action == "item":
        items = value if isinstance(value, list) else _drawn(list(value.values()), rng)
        items.append(copy.deepcopy(items[0])) if rng.random() < 0.5 else items.pop()
    elif action == "part":
        parent[key] = {"part": int(_drawn([-1, 0, 1, 2, len(schema["parts"]) - 1, 10**9], rng))}
    else:
        schema["model"]["method"] = _drawn(METHOD_NAMES, rng)


def _type_node(name):
    return {"__class__": name, "__module__": "builtins", "__loader__": "TypeNode"}


def _collection(kind, content):
    loader = f"{kind.capitalize()}Node"
    return {"__class__": kind, "__module__": "builtins", "__loader__": loader, "content": content}


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
    members, schema = dict(specimen.members), json.loads(specimen.schema)
    of_parts = specimen.member == "model.json"
    where = rng.random()
    if where < 0.02:
        header = _drawn(HEADERS, rng)
        if not of_parts:
            members["isentropic.json"] = header
            return zipped({**members, specimen.member: json.dumps(schema).encode()}), "header"
        return zipped({**members, specimen.member: _with_header(schema, header)}), "header"
    done = []
    for _ in range(_drawn([1, 1, 1, 2, 3], rng)):
        with suppress(
            LookupError, TypeError, ValueError, AttributeError, MemoryError
        ):  # the first left nothing to change
            done.append((_mutate_place if of_parts else _mutate_node)(schema, members, rng))
    if where < 0.04:
        content = json.dumps(schema).encode()
        start = int(rng.integers(len(content)))
        changed = content[:start] + bytes(rng.integers(256, size=3)) + content[start + 3 :]
        members[specimen.member] = changed
        return zipped(members), f"{specimen.member} at {start}"
    content = zipped({**members, specimen.member: json.dumps(schema).encode()})
    if where < 0.06:
        start = int(rng.integers(len(content)))
        cut = rng.random() < 0.5
        content = content[:start] + (b"" if cut else bytes(rng.integers(256, size=2)) + content[start + 2 :])
        content = content if cut else sealed(content)
        done.append(f"byte {start}{' is the last' if cut else ''}")
    return content, "; ".join(done)


def _with_header(schema, header):
    """A model file whose first lines are those of another header, where this is one."""
    try:
        found = json.loads(header)
    except (ValueError, RecursionError):
        return header
    return json.dumps({**schema, **found} if isinstance(found, dict) and found else found).encode()


# ---- what must hold ----------------------------------------------------------------------------


OUTCOMES = ("refused", "refused to place", "placed")


def whole(specimen):
    """The bytes of a file with nothing wrong."""
    return zipped({**specimen.members, specimen.member: specimen.schema.encode()})


def outcome(specimen, path):
    """One of OUTCOMES, or what is wrong with the refusal; AssertionError for a model that is none."""
    import isentropic
    from isentropic import FileFormatError, IsentropicError, MemoryBudgetError

    try:
        model = isentropic.load(path)
    except (FileFormatError, MemoryBudgetError) as error:
        problem = str(error)
        return "refused" if str(path) in problem and "bug" not in problem else f"refused badly: {problem}"
    assert type(model) is specimen.kind, f"another class: {type(model)}"
    shadowed = [name for name in vars(model) if callable(getattr(specimen.kind, name, None))]
    assert not shadowed, f"shadowed: {shadowed}"
    try:
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
                try:
                    found = outcome(specimen, path)
                    assert found in (OUTCOMES[:1] if stale else OUTCOMES), found
                    counts[found] += 1
                except Exception as error:
                    counts["failed"] += 1
                    failures.append(f"{name} {number} ({what}): {type(error).__name__}: {error}"[:400])
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
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
