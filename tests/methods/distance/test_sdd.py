"""SDD and its relatives: published figures, laws, placement of new rows, awkward and bad input."""

import os
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist, pdist
from scipy.stats import kendalltau
from sklearn import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from isentropic import SDD, Geodesic, Momentum, MultiSDD, ParameterFreeSDD, Pnn, config_context, make
from isentropic._core.errors import DisconnectedGraphWarning, InvalidInputError, MemoryBudgetError
from isentropic.embedding.row_distances import Distances, distance_tau
from isentropic.methods.distance.same_degree import Trial, best_of, search_degrees

ATTACKS = int(os.environ.get("ISENTROPIC_ATTACKS", "1"))
IRIS, CANCER, WINE = load_iris().data, load_breast_cancer().data, load_wine().data
DIGITS = load_digits().data
FEW, NEW = DIGITS[:300], DIGITS[300:320]

VARIANTS = {
    "one degree": SDD(3),
    "a real degree": SDD(2.5, scale=1.5),
    "parameter-free": ParameterFreeSDD(),
    "three dimensions": ParameterFreeSDD(3),
    "two degrees": MultiSDD((1, 2)),
    "drawn pairs": ParameterFreeSDD(pairs=60),
    "manhattan": ParameterFreeSDD(metric="manhattan"),
    "drawn manhattan": ParameterFreeSDD(metric="manhattan", pairs=60),
    "geodesics": ParameterFreeSDD(metric=Geodesic(10)),
}


def width(Z):
    return np.ptp(Z, axis=0).max()


def quiet(estimator, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        return estimator.fit(X)


def tau(X, Z):
    return kendalltau(pdist(X), pdist(Z)).statistic


@pytest.fixture(scope="module", params=VARIANTS)
def fitted(request):
    return quiet(clone(VARIANTS[request.param]), FEW)


def four_clusters():
    """The roll of four clusters, 400 points each, that the published figures fit."""
    rng = np.random.default_rng(0)
    centres = [(a, b) for a in (7.5, 12.5) for b in (7.5, 12.5)]
    x, y = np.concatenate([centre + rng.normal(size=(400, 2)) for centre in centres]).T
    return np.column_stack([x * np.cos(x), y, x * np.sin(x)])


# ---- published figures -------------------------------------------------------------------------


@pytest.mark.parametrize(("X", "published"), [(IRIS, 0.9673), (CANCER, 0.9980)], ids=["iris", "cancer"])
def test_the_published_tau_is_reached(X, published):
    sdd = ParameterFreeSDD().fit(X)
    assert sdd.kendall_tau_ >= published
    assert_allclose(sdd.kendall_tau_, tau(X, sdd.embedding_), atol=1e-5)
    assert sdd.kendall_tau_interval_ is None


def test_a_roll_of_clusters_is_kept_at_least_as_well_as_by_pca():
    X = four_clusters()
    assert ParameterFreeSDD().fit(X).kendall_tau_ >= tau(X, make("pca").fit_transform(X))


def test_the_published_descent_ends_near_the_same_map():
    """Momentum and gains from the small random cloud: the same cost in many more steps."""
    published = SDD(1, scale=2.0, init="random", optimizer=Momentum(1500, 150.0), random_state=0).fit(IRIS)
    ours = ParameterFreeSDD().fit(IRIS)
    assert published.n_iter_ > 20 * ours.n_iter_
    assert ours.cost_ <= published.cost_ * 1.01


# ---- degrees -----------------------------------------------------------------------------------


@pytest.mark.parametrize("X", [IRIS, WINE, FEW, CANCER], ids=["iris", "wine", "digits", "cancer"])
def test_the_search_agrees_with_trying_every_degree(X):
    search = SDD().fit(X)
    every = SDD(range(1, 16)).fit(X)
    assert len(search.scores_) < len(every.scores_) == 15
    assert_allclose(search.kendall_tau_, every.kendall_tau_, atol=1e-4)
    assert search.scores_[search.degree_] == max(search.scores_.values())


def tried_around(peak, peak_of_sample):
    """Degrees that a search tries, by where it starts each from, and the best, for a tau with one peak."""
    starts = {}

    def fit(degrees, near):
        starts[degrees[0]] = None if near is None else near.degrees[0]
        return Trial(degrees, None, -((degrees[0] - peak) ** 2))

    def sample(degrees, near):
        return Trial(degrees, None, -((degrees[0] - peak_of_sample) ** 2))

    return starts, best_of(search_degrees(fit, sample=sample)).degrees[0]


def test_a_sample_says_where_the_search_begins():
    assert tried_around(6, 4.9) == ({5: None, 3: 5, 7: 5, 4: 5, 6: 5}, 6)


@pytest.mark.parametrize("peak", range(1, 16))
def test_a_wrong_sample_costs_trials_and_not_the_best_degree(peak):
    starts, best = tried_around(peak, 15)
    assert best == peak
    assert all(starts[degree] is None for degree in (1, 5, 9, 13, 15) if degree in starts)


def test_the_search_of_many_rows_begins_on_a_sample():
    with_sample, every = SDD(max_iter=5).fit(DIGITS[:600]), SDD(range(1, 16), max_iter=5).fit(DIGITS[:600])
    assert len(with_sample.scores_) < 9
    for degree in {1, 5, 9, 13, 15} & set(with_sample.scores_):
        assert with_sample.scores_[degree] == every.scores_[degree]


def test_several_degrees_are_kept_where_their_tau_is_the_highest():
    X = np.random.default_rng(0).normal(size=(12, 3))
    single, multi = SDD().fit(X), MultiSDD().fit(X)
    assert multi.degree_ == single.degree_
    assert multi.degree_ in multi.degrees_
    assert (multi.selected_, len(multi.degrees_)) in (("multi", 2), ("multi", 3))
    assert multi.kendall_tau_ == max(multi.scores_.values()) > single.kendall_tau_


def multi_sdd_cases():
    """Tables and parameters: small and large, with ties, of drawn pairs, by any start and metric."""
    for seed in range(8 * ATTACKS):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(rng.integers(3, 40), rng.integers(1, 6)))
        X = np.round(X) if seed % 4 == 3 else X
        options = {"init": ("pca", "random")[seed % 2], "metric": ("euclidean", "manhattan")[seed // 2 % 2]}
        yield X, {**options, "max_iter": 10, "random_state": seed}
    rows = np.random.default_rng(5).normal(size=(760, 3))  # of which a search reads some pairs only
    yield rows, {"max_iter": 2}
    yield rows[:90], {"max_iter": 10, "pairs": 20, "random_state": 1}


def test_multi_sdd_never_has_a_lower_tau_than_sdd():
    selected = []
    for X, options in multi_sdd_cases():
        single, multi = SDD(**options).fit(X), MultiSDD(**options).fit(X)
        assert multi.kendall_tau_ >= single.kendall_tau_ or np.isnan(single.kendall_tau_)
        if multi.selected_ == "single":
            assert multi.degrees_ == (single.degree_,)
            assert_array_equal(multi.embedding_, single.embedding_)
            assert_array_equal(multi.transform(X[:2] + 0.1), single.transform(X[:2] + 0.1))
        selected.append(multi.selected_)
    assert {"single", "multi"} == set(selected)


@pytest.mark.parametrize("constant", [0.1, 1e20, 1e60, 1e140])
def test_a_constant_column_changes_nothing_however_large(constant):
    rows = np.random.default_rng(0).normal(size=(60, 2))
    wide = np.column_stack([rows[:, 0], np.full(60, constant), rows[:, 1]])
    assert_allclose(SDD(1).fit(wide).embedding_, SDD(1).fit(rows).embedding_, atol=1e-6)


def test_parameter_free_is_degree_one_on_twice_the_range():
    assert_array_equal(SDD(1, scale=2.0).fit(FEW).embedding_, ParameterFreeSDD().fit(FEW).embedding_)


def test_a_degree_around_the_best_one_is_left_out_where_it_would_be_zero():
    multi = MultiSDD(max_iter=0).fit(IRIS[:20])  # every degree has the map of the start: the first is best
    assert multi.degree_ == 1
    assert set(multi.scores_) >= {"1", "1, 2"}
    assert not any(key.startswith("0") for key in multi.scores_)
    assert (multi.degrees_, multi.selected_) == ((1,), "single")


# ---- laws --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["one degree", "parameter-free", "two degrees"])
def test_rigid_motion_changes_nothing(name):
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(64, 64)))[0]
    Z = clone(VARIANTS[name]).fit(FEW).embedding_
    moved = clone(VARIANTS[name]).fit(FEW @ rotation + 3.0).embedding_
    assert_allclose(cdist(moved, moved), cdist(Z, Z), atol=0.02 * width(Z))


@pytest.mark.parametrize("name", ["one degree", "parameter-free"])
def test_row_order_is_only_row_order(name):
    order = np.random.default_rng(0).permutation(len(FEW))
    Z = clone(VARIANTS[name]).fit(FEW).embedding_
    shuffled = clone(VARIANTS[name]).fit(FEW[order]).embedding_
    assert_allclose(cdist(shuffled, shuffled), cdist(Z[order], Z[order]), atol=0.02 * width(Z))


@pytest.mark.parametrize("factor", [1e-12, 1e12])
def test_the_map_is_in_the_units_of_the_data(factor):
    sdd, scaled = ParameterFreeSDD().fit(FEW), ParameterFreeSDD().fit(factor * FEW)
    assert_allclose(scaled.embedding_ / factor, sdd.embedding_, atol=0.02 * width(sdd.embedding_))
    assert_allclose(scaled.kendall_tau_, sdd.kendall_tau_, atol=1e-3)


def test_a_plane_in_space_is_mapped_without_loss():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2)) @ rng.normal(size=(2, 6))
    sdd = ParameterFreeSDD().fit(X)
    assert sdd.cost_ < 1e-12
    assert_allclose(pdist(sdd.embedding_), pdist(X), atol=1e-6 * pdist(X).max())


def test_more_steps_cost_less():
    costs = [ParameterFreeSDD(max_iter=steps).fit(FEW).cost_ for steps in (0, 5, 100)]
    assert costs[0] > costs[1] > costs[2] > 0


# ---- drawn pairs -------------------------------------------------------------------------------


def test_drawn_pairs_come_near_all_pairs():
    every = ParameterFreeSDD(pairs="all").fit(DIGITS)
    drawn = ParameterFreeSDD(pairs=128).fit(DIGITS)
    assert_allclose(tau(DIGITS, drawn.embedding_), every.kendall_tau_, atol=0.005)
    assert drawn.kendall_tau_interval_ is None  # so few rows are compared whole
    given = Distances.of(DIGITS, "euclidean", random_state=0, n_jobs=None)
    estimate = distance_tau(given, None, drawn.embedding_, seed=0, quick=True)
    low, high = estimate.interval
    assert low - 0.005 < drawn.kendall_tau_ < high + 0.005
    assert high - low < 0.03


def test_as_many_partners_as_rows_is_all_pairs():
    assert_array_equal(
        ParameterFreeSDD(pairs=299).fit(FEW).embedding_, ParameterFreeSDD(pairs="all").fit(FEW).embedding_
    )


def test_the_seed_draws_the_pairs():
    one, same = (ParameterFreeSDD(pairs=40, random_state=1).fit(FEW).embedding_ for _ in range(2))
    other = ParameterFreeSDD(pairs=40, random_state=2).fit(FEW).embedding_
    assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_memory_is_asked_for_before_it_is_taken():
    with config_context(memory_limit=10_000), pytest.raises(MemoryBudgetError, match="Draw pairs"):
        ParameterFreeSDD(pairs="all").fit(FEW)


# ---- the same row gets the same coordinates ----------------------------------------------------


def test_the_cost_alone_leads_a_fitted_row_to_its_place(fitted):
    """Without looking rows up: nearly all settle within a hundredth of the map's width of their place."""
    placed = fitted._map.transform(FEW, None)
    apart = np.linalg.norm(placed - fitted.embedding_, axis=1) / width(fitted.embedding_)
    drawn = isinstance(fitted.pairs, int)
    assert np.quantile(apart, 0.5 if drawn else 0.95) < 0.01 * (5 if drawn else 1)


def test_new_rows_keep_the_order_of_distances(fitted):
    """Distances of new rows to fitted ones follow those in the data about as well as fitted ones do."""
    if isinstance(fitted.metric, Geodesic):
        return
    given = cdist(NEW, FEW, "cityblock" if fitted.metric == "manhattan" else "euclidean")
    mapped = cdist(fitted.transform(NEW), fitted.embedding_)
    assert kendalltau(given.ravel(), mapped.ravel()).statistic > fitted.kendall_tau_ - 0.08


def test_what_is_done_to_the_table_later_does_not_move_new_rows():
    X = FEW.copy()
    sdd = ParameterFreeSDD().fit(X)
    Z = sdd.transform(NEW)
    X[:] = 0.0
    sdd.set_params(metric="precomputed")
    assert_array_equal(sdd.transform(NEW), Z)


@pytest.mark.parametrize("pairs", ["all", 60])
def test_precomputed_distances_give_the_same_places(pairs):
    D = cdist(FEW, FEW)
    given = ParameterFreeSDD(metric="precomputed", pairs=pairs).fit(D)
    direct = ParameterFreeSDD(pairs=pairs, init=given.embedding_).fit(FEW)
    assert_allclose(given.kendall_tau_, direct.kendall_tau_, atol=0.01)
    assert_array_equal(given.transform(D), given.embedding_)
    assert np.isfinite(given.transform(cdist(NEW, FEW))).all()


# ---- awkward and bad input ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ["one degree", "parameter-free", "two degrees"])
class TestAwkwardTables:
    def test_two_rows(self, name):
        sdd = clone(VARIANTS[name]).fit([[0.0, 0.0], [3.0, 4.0]])
        assert_allclose(pdist(sdd.embedding_), 5.0, rtol=1e-6)
        assert np.isnan(sdd.kendall_tau_)

    def test_all_rows_equal(self, name):
        sdd = clone(VARIANTS[name]).fit(np.ones((30, 3)))
        assert_array_equal(sdd.embedding_, np.zeros((30, 2)))
        assert sdd.cost_ == 0
        assert np.isnan(sdd.kendall_tau_)
        assert_array_equal(sdd.transform([[5.0, 0.0, 1.0]]), np.zeros((1, 2)))

    def test_one_feature(self, name):
        X = np.random.default_rng(0).normal(size=(40, 1))
        sdd = clone(VARIANTS[name]).fit(X)
        assert_allclose(pdist(sdd.embedding_), pdist(X), atol=1e-6 * np.ptp(X))

    @pytest.mark.parametrize("factor", [1e-12, 1e12, 1e100])
    def test_features_of_any_size(self, name, factor):
        sdd = clone(VARIANTS[name]).fit(factor * FEW[:60])
        assert np.isfinite(sdd.embedding_).all()
        assert np.isfinite(sdd.transform(factor * NEW)).all()
        assert sdd.kendall_tau_ > 0.5


def test_rows_far_from_all_others_stay_finite():
    sdd = ParameterFreeSDD().fit(FEW)
    assert np.isfinite(sdd.transform(1e6 * NEW)).all()


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (SDD("best"), "degree must be a positive number, a sequence of them or 'auto', got 'best'"),
        (SDD(0), "degree must be a positive number.*got 0"),
        (SDD([2, -1]), "degree must be a positive number.*got -1"),
        (SDD([]), "degree must be at least one degree"),
        (SDD(scale=0), "scale must be a positive number, got 0"),
        (MultiSDD(3), "degrees must be a collection of at least two different positive numbers"),
        (MultiSDD((2, 2)), "degrees must be a collection of at least two different positive numbers"),
        (ParameterFreeSDD(0), "n_components must be a positive integer, got 0"),
        (ParameterFreeSDD(init="pac"), "init must be one of pca, random, got 'pac'. Did you mean 'pca'"),
        (ParameterFreeSDD(init=np.zeros((3, 2))), r"init must be .* of shape \(150, 2\), got \(3, 2\)"),
        (ParameterFreeSDD(init=None), "init must be 'pca', 'random' or finite coordinates.*got None"),
        (ParameterFreeSDD(init=np.full((150, 2), np.nan)), "init must be .*got 'infinite or missing"),
        (ParameterFreeSDD(init=1e200 * IRIS[:, :2]), "init must be as wide as the data"),
        (SDD(1, optimizer=Momentum(-1)), "optimizer must be None or Momentum with steps of at least 0"),
        (
            SDD(1, optimizer=Momentum(9, learning_rate="a")),
            "optimizer must be None or Momentum with .* a positive rate",
        ),
        (ParameterFreeSDD(pairs="some"), "pairs must be one of auto, all, got 'some'"),
        (ParameterFreeSDD(pairs=1), "pairs must be 'auto', 'all' or a number of partners"),
        (ParameterFreeSDD(pairs=20, metric=Geodesic(5)), "pairs must be 'all' or 'auto' for geodesic"),
        (ParameterFreeSDD(metric=Geodesic(Pnn(5))), "neighbors must be Knn, Radius or Percentile"),
        (ParameterFreeSDD(metric=Geodesic(5, on_disconnected="largest")), "on_disconnected must be one of"),
        (ParameterFreeSDD(metric="euclidian"), "metric must be one of .*Did you mean 'euclidean'"),
        (ParameterFreeSDD(max_iter=-1), "max_iter must be a number of steps, got -1"),
        (ParameterFreeSDD(max_iter=Momentum()), "max_iter must be a number of steps.*Give it as optimizer"),
        (SDD(1, optimizer="momentum"), "optimizer must be None or Momentum with"),
        (ParameterFreeSDD(tol=2.0), "tol must be a number from 0 to below 1, got 2.0"),
        (ParameterFreeSDD(n_jobs=0), "n_jobs must be a non-zero integer or None, got 0"),
    ],
)
def test_bad_parameters_are_refused(estimator, message):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        with pytest.raises(InvalidInputError, match=message):
            estimator.fit(IRIS)


def test_a_degree_for_which_every_weight_vanishes_is_refused(rng):
    with pytest.raises(InvalidInputError, match=r"cost of a map must be finite.*Take a lower degree"):
        SDD(1e6).fit(rng.normal(size=(30, 4)))


@pytest.mark.parametrize("estimator", [ParameterFreeSDD(), SDD(1), ParameterFreeSDD(pairs=20)], ids=repr)
def test_a_start_at_random_is_left(estimator):
    fitted = clone(estimator).set_params(init="random").fit(IRIS)
    assert fitted.n_iter_ > 10
    assert fitted.kendall_tau_ > 0.9


@pytest.mark.parametrize("pairs", ["all", 4])
def test_equal_rows_get_one_place(pairs):
    X = np.repeat(np.random.default_rng(5).normal(size=(12, 3)), 5, axis=0)
    fitted = ParameterFreeSDD(pairs=pairs).fit(X)
    assert_array_equal(fitted.embedding_, np.repeat(fitted.embedding_[::5], 5, axis=0))
    assert_array_equal(fitted.transform(X), fitted.embedding_)


def test_a_start_in_one_place_is_refused():
    with pytest.raises(ValueError, match="init must be a start that tells rows apart"):
        ParameterFreeSDD(init=np.ones((20, 2))).fit(np.random.default_rng(0).normal(size=(20, 3)))
