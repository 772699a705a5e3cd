"""New rows placed by networks on the costs of t-SNE and UMAP, beside the placements of TSNE and UMAP.

    python -m benchmarks.parametric_maps [CASE ...]

Needs the data folder (ISENTROPIC_DATA) with the MNIST files. The digits are in 50 principal components:
20,000 are fitted, 10,000 others are placed. "1-NN" and "10-NN" are the shares of these whose class is that of
the nearest fitted rows in the map. Seconds are those of the fit; "CPU s" are processor seconds of all
threads.
"""

from __future__ import annotations

import time

from .mnist_data import digits
from .runner import Case, run_cases

_FITTED, _NEW = 20_000, 10_000


def split_digits():
    X, y = digits(_FITTED + _NEW)
    return {"X": X[:_FITTED], "y": y[:_FITTED], "new_X": X[_FITTED:], "new_y": y[_FITTED:]}


def measured(make):
    """A contender: an estimator, fitted and asked for the places of new rows, both timed."""

    def run(data):
        model = make()
        start, begun = time.perf_counter(), time.process_time()
        model.fit(data["X"])
        spent = {"seconds": time.perf_counter() - start, "CPU s": time.process_time() - begun}
        begun = time.process_time()
        Z = model.transform(data["new_X"])
        spent["CPU s to place"] = time.process_time() - begun
        return {**spent, **_accuracies(model.embedding_, data["y"], Z, data["new_y"])}

    return run


def _accuracies(Z, y, new_Z, new_y):
    from sklearn.neighbors import KNeighborsClassifier

    return {f"{k}-NN": KNeighborsClassifier(k).fit(Z, y).score(new_Z, new_y) for k in (1, 10)}


def _tsne():
    from isentropic import TSNE

    return TSNE()


def _parametric_tsne():
    from isentropic import ParametricTSNE

    return ParametricTSNE()


def _mimic():
    from isentropic import TSNE, ParametricEmbedding

    return ParametricEmbedding(TSNE())


def _umap():
    from isentropic import UMAP

    return UMAP()


def _parametric_umap():
    from isentropic import ParametricUMAP

    return ParametricUMAP()


CASES = {
    case.name: case
    for case in (
        Case(
            "t-SNE, 20,000 digits and 10,000 new ones",
            split_digits,
            {"TSNE": measured(_tsne), "ParametricTSNE": measured(_parametric_tsne)},
            repeats=1,
        ),
        Case(
            "UMAP, 20,000 digits and 10,000 new ones",
            split_digits,
            {"UMAP": measured(_umap), "ParametricUMAP": measured(_parametric_umap)},
            repeats=1,
        ),
        Case(
            "a network that mimics t-SNE, 20,000 digits and 10,000 new ones",
            split_digits,
            {"ParametricEmbedding(TSNE())": measured(_mimic)},
            repeats=1,
            only_by_name=True,
        ),
    )
}

if __name__ == "__main__":
    run_cases("benchmarks.parametric_maps", CASES)
