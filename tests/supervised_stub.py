"""A small method that learns from classes, so that all that is said of such methods is tried on one."""

from types import MappingProxyType

import numpy as np
import pytest

from isentropic import registry
from isentropic._core.errors import require
from isentropic.embedding.input_rows import checked_components
from isentropic.embedding.maps.linear import LinearEmbedder
from isentropic.registry import METHODS, Method


class ClassMeans(LinearEmbedder):
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

    def __init__(self, n_components=2, *, n_jobs=None):
        self.n_components = n_components
        self.n_jobs = n_jobs

    def fit(self, X, y):
        """Means, their directions, the place of every row."""
        X, classes = self._labelled(X, y)
        n_components, most = checked_components(self.n_components), X.shape[1]
        require(n_components <= most, "n_components", f"at most the number of features {most}", n_components)
        centre = X.mean(axis=0)
        means = np.array([X[classes == c].mean(axis=0) for c in range(len(self.classes_))]) - centre
        _, spreads, directions = np.linalg.svd(means, full_matrices=True)
        spreads = np.pad(spreads, (0, most - len(spreads)))
        directions[spreads <= 1e-9 * np.abs(X - centre).max()] = 0.0
        self._project(X, centre, directions[:n_components])
        return self


LINE = Method("class-means", "supervised_stub:ClassMeans", "Directions between class means.", "linear",
              "O(n m); O(n m)", "Nobody (2000)", needs_y=True, precomputed=False)  # fmt: skip
METHODS_AND_STUB = MappingProxyType({**METHODS, LINE.name: LINE})


@pytest.fixture(autouse=True)
def stub_in_registry(monkeypatch):
    """For the tests of a file that imports it, the stub is a method like any other."""
    monkeypatch.setattr(registry, "METHODS", METHODS_AND_STUB)
