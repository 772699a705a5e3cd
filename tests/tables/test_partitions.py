"""Files that are read batch by batch: the same rows as the table in one piece."""

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from isentropic._core.errors import FileFormatError, InvalidInputError, TableWarning
from isentropic.tables.partitions import Partition, is_partitioned, partitions_of, require_alike

FRAME = pd.DataFrame(
    {
        "x": np.arange(10.0) / 3,
        "whole": np.arange(10) * 7,
        "word": list("abcdefghij"),
        "day": pd.date_range("2026-01-01", periods=10).astype("datetime64[us]"),
    }
)
WRITERS = {
    ".parquet": lambda frame, path: frame.to_parquet(path, index=False, row_group_size=4),
    ".feather": lambda frame, path: frame.to_feather(path),
    ".csv": lambda frame, path: frame.to_csv(path, index=False),
    ".csv.gz": lambda frame, path: frame.to_csv(path, index=False),
    ".tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
}


def one(path):
    (partition,) = partitions_of(path)
    return partition


@pytest.mark.parametrize("size", [1, 3, 100])
@pytest.mark.parametrize("suffix", WRITERS)
def test_batches_are_the_rows_of_the_file(suffix, size, tmp_path):
    path = tmp_path / f"table{suffix}"
    WRITERS[suffix](FRAME, path)
    batches = list(one(path).batches(size))
    assert max(map(len, batches)) <= size
    found = pd.concat(batches)
    assert found.index.tolist() == list(range(10))
    expected = FRAME if "sv" not in suffix else FRAME.assign(day=FRAME.day.dt.strftime("%Y-%m-%d"))
    assert_frame_equal(found, expected, check_dtype=False, check_index_type=False)
    assert one(path).count_rows() == 10
    chosen = pd.concat(one(path).batches(size, ["word", "x"]))
    assert list(chosen.columns) == ["word", "x"]


@pytest.mark.parametrize("size", [1, 4, 100])
def test_an_array_is_read_in_batches(size, tmp_path):
    X = np.random.default_rng(0).normal(size=(10, 3)).astype(np.float32)
    np.save(tmp_path / "X.npy", X)
    partition = one(tmp_path / "X.npy")
    assert partition.columns() == {"x0": "number", "x1": "number", "x2": "number"}
    assert partition.count_rows() == 10
    assert np.array_equal(pd.concat(partition.batches(size)).to_numpy(), X)
    assert np.array_equal(pd.concat(partition.batches(size, ["x2"])).to_numpy(), X[:, 2:])


def test_numbers_of_text_files_are_those_of_the_whole_file(tmp_path):
    """A word in one batch makes text of its numbers; they are the same numbers all the same."""
    values = np.random.default_rng(1).normal(size=50) * 10.0 ** np.arange(-25, 25)
    cells = [repr(float(value)) for value in values]
    x = [*cells[:30], "word", *cells[30:]]
    (tmp_path / "x.csv").write_text("x,y\n" + "".join(f"{cell},1\n" for cell in x), encoding="utf-8")
    batches = list(one(tmp_path / "x.csv").batches(7))
    assert ["word" in batch["x"].tolist() for batch in batches] == [i == 4 for i in range(8)]
    assert [batch["x"].dtype == np.float64 for batch in batches] == [i != 4 for i in range(8)]
    found = [cell for batch in batches for cell in batch["x"] if cell != "word"]
    assert np.array_equal(np.array(found, dtype=float), values)
    to_the_letter = pd.concat(one(tmp_path / "x.csv").batches(7, texts=frozenset(["x"])))
    assert to_the_letter["x"].tolist() == x


@pytest.mark.parametrize("size", [1, 2, 4, 100])
def test_names_that_come_again_are_left_out_and_said_once(size, tmp_path):
    (tmp_path / "x.csv").write_text("x,y\n1,a\n2,b\nx,y\n3,c\n4,d\nx,y\n5,e\n", encoding="utf-8")
    with pytest.warns(TableWarning) as said:
        batches = list(one(tmp_path / "x.csv").batches(size))
    texts = [str(warning.message) for warning in said]
    assert texts == ["x.csv has the names of its columns again in 2 rows, left out."]
    assert all(batch["x"].dtype == np.int64 for batch in batches)
    found = pd.concat(batches)
    assert (found["x"].tolist(), found["y"].tolist()) == ([1, 2, 3, 4, 5], list("abcde"))
    assert found.index.tolist() == list(range(5))


def test_the_encoding_of_a_file_is_said_once(tmp_path):
    (tmp_path / "x.csv").write_text("x,y\n" + "1,\xe9\n" * 9, encoding="cp1252")
    with pytest.warns(TableWarning, match=r"x\.csv is read as Windows-1252 text") as said:
        found = pd.concat(one(tmp_path / "x.csv").batches(2))
    assert len(said) == 1
    assert set(found["y"]) == {"\xe9"}


def test_a_short_line_is_refused_in_whichever_batch(tmp_path):
    (tmp_path / "x.csv").write_text("x,y\n" + "1,2\n" * 20 + "3\n" + "1,2\n" * 5, encoding="utf-8")
    with pytest.raises(FileFormatError, match="line 22"):
        list(one(tmp_path / "x.csv").batches(4))


def test_folders_patterns_and_lists(tmp_path):
    for name in ("b/2", "b/10", "a", "_SUCCESS", ".hidden", "b/notes"):
        path = tmp_path / f"{name}.parquet"
        path.parent.mkdir(exist_ok=True)
        FRAME.to_parquet(path)
    (tmp_path / "b" / "notes.parquet").rename(tmp_path / "b" / "notes.doc")
    assert [p.name for p in partitions_of(tmp_path)] == ["a", "b/10", "b/2"]
    assert [p.name for p in partitions_of(str(tmp_path / "b" / "*.parquet"))] == ["10", "2"]
    assert [p.name for p in partitions_of([tmp_path / "b" / "2.parquet", tmp_path / "a.parquet"])] == [
        "b/2",
        "a",
    ]
    twice = partitions_of([tmp_path / "a.parquet"] * 2)
    assert [p.name for p in twice] == ["a-0", "a-1"]


@pytest.mark.parametrize("source", ["parts", "parts/*.csv", ["parts/a.csv"]])
def test_files_are_found_from_another_folder(source, tmp_path, monkeypatch):
    (tmp_path / "parts").mkdir()
    (tmp_path / "elsewhere").mkdir()
    FRAME.to_csv(tmp_path / "parts" / "a.csv", index=False)
    monkeypatch.chdir(tmp_path)
    (partition,) = partitions_of(source)
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert partition.path == tmp_path / "parts" / "a.csv"
    assert partition.count_rows() == 10


def test_what_is_a_source_of_many_files(tmp_path):
    FRAME.to_parquet(tmp_path / "a.parquet")
    assert is_partitioned(tmp_path)
    assert is_partitioned(str(tmp_path / "*.parquet"))
    assert is_partitioned([tmp_path / "a.parquet"])
    assert not is_partitioned(tmp_path / "a.parquet")
    assert not is_partitioned("builtin:iris")
    odd = tmp_path / "a[1].parquet"
    FRAME.to_parquet(odd)
    assert not is_partitioned(str(odd))  # the name of a file, though it looks like a pattern


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("*.parquet", True),
        ("[ab].csv.gz", True),
        ("big/*", True),
        ("big/part-?", True),
        ("big/part-[0-9]", True),
        ("big/part.[ct]sv", True),
        ("years/20[0-9]4", True),  # folders
        ("gone/20[0-9]4/", True),
        ("data [2024]/book.xlsx", False),
        ("data [2024]/book.xlsx#Sold", False),
        ("gone [2024]/book.xlsx#Sold", False),
        ("gone [2024]/book.json", False),
        ("what?", True),
    ],
)
def test_what_is_a_pattern(text, expected, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("years/2014", "data [2024]"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "data [2024]" / "book.xlsx").write_bytes(b"x")
    assert is_partitioned(text) is expected


def test_a_pattern_of_folders_names_their_files(tmp_path):
    for name in ("2014/a", "2024/b/c", "1999/d"):
        path = tmp_path / f"{name}.csv"
        path.parent.mkdir(parents=True)
        FRAME.to_csv(path, index=False)
    assert [p.name for p in partitions_of(str(tmp_path / "20[0-9]4"))] == ["2014/a", "2024/b/c"]


def test_nothing_to_read_says_what_to_name(tmp_path):
    with pytest.raises(InvalidInputError, match=r"must be files of rows, got none in .* Name a folder"):
        partitions_of(tmp_path)
    (tmp_path / "x.xlsx").write_bytes(b"x")
    with pytest.raises(InvalidInputError, match="read in batches"):
        partitions_of(tmp_path / "x.xlsx")


def test_columns_are_compared_before_the_work(tmp_path):
    FRAME.to_parquet(tmp_path / "1.parquet")
    FRAME[["day", "x", "word", "whole"]].to_parquet(tmp_path / "2.parquet")  # another order is fine
    kinds = {"x": "number", "whole": "number", "word": "text", "day": "date"}
    assert require_alike(partitions_of(tmp_path)) == kinds
    FRAME.drop(columns="x").to_parquet(tmp_path / "3.parquet")
    with pytest.raises(
        InvalidInputError, match=r"3\.parquet must have the columns of all files, got none called 'x'"
    ):
        require_alike(partitions_of(tmp_path))
    assert require_alike(partitions_of(tmp_path), ["word"]) == {"word": "text"}
    FRAME.assign(x="word").to_parquet(tmp_path / "3.parquet")
    with pytest.raises(FileFormatError, match=r"3\.parquet must have a number in column 'x'.* got a text"):
        require_alike(partitions_of(tmp_path))


def test_a_column_of_some_files_is_named(tmp_path):
    FRAME.to_parquet(tmp_path / "1.parquet")
    FRAME.assign(more=1).to_parquet(tmp_path / "2.parquet")
    with pytest.warns(match="only some files have are left out: 'more'"):
        assert "more" not in require_alike(partitions_of(tmp_path))


def test_a_damaged_file_is_one_sentence(tmp_path):
    FRAME.to_parquet(tmp_path / "1.parquet")
    whole = (tmp_path / "1.parquet").read_bytes()
    (tmp_path / "1.parquet").write_bytes(whole[:200])
    partition = Partition("1", tmp_path / "1.parquet")
    for read in (partition.columns, partition.count_rows, lambda: list(partition.batches(5))):
        with pytest.raises(FileFormatError, match=r"1\.parquet must be a whole \.parquet file"):
            read()


def test_text_has_no_pickles(tmp_path):
    np.save(tmp_path / "x.npy", np.array([{}]), allow_pickle=True)
    with pytest.raises(FileFormatError, match="whole"):
        one(tmp_path / "x.npy").columns()
