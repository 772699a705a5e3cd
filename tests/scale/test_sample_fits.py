"""Fits to a sample: how it grows, what it is made from, and that an equal one is not made again."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from isentropic import make
from isentropic._core.errors import FileFormatError, InvalidInputError
from isentropic.scale import sample_fits
from isentropic.scale.row_samples import sampled_numbers
from isentropic.scale.sample_fits import SampleSize, checked_fit_rows, fit_on_sample, fit_source
from isentropic.scale.saved_model import read_model
from isentropic.tables import load
from many_files import write_parts


@pytest.fixture
def small_steps(monkeypatch):
    monkeypatch.setattr(sample_fits, "_FIRST", 40)
    monkeypatch.setattr(sample_fits, "_JUDGED", 100)


def test_more_rows_help_beyond_what_draws_differ():
    few = SampleSize(10, (0.10, 0.12, 0.14))  # 0.02 apart
    assert not sample_fits._helps(few, SampleSize(20, (0.12, 0.14, 0.15)))
    assert sample_fits._helps(few, SampleSize(20, (0.16, 0.17, 0.18)))


def test_a_plane_needs_few_rows(rng, small_steps):
    X = rng.normal(size=(1000, 2)) @ rng.normal(size=(2, 6))
    fit = fit_on_sample(make("pca"), X, grow=True)
    assert [one.n_rows for one in fit.sizes] == [40, 80]
    assert len(fit.rows) == 40


def test_a_surface_needs_more(roll, rng, small_steps):
    X = np.concatenate([roll, roll + 0.05 * rng.normal(size=roll.shape)])
    fit = fit_on_sample(make("isomap", n_neighbors=6), X, grow=True)
    assert len(fit.rows) > 40
    assert fit.sizes[1].mean > fit.sizes[0].mean
    again = fit_on_sample(make("isomap", n_neighbors=6), X, grow=True)
    assert_array_equal(fit.estimator.embedding_, again.estimator.embedding_)


def test_rows_that_judge_are_not_fitted(rng, small_steps):
    order = np.random.RandomState(0).permutation(1000)
    fit = fit_on_sample(make("pca"), rng.normal(size=(1000, 3)), grow=True)
    assert not set(fit.rows.tolist()) & set(order[:100].tolist())


def test_a_small_sample_is_fitted_whole(rng):
    X = rng.normal(size=(50, 3))
    fit = fit_on_sample(make("pca"), X, grow=True)
    assert_array_equal(fit.estimator.embedding_, make("pca").fit(X).embedding_)
    assert fit.sizes == ()


def test_a_source_is_fitted_to_its_sample(frame, parts):
    found = fit_source(make("isomap"), "isomap", parts, load, fit_rows=100)
    rows = frame.iloc[sampled_numbers(1000, 100)]
    expected = make("isomap").fit(load(rows).X)
    assert_array_equal(found.model.estimator.embedding_, expected.embedding_)
    assert (found.n_rows, found.n_fitted) == (1000, 100)


@pytest.mark.parametrize("cuts", [(0, 1000), (0, 5, 700, 1000)])
def test_pca_of_all_rows_does_not_depend_on_the_files(frame, parts, tmp_path, cuts, monkeypatch):
    monkeypatch.setattr(sample_fits, "POOL", 200)
    found = fit_source(make("pca"), "pca", parts, load, fit_rows="all")
    other = write_parts(frame, tmp_path / "other", cuts)
    again = fit_source(make("pca"), "pca", other, load, fit_rows="all")
    assert_array_equal(found.model.estimator.components_, again.model.estimator.components_)
    assert found.n_fitted == 1000
    table = load(frame, preparation=found.table.preparation)
    whole = make("pca").fit(table.X)
    np.testing.assert_allclose(found.model.estimator.components_, whole.components_, atol=1e-10)


def test_codes_are_summed_to_the_letter(frame, tmp_path, monkeypatch):
    """As levels '01' and '02', which text files that are read as numbers would give as 1 and 2."""
    monkeypatch.setattr(sample_fits, "POOL", 200)
    coded = frame[["a", "b"]].assign(code=np.where(frame["c"] > 0, "01", "02"))
    coded.to_csv(tmp_path / "coded.csv", index=False)
    found = fit_source(
        make("pca"),
        "pca",
        tmp_path / "coded.csv",
        lambda rows: load(rows, levels="code"),
        fit_rows="all",
        texts=frozenset(["code"]),
    )
    table = load(coded, preparation=found.table.preparation)
    np.testing.assert_allclose(
        found.model.estimator.components_, make("pca").fit(table.X).components_, atol=1e-10
    )


@pytest.mark.filterwarnings("ignore:column .code. looks numeric")
@pytest.mark.parametrize("cuts", [(0, 400, 1000), (0, 10, 200, 400, 700, 1000)])
def test_mixed_codes_of_text_files_give_one_fit(frame, tmp_path, cuts):
    """Codes '01' and '02' in some files, 'x2' in others: levels in all, however the rows are cut."""
    codes = np.where(frame["c"] > 0, "01", "02")
    codes[500:] = np.where(frame["d"][500:] > 0, "x2", "01")
    coded = frame[["a", "b"]].assign(code=codes)
    coded.to_csv(tmp_path / "all.csv", index=False)
    folder = tmp_path / "cut"
    folder.mkdir()
    for number, (start, stop) in enumerate(itertools.pairwise(cuts)):
        coded.iloc[start:stop].to_csv(folder / f"{number}.csv", index=False)
    whole, cut = (
        fit_source(make("pca"), "pca", source, load, fit_rows=400)
        for source in (tmp_path / "all.csv", folder)
    )
    levels = {column.name: column.levels for column in whole.model.preparation.columns}
    assert levels["code"] == ("01", "02", "x2")
    assert cut.model.preparation.to_json() == whole.model.preparation.to_json()
    assert_array_equal(cut.model.estimator.embedding_, whole.model.estimator.embedding_)


def test_an_equal_model_is_not_made_again(frame, parts, tmp_path):
    path = tmp_path / "model.isentropic"
    first = fit_source(make("pca"), "pca", parts, load, fit_rows=100, earlier=path)
    first.model.write(path)
    again = fit_source(make("pca"), "pca", parts, load, fit_rows=100, earlier=path)
    assert (first.was_there, again.was_there) == (False, True)
    for change in ({"fit_rows": 101}, {"random_state": 1}):
        changed = fit_source(make("pca"), "pca", parts, load, earlier=path, **{"fit_rows": 100, **change})
        assert not changed.was_there
    other = make("pca", n_components=3)
    assert not fit_source(other, "pca", parts, load, fit_rows=100, earlier=path).was_there
    path.write_bytes(b"no model")
    assert not fit_source(make("pca"), "pca", parts, load, fit_rows=100, earlier=path).was_there


def test_a_model_says_how_many_rows_it_was_fitted_to(parts, tmp_path, monkeypatch):
    monkeypatch.setattr(sample_fits, "POOL", 200)  # rows that it keeps
    path = tmp_path / "model.isentropic"
    first = fit_source(make("pca"), "pca", parts, load, fit_rows="all", earlier=path)
    first.model.write(path)
    again = fit_source(make("pca"), "pca", parts, load, fit_rows="all", earlier=path)
    assert again.was_there
    assert (first.n_fitted, again.n_fitted, len(again.model.estimator.embedding_)) == (1000, 1000, 200)


@pytest.mark.parametrize("n_fitted", [0, -1, 1.5, True, "many"])
def test_no_number_of_fitted_rows_is_refused(model, tmp_path, n_fitted):
    path = tmp_path / "model.isentropic"
    replace(read_model(model), n_fitted=n_fitted).write(path)
    with pytest.raises(FileFormatError, match="number of rows that it was fitted to must be from 1"):
        read_model(path)


def test_a_method_that_learns_from_classes_needs_them(frame, parts):
    with pytest.raises(InvalidInputError, match="lda learns from it"):
        fit_source(make("lda"), "lda", parts, load, fit_rows=100)
    found = fit_source(make("lda"), "lda", parts, lambda rows: load(rows, "kind"), fit_rows=100)
    assert found.n_fitted == 100


@pytest.mark.parametrize("given", [0, 9, -1, 2.5, "many", None, True])
def test_how_many_rows_is_a_number_auto_or_all(given):
    with pytest.raises(InvalidInputError, match="fit_rows must be a number of rows from 10, 'auto' or 'all'"):
        checked_fit_rows(given)
