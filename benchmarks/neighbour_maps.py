"""UMAP, PaCMAP, TriMap and global t-SNE beside umap-learn, pacmap, trimap and t-SNE: time and quality.

    python -m benchmarks.neighbour_maps [CASE ...]

Needs the data folder (ISENTROPIC_DATA) with the MNIST files, and the extra "peers". The digits are in 50
principal components. "CPU s" are processor seconds of all threads; the lists of "given lists" were found
before. "Stages" are parts of a fit on one thread, each by itself, in CPU s of all its steps. T(15) and C(15),
the area under R_NX and the accuracy of 10 neighbours in the map are of 1,500 rows; of as many are the share
of 30 neighbours that the map keeps and Spearman's correlation of distances, for global t-SNE, and the share
of triplets in the right order is of 200,000.
"""

from __future__ import annotations

import time
import warnings

import numpy as np

from .mnist_data import digits, warm_up_of
from .runner import Case, run_cases

PEERS = ("umap-learn", "pacmap", "trimap", "scikit-learn", "numba", "numpy")
_SAMPLE = 1500


def with_lists(n):
    """Digits, what they are, and lists of 15 neighbours."""

    def data():
        from isentropic import Knn
        from isentropic.neighbors import nearest_neighbors

        X, y = digits(n)
        found = nearest_neighbors(X, Knn(15))
        return {"X": X, "y": y, "indices": found.indices, "distances": found.distances}

    return data


def measured(make, *, lists=False, quality=None):
    """A contender: the estimator of a run, timed, and the quality of its map."""

    def run(data):
        X = data["X"]
        warnings.simplefilter("ignore")
        model = make(_given(data) if lists else None)
        start, begun = time.perf_counter(), time.process_time()
        Z = np.asarray(model.fit_transform(X.copy()), float)
        spent = {"seconds": time.perf_counter() - start, "CPU s": time.process_time() - begun}
        return {**spent, **(quality or _quality)(X, Z, data["y"])}

    return run


def _given(data, k=15):
    """The lists of ``k`` of the rows that are there: in a warm-up, of some."""
    from isentropic import Knn, Neighbors
    from isentropic.neighbors import nearest_neighbors

    if len(data["X"]) <= data["indices"].max():
        return nearest_neighbors(data["X"], Knn(k))
    return Neighbors(data["indices"], data["distances"], "euclidean", True)


def _quality(X, Z, y):
    from sklearn.neighbors import KNeighborsClassifier

    from isentropic.quality import assess

    found = assess(X, Z, n_neighbors=15, sample=min(_SAMPLE, len(X)), random_state=0)
    at = found.at(15)
    near = KNeighborsClassifier(10).fit(Z, y).kneighbors(return_distance=False)
    votes = np.stack([(y[near] == label).sum(axis=1) for label in range(10)], axis=1)
    return {
        "T(15)": at["trustworthiness"].value,
        "C(15)": at["continuity"].value,
        "R_NX area": found.measures["rnx_auc"].value,
        "10-NN": float((votes.argmax(axis=1) == y).mean()),
    }


def far_quality(X, Z, y):
    """What global t-SNE is for: neighbours and far rows."""
    from isentropic.quality import assess

    i, j, k = np.random.default_rng(0).integers(len(X), size=(3, 200_000))

    def nearer(A):
        return ((A[i] - A[j]) ** 2).sum(axis=1) < ((A[i] - A[k]) ** 2).sum(axis=1)

    found = assess(X, Z, n_neighbors=30, sample=min(_SAMPLE, len(X)), random_state=0)
    return {
        "kept of 30": found.at(30)["q_nx"].value,
        "Spearman": found.measures["spearman_rho"].value,
        "triplets": float((nearer(X) == nearer(Z)).mean()),
    }


def umap_learn(**parameters):
    def make(_):
        import umap

        return umap.UMAP(**parameters)

    return make


def ours(name, **parameters):
    def make(lists):
        import isentropic

        return isentropic.make(name, neighbors=lists, **parameters)

    return make


def over_all_pairs(_):
    """Global t-SNE as it is up to 4,000 rows, for more."""
    import isentropic
    from isentropic.methods.neighbor import tsne

    class Exact(isentropic.GlobalTSNE):
        def fit(self, X, y=None, **options):
            limit, tsne.ALL_PAIRS_UP_TO = tsne.ALL_PAIRS_UP_TO, len(X)
            try:
                return super().fit(X, y, **options)
            finally:
                tsne.ALL_PAIRS_UP_TO = limit

    return Exact(n_jobs=1)


def pacmap_of_wang(_):
    import pacmap

    return pacmap.PaCMAP(random_state=0)


def trimap_of_amid(_):
    import trimap

    return trimap.TRIMAP(verbose=False)


# ---- Stages of a fit -----------------------------------------------------------------------------


def with_map(n):
    """Digits, lists of 90 neighbours, and the map of t-SNE."""

    def data():
        from isentropic import TSNE, Knn
        from isentropic.neighbors import nearest_neighbors

        X, _ = digits(n)
        found = nearest_neighbors(X, Knn(90))
        map_ = TSNE(neighbors=found).fit_transform(X)
        return {"X": X, "indices": found.indices, "distances": found.distances, "map": map_}

    return data


def stage(prepare, steps=1, least=1):
    """A contender: ``prepare`` gives the work of a step; a fit has ``steps``, and ``least`` are measured."""

    def run(data):
        from isentropic.kernels._jit import threads

        knn = _given({**data, "indices": data["indices"][:, :15], "distances": data["distances"][:, :15]}, 15)
        with threads(1):
            work = prepare(data["X"], _given(data, 90), knn, np.ascontiguousarray(data["map"], np.float32))
            work()
            begun = time.process_time()
            for _ in range(least):
                work()
            spent = time.process_time() - begun
        return {"CPU s": spent * steps / least, "ms a step": 1e3 * spent / least}

    return run


def _search_of(k):
    from isentropic import Knn
    from isentropic.neighbors import nearest_neighbors

    return lambda X, *_: lambda: nearest_neighbors(X, Knn(k), n_jobs=1)


def _joint(X, knn, *_):
    from isentropic.methods.neighbor.tsne_stages import student_affinities

    return student_affinities(knn, 30.0, 1)


def _pull_of_map(X, knn, few, Z):
    from isentropic.objectives.student_sums import OrderedPulls

    P = _joint(X, knn)
    pulls = OrderedPulls(P.indptr.astype(np.int64), P.indices, P.data.astype(np.float32))
    return lambda: pulls(Z)


def _field_of_map(X, knn, few, Z):
    from isentropic.objectives import Field

    field = Field()
    return lambda: field(Z)


def _epoch_of_map(X, knn, few, Z):
    from isentropic.affinities import fitted_curve, fuzzy_graph
    from isentropic.objectives import FuzzyMoves

    moves = FuzzyMoves(fuzzy_graph(few, n_jobs=1), fitted_curve(0.1, 1.0), push=5.0, n_epochs=200, seed=0)
    Z = Z * np.float32(0.1)  # as wide as maps of UMAP are
    out, memory = np.empty_like(Z), np.zeros((1, *Z.shape), np.float32)
    return lambda: moves(Z, memory, out, 100)


def _start_of_map(X, knn, few, Z):
    from isentropic.affinities import fuzzy_graph
    from isentropic.embedding.initialization import spectral_initialization

    return lambda: spectral_initialization(fuzzy_graph(few, n_jobs=1), 2, lambda: X[:, :2])


STAGES = {
    "t-SNE: neighbours": stage(_search_of(90)),
    "t-SNE: affinities": stage(lambda X, knn, *_: lambda: _joint(X, knn)),
    "t-SNE: pulls": stage(_pull_of_map, 750, 100),
    "t-SNE: field": stage(_field_of_map, 750, 100),
    "UMAP: neighbours": stage(_search_of(15)),
    "UMAP: graph and start": stage(_start_of_map),
    "UMAP: epochs": stage(_epoch_of_map, 200, 50),
}


def cases():
    yield Case("stages, n = 60,000", with_map(60_000), STAGES, warm_up=12_000, repeats=1, peers=PEERS)
    for n in (5_000, 20_000, 70_000):
        contenders = {
            "umap-learn, seeded": measured(umap_learn(random_state=0, n_jobs=1)),
            "umap-learn": measured(umap_learn()),
            "isentropic": measured(ours("umap")),
            "isentropic, one thread": measured(ours("umap", n_jobs=1)),
            "isentropic, given lists": measured(ours("umap", n_jobs=1), lists=True),
        }
        name = f"UMAP, n = {n:,}"
        yield Case(name, with_lists(n), contenders, warm_up=warm_up_of(n), repeats=1, peers=PEERS)
    others = {
        "pacmap": measured(pacmap_of_wang),
        "isentropic PaCMAP": measured(ours("pacmap")),
        "trimap": measured(trimap_of_amid),
        "isentropic TriMap": measured(ours("trimap")),
    }
    name = "PaCMAP and TriMap, n = 20,000"
    yield Case(name, with_lists(20_000), others, warm_up=warm_up_of(20_000), repeats=1, peers=PEERS)
    for n in (5_000, 70_000):
        contenders = {
            "isentropic TSNE": measured(ours("t-sne", n_jobs=1), quality=far_quality),
            "isentropic GlobalTSNE": measured(ours("global-t-sne", n_jobs=1), quality=far_quality),
        }
        if n == 5_000:
            contenders["of all pairs"] = measured(over_all_pairs, quality=far_quality)
        name = f"Global t-SNE, n = {n:,}"
        yield Case(name, with_lists(n), contenders, warm_up=warm_up_of(n), repeats=1, peers=PEERS)


CASES = {case.name: case for case in cases()}

if __name__ == "__main__":
    run_cases("benchmarks.neighbour_maps", CASES)
