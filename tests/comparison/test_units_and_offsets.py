"""A law: the unit of a table and an offset of its columns change no verdict and no measure of a map."""

import numpy as np
import pytest

from isentropic import compare
from isentropic.comparison import intrinsic_dimension, verdict
from isentropic.tables.prepare.column_scaling import fit_scale

METHODS = ["pca", "isomap", "parameter-free-sdd"]
OFFSET = 2.0**30  # about 1e9
CHANGES = {
    "offset": lambda X: X + OFFSET,
    "offset of a column": lambda X: X - OFFSET * (np.arange(X.shape[1]) == 1),
    "large unit": lambda X: 1e9 * X,
    "small unit": lambda X: 1e-9 * X,
}
IN_UNITS = {"raw_stress"}  # has the unit of the data


def sheet(random):
    t = random.uniform(size=(60, 2))
    return np.column_stack([t, np.sin(3 * t[:, 0]), t[:, 0] * t[:, 1]])


TABLES = {"sheet": sheet, "noise": lambda random: random.normal(size=(60, 4))}


def table_of(kind):
    """Multiples of 2^-16: with an offset of 2^30 nothing is rounded."""
    return np.round(TABLES[kind](np.random.default_rng(0)) * 2**16) / 2**16


def compared(X):
    return compare(X, np.repeat([0, 1, 2], 20), METHODS, tune=False, n_seeds=1, preset="quick")


@pytest.fixture(scope="module", params=TABLES)
def expected(request):
    X = table_of(request.param)
    return X, compared(X)


def assert_same_run(run, expected):
    assert not run.failed, run.reason
    for name, measure in expected.quality.measures.items():
        if name not in IN_UNITS:
            assert run.quality.measures[name].value == pytest.approx(measure.value, rel=1e-6, abs=1e-9), name
    assert run.relation == pytest.approx(expected.relation, abs=1e-8)
    assert run.accuracy == expected.accuracy
    assert run.data_accuracy == expected.data_accuracy
    np.testing.assert_array_equal(run.false_share, expected.false_share)
    for name, chance in expected.baseline.items():
        assert run.baseline[name] == pytest.approx(chance, abs=1e-9), name
    for name, values in expected.without.items():
        assert run.without[name] == pytest.approx(values, abs=1e-6), name


def judged(rating):
    return rating.level("neighbors"), rating.level("distances"), rating.usable, rating.worthless, rating.text


@pytest.mark.parametrize("change", CHANGES)
def test_no_verdict_and_no_measure_changes(expected, change):
    X, runs = expected
    changed = compared(CHANGES[change](X))
    for run, before in zip(changed, runs, strict=True):
        assert_same_run(run, before)
    found, before = verdict(changed), verdict(runs)
    assert found.lines == before.lines
    assert [judged(one) for one in found.ratings] == [judged(one) for one in before.ratings]


def test_the_law_can_fail(expected):
    X, runs = expected
    with pytest.raises(AssertionError):
        assert_same_run(compared(X * [1, 1, 30, 1])[0], runs[0])


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", TABLES)
def test_the_dimension_stays(kind, change):
    X = table_of(kind)
    found, before = intrinsic_dimension(CHANGES[change](X)), intrinsic_dimension(X)
    assert found.maximum_likelihood == pytest.approx(before.maximum_likelihood, rel=1e-9)
    assert found.two_nearest == pytest.approx(before.two_nearest, rel=1e-9)


@pytest.mark.parametrize("rule", ["standard", "minmax", "robust"])
@pytest.mark.parametrize("kind", TABLES)
def test_scaled_columns_do_not_know_their_unit(kind, rule):
    """So that, through the scaling of a table, the unit of each column matters neither."""
    X = table_of(kind)
    changed = X * [2.0, 0.25, 1e6, 1e-6] + [OFFSET, 0, 0, 0]
    names = list("abcd")
    found, before = (fit_scale(one, rule, names).apply(one.copy()) for one in (changed, X))
    np.testing.assert_allclose(found, before, atol=3e-7)  # the last digit of a mean near the offset
