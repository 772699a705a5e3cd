"""Readers under attack, by format and seed: a table whose values are those written, or an error of ours.

``ISENTROPIC_ATTACKS=20`` makes twenty times as many. A new kind of file is a line of ``WRITERS``.
"""

from __future__ import annotations

import os
import warnings
from decimal import Decimal
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import memory_peaks
from isentropic import config_context
from isentropic._core.errors import IsentropicError, MemoryBudgetError
from isentropic._core.values import Table
from isentropic.datasets import load
from isentropic.tables.readers.streams import PACKINGS
from isentropic.tables.readers.table_files import PACKED, SUFFIXES, read_file

pytest.importorskip("pyarrow")
pytest.importorskip("openpyxl")
pytest.importorskip("zstandard")
import pyarrow as pa
import reader_attacks as made
from pyarrow import feather, parquet

TIMES = int(os.environ.get("ISENTROPIC_ATTACKS", "1"))
ROOM = 2**28  # bytes that reading a file of some kilobytes may ask for
# The least share of files of hostile cells that are read. Text is refused where its first row may be names or
# data, ARFF where a word goes over two lines, or words and numbers are in one column.
LEAST_READ = {".arff": 0.7}
CHOICES = (
    {"missing": "keep", "nominal": "coded", "scaling": "none"},
    {"metric": "gower"},
    {"missing": "median"},
    {"missing": "drop", "scaling": "robust"},
    {"missing": "mean", "dates": "cycle"},
    {},
)


@pytest.fixture(autouse=True)
def _bounded_memory():
    """Each test by itself, whatever this process held before."""
    with memory_peaks.growth_below(ROOM // 1024):
        yield


@pytest.mark.skipif(not memory_peaks.are_known(), reason=memory_peaks.NO_PEAKS)
def test_memory_that_an_attack_takes_is_noticed():
    held = np.ones(2**24)
    del held  # a higher peak before hides nothing
    with pytest.raises(AssertionError, match="KiB"), memory_peaks.growth_below(2**15):
        np.ones(2**23)


def attacked(source, **options):
    """A table, or the sentence that refuses the source; what is neither is returned as a complaint."""
    with warnings.catch_warnings(record=True) as caught, config_context(memory_limit=ROOM):
        warnings.simplefilter("always")
        try:
            found = load(source, **options)
        except IsentropicError as error:
            text = str(error)
            is_clear = isinstance(error, MemoryBudgetError) or (
                " got" in text and text.rstrip().endswith((".", "?"))
            )
            return None if is_clear and len(text) < 2_000 else f"unclear: {text!r}"
        except BaseException as error:
            return f"{type(error).__name__}: {error}"
    strange = [
        str(one.message) for one in caught if not type(one.message).__module__.startswith("isentropic")
    ]
    other = f"a warning of another library: {strange[0]}" if strange else None
    return complaint_of(found, **options) or other


def complaint_of(table: Table, missing="raise", metric="euclidean", **_):
    X = (
        table.X.toarray()
        if sparse.issparse(table.X)
        else np.asarray(getattr(table.X, "data", table.X), dtype=float)
    )
    if np.isinf(X).any():
        return "an infinite value in a table"
    if np.isnan(X).any() and missing != "keep" and metric != "gower":
        return "a silent NaN"
    if len(table.row_names) != len(table.X):
        return "names that are not those of the rows"
    return None


def all_of(complaints):
    """Complaints, with what was attacked; at most a few are shown."""
    found = [(what, said) for what, said in complaints if said is not None]
    assert not found, f"{len(found)} attacks succeeded: {found[:5]}"


def test_every_kind_of_file_is_attacked():
    """A reader that is new needs a writer of hostile files."""
    differ = set(made.WRITERS) ^ set(SUFFIXES)
    assert not differ, f"{sorted(differ)}: WRITERS in reader_attacks.py has a line for each suffix"
    assert set(made.PACKERS) == set(PACKINGS)
    assert set(PACKED) <= set(SUFFIXES)


# ---- cells -------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_hostile_cells_are_those_written(suffix, tmp_path):
    read = []

    def attack(seed):
        rng = np.random.default_rng([seed, 1])
        _, kinds, holes = made.WRITERS[suffix]
        columns = made.columns_of(rng, kinds, int(rng.integers(2, 14)), holes)
        path = tmp_path / f"t{suffix}"
        path.write_bytes(written(suffix, columns, seed))
        frame = frame_of(path)
        read.append(frame is not None)
        said = None if frame is None else difference(frame, path, suffix, columns)
        return said or attacked(path, **CHOICES[seed % len(CHOICES)])

    all_of((seed, attack(seed)) for seed in range(150 * TIMES))
    least = LEAST_READ.get(suffix, 0.9)
    assert np.mean(read) >= least, f"{np.mean(read):.0%} of the files are read, the others refused"


def written(suffix, columns, seed):
    """The file of these columns; a writer that fails says of which."""
    write = made.WRITERS[suffix][0]
    try:
        return write(columns)
    except Exception as error:
        error.add_note(f"WRITERS[{suffix!r}] in reader_attacks.py, seed {seed}: {columns}")
        raise


def frame_of(path):
    """What is read of a file, or None where it is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return read_file(path, None, frozenset()).frame
        except IsentropicError:
            return None


def difference(frame, path, suffix, columns):
    """The first cell that is not the one in the file."""
    plain = made.plain_columns(path, suffix, columns)
    shift = len(frame) - len(plain[0]) if plain else 0  # 1 where the first row was read as data
    if shift == -1 and list(frame.columns) == [str(column[0]) for column in plain]:
        plain, shift = [column[1:] for column in plain], 0  # a sheet without names: dates are names, too
    if len(frame.columns) != len(plain) or shift not in (0, 1):
        return f"{frame.shape} cells are read of {len(plain)} columns of {len(plain[0]) if plain else 0}"
    for j, name in enumerate(frame.columns):
        for cell, expected in zip(frame.iloc[shift:, j], plain[j], strict=True):
            if not made.same(cell, expected):
                return f"{name!r}: {cell!r} is not {expected!r}"
    return None


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_comparison_notices_a_changed_cell(suffix, tmp_path):
    write, _, _ = made.WRITERS[suffix]
    path = tmp_path / f"t{suffix}"
    columns = {"a": [1.5, 2.5, 0.5], "b": [3.0, 1.0, 2.0]}
    path.write_bytes(write({"a": [1.5, 2.5, 0.5], "b": [3.0, 1.0, float(np.nextafter(2.0, 3.0))]}))
    changed = {**columns, "b": [3.0, 1.0, float(np.nextafter(2.0, 3.0))]}
    assert difference(frame_of(path), path, suffix, changed) is None
    if suffix not in (*made.TEXT, ".xlsx", ".xlsm"):  # which are read from the file itself
        assert difference(frame_of(path), path, suffix, columns) is not None
    assert not made.same(2.0, "2.0000000000000004")
    assert not made.same(2.0**53, 2**53 + 1)
    assert not made.same("a", "b")
    assert not made.same(1.0, None)


# ---- bytes -------------------------------------------------------------------------------------


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    """One change, or three: bytes flipped, cut, doubled, taken out, put in, set to 0 or to 255."""
    for _ in range(rng.choice([1, 1, 3])):
        a, b = sorted(rng.integers(0, len(data) + 1, size=2).tolist())
        b = min(b, a + int(rng.choice([1, 4, 64, len(data) or 1])))
        part = data[a:b]
        data = {
            0: data[:a] + bytes(byte ^ 1 << int(rng.integers(8)) for byte in part) + data[b:],
            1: data[:a],
            2: data[:b] + part + data[b:],
            3: data[:a] + data[b:],
            4: data[:a] + rng.bytes(int(rng.integers(1, 9))) + data[a:],
            5: data[:a] + b"\0" * len(part) + data[b:],
            6: data[:a] + b"\xff" * len(part) + data[b:],
            7: data[a:],
        }[int(rng.integers(8))]
    return data


FILES = [*SUFFIXES, *(f"{suffix}{packing}" for suffix, packing in product(PACKED, PACKINGS))]


@pytest.mark.parametrize("suffix", FILES)
def test_damaged_bytes(suffix, tmp_path):
    kind = "." + suffix.split(".")[1]
    packing = suffix.removeprefix(kind)

    def attack(seed):
        rng = np.random.default_rng([seed, 2])
        _, kinds, holes = made.WRITERS[kind]
        tame = tuple(one for one in kinds if one in ("float", "whole", "word"))
        data = written(kind, made.columns_of(rng, tame, 12, holes), seed)
        packed = made.PACKERS[packing](data) if packing else data
        path = tmp_path / f"t{suffix}"
        path.write_bytes(damaged(packed, rng))
        return attacked(path, **CHOICES[seed % len(CHOICES)])

    all_of((seed, attack(seed)) for seed in range((25 if packing else 60) * TIMES))


# ---- text that is no table ---------------------------------------------------------------------

PIECES = (
    ",", ";", "\t", "|", '"', "'", "\n", "\r", "\r\n", " ", "a", "1", "-1.5", "1e999", "NA", "=", "{", "}",
    "[", "]", ":", "é", "\ufeff", "\u2028", "@data", "@attribute a numeric\n", "@relation r\n", '{"a": 1}',
    "null", "\x01", "?",
)  # fmt: skip


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt", ".dat", ".jsonl", ".json", ".arff"])
def test_random_text(suffix, tmp_path):
    def attack(seed):
        rng = np.random.default_rng([seed, 3])
        text = "".join(PIECES[i] for i in rng.integers(len(PIECES), size=rng.integers(1, 60)))
        path = tmp_path / f"t{suffix}"
        path.write_bytes(text.encode())
        options = [
            {},
            {"separator": ";"},
            {"header": False},
            {"header": True},
            {"separator": "|", "header": False},
        ]
        return attacked(
            path, **(options[seed % 5] if suffix in (".csv", ".tsv", ".txt", ".dat") else {}), missing="keep"
        )

    all_of((seed, attack(seed)) for seed in range(150 * TIMES))


# ---- kinds of columns --------------------------------------------------------------------------

N = 12
TYPED = {
    "list": pa.array([[1.0, 2.0]] * N),
    "large list": pa.array([[1.0]] * N, pa.large_list(pa.float64())),
    "fixed list": pa.array([[1, 2]] * N, pa.list_(pa.int8(), 2)),
    "record": pa.array([{"x": 1, "y": "z"}] * N),
    "map": pa.array([[("k", 1)]] * N, pa.map_(pa.string(), pa.int64())),
    "nested": pa.array([[{"x": [1, 2]}]] * N),
    "bytes": pa.array([b"\xff\x00"] * N),
    "fixed bytes": pa.array([b"ab"] * N, pa.binary(2)),
    "decimal": pa.array([Decimal("1.10")] * N),
    "long decimal": pa.array([Decimal("12345678901234567890.12")] * N),
    "whole decimal": pa.array([Decimal(2**70 + i) for i in range(N)], pa.decimal128(38, 0)),
    "duration": pa.array([5] * N, pa.duration("s")),
    "time": pa.array([5] * N, pa.time64("us")),
    "date": pa.array([5, 2**30, -(2**30)] * 4, pa.date32()),
    "date 64": pa.array([86_400_000 * 5] * N, pa.date64()),
    "moment s": pa.array([2**62] * N, pa.timestamp("s")),
    "moment ms in a zone": pa.array([2**62, -(2**62)] * 6, pa.timestamp("ms", "Asia/Tokyo")),
    "moment ns": pa.array([2**63 - 1] * N, pa.timestamp("ns")),
    "unsigned": pa.array([2**64 - 1, 0] * 6, pa.uint64()),
    "unsigned with holes": pa.array([2**64 - 1, None] * 6, pa.uint64()),
    "whole with holes": pa.array([2**63 - 1, None] * 6, pa.int64()),
    "half": pa.array(np.array([1.5] * N, np.float16)),
    "null": pa.nulls(N),
    "flag with holes": pa.array([True, None] * 6),
    "large text": pa.array(["x", "y"] * 6, pa.large_string()),
    "text view": pa.array(["x", "y"] * 6, pa.string_view()),
    "dictionary": pa.array(["x", "y"] * 6).dictionary_encode(),
    "dictionary of numbers": pa.array([1.5, 2.5] * 6).dictionary_encode(),
    "dictionary of nothing": pa.array([None] * N, pa.string()).dictionary_encode(),
    "infinite": pa.array([np.inf, 1.0] * 6),
    "not a number": pa.array([np.nan, 1.0] * 6),
    "complex text": pa.array(["1+2j", "3j"] * 6),
}


@pytest.mark.parametrize("kind", TYPED)
def test_columns_of_every_arrow_type(kind, tmp_path):
    def attack(suffix, name, choice):
        table = pa.table([TYPED[kind], np.arange(N) * 1.5 % 7], names=[name, "b"])
        path = tmp_path / f"t{suffix}"
        try:
            (parquet.write_table if suffix == ".parquet" else feather.write_feather)(table, path)
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
            return None  # the format has no such column
        return attacked(path, **choice) or attacked(path, drop=[name], missing="keep")

    names = ("v", "", "b\x01", "=x")
    cases = list(product((".parquet", ".feather"), names, CHOICES))[:: max(1, 12 // TIMES)]
    all_of((case[:2], attack(*case)) for case in cases)


FRAMES = {
    "lists": [[1, 2]] * N, "sets": [{1}] * N, "tuples": [(1, 2)] * N, "arrays": [np.arange(2)] * N,
    "objects": [object()] * N, "classes": [int] * N, "bytes": [b"x"] * N, "complex": [1j] * N,
    "words and numbers": ["x", 1, 2.5, None] * 3, "flags and words": [True, "x"] * 6,
    "huge": [10**400, 1] * 6,
    "halves": ["\ud800", "x"] * 6, "moments and words": [pd.Timestamp(0), "x"] * 6,
    "periods": pd.period_range("2020", periods=N),
    "intervals": pd.interval_range(0, N), "zoned": pd.date_range("2020", periods=N, tz="Asia/Tokyo"),
    "decimals": [Decimal("1e400"), Decimal("NaN")] * 6, "empty text": [""] * N,
    "frames": [pd.DataFrame()] * N,
    "mixed zones": [pd.Timestamp(0, tz="UTC"), pd.Timestamp(0)] * 6,
    "missing": [pd.NA] * N, "NaT": [pd.NaT] * N,
}  # fmt: skip


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_of_odd_objects(kind):
    frame = pd.DataFrame({"b": np.arange(N) * 1.5 % 7})
    frame["v"] = pd.Series(list(FRAMES[kind]), dtype=object)
    plain = frame.assign(v=FRAMES[kind]) if kind in ("periods", "intervals", "zoned") else frame
    all_of(
        ((choice, target), attacked(source, target=target, **choice))
        for source, choice, target in product((frame, plain), CHOICES, (None, "v"))
    )


@pytest.mark.parametrize("names", [
    ["a", "a"], ["", ""], [1, "1"], [None, "b"], [("x", 1), "b"], ["\ud800", "b"],
    [np.nan, "b"], ["a" * 10_000, "b"], ["\x00", "b"],
], ids=ascii)  # fmt: skip
def test_frames_of_odd_names(names):
    frame = pd.DataFrame(np.arange(24.0).reshape(12, 2) ** 2 % 7).set_axis(
        pd.Index(names, dtype=object), axis=1
    )
    all_of((choice, attacked(frame, **choice)) for choice in CHOICES)


# ---- sparse ------------------------------------------------------------------------------------


def test_sparse_matrices(tmp_path):
    def attack(seed):
        rng = np.random.default_rng([seed, 4])
        n, m = rng.integers(1, 30, size=2)
        matrix = sparse.random(
            n, m, rng.random(), random_state=seed, format=str(rng.choice(["csr", "csc", "coo"]))
        )
        if matrix.nnz:
            matrix.data[rng.integers(matrix.nnz)] = rng.choice(
                [1e200, 1e-200, np.inf, np.nan, 0.0, -1.0, 1e149]
            )
        path = tmp_path / "t.npz"
        sparse.save_npz(path, matrix, compressed=bool(seed % 2))
        if seed % 3 == 0:
            path.write_bytes(damaged(path.read_bytes(), rng))
        options = ({}, {"metric": "cosine"}, {"rank": 2}, {"metric": "cosine", "rank": 2})[seed % 4]
        return attacked(path, **options) or attacked(matrix, **options)

    all_of((seed, attack(seed)) for seed in range(120 * TIMES))


# ---- bombs -------------------------------------------------------------------------------------


@pytest.mark.parametrize("packing", PACKINGS)
def test_text_that_unpacks_to_more_than_memory_is_refused(packing, tmp_path):
    path = tmp_path / f"t.csv{packing}"
    path.write_bytes(made.PACKERS[packing](b"a,b\n" + b"1,2\n" * 3_000_000))
    with config_context(memory_limit=2**24), pytest.raises(MemoryBudgetError):
        load(path)
