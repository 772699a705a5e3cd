"""Every suffix has a reader, a line in the guide, and files of all kinds in the tests of readers."""

from pathlib import Path

import pytest

from isentropic._core.errors import FileFormatError
from isentropic.tables.readers.streams import PACKINGS
from isentropic.tables.readers.table_files import SUFFIXES, kind_of_file, read_file

pytest.importorskip("pyarrow")
pytest.importorskip("openpyxl")
pytest.importorskip("zstandard")
import test_bad_files
import test_formats

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "sources.md"
# Read by the very function of another suffix, and so tested by its files.
ALIKE = {".dat": ".txt", ".ndjson": ".jsonl", ".xlsm": ".xlsx", ".arrow": ".feather", ".ipc": ".feather",
         ".pq": ".parquet"}  # fmt: skip
FILES = {  # where each suffix has a file, and which need none there
    "WHOLE of test_bad_files.py": (test_bad_files.WHOLE, {}),
    "BOMBS of test_bad_files.py": (
        test_bad_files.BOMBS,
        {".npy": "its bytes are those of its shape, and it never comes packed", ".txt": "is read as .csv"},
    ),
    "WRITERS of test_formats.py": (
        test_formats.WRITERS,
        {
            ".arff": "it says the kinds of its columns",
            ".zip": "it holds one of the others",
            **dict.fromkeys((".npy", ".npz", ".idx"), "numbers only"),
        },
    ),
}


@pytest.mark.parametrize("where", FILES)
def test_every_suffix_has_a_file(where):
    files, without = FILES[where]
    there = {kind_of_file(Path(name)) for name in files}
    lacking = set(SUFFIXES) - there - set(ALIKE) - set(without)
    assert not lacking, f"{sorted(lacking)}: add a file to {where}, or say in FILES why it needs none"
    assert not there & set(without), "these have a file now: remove the reason"


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_suffix_has_a_reader(tmp_path, suffix):
    """Otherwise the file is refused as of an unknown kind, by a message that names its own suffix."""
    path = tmp_path / f"t{suffix}"
    path.write_bytes(b"\0" * 40)
    with pytest.raises(FileFormatError):
        read_file(path, None, frozenset())


@pytest.mark.parametrize("suffix", [*SUFFIXES, *PACKINGS])
def test_every_suffix_stands_in_the_guide(suffix):
    assert f"`{suffix}`" in GUIDE.read_text(encoding="utf-8"), "add it to the table of files"
