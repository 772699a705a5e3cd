"""Fit a method to a sample of rows that is large enough: until more rows no longer help.

A map fitted to n rows places rows that it has not seen. How well it does, by R_NX between these rows, is
measured for several draws of n rows. The sample is doubled until the gain is within what draws differ by.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from .. import __version__
from .._core.errors import FileFormatError, InvalidInputError, require, require_count
from .._core.runtime import config_context, get_config
from .._core.values import Table
from ..quality import assess
from ..registry import METHODS
from ..tables.partitions import Partition, batch_rows, partitions_of, require_alike
from ..tables.readers.layout import AUTO, Layout
from .batch_mapping import prepared
from .row_samples import count_source, read_sample
from .row_sums import moments_of
from .saved_model import Rows, SavedModel, make_reference_outputs, read_model

POOL = 50_000  # rows that "auto" draws from
_FIRST, _JUDGED, _DRAWS = (
    2_000,
    2_000,
    3,
)  # rows of the smallest sample, rows that are mapped, draws of a size


@dataclass(frozen=True, slots=True)
class SampleSize:
    """How well maps of this many rows place others: the area under R_NX of each draw."""

    n_rows: int
    scores: tuple[float, ...]

    @property
    def mean(self) -> float:
        return float(np.mean(self.scores))

    @property
    def spread(self) -> float:
        """Standard deviation between draws."""
        return float(np.std(self.scores, ddof=1))


@dataclass(frozen=True, slots=True)
class SampleFit:
    """A fitted estimator, the rows of the sample that it was fitted to, and what led to their number."""

    estimator: Any
    rows: np.ndarray
    sizes: tuple[SampleSize, ...] = ()


def checked_fit_rows(fit_rows: Any) -> int | str:
    """A number of rows, "auto" or "all"."""
    if fit_rows in ("auto", "all"):
        return str(fit_rows)
    return require_count("fit_rows", fit_rows, "a number of rows from 10, 'auto' or 'all'", least=10)


def fit_on_sample(estimator: Any, X: Any, y: Any = None, *, grow: bool = False) -> SampleFit:
    """Fit to all rows of a sample or, with ``grow``, to as many of them as help.

    With ``grow`` a clone of the estimator is fitted three times to 2,000 rows, to 4,000 and so on; each
    places the same 2,000 others. The cost is that of some ten fits of the size that is chosen.
    """
    n = len(X)
    require(n >= 2, "the sample", "of at least 2 rows", n)
    if not grow or n < 2 * _FIRST + _JUDGED:
        return SampleFit(_fitted(estimator, X, y, np.arange(n)), np.arange(n))
    order = np.random.RandomState(0).permutation(n)  # a fixed one: a sample gives one model
    judged, others = np.sort(order[:_JUDGED]), order[_JUDGED:]
    sizes: list[SampleSize] = []
    size = _FIRST
    while True:
        sizes.append(SampleSize(size, tuple(_scores(estimator, X, y, judged, others, size))))
        if len(sizes) > 1 and not _helps(*sizes[-2:]):
            size = sizes[-2].n_rows
            break
        if 2 * size > len(others):
            break
        size *= 2
    rows = np.sort(_draw(others, size, 0))
    return SampleFit(_fitted(estimator, X, y, rows), rows, tuple(sizes))


def _helps(fewer: SampleSize, more: SampleSize) -> bool:
    """Whether twice the rows are better by more than draws differ."""
    return more.mean - fewer.mean > max(fewer.spread, more.spread)


def _scores(
    estimator: Any, X: Any, y: Any, judged: np.ndarray, others: np.ndarray, size: int
) -> Iterator[float]:
    progress = get_config().progress
    for draw in range(_DRAWS):
        with config_context(progress=None):
            model = _fitted(clone(estimator), X, y, np.sort(_draw(others, size, draw)))
            found = assess(X[judged], model.transform(X[judged]), measures="ranks")
        if progress is not None:
            progress(f"a sample of {size:,} rows", draw + 1, _DRAWS)
        yield float(found.measures["rnx_auc"].value)


def _draw(others: np.ndarray, size: int, draw: int) -> np.ndarray:
    """Draw number ``draw``: apart from the other ones where there are rows enough."""
    return np.roll(others, -draw * size)[:size]


def _fitted(estimator: Any, X: Any, y: Any, rows: np.ndarray) -> Any:
    return estimator.fit(X[rows], None if y is None else np.asarray(y)[rows])


# ---- a source of many files ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SourceFit:
    """A model of a source, how many of its rows it was fitted to, and what led to their number."""

    model: SavedModel
    table: Table  # the rows that were drawn
    n_rows: int  # of the source
    n_fitted: int
    sizes: tuple[SampleSize, ...] = ()
    was_there: bool = False


def fit_source(
    estimator: Any,
    method: str,
    source: Any,
    prepare: Callable[[pd.DataFrame], Table],
    *,
    fit_rows: int | str = "auto",
    random_state: int = 0,
    layout: Layout = AUTO,
    texts: frozenset[str] = frozenset(),
    earlier: Path | None = None,
) -> SourceFit:
    """Fit a method to rows of a folder, a pattern or files.

    ``prepare`` makes a table of the rows that are drawn; every other row is prepared as they are. With
    ``fit_rows="all"`` a method whose ``fit`` takes moments gets those of all rows, in one more pass; for
    others all rows are read into memory. ``earlier`` is the file of a model of an earlier run, which is taken
    if it was made from the same rows by the same parameters.
    """
    partitions = partitions_of(source, layout)
    columns, rows = list(require_alike(partitions)), count_source(partitions)
    total = sum(rows.counts)
    require(total >= 2, "source", "of at least 2 rows", total)
    by_moments = fit_rows == "all" and "moments" in inspect.signature(estimator.fit).parameters
    size = total if fit_rows == "all" else POOL if fit_rows == "auto" else int(fit_rows)
    size = min(POOL, size) if by_moments else size
    frame = read_sample(partitions, rows.counts, size, columns, random_state, texts | rows.texts)
    table = prepare(frame)
    if table.metric != "euclidean":
        takes_metrics = "metric" in estimator.get_params()
        require(takes_metrics, "metric", f"euclidean for {method}", table.metric)
        estimator.set_params(metric=table.metric)
    content = [one.digest() for one in partitions] if by_moments else []
    made_from = _made_from(method, estimator, frame, table, [str(fit_rows), *content])
    found = _earlier_model(earlier, made_from)
    if found is not None:
        n_fitted = found.n_fitted or len(found.estimator.embedding_)
        return SourceFit(found, table, total, n_fitted, was_there=True)
    y = _classes(method, table)
    if by_moments:
        every = _prepared_rows(partitions, estimator, method, table)
        estimator.fit(table.X, y, moments=moments_of(every, table.X.mean(axis=0)))
        fit, n_fitted = SampleFit(estimator, np.arange(len(table.X))), total
    else:
        fit = fit_on_sample(estimator, table.X, y, grow=fit_rows == "auto")
        n_fitted = len(fit.rows)
    outputs = make_reference_outputs(fit.estimator, table.X[fit.rows])
    model = SavedModel(fit.estimator, method, table.preparation, _rows_of(table, fit.rows), outputs,
                       made_from=made_from, n_fitted=n_fitted)  # fmt: skip
    return SourceFit(model, table, total, n_fitted, fit.sizes)


def _classes(method: str, table: Table) -> Any:
    if not METHODS[method].needs_y:
        return None
    require(table.y is not None, "target", f"given, because {method} learns from it", None)
    return table.y if table.classes is None else table.classes


def _prepared_rows(
    partitions: tuple[Partition, ...], estimator: Any, method: str, table: Table
) -> Iterator[np.ndarray]:
    """All rows of a source as the sample was prepared, batch by batch."""
    saved = SavedModel(estimator, method, table.preparation, None)
    columns = [column.name for column in table.preparation.columns]
    progress = get_config().progress
    for number, partition in enumerate(partitions):
        for batch in partition.batches(batch_rows(len(columns)), columns, saved.text_columns):
            try:
                yield prepared(saved, batch, "raise").X
            except InvalidInputError as error:
                raise FileFormatError(f"{partition.path}: {error}") from error
        if progress is not None:
            progress("summing rows", number + 1, len(partitions))


def _rows_of(table: Table, rows: np.ndarray) -> Rows:
    every, places = Rows.of(table), rows.tolist()
    parts = (None if part is None else tuple(part[i] for i in places) for part in (every.names, every.labels))
    return Rows(*parts)


def _made_from(method: str, estimator: Any, frame: pd.DataFrame, table: Table, more: list[str]) -> str:
    """Hash of all that a model depends on: the rows that were drawn, how they are prepared, parameters."""
    given = estimator.get_params().items()
    parameters = sorted((name, repr(value)) for name, value in given if name.split("__")[-1] != "n_jobs")
    prepared_by = table.preparation.to_json()
    what = [__version__, method, parameters, prepared_by, list(map(str, frame.columns)), *more]
    found = hashlib.sha256(json.dumps(what, sort_keys=True, default=str).encode())
    found.update(pd.util.hash_pandas_object(frame).to_numpy().tobytes())
    return found.hexdigest()


def _earlier_model(path: Path | None, made_from: str) -> SavedModel | None:
    """The model of an earlier run, if it was made from the same."""
    if path is None or not path.is_file():
        return None
    try:
        found = read_model(path)
    except (FileFormatError, InvalidInputError):
        return None
    return found if found.made_from == made_from else None
