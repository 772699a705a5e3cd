"""``Selected``: an estimator that chooses the parameters of another by the quality of its map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..._core.errors import require
from ..._core.specs import Dict, Text
from ..._core.state import Model, Plain, Sub, Value
from ...embedding.embedder import Embedder
from ...embedding.input_rows import checked_rows
from ...embedding.training_data import NJobs, Part, TrainingData, training_data
from ...selection import Selection, neighbor_grid, select

_TRIALS = 6  # where no grid is given


def _inner_has_transform(selected: Selected) -> bool:
    return hasattr(getattr(selected, "best_estimator_", selected.estimator), "transform")


@dataclass(frozen=True, eq=False)
class ChosenMap(Part):
    """The metric of rows; the chosen estimator has its own map for new ones."""

    data: Annotated[TrainingData, Sub(TrainingData)]


class Selected(Embedder):
    """Fit every set of parameters, keep the best map, and report the score of each.

    The choice sees no labels: it maximises a measure of the map ``Z(p)`` of the data,
    ``p* = argmax_p q(X, Z(p))``, by default the area under R_NX. The chosen estimator is fitted once more, on
    all rows. Works in a Pipeline and, where the inner estimator has ``transform``, places new rows.

    Cost: one fit and one score for each set of parameters, in parallel, and one more fit.

    Parameters
    ----------
    estimator : estimator
        With ``fit_transform``; it is cloned, never changed.
    grid : mapping or list of mappings, optional
        Values of parameters, as in :func:`isentropic.selection.select`. Default: six numbers of
        neighbours from 5 to 100, at most a quarter of the rows.
    criterion : str
        What the chosen map is best at: "rnx_auc", "near_neighbors", "trustworthiness", "continuity",
        "kendall_tau" or "residual_variance".
    n_neighbors : int
        k of near neighbors, trustworthiness and continuity.
    sample : "auto", None or int
        Rows that are compared with all others, ``"auto"`` for at most 1,000, None for all.
    n_jobs : int, optional
        Trials at the same time. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, d)
        The map of the chosen estimator.
    best_params_ : dict
        The chosen parameters.
    best_estimator_ : estimator
        Fitted with them.
    selection_ : Selection
        Every trial with its score, and which is best.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Lee, Peluffo-Ordonez and Verleysen (2015), for the area under R_NX.

    Examples
    --------
    >>> from isentropic import Isomap, datasets
    >>> from isentropic.meta import Selected
    >>> roll = datasets.load("builtin:swiss-roll", n_samples=300)
    >>> selected = Selected(Isomap(), {"n_neighbors": [5, 20, 80]}).fit(roll.X)
    >>> selected.best_params_
    {'n_neighbors': 5}
    >>> len(selected.selection_.trials), selected.transform(roll.X[:4]).shape
    (3, (4, 2))
    """

    selection_: Annotated[Selection, Value(Selection)]
    best_params_: Annotated[dict[str, Any], Dict(Text(), Plain())]
    best_estimator_: Annotated[Any, Model(n="n", m="m", d="d")]
    _map: Annotated[ChosenMap, Sub(ChosenMap)]

    def __init__(
        self, estimator: Annotated[Any, Model(fitted=False)], grid=None, *, criterion="rnx_auc",
        n_neighbors=10, sample="auto", n_jobs: NJobs = None,
    ):  # fmt: skip
        self.estimator = estimator
        self.grid = grid
        self.criterion = criterion
        self.n_neighbors = n_neighbors
        self.sample = sample
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Try, choose, fit. ``y`` is passed on to the estimator."""
        data = training_data(self, X, keep_rows=False)
        X = data.table
        require(len(X) >= 3, "X", "a table of at least 3 rows", len(X), "n_samples = 1 or 2 leave no choice.")
        found = select(
            self.estimator, X, self._grid(len(X)), y=y, criterion=self.criterion,
            n_neighbors=self.n_neighbors, metric=self.metric, sample=self.sample, n_jobs=self.n_jobs,
        )  # fmt: skip
        best = clone(self.estimator).set_params(**found.params)
        Z = np.ascontiguousarray(best.fit_transform(X, y), float)
        return self._set_fit(
            Z, ChosenMap(data), selection_=found, best_params_=found.params, best_estimator_=best
        )

    def transform(self, X) -> np.ndarray:
        """Coordinates of rows, as the chosen estimator places them."""
        check_is_fitted(self)
        rows = checked_rows(self, X, metric=self._map.data.row_metric, fitting=False)
        return self.best_estimator_.transform(rows)

    @property
    def metric(self):
        """That of the inner estimator: what distances in the data are."""
        return getattr(self.estimator, "metric", "euclidean")

    def _grid(self, n_rows: int):
        if self.grid is not None:
            return self.grid
        params = self.estimator.get_params()
        hint = "Say which parameters are tried, as in Selected(estimator, {'degree': [1, 2]})."
        require("n_neighbors" in params, "grid", f"given for {type(self.estimator).__name__}", None, hint)
        return {"n_neighbors": neighbor_grid(n_rows, _TRIALS, params["n_neighbors"])}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.target_tags = inner.target_tags
        return tags


# After the class is there: set_output wraps methods when it is made, and would hide the condition.
Selected.transform = available_if(_inner_has_transform)(Selected.transform)  # type: ignore[method-assign]
