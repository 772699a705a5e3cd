"""MultiSDD: several same-degree distributions at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from ..._core.errors import require
from ..._core.runtime import seeded
from ..._core.specs import Dict, Each, Maybe, Number, Text, Tuple, Whole
from ..._core.state import Sub
from ...embedding.embedder import Embedder
from ...embedding.initialization import previous_embedding
from ...embedding.maps.row_optimizer import NearestRows
from ...embedding.training_data import MetricParameter, NComponents, NJobs, Tolerance, training_data
from .pairs import (
    OptimizerParameter,
    PairsParameter,
    Scale,
    Steps,
    initial_coordinates,
    optimizer_of,
    paired_rows,
)
from .same_degree import (
    DegreeMap,
    Degrees,
    DegreeTrials,
    Trial,
    best_of,
    checked_degrees,
    continues_search,
    degree_map,
)


class MultiSDD(Embedder):
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
        Initialization; for metrics other than the Euclidean, ``"pca"`` is classical scaling.
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
        For sampled pairs and random initialization. None is a fixed seed: two runs agree.
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
        The 95% interval where tau is estimated from sampled pairs, above 20,000 rows; else None.
    scores_ : dict
        Tau by degrees tried, as text: ``"7"``, ``"7, 8"``; from sampled pairs where there are many.
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

    degrees_: Annotated[Degrees, Each(Number(above=0))]
    degree_: Annotated[float | None, Maybe(Number(above=0))]
    selected_: Annotated[str | None, Maybe(Text("multi", "single"))]
    scores_: Annotated[dict[str, float], Dict(Text(), Number(nan=True))]
    cost_: Annotated[float, Number(nan=True)]
    kendall_tau_: Annotated[float, Number(nan=True)]
    kendall_tau_interval_: Annotated[tuple[float, float] | None, Maybe(Tuple(Number(), Number()))]
    n_iter_: Annotated[int, Whole(0)]
    _map: Annotated[DegreeMap, Sub(DegreeMap)]
    _refines = True

    def __init__(
        self,
        degrees: Any = "auto",
        n_components: NComponents = 2,
        *,
        scale: Scale = 1.0,
        init: Any = "pca",
        metric: MetricParameter = "euclidean",
        max_iter: Steps = 500,
        tol: Tolerance = 1e-6,
        optimizer: OptimizerParameter = None,
        pairs: PairsParameter = "auto",
        random_state: Any = None,
        n_jobs: NJobs = None,
    ):
        self.degrees = degrees
        self.n_components = n_components
        self.scale = scale
        self.init = init
        self.metric = metric
        self.max_iter = max_iter
        self.tol = tol
        self.optimizer = optimizer
        self.pairs = pairs
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None, *, init=None):
        """The best single degree, the sets around it, the best of all by tau. ``y`` is not used.

        ``init`` is an earlier map to go on from: a fitted estimator, a DataFrame of coordinates by row name,
        or an array.
        """
        data, d, n_jobs = training_data(self, X, names=True), self.n_components, self.n_jobs
        previous = previous_embedding(X, init, d)
        degrees = self.degrees_ if continues_search(previous) else _checked_degrees(self.degrees)
        random, seed = seeded(self.random_state)
        query = NearestRows.fit(data, seed, n_jobs)
        rows = paired_rows(query, self.pairs, random, seed, n_jobs, scale=self.scale)
        start = initial_coordinates(rows, self.init, d, random, previous, wide=self.optimizer is None)
        optimizer = optimizer_of(self.max_iter, self.tol, previous, self.optimizer)
        trials = DegreeTrials.of(rows, start, optimizer)
        tried, candidates = _try_degrees(trials, degrees)
        chosen, tau = trials.best(*candidates)
        degree = selected = None
        if len(candidates) > 1:
            degree, selected = candidates[0].degrees[0], "multi" if len(chosen.degrees) > 1 else "single"
        scores = {_text(trial.degrees): trial.tau for trial in tried}
        if len(tried) == 1:
            scores = {_text(chosen.degrees): tau.value}
        new_rows = degree_map(query, trials, chosen)
        return self._set_fit(new_rows.Z, new_rows, cost_=chosen.minimum.value, n_iter_=chosen.minimum.n_iter,
                             kendall_tau_=tau.value, kendall_tau_interval_=tau.interval,
                             degrees_=chosen.degrees, degree_=degree, selected_=selected,
                             scores_=scores)  # fmt: skip


def _checked_degrees(given: Any) -> Degrees | None:
    """Degrees whose costs are added, or None to search for the best."""
    must_be = "a collection of at least two different positive numbers, or 'auto'"
    if isinstance(given, str) or not isinstance(given, Iterable):
        require(isinstance(given, str) and given == "auto", "degrees", must_be, given)
        return None
    degrees = set(checked_degrees(given, "degrees", must_be))
    require(len(degrees) > 1, "degrees", must_be, given)
    return tuple(sorted(degrees))


def _try_degrees(trials: DegreeTrials, degrees: Degrees | None) -> tuple[list[Trial], list[Trial]]:
    """All trials, and those to choose from: of given degrees one, else the best degree and the best set."""
    if degrees is not None or trials.rows.unit == 0:
        tried = [trials.fit(degrees or (1, 2), score=False)]
        return tried, tried
    singles = trials.search()
    single = best_of(singles)
    multiples = [trials.fit(several, single) for several in _around(single.degrees[0])]
    return singles + multiples, [single, best_of(multiples)]


def _around(best: float) -> list[Degrees]:
    """Sets of degrees around the best one."""
    sets = ((best - 1, best), (best, best + 1), (best - 1, best, best + 1))
    return [several for several in sets if several[0] > 0]


def _text(degrees: Degrees) -> str:
    return ", ".join(f"{g:g}" for g in degrees)
