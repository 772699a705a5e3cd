"""PCA, probabilistic and sparse PCA against other libraries and closed forms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import orthogonal_procrustes
from scipy.stats import multivariate_normal
from sklearn.decomposition import PCA as PCAOfScikitLearn

import laws
from assertions import assert_same_bits, assert_same_up_to_sign
from isentropic import PCA, IsentropicWarning, ProbabilisticPCA, SparsePCA, datasets, load, save
from isentropic._core.errors import InvalidInputError
from isentropic.linalg.centering import CentredRows
from isentropic.linalg.factor_model import _maximized, by_em, posterior
from isentropic.methods.linear.pca import power_direction

# ---- PCA: agreement with numpy, also where the data lie far from the origin ----------------------


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
def test_variances_and_coordinates_equal_those_of_numpy_at_any_offset(offset):
    X = np.random.default_rng(0).normal(size=(500, 5)) * [5, 3, 1, 1, 1] + offset
    pca = PCA().fit(X)
    centred = X - X.mean(axis=0)
    _, singular, directions = np.linalg.svd(centred, full_matrices=False)
    assert_allclose(pca.explained_variance_, singular[:2] ** 2 / 499, rtol=1e-6)
    assert_allclose(np.abs(pca.embedding_), np.abs(centred @ directions[:2].T), atol=1e-5)


# ---- Probabilistic PCA against the density of its model, written out, and PCA; with and without ho


WINE = datasets.load("builtin:wine").X
DIGITS = datasets.load("builtin:digits").X[:600]


def with_holes(X, share=0.2, seed=0):
    return np.where(np.random.default_rng(seed).random(X.shape) < share, np.nan, X)


def covariance(fitted):
    """``W W' + s I`` of a fitted model."""
    strength = fitted.explained_variance_ - fitted.noise_variance_
    square = fitted.components_.T * strength @ fitted.components_
    return square + fitted.noise_variance_ * np.eye(len(square))


def log_densities(rows, mean, C):
    """Of what is known of each row: the normal density of those features alone."""
    known = ~np.isnan(rows)
    return [
        multivariate_normal(mean[k], C[np.ix_(k, k)]).logpdf(x[k]) for x, k in zip(rows, known, strict=True)
    ]


# ---- closed form -------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(60, 5), (30, 100)], ids=["tall", "wide"])
def test_the_closed_form_is_the_maximum_of_the_likelihood(shape, rng):
    X = rng.normal(size=shape) * np.linspace(3, 1, shape[1]) + 5
    fitted = ProbabilisticPCA().fit(X)
    values = np.linalg.eigvalsh(np.cov(X.T, bias=True))[::-1]
    assert_allclose(fitted.noise_variance_, values[2:].sum() / (shape[1] - 2), rtol=1e-10)
    assert_allclose(fitted.explained_variance_, values[:2], rtol=1e-10)
    C = covariance(fitted)
    assert_allclose(fitted.log_likelihood_, np.mean(log_densities(X, fitted.mean_, C)), rtol=1e-10)
    for other in (0.97 * C, 1.03 * C, C + 0.03 * fitted.noise_variance_ * np.eye(shape[1])):
        assert np.mean(log_densities(X, fitted.mean_, other)) < fitted.log_likelihood_


def test_with_more_features_than_rows_scikit_learn_has_another_noise(rng):
    """It divides what is left by the rank, min(n, m) - d, and not by the m - d directions that share it."""
    X = rng.normal(size=(30, 100))
    theirs, ours = PCAOfScikitLearn(2).fit(X), ProbabilisticPCA().fit(X)
    assert_allclose(theirs.noise_variance_, ours.noise_variance_ * 30 / 29 * 98 / 28, rtol=1e-9)
    assert theirs.score(X) < ours.log_likelihood_ - 20


def test_coordinates_are_those_of_pca_rescaled():
    fitted, pca = ProbabilisticPCA(3).fit(WINE), PCA(3).fit(WINE)
    scale = np.sqrt(fitted.explained_variance_ - fitted.noise_variance_) / fitted.explained_variance_
    assert_allclose(fitted.embedding_, pca.embedding_ * scale, atol=1e-12)


def test_without_noise_the_rank_is_said_and_the_rest_zero(rng):
    flat = np.outer(rng.normal(size=40), [1.0, 2.0, 3.0])
    with pytest.warns(IsentropicWarning, match="X has a rank of 1: the last 1 of 2 coordinates are zero"):
        fitted = ProbabilisticPCA().fit(flat)
    assert fitted.noise_variance_ == 0
    assert fitted.log_likelihood_ == np.inf
    assert_allclose((fitted.embedding_**2).mean(axis=0), [1, 0], atol=1e-12)


def test_all_directions_are_pca_whitened_and_said_to_be():
    with pytest.warns(IsentropicWarning, match="13 directions of 13 features leave no noise: this is PCA"):
        fitted = ProbabilisticPCA(13).fit(WINE)
    assert_allclose(fitted.embedding_.T @ fitted.embedding_ / len(WINE), np.eye(13), atol=1e-9)
    expected = np.mean(log_densities(WINE, WINE.mean(axis=0), np.cov(WINE.T, bias=True)))
    assert fitted.log_likelihood_ == pytest.approx(expected)


# ---- holes -------------------------------------------------------------------------------------


def test_a_row_with_holes_has_the_mean_of_z_given_the_rest(rng):
    W, noise = rng.normal(size=(6, 2)), 0.3
    rows = with_holes(rng.normal(size=(20, 6)), 0.4)
    rows[0] = np.nan
    found = posterior(rows, W, noise, 1)
    C = W @ W.T + noise * np.eye(6)
    for i in range(1, 20):
        known = ~np.isnan(rows[i])
        gain = W[known].T @ np.linalg.inv(C[np.ix_(known, known)])
        assert_allclose(found.means[i], gain @ rows[i, known], atol=1e-12)
        assert_allclose(found.covariances[i], np.eye(2) - gain @ W[known], atol=1e-12)
    assert_allclose(found.log_likelihoods[1:], log_densities(rows[1:], np.zeros(6), C), rtol=1e-10)
    assert_allclose(found.means[0], 0)
    assert found.log_likelihoods[0] == pytest.approx(0, abs=1e-12)


def rounds(rows, W, noise, count):
    """Expectation and maximisation, and the likelihood before each round."""
    mean, values = np.zeros(rows.shape[1]), []
    for _ in range(count):
        found = posterior(rows - mean, W, noise, 1)
        values.append(found.log_likelihoods.mean())
        W, mean, noise = _maximized(np.nan_to_num(rows), ~np.isnan(rows), found)
    return W, noise, np.array(values)


@pytest.mark.parametrize("X", [WINE, DIGITS], ids=["wine", "digits"])
def test_the_likelihood_never_falls(X, rng):
    rows = with_holes(CentredRows.of(X[:200]).rows)
    values = rounds(rows, rng.normal(size=(X.shape[1], 2)), 1.0, 60)[2]
    assert (np.diff(values) >= -1e-12 * np.abs(values[1:])).all()
    assert values[-1] > values[0] + 5


def test_rounds_without_holes_end_at_the_closed_form(rng):
    X = rng.normal(size=(50, 5)) * [4, 3, 1, 1, 1]
    centred = CentredRows.of(X)
    W, noise, _ = rounds(centred.rows, rng.normal(size=(5, 2)), 1.0, 400)
    fitted = ProbabilisticPCA().fit(X)
    C = centred.unit**2 * (W @ W.T + noise * np.eye(5))
    assert_allclose(C, covariance(fitted), atol=1e-6 * np.trace(C))


def test_the_fit_is_where_the_rounds_end(rng):
    rows = with_holes(CentredRows.of(WINE).rows)
    centred = CentredRows.of(rows)
    model = by_em(centred, 2, 1)
    W, _, values = rounds(centred.rows, model.loadings, model.noise, 30)
    assert values[-1] - model.log_likelihood <= 1e-5 * abs(values[-1])
    assert_allclose(W @ W.T, model.loadings @ model.loadings.T, atol=2e-3 * np.trace(W.T @ W))


def differences(Z, whole):
    """Of a map, turned, from that of all values: root mean square, by the width of the map and by its own."""
    apart = Z @ orthogonal_procrustes(Z, whole)[0] - whole
    square = np.sqrt((apart**2).mean())
    return square / laws.width(whole), square / np.sqrt((whole**2).mean())


@pytest.mark.parametrize("X", [WINE, DIGITS], ids=["wine", "digits"])
def test_a_fifth_of_the_values_missing_leaves_the_map(X):
    whole = ProbabilisticPCA(missing="em").fit(X)
    holes = with_holes(X)
    fitted = ProbabilisticPCA(missing="em").fit(holes)
    by_width, by_itself = differences(fitted.embedding_, whole.embedding_)
    assert by_width < 0.05
    known = differences(whole.transform(holes), whole.embedding_)
    assert by_itself < 1.1 * known[1]  # what is lost with the values, by the model that has seen them all


def predicted(holes, X):
    """What is missing as the best linear function of the rest of its row, by the moments of all values."""
    mean, C = X.mean(axis=0), np.cov(X.T) + 1e-6 * np.var(X) * np.eye(X.shape[1])
    filled = holes.copy()
    for row in filled:
        lost = np.isnan(row)
        row[lost] = mean[lost] + C[np.ix_(lost, ~lost)] @ np.linalg.solve(
            C[np.ix_(~lost, ~lost)], (row - mean)[~lost]
        )
    return filled


@pytest.mark.parametrize("X", [WINE, DIGITS], ids=["wine", "digits"])
def test_nobody_could_tell_the_coordinates_of_single_rows_to_a_twentieth_of_their_spread(X):
    """Even a prediction that knows the moments of the complete table is off by more than twice that."""
    whole = ProbabilisticPCA(missing="em").fit(X)
    by_width, by_itself = differences(whole.transform(predicted(with_holes(X), X)), whole.embedding_)
    assert by_width < 0.05
    assert by_itself > 0.1


def test_rows_with_holes_are_placed_by_themselves_and_saved(tmp_path):
    X = with_holes(WINE)
    fitted = ProbabilisticPCA(missing="em").fit(X)
    laws.assert_fitted_rows_stay(fitted, X)
    laws.assert_rows_by_themselves(fitted.transform, with_holes(WINE[:12] + 0.1, seed=1))
    one, two = (ProbabilisticPCA(missing="em", n_jobs=count).fit(X) for count in (1, 2))
    assert_same_bits(one.embedding_, two.embedding_)
    save(fitted, tmp_path / "model.isentropic")
    assert_same_bits(load(tmp_path / "model.isentropic").transform(X), fitted.embedding_)


@pytest.mark.parametrize("unit", [-260, 260])
def test_holes_in_any_unit(unit):
    X = with_holes(WINE)
    scaled = ProbabilisticPCA(missing="em").fit(np.ldexp(X, unit))
    plain = ProbabilisticPCA(missing="em").fit(X)
    assert_allclose(scaled.embedding_, plain.embedding_, atol=1e-10)
    per_row = np.log(2) * unit * (~np.isnan(X)).sum(axis=1).mean()
    assert scaled.log_likelihood_ == pytest.approx(plain.log_likelihood_ - per_row, rel=1e-9)


@pytest.mark.parametrize(
    ("estimator", "X", "message"),
    [
        (ProbabilisticPCA(14), WINE, "n_components must be at most the number of features 13, got 14"),
        (ProbabilisticPCA(13, missing="em"), with_holes(WINE), "less than 13 for rows with holes, got 13"),
        (ProbabilisticPCA(), with_holes(WINE), "Input X contains NaN"),
        (ProbabilisticPCA(missing="drop"), WINE, "missing must be one of error, em, got 'drop'"),
        (
            ProbabilisticPCA(missing="em"),
            np.where(np.arange(13) == 4, np.nan, WINE),
            r"X must be known in some row for each feature, got 'none in columns \[4\]'",
        ),
    ],
)
def test_what_is_refused(estimator, X, message):
    with pytest.raises((InvalidInputError, ValueError), match=message):
        estimator.fit(X)


# ---- Sparse PCA: the criterion of each step, PCA as its limit, the order and what is left out ----


def test_without_a_threshold_it_is_pca():
    sparse, pca = SparsePCA(3, rho=0).fit(WINE), PCA(3).fit(WINE)
    assert_same_up_to_sign(sparse.components_.T, pca.components_.T, atol=1e-6)
    assert_allclose(sparse.explained_variance_ratio_, pca.explained_variance_ratio_, rtol=1e-6)
    assert_array_equal(sparse.zeros_, 0)


@pytest.mark.parametrize("shape", [(50, 8), (8, 50)])
@pytest.mark.parametrize("rho", [0.1, 0.5, 0.9])
def test_a_direction_is_the_maximum_that_its_own_steps_reach(rho, shape, rng):
    rows = rng.normal(size=shape) * np.linspace(1, 2, shape[1])
    threshold = rho * np.linalg.norm(rows, axis=0).max()
    x = rows[:, np.linalg.norm(rows, axis=0).argmax()]
    criteria = []
    for _ in range(500):
        x = x / np.linalg.norm(x)
        products = [column @ x for column in rows.T]
        entries = np.array([np.sign(t) * max(abs(t) - threshold, 0) for t in products])
        criteria.append((entries**2).sum())
        x = sum(entry * column for entry, column in zip(entries, rows.T, strict=True))
    assert (np.diff(criteria) >= -1e-12 * criteria[-1]).all()
    assert_allclose(power_direction(rows, rho), entries / np.linalg.norm(entries), atol=1e-7)


def test_a_high_threshold_leaves_one_feature_each():
    fitted = SparsePCA(rho=0.99).fit(WINE * np.linspace(1, 2, 13))
    assert ((fitted.components_ != 0).sum(axis=1) == 1).all()
    assert_array_equal(fitted.zeros_, 12 / 13)


def test_more_is_left_out_as_the_threshold_rises_and_less_explained():
    fits = [SparsePCA(rho=rho).fit(WINE) for rho in (0, 0.2, 0.4, 0.6)]
    assert (np.diff([fitted.zeros_.sum() for fitted in fits]) > 0).all()
    assert (np.diff([fitted.explained_variance_ratio_.sum() for fitted in fits]) < 0).all()
    for fitted in fits:
        assert_allclose(np.linalg.norm(fitted.components_, axis=1), 1)
        assert (np.diff(fitted.explained_variance_ratio_) <= 0).all()


def test_variance_that_coordinates_share_counts_once(rng):
    fitted = SparsePCA(3, rho=0.3).fit(WINE)
    Z = fitted.embedding_ - fitted.embedding_.mean(axis=0)
    rest = Z[:, 1] - Z[:, 0] * (Z[:, 0] @ Z[:, 1]) / (Z[:, 0] @ Z[:, 0])
    total = ((WINE - WINE.mean(axis=0)) ** 2).sum()
    assert_allclose(fitted.explained_variance_ratio_[:2], [Z[:, 0] @ Z[:, 0] / total, rest @ rest / total])


def test_the_rank_is_said(rng):
    flat = np.outer(rng.normal(size=40), [1.0, 2.0, 3.0])
    with pytest.warns(IsentropicWarning, match="X has a rank of 1: the last 1 of 2 coordinates are zero"):
        assert not SparsePCA(rho=0).fit(flat).embedding_[:, 1].any()


@pytest.mark.parametrize("rho", [-0.1, 1, "auto"])
def test_other_thresholds_are_refused(rho):
    with pytest.raises(InvalidInputError, match="rho must be a number from 0 to below 1, got"):
        SparsePCA(rho=rho).fit(WINE)
