"""MultiSDD: several same-degree distributions at once."""

from __future__ import annotations

from collections.abc import Iterable

from ..._core.errors import require
from ..._core.state import Dict, Each, Maybe, Number, State, Text
from .degree_search import best_of, checked_degrees, searched
from .same_degree import SameDegreeEmbedder


class MultiSDD(SameDegreeEmbedder):
    """SDD with several degrees at once: the map minimises the sum of their costs.

    ``sum_g sum p log(p / q)`` over a set of degrees g, p and q proportional to ``(1 + d^2)^-g`` in the
    data, where the largest distance counts as ``scale``, and in the map. ``degrees="auto"`` finds the best
    single degree b by Kendall's tau, then tries {b - 1, b}, {b, b + 1} and {b - 1, b, b + 1} (a degree of 0
    has no gradient and is left out), and keeps the best of these. Where none of them has a higher tau than
    b alone, the map is that of :class:`SDD`.

    Cost: as :class:`SDD`, and three more maps of two or three degrees for ``"auto"``.

    Parameters
    ----------
    degrees : collection of numbers or "auto"
        The degrees whose costs are added.
    n_components : int
        Dimension of the map.
    scale : float
        What the largest distance counts as.
    init : {"pca", "random"} or array of shape (n, n_components)
        Where the search starts; for metrics other than the Euclidean, ``"pca"`` is classical scaling.
    metric : str, callable, Gower, Geodesic or Diffusion
        Any metric of scikit-learn, ``"precomputed"``, ``Geodesic(k)`` or ``Diffusion(k, t)``.
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
        The map with the highest tau, in the units of the data.
    degrees_ : tuple
        The degrees of that map: one where no set of several has a higher tau.
    degree_ : float or None
        The best single degree; None where ``degrees`` were given.
    selected_ : {"multi", "single"} or None
        Whether the map is that of several degrees or that of the best single one; None where ``degrees``
        were given.
    cost_ : float
        The sum of the costs.
    kendall_tau_ : float
        Of the distances in the data and in the map; NaN where those do not vary (two rows, or all equal).
    kendall_tau_interval_ : (float, float) or None
        The 95% interval where tau is estimated from drawn pairs, above 20,000 rows; else None.
    scores_ : dict
        Tau by degrees tried, as text: ``"7"``, ``"7, 8"``; from drawn pairs where there are many.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    Hajderanj, Chen, Grisan and Dudley (2020).

    Examples
    --------
    >>> from isentropic import MultiSDD, datasets
    >>> multi = MultiSDD({3, 4}).fit(datasets.load("builtin:iris").X)
    >>> multi.degrees_
    (3, 4)
    """

    _state = State(
        degrees_=Each(Number(above=0)),
        degree_=Maybe(Number(above=0)),
        selected_=Maybe(Text("multi", "single")),
        scores_=Dict(Text(), Number(nan=True)),
    )

    def __init__(
        self,
        degrees="auto",
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
        self.degrees = degrees
        self.scale = scale

    def fit(self, X, y=None, *, init=None):
        """The best single degree, the sets around it, the best of all by tau. ``y`` is not used.

        ``init`` is an earlier map to go on from: a fitted estimator, a DataFrame of coordinates by row name,
        or an array.
        """
        warm = self._warm_start(X, init)
        refined = warm is not None and warm.steps is not None  # the map of some degrees, which stay
        degrees = self.degrees_ if refined else self._checked_degrees()
        trials = self._trials(X, self.scale, warm)
        self.degree_, self.selected_ = None, None
        if degrees is not None or trials.problem.unit == 0:
            tried = [trials.fit(degrees or (1, 2), score=False)]
            chosen = self._keep_trial(trials, *tried)
        else:
            singles = searched(trials.fit)
            single = best_of(singles)
            multiples = [trials.fit(several, single) for several in _around(single.degrees[0])]
            chosen = self._keep_trial(trials, single, best_of(multiples))
            self.degree_ = single.degrees[0]
            self.selected_ = "multi" if len(chosen.degrees) > 1 else "single"
            tried = singles + multiples
        self.degrees_ = chosen.degrees
        self.scores_ = {_text(trial.degrees): trial.tau for trial in tried}
        if len(tried) == 1:
            self.scores_ = {_text(chosen.degrees): self.kendall_tau_}
        return self

    def _checked_degrees(self) -> tuple[float, ...] | None:
        must_be = "a collection of at least two different positive numbers, or 'auto'"
        if isinstance(self.degrees, str) or not isinstance(self.degrees, Iterable):
            require(
                isinstance(self.degrees, str) and self.degrees == "auto", "degrees", must_be, self.degrees
            )
            return None
        degrees = set(checked_degrees(self.degrees, "degrees", must_be))
        require(len(degrees) > 1, "degrees", must_be, self.degrees)
        return tuple(sorted(degrees))


def _around(best: float) -> list[tuple[float, ...]]:
    """Sets of degrees around the best one."""
    sets = ((best - 1, best), (best, best + 1), (best - 1, best, best + 1))
    return [several for several in sets if several[0] > 0]


def _text(degrees: tuple[float, ...]) -> str:
    return ", ".join(f"{g:g}" for g in degrees)
