"""fit(X, init=previous): rows matched by name or by their values, others amid their neighbours."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

import isentropic
from isentropic import (
    PCA,
    SDD,
    SNE,
    TSNE,
    UMAP,
    GlobalTSNE,
    InvalidInputError,
    Isomap,
    MetricMDS,
    NonmetricMDS,
)
from isentropic.embedding.initialization import WarmStart, complete_coordinates, previous_embedding
from isentropic.quality import aligned_distance

DIGITS = isentropic.datasets.load("builtin:digits").X[:260]
NAMES = np.array([f"r{i:03}" for i in range(260)])
BEFORE = pd.DataFrame(DIGITS[:200], index=NAMES[:200])
# a month later: 40 rows are gone, 60 are new, the others have changed a little, in another order
AFTER = pd.DataFrame(DIGITS[40:] + np.random.default_rng(1).normal(size=(220, 64)) * 0.3, index=NAMES[40:])
AFTER = AFTER.sample(frac=1, random_state=3)
MAKERS = {
    "t-sne": lambda **given: TSNE(12, max_iter=400, **given),
    "umap": lambda **given: UMAP(14, **given),
    "sdd": lambda **given: SDD(3, **given),
    "metric-mds": MetricMDS,
    "nonmetric-mds": lambda **given: NonmetricMDS(max_iter=40, **given),
    "sne": lambda **given: SNE(12, max_iter=10, **given),
    "global-t-sne": lambda **given: GlobalTSNE(12, max_iter=10, **given),
}
REFINING = {"t-sne", "umap", "sdd", "metric-mds"}


@pytest.fixture(scope="module")
def earlier():
    """Maps of last month, from starts that are no matter of the data."""
    return {name: make(init="random", random_state=5).fit(BEFORE) for name, make in MAKERS.items()}


def naive_places(model, X, known, places):
    """Each row at its place, or at the mean of its five nearest rows with one, by 1 / distance."""
    D, out = cdist(X, X), places.copy()
    there = np.flatnonzero(known)
    for i in np.flatnonzero(~known):
        near = there[np.argsort(D[i, there], kind="stable")[:5]]
        weights = 1 / (D[i, near] / D[i, near].max() + 1e-9)
        out[i] = weights @ places[near] / weights.sum()
    return out


@pytest.mark.parametrize("name", ["t-sne", "umap", "metric-mds"])
def test_next_months_map_resembles_the_last_one(name, earlier):
    previous = earlier[name]
    seeds = (6, 7, 8) if name == "umap" else (6,)  # costs of its maps differ by a few percent with the seed
    warms = [MAKERS[name](random_state=seed).fit(AFTER, init=previous) for seed in seeds]
    freshes = [MAKERS[name](init="random", random_state=seed).fit(AFTER) for seed in seeds]
    warm, fresh = warms[0], freshes[0]
    moved = aligned_distance(previous, warm)
    assert len(moved.rows) == 160
    assert moved.median < 0.5 * aligned_distance(previous, fresh).median
    assert moved.correlation > 0.97
    if name == "t-sne":
        assert warm.kl_divergence_ < 1.03 * fresh.kl_divergence_
    else:
        assert sum(one.cost_ for one in warms) < 1.05 * sum(one.cost_ for one in freshes)


@pytest.mark.parametrize("name", MAKERS)
def test_a_model_a_frame_and_an_array_start_alike(name, earlier):
    previous = earlier[name]
    by_model = MAKERS[name]().fit(AFTER, init=previous)
    frame = pd.DataFrame(previous.embedding_, index=NAMES[:200]).sample(frac=1, random_state=0)
    by_frame = MAKERS[name]().fit(AFTER, init=frame)
    assert_array_equal(by_frame.embedding_, by_model.embedding_)
    known = np.isin(AFTER.index, NAMES[:200])
    places = np.full((220, 2), np.nan)
    places[known] = [previous.embedding_[np.flatnonzero(NAMES == row)[0]] for row in AFTER.index[known]]
    array = naive_places(previous, AFTER.to_numpy(), known, places)
    by_array = MAKERS[name]().fit(AFTER, init=array)
    assert_allclose(aligned_distance(by_model, by_array).worst, 0, atol=0.03)  # steps enlarge last digits
    assert_array_equal(MAKERS[name]().fit_transform(AFTER, init=array), by_array.embedding_)


def test_places_of_rows_without_a_match_are_those_of_the_plain_formula():
    rng = np.random.default_rng(0)
    X, places = DIGITS[:50], rng.normal(size=(50, 2))
    places[rng.permutation(50)[:20]] = np.nan
    known = np.isfinite(places[:, 0])
    expected = naive_places(MetricMDS(), X, known, places)
    warm = WarmStart(places)
    assert_allclose(complete_coordinates(warm, X, "euclidean", None), expected, rtol=1e-9)
    assert_allclose(complete_coordinates(warm, cdist(X, X), "precomputed", None), expected, rtol=1e-9)
    twin = np.concatenate([X, X[known][:1]])  # equal to a row that has a place: takes it
    warm = WarmStart(np.concatenate([places, [[np.nan] * 2]]))
    put = complete_coordinates(warm, twin, "euclidean", None)[-1]
    assert_allclose(put, places[known][0], atol=1e-7)


def test_without_names_rows_are_found_by_their_values(earlier):
    plain = MAKERS["t-sne"]().fit(DIGITS[:200])
    places = previous_embedding(DIGITS[:210], plain, 2).places
    assert_array_equal(places[:200], plain.embedding_)
    assert_array_equal(places[200:], plain.transform(DIGITS[200:210]))
    unmoved = MetricMDS(max_iter=0).fit(DIGITS[:200], init=(held := MetricMDS().fit(DIGITS[:200][::-1])))
    assert_allclose(unmoved.embedding_, held.embedding_[::-1], atol=1e-9)


def test_maps_of_other_methods_may_be_taken(earlier):
    pca = PCA().fit(AFTER.to_numpy())
    for name in ("t-sne", "umap", "sdd"):
        warm = MAKERS[name]().fit(AFTER.to_numpy(), init=pca)
        assert aligned_distance(pca.embedding_, warm.embedding_).correlation > 0.7
    # whatever the size of that map is
    for factor in (1e-9, 1e9):
        huge = MAKERS["t-sne"]().fit(AFTER, init=factor * pca.embedding_)
        assert huge.kl_divergence_ < 1.1 * MAKERS["t-sne"]().fit(AFTER).kl_divergence_


@pytest.mark.parametrize("name", sorted(REFINING))
def test_steps_from_a_map_are_as_many_as_asked_for(name, earlier):
    model = MAKERS[name]().fit(BEFORE)
    start = model.embedding_.copy()
    model.fit(BEFORE, init=WarmStart(start, 0))
    assert model.n_iter_ == 0
    assert aligned_distance(start, model.embedding_).worst < 1e-5
    model.fit(BEFORE, init=WarmStart(start + np.random.default_rng(0).normal(size=start.shape), 7))
    assert model.n_iter_ == 7


def test_names_stay_with_the_model_and_go_with_the_next_fit(tmp_path):
    model = TSNE(5, max_iter=10).fit(BEFORE[:50])
    isentropic.save(model, tmp_path / "model.isentropic")
    loaded = isentropic.load(tmp_path / "model.isentropic")
    assert_array_equal(loaded.training_row_names, NAMES[:50])
    model.fit(BEFORE[:50].to_numpy())
    assert model.training_row_names is None
    with pytest.raises(InvalidInputError):
        loaded.fit(BEFORE[:60], init=np.zeros((3, 2)))
    assert_array_equal(loaded.training_row_names, NAMES[:50])  # a fit that fails leaves what was there
    counted = TSNE(5, max_iter=10).fit(BEFORE[:50].reset_index(drop=True))
    assert counted.training_row_names is None


def test_default_indices_match_by_number():
    X = pd.DataFrame(DIGITS[:60])
    half = pd.DataFrame(MetricMDS().fit(DIGITS[:60]).embedding_)[30:]
    assert_allclose(MetricMDS(max_iter=0).fit(X, init=half).embedding_[30:], half, atol=1e-9)


@pytest.mark.parametrize(
    ("X", "init", "said"),
    [
        (BEFORE, "last month", "init must be a fitted estimator, a DataFrame"),
        (BEFORE, TSNE(), "init must be a fitted estimator"),
        (BEFORE, np.zeros((3, 2)), "a map of the 200 rows of X, got '3 rows'"),
        (BEFORE, np.zeros((200, 3)), "a map of 2 coordinates, as n_components says, got 'shape (200, 3)'"),
        (BEFORE, np.zeros((200, 2)), "a start that tells rows apart"),
        (BEFORE, np.full((200, 2), np.inf), "finite everywhere"),
        (BEFORE, pd.DataFrame(np.eye(2), index=["a", "b"]), "a map that has rows of X, got 'none of 200'"),
        (BEFORE, pd.DataFrame(np.eye(2), index=["a", "a"]), "row names must be different for every row"),
        (BEFORE.to_numpy(), pd.DataFrame(np.eye(2), index=["a", "b"]), "X must be a table with row names"),
        (BEFORE[:150], pd.DataFrame({"x": ["a"], "y": ["b"]}), "init must be a fitted estimator"),
    ],
)
@pytest.mark.parametrize("name", ["t-sne", "umap", "sdd"])
def test_what_is_no_earlier_map_is_refused(name, X, init, said):
    with pytest.raises(InvalidInputError) as refused:
        MAKERS[name]().fit(X, init=init)
    assert said in str(refused.value)


def test_an_isomap_may_come_before(earlier):
    isomap = Isomap().fit(BEFORE.to_numpy())
    warm = MAKERS["umap"]().fit(BEFORE.to_numpy(), init=isomap)
    assert aligned_distance(isomap, warm).correlation > 0.7


@pytest.mark.parametrize("name", ["t-sne", "umap", "sdd"])
def test_threads_change_nothing(name, earlier):
    one, two = (MAKERS[name](n_jobs=n_jobs).fit(AFTER, init=earlier[name]).embedding_ for n_jobs in (1, 2))
    assert_array_equal(one, two)


def test_a_map_may_go_on_from_itself():
    """Its rows are matched by the names of the fit before, though those of the next take their place."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 4)), index=[f"row {i}" for i in range(60)])
    shuffled = X.sample(frac=1.0, random_state=1)[10:]
    before, model = isentropic.MetricMDS().fit(X), isentropic.MetricMDS().fit(X)
    other = isentropic.MetricMDS().fit(shuffled, init=before)
    model.fit(shuffled, init=model)
    assert_array_equal(model.embedding_, other.embedding_)
