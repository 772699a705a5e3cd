"""How much of the known structure of a table a map recovers, and two maps that anyone would make first.

Structure recovered is what the nearest points on the map tell about columns that were held out. Each row is
predicted by its k nearest other points: classes by vote, scored by balanced accuracy (rare classes count as
much as common ones); numbers and ordered levels by the mean, scored by Spearman's rank correlation. k is 10,
and a fifth of the rows below 50. Of several held-out columns the mean counts. Rows without a known value
neither vote nor count. Rows of one entity (a country over the years) do not vote for each other: what is
known of a country holds for all its rows, and a map that only keeps countries together tells nothing else.
Classes of a single entity are left out then, as no other row could vote for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from scipy.stats import spearmanr
from sklearn.metrics import recall_score
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

CODED_CLASSES = frozenset({"digit", "month", "MOSHOOFD"})  # numbers without an order, or in a circle
_RESAMPLES = 200


def n_neighbors(n: int) -> int:
    """
    >>> n_neighbors(1000), n_neighbors(25)
    (10, 5)
    """
    return max(1, min(10, n // 5))


def has_order(truth: pd.Series) -> bool:
    """Whether a held-out column is a number or an ordered level; two levels are classes."""
    is_number = pd.api.types.is_numeric_dtype(truth) and not pd.api.types.is_bool_dtype(truth)
    return is_number and truth.nunique() > 2 and truth.name not in CODED_CLASSES


def predictions(Z: np.ndarray, truth: pd.Series, entity: pd.Series | None = None) -> np.ndarray:
    """Each row as its nearest other rows say, none of its own entity; of rows with a known value only."""
    known = truth.notna().to_numpy()
    values = truth[known]
    near = _nearest(np.asarray(Z, float)[known], None if entity is None else entity[known])
    if has_order(truth):
        return values.to_numpy(float)[near].mean(axis=1)
    codes, levels = pd.factorize(values, sort=True)
    votes = np.stack([(codes[near] == code).sum(axis=1) for code in range(len(levels))], axis=1)
    votes = votes + 0.5 * (np.arange(len(levels)) == codes[near[:, 0]][:, None])  # ties: the nearest one
    return votes.argmax(axis=1)


def _nearest(points: np.ndarray, entity: pd.Series | None) -> np.ndarray:
    k = n_neighbors(len(points))
    if entity is None:
        return NearestNeighbors(n_neighbors=k).fit(points).kneighbors(return_distance=False)
    owner = pd.factorize(entity)[0]
    search = NearestNeighbors(n_neighbors=k + np.bincount(owner).max() - 1).fit(points)
    near = search.kneighbors(return_distance=False)
    others_first = np.argsort(owner[near] == owner[:, None], axis=1, kind="stable")
    return np.take_along_axis(near, others_first, axis=1)[:, :k]


def score(truth: pd.Series, predicted: np.ndarray) -> float:
    """Balanced accuracy of classes, or rank correlation of numbers."""
    values = truth[truth.notna()]
    if has_order(truth):
        return _rank_correlation(values.to_numpy(float), predicted)
    return _balanced_accuracy(pd.factorize(values, sort=True)[0], predicted)


def recovered(Z: np.ndarray, known: pd.DataFrame, entity: pd.Series | None = None) -> float:
    """Mean over the held-out columns; nan where none is known."""
    scores = [score(known[column], predictions(Z, known[column], entity)) for column in known]
    return float(np.mean(scores)) if scores else float("nan")


def known_elsewhere(known: pd.DataFrame, entity: pd.Series | None) -> pd.DataFrame:
    """What is known, without classes that a single entity has: they count as unknown."""
    if entity is None:
        return known
    several = {
        column: known[column].map(entity.groupby(known[column]).nunique() > 1).fillna(False).astype(bool)
        for column in known
        if not has_order(known[column])
    }
    return known.assign(**{column: known[column].where(keep) for column, keep in several.items()})


def chance(known: pd.DataFrame) -> float:
    """Score of a map that tells nothing: one over the number of classes, 0 for numbers."""
    scores = [0.0 if has_order(known[column]) else 1 / max(known[column].nunique(), 1) for column in known]
    return float(np.mean(scores)) if scores else float("nan")


def is_clearly_below(
    Z: np.ndarray, rival: np.ndarray, known: pd.DataFrame, entity: pd.Series | None = None, seed: int = 0
) -> bool:
    """Whether a map recovers less than a rival in 97.5% of the bootstrap samples of the rows."""
    rng = np.random.default_rng(seed)
    gaps = np.zeros(_RESAMPLES)
    for column in known:
        truth = known[column]
        own, other = predictions(Z, truth, entity), predictions(rival, truth, entity)
        values = truth[truth.notna()]
        ordered = has_order(truth)
        numbers = values.to_numpy(float) if ordered else pd.factorize(values, sort=True)[0]
        measure = _rank_correlation if ordered else _balanced_accuracy
        for b in range(_RESAMPLES):
            rows = rng.integers(len(numbers), size=len(numbers))
            gaps[b] += measure(numbers[rows], other[rows]) - measure(numbers[rows], own[rows])
    return bool(len(known.columns)) and float(np.quantile(gaps, 0.025)) > 0


def _rank_correlation(values: np.ndarray, predicted: np.ndarray) -> float:
    if np.ptp(values) == 0 or np.ptp(predicted) == 0:
        return 0.0
    return float(spearmanr(values, predicted).statistic)


def _balanced_accuracy(codes: np.ndarray, predicted: np.ndarray) -> float:
    return float(recall_score(codes, predicted, labels=np.unique(codes), average="macro"))


# ---- first maps ----------------------------------------------------------------------------------


def plain_numbers(frame: pd.DataFrame, names: str | None = None) -> np.ndarray:
    """What one would give to scikit-learn at once: levels as 0 and 1, medians for gaps, unit variances.

    The column that names the rows is left out, and text of which most values occur once.
    """
    frame = frame.drop(columns=[names] if names in frame else [])
    text = frame.select_dtypes(exclude=["number", "bool"])
    named = [column for column in text if text[column].nunique() > len(frame) / 2]
    levels = [column for column in text if column not in named]
    numbers = pd.get_dummies(frame.drop(columns=named), columns=levels, dtype=float).astype(float)
    filled = numbers.fillna(numbers.median()).fillna(0.0)
    return StandardScaler().fit_transform(filled.loc[:, filled.nunique() > 1].to_numpy())


def default_pca(X: np.ndarray) -> np.ndarray:
    from isentropic import PCA

    return PCA(n_components=2).fit_transform(X)


def default_umap(X: np.ndarray) -> np.ndarray:
    from isentropic import UMAP

    return UMAP(n_components=2, random_state=0).fit_transform(X)


FIRST_MAPS: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {"pca": default_pca, "umap": default_umap}
