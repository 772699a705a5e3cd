"""t-SNE and its relatives: published figures, peers, inputs, determinism."""

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from scipy.stats import kendalltau
from sklearn.datasets import load_digits, load_iris
from sklearn.manifold import TSNE as ScikitTSNE
from sklearn.manifold import trustworthiness

from assertions import assert_grammar, assert_same_bits
from isentropic import (
    PCA,
    SNE,
    TSNE,
    UMAP,
    Geodesic,
    GlobalTSNE,
    MultiscaleSNE,
    MultiscaleTSNE,
    config_context,
)
from isentropic._core.errors import InvalidInputError, IsentropicWarning, MemoryBudgetError, PerplexityWarning
from isentropic._core.models.saving import load, save
from isentropic._core.values import Knn
from isentropic.distances import distances_between, metrics
from isentropic.embedding import initialization
from isentropic.embedding.training_data import training_rows
from isentropic.methods.neighbor import tsne
from isentropic.methods.neighbor.tsne_stages import student_affinities
from isentropic.neighbors import index, nearest_neighbors, search
from isentropic.objectives import StudentPairs, student_losses
from isentropic.quality import assess
from isentropic.registry import METHODS

IRIS = load_iris().data
RNG = np.random.default_rng(0)
GROUPS = np.repeat(RNG.normal(size=(4, 5)) * 8, 15, axis=0) + RNG.normal(size=(60, 5))
LABELS = np.repeat(np.arange(4), 15)
ALL = {
    "t-sne": TSNE(12.0, max_iter=250),
    "sne": SNE(12.0, max_iter=50),
    "global": GlobalTSNE(12.0, max_iter=50),
    "multiscale-sne": MultiscaleSNE(max_iter=10),
    "multiscale": MultiscaleTSNE(max_iter=10),
}
every = pytest.mark.parametrize("name", ALL)


def clone(name, **parameters):
    return type(ALL[name])(**{**ALL[name].get_params(), **parameters})


def tau(X, Z):
    return kendalltau(pdist(X), pdist(Z)).statistic


# ---- figures -------------------------------------------------------------------------------------


def test_published_tau_of_iris():
    assert tau(IRIS, TSNE(135).fit_transform(IRIS)) == pytest.approx(0.9252, abs=0.005)


@pytest.mark.parametrize(
    ("estimator", "expected"),
    [(GlobalTSNE(global_weight=0.0), 0.887), (MultiscaleSNE(smallest=4.0), 0.837)],
    ids=repr,
)
def test_tau_of_iris(estimator, expected):
    assert tau(IRIS, estimator.fit_transform(IRIS)) == pytest.approx(expected, abs=0.005)


def test_large_distances_count_in_global_t_sne():
    taus = [tau(IRIS, GlobalTSNE(global_weight=weight).fit_transform(IRIS)) for weight in (0.0, 1.0, 5.0)]
    assert taus == sorted(taus)
    assert taus[1] > 0.905


def test_the_divergence_is_no_higher_than_scikit_learns():
    ours = TSNE(12.0, max_iter=2000).fit(GROUPS)
    theirs = ScikitTSNE(perplexity=12.0, method="exact", init="pca", max_iter=2000, random_state=0).fit(
        GROUPS
    )
    assert ours.kl_divergence_ <= 1.02 * theirs.kl_divergence_


@every
def test_neighbours_stay(name):
    Z = clone(name).fit_transform(GROUPS)
    assert trustworthiness(GROUPS, Z, n_neighbors=10) > 0.9
    nearest = nearest_neighbors(Z, Knn(3)).indices
    assert (LABELS[nearest] == LABELS[:, None]).mean() > 0.95


@every
def test_new_rows_go_to_their_group(name):
    fitted = clone(name).fit(GROUPS[::2])
    placed = fitted.transform(GROUPS[1::2])
    nearest = distances_between(placed, fitted.embedding_, "euclidean", 1).argmin(axis=1)
    assert (LABELS[::2][nearest] == LABELS[1::2]).mean() > 0.95
    moved = fitted.transform(GROUPS[::2] + 1e-9)  # no fitted rows, yet where they are
    # In SNE a row's own part of the cost does not see what it is to others, which keeps them in the middle.
    share = 0.2 if isinstance(fitted, SNE | MultiscaleSNE) else 0.05
    width = np.ptp(fitted.embedding_, axis=0).max()
    assert np.median(np.abs(moved - fitted.embedding_).max(axis=1)) < share * width


# ---- fields --------------------------------------------------------------------------------------


@pytest.fixture
def fields(monkeypatch):
    monkeypatch.setattr(student_losses, "EXACT_UP_TO", 10)
    monkeypatch.setattr(student_losses, "_DOUBLE_UP_TO", 10)


def test_fields_are_chosen_by_size_and_dimension(fields):
    assert TSNE(5, max_iter=3).fit(GROUPS).repulsion_ == "fields"
    assert TSNE(5, 1, max_iter=3).fit(GROUPS).repulsion_ == "fields"
    assert TSNE(5, 3, max_iter=3).fit(GROUPS).repulsion_ == "barnes-hut"


@pytest.mark.parametrize("dof", [0.6, 1.0, 3.0])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_maps_by_fields_are_as_good_as_exact_ones(d, dof, monkeypatch):
    X = load_digits().data[:300]
    estimator = TSNE(15, d, dof=dof, max_iter=300, n_jobs=1)
    exact = estimator.fit(X).kl_divergence_
    monkeypatch.setattr(student_losses, "EXACT_UP_TO", 10)
    monkeypatch.setattr(student_losses, "_DOUBLE_UP_TO", 10)
    by_fields = estimator.fit(X)
    assert by_fields.repulsion_ == ("fields" if d < 3 else "barnes-hut")
    assert by_fields.kl_divergence_ == pytest.approx(exact, rel=0.05 if d > 1 else 0.15)
    new = X[:20] + 0.5
    assert_same_bits(np.vstack([by_fields.transform(row[None]) for row in new]), by_fields.transform(new))
    moved = by_fields.transform(X[:100] + 1e-9)
    apart = np.abs(moved - by_fields.embedding_[:100]).max(axis=1)
    assert np.median(apart) < 0.02 * np.ptp(by_fields.embedding_, axis=0).max()


@pytest.mark.parametrize("d", [2, 3])
def test_threads_and_fields(fields, d):
    one, two = (TSNE(10, d, max_iter=50, n_jobs=jobs).fit(GROUPS) for jobs in (1, 2))
    assert_same_bits(one.embedding_, two.embedding_)
    assert_same_bits(one.transform(GROUPS + 0.1), two.transform(GROUPS + 0.1))


# ---- inputs --------------------------------------------------------------------------------------


@every
def test_given_distances_and_lists_are_those_of_the_table(name):
    D = distances_between(GROUPS, GROUPS, "euclidean", 1)
    start = RNG.normal(size=(60, 2))
    expected = clone(name, init=start).fit(GROUPS)
    given = clone(name, init=start, metric="precomputed").fit(D)
    assert_same_bits(given.embedding_, expected.embedding_)
    lists = nearest_neighbors(GROUPS, Knn(59))
    listed = clone(name, init=start, neighbors=lists).fit(GROUPS)
    assert_same_bits(listed.embedding_, expected.embedding_)
    new = GROUPS[:4] + 0.2
    placed = given.transform(distances_between(new, GROUPS, "euclidean", 1))
    assert_same_bits(placed, expected.transform(new))


@every
@pytest.mark.filterwarnings("ignore::isentropic._core.errors.IsentropicWarning")
def test_geodesic_distances_and_three_dimensions(name):
    fitted = clone(name, metric=Geodesic(5), n_components=3).fit(GROUPS)
    assert fitted.embedding_.shape == (60, 3)
    assert np.isfinite(fitted.transform(GROUPS[:3] + 0.1)).all()


@every
def test_duplicates_have_one_place(name):
    X = np.repeat(GROUPS[::3], 3, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IsentropicWarning)
        Z = clone(name).fit_transform(X)
    assert_same_bits(Z[::3], Z[1::3])
    assert len(np.unique(Z, axis=0)) == 20


def test_more_duplicates_than_the_perplexity():
    X = np.vstack([np.zeros((40, 2)), GROUPS[:20, :2] + 3])
    assert np.isfinite(TSNE(5.0, max_iter=100).fit_transform(X)).all()


@pytest.mark.parametrize("name", ["t-sne", "sne", "global"])
def test_a_perplexity_of_all_rows_is_told(name):
    with pytest.warns(PerplexityWarning, match="below 59"):
        assert np.isfinite(clone(name, perplexity=500).fit_transform(GROUPS)).all()


# ---- global t-SNE of many rows -------------------------------------------------------------------


@pytest.fixture
def sampled(monkeypatch):
    """Global t-SNE samples far pairs, and t-SNE's repulsion is a field, for any number of rows."""
    monkeypatch.setattr(tsne, "ALL_PAIRS_UP_TO", 0)
    monkeypatch.setattr(student_losses, "EXACT_UP_TO", 0)


def scores(X, Z):
    """Kept neighbours among 30, Spearman's correlation of distances, and triplets in the right order."""
    i, j, k = np.random.default_rng(0).integers(len(X), size=(3, 100_000))

    def nearer(A):
        return ((A[i] - A[j]) ** 2).sum(axis=1) < ((A[i] - A[k]) ** 2).sum(axis=1)

    found = assess(X, Z, n_neighbors=30)
    triplets = float((nearer(X) == nearer(Z)).mean())
    return np.array([found.at(30)["q_nx"].value, found.measures["spearman_rho"].value, triplets])


def test_sampled_pairs_give_maps_as_good_as_all_pairs(request):
    X = load_digits().data
    exact = scores(X, GlobalTSNE().fit_transform(X))
    request.getfixturevalue("sampled")
    model = GlobalTSNE().fit(X)
    assert model.repulsion_ == "fields"
    assert (scores(X, model.embedding_) > exact - 0.01).all()
    assert (scores(X, TSNE().fit_transform(X)) < exact - 0.01)[1:].all()  # which has no part for them


def test_the_cost_over_sampled_pairs_is_about_that_over_all(sampled):
    """Of a map that was not fitted to them; a fitted one has a cost that is lower by about 0.01."""
    X = load_digits().data[:600]
    model = GlobalTSNE(max_iter=0).fit(X, init=PCA(2).fit_transform(X))
    P = student_affinities(nearest_neighbors(X, Knn(90)), 30.0, 1).toarray()
    D = pdist(X)
    exact = StudentPairs(2 * squareform(P), 600, distances=10 * D / np.sqrt((D**2).mean()), weight=1.0)
    assert model.kl_divergence_ == pytest.approx(exact(model.embedding_)[0], abs=0.02)


def test_global_t_sne_of_many_rows_keeps_the_laws(sampled):
    X, new = GROUPS[:50], GROUPS[50:]
    one, two = (GlobalTSNE(12.0, max_iter=50, n_jobs=n_jobs).fit(X) for n_jobs in (1, 2))
    assert_same_bits(one.embedding_, two.embedding_)
    assert_same_bits(one.transform(new), np.vstack([two.transform(row[None]) for row in new]))
    assert_same_bits(one.transform(X), one.embedding_)
    other = GlobalTSNE(12.0, max_iter=50, random_state=1).fit(X)
    assert not np.array_equal(one.embedding_, other.embedding_)
    again = GlobalTSNE(12.0, max_iter=50).fit(X, init=one)
    assert again.kl_divergence_ < one.kl_divergence_ + 0.05
    with config_context(memory_limit=140_000):  # no square array
        assert np.isfinite(clone("global", perplexity=4.0).fit_transform(GROUPS)).all()


@pytest.mark.parametrize(("name", "value"), [("metric", Geodesic(20)), ("global_weight", 6.0)])
def test_distances_over_a_graph_and_large_weights_take_all_pairs(sampled, name, value):
    assert clone("global").fit(GROUPS).repulsion_ == "fields"
    assert clone("global", **{name: value}).fit(GROUPS).repulsion_ == "exact"


def test_the_line_of_global_t_sne_knows_from_how_many_rows_on_pairs_are_sampled():
    assert METHODS["global-t-sne"].draws_above == tsne.ALL_PAIRS_UP_TO


@every
@pytest.mark.parametrize(
    ("parameter", "value"),
    [("init", "spectre"), ("init", np.full((60, 2), np.nan)), ("max_iter", -1), ("n_components", 0)],
)
def test_what_is_no_parameter(name, parameter, value):
    with pytest.raises(InvalidInputError, match=f"{parameter} must be"):
        clone(name, **{parameter: value}).fit(GROUPS)


@pytest.mark.parametrize(
    ("estimator", "name", "value"),
    [
        (TSNE(dof=0), "dof", 0),
        (TSNE(dof=1e308), "dof", 1e308),
        (TSNE(early_exaggeration=0.5), "early_exaggeration", 0.5),
        (TSNE(exaggeration=-1), "exaggeration", -1),
        (TSNE(perplexity=0), "perplexity", 0),
        (GlobalTSNE(global_weight=-1), "global_weight", -1),
        (MultiscaleTSNE(smallest=0), "smallest", 0),
        (MultiscaleSNE(smallest="few"), "smallest", "few"),
        (SNE(tol=1.0), "tol", 1.0),
    ],
    ids=repr,
)
def test_errors_follow_the_grammar(estimator, name, value):
    with pytest.raises(InvalidInputError) as raised:
        estimator.fit(GROUPS)
    assert_grammar(raised.value, name, value)


@pytest.mark.parametrize("name", ["sne", "global", "multiscale-sne", "multiscale"])
def test_all_pairs_are_refused_where_memory_is_short(name):
    with config_context(memory_limit=100_000), pytest.raises(MemoryBudgetError, match="All pairs of 60 rows"):
        clone(name).fit(GROUPS)


def test_estimates_of_memory_are_those_measured():
    """64 n^2 bytes of all scales, and 80 of an affinity of t-SNE."""
    for name, limit in (("multiscale", 200_000), ("multiscale-sne", 200_000), ("t-sne", 150_000)):
        with config_context(memory_limit=limit), pytest.raises(MemoryBudgetError):
            clone(name).fit(GROUPS)
    with config_context(memory_limit=200_000):
        clone("sne").fit(GROUPS)


def test_progress_and_an_interruption_between_steps():
    seen = []

    def stop(what, done, total):
        seen.append((what, done, total))
        if what == "descent steps" and done == 7:
            raise KeyboardInterrupt

    with config_context(progress=stop), pytest.raises(KeyboardInterrupt):
        TSNE(10.0).fit(GROUPS)
    assert seen[-1] == ("descent steps", 7, 750)


def test_places_in_many_dimensions_are_equal_to_the_bit():
    """Sums over five coordinates run in vectors: in one order, wherever the arrays lie in memory."""
    rng = np.random.default_rng(0)
    new = rng.normal(size=(12, 8))
    fitted = TSNE(10, 5, max_iter=50).fit(rng.normal(size=(160, 8)))
    expected = fitted.transform(new)
    for start in range(12):  # many calls, as one may find its arrays in lucky places
        np.testing.assert_array_equal(fitted.transform(new[start:]), expected[start:])


# ---- rows of single precision --------------------------------------------------------------------


def single(n, m=20):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(n, 4)) @ rng.normal(size=(4, m)) + 0.1 * rng.normal(size=(n, m))).astype(np.float32)
    X[-5:] = X[:5]  # duplicates
    return X


@pytest.mark.parametrize("n", [300, 10_050])  # the exact search, and the approximate one
@pytest.mark.parametrize("method", [TSNE, UMAP])
def test_rows_of_single_precision_are_kept_and_give_the_map_of_the_same_numbers(method, n, tmp_path):
    X, steps = single(n), {"max_iter": 3} if method is TSNE else {"n_epochs": 2}
    init = "pca" if n > 300 or method is TSNE else "spectral"
    model = method(init=init, **steps).fit(X)
    kept, wide = training_rows(model), method(init=init, **steps).fit(X.astype(float))
    assert kept.dtype == np.float32
    assert not np.may_share_memory(kept, X)
    assert_same_bits(model.embedding_, wide.embedding_)
    assert_same_bits(model.transform(X[:20].astype(float)), model.embedding_[:20])
    new = X[:20] + np.float32(0.25)
    assert_same_bits(model.transform(new), wide.transform(new.astype(float)))
    save(model, tmp_path / "model.isentropic")
    again = load(tmp_path / "model.isentropic")
    assert training_rows(again).dtype == np.float32
    assert_same_bits(again.transform(new), model.transform(new))


@pytest.mark.parametrize(("m", "perplexity"), [(5, 30), (5, 60), (40, 60)])  # by boxes; long lists
def test_every_search_takes_rows_of_single_precision(m, perplexity):
    X, new = single(400, m), single(60, m) + np.float32(0.5)
    one, two = (TSNE(perplexity, max_iter=3).fit(table) for table in (X, X.astype(float)))
    assert_same_bits(one.embedding_, two.embedding_)
    assert_same_bits(one.transform(new), two.transform(new))


@pytest.mark.parametrize("method", [TSNE, UMAP])
def test_rows_of_single_precision_are_made_double_in_parts(method, monkeypatch):
    sizes = []

    def noted(X):
        sizes.append(len(X))
        return np.ascontiguousarray(X, np.float64)

    for module in (index, initialization, metrics, search):
        monkeypatch.setattr(module, "as_doubles", noted)
    monkeypatch.setattr(search, "_MEASURED", 3000)
    monkeypatch.setattr(initialization, "_PART", 3000)
    X = np.random.default_rng(0).normal(size=(10_050, 20)).astype(np.float32)
    method(init="pca", **({"max_iter": 2} if method is TSNE else {"n_epochs": 2})).fit(X)
    assert max(sizes) <= 4096
    assert sum(sizes) > len(X)


def test_other_rows_become_double():
    X = single(200)
    y = np.arange(200) % 3
    assert training_rows(TSNE(max_iter=2, metric="cityblock").fit(X)).dtype == float
    assert training_rows(UMAP(n_epochs=2).fit(X, y)).dtype == float
    assert training_rows(SNE(max_iter=2).fit(X)).dtype == float
    assert training_rows(TSNE(max_iter=2).fit(X.astype(np.float16))).dtype == float


def test_a_model_of_another_method_has_no_rows_of_single_precision(tmp_path):
    model = SNE(max_iter=2).fit(single(60))
    data = model._map.query.data
    object.__setattr__(data, "X", data.X.astype(np.float32))
    with pytest.raises(InvalidInputError, match="double precision"):
        save(model, tmp_path / "model.isentropic")


def test_principal_components_in_parts_are_those_of_the_whole(monkeypatch):
    X = single(500).astype(float)
    X[:, 3] = 7e9
    whole = initialization.pca_initialization(X, 5.0, 3)
    monkeypatch.setattr(initialization, "_PART", 64)
    np.testing.assert_allclose(initialization.pca_initialization(X, 5.0, 3), whole, atol=1e-10)
