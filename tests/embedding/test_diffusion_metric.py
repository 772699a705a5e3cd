"""Diffusion distances as a metric: against the dense walk, late walks, maps that keep them, new rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import pdist, squareform

import laws
from assertions import assert_same_bits
from isentropic import (
    SDD,
    TSNE,
    Diffusion,
    DiffusionMaps,
    MetricMDS,
    Pnn,
    Radius,
    datasets,
    load,
    quality,
    save,
)
from isentropic._core.errors import InvalidInputError
from isentropic.embedding.row_distances import Distances
from naive_walks import naive_diffusion, naive_walk

ROLL = datasets.load("builtin:swiss-roll", n_samples=250).X
SMALL = ROLL[:40]
pytestmark = pytest.mark.filterwarnings("ignore:The walk has an eigenvalue of:isentropic.IsentropicWarning")


@pytest.mark.parametrize(
    ("rule", "t", "sigma", "alpha"), [(6, 1, "auto", 0.0), (6, 3, 9.0, 0.5), (Radius(9.0), 2, np.inf, 1.0)]
)
def test_all_pairs_are_those_of_the_dense_walk(rule, t, sigma, alpha):
    P, phi, _ = naive_walk(SMALL, rule, sigma, alpha)
    metric = Diffusion(rule, t=t, sigma=sigma, alpha=alpha)
    distances = Distances.of(SMALL, metric, random_state=0, n_jobs=None)
    expected = naive_diffusion(P, phi, t)
    assert_allclose(squareform(distances.all().distances), expected, rtol=1e-9, atol=1e-12 * expected.max())
    some = np.array([7, 3])
    assert_allclose(distances.of_rows(some, some), expected[np.ix_(some, some)], rtol=1e-9)


def test_late_walks_keep_their_digits():
    """All rows have nearly the same walk by then: what they have in common must not drown the rest."""
    P, phi, _ = naive_walk(ROLL[:120], 10, "auto", 0.0)
    root = np.sqrt(phi)
    values, vectors = np.linalg.eigh((root[:, None] * P / root + (root[:, None] * P / root).T) / 2)
    psi = vectors[:, :-1] / root[:, None] * values[:-1] ** 260
    found = Distances.of(ROLL[:120], Diffusion(t=260), random_state=0, n_jobs=None).all().distances
    assert found.max() < 1e-4
    assert_allclose(found, pdist(psi), rtol=1e-6, atol=1e-6 * found.max())


def test_in_enough_dimensions_metric_mds_keeps_them_all():
    fitted = MetricMDS(39, metric=Diffusion(6, t=2)).fit(SMALL)
    P, phi, _ = naive_walk(SMALL, 6, "auto", 0.0)
    assert_allclose(squareform(pdist(fitted.embedding_)), naive_diffusion(P, phi, 2), atol=1e-5)


def test_sdd_keeps_their_order_better_than_two_eigenvectors():
    late = DiffusionMaps(t=30).fit(ROLL)
    of_late = late.diffusion_distances()
    sdd = SDD(1, metric=Diffusion(t=30)).fit(ROLL)
    tau = quality.kendall_tau(of_late, sdd.embedding_).value
    assert tau > quality.kendall_tau(of_late, late.embedding_).value + 0.02
    assert sdd.kendall_tau_ == pytest.approx(tau, abs=1e-6)


def test_a_row_that_moves_onto_a_fitted_one_ends_there():
    """By a radius it has the neighbours of the fitted row, and so its walk."""
    distances = Distances.of(ROLL, Diffusion(Radius(6.0), t=4, alpha=0.5), random_state=0, n_jobs=None)
    found = distances.to_references(ROLL[:20] + 1e-9, slice(None))
    assert_allclose(found, distances.of_rows(np.arange(20), slice(None)), atol=1e-5)


def test_new_rows_are_placed_again_after_saving(tmp_path):
    fitted, new = TSNE(5, metric=Diffusion(8, t=4), max_iter=50).fit(ROLL[:120]), ROLL[120:124]
    save(fitted, tmp_path / "model.isentropic")
    again = load(tmp_path / "model.isentropic")
    for _ in range(2):  # the second time by the walk that is kept
        assert_same_bits(again.transform(new), fitted.transform(new))
    laws.assert_rows_by_themselves(fitted.transform, new)
    Z = fitted.fit(ROLL[130:]).transform(new)  # of other rows: their walk, not the last one
    assert_same_bits(TSNE(5, metric=Diffusion(8, t=4), max_iter=50).fit(ROLL[130:]).transform(new), Z)


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        (Diffusion(t=0), "t must be a number of steps, an integer of at least 1, got 0"),
        (Diffusion(sigma=-1.0), "sigma must be 'auto' or a positive number, got -1"),
        (Diffusion(alpha=2), "alpha must be a number from 0 to 1, got 2"),
        (Diffusion(Pnn(5)), "neighbors must be Knn, Radius or Percentile"),
        (Diffusion(t=2**31), "t must be at most 10,000 steps, got 2147483648. Take DiffusionMaps"),
        (Diffusion(on_disconnected="largest"), "on_disconnected must be one of bridge, raise for diffusion"),
    ],
)
def test_what_is_refused(metric, message):
    with pytest.raises(InvalidInputError, match=message):
        MetricMDS(metric=metric).fit(SMALL)
    with pytest.raises(InvalidInputError, match="pairs must be 'all' or 'auto' for diffusion distances"):
        MetricMDS(metric=Diffusion(), pairs=20).fit(SMALL)
