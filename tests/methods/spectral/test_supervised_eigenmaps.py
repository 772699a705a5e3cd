"""Supervised and stochastic Laplacian eigenmaps against plain twins, and their degenerate cases."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigh
from scipy.spatial.distance import cdist, pdist
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from assertions import assert_same_up_to_sign
from honest import accuracy
from isentropic import (
    Dis2,
    DisconnectedGraphWarning,
    DissimilarityLE,
    InvalidInputError,
    IsentropicWarning,
    LaplacianEigenmaps,
    StochasticLE,
    SupervisedLE,
    neighbor_graph,
)
from isentropic._core.errors import DisconnectedGraphError
from isentropic.dissimilarities import class_gaussians, posterior
from isentropic.divergences import symmetrised_kl_divergence

IRIS, SPECIES = load_iris(return_X_y=True)
WINE, CULTIVARS = load_wine(return_X_y=True)
IRIS, WINE = (StandardScaler().fit_transform(X) for X in (IRIS, WINE))
TWICE = np.vstack([WINE, WINE + 0.01])  # more rows than are solved whole
quiet = pytest.mark.filterwarnings("ignore::isentropic._core.errors.IsentropicWarning")


def weighted_unit(Z, degrees):
    return Z * np.sqrt(degrees.sum() / (degrees @ Z**2))


# ---- S-LE --------------------------------------------------------------------------------------------


def naive_sle(X, y, gamma, d=2, D=None):
    """As printed, loops included, with both totals alike; the constant is recognised by its eigenvalue."""
    D = cdist(X, X) if D is None else D
    S = np.exp(-(D**2) / (D[np.triu_indices(len(X), 1)] ** 2).mean())
    near = (S.mean(axis=1)[:, None] < S) | (S.mean(axis=1) < S)
    same = y[:, None] == y
    within, between = np.where(near & same, S, 0.0), (near & ~same).astype(float)
    degrees, outside = within.sum(axis=1), between.sum(axis=1)
    L = np.diag(outside) - between
    values, vectors = eigh(gamma * degrees.sum() / outside.sum() * L + (1 - gamma) * within, np.diag(degrees))
    constant = np.argmin(np.abs(values - (1 - gamma)))
    assert np.ptp(vectors[:, constant]) < 1e-6 * np.abs(vectors[:, constant]).max()
    rest = np.delete(np.arange(len(X)), constant)[::-1][:d]
    return values[rest], weighted_unit(vectors[:, rest], degrees), S


@quiet
@pytest.mark.parametrize("gamma", [0.02, 0.05, 0.2])
@pytest.mark.parametrize(("X", "y"), [(IRIS, SPECIES), (TWICE, np.tile(CULTIVARS, 2))], ids=["few", "many"])
def test_the_map_is_that_of_the_printed_problem(X, y, gamma):
    values, Z, _ = naive_sle(X, y, gamma)
    fitted = SupervisedLE(gamma=gamma).fit(X, y)
    assert_allclose(fitted.eigenvalues_, values, rtol=1e-9)
    assert_same_up_to_sign(fitted.embedding_, Z, rtol=0, atol=1e-6)


PRINTED = {
    "dis1": (lambda d, t: np.sqrt(1 - np.exp(-(d**2) / t)), lambda d, t, top: np.exp(d**2 / t / 2) - 0.5),
    "dis2": (lambda d, t: d / 2.0, lambda d, t, top: d),
    "dis3": (lambda d, t: d, lambda d, t, top: d + 0.1 * top),
}


@quiet
@pytest.mark.parametrize(("X", "y"), [(IRIS, SPECIES), (WINE, CULTIVARS)], ids=["iris", "wine"])
@pytest.mark.parametrize("name", PRINTED)
def test_similarities_may_be_those_of_a_dissimilarity_of_classes(X, y, name):
    rows, classes, new = X[::2], y[::2], X[1:30:2]
    (inside, between), d = PRINTED[name], cdist(rows, rows)
    t, top = (pdist(rows) ** 2).mean(), d.max()
    D = np.where(classes[:, None] == classes, inside(d, t), between(d, t, top))
    np.fill_diagonal(D, 0.0)
    choice = Dis2(2.0) if name == "dis2" else name
    fitted = SupervisedLE(7, dissimilarity=choice).fit(rows, classes)
    values, Z, _ = naive_sle(rows, classes, 0.05, D=D)
    assert_allclose(fitted.eigenvalues_, values, rtol=1e-9)
    assert_same_up_to_sign(fitted.embedding_, Z, rtol=0, atol=1e-6)
    width = (D[np.triu_indices(len(rows), 1)] ** 2).mean()
    for place, row in zip(fitted.transform(new), cdist(new, rows), strict=True):
        voters = classes[np.argsort(row)[:7]]
        same = np.array([(voters == c).mean() for c in classes])
        expected = same * inside(row, t) + (1 - same) * between(row, t, top)
        near = np.argsort(expected)[:7]
        w = np.exp(-(expected[near] ** 2) / width)
        assert_allclose(place, w @ fitted.embedding_[near] / w.sum(), rtol=1e-7, atol=1e-9)


def test_a_new_row_is_the_mean_of_its_neighbours():
    fitted = SupervisedLE(7).fit(WINE[::2], CULTIVARS[::2])
    D, width = cdist(WINE[1:20:2], WINE[::2]), (pdist(WINE[::2]) ** 2).mean()
    for place, row in zip(fitted.transform(WINE[1:20:2]), D, strict=True):
        near = np.argsort(row)[:7]
        w = np.exp(-(row[near] ** 2) / width)
        assert_allclose(place, w @ fitted.embedding_[near] / w.sum(), rtol=1e-9)


@pytest.mark.parametrize(
    ("X", "y", "measured"), [(IRIS, SPECIES, 0.956), (WINE, CULTIVARS, 0.959)], ids=["i", "w"]
)
def test_new_rows_are_told_apart_as_was_measured(X, y, measured):
    assert accuracy(SupervisedLE(9), X, y) == pytest.approx(measured, abs=0.025)


def test_as_many_vectors_as_classes_less_one_lie_above_the_constant():
    found = SupervisedLE(n_components=2).fit(IRIS, SPECIES).eigenvalues_
    assert (found > 0.95).all()
    with pytest.warns(IsentropicWarning, match="3 classes have 2 coordinates that separate them: the last 1"):
        more = SupervisedLE(n_components=3).fit(IRIS, SPECIES)
    assert more.eigenvalues_[2] < 0.95


def test_a_large_gamma_sits_on_single_rows_and_says_so():
    with pytest.warns(IsentropicWarning, match="times as large on some row as on the median one"):
        fitted = SupervisedLE(gamma=0.9).fit(WINE, CULTIVARS)
    assert fitted.peak_ > 50
    assert SupervisedLE().fit(WINE, CULTIVARS).peak_ < 50


@quiet
@pytest.mark.parametrize("gamma", [0.0, 0.05])
def test_without_anything_between_classes_they_are_points(rng, gamma):
    X, y = rng.normal(size=(90, 3)), np.repeat([0, 1, 2], 30)
    if gamma:
        X += 1e3 * np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]])[y]  # no near pair of two classes
    else:
        X *= 0.1
    fitted = SupervisedLE(gamma=gamma).fit(X, y)
    assert_allclose(fitted.eigenvalues_, 1, rtol=1e-9)
    assert fitted.n_separating_ == 2
    if gamma:
        assert len(np.unique(fitted.embedding_.round(9), axis=0)) == 3


@quiet
@pytest.mark.parametrize(
    "estimator",
    [SupervisedLE(6), SupervisedLE(6, dissimilarity="dis1"), StochasticLE(6), StochasticLE(6, scale=None)],
    ids=str,
)
@pytest.mark.parametrize("classes", ["one row", "fifty", "one class", "equal rows"])
def test_odd_classes_have_a_map(rng, estimator, classes):
    X, y = rng.normal(size=(120, 4)), rng.integers(0, 3, 120)
    if classes == "one row":
        y[7] = 9
    elif classes == "fifty":
        y = np.arange(120) % 50
    elif classes == "one class":
        y[:] = 1
    else:
        X[60:] = X[:60]
        y = np.repeat([0, 1], 60)
    fitted = estimator.fit(X, y)
    assert np.isfinite(fitted.embedding_).all()
    assert np.isfinite(fitted.transform(X[:4] + 0.1)).all()


@quiet
def test_rows_without_a_class_are_placed_as_new_ones():
    y = np.where(np.arange(178) % 2, np.nan, CULTIVARS)
    half, whole = SupervisedLE().fit(WINE, y), SupervisedLE().fit(WINE[::2], CULTIVARS[::2])
    assert_allclose(half.embedding_[::2], whole.embedding_, rtol=0, atol=1e-12)
    assert_allclose(half.embedding_[1::2], whole.transform(WINE[1::2]), rtol=0, atol=1e-12)


# ---- stochastic LE -----------------------------------------------------------------------------------


def between_classes(X, y):
    g = class_gaussians(X, y)
    parts = list(zip(g.means, g.covariances, strict=True))
    return np.array([[0.0 if a is b else symmetrised_kl_divergence(*a, *b) for b in parts] for a in parts])


@pytest.mark.parametrize("alpha", [0.3, 0.9, None])
def test_fitted_and_new_rows_are_those_of_the_weights(alpha):
    X, y, new = WINE[::2], CULTIVARS[::2], WINE[1:20:2]
    graph = neighbor_graph(X, 10)
    heads = np.repeat(np.arange(len(X)), np.diff(graph.indptr))
    t, DE = (graph.weights**2).mean(), between_classes(X, y)
    terms = DE[y[heads], y[graph.indices]]
    s = 1 / terms[terms > 0].mean()
    a, b = (1, 1) if alpha is None else (alpha, 1 - alpha)
    W = np.zeros((len(X), len(X)))
    W[heads, graph.indices] = np.exp(-(a * graph.weights**2 / t + b * s * terms))
    degrees = W.sum(axis=1)
    values, vectors = eigh(np.diag(degrees) - W, np.diag(degrees))
    fitted = StochasticLE(alpha=alpha).fit(X, y)
    assert_allclose(fitted.scale_, s, rtol=1e-9)
    assert_allclose(fitted.eigenvalues_, values[1:3], rtol=1e-8)
    assert_same_up_to_sign(fitted.embedding_, weighted_unit(vectors[:, 1:3], degrees), rtol=0, atol=1e-7)
    expected = (posterior(new, class_gaussians(X, y)) @ DE)[:, y]
    for place, d, E in zip(fitted.transform(new), cdist(new, X), expected, strict=True):
        near = np.argsort(d)[:10]
        w = np.exp(-(a * d[near] ** 2 / t + b * s * E[near]))
        assert_allclose(place, w @ fitted.embedding_[near] / w.sum() / (1 - values[1:3]), rtol=1e-6)


def test_without_weight_of_the_classes_it_is_laplacian_eigenmaps():
    fitted, plain = StochasticLE(alpha=1.0).fit(WINE, CULTIVARS), LaplacianEigenmaps().fit(WINE)
    assert_allclose(fitted.embedding_, plain.embedding_, rtol=0, atol=1e-8)
    assert_allclose(fitted.transform(WINE[:5] + 0.1), plain.transform(WINE[:5] + 0.1), rtol=0, atol=1e-8)


@pytest.mark.parametrize("policy", ["bridge", "points", "largest", "raise"])
def test_divergences_that_are_not_scaled_cut_the_graph_into_classes(policy):
    estimator = StochasticLE(10, alpha=None, scale=None, on_disconnected=policy)
    if policy == "raise":
        with pytest.raises(DisconnectedGraphError):
            estimator.fit(IRIS, SPECIES)
        return
    with pytest.warns(DisconnectedGraphWarning):
        fitted = estimator.fit(IRIS, SPECIES)
    assert np.isfinite(fitted.embedding_).all()
    assert np.isfinite(fitted.transform(IRIS[::7] + 0.01)).all()
    if policy == "points":
        points = [len(np.unique(fitted.embedding_[SPECIES == c].round(8), axis=0)) for c in range(3)]
        assert points[0] == 1


def test_rows_without_a_class_are_in_the_graph():
    y = np.where(np.arange(178) % 3, CULTIVARS, np.nan)
    fitted = StochasticLE().fit(WINE, y)
    assert fitted.graph_.n_rows == 178
    assert_array_equal(fitted.transform(WINE), fitted.embedding_)
    neutral = StochasticLE(unlabelled="neutral").fit(WINE, y)
    assert not np.allclose(neutral.embedding_, fitted.embedding_)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (StochasticLE(alpha=2), r"alpha must be a number in \[0, 1\] or None"),
        (StochasticLE(t=0), "t must be 'auto' or a positive number"),
        (StochasticLE(divergence="x"), "divergence must be one of"),
        (StochasticLE(on_disconnected="inflate"), "on_disconnected must be one of bridge, points"),
        (SupervisedLE(beta=0), "beta must be 'auto' or a positive number"),
        (SupervisedLE(dissimilarity="dis5"), "dissimilarity must be one of dis1, dis2, dis3, divergence"),
        (SupervisedLE(gamma=1), "gamma must be a number from 0 to below 1"),
        (SupervisedLE(0), "n_neighbors must be a positive integer"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused(estimator, message):
    with pytest.raises(InvalidInputError, match=message):
        estimator.fit(IRIS, SPECIES)


# ---- plain eigenmaps of a dissimilarity -------------------------------------------------------------


def naive_dissimilarity_le(D, k, d=2):
    """Dense: the union of the k nearest by D, heat of the mean square of an edge, the generalised problem."""
    order = np.argsort(D + np.diag(np.full(len(D), np.inf)), axis=1, kind="stable")[:, :k]
    joined = np.zeros(D.shape, bool)
    joined[np.arange(len(D))[:, None], order] = True
    joined |= joined.T
    t = (D[joined] ** 2).mean()
    W = np.where(joined, np.exp(-(D**2) / t), 0.0)
    degrees = W.sum(axis=1)
    values, vectors = eigh(np.diag(degrees) - W, np.diag(degrees))
    return values[1 : d + 1], weighted_unit(vectors[:, 1 : d + 1], degrees), t


def printed_dissimilarity(kind, d, share):
    within, between = PRINTED[kind]
    width = (pdist(WINE) ** 2).mean()
    return share * within(d, width) + (1 - share) * between(d, width, pdist(WINE).max())


@quiet
@pytest.mark.parametrize(("kind", "k"), [("dis1", 70), ("dis2", 60), ("dis3", 70)])
def test_plain_eigenmaps_of_a_dissimilarity_are_those_of_the_twin(kind, k):
    same = (CULTIVARS[:, None] == CULTIVARS).astype(float)
    values, Z, t = naive_dissimilarity_le(printed_dissimilarity(kind, cdist(WINE, WINE), same), k)
    fitted = DissimilarityLE(k, dissimilarity=kind).fit(WINE, CULTIVARS)
    assert not len(fitted.graph_.bridges)
    assert_allclose(fitted.eigenvalues_, values, rtol=1e-8)
    assert_same_up_to_sign(fitted.embedding_, Z, rtol=0, atol=1e-6)
    new = WINE[::20] + 0.05
    votes = CULTIVARS[np.argsort(cdist(new, WINE), axis=1, kind="stable")[:, :k]]
    shares = np.stack([(votes == c).mean(axis=1) for c in range(3)], axis=1)[:, CULTIVARS]
    D = printed_dissimilarity(kind, cdist(new, WINE), shares)
    for row, place in zip(D, fitted.transform(new), strict=True):
        near = np.argsort(row, kind="stable")[:k]
        w = np.exp(-(row[near] ** 2) / t)
        expected = w @ fitted.embedding_[near] / w.sum() / (1 - fitted.eigenvalues_)
        assert_allclose(place, expected, rtol=1e-8, atol=1e-8)


def test_without_classes_that_count_it_is_laplacian_eigenmaps():
    fitted = DissimilarityLE(12, dissimilarity=Dis2(1.0)).fit(WINE, CULTIVARS)
    plain = LaplacianEigenmaps(12).fit(WINE)
    assert_allclose(fitted.embedding_, plain.embedding_, atol=1e-8)
    assert_allclose(fitted.eigenvalues_, plain.eigenvalues_, rtol=1e-9)


def test_classes_that_fall_apart_are_bridged_or_refused():
    with pytest.warns(IsentropicWarning):
        bridged = DissimilarityLE(5, dissimilarity="dis1").fit(IRIS, SPECIES)
    assert len(bridged.graph_.bridges) == bridged.graph_.n_components - 1 > 0
    assert np.isfinite(bridged.transform(IRIS + 0.01)).all()
    with pytest.raises(DisconnectedGraphError):
        DissimilarityLE(5, on_disconnected="raise").fit(IRIS, SPECIES)


@quiet
def test_rows_without_a_class_are_placed_by_those_that_have_one():
    some = SPECIES.astype(float)
    some[::3] = np.nan
    fitted = DissimilarityLE(20, dissimilarity="dis3").fit(IRIS, some)
    alone = DissimilarityLE(20, dissimilarity="dis3").fit(IRIS[~np.isnan(some)], some[~np.isnan(some)])
    assert fitted.graph_.n_rows == 100
    assert_allclose(fitted.transform(IRIS[1:40:3] + 0.02), alone.transform(IRIS[1:40:3] + 0.02), atol=1e-9)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"t": 0.0}, "t must be 'auto' or a positive number"),
        ({"dissimilarity": "dis9"}, "dissimilarity must be one of dis1"),
        ({"on_disconnected": "largest"}, "on_disconnected must be one of bridge, raise"),
        ({"unlabelled": "guess"}, "unlabelled must be one of votes"),
        ({"t": 1e-9}, "t must be so large that every row has a weight"),
    ],
)
@quiet
def test_bad_parameters_of_eigenmaps_of_a_dissimilarity(parameters, said):
    with pytest.raises(InvalidInputError, match=said):
        DissimilarityLE(**parameters).fit(WINE, CULTIVARS)
