"""A table in files of very different sizes, and models of it."""

import itertools

import numpy as np
import pandas as pd

from isentropic import make
from isentropic.scale.saved_model import Rows, SavedModel, make_reference_outputs
from isentropic.tables import load

CUTS = (0, 300, 300, 301, 640, 1000)  # one file without rows, one of a single row


def rows_of_many_files():
    """A thousand rows of numbers, levels and dates."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(1000, 4)).round(6), columns=["a", "b", "c", "d"])
    frame["kind"] = np.array(["u", "v", "w"])[random.integers(0, 3, 1000)]
    return frame


def write_parts(frame, folder, cuts=CUTS):
    folder.mkdir(parents=True)
    for number, (start, stop) in enumerate(itertools.pairwise(cuts)):
        part = frame.iloc[start:stop]
        if number == 3:  # the columns in another order
            part = part[["kind", "d", "c", "b", "a"]]
        part.to_parquet(folder / f"part-{number}.parquet", index=False)
    return folder


def save_model(frame, path, method="isomap", **parameters):
    table = load(frame)
    estimator = make(method, **parameters).fit(table.X)
    reference = make_reference_outputs(estimator, table.X)
    SavedModel(estimator, method, table.preparation, Rows.of(table), reference).write(path)
    return path
