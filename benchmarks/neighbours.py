"""Neighbour lists and t-SNE, beside pynndescent and openTSNE.

    python -m benchmarks.neighbours [CASE ...]

Needs the data folder (ISENTROPIC_DATA) with the MNIST files, and the extra "peers". The digits are in 50
principal components. A section is a function that returns its cases; `SECTIONS` lists them. The transform of
10,000 rows, the map of 70,000 in three dimensions and that of a million rows run only where they are named.
"CPU s" are processor seconds, of all threads; a "cold" contender compiles in the run that is measured.
"""

from __future__ import annotations

import time

import numpy as np

from .mnist_data import digits, warm_up_of
from .runner import Case, run_cases

PEERS = ("pynndescent", "openTSNE", "scikit-learn", "numba", "numpy")


# ---- neighbour lists ---------------------------------------------------------------------------


def with_radii(n, k):
    """The digits, and how far the ``k``-th neighbour of each of 2,000 rows is (NaN: not among them)."""

    def data():
        from isentropic.neighbors import nearest_among

        X, _ = digits(n)
        sample = np.random.default_rng(0).permutation(n)[:2000]
        radius = np.full(n, np.nan)
        radius[sample] = nearest_among(X[sample], X, k, selves=sample)[1][:, -1]
        return {"X": X, "radius": radius}

    return data


def lists(find, k, *, cold=False):
    """A contender: ``find(X, k)`` returns lists, whose recall is told."""

    def run(data):
        X, radius = data["X"], data["radius"]
        if cold and len(X) == warm_up_of(20_000):
            return {}
        start, begun = time.perf_counter(), time.process_time()
        indices = find(X, k)
        spent = {"seconds": time.perf_counter() - start, "CPU s": time.process_time() - begun}
        sample = np.flatnonzero(radius == radius)
        apart = np.sqrt(((X[indices[sample]] - X[sample, None]) ** 2).sum(axis=2))
        return {**spent, "recall": (apart <= radius[sample, None] * (1 + 1e-12)).mean()}

    return run


def pynndescent(n_jobs):
    def find(X, k):
        import warnings

        from pynndescent import NNDescent

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            index = NNDescent(X.astype(np.float32), n_neighbors=k + 1, random_state=0, n_jobs=n_jobs)
        found = index.neighbor_graph[0]
        others = found != np.arange(len(X))[:, None]
        others[others.all(axis=1), -1] = False
        return found[others].reshape(len(X), k)

    return find


def ours(n_jobs, approximate=True):
    def find(X, k):
        from isentropic import Knn
        from isentropic.neighbors import nearest_neighbors

        return nearest_neighbors(X, Knn(k, approximate=approximate), n_jobs=n_jobs).indices

    return find


def neighbour_lists():
    for n in (20_000, 70_000):
        for k in (15, 90):
            contenders = {
                "pynndescent": lists(pynndescent(1), k),
                "pynndescent, 2 threads": lists(pynndescent(2), k),
                "pynndescent, cold": lists(pynndescent(1), k, cold=True),
                "isentropic": lists(ours(1), k),
                "isentropic, 2 threads": lists(ours(2), k),
            }
            if n <= 20_000:  # n^2: a minute and more beyond
                contenders["isentropic, exact"] = lists(ours(1, approximate=False), k)
            name = f"lists, n = {n:,}, k = {k}"
            yield Case(name, with_radii(n, k), contenders, warm_up=warm_up_of(n), repeats=1, peers=PEERS)


# ---- t-SNE -------------------------------------------------------------------------------------


def with_lists(n, d=2):
    """The digits, exact lists of 90 neighbours, and a start: what both contenders of a layout are given."""

    def data():
        from isentropic.neighbors import nearest_among

        X, _ = digits(n)
        indices, distances = nearest_among(X, X, 90, selves=np.arange(n))
        return {"X": X, "indices": indices, "distances": distances, "start": X[:, :d] / X[:, 0].std() * 1e-4}

    return data


def divergence(data, Z):
    """``KL(P || Q)`` of a map, exactly, by one function for all."""
    from isentropic import Neighbors
    from isentropic.affinities import conditional_affinities, joint_affinities
    from isentropic.objectives import StudentNeighbors

    lists = Neighbors(data["indices"], data["distances"], "euclidean", exact=True)
    P = joint_affinities(lists, conditional_affinities(lists.distances, 30.0)[0])
    cost = StudentNeighbors(P, n_components=Z.shape[1])
    cost.repulsion = "exact"
    return cost.divergence(Z)


def warmed(layout):
    """A contender; the warm-up has other rows than its lists name, and searches its own."""

    def run(data):
        n = len(data["X"])
        if n <= data["indices"].max():
            from isentropic.neighbors import nearest_among

            found = nearest_among(data["X"], data["X"], 90, selves=np.arange(n))
            layout({**data, "indices": found[0], "distances": found[1]}, 6)
            return {}
        start, begun = time.perf_counter(), time.process_time()
        Z = layout(data, 750)
        spent = {"seconds": time.perf_counter() - start, "CPU s": time.process_time() - begun}
        return {**spent, "KL": divergence(data, Z)}

    return run


def open_tsne(n_jobs):
    def layout(data, steps):
        import openTSNE
        from openTSNE.affinity import PerplexityBasedNN

        affinities = PerplexityBasedNN(data["X"], perplexity=30, n_jobs=n_jobs, random_state=0)
        d = data["start"].shape[1]
        tsne = openTSNE.TSNE(n_components=d, early_exaggeration_iter=steps // 3, n_iter=steps - steps // 3,
                             n_jobs=n_jobs, negative_gradient_method="fft" if d < 3 else "bh")  # fmt: skip
        return np.asarray(tsne.fit(affinities=affinities, initialization=data["start"].copy()))

    return warmed(layout)


def our_tsne(n_jobs, given):
    def layout(data, steps):
        from isentropic import TSNE, Neighbors

        lists = Neighbors(data["indices"], data["distances"], "euclidean", exact=True) if given else None
        d = data["start"].shape[1]
        tsne = TSNE(n_components=d, init=data["start"], neighbors=lists, max_iter=steps, n_jobs=n_jobs)
        return tsne.fit(data["X"]).embedding_

    return warmed(layout)


def t_sne_maps():
    for n, n_jobs in ((5_000, 2), (20_000, 1), (20_000, 2), (70_000, 2)):
        contenders = {
            "openTSNE": open_tsne(n_jobs),
            "isentropic": our_tsne(n_jobs, given=False),
            "isentropic, lists given": our_tsne(n_jobs, given=True),
        }
        name = f"t-SNE, n = {n:,}, n_jobs = {n_jobs}"
        yield Case(name, with_lists(n), contenders, warm_up=warm_up_of(n), repeats=1, peers=PEERS)


def maps_in_space():
    """In three dimensions openTSNE has Barnes-Hut alone."""
    for n, n_jobs in ((20_000, 1), (70_000, 2)):
        contenders = {"openTSNE": open_tsne(n_jobs), "isentropic": our_tsne(n_jobs, given=False)}
        name = f"t-SNE in three dimensions, n = {n:,}, n_jobs = {n_jobs}"
        yield Case(name, with_lists(n, 3), contenders, warm_up=warm_up_of(n), repeats=1, peers=PEERS,
                   only_by_name=n > 20_000)  # fmt: skip


# ---- new rows in a t-SNE -----------------------------------------------------------------------


def with_new_rows(n, count):
    """Digits to fit, others to place, and what they are."""

    def data():
        X, y = digits(n + count)
        return {"X": X[:n], "y": y[:n], "new": X[n:], "classes": y[n:]}

    return data


def placed(fit_and_place, share):
    """A contender: ``fit_and_place(X, new)`` returns a map, the places of new rows, and seconds of both."""

    def run(data):
        from sklearn.neighbors import KNeighborsClassifier

        count = round(share * len(data["X"]))  # fewer in a warm-up
        Z, places, figures = fit_and_place(data["X"], data["new"][:count])
        nearest = KNeighborsClassifier(1).fit(Z, data["y"])
        return {**figures, "1-NN": nearest.score(places, data["classes"][:count])}

    return run


def _timed(fit, place, X, new):
    """``fit(X)``, then ``place`` of the new rows, which the seconds are of."""
    begun = time.perf_counter()
    fitted = fit(X)
    fitting, start, cpu = time.perf_counter() - begun, time.perf_counter(), time.process_time()
    places = np.asarray(place(fitted, new))
    spent = {"seconds": time.perf_counter() - start, "CPU s": time.process_time() - cpu}
    return fitted, places, {**spent, "seconds of the fit": fitting}


def placed_by_open_tsne(X, new):
    import openTSNE

    tsne = openTSNE.TSNE(perplexity=30, n_jobs=2, random_state=0)
    fitted, places, figures = _timed(tsne.fit, lambda fitted, new: fitted.transform(new), X, new)
    return np.asarray(fitted), places, figures


def placed_by_ours(X, new):
    from isentropic import TSNE

    tsne = TSNE(n_jobs=2)
    fitted, places, figures = _timed(tsne.fit, lambda fitted, new: fitted.transform(new), X, new)
    return fitted.embedding_, places, figures


def new_rows():
    for n, count in ((6_000, 1_000), (60_000, 10_000)):
        contenders = {
            "openTSNE": placed(placed_by_open_tsne, count / n),
            "isentropic": placed(placed_by_ours, count / n),
        }
        name = f"transform, {count:,} rows into {n:,}"
        yield Case(name, with_new_rows(n, count), contenders, warm_up=warm_up_of(n), repeats=1, peers=PEERS,
                   only_by_name=n > 10_000)  # fmt: skip


# ---- a million rows ----------------------------------------------------------------------------


def groups(n):
    """Rows of 20 features in 100 groups, normal around middles that are normal too, three times as wide."""

    def data():
        rng = np.random.default_rng(0)
        middles = 3.0 * rng.normal(size=(100, 20))
        return {"X": middles[rng.integers(0, 100, n)] + rng.normal(size=(n, 20))}

    return data


def large_map(data):
    from isentropic import TSNE

    begun = time.process_time()
    fitted = TSNE(n_jobs=2, max_iter=6 if len(data["X"]) == warm_up_of(20_000) else 750).fit(data["X"])
    return {"CPU s": time.process_time() - begun, "KL": fitted.kl_divergence_}


def large_maps():
    for n in (20_000, 1_000_000):
        name = f"t-SNE, {n:,} rows of 20 features"
        yield Case(name, groups(n), {"isentropic": large_map}, warm_up=warm_up_of(n), repeats=1, peers=PEERS,
                   only_by_name=n > 100_000)  # fmt: skip


SECTIONS = (neighbour_lists, t_sne_maps, maps_in_space, new_rows, large_maps)
CASES = {case.name: case for section in SECTIONS for case in section()}

if __name__ == "__main__":
    run_cases("benchmarks.neighbours", CASES)
