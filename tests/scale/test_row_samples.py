"""Samples that depend on the numbers of the rows alone."""

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from isentropic import scale
from isentropic.scale import row_samples
from isentropic.scale.row_samples import SourceRows, count_source, sampled_numbers
from isentropic.tables import partitions
from many_files import write_parts


def splitmix64(number, seed):
    """As it is published, on Python's integers."""
    bits = ((number + 1) * 0x9E3779B97F4A7C15 + seed * 0xBF58476D1CE4E5B9) % 2**64
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB % 2**64
    return bits ^ (bits >> 31)


@pytest.mark.parametrize(("n", "size", "seed"), [(100, 7, 0), (100, 99, 3), (1000, 10, 1)])
def test_the_rows_of_the_smallest_hashes(n, size, seed):
    expected = sorted(sorted(range(n), key=lambda number: splitmix64(number, seed))[:size])
    assert sampled_numbers(n, size, seed).tolist() == expected


def test_blocks_change_nothing(monkeypatch):
    whole = sampled_numbers(5000, 300)
    monkeypatch.setattr(row_samples, "_BLOCK", 77)
    assert np.array_equal(sampled_numbers(5000, 300), whole)


def test_a_smaller_sample_is_a_part_and_seeds_differ():
    few, more = sampled_numbers(10_000, 50), sampled_numbers(10_000, 500)
    assert set(few.tolist()) < set(more.tolist())
    assert len(np.intersect1d(more, sampled_numbers(10_000, 500, 1))) < 60
    assert sampled_numbers(5, 9).tolist() == [0, 1, 2, 3, 4]


def test_all_rows_are_as_likely():
    counts = np.zeros(200)
    for seed in range(400):
        counts[sampled_numbers(200, 50, seed)] += 1
    expected, deviation = 100.0, np.sqrt(400 * 0.25 * 0.75)
    assert np.abs(counts - expected).max() < 4.5 * deviation


@pytest.mark.parametrize("cuts", [(0, 1000), (0, 10, 500, 999, 1000)])
def test_files_change_nothing(frame, parts, tmp_path, cuts):
    found = scale.sample_rows(parts, 40)
    other = scale.sample_rows(write_parts(frame, tmp_path / "other", cuts), 40)
    assert_frame_equal(found, other[found.columns])
    assert_frame_equal(
        found, frame.iloc[sampled_numbers(1000, 40)], check_dtype=False, check_index_type=False
    )


def test_a_text_file_gives_the_same_rows(frame, parts, tmp_path):
    frame.to_csv(tmp_path / "all.csv", index=False)
    found = scale.sample_rows(tmp_path / "all.csv", 40)
    assert_frame_equal(found, scale.sample_rows(parts, 40), check_dtype=False)


def test_columns_that_are_text_in_some_batch_are_text_in_all(tmp_path, monkeypatch):
    lines = ["number,code,flag,mixed,empty"]
    lines += [f"{i},{'0' if i < 7 else 'x'}{i},{i % 2 == 0},{'True' if i < 5 else 1},NA" for i in range(10)]
    (tmp_path / "a.csv").write_text("\n".join(lines), encoding="utf-8")
    for rows_of_a_batch in (2, 100):
        monkeypatch.setattr(partitions, "_MOST", rows_of_a_batch)
        assert count_source(partitions.partitions_of(tmp_path)) == SourceRows([10], {"code", "mixed"})
    found = scale.sample_rows(tmp_path, 10)
    assert found["code"].tolist() == [f"{'0' if i < 7 else 'x'}{i}" for i in range(10)]
    assert found["flag"].dtype == bool


def test_text_of_one_kind_of_file_is_text_in_another(tmp_path):
    codes = pd.DataFrame({"code": ["01", "02"], "x": [1.5, 2.5]})
    codes.to_parquet(tmp_path / "a.parquet", index=False)
    codes.to_csv(tmp_path / "b.csv", index=False)
    found = scale.sample_rows(tmp_path, 4)
    assert found["code"].tolist() == ["01", "02", "01", "02"]
    assert found["x"].tolist() == [1.5, 2.5, 1.5, 2.5]
