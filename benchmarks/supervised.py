"""Supervised neighbour maps: what they cost, what labels at random make of them, and published figures.

    python -m benchmarks.supervised [leak | tau | CASE ...]

Needs the data folder (ISENTROPIC_DATA). ``leak`` prints Cohen's kappa on eight tables of Cervati Neto (2024),
table 6, with the labels as they are and permuted, under two protocols. Published: the map is made of all rows
and all labels, then one unstratified half of it is classified by the other, by the best of six classifiers.
Honest: the map is made of one half, the other is placed without labels and classified by 5 neighbours in the
map, whose coordinates are standardised by the first half. ``tau`` prints Kendall's tau of supervised t-SNE
beside Hajderanj (2021), tables 6.1 and 6.2, at the best of a few perplexities. Else fits are measured of
digits in 50 principal components beside t-SNE and the geodesics or patches that they add to it.
"""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np

from isentropic_papers.entropic.sets import prepared as table

from .mnist_data import digits
from .runner import Case, run_cases

TABLES = {
    "parity5": "parity5", "bolts": "bolts", "rabe_131": "rabe_131", "baskball": "baskball",
    "fri_c2_100_10": "fri_c2_100_10", "creditscore": "analcatdata_creditscore", "iris": "iris",
    "wine": "wine",
}  # fmt: skip
METHODS = ("sgt-sne", "set-sne", "supervised-t-sne", "supervised-umap")
_PERMUTATIONS = 3
_PERPLEXITIES = (30, 0.5, 0.9)  # numbers, or shares of the rows


def _split(n):
    from sklearn.model_selection import train_test_split

    return train_test_split(np.arange(n), test_size=0.5, random_state=42)


def _classifiers():
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeClassifier

    return (KNeighborsClassifier(5), SVC(gamma="auto"), GaussianNB(), DecisionTreeClassifier(random_state=42),
            QuadraticDiscriminantAnalysis(tol=1e-12), RandomForestClassifier(random_state=0))  # fmt: skip


def published_kappa(method, X, y):
    """The best of six classifiers on half of a map that was made with all labels."""
    from sklearn.metrics import cohen_kappa_score

    from isentropic import make

    Z = make(method).fit_transform(X, y)
    train, test = _split(len(X))
    found = []
    for classifier in _classifiers():
        try:
            found.append(cohen_kappa_score(y[test], classifier.fit(Z[train], y[train]).predict(Z[test])))
        except (ValueError, np.linalg.LinAlgError):  # a class of too few rows for a covariance
            continue
    return max(found)


def honest_kappa(method, X, y):
    """Rows of the second half, placed without labels, by their 5 nearest of the first; None: on the table."""
    from sklearn.metrics import cohen_kappa_score
    from sklearn.neighbors import KNeighborsClassifier

    from isentropic import make

    train, test = _split(len(X))
    Z, placed = X[train], X[test]
    if method is not None:
        fitted = make(method).fit(X[train], y[train])
        Z, placed = fitted.embedding_, fitted.transform(X[test])
        middle, spread = Z.mean(axis=0), Z.std(axis=0)
        Z, placed = (Z - middle) / spread, (placed - middle) / spread
    voted = KNeighborsClassifier(min(5, len(train))).fit(Z, y[train]).predict(placed)
    return cohen_kappa_score(y[test], voted)


def leak():
    """Kappa by table and method: published and honest, labels as they are and permuted."""
    print(
        "| table | method | published | published, permuted | honest | honest, permuted | 5-NN on the rows |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, file in TABLES.items():
        X, y = table(file)
        for method in METHODS:
            draws = [np.random.default_rng(seed).permutation(y) for seed in range(_PERMUTATIONS)]
            cells = []
            for protocol in (published_kappa, honest_kappa):
                cells.append(protocol(method, X, y))
                cells.append(np.mean([protocol(method, X, drawn) for drawn in draws]))
            cells.append(honest_kappa(None, X, y))
            print(f"| {name} | `{method}` | {' | '.join(f'{cell:.2f}' for cell in cells)} |", flush=True)


# ---- Kendall's tau -------------------------------------------------------------------------------


def rolled_clusters():
    """Four clusters of 400 points, rolled up, and which is whose: as in ``benchmarks.sdd``."""
    from .sdd import roll

    rng = np.random.default_rng(0)
    rng.normal(size=(4, 400, 2))
    return roll()["X"], np.repeat(np.arange(4), 400)[rng.permutation(1600)]


def breast_cancer():
    from sklearn.datasets import load_breast_cancer

    return load_breast_cancer(return_X_y=True)


def tau():
    """Best tau over perplexities, by table and dissimilarity."""
    from isentropic import Dis1, Dis2, Dis3, SupervisedTSNE
    from isentropic.quality import kendall_tau

    published = {
        "Breast Cancer": (breast_cancer, (0.7291, 0.7025, 0.8137)),
        "rolled clusters": (rolled_clusters, (0.8268, 0.7686, 0.8460)),
    }
    print("| table | dissimilarity | published | ours | at a perplexity of |")
    print("| --- | --- | --- | --- | --- |")
    for name, (data, figures) in published.items():
        X, y = data()
        sizes = [p if p > 1 else round(p * len(X)) for p in _PERPLEXITIES]
        for choice, figure in zip((Dis1(), Dis2(), Dis3()), figures, strict=True):
            found = []
            for perplexity in sizes:
                Z = SupervisedTSNE(perplexity, dissimilarity=choice).fit_transform(X, y)
                found.append((float(kendall_tau(X, Z)), perplexity))
            best, where = max(found)
            print(f"| {name} | `{choice}` | {figure:.4f} | {best:.4f} | {where} |", flush=True)


# ---- speed ---------------------------------------------------------------------------------------


def _timed(work):
    """A contender: processor seconds of all threads."""

    def run(data):
        warnings.simplefilter("ignore")
        start, begun = time.perf_counter(), time.process_time()
        work(data["X"], data["y"])
        return {"seconds": time.perf_counter() - start, "CPU s": time.process_time() - begun}

    return run


def _fit(method):
    def fit(X, y):
        from isentropic import make

        make(method).fit(X, y)

    return fit


def _graph(X):
    from isentropic import Knn
    from isentropic.neighbors import graph_of_lists, nearest_neighbors

    found = nearest_neighbors(X, Knn(round(np.sqrt(len(X)))))
    return found, graph_of_lists(X, found)


def geodesics(X, y):
    from isentropic.geodesics import all_pairs

    all_pairs(_graph(X)[1])


def patches(X, y):
    from isentropic.divergences import Patches, RowProducts, cheapest_form, noise_floor, reweighted

    found, graph = _graph(X)
    form = cheapest_form(len(X), found.indices.shape[1] + 1, X.shape[1], len(graph.indices) // 2)
    reweighted(graph, Patches(X, found.indices, "kl", 3.0, False, noise_floor(X), form,
                              products=RowProducts(X)).weights)  # fmt: skip


def _digits(n):
    def data():
        X, y = digits(n)
        return {"X": X, "y": y}

    return data


_CONTENDERS = {
    "t-SNE": _timed(_fit("t-sne")),
    "all geodesics": _timed(geodesics),
    "patches": _timed(patches),
    **{method: _timed(_fit(method)) for method in METHODS},
}
CASES = {
    f"supervised, {n:,} digits": Case(f"supervised, {n:,} digits", _digits(n), _CONTENDERS, repeats=1)
    for n in (5_000,)
} | {
    "supervised, 20,000 digits": Case(
        "supervised, 20,000 digits",
        _digits(20_000),
        {name: _CONTENDERS[name] for name in ("t-SNE", *METHODS)},
        repeats=1,
    )
}
TASKS = {"leak": leak, "tau": tau}

if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1] in TASKS:
        warnings.simplefilter("ignore")
        TASKS[sys.argv[1]]()
    else:
        run_cases("benchmarks.supervised", CASES)
