"""Supervised t-SNE, SGt-SNE, SEt-SNE: plain twins of affinities, places, published steps; edge cases."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

import isentropic
import laws
from assertions import assert_same_bits
from isentropic import (
    TSNE,
    ClassDivergence,
    Dis1,
    Dis2,
    Dis3,
    Dis4,
    Knn,
    SEtSNE,
    SGtSNE,
    SupervisedTSNE,
    SupervisedUMAP,
)
from isentropic._core.errors import DisconnectedGraphWarning, InvalidInputError, IsentropicWarning
from isentropic.affinities import neighbors_for_perplexity
from isentropic.dissimilarities import class_gaussians, posterior
from isentropic.distances import distances_between
from isentropic.methods.neighbor import tsne_stages
from naive_class_maps import (
    naive_edges,
    naive_geodesics,
    naive_kl,
    naive_lists,
    naive_published_step,
    naive_set_squares,
    naive_sgt_distances,
)
from naive_neighbours import naive_affinities, naive_student

RNG = np.random.default_rng(3)
X = RNG.normal(size=(60, 3)) * [2.0, 1.0, 0.5]
Y = np.array(["a", "b", "c"])[(X[:, 0] > -0.5).astype(int) + (X[:, 1] > 0.3)]
CODES = np.unique(Y, return_inverse=True)[1]
NEW = RNG.normal(size=(6, 3)) * [2.0, 1.0, 0.5]
K, PERPLEXITY = 8, 9.0
LISTED = neighbors_for_perplexity(PERPLEXITY, 60)
HALF = np.where(np.arange(60) % 4 == 1, None, Y)  # a class for three rows of four
STEPS = 60  # enough where a map need not be good
GRAPHS = {
    "sgt": SGtSNE(PERPLEXITY, n_neighbors=K, max_iter=STEPS),
    "sgt edges": SGtSNE(PERPLEXITY, n_neighbors=K, penalise="edges", max_iter=STEPS),
    "sgt literal": SGtSNE(PERPLEXITY, n_neighbors=K, squared=False, max_iter=STEPS),
    "set": SEtSNE(PERPLEXITY, n_neighbors=K, max_iter=STEPS),
}
ALL = {
    **GRAPHS,
    "dis1": SupervisedTSNE(PERPLEXITY, max_iter=STEPS),
    "dis2": SupervisedTSNE(PERPLEXITY, dissimilarity=Dis2(3.0), max_iter=STEPS),
    "dis3": SupervisedTSNE(PERPLEXITY, dissimilarity=Dis3(0.2), max_iter=STEPS),
    "umap": SupervisedUMAP(K, n_epochs=60),
}
# of rows in which one column is not like the others: it is the logarithm of a factor
ALONG_A_COLUMN = SupervisedTSNE(PERPLEXITY, dissimilarity=Dis4(1), max_iter=STEPS)


def with_(name, **parameters):
    estimator = {**ALL, "dis4": ALONG_A_COLUMN}[name]
    return type(estimator)(**{**estimator.get_params(), **parameters})


# ---- what the twins say of classes and distances ---------------------------------------------------


def shares_of(rows, unlabelled, labels, k):
    """The shares of the classes of some rows, of whom nobody told the class."""
    known = np.array([label is not None for label in labels])
    codes = np.unique(labels[known].astype(str), return_inverse=True)[1]
    if unlabelled == "posterior":
        return posterior(rows, class_gaussians(X[known], codes))
    near = np.argsort(cdist(rows, X[known]), axis=1, kind="stable")[:, :k]
    return np.array([[(codes[one] == c).mean() for c in range(3)] for one in near])


def all_shares(unlabelled, labels, k):
    """One row of shares for each fitted row; the whole class where it is known."""
    out = np.zeros((60, 3))
    for i in range(60):
        if labels[i] is None:
            out[i] = shares_of(X[i : i + 1], unlabelled, labels, k)
        else:
            out[i, "abc".index(labels[i])] = 1
    return out


def same_of(unlabelled, labels, k=K):
    """The probability that two rows are of one class; 1 with rows of which nothing is guessed."""
    if unlabelled != "neutral":
        M = all_shares(unlabelled, labels, k)
        return M @ M.T
    free = np.array([label is None for label in labels])
    return (free[:, None] | free | (labels[:, None] == labels)).astype(float)


def distances_of(name, same):
    """All distances between fitted rows as the twin has them, as t-SNE takes them."""
    if name == "set":
        return np.sqrt(naive_set_squares(X, same, K))
    G = naive_sgt_distances(X, same, K, penalise="edges" if name == "sgt edges" else "pairs")
    return np.sqrt(G) if name == "sgt literal" else G


def joint_of(D, listed=LISTED, perplexity=PERPLEXITY):
    """Joint affinities of the nearest of each row by D."""
    order, near = naive_lists(D, listed)
    P = np.zeros((len(D), len(D)))
    for i, row in enumerate(near):
        P[i, order[i]] = naive_affinities(row, perplexity)
    return (P + P.T) / (2 * len(D))


@pytest.mark.parametrize("unlabelled", ["votes", "posterior", "neutral"])
@pytest.mark.parametrize("name", GRAPHS)
def test_affinities_are_those_of_the_twin(name, unlabelled):
    for labels in (Y.astype(object), HALF):
        fitted = with_(name, max_iter=0, unlabelled=unlabelled).fit(X, labels)
        P = joint_of(distances_of(name, same_of(unlabelled, labels)))
        assert fitted.kl_divergence_ == pytest.approx(naive_student(P, fitted.embedding_)[0], rel=1e-8)


def plain_dissimilarity(name, d, same):
    if name == "dis1":
        width = (cdist(X, X) ** 2).sum() / (60 * 59)
        return same * np.sqrt(1 - np.exp(-(d**2) / width)) + (1 - same) * (np.exp(d**2 / (2 * width)) - 0.5)
    if name == "dis2":
        return same * d / 3 + (1 - same) * d
    return d + (1 - same) * 0.2 * cdist(X, X).max()


def test_affinities_of_directed_distances_are_those_of_the_twin():
    def plain(A, same):
        d = cdist(A[:, [0, 2]], X[:, [0, 2]])
        return same * d * np.exp(A[:, 1, None] - X[:, 1]) + (1 - same) * d

    for labels in (Y.astype(object), HALF):
        known = np.array([label is not None for label in labels])
        fitted = with_("dis4", max_iter=0).fit(X, labels)
        shares = shares_of(NEW, "votes", labels, round(np.sqrt(known.sum())))
        order, near = naive_lists(plain(NEW, shares[:, CODES])[:, known], LISTED)
        found = fitted._map.query.nearest(NEW, LISTED, None)
        assert (found[0] == np.flatnonzero(known)[order]).all()
        assert_allclose(found[1], near, rtol=1e-9)
    fitted = with_("dis4", max_iter=0).fit(X, Y)
    cost = naive_student(joint_of(plain(X, (Y[:, None] == Y).astype(float))), fitted.embedding_)[0]
    assert fitted.kl_divergence_ == pytest.approx(cost, rel=1e-8)


def test_a_constant_column_leaves_plain_t_sne_of_the_others():
    level = np.column_stack([X, np.full(60, 0.5)])
    start = RNG.normal(size=(60, 2))
    directed = with_("dis4", dissimilarity=Dis4(3), init=start).fit(level, Y)
    assert_same_bits(directed.embedding_, TSNE(PERPLEXITY, init=start, max_iter=STEPS).fit(X).embedding_)


def test_new_rows_and_saved_models_of_directed_distances(tmp_path):
    fitted = with_("dis4").fit(X, HALF)
    laws.assert_fitted_rows_stay(fitted, X)
    laws.assert_rows_by_themselves(fitted.transform, NEW)
    isentropic.save(fitted, tmp_path / "model.isentropic")
    assert_same_bits(isentropic.load(tmp_path / "model.isentropic").transform(NEW), fitted.transform(NEW))
    assert_same_bits(with_("dis4", n_jobs=1).fit(X, HALF).embedding_, fitted.embedding_)
    assert np.isfinite(fitted.transform(NEW + np.array([0.0, 1e4, 0.0]))).all()


def test_directed_distances_are_refused_where_they_have_no_column():
    with pytest.raises(InvalidInputError, match="dissimilarity must be dis1, dis2 or dis3 for distances"):
        with_("dis4", metric="precomputed").fit(cdist(X, X), Y)
    with pytest.raises(InvalidInputError, match="column must be one that spans at most 100, got"):
        with_("dis4").fit(X * [1.0, 1e3, 1.0], Y)
    with pytest.raises(InvalidInputError, match="column must be one of 1, and not the only one, got 0"):
        with_("dis4", dissimilarity=Dis4(0)).fit(X[:, :1], Y)
    with pytest.raises(InvalidInputError, match="dissimilarity must be one of dis1, dis2, dis3, divergence"):
        isentropic.SupervisedIsomap(dissimilarity=Dis4(0)).fit(X, Y)


@pytest.mark.parametrize("name", ["dis1", "dis2", "dis3"])
def test_affinities_of_a_dissimilarity_are_those_of_the_twin(name):
    D = plain_dissimilarity(name, cdist(X, X), (Y[:, None] == Y).astype(float))
    fitted = with_(name, max_iter=0).fit(X, Y)
    cost = naive_student(joint_of(D), fitted.embedding_)[0]
    assert fitted.kl_divergence_ == pytest.approx(cost, rel=1e-8)
    shares = shares_of(NEW, "votes", Y.astype(object), 8)
    expected = plain_dissimilarity(name, cdist(NEW, X), shares[:, CODES])
    order, near = naive_lists(expected, LISTED)
    found = fitted._map.query.nearest(NEW, LISTED, None)
    assert (found[0] == order).all()
    assert_allclose(found[1], near, rtol=1e-9)


# ---- new rows ----------------------------------------------------------------------------------------


def distances_of_new(name, same):
    """Distances of new rows to all fitted ones, ``same`` the probability (b, n) of one class."""
    D = cdist(NEW, X)
    near = np.argsort(D, axis=1, kind="stable")[:, :K]
    out = D**2 if name == "set" else np.empty(D.shape)
    if name != "set":
        G = naive_geodesics(X, K)
        if name == "sgt edges":
            G = naive_sgt_distances(X, (Y[:, None] == Y).astype(float), K, penalise="edges")
    for i, entries in enumerate(near):
        d, p = D[i, entries], same[i, entries]
        if name == "set":
            kl = np.array([naive_kl(patch_of(NEW[i], X[entries]), fitted_patch(j)) for j in entries])
            out[i, entries] = p * np.minimum(d**2, kl) + (1 - p) * (d**2 + kl)
            continue
        longer = (1 - p) * d
        out[i] = ((d + longer * (name == "sgt edges"))[:, None] + G[entries]).min(axis=0)
        if name != "sgt edges":
            out[i, entries] += longer
    return np.sqrt(out) if name in ("set", "sgt literal") else out


def patch_of(row, others):
    rows = np.vstack([row, others])
    S = np.cov(rows.T)
    return rows.mean(axis=0), S + 3.0 * np.trace(S) / 3 * np.eye(3)


def fitted_patch(j):
    others = [i for i in np.argsort(cdist(X[j : j + 1], X)[0], kind="stable") if i != j]
    return patch_of(X[j], X[others[:K]])


@pytest.mark.parametrize("name", GRAPHS)
def test_new_rows_go_down_their_own_cost(name):
    fitted = with_(name, max_iter=250).fit(X, Y)
    shares = shares_of(NEW, "votes", Y.astype(object), K)
    D = distances_of_new(name, shares[:, CODES])
    order, near = naive_lists(D, LISTED)
    found = fitted._map.query.nearest(NEW, LISTED, None)
    assert (found[0] == order).all()
    assert_allclose(found[1], near, rtol=1e-9)
    Z, places = fitted.embedding_, fitted.transform(NEW)
    for i in range(len(NEW)):
        p = naive_affinities(near[i], PERPLEXITY)

        def cost(z, p=p, i=i):
            return p @ np.log1p(((z - Z[order[i]]) ** 2).sum(axis=1)) + np.log(
                (1 / (1 + ((z - Z) ** 2).sum(axis=1))).sum()
            )

        starts = (Z[order[i][0]], p @ Z[order[i]])
        best = min(minimize(cost, start, method="BFGS", options={"gtol": 1e-8}).fun for start in starts)
        assert cost(places[i]) <= best + 1e-5


@pytest.mark.parametrize("name", ALL)
def test_rows_that_were_seen_keep_their_places_and_others_need_no_class(name):
    fitted = with_(name).fit(X, Y)
    assert_same_bits(fitted.transform(X), fitted.embedding_)
    near = cdist(fitted.transform(X + 1e-7), fitted.embedding_).argmin(axis=1)
    assert (Y[near] == Y).mean() > 0.8


@pytest.mark.parametrize("name", ALL)
def test_equal_rows_of_two_classes_have_two_places(name):
    rows, y = np.vstack([X, X[:1], X[1:2]]), np.append(Y, ["a" if Y[0] != "a" else "b", Y[1]])
    fitted = with_(name).fit(rows, y)
    Z = fitted.embedding_
    if name != "sgt edges":  # whose ways lead over the edge of length 0 between them, from both alike
        assert np.abs(Z[0] - Z[60]).max() > 1e-6 * np.ptp(Z)
    assert_same_bits(Z[1], Z[61])
    assert_same_bits(fitted.transform(X[1:2]), Z[1:2])
    first = min((0, 60), key=lambda row: y[row])  # of classes with as many rows that which comes first
    with pytest.warns(
        IsentropicWarning, match=r"1 of 1 rows have the values of fitted rows of several class"
    ):
        assert_same_bits(fitted.transform(X[:1])[0], Z[first])


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("unlabelled", ["votes", "posterior", "neutral"])
def test_rows_without_a_class_take_part(name, unlabelled, tmp_path):
    fitted = with_(name, unlabelled=unlabelled).fit(X, HALF)
    assert fitted.embedding_.shape == (60, 2)
    assert_same_bits(fitted.transform(X), fitted.embedding_)
    assert fitted.classes_.tolist() == ["a", "b", "c"]
    isentropic.save(fitted, tmp_path / "model.isentropic")
    again = isentropic.load(tmp_path / "model.isentropic")
    assert_same_bits(again.transform(NEW), fitted.transform(NEW))
    numbers = np.where(HALF == None, np.nan, np.unique(Y, return_inverse=True)[1])  # noqa: E711
    assert_same_bits(with_(name, unlabelled=unlabelled).fit(X, numbers.astype(float)).embedding_,
                     fitted.embedding_)  # fmt: skip


# ---- as published ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sgt", "sgt literal", "set"])
def test_published_steps_are_those_of_the_twin(name):
    same = (Y[:, None] == Y).astype(float)
    one, some = (
        with_(name, low_dimensional="graph", max_iter=steps, random_state=4).fit(X, Y).embedding_
        for steps in (0, 3)
    )
    P, Z, step = joint_of(distances_of(name, same)), one, 0.0
    for _ in range(3):
        squares = _squares_in_map(name, Z, same)
        Z, step = naive_published_step(P, squares, Z, step, rate=tsne_stages._RATE, momentum=0.9)
    assert_allclose(some, Z, rtol=1e-7, atol=1e-9)
    assert 0.005 < one.std() < 0.02  # variance 1e-4, as published


def _squares_in_map(name, Z, same):
    if name == "set":
        return naive_set_squares(Z, same, K)
    D = cdist(Z, Z)
    edges = naive_edges(D, K)
    G = class_maps_geodesics(Z) + np.where(edges, (1 - same) * D, 0.0)
    return G if name == "sgt literal" else G**2


def class_maps_geodesics(Z):
    from scipy.sparse.csgraph import shortest_path

    graph = tsne_stages.graph_of_map(Z, K, None)[1]  # bridges, where a map is in parts
    full = np.zeros((len(Z), len(Z)))
    full[tsne_stages.edges_of(graph)] = graph.weights
    return shortest_path(full, directed=False)


# ---- edge cases --------------------------------------------------------------------------------------

every = pytest.mark.parametrize("name", ALL)


def finite(fitted, rows, n=60):
    assert fitted.embedding_.shape == (n, 2)
    assert np.isfinite(fitted.embedding_).all()
    assert np.isfinite(fitted.transform(rows)).all()


@every
@pytest.mark.parametrize("unlabelled", ["votes", "posterior"])
def test_a_class_of_one_row(name, unlabelled):
    y = Y.copy()
    y[:] = "rest"
    y[7] = "one"
    finite(with_(name, unlabelled=unlabelled).fit(X, y), NEW)


@every
def test_fifty_classes(name):
    finite(with_(name).fit(X, np.arange(60) % 50), NEW)


@every
def test_classes_that_no_edge_joins(name):
    rows = X + np.where(np.arange(60) < 30, 0.0, 100.0)[:, None]
    y = np.arange(60) < 30
    fitted = with_(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)  # of the bridge
        finite(fitted.fit(rows, y), np.vstack([NEW, NEW + 100]))
    if isinstance(fitted, SEtSNE):  # nothing to match
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DisconnectedGraphWarning)
            finite(with_(name, scale="match").fit(rows, y), NEW)


@every
def test_one_class_is_the_method_without_classes(name):
    with pytest.warns(IsentropicWarning, match="single class"):
        fitted = with_(name).fit(X, np.zeros(60))
    if name.startswith("dis"):
        assert_same_bits(fitted.embedding_, TSNE(PERPLEXITY, max_iter=STEPS).fit(X).embedding_)
    elif name == "umap":
        expected = isentropic.UMAP(K, n_epochs=60).fit(X)
        assert_same_bits(fitted.embedding_, expected.embedding_)
        assert_same_bits(fitted.transform(NEW), expected.transform(NEW))
    elif name == "sgt":
        P = joint_of(naive_geodesics(X, K))
        assert fitted.kl_divergence_ == pytest.approx(naive_student(P, fitted.embedding_)[0], rel=1e-6)


@every
def test_numbers_are_no_classes(name):
    with pytest.raises(InvalidInputError, match=r"y must be classes as text or whole numbers.*leave it out"):
        with_(name).fit(X, X[:, 0])
    with pytest.raises(InvalidInputError, match="y must be given, because"):
        with_(name).fit(X, None)


def test_dis1_that_overflows_is_told_and_finite():
    rows = X.copy()
    rows[0] *= 1e4
    with pytest.warns(IsentropicWarning, match="too long for their class-aware form"):
        fitted = SupervisedTSNE(PERPLEXITY, dissimilarity=Dis1(beta=1e-3)).fit(rows, Y)
    finite(fitted, NEW)


@pytest.mark.parametrize("divergence", ["kl", "directed-kl"])
def test_class_divergences_may_be_directed(divergence):
    finite(
        SupervisedTSNE(dissimilarity=ClassDivergence(divergence=divergence), max_iter=STEPS).fit(X, Y), NEW
    )


def test_given_distances_are_those_of_the_table():
    D, start = distances_between(X, X, "euclidean", 1), RNG.normal(size=(60, 2))
    for name in ("dis1", "dis3", "umap"):
        expected = with_(name, init=start).fit(X, Y)
        given = with_(name, init=start, metric="precomputed").fit(D, Y)
        assert_same_bits(given.embedding_, expected.embedding_)
        between = distances_between(NEW, X, "euclidean", 1)
        assert_same_bits(given.transform(between), expected.transform(NEW))
        half = with_(name, init=start, metric="precomputed").fit(D, HALF)
        assert_same_bits(half.embedding_, with_(name, init=start).fit(X, HALF).embedding_)
    with pytest.raises(InvalidInputError, match="unlabelled must be votes or neutral"):
        with_("dis1", unlabelled="posterior", metric="precomputed").fit(D, Y)


@pytest.mark.parametrize(
    ("name", "parameters", "said"),
    [
        ("sgt", {"penalise": "all"}, "penalise must be one of pairs, edges"),
        ("sgt", {"squared": "yes"}, "squared must be True or False"),
        ("set", {"divergence": "l2"}, "divergence must be one of kl"),
        ("set", {"scale": 2.0}, "scale must be 'match' or None"),
        ("set", {"low_dimensional": "map"}, "low_dimensional must be one of euclidean, graph"),
        ("sgt", {"n_neighbors": 0}, "n_neighbors must be a positive integer"),
        ("sgt", {"n_components": 0}, "n_components must be a positive integer"),
        ("sgt", {"unlabelled": "guess"}, "unlabelled must be one of votes"),
        ("dis4", {"dissimilarity": Dis4(-1)}, "column must be the number of a column, from 0, got -1"),
        ("dis4", {"dissimilarity": Dis4(3)}, "column must be one of 3, and not the only one, got 3"),
        ("dis1", {"dissimilarity": "dis5"}, "dissimilarity must be one of dis1"),
        ("dis1", {"perplexity": 0.5}, "perplexity must be a number of at least 1"),
        ("umap", {"target_weight": 0}, "target_weight must be a number above 0 and at most 1"),
        ("umap", {"target_weight": 1.5}, "target_weight must be a number above 0 and at most 1"),
    ],
)
def test_bad_parameters(name, parameters, said):
    with pytest.raises(InvalidInputError, match=said):
        with_(name, **parameters).fit(X, Y)


# ---- what labels at random do ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sgt", "dis1", "umap"])
def test_labels_at_random_part_the_rows_that_were_fitted_and_no_others(name):
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(160, 5)), np.arange(160) % 2
    rng.shuffle(y)
    steps = {} if name == "umap" else {"max_iter": 250}
    seen = with_(name, **steps).fit(rows, y).embedding_
    fitted = with_(name, **steps).fit(rows[:80], y[:80])
    placed = fitted.transform(rows[80:])

    def vote(Z, classes, places):
        near = np.argsort(cdist(places, Z), axis=1)[:, :5]
        return classes[near].mean(axis=1) > 0.5

    leaked = (vote(seen[:80], y[:80], seen[80:]) == y[80:]).mean()
    honest = (vote(fitted.embedding_, y[:80], placed) == y[80:]).mean()
    assert leaked > 0.8
    assert 0.3 < honest < 0.7


def test_lists_are_found_beyond_the_first_search():
    """Labels at random make most edges long: rows that are no neighbours come first."""
    y = np.arange(60) % 12
    fitted = SEtSNE(3.0, n_neighbors=20, max_iter=0).fit(X, y)
    D = np.sqrt(naive_set_squares(X, (y[:, None] == y).astype(float), 20))
    P = joint_of(D, neighbors_for_perplexity(3.0, 60), 3.0)
    assert fitted.kl_divergence_ == pytest.approx(naive_student(P, fitted.embedding_)[0], rel=1e-8)


def test_approximate_lists_do(monkeypatch):
    monkeypatch.setattr(tsne_stages, "Knn", lambda k: Knn(k, approximate=True))
    for name in ("sgt", "set"):
        finite(with_(name).fit(X, Y), NEW)


def test_few_rows_have_a_smaller_perplexity_by_default():
    for name in ("sgt", "set", "dis1"):
        given = with_(name, perplexity=59 / 3).fit(X, Y)
        assert_same_bits(with_(name, perplexity=None).fit(X, Y).embedding_, given.embedding_)


def test_nats_that_are_matched_have_the_mean_of_squares():
    same = (Y[:, None] == Y).astype(float)
    edges, D2 = naive_edges(cdist(X, X), K), cdist(X, X) ** 2
    nats = naive_set_squares(X, np.zeros((60, 60)), K) - D2  # where all are of two classes, d^2 + KL
    between = edges & (same == 0)
    squares = naive_set_squares(X, same, K, factor=D2[between].mean() / nats[between].mean())
    fitted = with_("set", scale="match", max_iter=0).fit(X, Y)
    cost = naive_student(joint_of(np.sqrt(squares)), fitted.embedding_)[0]
    assert fitted.kl_divergence_ == pytest.approx(cost, rel=1e-8)
