"""ISOMAP against scikit-learn's: exact on the roll and on digits, landmarks on large tables.

    python -m benchmarks.isomap [CASE ...]

The digits need the data folder (ISENTROPIC_DATA) with the MNIST files.
"""

from __future__ import annotations

import os
from pathlib import Path
from time import process_time

import numpy as np

from .runner import Case, run_cases


def roll(n):
    def data():
        from sklearn.datasets import make_swiss_roll

        X, angle = make_swiss_roll(n, random_state=0)
        return {"X": X, "angle": angle}

    return data


def digits(n):
    def data():
        from isentropic.datasets import load

        folder = Path(os.environ["ISENTROPIC_DATA"])
        return {"X": load(str(folder / "MNIST" / "train-images-idx3-ubyte.gz")).X[:n]}

    return data


def stones(n):
    """Seven numbers about a stone, and its cut, colour and clarity as 20 columns: in parts, a level apart."""

    def data():
        rng = np.random.default_rng(0)
        shares = (3, 9, 22, 26, 40), (12, 18, 18, 21, 16, 10, 5), (1, 17, 24, 23, 15, 10, 7, 3)
        levels = [rng.choice(len(share), n, p=np.divide(share, sum(share))) for share in shares]
        weight = (0.2 + 2.3 * rng.beta(1.2, 3, n)).round(2)
        depth, table = (58 + 7 * rng.beta(6, 6, n)).round(1), (53 + 10 * rng.beta(5, 5, n)).round()
        length = (6.5 * np.cbrt(weight)).round(2)
        price = 3500 * weight**1.7 * np.exp(np.dot([0.05, -0.08, 0.1], levels))
        height = (length * depth / 100).round(2)
        numbers = [weight, depth, table, price.round(), length, (1.003 * length).round(2), height]
        return {"X": coded(numbers, levels)}

    return data


def levels(n):
    """20 numbers along a curve, and five level columns as 19 columns."""

    def data():
        rng = np.random.default_rng(0)
        along = rng.uniform(-1, 1, (n, 1)) * rng.normal(size=20)
        numbers = np.sin(along) + 0.05 * rng.uniform(-1, 1, (n, 20))
        shares = [rng.dirichlet(np.full(count, 4.0)) for count in (3, 3, 4, 4, 5)]
        return {"X": coded(numbers.T, [rng.choice(len(share), n, p=share) for share in shares])}

    return data


def clusters(n):
    """50 clusters in 50 columns whose boxes overlap, and as many rows around one place, in one piece."""

    def data():
        rng = np.random.default_rng(0)
        middles = 2.0 * rng.normal(size=(50, 50))
        noise = rng.normal(size=(n, 50))
        return {"connected": noise, "clustered": middles[rng.integers(0, 50, n)] + noise}

    return data


def coded(numbers, levels):
    """Numbers beside a column for each level, each of mean 0 and variance 1."""
    X = np.column_stack([*numbers, *(level[:, None] == np.unique(level) for level in levels)])
    return (X - X.mean(axis=0)) / X.std(axis=0)


def in_parts(data):
    """The parts of the neighbour graph of a table."""

    def with_parts():
        import warnings

        from isentropic import neighbor_graph

        X = data()["X"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return {"X": X, "part": neighbor_graph(X, 10, on_disconnected="inflate").components}

    return with_parts


def scikit_learn(data):
    import warnings

    from sklearn.manifold import Isomap

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the small part used to warm up is in pieces
        return {"map": Isomap(n_neighbors=10, n_components=2, n_jobs=-1).fit_transform(data["X"])}


def ours(n_jobs):
    def run(data):
        from isentropic import Isomap

        return {"map": Isomap(n_neighbors=10, n_jobs=n_jobs).fit_transform(data["X"])}

    return run


def scikit_learn_bridges(data):
    """Joins each pair of parts, so it adds more edges than are needed."""
    from scipy.sparse import lil_array
    from sklearn.utils.graph import _fix_connected_components

    X, part = data["X"], data["part"]
    n_parts, part = len(np.unique(part)), np.unique(part, return_inverse=True)[1]
    joined = _fix_connected_components(X, lil_array((len(X), len(X))), n_parts, part, mode="distance")
    return {"edges": joined.nnz / 2}


def our_bridges(data):
    from isentropic.neighbors.connecting_edges import shortest_bridges

    part = np.unique(data["part"], return_inverse=True)[1]
    return {"edges": len(shortest_bridges(data["X"], part)[0])}


def ours_of_a_table(data):
    import warnings

    from isentropic import Isomap

    X = data["X"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # in parts, as it should be
        isomap = Isomap(n_neighbors=10, n_landmarks=min(500, len(X) - 1)).fit(X)
    return {"parts": isomap.graph_.n_components, "exact": isomap.graph_.exact}


def ours_in_cpu_seconds(table):
    """Beside processes of others: seconds of the processor, which the clock does not tell."""

    def run(data):
        start = process_time()
        found = ours_of_a_table({"X": data[table]})
        return {"CPU seconds": process_time() - start, **found}

    return run


def ours_with_landmarks(data):
    from isentropic import Isomap

    X, angle = data["X"], data["angle"]
    Z = Isomap(n_neighbors=10, n_landmarks=min(500, len(X) - 1)).fit_transform(X)
    correlation = np.abs(np.corrcoef(np.column_stack([Z, angle, X[:, 1]]), rowvar=False))[:2, 2:]
    return {"correlation with the angle": correlation[:, 0].max(), "with the height": correlation[:, 1].max()}


EXACT = {"scikit-learn": scikit_learn, "isentropic": ours(None), "isentropic, n_jobs=1": ours(1)}
LANDMARKS = {"isentropic, 500 landmarks": ours_with_landmarks}
OF_A_TABLE = {"isentropic, 500 landmarks": ours_of_a_table}
OF_CLUSTERS = {
    "isentropic, connected": ours_in_cpu_seconds("connected"),
    "isentropic, 50 clusters": ours_in_cpu_seconds("clustered"),
}
BRIDGES = {"scikit-learn": scikit_learn_bridges, "isentropic": our_bridges}

CASES = {
    case.name: case
    for case in (
        Case("roll, n = 5,000", roll(5_000), EXACT),
        Case("roll, n = 10,000", roll(10_000), EXACT),
        Case("digits, n = 5,000", digits(5_000), EXACT),
        Case("landmarks, n = 20,000", roll(20_000), LANDMARKS),
        Case("landmarks, n = 200,000", roll(200_000), LANDMARKS),
        Case("bridges, stones, n = 15,000", in_parts(stones(15_000)), BRIDGES, warm_up=3000),
        Case("landmarks, stones, n = 54,000", stones(54_000), OF_A_TABLE, warm_up=6000),
        Case("landmarks, levels, n = 54,000", levels(54_000), OF_A_TABLE, warm_up=6000),
        Case("landmarks, clusters, n = 100,000", clusters(100_000), OF_CLUSTERS, warm_up=25_000),
    )
}

if __name__ == "__main__":
    run_cases("benchmarks.isomap", CASES)
