"""New rows mapped into a fitted map, beside the peers that can: processor seconds of ``transform`` alone.

    python -m benchmarks.new_rows [CASE ...]

Needs the data folder (ISENTROPIC_DATA) with the MNIST files, and the extra "peers". Each contender fits its
own map, maps the first new rows to load what is compiled, and is timed on all of them. "CPU s" are of one
thread, "ms a row" the same for each row, "MiB of it" what mapping added to the peak. "10-NN" is the share of
new rows whose 10 nearest fitted rows on the map vote for their class, "near" the share of these that are
among the 50 nearest in the data, of 1,000 new rows.
"""

from __future__ import annotations

import time
import warnings

import numpy as np

from .mnist_data import digits, pixels
from .runner import Case, _peak, run_cases

PEERS = ("openTSNE", "umap-learn", "scikit-learn", "numba", "numpy")
_NEAR, _ON_MAP, _SAMPLE = 50, 10, 1000


def with_new_rows(n, count, source):
    """Digits to fit, others to map, and what they are."""

    def data():
        X, y = source(n + count)
        return {"X": X[:n], "y": y[:n], "new": X[n:], "classes": y[n:]}

    return data


def mapped(fit, place, embedding):
    """A contender: ``fit(X)``, then ``place(fitted, new)`` of the new rows, which all figures are of."""

    def run(data):
        warnings.simplefilter("ignore")
        X, new = data["X"], data["new"]
        fitted = fit(X)
        place(fitted, new[:300])
        before, start, begun = _peak(), time.perf_counter(), time.process_time()
        Z = np.asarray(place(fitted, new), float)
        seconds, spent = time.perf_counter() - start, time.process_time() - begun
        figures = {"mapping s": seconds, "CPU s": spent, "ms a row": 1e3 * spent / len(new)}
        quality = _quality(X, embedding(fitted), data["y"], new, Z, data["classes"])
        return {**figures, "MiB of it": _peak() - before if len(X) > 1000 else 0.0, **quality}

    return run


def _quality(X, Z, y, new, places, classes):
    from sklearn.neighbors import NearestNeighbors

    drawn = slice(0, min(_SAMPLE, len(new)))
    k = min(_NEAR, len(X) - 1)
    on_map = NearestNeighbors(n_neighbors=_ON_MAP).fit(Z).kneighbors(places, return_distance=False)
    in_data = NearestNeighbors(n_neighbors=k).fit(X).kneighbors(new[drawn], return_distance=False)
    votes = np.stack([(y[on_map] == label).sum(axis=1) for label in range(10)], axis=1)
    near = [np.isin(a, b).mean() for a, b in zip(on_map[drawn], in_data, strict=True)]
    return {"10-NN": float((votes.argmax(axis=1) == classes).mean()), "near": float(np.mean(near))}


def ours(name, **parameters):
    def fit(X):
        import isentropic

        return isentropic.make(name, n_jobs=1, **parameters).fit(X)

    return mapped(fit, lambda fitted, new: fitted.transform(new), lambda fitted: fitted.embedding_)


def open_tsne():
    def fit(X):
        import openTSNE

        return openTSNE.TSNE(perplexity=30, n_jobs=1, random_state=0).fit(X)

    return mapped(fit, lambda fitted, new: fitted.transform(new), np.asarray)


def umap_learn():
    def fit(X):
        import umap

        return umap.UMAP(random_state=0, n_jobs=1).fit(X)

    return mapped(fit, lambda fitted, new: fitted.transform(new), lambda fitted: fitted.embedding_)


def isomap_of_sklearn():
    def fit(X):
        from sklearn.manifold import Isomap

        return Isomap(n_neighbors=10, n_jobs=1).fit(X)

    return mapped(fit, lambda fitted, new: fitted.transform(new), lambda fitted: fitted.embedding_)


def cases():
    for source, columns in ((digits, 50), (pixels, 784)):
        contenders = {
            "umap-learn": umap_learn(),
            "isentropic UMAP": ours("umap", random_state=0),
            "Isomap of scikit-learn": isomap_of_sklearn(),
            "isentropic LandmarkIsomap": ours("landmark-isomap", random_state=0),
            "isentropic SDD": ours("sdd", random_state=0),
            "isentropic ParameterFreeSDD": ours("parameter-free-sdd", random_state=0),
        }
        name = f"10,000 rows of {columns} columns into 5,000"
        yield Case(name, with_new_rows(5_000, 10_000, source), contenders, repeats=1, peers=PEERS)
    for n, count in ((6_000, 1_000), (60_000, 10_000)):
        contenders = {"openTSNE": open_tsne(), "isentropic TSNE": ours("t-sne", random_state=0)}
        name = f"t-SNE, {count:,} rows into {n:,}"
        yield Case(name, with_new_rows(n, count, digits), contenders, warm_up=400, repeats=1, peers=PEERS,
                   only_by_name=n > 10_000)  # fmt: skip


CASES = {case.name: case for case in cases()}

if __name__ == "__main__":
    run_cases("benchmarks.new_rows", CASES)
