"""ISOMAP: classical scaling of geodesic distances."""

from __future__ import annotations

import numpy as np

from ..._core.errors import require_flag
from ..._core.state import Absent, Array, Maybe, OneOf, State, Value
from ..._core.values import Knn, Percentile, Radius
from ...neighbors import as_rule, conformal_entries, conformal_graph, distance_graph, entry_lists
from .growing import GrowingEmbedder, Update
from .neighborhood_paths import maps_of_values


class Isomap(GrowingEmbedder):
    """Unrolls a curved surface: distances along the neighbour graph become distances in the map.

    With G the lengths of the shortest paths over the neighbour graph, the coordinates are the leading
    eigenvectors of ``-1/2 H (G ∘ G) H``, each times the root of its eigenvalue. A new row x enters the
    graph through its neighbours, ``g = min_j (d(x, x_j) + G_j)``, and gets
    ``y = -1/2 L^(-1/2) V' (g^2 - mean of each row of G^2)``, by itself.

    Cost: ``O(n^2 (k + log n))`` time and ``4 n^2`` bytes; with l landmarks ``O(l n (k + log n))`` and
    ``8 l n`` bytes. ``partial_fit`` keeps ``10 n^2`` bytes where memory has room, and no file takes them: one
    more row then costs ``O(n^2)`` time, a quarter of that of a fit or less.

    Parameters
    ----------
    n_neighbors : int
        Neighbours of each row. More than there are other rows: all of them, with a warning.
    n_components : int
        Dimension of the map.
    neighbors : Knn, Radius or Percentile, optional
        Takes the place of ``n_neighbors``.
    metric : str or callable
        Any metric of scikit-learn, or ``"precomputed"``: X is then a square matrix of distances, and
        the rows given to ``transform`` are distances to the fitted rows.
    n_landmarks : int or Landmarks, optional
        Work through this many rows, spread out by farthest-first choice, instead of all. As many as
        there are rows, or more, is the exact method.
    conformal : bool
        C-ISOMAP: an edge weighs ``d_ij / sqrt(M_i M_j)``, M the mean distance of a row to its neighbours, so
        that regions of any density are of one size. The map then has no unit.
    positive : bool
        Kernel ISOMAP: classical scaling of ``G + c``, c the least constant (Cailliez) that leaves no
        eigenvalue negative. On curved graphs it is large, and blows up the map; a warning says by how much.
    on_disconnected : {"bridge", "largest", "raise", "inflate"} or Inflate
        What to do about a graph in parts: join them by their shortest edges; fit the largest and place
        the other rows as new ones; refuse; or replace missing distances by 10 (or ``Inflate(factor)``)
        times the largest one.
    random_state : int, RandomState or None
        For random landmarks and approximate neighbours. None is a fixed seed: two runs agree.
    n_jobs : int, optional
        Threads. None is all cores, or one inside a parallel worker. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    eigenvalues_ : array of shape (n_components,)
        Largest first; coordinates of a negative one are zero, with a warning.
    residual_variance_ : float
        ``1 - corr(G, D_Z)^2`` over all pairs of rows (with landmarks: of a landmark and a row).
    euclidean_defect_ : (float, float)
        Bounds of the share of the spectrum of ``-1/2 H (G ∘ G) H`` that is negative, and that no map
        in any number of dimensions can show. ``isentropic.linalg.euclidean_defect`` is exact, for small n.
    landmarks_ : array or None
        The rows that are landmarks, None for the exact method.
    graph_ : NeighborGraph
        The graph of the fitted rows; its weights are the conformal ones where these are asked for.
    update_ : Update
        After ``partial_fit``: what was done, the share of old distances searched again, and the seconds.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Tenenbaum, de Silva and Langford (2000). de Silva and Tenenbaum (2003). Choi and Choi (2007).

    Examples
    --------
    >>> from isentropic import Isomap, datasets
    >>> roll = datasets.load("builtin:swiss-roll")
    >>> isomap = Isomap(n_neighbors=10).fit(roll.X)
    >>> isomap.embedding_.shape
    (1000, 2)
    >>> bool(isomap.residual_variance_ < 0.01)
    True
    >>> bool((isomap.transform(roll.X[:5]) == isomap.embedding_[:5]).all())
    True
    """

    _state = State(
        _fit_rule=OneOf(Value(Knn), Value(Radius), Value(Percentile)),
        _scales=Absent(Maybe(Array("n", above=0))),
        update_=Absent(Value(Update)),
    )

    def __init__(
        self,
        n_neighbors=10,
        n_components=2,
        *,
        neighbors=None,
        metric="euclidean",
        n_landmarks=None,
        conformal=False,
        positive=False,
        on_disconnected="bridge",
        random_state=None,
        n_jobs=None,
    ):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.neighbors = neighbors
        self.metric = metric
        self.n_landmarks = n_landmarks
        self.conformal = conformal
        self.positive = positive
        self.on_disconnected = on_disconnected
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Graph, geodesics, classical scaling. ``y`` is not used."""
        require_flag("conformal", self.conformal)
        require_flag("positive", self.positive)
        X = self._checked_rows(X)
        self._fit_rule = self._asked_rule()
        graph = distance_graph(
            X,
            self._fit_rule,
            metric=self.metric,
            on_disconnected=self.on_disconnected,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )
        self._scales = None
        if self.conformal:
            k = self._fit_rule.k if isinstance(self._fit_rule, Knn) else None
            graph, self._scales = conformal_graph(graph, k)
        self._embed_graph(X, graph)
        self._forget_update()
        return self

    def _maps_over(self, X, sets, n_jobs):
        """Maps of several sizes of the neighbourhood together, each with its place in ``sets``; or None.

        None where these sets, or the other parameters, ask for what only a fit of its own does.
        """
        if type(self) is not Isomap:  # which may fit otherwise
            return None
        names = {name for params in sets for name in params}
        plain = not (self.conformal or self.positive) and self.n_landmarks is None
        asked = names == {"neighbors"} or (names == {"n_neighbors"} and self.neighbors is None)
        if not (plain and asked and self.on_disconnected in ("bridge", "raise")):
            return None
        given = [value for params in sets for value in params.values()]
        return maps_of_values(X, given, self.n_components, metric=self.metric,
                              on_disconnected=self.on_disconnected, n_jobs=n_jobs)  # fmt: skip

    def _asked_rule(self):
        return as_rule(self.n_neighbors if self.neighbors is None else self.neighbors)

    def _reweighted(self) -> bool:
        return self.conformal or getattr(self, "_scales", None) is not None

    def _entries(self, X: np.ndarray):
        entries = entry_lists(X, self._fitted_rows(), self.graph_, self._fit_rule, n_jobs=self.n_jobs)
        scales = getattr(self, "_scales", None)
        return entries if scales is None else conformal_entries(entries, scales[self._fitted])
