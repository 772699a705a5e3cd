"""Linear LTSA: local tangent space alignment by linear functions."""

from __future__ import annotations

from ..._core.errors import require_count
from ...embedding.input_rows import checked_components, checked_rows
from ...embedding.maps.linear import require_features
from ...linalg import sum_of_blocks
from .aligned import AlignedEmbedder
from .local import neighbor_lists
from .tangents import tangent_blocks


class LinearLTSA(AlignedEmbedder):
    """Directions that agree with the tangents of every patch: LTSA restricted to linear functions.

    ``X' K X a = lambda X' X a`` for the d smallest lambda, X centred, K the sum of ``I - 11'/(k + 1) - UU'``
    over all patches of a row and its k neighbours, U the leading left singular vectors of the patch
    (:class:`LTSA`). Every coordinate has the mean square 1. Solved in the basis of the singular vectors of X,
    so that collinear columns, or more columns than rows, are no case of their own.

    With as many features as rows, less one, the directions can follow any function of the fitted rows: the
    map is that of LTSA and says nothing of new rows. A warning tells.

    Cost: the search of neighbours and ``O(n k^2 (k + m) + n m min(n, m))`` time, ``O(n (m + k^2))`` memory.

    Parameters
    ----------
    n_neighbors : int
        Neighbours of every row, more than ``n_components``. A graph in parts is joined by its shortest edges,
        whose ends become neighbours of each other, with a warning.
    n_components : int
        Dimension of the map, at most the number of features.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    components_ : array of shape (n_components, m)
        The entry of largest magnitude of each is positive. Zero beyond the rank of X, with a warning.
    mean_ : array of shape (m,)
    eigenvalues_ : array of shape (n_components,)
        Smallest first: how far each direction is from an affine function of the tangents of the patches.
    n_separating_ : int
        Coordinates that only separate groups of rows which the graph hardly joins: along these, nine
        of ten neighbours are nearly at one place. A warning tells of them.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Zhang, Yang, Zhao and Ge (2007).

    Examples
    --------
    >>> from isentropic import LinearLTSA, datasets
    >>> aligned = LinearLTSA().fit(datasets.load("builtin:wine").X)
    >>> aligned.embedding_.shape
    (178, 2)
    >>> bool(aligned.eigenvalues_[0] < aligned.eigenvalues_[1])
    True
    """

    def __init__(self, n_neighbors=10, n_components=2, *, n_jobs=None):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Patches, their tangents, the directions that fit all of them. ``y`` is not used."""
        d = checked_components(self.n_components)
        must_be = f"an integer of at least {d + 1}, for n_components = {d}"
        require_count("n_neighbors", self.n_neighbors, must_be, least=d + 1)
        X = checked_rows(self, X)
        require_features(d, X)
        lists = neighbor_lists(X, self.n_neighbors, n_jobs=self.n_jobs)
        blocks = ((patches, tangents.alignments()) for patches, tangents in tangent_blocks(X, lists, d))
        self._align(X, sum_of_blocks(len(X), blocks), d)
        return self
