"""The features of largest standard deviation, as a map."""

from typing import Annotated

import numpy as np

from isentropic.embedding import Array, Embedder, LinearMap, NComponents, NJobs, Sub
from isentropic.embedding.training_data import training_data


class WidestFeatures(Embedder):
    """Project onto the features of largest standard deviation."""

    spread_: Annotated[np.ndarray, Array("d")]
    _map: Annotated[LinearMap, Sub(LinearMap)]

    def __init__(self, n_components: NComponents = 2, *, n_jobs: NJobs = None):
        self.n_components = n_components
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        data = training_data(self, X, keep_rows=False)
        spread = data.table.std(axis=0)
        widest = np.argsort(-spread, kind="stable")[: self.n_components]
        new_rows = LinearMap.along(data, data.table.mean(axis=0), np.eye(len(spread))[widest])
        return self._set_fit(new_rows.transform(data.table, self.n_jobs), new_rows, spread_=spread[widest])
