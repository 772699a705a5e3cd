"""The honest protocol is itself on trial: no signal gives chance, and a pipeline that looks is caught."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn import decomposition
from sklearn.datasets import load_wine, make_classification
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isentropic import LDA, PCA, RandomProjection, registry
from isentropic._core.errors import InvalidInputError
from isentropic.experiments.classifiers import agreement, halves
from isentropic.experiments.own_tables import honest, permuted, random_projections
from isentropic.experiments.protocols import Moments, Protocol, Repeats, honest_scores, permuted_null
from isentropic.experiments.tasks import Refused

FEW = Protocol(("KNN",), n_repeats=4)


def noise(seed, n=120, m=8, n_classes=2):
    random = np.random.default_rng(seed)
    return random.normal(size=(n, m)), np.arange(n) % n_classes


# ---- no signal ---------------------------------------------------------------------------------


@pytest.mark.parametrize("needs_y", [False, True])
def test_without_signal_the_accuracy_is_chance_within_its_interval(needs_y):
    """Over sixteen tables of noise: a supervised map too, fitted to classes that mean nothing."""
    hits, means = 0, []
    for seed in range(16):
        X, y = noise(seed)
        estimator = LDA(1) if needs_y else PCA(2)
        found = honest_scores(estimator, X, y, FEW, needs_y=needs_y).measures()
        hits += found["mean low"] <= 0.5 <= found["mean high"]
        means.append(found["mean"])
    assert hits >= 14
    assert abs(np.mean(means) - 0.5) < 0.03


def test_parameters_and_classifiers_that_are_chosen_add_nothing_to_chance():
    """Chosen by labels, in folds of the training rows: 4 maps, and the best of two classifiers."""
    protocol = Protocol(("KNN", "NB"), choose="folds", measure="kappa", n_repeats=1)
    means = []
    for seed in range(12):
        X, y = noise(seed, n=60)
        grid = {"random_state": list(range(4))}
        found = honest_scores(RandomProjection(2), X, y, protocol, grid=grid).measures()
        means.append(found["max"])
    assert abs(np.mean(means)) < 0.08


def test_a_signal_is_found():
    X, y = make_classification(200, 6, n_informative=4, class_sep=2.0, random_state=0)
    found = honest_scores(PCA(2), X, y, FEW).measures()
    assert found["mean low"] > 0.6
    assert honest_scores(LDA(1), X, y, FEW, needs_y=True).measures()["mean"] > 0.75


# ---- leaks -------------------------------------------------------------------------------------


def kappa_of_half(Z, labels):
    train, test = halves(len(Z))
    said = KNeighborsClassifier(5).fit(Z[train], labels[train]).predict(Z[test])
    return agreement(labels[test], said, "kappa")


def leaking_map(X, y):
    """Learns from the labels that it will be judged by."""
    return lambda labels: kappa_of_half(LDA(1).fit_transform(X, labels), labels)


def leaking_choice(X, y):
    """One of 25 random projections, chosen on the rows that it is judged by."""
    random = np.random.default_rng(0)
    maps = [X @ random.normal(size=(X.shape[1], 2)) for _ in range(25)]
    return lambda labels: max(kappa_of_half(Z, labels) for Z in maps)


def leaking_scale(X, y):
    """Features picked by their correlation with all labels, before the split."""

    def score(labels):
        picked = np.argsort(np.abs(np.corrcoef(X.T, labels)[-1, :-1]))[-3:]
        return kappa_of_half(X[:, picked], labels)

    return score


def honest_map(X, y):
    def score(labels):
        protocol = Protocol(("KNN",), measure="kappa", n_repeats=1)
        return honest_scores(LDA(1), X, labels, protocol, needs_y=True).scores[0]["mean"]

    return score


@pytest.mark.parametrize(("pipeline", "m"), [(leaking_map, 30), (leaking_choice, 30), (leaking_scale, 200)])
def test_a_pipeline_that_looks_is_caught(pipeline, m):
    X, y = noise(0, n=100, m=m)
    null = permuted_null(pipeline(X, y), y, 16)
    assert null.leaks
    assert null.mean > 0.2


@pytest.mark.parametrize("seed", range(3))
def test_an_honest_pipeline_is_not(seed):
    X, y = noise(seed, n=100, m=30)
    null = permuted_null(honest_map(X, y), y, 16)
    assert not null.leaks
    assert null.low <= 0 <= null.high
    assert null.least <= null.mean <= null.most


# ---- nothing of the test rows is used ----------------------------------------------------------


def test_labels_and_other_rows_of_the_test_half_change_nothing_else():
    """Other labels of judged rows change no answer; another judged row changes no place but its own."""
    X, y = make_classification(80, 5, random_state=1)
    protocol = Protocol(("KNN",), n_repeats=1, test_share=0.4)
    (split,) = protocol.splits(y)
    seen = []

    class Watched(PCA):
        def fit(self, X, y=None):
            seen.append((X.copy(), y))
            return super().fit(X, y)

        def transform(self, X):
            seen.append((X.copy(), None))
            return super().transform(X)

    honest_scores(Watched(2), X, y, protocol)
    fitted = [rows for rows, _ in seen if len(rows) == len(split.train)]
    moments = Moments.of(X[split.train])
    assert all(np.array_equal(rows, moments.scaled(X[split.train])) for rows in fitted)
    assert all(labels is None for _, labels in seen)
    changed = X.copy()
    changed[split.test] *= 100.0
    seen.clear()
    honest_scores(Watched(2), changed, y, protocol)
    assert np.array_equal(seen[0][0], fitted[0])  # scale of the training rows alone


def test_the_map_is_at_unit_variance_by_the_training_rows():
    X, y = make_classification(100, 5, class_sep=2.0, weights=[0.75], random_state=0)

    class Tiny(PCA):
        def fit_transform(self, X, y=None):
            return super().fit_transform(X) * 2.0**-20

        def transform(self, X):
            return super().transform(X) * 2.0**-20

    protocol = Protocol(("SVM",), n_repeats=2)
    assert honest_scores(Tiny(2), X, y, protocol).scores == honest_scores(PCA(2), X, y, protocol).scores


def test_scores_are_those_of_a_pipeline_of_scikit_learn():
    """Agreement, split by split: scaled, reduced, scaled, judged, all fitted to the training rows."""
    X, y = load_wine(return_X_y=True)
    drawn = StratifiedShuffleSplit(3, test_size=89, random_state=0).split(X, y)
    parts = (StandardScaler(), decomposition.PCA(2), StandardScaler(), KNeighborsClassifier(7))
    expected = [make_pipeline(*parts).fit(X[a], y[a]).score(X[b], y[b]) for a, b in drawn]
    found = honest_scores(PCA(2), X, y, Protocol(("KNN",), n_repeats=3)).scores
    assert [scores["KNN"] for scores in found] == expected


def test_moments_of_columns_with_gaps_and_of_constant_ones():
    X = np.array([[1.0, np.nan, 7.0], [3.0, 2.0, 7.0], [np.nan, 4.0, 7.0]])
    scaled = Moments.of(X).scaled(X)
    assert np.array_equal(scaled, [[-1.0, 0.0, 0.0], [1.0, -1.0, 0.0], [0.0, 1.0, 0.0]])
    assert np.array_equal(Moments.of(np.full((2, 1), np.nan)).scaled(np.array([[5.0]])), [[5.0]])


def test_the_interval_is_the_corrected_one():
    from scipy.stats import t

    values = [0.8, 0.7, 0.9, 0.75]
    found = Repeats(tuple({"KNN": v} for v in values), n_train=60, n_test=30).measures()
    half = t.ppf(0.975, 3) * np.std(values, ddof=1) * np.sqrt(1 / 4 + 30 / 60)
    assert found["KNN"] == pytest.approx(np.mean(values))
    assert found["KNN high"] - found["KNN"] == pytest.approx(half)
    assert Repeats(({"KNN": 0.5},), 5, 5).measures() == {"KNN": 0.5}
    wide = Repeats(({"KNN": 0.2}, {"KNN": 1.0}), 5, 5, (0.0, 1.0)).measures()
    assert (wide["KNN low"], wide["KNN high"]) == (0.0, 1.0)
    assert Repeats(({"KNN": 0.5, "QDA": 0.5}, {"KNN": 0.7}), 5, 5).measures().keys() == {
        "KNN", "KNN low", "KNN high"
    }  # fmt: skip


def test_max_is_of_the_classifier_that_the_training_rows_choose():
    """XOR: naive Bayes is blind to it, k-NN is not; a tie on the test rows cannot hide a choice."""
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    for scores in honest_scores(None, X, y, Protocol(("NB", "KNN"), n_repeats=3)).scores:
        assert scores["max"] == scores["KNN"] > 0.8 > scores["NB"]
        assert scores["mean"] == pytest.approx((scores["NB"] + scores["KNN"]) / 2)


def test_what_cannot_be_judged_is_refused():
    X, y = noise(0)
    with pytest.raises(Refused, match="places no new rows"):
        honest_scores(object(), X, y)
    with pytest.raises(InvalidInputError, match="two classes"):
        honest_scores(PCA(2), X, np.zeros(120, int))
    with pytest.raises(InvalidInputError, match="test_share must be"):
        Protocol(test_share=1.0)
    with pytest.raises(InvalidInputError, match="classifier must be one of"):
        Protocol(("kNN",))


def test_numbers_are_judged_by_neighbours():
    random = np.random.default_rng(0)
    X = random.normal(size=(150, 3))
    found = honest_scores(PCA(2), X, X[:, 0] * 3, Protocol(measure="r2", n_repeats=3)).measures()
    blind = honest_scores(PCA(2), X, random.normal(size=150), Protocol(measure="r2", n_repeats=3)).measures()
    assert found["mean"] > 0.3 > 0.05 > blind["mean"]


# ---- works by name -----------------------------------------------------------------------------


def test_works_by_name():
    given = {"classifiers": ["KNN"], "n_repeats": 3}
    found = honest("builtin:wine", "isomap", {}, {"n_neighbors": [5, 15]}, **given)
    assert found["mean"] > 0.9
    assert honest("builtin:wine", "raw", **given)["mean"] > 0.9
    null = permuted("builtin:wine", "lda", n_permutations=6, classifiers=["KNN"])
    assert null["mean low"] < 0.1
    assert abs(null["mean"]) < 0.15
    drawn = random_projections("builtin:wine", 6, **given)
    assert drawn["unchosen"] < drawn["chosen inside"] <= drawn["mean"] <= 1


def test_works_that_have_no_answer_say_why(monkeypatch):
    with pytest.raises(Refused, match="learns from classes, and the target is a number"):
        honest("builtin:swiss-roll", "lda")
    monkeypatch.setattr(registry, "METHODS", {"pca": replace(registry.METHODS["pca"], max_rows=40)})
    with pytest.raises(Refused, match="at most 40 rows, and 89 are to learn from"):
        honest("builtin:wine", "pca")


@pytest.mark.filterwarnings("ignore")  # of fits that fail, which are meant to
def test_a_classifier_that_no_inner_fold_is_enough_for_is_not_chosen():
    """QDA of 25 columns: 30 rows of a class are enough to learn from, and 20 in each fold are not."""
    draws = np.random.default_rng(0)
    X, y = draws.normal(size=(120, 25)), np.arange(120) % 2
    X[:, 0] += 4 * y
    found = honest_scores(None, X, y, Protocol(("QDA", "NB"), n_repeats=2))
    for one in found.scores:
        assert one["QDA"] != one["NB"] == one["max"]
