"""t-SNE: t-distributed stochastic neighbour embedding."""

from __future__ import annotations

from ..._core.errors import require_number
from .perplexity_maps import MOST_DOF
from .student_maps import StudentMap


class TSNE(StudentMap):
    """A map in which near rows stay near: affinities of the data as weights of a Student distribution.

    A row has the affinities ``p_j|i``, proportional to ``exp(-d_ij^2 / 2 sigma_i^2)``, with ``sigma_i`` such
    that about ``perplexity`` rows count; ``p_ij = (p_j|i + p_i|j) / 2n``. The map has the weights ``q_ij``,
    proportional to ``(1 + |z_i - z_j|^2 / t)^(-(t+1)/2)`` with t degrees of freedom, and minimises
    ``sum p log(p / q)`` by gradient descent with momentum and gains, at a rate of ``n / exaggeration``. P is
    exaggerated in the first third of the steps, at most 250. A new row goes down its own part of the cost,
    the fitted rows held.

    The ``3 perplexity`` nearest neighbours stand for all. All pairs of the map repel each other: exactly up
    to 4,000 rows and beyond two dimensions, ``O(n^2)`` a step; else by a field on a grid (particle-mesh,
    Fourier transforms), ``O(n)`` a step and within 1.5% of the exact push.

    Parameters
    ----------
    perplexity : float
        About how many neighbours count, at least 1. From n - 1 on all rows count alike, with a warning.
    n_components : int
        Dimension of the map.
    early_exaggeration : float
        Factor of P in the first steps, which brings neighbours together.
    exaggeration : float, optional
        Factor of P after them; None is 1. More draws clusters together.
    dof : float
        Degrees of freedom t, at most 1e6: below 1, heavier tails, which show finer clusters.
    init : {"pca", "random"} or array of shape (n, n_components)
        Where the descent starts, scaled to a standard deviation of 1e-4; for metrics other than the
        Euclidean, ``"pca"`` is classical scaling.
    metric : str, callable, Gower, Geodesic or Diffusion
        Any metric of scikit-learn; ``"precomputed"``: X is then a square matrix of distances, and the rows
        given to ``transform`` are distances to the fitted rows; ``Geodesic(k)`` for the shortest ways over a
        neighbour graph, ``Diffusion(k, t)`` for how walks of t steps spread over it.
    neighbors : Neighbors, optional
        Lists of neighbours that are known already, ``3 perplexity`` a row or more.
    max_iter : int
        Steps in all.
    random_state : int, RandomState or None
        For random starts, the rows that a start by classical scaling is made from, and the approximate
        search. None is a fixed seed: two runs agree.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    kl_divergence_ : float
        ``sum p log(p / q)`` of the map; with ``repulsion_ == "fields"`` within 1e-3.
    repulsion_ : {"exact", "fields"}
        How the push of all pairs was summed.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    van der Maaten and Hinton (2008); Linderman, Rachh, Hoskins, Steinerberger and Kluger (2019).

    Examples
    --------
    >>> from isentropic import TSNE, datasets
    >>> iris = datasets.load("builtin:iris")
    >>> tsne = TSNE(max_iter=250).fit(iris.X)
    >>> tsne.embedding_.shape
    (150, 2)
    >>> bool((tsne.transform(iris.X[:5]) == tsne.embedding_[:5]).all())
    True
    """

    def __init__(
        self,
        perplexity=30.0,
        n_components=2,
        *,
        early_exaggeration=12.0,
        exaggeration=None,
        dof=1.0,
        init="pca",
        metric="euclidean",
        neighbors=None,
        max_iter=750,
        random_state=None,
        n_jobs=None,
    ):
        self.perplexity = perplexity
        self.n_components = n_components
        self.early_exaggeration = early_exaggeration
        self.exaggeration = exaggeration
        self.dof = dof
        self.init = init
        self.metric = metric
        self.neighbors = neighbors
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    _refines = True

    def fit(self, X, y=None, *, init=None):
        """Neighbours, affinities, start, descent. ``y`` is not used.

        ``init`` is an earlier map to go on from, at its own size, in a third of the steps: a fitted
        estimator, a DataFrame of coordinates by row name, or an array.
        """
        dof = require_number("dof", self.dof, "a positive number of at most 1e6", above=0, most=MOST_DOF)
        must_be = "a factor of at least 1"
        early = require_number("early_exaggeration", self.early_exaggeration, must_be, least=1.0)
        late = 1.0 if self.exaggeration is None else self.exaggeration
        late = require_number("exaggeration", late, "None or a positive factor", above=0)
        warm = self._warm_start(X, init)
        steps = self._phases(early, late, warm)
        given = self._lists_of(X, warm=warm)
        Z, cost = self._descended(given, self._affinities(given), steps, dof)
        self._keep_student(given, Z, cost, sum(count for count, _ in steps))
        return self
