"""How rows of mixed tables are compared: what each distance keeps of a column that was held out.

``python -m benchmarks.mixed_distances FOLDER`` reads the tables that ``real_tables_data`` wrote to FOLDER and
prints, for each table and distance, the agreement of the ten nearest rows with the held-out column: the share
of the same class, or the rank correlation with the mean of the ten. Nearest in the data (nn), on a map by
t-SNE, by UMAP, and by PCA (of distances: classical MDS). Only tables that choose rules are read.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist
from scipy.stats import spearmanr

from isentropic import Gower
from isentropic.datasets import load
from isentropic.distances import distances_between, in_units
from isentropic.registry import make

from .runner import answer_help

MIXED = (
    "forbes",
    "cars93",
    "msleep",
    "birthwt",
    "churn",
    "ames",
    "diamonds",
    "gapminder",
    "leaves",
    "biopsy",
)
MOST_ROWS, N_NEAREST = 800, 10
_LABEL = (40, 30)  # text of more levels, with fewer rows each, is a label and no feature


def features_of(path: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """At most 800 rows of a table without its labels, and what was held out."""
    frame, known = pd.read_csv(path), pd.read_csv(path.with_stem(f"{path.stem}-known"))
    if len(frame) > MOST_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(len(frame), MOST_ROWS, replace=False))
        frame, known = frame.iloc[rows].reset_index(drop=True), known.iloc[rows].reset_index(drop=True)
    texts = [name for name in frame if not pd.api.types.is_numeric_dtype(frame[name])]
    labels = [name for name in texts if frame[name].nunique() > max(_LABEL[0], len(frame) / _LABEL[1])]
    return frame.drop(columns=labels), known


def plain_gower(frame: pd.DataFrame) -> np.ndarray:
    table = load(frame, metric="gower", tails="keep")
    return _distances(table.X, Gower(levels=table.metric.levels, ordered=table.metric.ordered))


def balanced_gower(frame: pd.DataFrame) -> np.ndarray:
    table = load(frame, metric="gower", tails="keep")
    return _distances(table.X, table.metric)


def balanced_gower_with_logs(frame: pd.DataFrame) -> np.ndarray:
    table = load(frame, metric="gower")
    return _distances(table.X, table.metric)


def _distances(X: np.ndarray, metric: Gower) -> np.ndarray:
    rows = in_units(X, metric)
    return distances_between(rows, rows, metric, None)


def one_column_each(frame: pd.DataFrame) -> np.ndarray:
    """Standardised numbers; the levels of a column have variance 1 together."""
    return np.asarray(load(frame, missing="median", scaling="standard").X)


def with_logs(frame: pd.DataFrame) -> np.ndarray:
    """The same, with heavy tails brought in: the default."""
    return np.asarray(load(frame, missing="median").X)


def famd(frame: pd.DataFrame) -> np.ndarray:
    """Factor analysis of mixed data: levels are centred and divided by the root of their frequency."""
    return _coded(frame, lambda share: np.sqrt(share))


def standardised_levels(frame: pd.DataFrame) -> np.ndarray:
    """One-hot levels, each standardised as if it were a number."""
    return _coded(frame, lambda share: np.sqrt(share * (1.0 - share)))


def numbers_alone(frame: pd.DataFrame) -> np.ndarray:
    numbers = frame.select_dtypes("number")
    return np.asarray(load(numbers, missing="median", scaling="standard").X)


def _coded(frame: pd.DataFrame, spread: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    table = load(frame, missing="median", scaling="none")
    texts = [column.name for column in table.preparation.columns if column.kind == "nominal"]
    X = table.X.astype(float)
    for j, name in enumerate(table.feature_names):
        x = X[:, j] - X[:, j].mean()
        is_level = any(name.startswith(f"{text}=") for text in texts)
        scale = spread(X[:, j].mean()) if is_level else x.std()
        X[:, j] = x / scale if scale > 0 else 0.0
    return X


DISTANCES: dict[str, Callable[[pd.DataFrame], np.ndarray]] = {
    "plain Gower": plain_gower,
    "balanced Gower": balanced_gower,
    "balanced Gower, logs": balanced_gower_with_logs,
    "FAMD": famd,
    "standardised levels": standardised_levels,
    "numbers alone": numbers_alone,
    "equal shares": one_column_each,
    "equal shares, logs": with_logs,
}


def agreement(D: np.ndarray, known: pd.DataFrame) -> float:
    """Of the ten nearest with what is known, the mean over its columns."""
    D = D.copy()
    np.fill_diagonal(D, np.inf)
    nearest = np.argsort(D, axis=1, kind="stable")[:, :N_NEAREST]
    return float(np.mean([_one_agreement(known[name], nearest) for name in known]))


def _one_agreement(column: pd.Series, nearest: np.ndarray) -> float:
    there = column.notna().to_numpy()
    if pd.api.types.is_numeric_dtype(column):
        values = column.to_numpy(dtype=float)
        near = np.nanmean(values[nearest], axis=1)
        return float(spearmanr(values[there], near[there])[0])
    classes = column.astype(str).to_numpy()
    return float((classes[nearest] == classes[:, None])[there].mean())


def scores(frame: pd.DataFrame, known: pd.DataFrame, name: str) -> list[float]:
    """Agreement in the data and on the three maps."""
    X = DISTANCES[name](frame)
    is_distance = "Gower" in name
    metric = {"metric": "precomputed"} if is_distance else {}
    found = [agreement(X if is_distance else cdist(X, X), known)]
    for method in ("t-sne", "umap", "classical-mds" if is_distance else "pca"):
        options = {} if method == "pca" else metric
        model = make(method, **options)
        if "random_state" in model.get_params():
            model.set_params(random_state=0)
        Z = model.fit_transform(X)
        found.append(agreement(cdist(Z, Z), known))
    return found


def main(folder: Path) -> None:
    warnings.simplefilter("ignore")
    print(f"{'table':12}", *(f"{name:>27}" for name in DISTANCES))
    every = []
    for table in MIXED:
        frame, known = features_of(folder / f"{table}.csv")
        row = [scores(frame, known, name) for name in DISTANCES]
        every.append(row)
        print(f"{table:12}", *(" ".join(f"{value:6.3f}" for value in one) for one in row), flush=True)
    print(f"{'mean':12}", *(" ".join(f"{v:6.3f}" for v in one) for one in np.mean(every, axis=0)))


if __name__ == "__main__":
    answer_help(__doc__, least=1)
    main(Path(sys.argv[1]))
