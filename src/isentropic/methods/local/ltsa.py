"""LTSA: local tangent space alignment."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from ..._core.specs import Array, Number, Whole
from ..._core.state import Sub
from ...embedding.embedder import Embedder
from ...embedding.maps.linear import require_features
from ...embedding.training_data import NComponents, NJobs, training_data
from ...linalg import sum_of_blocks
from .neighborhoods import (
    OnDisconnected,
    TangentMap,
    bottom_coordinates,
    find_neighborhoods,
    require_patch_size,
    tangent_blocks,
)


class LTSA(Embedder):
    """LTSA: coordinates that are, in the patch of every row, affine in its tangent coordinates.

    A patch is a row and its k neighbours; U are the d leading left singular vectors of the patch around its
    mean. The map consists of the bottom eigenvectors of the sum of ``I - 11'/(k + 1) - UU'`` over all
    patches, of mean 0 and mean square 1. A row is in its own patch, so that one which is nobody's neighbour
    is held in place as well. A new row has the coordinates that the patch of its nearest fitted row gives it.

    Cost: the search of neighbours, ``O(n k^2 (k + m))`` time for the patches, and a sparse factorisation.

    Parameters
    ----------
    n_neighbors : int
        Neighbours of every row, more than ``n_components``.
    n_components : int
        Dimension of the map, at most the number of features.
    on_disconnected : {"bridge", "separate", "largest", "raise"}
        What to do about a disconnected graph: join its components by their shortest edges, whose ends become
        neighbours of each other; map each component separately and pack the maps, all as dense as the
        largest, whose eigenvalues are reported; fit the largest and map the other rows as new ones (all with
        a warning); or refuse.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    eigenvalues_ : array of shape (n_components,)
        Smallest first, the zero of the constant left out. Those of a flat sheet are 0.
    eigengap_ : float
        ``1 - a / b``, a the largest of these eigenvalues and b the next: below 0.001, a change of one row may
        turn the map.
    n_separating_ : int
        Coordinates that only separate groups of rows that the graph hardly connects: along these, nine of ten
        neighbours have nearly the same coordinate. A warning reports them.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Zhang and Zha (2004).

    Examples
    --------
    >>> from isentropic import LTSA, datasets
    >>> roll = datasets.load("builtin:swiss-roll")
    >>> ltsa = LTSA(n_neighbors=12).fit(roll.X)
    >>> ltsa.embedding_.shape
    (1000, 2)
    >>> bool((ltsa.transform(roll.X[:5]) == ltsa.embedding_[:5]).all())
    True
    """

    eigenvalues_: Annotated[np.ndarray, Array("d")]
    eigengap_: Annotated[float, Number(0)]
    n_separating_: Annotated[int, Whole(0)]
    _map: Annotated[TangentMap, Sub(TangentMap)]

    def __init__(
        self,
        n_neighbors: int = 10,
        n_components: NComponents = 2,
        *,
        on_disconnected: OnDisconnected = "bridge",
        n_jobs: NJobs = None,
    ):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.on_disconnected = on_disconnected
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Patches, their tangents, the map in which all of them fit together. ``y`` is not used."""
        data, d, n_jobs = training_data(self, X), self.n_components, self.n_jobs
        k = require_patch_size(self.n_neighbors, d + 1, d)
        require_features(d, data.X)
        lists = find_neighborhoods(data.X, k, self.on_disconnected, n_jobs)
        blocks = ((patches, tangents.alignments()) for patches, tangents in tangent_blocks(data.X, lists, d))
        Z, results = bottom_coordinates(sum_of_blocks(len(lists.fitted), blocks), d, lists.labels)
        new_rows = TangentMap.fit(data, lists, Z, d, n_jobs)
        return self._set_fit(new_rows.Z, new_rows, **results)
