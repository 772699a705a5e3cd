"""SDD: same-degree distributions in the data and in the map."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..._core.errors import require
from ..._core.state import Dict, Number, State
from .degree_search import DEGREES, Trial, best_of, checked_degrees, searched
from .same_degree import DegreeTrials, SameDegreeEmbedder


class SDD(SameDegreeEmbedder):
    """A map whose distances, small and large, keep the order of those in the data.

    Pairs of rows get the similarities ``p_ij = (1 + d_ij^2)^-g / sum`` from their distances in the data,
    the largest of which counts as ``scale``, and ``q_ij`` likewise from those in the map, with the same
    degree g. The map minimises ``sum p log(p / q)``. A low degree weighs large distances, a high one small
    ones; ``degree="auto"`` takes the one of 1 to 15 with the highest Kendall tau between the distances of
    the data and of the map. A new row minimises its own part of the cost, all fitted rows and the
    normalisers held.

    Cost: ``O(n^2)`` time a step and ``8 n^2`` bytes up to 8,000 rows; above, ``O(n s)`` and ``8 n s`` bytes
    for s partners of each row. 20 to 200 steps a degree, 6 to 9 degrees for ``"auto"``.

    Parameters
    ----------
    degree : int, float, sequence or "auto"
        The degree g; of a sequence, each is tried and the best kept. ``"auto"`` finds the best of 1 to 15
        without trying each.
    n_components : int
        Dimension of the map.
    scale : float
        What the largest distance counts as: at more than 1, large distances weigh less.
    init : {"pca", "random"} or array of shape (n, n_components)
        Where the search starts; for metrics other than the Euclidean, ``"pca"`` is classical scaling.
        ``"random"`` is a cloud, as small as published with ``Momentum()``: some end in a worse map.
    metric : str, callable, Gower, Geodesic or Diffusion
        Any metric of scikit-learn; ``"precomputed"``: X is then a square matrix of distances, and the rows
        given to ``transform`` are distances to the fitted rows; ``Geodesic(k)`` for the shortest ways over a
        neighbour graph, ``Diffusion(k, t)`` for how walks of t steps spread over it.
    max_iter : int
        Steps of L-BFGS at most.
    tol : float
        A step that lowers the cost by less than this share of the first cost is the last one.
    optimizer : Momentum, optional
        ``Momentum()`` descends as published, with steps of its own, for reproduction. None is L-BFGS.
    pairs : {"auto", "all"} or int
        Which pairs the cost adds up: all, or those with this many random partners of each row.
        ``"auto"`` is all up to 8,000 rows, and 128 partners above.
    random_state : int, RandomState or None
        For drawn pairs and random starts. None is a fixed seed: two runs agree.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
        In the units of the data.
    degree_ : float
        The degree used.
    cost_ : float
        ``sum p log(p / q)``, 0 for a perfect map.
    kendall_tau_ : float
        Of the distances in the data and in the map; NaN where those do not vary (two rows, or all equal).
    kendall_tau_interval_ : (float, float) or None
        The 95% interval where tau is estimated from drawn pairs, above 20,000 rows; else None.
    scores_ : dict
        Tau by degree tried, from drawn pairs where there are many.
    n_iter_ : int
        Steps taken for the degree used.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Hajderanj, Chen, Grisan and Dudley (2020).

    Examples
    --------
    >>> from isentropic import PCA, SDD, datasets
    >>> iris = datasets.load("builtin:iris")
    >>> sdd = SDD(degree=4).fit(iris.X)
    >>> sdd.embedding_.shape
    (150, 2)
    >>> bool(sdd.kendall_tau_ > 0.9)
    True
    >>> bool((sdd.transform(iris.X[:5]) == sdd.embedding_[:5]).all())
    True
    """

    _state = State(degree_=Number(above=0), scores_=Dict(Number(), Number(nan=True)))

    def __init__(
        self,
        degree="auto",
        n_components=2,
        *,
        scale=1.0,
        init="pca",
        metric="euclidean",
        max_iter=500,
        tol=1e-6,
        optimizer=None,
        pairs="auto",
        random_state=None,
        n_jobs=None,
    ):
        super().__init__(n_components, init=init, metric=metric, max_iter=max_iter, tol=tol,
                         optimizer=optimizer, pairs=pairs, random_state=random_state,
                         n_jobs=n_jobs)  # fmt: skip
        self.degree = degree
        self.scale = scale

    def fit(self, X, y=None, *, init=None):
        """Distances, a map for each degree that is tried, the best by tau. ``y`` is not used.

        ``init`` is an earlier map to go on from: a fitted estimator, a DataFrame of coordinates by row name,
        or an array.
        """
        warm = self._warm_start(X, init)
        refined = warm is not None and warm.steps is not None  # the map of one degree, which stays
        degrees = [self.degree_] if refined else self._candidates()
        trials = self._trials(X, self.scale, warm)
        tried = _tried(trials, degrees)
        chosen = best_of(tried)
        self.degree_ = chosen.degrees[0]
        self._keep_trial(trials, chosen)
        self.scores_ = {trial.degrees[0]: trial.tau for trial in tried}
        if len(tried) == 1:
            self.scores_ = {self.degree_: self.kendall_tau_}
        return self

    def _candidates(self) -> Sequence[float] | None:
        """Degrees to try, or None to search for the best."""
        must_be = "a positive number, a sequence of them or 'auto'"
        if isinstance(self.degree, str):
            require(self.degree == "auto", "degree", must_be, self.degree)
            return None
        degrees = np.atleast_1d(np.asarray(self.degree, object)).tolist()
        require(len(degrees) > 0, "degree", "at least one degree", self.degree)
        return checked_degrees(degrees, "degree", must_be)


def _tried(trials: DegreeTrials, degrees: Sequence[float] | None) -> list[Trial]:
    if trials.problem.unit == 0:  # all rows are equal, and so are all degrees
        return [trials.fit((DEGREES[0] if degrees is None else degrees[0],))]
    if degrees is None:
        return searched(trials.fit)
    return [trials.fit((degree,), score=len(degrees) > 1) for degree in degrees]
