"""A small method that learns from classes, so that all that is said of such methods is tried on one."""

from types import MappingProxyType
from typing import Annotated

import numpy as np
import pytest

from isentropic import registry
from isentropic._core.errors import require
from isentropic._core.specs import Array
from isentropic._core.state import Sub
from isentropic.embedding.embedder import Embedder, SupportsInverse
from isentropic.embedding.maps.linear import LinearMap
from isentropic.embedding.training_data import NComponents, NJobs, fully_labelled_training_data
from isentropic.registry import METHODS, Method


class ClassMeans(SupportsInverse, Embedder):
    """Directions in which the means of the classes differ most; one beyond those is zero.

    Parameters
    ----------
    n_components : int
        Dimension of the map, at most the number of features.
    n_jobs : int, optional
        Threads of ``transform``.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    components_ : array of shape (n_components, m)
    mean_ : array of shape (m,)
    classes_ : array
        What the classes are called.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    None.
    """

    _learns_from_y = True
    components_: Annotated[np.ndarray, Array("d", "m")]
    mean_: Annotated[np.ndarray, Array("m")]
    _map: Annotated[LinearMap, Sub(LinearMap)]

    def __init__(self, n_components: NComponents = 2, *, n_jobs: NJobs = None):
        self.n_components = n_components
        self.n_jobs = n_jobs

    def fit(self, X, y):
        """Means, their directions, the place of every row."""
        data = fully_labelled_training_data(self, X, y, keep_rows=False)
        X, classes, d, most = data.table, data.labels, self.n_components, data.table.shape[1]
        require(d <= most, "n_components", f"at most the number of features {most}", d)
        centre = X.mean(axis=0)
        means = np.array([X[classes == c].mean(axis=0) for c in range(len(self.classes_))]) - centre
        _, spreads, directions = np.linalg.svd(means, full_matrices=True)
        spreads = np.pad(spreads, (0, most - len(spreads)))
        directions[spreads <= 1e-9 * np.abs(X - centre).max()] = 0.0
        new_rows = LinearMap.along(data, centre, directions[:d])
        return self._set_fit(new_rows.transform(X, self.n_jobs), new_rows, components_=new_rows.components,
                             mean_=new_rows.mean)  # fmt: skip


LINE = Method("class-means", "supervised_stub:ClassMeans", "Directions between class means.", "linear",
              "O(n m); O(n m)", "Nobody (2000)", needs_y=True, precomputed=False)  # fmt: skip
METHODS_AND_STUB = MappingProxyType({**METHODS, LINE.name: LINE})


@pytest.fixture(autouse=True)
def stub_in_registry(monkeypatch):
    """For the tests of a file that imports it, the stub is a method like any other."""
    monkeypatch.setattr(registry, "METHODS", METHODS_AND_STUB)
