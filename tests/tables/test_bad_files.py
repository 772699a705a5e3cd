"""Files that are not what their name says: each is refused in one line with a next step, none is a bug.

A new way to break a file is a new line of ``CASES``; a new kind of file is a new line of ``WHOLE``, and is
then cut off at many lengths and has bytes of it changed.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import memory_peaks
from isentropic import config_context
from isentropic._core.errors import (
    FileFormatError,
    InvalidInputError,
    IsentropicError,
    MemoryBudgetError,
    TableWarning,
)
from isentropic._core.values import Table
from isentropic.datasets import load

pytest.importorskip("pyarrow")
pytest.importorskip("openpyxl")
zstandard = pytest.importorskip("zstandard")

ROWS = np.arange(40.0).reshape(10, 4) ** 2 % 23


# ---- files -------------------------------------------------------------------------------------


def npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def head(shape: str, descr: str = "'<f8'", body: bytes = b"\0" * 64) -> bytes:
    """An NPY file whose head says what it likes."""
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + body


def zipped(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "."), content)
    return file.getvalue()


def idx(kind: int, *shape: int, body: bytes = b"") -> bytes:
    return bytes([0, 0, kind, len(shape)]) + b"".join(n.to_bytes(4, "big") for n in shape) + body


def parquet(frame: pd.DataFrame, **options: object) -> bytes:
    file = io.BytesIO()
    frame.to_parquet(file, **options)
    return file.getvalue()


def excel(*frames: pd.DataFrame) -> bytes:
    file = io.BytesIO()
    with pd.ExcelWriter(file) as book:
        for number, frame in enumerate(frames, start=1):
            frame.to_excel(book, sheet_name=f"Sheet{number}", index=False)
    return file.getvalue()


def feather(frame: pd.DataFrame) -> bytes:
    file = io.BytesIO()
    frame.to_feather(file)
    return file.getvalue()


def arrow_stream(frame: pd.DataFrame) -> bytes:
    import pyarrow

    file = io.BytesIO()
    table = pyarrow.Table.from_pandas(frame)
    with pyarrow.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    return file.getvalue()


CSV = "\n".join(["a,b,c", *(f"{i},{i * i % 7}.5,{'xyz'[i % 3]}" for i in range(12))]).encode()
ARFF = b"@relation r\n@attribute a numeric\n@attribute b {x,'y z'}\n@attribute c date yyyy-MM-dd\n@data\n" + (
    b"1,x,2020-01-02\n?,'y z',2021-02-03\n3.5,x,?\n"
)
FRAME = pd.DataFrame({"a": ROWS[:, 0], "b": list("xyzxyzxyzx"), "c": range(10)})
JSONL = FRAME.to_json(orient="records", lines=True).encode()
WHOLE = {  # one sound file of every kind
    "t.csv": CSV,
    "t.tsv": CSV.replace(b",", b"\t"),
    "t.txt": CSV.replace(b",", b" "),
    "t.zip": zipped(inner__csv=CSV),
    "t.csv.gz": gzip.compress(CSV, mtime=0),
    "t.arff": ARFF,
    "t.arff.gz": gzip.compress(ARFF, mtime=0),
    "t.npy": npy(ROWS),
    "t.npz": zipped(X__npy=npy(ROWS), y__npy=npy(np.arange(10) % 3)),
    "t.idx": idx(8, 3, 2, 2, body=bytes(12)),
    "t.idx.gz": gzip.compress(idx(8, 3, 2, 2, body=bytes(12)), mtime=0),
    "t.csv.bz2": bz2.compress(CSV),
    "t.csv.xz": lzma.compress(CSV),
    "t.csv.zst": zstandard.compress(CSV),
    "t.json": FRAME.to_json(orient="records").encode(),
    "t.jsonl": JSONL,
    "t.ndjson.gz": gzip.compress(JSONL, mtime=0),
    "t.xlsx": excel(FRAME),
    "t.feather": feather(FRAME),
    "t.arrow": arrow_stream(FRAME),
    "t.parquet": parquet(FRAME, write_page_checksum=True),
    "plain.parquet": parquet(FRAME, compression=None),
}

CASES = [
    # name, content, what the message must contain
    ("negative.npy", head("(-3, 4)"), "whole numbers from 0, got (-3, 4)"),
    ("negative2.npy", head("(2, -4)"), "whole numbers from 0, got (2, -4)"),
    ("truth.npy", head("(True, 4)"), "whole numbers from 0"),
    ("longer.npy", head("(99, 4)"), "must hold 3168 bytes"),
    ("shorter.npy", head("(1, 4)"), "must hold 32 bytes for its shape (1, 4), got 64"),
    ("huge.npy", head("(99999999999999999999, 3)"), "bytes for its shape"),
    ("none.npy", head("(0, 99999999999)", body=b""), "at least one row"),
    ("no_columns.npy", head("(99999999999, 0)", body=b""), "a column left"),
    ("braces.npy", head("(" * 5000), "must be a NumPy file"),
    ("power.npy", head("(10**9, 4)"), "must be a NumPy file"),
    ("no_type.npy", head("(2, 4)", "5"), "must be a NumPy file"),
    ("objects.npy", head("(2, 4)", "'|O'"), "pickled objects"),
    ("nested.npy", head("(2,)", "[('a', '<f8', (4,))]"), "Write the fields as columns"),
    ("table_of_fields.npy", head("(2, 2)", "[('a', '<f8'), ('b', '<f8')]"), "Write the fields as columns"),
    ("one_of_fields.npy", head("()", "[('a', '<f8')]", bytes(8)), "Write the fields as columns"),
    ("version.npy", b"\x93NUMPY\x09\x00" + bytes(100), "must be a NumPy file"),
    ("complex.npy", npy(ROWS.astype(complex)), "must hold numbers"),
    ("text.npz", b"hello", "must be an NPZ file"),
    ("letters.npz", b"PK", "must be a NumPy file"),
    ("garbage.npz", b"PK\x03\x04" + b"garbage" * 50, "must be a NumPy file"),
    ("no_array.npz", zipped(X=b"hello"), "must be a NumPy file"),
    ("no_array_either.npz", zipped(X__npy=b"hello" * 9), "must be a NumPy file"),
    ("empty.npz", zipped(), "must hold one array"),
    ("negative.npz", zipped(X__npy=head("(-3, 4)")), "whole numbers from 0"),
    ("huge.npz", zipped(X__npy=head("(99999999999, 30)")), "bytes for its shape"),
    ("objects.npz", zipped(X__npy=head("(2, 4)", "'|O'")), "pickled objects"),
    ("labels.npz", zipped(X__npy=npy(ROWS), y__npy=npy(np.zeros(10, complex))), "target must be labels"),
    ("axes.idx", idx(8, *[1] * 255, body=b"1"), "1 to 64 axes, got 255"),
    ("no_axes.idx", idx(8), "1 to 64 axes, got 0"),
    ("no_images.idx", idx(8, 0, 2**32 - 1, 2**32 - 1), "must hold numbers"),
    ("no_pixels.idx", idx(8, 2**32 - 1, 0), "must hold numbers"),
    ("huge.idx", idx(8, *[2**32 - 1] * 8, body=bytes(9)), "needs"),
    ("binary.csv", bytes(range(256)), "got binary data"),
    ("late.csv", b"a,b\n" + b"1,2\n" * 40_000 + b"\0,3\n", "got binary data"),
    ("packed.csv", gzip.compress(CSV), "got binary data"),
    ("blank.csv", b"\n \n\n", "names of columns in the first line"),
    ("digits.csv", b"a,b\n" + b"9" * 400 + b",2\n", "numbers up to 1.8e308"),
    ("long_name.csv", b"x" * 20_000 + b",b\n1,2\n", "at most 10,000 letters"),
    ("surrogate.csv", b"a,b\n\xed\xa0\x80,2\n", "must be UTF-8 text"),
    ("plain.csv.gz", CSV, "must be a whole gzip file"),
    ("more.csv.gz", gzip.compress(CSV) + b"junk", "must be a whole gzip file"),
    ("method.csv.gz", b"\x1f\x8b\x07" + bytes(30), "must be a whole gzip file"),
    ("wide.csv", b",".join(b"c%d" % i for i in range(300_000)) + b"\n1\n", "at most 200,000 columns"),
    ("wide.arff", b"".join(b"@attribute a%d real\n" % i for i in range(200_001)) + b"@data\n", "at most"),
    ("binary.arff", b"@attribute a {x\0}\n@data\nx\0\n", "got binary data"),
    ("twice.arff", b"@attribute a date 'yyyy yyyy'\n@data\n'2000 2000'\n", "date format that can be read"),
    ("quotes.arff", b"@attribute a {" + b"'\\" * 3000 + b"}\n@data\n1", "balanced quotes"),
    ("text.parquet", b"a,b", "must be a Parquet file"),
    ("ends.parquet", b"PAR1" + b"\xff" * 20 + b"PAR1", "must be a Parquet file"),
    ("nothing.csv", b"", "empty file"),
    ("plain.csv.bz2", CSV, "must be a whole bzip2 file"),
    ("plain.csv.xz", CSV, "must be a whole xz file"),
    ("plain.csv.zst", CSV, "must be a whole zstd file"),
    ("half.csv.zst", zstandard.compress(CSV * 99)[:-9], "must be a whole zstd file"),
    ("nested.jsonl", b'{"a": 1}\n{"a": [1, 2]}\n', "flat records, got a list or record in 'a' in line 2"),
    ("record.jsonl", b'{"a": {"b": 1}}\n', "pandas.json_normalize"),
    ("array.jsonl", b"[1, 2]\n", "flat records, got a list in line 1"),
    ("number.jsonl", b"17\n", "flat records, got a int"),
    ("document.jsonl", b'[\n {"a": 1},\n {"a": 2}\n]', "pandas.read_json"),
    ("words.jsonl", b'{"a": 1}\nhello\n', "got in line 2: Expecting value"),
    ("deep.jsonl", b'{"a": ' + b"[" * 100_000 + b"\n", "one JSON record on every line"),
    ("twice.jsonl", b'{"a": 1, "b": 2, "a": 3}\n', "got 'a' twice in line 1"),
    ("latin.jsonl", '{"a": "é"}'.encode("latin-1"), "must be UTF-8 text"),
    ("blank.jsonl", b"\n\n", "at least one row"),
    ("wide.jsonl", json.dumps(dict.fromkeys(map(str, range(200_001)), 1)).encode(), "at most 200,000"),
    ("text.xlsx", CSV, "must be an Excel workbook"),
    ("old.xlsx", b"\xd0\xcf\x11\xe0" + bytes(600), "without a password"),
    ("archive.xlsx", zipped(X__npy=npy(ROWS)), "must be an Excel workbook"),
    ("empty.xlsx", excel(FRAME[[]][:0]), "got an empty sheet"),
    ("names.xlsx", excel(FRAME[:0]), "at least one row"),
    ("text.feather", CSV, "must be a Feather or Arrow file"),
    ("ends.arrow", b"ARROW1\0\0" + b"\xff" * 40 + b"ARROW1", "must be a Feather or Arrow file"),
    ("first.feather", b"FEA1" + b"\xff" * 40 + b"FEA1", "the second version of Feather"),
]


@pytest.mark.parametrize(("name", "content", "text"), CASES, ids=[case[0] for case in CASES])
def test_a_bad_file_is_refused_with_a_next_step(tmp_path, name, content, text):
    path = tmp_path / name
    path.write_bytes(content)
    with config_context(memory_limit=2**28), pytest.raises(IsentropicError) as caught:
        load(path)
    message = str(caught.value)
    assert text in message
    assert "\n" not in message
    assert len(message) < 1000
    assert message.rstrip().endswith((".", "?"))  # after what is wrong comes what to do


def read(path: Path) -> Table | None:
    """The table, or None for one that is refused; any other exception is a bug."""
    with warnings.catch_warnings(), config_context(memory_limit=2**28):
        warnings.simplefilter("ignore", TableWarning)
        try:
            return load(path, missing="mean")
        except IsentropicError:
            return None


@pytest.mark.parametrize("name", WHOLE)
def test_a_file_that_is_cut_off_is_a_table_or_refused(tmp_path, name):
    path, whole = tmp_path / name, WHOLE[name]
    path.write_bytes(whole)
    assert read(path) is not None
    step = max(1, len(whole) // 60)
    for length in range(1, len(whole), step):
        path.write_bytes(whole[:length])
        table = read(path)
        assert table is None or name in (
            "t.csv",
            "t.tsv",
            "t.txt",
            "t.arff",
            "t.jsonl",
        )  # a binary file is whole or refused


@pytest.mark.parametrize("name", WHOLE)
def test_a_file_with_changed_bytes_is_a_table_or_refused(tmp_path, name):
    path, whole = tmp_path / name, WHOLE[name]
    rng = np.random.default_rng(list(name.encode()))
    for _ in range(60):
        damaged = np.frombuffer(whole, np.uint8).copy()
        places = rng.integers(len(damaged), size=rng.integers(1, 4))
        damaged[places] = rng.integers(256, size=len(places))
        path.write_bytes(damaged.tobytes())
        table = read(path)
        assert table is None or np.isfinite(table.X).all()


# ---- checksums ---------------------------------------------------------------------------------


def test_a_flipped_bit_in_a_page_of_parquet_is_noticed(tmp_path):
    """Every byte of the numbers, one after the other, in a file whose pages have checksums, as ours have."""
    rows = pd.DataFrame({"a": ROWS[:, 0] + 0.25})
    path = tmp_path / "t.parquet"
    plain = {"compression": None, "use_dictionary": False}
    whole = parquet(rows, **plain, write_page_checksum=True)
    start = whole.index(rows["a"].to_numpy().tobytes())
    for place in range(start, start + 80):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(FileFormatError, match="must be a Parquet file"):
            load(path)


def test_a_changed_byte_in_the_parquet_that_is_written_changes_nothing_in_silence(tmp_path):
    from isentropic.tables.map_files import write_frame

    path = tmp_path / "t.parquet"
    write_frame(pd.DataFrame({"a": ROWS[:, 0] + 0.25, "b": ROWS[:, 1]}), path)
    whole, X = bytearray(path.read_bytes()), load(path).X
    end = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")  # of the pages; the names of columns follow
    for place in range(4, end):
        whole[place] ^= 1
        path.write_bytes(whole)
        table = read(path)
        assert table is None or np.array_equal(table.X, X)
        whole[place] ^= 1


# ---- paths -------------------------------------------------------------------------------------

PATHS = [
    ("a\0b.csv", "embedded null"),
    ("~nobody-of-this-name/t.csv", "No such file"),
    ("x" * 5000 + ".csv", "File name too long"),
    ("no/such/folder/t.csv", "No such file"),
    ("loop.csv", "symbolic links"),
    ("folder.csv", "got a folder"),
    ("/dev/zero.csv/x.npy", "must be a file"),
]


@pytest.mark.parametrize(("name", "text"), PATHS, ids=[text for _, text in PATHS])
@pytest.mark.parametrize("kind", [str, Path])
def test_a_path_that_leads_nowhere(tmp_path, monkeypatch, name, text, kind):
    monkeypatch.chdir(tmp_path)
    Path("loop.csv").symlink_to("loop.csv")
    Path("folder.csv").mkdir()
    with pytest.raises(FileFormatError, match=text):
        load(kind(name))
    Path("rows.npy").write_bytes(npy(ROWS))
    with pytest.raises(InvalidInputError, match="target must be a file of labels"):
        load("rows.npy", kind(name))


def test_a_file_name_that_is_not_utf8(tmp_path):
    path = Path(str(tmp_path)) / "caf\udce9 \x1b[31m.csv"
    path.write_bytes(CSV)
    assert load(path, index="a").name == r"caf\xe9 \x1b[31m"


def test_a_pipe_is_not_waited_for(tmp_path):
    import os

    os.mkfifo(tmp_path / "t.csv")
    with pytest.raises(FileFormatError, match="a device or a pipe"):
        load(tmp_path / "t.csv")


# ---- budgets -----------------------------------------------------------------------------------


def bomb(path: Path, start: bytes, unit: bytes, times: int) -> Path:
    """A gzip file of ``start`` and ``times`` times ``unit``, of which few bytes are left."""
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(start)
        for _ in range(times):
            file.write(unit)
    return path


def npz_bomb(path: Path) -> Path:
    rows = head("(100000, 50)", body=bytes(4 * 10**7))
    path.write_bytes(zipped(X__npy=rows))
    return path


def zstd_bomb(path: Path, content: bytes, **options: int) -> Path:
    options = zstandard.ZstdCompressionParameters.from_level(3, **options)
    path.write_bytes(zstandard.ZstdCompressor(compression_params=options).compress(content))
    return path


def zip_bomb(path: Path) -> Path:
    path.write_bytes(zipped(inner__csv=b"a,b\n" + b"1,2\n" * 10**7))
    return path


def xz_bomb(path: Path, content: bytes) -> Path:
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 2**26}]
    path.write_bytes(lzma.compress(content, filters=filters))
    return path


def arrow_bomb(path: Path, column: object, *, chunk: int = 10**7) -> Path:
    """A Feather file, or a stream where the name says so, packed in batches of ``chunk`` rows."""
    import pyarrow

    table = pyarrow.table({"a": column})
    new = pyarrow.ipc.new_stream if path.suffix == ".arrow" else pyarrow.ipc.new_file
    packed = pyarrow.ipc.IpcWriteOptions(compression="zstd")
    with new(path, table.schema, options=packed) as file:
        file.write_table(table, max_chunksize=chunk)
    return path


def parquet_bomb(path: Path, column: object, **options: object) -> Path:
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.table({"a": column}), path, **options)
    return path


def categories(word: str, n_rows: int) -> object:
    import pyarrow

    return pyarrow.DictionaryArray.from_arrays(pyarrow.array(np.zeros(n_rows, np.int32)), [word])


def nulls(n_rows: int) -> object:
    import pyarrow

    return pyarrow.nulls(n_rows)


def xlsx_bomb(path: Path) -> Path:
    path.write_bytes(zipped(**{"xl/worksheets/sheet1.xml": b"<row>" * 10**7}))
    return path


WORDS = ["x" * 10**4] * 4000
BOMBS = {
    "rows.csv.gz": lambda path: bomb(path, b"a,b\n", b"1,2\n" * 250_000, 20),
    "line.csv.gz": lambda path: bomb(path, b"a,b\n", b"1" * 10**6, 30),
    "names.tsv.gz": lambda path: bomb(path, b"", b"a\t" * 500_000, 20),
    "blank.csv.gz": lambda path: bomb(path, b"a,b\n1,2\n", b"\n" * 10**6, 20),
    "rows.arff.gz": lambda path: bomb(path, b"@attribute a real\n@data\n", b"1\n" * 500_000, 20),
    "comment.arff.gz": lambda path: bomb(path, b"@attribute a real\n@data\n", b"%" * 10**6, 30),
    "images.idx.gz": lambda path: bomb(path, idx(8, 30, 1000, 1000), bytes(10**6), 30),
    "rows.jsonl.gz": lambda path: bomb(path, b"", b'{"a": 1}\n' * 10**5, 40),
    "rows.json.gz": lambda path: bomb(path, b'[{"a": 1}', b',{"a": 1}' * 10**5, 40),
    "rows.zip": zip_bomb,
    "rows.npz": npz_bomb,
    "rows.csv.zst": lambda path: zstd_bomb(path, b"a,b\n" + b"1,2\n" * 5 * 10**6),
    "line.csv.zst": lambda path: zstd_bomb(path, b"a,b\n" + b"1" * 3 * 10**7, window_log=27),
    "line.csv.xz": lambda path: xz_bomb(path, b"a,b\n" + b"1" * 3 * 10**7),
    "rows.xlsx": xlsx_bomb,
    "rows.feather": lambda path: arrow_bomb(path, np.zeros(3 * 10**6), chunk=2**16),
    "batch.feather": lambda path: arrow_bomb(path, np.zeros(3 * 10**6)),
    "words.feather": lambda path: arrow_bomb(path, WORDS),
    "categories.feather": lambda path: arrow_bomb(path, categories("x" * 3 * 10**7, 10)),
    "nulls.feather": lambda path: arrow_bomb(path, nulls(10**7)),
    "rows.arrow": lambda path: arrow_bomb(path, np.zeros(3 * 10**6), chunk=2**14),
    "batch.arrow": lambda path: arrow_bomb(path, np.zeros(3 * 10**6)),
    "rows.parquet": lambda path: parquet_bomb(path, np.zeros(3 * 10**6, np.int8)),
    "words.parquet": lambda path: parquet_bomb(path, WORDS),
    "groups.parquet": lambda path: parquet_bomb(path, WORDS, row_group_size=100),
    "late.parquet": lambda path: parquet_bomb(path, ["x"] * 20_000 + WORDS),
    "long.parquet": lambda path: parquet_bomb(path, ["x" * 10**7] * 3),
    "plain.parquet": lambda path: parquet_bomb(path, WORDS, use_dictionary=False),
    "starts.parquet": lambda path: parquet_bomb(
        path, WORDS, use_dictionary=False, column_encoding="DELTA_BYTE_ARRAY"
    ),
    "lists.parquet": lambda path: parquet_bomb(path, [WORDS[:100]] * 40),
    "categories.parquet": lambda path: parquet_bomb(path, categories("x" * 10**6, 10**6)),
}
BUDGET = 2**24
needs_peaks = pytest.mark.skipif(not memory_peaks.are_known(), reason=memory_peaks.NO_PEAKS)


def measured(budget: int, *paths: Path) -> dict[str, tuple[str, int]]:
    """What became of each file, and KiB at the peak of a process of its own, without its libraries."""
    command = [sys.executable, memory_peaks.__file__, str(budget), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    return json.loads(done.stdout)


@needs_peaks
def test_a_bomb_is_refused_before_it_takes_the_budget(tmp_path):
    """Each file would take 20 MB or more; the budget is 16 MiB."""
    paths = [make(tmp_path / name) or tmp_path / name for name, make in BOMBS.items()]
    assert all(path.stat().st_size < 2_000_000 for path in paths)
    found = measured(BUDGET, *paths)
    assert list(found) == list(BOMBS)
    assert {name: said for name, (said, _) in found.items() if said != "refused"} == {}
    assert {name: f"{kib:,} KiB" for name, (_, kib) in found.items() if kib >= BUDGET // 1024} == {}


@needs_peaks
def test_a_file_that_takes_its_budget_is_noticed(tmp_path):
    """The measurement begins with what the process holds, not with what its parent held."""
    held = np.ones(2**25)
    del held
    np.save(tmp_path / "t.npy", np.random.default_rng(0).normal(size=(2**19, 4)))
    said, kib = measured(2**28, tmp_path / "t.npy")["t.npy"]
    assert said == "loaded"
    assert kib > BUDGET // 1024


def test_sound_files_fit_a_budget_of_their_size(tmp_path):
    for name, content in WHOLE.items():
        path = tmp_path / name
        path.write_bytes(content)
        with config_context(memory_limit=64 * len(content) + 4096), warnings.catch_warnings():
            warnings.simplefilter("ignore", TableWarning)
            assert load(path, missing="mean").X.size
    with pytest.raises(MemoryBudgetError), config_context(memory_limit=64):
        load(tmp_path / "t.csv")
