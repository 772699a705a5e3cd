"""``map_batch``: coordinates of a batch of rows by a saved model, as a pure function.

It keeps nothing between two calls but the model, which a process loads once, and it starts no threads. So
any engine can call it: a loop, joblib, Dask, Ray or Spark.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .._core.arguments import as_numbers
from .._core.errors import FileFormatError, InvalidInputError, notice, plural, require
from .._core.files import path_of
from .._core.runtime import checked_jobs
from .saved_model import SavedModel, read_model

_BLOCK = 2**22  # bytes that are hashed at a time


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A saved model by its path and the SHA-256 of its bytes: what travels to other processes.

    Each process reads the file once. A file that has changed since is refused.
    """

    path: str
    sha256: str

    @classmethod
    def of(cls, path: str | Path) -> ModelFile:
        """The model in a file, as it is now."""
        place = str(path_of(path).absolute())
        return cls(place, _digest(place))


def map_batch(model: Any, batch: Any, *, missing: str = "raise", n_jobs: int | None = 1) -> Any:
    """Map rows by a fitted model: the same coordinates for a row in any batch.

    Parameters
    ----------
    model : ModelFile, path or estimator
        A file that ``isentropic embed --save`` wrote, or a fitted estimator. A process reads a
        :class:`ModelFile` once, and a path once for each content of the file.
    batch : DataFrame or array of shape (b, m)
        A frame has the columns of the fitted table, in any order, and is prepared as that was. An array has
        features that are prepared already. No rows are fine.
    missing : {"raise", "drop", "mean", "keep"}
        What is done about missing values, as in :func:`isentropic.datasets.load`.
    n_jobs : int, optional
        Threads; one by default, as batches are what runs side by side.

    Returns
    -------
    DataFrame or array of shape (b, d)
        Coordinates. Of a frame a frame: its index has the rows that were mapped, all but those that
        ``missing="drop"`` leaves out.

    Examples
    --------
    >>> import numpy as np
    >>> from isentropic import PCA, scale
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> pca = PCA().fit(X)
    >>> together = scale.map_batch(pca, X)
    >>> bool(np.all(together[7:9] == scale.map_batch(pca, X[7:9])))
    True
    """
    saved = _saved_model(model, checked_jobs(n_jobs))
    estimator = saved.estimator if isinstance(saved, SavedModel) else saved
    must_be = "a fitted estimator that places new rows, or the file of one"
    require(hasattr(estimator, "transform"), "model", must_be, model)
    names = list(estimator.get_feature_names_out())
    is_frame = isinstance(batch, pd.DataFrame)
    if (is_frame or isinstance(batch, np.ndarray)) and not len(batch):
        nothing = np.empty((0, len(names)))
        return pd.DataFrame(nothing, columns=names) if is_frame else nothing
    if not is_frame:
        holes = estimator.__sklearn_tags__().input_tags.allow_nan
        return np.asarray(estimator.transform(as_numbers("batch", batch, holes=holes)))
    if isinstance(saved, SavedModel):
        try:
            table = prepared(saved, batch, missing)
        except InvalidInputError:
            if missing != "drop" or not _is_empty_after_drop(saved, batch):
                raise
            notice(f"{plural(len(batch), 'row')} of {len(batch)} with missing values left out.")
            return pd.DataFrame(np.empty((0, len(names))), columns=names, index=batch.index[:0])
        rows, X = table.other_columns.index, table.X
    else:
        known = getattr(estimator, "feature_names_in_", None)
        rows, X = batch.index, batch if known is None else batch[list(known)]
    return pd.DataFrame(np.asarray(estimator.transform(X)), columns=names, index=rows)


def _is_empty_after_drop(saved: SavedModel, batch: pd.DataFrame) -> bool:
    """Whether every row of a batch has a missing value, so that none is left to be mapped."""
    names = [column.name for column in saved.preparation.columns]
    return set(names) <= set(batch.columns) and bool(batch[names].isna().any(axis=1).all())


def prepared(saved: SavedModel, batch: pd.DataFrame, missing: str) -> Any:
    """The table of a batch, prepared as the fitted one was."""
    from ..tables import load

    return load(batch, preparation=saved.preparation, missing=missing)


def _saved_model(model: Any, n_jobs: int | None) -> Any:
    if isinstance(model, str | Path):
        model = ModelFile.of(model)
    return read_once(model, n_jobs) if isinstance(model, ModelFile) else model


@lru_cache(maxsize=4)
def read_once(model: ModelFile, n_jobs: int | None) -> SavedModel:
    if _digest(model.path) != model.sha256:
        raise FileFormatError(
            f"{model.path} must be the model that the work began with, got another one. Begin again, or "
            "restore the file."
        )
    saved = read_model(Path(model.path))
    if "n_jobs" in saved.estimator.get_params(deep=False):
        saved.estimator.set_params(n_jobs=n_jobs)
    return saved


def _digest(path: str) -> str:
    found = hashlib.sha256()
    try:
        with open(path, "rb") as file:
            while block := file.read(_BLOCK):
                found.update(block)
    except OSError as error:
        reason = error.strerror or str(error)
        raise FileFormatError(f"{path} cannot be read: {reason}. Check the path of the model.") from error
    return found.hexdigest()
