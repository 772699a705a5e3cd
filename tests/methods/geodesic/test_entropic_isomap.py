"""ISOMAP over divergences: the algorithm step by step, laws, placement of new rows, odd and bad input."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn import clone
from sklearn.datasets import load_iris, load_wine, make_swiss_roll
from sklearn.metrics import silhouette_score
from sklearn.preprocessing import StandardScaler

from isentropic import EntropicIsomap, Landmarks
from isentropic._core.errors import (
    DisconnectedGraphWarning,
    InvalidInputError,
    NeighborsClippedWarning,
    TableWarning,
)
from isentropic._core.values import Inflate
from isentropic.divergences import EDGE_DIVERGENCES, noise_floor
from isentropic.divergences.gaussian_divergences import renyi
from isentropic.quality import rnx_auc
from naive import naive_neighbors
from naive_entropic import naive_divergences, naive_patch

ROLL = make_swiss_roll(300, random_state=0)[0]
NEW = make_swiss_roll(15, random_state=1)[0]
MIX = np.random.default_rng(1).normal(size=(3, 40))
WIDE = np.sin(ROLL @ MIX / 10) + 0.05 * np.random.default_rng(2).normal(size=(300, 40))
NEW_WIDE = np.sin(NEW @ MIX / 10) + 0.05 * np.random.default_rng(3).normal(size=(15, 40))

# More features than neighbours: what the laws, whose table has three features, do not cover.
VARIANTS = {
    "low rank": (EntropicIsomap(8), WIDE, NEW_WIDE),
    "random landmarks": (EntropicIsomap(8, n_landmarks=Landmarks(40, "random")), WIDE, NEW_WIDE),
    "cauchy-schwarz": (EntropicIsomap(8, divergence="cauchy-schwarz"), WIDE, NEW_WIDE),
    "fisher-rao": (EntropicIsomap(8, divergence="fisher-rao"), WIDE, NEW_WIDE),
    "oas": (EntropicIsomap(8, regularization="oas"), WIDE, NEW_WIDE),
    "reference": (EntropicIsomap(15, regularization="reference"), ROLL, NEW),
}


def width(Z):
    return np.ptp(Z, axis=0).max()


def quiet(estimator, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        return estimator.fit(X)


@pytest.fixture(scope="module", params=VARIANTS)
def fitted(request):
    estimator, X, new = VARIANTS[request.param]
    return quiet(clone(estimator), X), X, new


# ---- the algorithm -----------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["reference", 0.1])
def test_every_step_of_the_paper(rule):
    X, k = StandardScaler().fit_transform(load_iris().data), 20
    n, floor = len(X), noise_floor(X)
    lists, _ = naive_neighbors(cdist(X, X), k)
    gaussians = [naive_patch(X, np.append(i, lists[i]), rule, floor) for i in range(n)]
    G = np.full((n, n), np.inf)
    np.fill_diagonal(G, 0)
    for i in range(n):
        for j in lists[i]:
            G[i, j] = G[j, i] = naive_divergences(*gaussians[i], *gaussians[j], 0.5)["symmetrised kl"]
    for via in range(n):
        G = np.minimum(G, G[:, via : via + 1] + G[via : via + 1])
    H = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-0.5 * H @ G**2 @ H)
    expected = vectors[:, [-1, -2]] * np.sqrt(values[[-1, -2]])
    isomap = quiet(EntropicIsomap(k, regularization=rule), X)
    assert isomap.graph_.n_components == 1
    signs = np.sign((isomap.embedding_ * expected).sum(axis=0))
    assert_allclose(isomap.embedding_, expected * signs, atol=1e-6 * width(expected))


@pytest.mark.parametrize(("load", "k", "published"), [(load_iris, 20, 0.576), (load_wine, 40, 0.656)])
def test_the_published_silhouettes(load, k, published):
    X, y = load(return_X_y=True)
    Z = quiet(EntropicIsomap(k, regularization="reference"), StandardScaler().fit_transform(X)).embedding_
    assert abs(silhouette_score(Z, y) - published) < 0.02


def test_weights_are_divergences_and_the_root_is_their_root():
    plain, root = (quiet(EntropicIsomap(15, root=root), ROLL).graph_ for root in (False, True))
    assert_array_equal(root.weights, np.sqrt(plain.weights))
    rows = np.repeat(np.arange(300), np.diff(plain.indptr))
    back = {(i, j): w for i, j, w in zip(rows, plain.indices, plain.weights, strict=True)}
    assert all(back[j, i] == w for (i, j), w in back.items())


def test_a_callable_takes_the_place_of_a_name():
    named = quiet(EntropicIsomap(15, divergence="bhattacharyya"), ROLL)
    given = quiet(EntropicIsomap(15, divergence=EDGE_DIVERGENCES["bhattacharyya"]), ROLL)
    assert_array_equal(named.embedding_, given.embedding_)
    assert_array_equal(named.transform(NEW), given.transform(NEW))

    def between_means(patches, heads, tails):
        return np.linalg.norm(patches.means[heads] - patches.means[tails], axis=1)

    means = quiet(EntropicIsomap(15, divergence=between_means), ROLL)
    rows = np.repeat(np.arange(300), np.diff(means.graph_.indptr))
    centres = np.array([ROLL[np.append(i, means.neighbors_.indices[i])].mean(axis=0) for i in range(300)])
    apart = np.linalg.norm(centres[rows] - centres[means.graph_.indices], axis=1)
    assert_allclose(means.graph_.weights, apart, atol=1e-10)


def test_auto_takes_the_k_with_the_best_map():
    auto = quiet(EntropicIsomap("auto"), ROLL[:120])
    tried, scores = zip(*auto.selection_.curve("n_neighbors"), strict=True)
    assert tried == (5, 9, 15, 26, 46, 80)
    areas = [rnx_auc(ROLL[:120], quiet(EntropicIsomap(k), ROLL[:120]).embedding_) for k in tried]
    assert_allclose(scores, areas, atol=1e-12)
    best = auto.selection_.params["n_neighbors"]
    assert best == tried[np.argmax(areas)]
    chosen = quiet(EntropicIsomap(best), ROLL[:120])
    assert_array_equal(auto.embedding_, chosen.embedding_)
    assert_array_equal(auto.transform(NEW), chosen.transform(NEW))
    assert chosen.selection_ is None


@pytest.mark.parametrize("n_landmarks", [None, 30])
def test_auto_scores_the_maps_of_a_graph_in_parts_and_fits_one_of_them(n_landmarks):
    X = np.concatenate([ROLL[:100], ROLL[100:140] + 500.0])
    given = {"on_disconnected": "largest", "n_landmarks": n_landmarks}
    auto = quiet(EntropicIsomap("auto", **given), X)
    for trial in auto.selection_.trials:
        alone = quiet(EntropicIsomap(**trial.params, **given), X)
        assert trial.score == rnx_auc(X, alone.embedding_)
        if trial.params == auto.selection_.params:
            assert_array_equal(auto.embedding_, alone.embedding_)
            assert_array_equal(auto.neighbors_.indices, alone.neighbors_.indices)


def test_auto_is_the_fit_of_its_k_also_with_copies_of_rows():
    X = np.repeat(np.random.default_rng(0).normal(size=(30, 3)), 3, axis=0)
    auto = quiet(EntropicIsomap("auto"), X)
    chosen = quiet(EntropicIsomap(auto.selection_.params["n_neighbors"]), X)
    assert_array_equal(auto.embedding_, chosen.embedding_)
    assert auto.selection_.score == pytest.approx(rnx_auc(X, auto.embedding_))


def test_neighbours_are_listed_nearest_first_with_their_distances():
    found = quiet(EntropicIsomap(10), ROLL).neighbors_
    expected = np.sort(cdist(ROLL, ROLL), axis=1)[:, 1 : found.indices.shape[1] + 1]
    assert_allclose(found.distances, expected, atol=1e-9)


# ---- laws --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["low rank", "cauchy-schwarz", "oas"])
def test_rigid_motion_changes_nothing(name):
    estimator, X, _ = VARIANTS[name]
    m = X.shape[1]
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(m, m)))[0]
    Z = quiet(clone(estimator), X).embedding_
    moved = quiet(clone(estimator), X @ rotation + 3.0).embedding_
    assert_allclose(moved, Z, atol=1e-6 * width(Z))


@pytest.mark.parametrize("name", ["low rank", "fisher-rao"])
def test_scale_changes_nothing(name):
    """Divergences have no unit; only the reference adds a number that has one."""
    estimator, X, new = VARIANTS[name]
    fitted, scaled = quiet(clone(estimator), X), quiet(clone(estimator), 1000.0 * X)
    assert_allclose(scaled.embedding_, fitted.embedding_, atol=1e-6 * width(fitted.embedding_))
    assert_allclose(
        scaled.transform(1000.0 * new), fitted.transform(new), atol=1e-6 * width(fitted.embedding_)
    )


@pytest.mark.parametrize("name", ["low rank"])
def test_row_order_is_only_row_order(name):
    estimator, X, _ = VARIANTS[name]
    order = np.random.default_rng(0).permutation(len(X))
    Z = quiet(clone(estimator), X).embedding_
    shuffled = quiet(clone(estimator), X[order]).embedding_
    signs = np.sign((shuffled * Z[order]).sum(axis=0))
    assert_allclose(shuffled * signs, Z[order], atol=1e-6 * width(Z))


# ---- the same row gets the same coordinates ----------------------------------------------------


def test_a_fitted_row_gets_its_own_coordinates(fitted):
    isomap, X, _ = fitted
    assert_array_equal(isomap.transform(X), isomap.embedding_)


def test_a_batch_its_rows_and_its_shuffle_get_equal_coordinates(fitted):
    isomap, _, new = fitted
    Z = isomap.transform(new)
    rows = np.concatenate([isomap.transform(row[None]) for row in new])
    order = np.random.default_rng(0).permutation(len(new))
    # A library multiplies the rows of a patch: its last bit may depend on where they lie in memory.
    assert_allclose(rows, Z, rtol=0, atol=1e-12 * width(isomap.embedding_))
    assert_allclose(isomap.transform(new[order]), Z[order], rtol=0, atol=1e-12 * width(isomap.embedding_))


def test_threads_do_not_change_a_bit(fitted):
    isomap, X, new = fitted
    one = quiet(clone(isomap).set_params(n_jobs=1), X)
    assert_array_equal(one.embedding_, isomap.embedding_)
    assert_array_equal(one.transform(new), isomap.transform(new))


def test_a_pickled_model_places_rows_alike(fitted):
    isomap, _, new = fitted
    assert_array_equal(pickle.loads(pickle.dumps(isomap)).transform(new), isomap.transform(new))


def test_a_new_row_enters_by_the_divergences_of_its_own_patch():
    isomap = quiet(EntropicIsomap(15), ROLL)
    indices, weights, _ = isomap._map.edges.of_new(NEW[:5], isomap._map, None)
    assert_array_equal(indices, np.argsort(cdist(NEW[:5], ROLL), axis=1, kind="stable")[:, :15])
    rows = np.concatenate([ROLL, NEW[:5]])
    for i in range(5):
        own = naive_patch(rows, np.append(300 + i, indices[i]), 3.0, 0.0)
        for j, weight in zip(indices[i], weights[i], strict=True):
            other = naive_patch(rows, np.append(j, isomap.neighbors_.indices[j]), 3.0, 0.0)
            assert_allclose(weight, naive_divergences(*own, *other, 0.5)["symmetrised kl"], rtol=1e-7)


def test_a_row_very_near_a_fitted_one_lands_near_it():
    isomap = quiet(EntropicIsomap(15), ROLL)
    Z = isomap.transform(ROLL + 1e-9)
    apart = np.linalg.norm(Z - isomap.embedding_, axis=1)
    assert np.median(apart) < 0.05 * width(isomap.embedding_)


# ---- a graph in parts --------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["bridge", "largest", "inflate", Inflate(2.0)])
@pytest.mark.parametrize("n_landmarks", [None, 30])
def test_a_graph_in_parts_is_stated_and_dealt_with(policy, n_landmarks):
    X = np.concatenate([ROLL[:150], ROLL[150:210] + 500.0])
    isomap = EntropicIsomap(6, on_disconnected=policy, n_landmarks=n_landmarks)
    with pytest.warns(DisconnectedGraphWarning, match="parts of"):
        isomap.fit(X)
    assert isomap.embedding_.shape == (210, 2)
    assert np.isfinite(isomap.embedding_).all()
    assert_array_equal(isomap.transform(X), isomap.embedding_)
    assert np.isfinite(isomap.transform(X + 0.01)).all()


# ---- odd and bad input -------------------------------------------------------------------------

RULES = [0.1, "oas", "ledoit-wolf", "reference"]


def odd_tables(n):
    random = np.random.default_rng(n)
    X = random.normal(size=(n, 6))
    duplicates, constant, equal = X.copy(), X.copy(), X.copy()
    duplicates[: n // 2] = X[0]
    constant[np.argsort(X[:, 0])[: n // 3], 2] = 5.0
    constant[:, 5] = -1.0
    equal[:] = X[np.arange(n) % 4]
    return {
        "duplicates": (duplicates, 10),
        "constant features": (constant, 10),
        "fewer neighbours than features": (X, 3),
        "one neighbour": (X, 1),
        "all other rows": (X, n - 1),
        "four values": (equal, 8),
        "one value": (np.ones((n, 6)), 8),
    }


@pytest.mark.parametrize(("n", "rule"), [*((60, rule) for rule in RULES), (300, 0.1)])
@pytest.mark.parametrize("table", odd_tables(60))
def test_odd_tables_have_finite_maps(n, rule, table):
    X, k = odd_tables(n)[table]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        warnings.filterwarnings("ignore", "All neighbourhoods hold", TableWarning)
        isomap = EntropicIsomap(k, regularization=rule).fit(X)
        new = isomap.transform(X[:7] + 0.5)
    assert np.isfinite(isomap.embedding_).all()
    assert np.isfinite(isomap.graph_.weights).all()
    assert np.isfinite(new).all()
    # Equal rows share the place of the first of them, up to the rounding of their paths.
    assert_allclose(isomap.transform(X), isomap.embedding_, atol=1e-8 * (1 + width(isomap.embedding_)))


def test_all_other_rows_as_neighbours_make_one_patch_of_all():
    with pytest.warns(TableWarning, match="All neighbourhoods hold the same rows"):
        isomap = EntropicIsomap(59).fit(ROLL[:60])
    assert_allclose(isomap.graph_.weights, 0.0, atol=1e-9)
    assert width(isomap.embedding_) < 1e-6


def test_duplicates_share_a_place():
    X = np.concatenate([ROLL[:200], np.repeat(ROLL[:1], 60, axis=0)])
    Z = quiet(EntropicIsomap(10), X).embedding_
    assert_allclose(Z[200:], np.broadcast_to(Z[200], (60, 2)), atol=1e-6 * width(Z))


@pytest.mark.parametrize("policy", ["bridge", "inflate"])
def test_copies_share_a_place_also_where_nothing_but_rounding_parts_them(policy):
    X = np.repeat(np.random.default_rng(0).normal(size=(30, 3)), 10, axis=0)
    isomap = quiet(EntropicIsomap(2, on_disconnected=policy), X)
    rows = np.repeat(np.arange(300), np.diff(isomap.graph_.indptr))
    assert_array_equal(isomap.graph_.weights[rows // 10 == isomap.graph_.indices // 10], 0.0)
    groups = isomap.embedding_.reshape(30, 10, 2)
    assert np.ptp(groups, axis=1).max() <= 1e-9 * width(isomap.embedding_)


def test_more_neighbours_than_rows_is_warned_and_clipped():
    with pytest.warns() as told:
        clipped = EntropicIsomap(50).fit(ROLL[:20])
    assert "at most 19" in str(told[0].message)
    assert "got 50: 19 are used" in str(told[0].message)
    assert [one.category for one in told] == [NeighborsClippedWarning, TableWarning]
    with pytest.warns(TableWarning, match="All neighbourhoods hold the same rows"):
        assert_array_equal(clipped.embedding_, EntropicIsomap(19).fit(ROLL[:20]).embedding_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors must be a positive integer, got 0"),
        ({"divergence": "hellingr"}, "divergence must be one of kl, .*Did you mean 'hellinger'"),
        ({"n_neighbors": np.array([3, 4])}, "n_neighbors must be a positive integer"),
        ({"regularization": np.array([1.0, 2.0])}, "regularization must be a number"),
        ({"regularization": -1}, "regularization must be a number of at least 0"),
        ({"n_components": 0}, "n_components must be a positive integer"),
        ({"root": 1}, "root must be True or False, got 1"),
        ({"divergence": lambda patches, heads, tails: np.zeros(3)}, "one number for each of .* edges, got"),
        (
            {"divergence": lambda patches, heads, tails: np.full(len(heads), np.nan)},
            "finite and at least 0 on every edge",
        ),
        ({"divergence": lambda patches, heads, tails: -1.0 - heads}, "at least 0 on every edge"),
        (
            {"divergence": lambda *edges: renyi(*edges, order=9.0), "regularization": 0.001},
            "order 9.0 must have a positive definite",
        ),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(InvalidInputError, match=message):
        quiet(EntropicIsomap(**parameters), ROLL[:60])


@pytest.mark.parametrize("regularization", [0, "reference"])
def test_a_new_row_far_from_all_others_has_a_place_without_regularization(regularization):
    isomap = quiet(EntropicIsomap(8, regularization=regularization), ROLL)
    far = np.concatenate([ROLL[:3] + 0.01, ROLL[:1] + 1e9])
    placed = isomap.transform(far)
    assert np.isfinite(placed).all()
    assert_array_equal(isomap.transform(far[:3]), placed[:3])
