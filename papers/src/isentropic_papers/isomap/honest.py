"""The spaces of 2016 learnt from four fifths of the rows, and judged on the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC, SVR

from isentropic.experiments.protocols import Moments, Protocol, Repeats
from isentropic.quality import kruskal_stress

from .protocol import NUMERIC, reducer, table_rows


def honest_space(
    dataset: str,
    reduction: str,
    n_components: int | None,
    n_neighbors: int | None,
    grid: Sequence[Mapping[str, Any]],
    n_repeats: int = 5,
) -> dict[str, float]:
    """The same space, learnt from four fifths of the rows and judged on the others, ``n_repeats`` times.

    Means and spreads of columns, the map, its own spread and the parameters of the SVM (by inner folds) come
    from the training rows; the others are placed. Stress is that of the placed rows, after the best scaling.
    """
    X, y = table_rows(dataset)
    is_number = dataset in ("K", *NUMERIC)
    protocol = Protocol(measure="r2" if is_number else "accuracy", n_repeats=n_repeats, test_share=0.2)
    splits = protocol.splits(y)
    nearest = KNeighborsRegressor(1) if is_number else KNeighborsClassifier(1)
    scores = []
    for split in splits:
        columns = Moments.of(X[split.train])
        known, new = columns.scaled(X[split.train]), columns.scaled(X[split.test])
        found = {}
        if n_components is not None:
            model = reducer(reduction, n_components, n_neighbors)
            known, rows = model.fit_transform(known), new
            new = model.transform(rows)
            found["Kruskal's stress"] = kruskal_stress(rows, new, kind="scaled")
            places = Moments.of(known)
            known, new = places.scaled(known), places.scaled(new)
        taught, true = y[split.train], y[split.test]
        found["1-NN"] = float(nearest.fit(known, taught).score(new, true))
        judge = SVR() if dataset in NUMERIC else SVC()
        found["Score"] = float(_searched(judge, grid).fit(known, taught).score(new, true))
        scores.append(found)
    return Repeats(tuple(scores), len(splits[0].train), len(splits[0].test)).measures()


def _searched(judge: Any, grid: Sequence[Mapping[str, Any]]) -> GridSearchCV:
    return GridSearchCV(judge, [dict(part) for part in grid], cv=KFold(3, shuffle=True, random_state=0))
