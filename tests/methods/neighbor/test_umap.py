"""UMAP: quality beside umap-learn's, bits, lists, starts, bad input."""

import hashlib
import pickle
import tracemalloc
from functools import reduce

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris
from sklearn.manifold import trustworthiness
from sklearn.metrics import adjusted_rand_score

import processes
from assertions import assert_same_bits
from isentropic import UMAP, Geodesic, Knn, SupervisedUMAP, append_rows, load, save
from isentropic._core.errors import (
    DisconnectedGraphWarning,
    InvalidInputError,
    MemoryBudgetError,
    NeighborsClippedWarning,
)
from isentropic._core.runtime import config_context
from isentropic._core.state import StateError, require_state
from isentropic.affinities import fuzzy_graph
from isentropic.neighbors import nearest_neighbors
from isentropic.quality import knn_accuracy

DIGITS = load_digits().data[:500]


@pytest.fixture(scope="module")
def fitted():
    return UMAP(random_state=0).fit(DIGITS)


def test_neighbours_are_kept_as_well_as_by_umap_learn(fitted):
    # umap-learn 0.5.12 on these rows, seeds 0 to 4: 0.986 to 0.988; these: 0.985 to 0.987
    assert trustworthiness(DIGITS, fitted.embedding_, n_neighbors=15) > 0.98


def test_the_cost_is_the_mean_cross_entropy_of_the_edges():
    model = UMAP(5, spread=2.0, n_epochs=20).fit(DIGITS[:60])
    W = fuzzy_graph(nearest_neighbors(DIGITS[:60], Knn(5))).toarray()
    terms = []
    for i, j in np.argwhere(W):
        r2 = ((model.embedding_[i] - model.embedding_[j]) ** 2).sum() + 4 * 1e-3
        w, q = W[i, j], 1 / (1 + model.a_ * r2**model.b_)
        terms.append(w * np.log(w / q) + ((1 - w) * np.log((1 - w) / (1 - q)) if w < 1 else 0))
    assert model.cost_ == pytest.approx(np.mean(terms), rel=1e-9)
    assert model.cost_ < UMAP(5, spread=2.0, n_epochs=0).fit(DIGITS[:60]).cost_


def test_the_same_seed_has_the_same_bits_in_another_process(fitted):
    script = (
        "from sklearn.datasets import load_digits; from isentropic import UMAP; import hashlib\n"
        "Z = UMAP(random_state=0, n_jobs=1).fit(load_digits().data[:500]).embedding_\n"
        "print(hashlib.sha256(Z.tobytes()).hexdigest())"
    )
    done = processes.run(script)
    assert done.stdout.split() == [hashlib.sha256(fitted.embedding_.tobytes()).hexdigest()], done.stderr


def test_another_seed_gives_another_map(fitted):
    other = UMAP(random_state=1, n_epochs=10).fit(DIGITS)
    again = UMAP(random_state=1, n_epochs=10).fit(DIGITS)
    assert_same_bits(again.embedding_, other.embedding_)
    assert np.abs(other.embedding_ - UMAP(random_state=2, n_epochs=10).fit(DIGITS).embedding_).max() > 0.1


def test_given_lists_and_given_distances_are_those_that_are_found():
    found = nearest_neighbors(DIGITS, Knn(20))
    plain = UMAP(n_epochs=5).fit(DIGITS)
    assert_same_bits(UMAP(n_epochs=5, neighbors=found).fit(DIGITS).embedding_, plain.embedding_)
    D = np.sqrt(((DIGITS[:, None] - DIGITS) ** 2).sum(axis=2))  # whole numbers: exact up to the root
    given = UMAP(n_epochs=5, metric="precomputed").fit(D)
    assert_same_bits(given.embedding_, plain.embedding_)


def test_a_new_row_lies_near_its_neighbours(fitted):
    new = load_digits().data[500:600]
    y = load_digits().target
    placed = fitted.transform(new)
    nearest = np.linalg.norm(placed[:, None] - fitted.embedding_, axis=2).argmin(axis=1)
    assert (y[:500][nearest] == y[500:600]).mean() > 0.85


def test_a_row_placed_as_new_lies_where_it_lay(fitted):
    """A tiny change makes a fitted row a new one: it stays within a small part of the width."""
    moved = fitted.transform(DIGITS + 1e-9)
    away = np.linalg.norm(moved - fitted.embedding_, axis=1) / np.ptp(fitted.embedding_, axis=0).max()
    assert np.median(away) < 0.02


@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("init", ["spectral", "pca", "random"])
def test_other_dimensions_and_starts(d, init):
    Z = UMAP(8, d, n_epochs=20, init=init).fit(DIGITS[:120]).embedding_
    assert Z.shape == (120, d)
    assert np.isfinite(Z).all()
    assert np.ptp(Z, axis=0).min() > 1


def test_the_unit_of_the_map_is_its_spread(fitted):
    wide = UMAP(random_state=0, spread=4.0, min_dist=0.4).fit(DIGITS)
    np.testing.assert_allclose(wide.embedding_, 4 * fitted.embedding_, atol=1e-3 * np.ptp(wide.embedding_))
    assert (wide.a_, wide.b_) != (fitted.a_, fitted.b_)


@pytest.mark.parametrize("spread", [1e-50, 1e50])
@pytest.mark.parametrize("close", [0, 1])
def test_the_least_and_the_largest_unit(spread, close):
    model = UMAP(5, spread=spread, min_dist=close * spread, n_epochs=10, negative_sample_rate=1000)
    Z = model.fit(DIGITS[:40]).embedding_ / spread
    assert 1 < np.ptp(Z) < 1e3
    assert np.isfinite(model.transform(DIGITS[40:45])).all()
    assert np.isfinite(model.cost_)


def test_clusters_without_an_edge_between_them(rng):
    parts = np.repeat([0, 1, 2], [40, 30, 3])
    X = rng.normal(size=(73, 4)) + 1e3 * parts[:, None]
    with pytest.warns(DisconnectedGraphWarning, match=r"in \d+ parts of .*: .* means nothing. Take more"):
        Z = UMAP(2, n_epochs=100).fit(X).embedding_
    near = np.linalg.norm(Z[:, None] - Z, axis=2) + np.diag(np.full(73, np.inf))
    assert (parts[near.argmin(axis=1)] == parts).mean() > 0.9


def test_geodesic_distances(roll):
    model = UMAP(8, metric=Geodesic(8), n_epochs=30).fit(roll[:200])
    assert np.isfinite(model.transform(roll[200:210])).all()


def test_more_neighbours_than_rows():
    with pytest.warns(NeighborsClippedWarning, match="at most 9"):
        assert UMAP(n_epochs=5).fit(DIGITS[:10]).transform(DIGITS[10:12]).shape == (2, 2)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors must be"),
        ({"min_dist": 2.0}, "min_dist must be at most the spread 1, got 2.0"),
        ({"spread": 0}, "spread must be a positive number"),
        ({"negative_sample_rate": -1}, "negative_sample_rate must be a number of at least 0"),
        ({"spread": 1e-200, "min_dist": 0}, "must be a positive number from 1e-50 to 1e50, got 1e-200"),
        ({"spread": 1e200}, "spread must be a positive number from 1e-50 to 1e50"),
        ({"negative_sample_rate": 1e300}, "_rate must be a number of at least 0 and at most 1000"),
        ({"n_epochs": 1.5}, "n_epochs must be None or a number of epochs"),
        ({"init": "spectrum"}, "init must be one of spectral, pca, random"),
        ({"init": np.full((20, 2), np.nan)}, "infinite or missing numbers"),
        ({"init": np.ones((20, 2))}, "a start that tells rows apart"),
        ({"neighbors": 5}, "neighbors must be None or lists of neighbours"),
    ],
)
def test_bad_parameters_are_told(parameters, message):
    with pytest.raises(InvalidInputError, match=message):
        UMAP(**{"n_neighbors": 5, **parameters}).fit(DIGITS[:20])


def test_a_failed_refit_changes_nothing():
    model = UMAP(5).fit(DIGITS[:30])
    placed = model.transform(DIGITS[30:40])
    model.set_params(n_neighbors=9, init=np.zeros((3, 3)), spread=3.0, negative_sample_rate=1)
    with pytest.raises(InvalidInputError, match="init must be"):
        model.fit(DIGITS[100:300])
    assert_same_bits(model.transform(DIGITS[30:40]), placed)


def test_memory_is_estimated_first():
    with config_context(memory_limit=1000), pytest.raises(MemoryBudgetError, match="UMAP of 500 rows"):
        UMAP().fit(DIGITS)


def test_ctrl_c_comes_between_epochs():
    seen = []

    def stop(what, done, total):
        seen.append(what)
        if what == "epochs" and done == 3:
            raise KeyboardInterrupt

    with config_context(progress=stop), pytest.raises(KeyboardInterrupt):
        UMAP().fit(DIGITS)
    assert seen.count("epochs") == 4


@pytest.mark.parametrize("parameters", [{}, {"n_neighbors": 60}])
def test_no_more_memory_is_taken_than_estimated(rng, parameters):
    X, model = rng.normal(size=(6000, 3)), UMAP(n_epochs=1, init="pca", **parameters)
    model.fit(X[:300])  # what is compiled takes memory too
    tracemalloc.start()
    model.fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    with config_context(memory_limit=peak), pytest.raises(MemoryBudgetError, match="UMAP of 6,000 rows"):
        model.fit(X)


# ---- classes -----------------------------------------------------------------------------------

TABLE, SPECIES = load_iris(return_X_y=True)
HALF = np.where(np.arange(150) % 2, SPECIES, -1)
quiet = pytest.mark.filterwarnings("ignore::isentropic._core.errors.DisconnectedGraphWarning")


@quiet
@pytest.mark.parametrize(
    "y", [SPECIES, HALF, np.array(["x", "y", "z"])[SPECIES]], ids=["all", "half", "text"]
)
def test_with_classes_it_is_supervised_umap(y, tmp_path):
    fitted, expected = UMAP(8, n_epochs=50), SupervisedUMAP(8, n_epochs=50).fit(TABLE, y)
    assert_same_bits(fitted.fit_transform(TABLE, y), expected.embedding_)
    assert_same_bits(fitted.transform(TABLE[:9] + 0.01), expected.transform(TABLE[:9] + 0.01))
    assert_array_equal(fitted.classes_, expected.classes_)
    save(fitted, tmp_path / "model.isentropic")
    for again in (load(tmp_path / "model.isentropic"), pickle.loads(pickle.dumps(fitted))):
        assert_same_bits(again.transform(TABLE), fitted.embedding_)
        assert_same_bits(again.transform(TABLE[:9] + 0.01), expected.transform(TABLE[:9] + 0.01))


@quiet
@pytest.mark.parametrize("path", ["classes_", "_map.query.data.labels", "_map.affinities.classes",
                                  "_map.affinities.classes.rule", "_map.affinities.classes.n_votes",
                                  "_map.affinities.classes.guesses", "_map.affinities.apart"])  # fmt: skip
def test_a_file_that_lacks_a_part_of_the_classes_is_refused(path):
    damaged = UMAP(8, n_epochs=2).fit(TABLE, HALF)
    require_state(damaged)
    *outer, name = path.split(".")
    vars(reduce(getattr, outer, damaged))[name] = None
    if not outer:
        del vars(damaged)[name]
    with pytest.raises(StateError):
        require_state(damaged)


@quiet
def test_classes_are_told_apart_as_by_umap_learn():
    """What its own tests ask for: clusters of the map of iris with labels are the species."""
    fitted = UMAP(10, min_dist=0.01, n_epochs=200, random_state=42).fit(TABLE, SPECIES)
    found = KMeans(3, n_init=3, random_state=0).fit_predict(fitted.embedding_)
    assert adjusted_rand_score(found, SPECIES) >= 0.95


@quiet
def test_a_fit_without_classes_forgets_them():
    plain = UMAP(8, n_epochs=20).fit(TABLE)
    for again in (
        UMAP(8, n_epochs=20).fit(TABLE, SPECIES).fit(TABLE),
        UMAP(8, n_epochs=20, target_weight=0).fit(TABLE, SPECIES),
    ):
        assert_same_bits(again.embedding_, plain.embedding_)
        assert vars(again).keys() == vars(plain).keys()
        assert_same_bits(again.transform(TABLE[:5] + 0.1), plain.transform(TABLE[:5] + 0.1))


@quiet
def test_classes_count_with_every_metric_and_sparse_rows():
    rows = np.abs(TABLE) * (np.abs(TABLE) > 1)
    maps = {
        "sparse": UMAP(8, metric="cosine", n_epochs=20).fit(csr_array(rows), HALF),
        "dense": UMAP(8, metric="cosine", n_epochs=20).fit(rows, HALF),
    }
    assert_same_bits(maps["sparse"].transform(csr_array(rows)), maps["sparse"].embedding_)
    assert min(knn_accuracy(one.embedding_, SPECIES) for one in maps.values()) > 0.9
    for metric in (Geodesic(8), Geodesic(8, "precomputed"), "precomputed", "gower"):
        X = cdist(TABLE, TABLE) if "precomputed" in str(metric) else TABLE
        fitted = UMAP(8, metric=metric, n_epochs=20).fit(X, HALF)
        assert_same_bits(fitted.transform(X), fitted.embedding_)
        assert np.isfinite(fitted.transform(X[:3] * 1.01)).all()
        assert (fitted.embedding_ != UMAP(8, metric=metric, n_epochs=20).fit(X).embedding_).any()


@pytest.mark.parametrize(
    ("y", "said"),
    [
        (SPECIES[:-1], r"y must be one entry for each of the 150 rows of X, got 149\. Give the labels of"),
        (TABLE[:, 0], "y must be classes as text or whole numbers.*give no y; target_weight=0 ignores it"),
        (np.where(SPECIES == 0, -1, 1), "y must be at least two classes beside -1.*give the labels as text"),
    ],
    ids=["length", "numbers", "signs"],
)
def test_a_y_that_it_cannot_learn_from_is_refused(y, said):
    with pytest.raises(InvalidInputError, match=said):
        UMAP().fit(TABLE, y)


@quiet
def test_rows_are_not_appended_to_a_map_that_learnt_from_classes():
    fitted = UMAP(8, n_epochs=20).fit(TABLE[:140], SPECIES[:140])
    with pytest.raises(InvalidInputError, match="UMAP cannot take more rows: it learnt from classes"):
        append_rows(fitted, TABLE[140:])
