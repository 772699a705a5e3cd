"""Append rows to a fitted map: exactly if the method can, else by mapping and refining them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..._core.arguments import as_numbers
from ..._core.errors import InvalidInputError, require, require_count
from ..._core.state import is_fitted
from ...distances import is_gower
from ...embedding.embedder import atomic_change
from ...embedding.initialization import WarmStart
from ...embedding.input_rows import metric_of_rows, require_dense_rows
from ...embedding.training_data import training_metric, training_rows
from ...quality import Movement, aligned_distance
from ...tables.class_labels import Names, has_default_index, matched_names, row_names

REFINE = 50  # steps that make room for new rows: more move old ones further than the new ones need


@dataclass(frozen=True, slots=True, eq=False)
class Appended:
    """How rows came into a map, and how far the old ones moved.

    ``kind`` is ``"exact"`` where the map is that of a fit on all rows, ``"refined"`` where new rows were
    placed among the old ones and all moved on by ``steps``, ``"placed"`` where no steps followed.
    """

    kind: Literal["exact", "refined", "placed"]
    n_new: int
    steps: int
    moved: Movement  # of the old rows, after Procrustes
    seconds: float


def grows(kind: type) -> bool:
    """Whether a class of estimators can take more rows, exactly or by continuing from a map."""
    return hasattr(kind, "partial_fit") or getattr(kind, "_refines", False)


def can_append(model: Any) -> bool:
    """Whether rows can be appended: not to a map of precomputed distances or of classes."""
    if not grows(type(model)) or "classes_" in vars(model):
        return False
    return hasattr(model, "partial_fit") or training_rows(model) is not None


def append_rows(model: Any, X: Any, *, refine: int = REFINE) -> Appended:
    """Append rows to a fitted map, in place, and tell how far the old rows moved.

    A method with ``partial_fit`` (ISOMAP) gives the map of a fit on all rows, turned onto the old one. Others
    place the new rows by ``transform`` and then take ``refine`` steps of their own descent with all rows.
    What fails, or is ended by Ctrl-C, leaves the model as it was.

    Cost: that of ``partial_fit``; else of the distances, or neighbours, of all rows, and of ``refine`` steps.

    Parameters
    ----------
    model : fitted estimator
        Isomap, TSNE, UMAP, SDD and its kin, MetricMDS or Sammon, fitted to a table.
    X : array (b, m), or DataFrame
        New rows, with the features of the fitted ones; with new names where those have names.
    refine : int
        Steps after the new rows are placed; with 0 every old row stays where it is.

    Returns
    -------
    Appended

    Examples
    --------
    >>> from isentropic import SDD, append_rows, datasets
    >>> iris = datasets.load("builtin:iris")
    >>> sdd = SDD(degree=2).fit(iris.X[:140])
    >>> found = append_rows(sdd, iris.X[140:], refine=20)
    >>> found.kind, found.n_new, sdd.embedding_.shape
    ('refined', 10, (150, 2))
    >>> bool(found.moved.median < 0.05)
    True
    """
    refine = require_count("refine", refine, "a number of steps", least=0)
    name = type(model).__name__
    require(hasattr(model, "get_params") and is_fitted(model), "model", "a fitted estimator", name)
    if not can_append(model):
        learnt = grows(type(model)) and "classes_" in vars(model)
        why = "it learnt from classes" if learnt else "it neither grows exactly nor goes on from a map"
        raise InvalidInputError(
            f"{name} cannot take more rows: {why}. Fit all rows together, or place the new ones by transform."
        )
    hint = "Its ranges are those of all rows: fit all together, or place the new ones by transform."
    fixed = not is_gower(metric_of_rows(training_metric(model)))
    require(fixed, "metric of the fitted rows", "one that more rows do not change", "gower", hint)
    require_dense_rows(model)
    as_numbers("X", X)
    began, before = time.perf_counter(), model.embedding_.copy()
    kind: Literal["exact", "refined", "placed"] = "refined" if refine else "placed"
    n = len(before)
    with atomic_change(model) as grown:
        if hasattr(grown, "partial_fit"):
            grown.partial_fit(X, align_to_previous=True)
            kind, steps = "exact", 0
        else:
            _refined(grown, X, refine)
            steps = grown.n_iter_
        moved = aligned_distance(before, grown.embedding_[:n])
    return Appended(kind, len(model.embedding_) - n, steps, moved, time.perf_counter() - began)


def _refined(model: Any, X: Any, steps: int) -> None:
    """Map the new rows, then refine all."""
    known = training_rows(model)
    names = _names_of_all(model, X)
    Z = np.concatenate([model.embedding_, np.asarray(model.transform(X), float)])
    table: Any = np.concatenate([known, np.asarray(X, float)])
    columns = getattr(model, "feature_names_in_", None)
    if columns is not None or names is not None:
        import pandas as pd

        table = pd.DataFrame(table, index=names, columns=columns)
    model.fit(table, init=WarmStart(Z, steps))


def _names_of_all(model: Any, X: Any) -> Names | None:
    """Names of the old rows, where these have some, and of the new ones; none twice."""
    old, new = model.training_row_names, row_names(X)
    if old is None:
        return None
    named = new is not None and not has_default_index(X)
    hint = f"The fitted rows have names, such as {old[0]!r}: give a DataFrame with an index."
    require(named, "X", "a table with row names", type(X).__name__, hint)
    assert new is not None
    again = np.flatnonzero(matched_names(new, old, "row names") >= 0)
    hint = "Leave them out: their places stay as they are. Or fit all rows anew."
    got = f"{len(again)} that the map has, such as {new[again[0]]!r}" if len(again) else ""
    require(len(again) == 0, "X", "rows with new names", got, hint)
    return np.concatenate([old, new])
