"""Works of the honest protocol: a source of data and a method by name, measures out.

Each is called with what JSON can say, so that tasks of any table, and of a user's own, may name it:
``isentropic.experiments.honest_work:honest``, ``:permuted`` and ``:random_projections``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .. import registry
from .._core.errors import require_count, require_one_of
from .._core.values import Floats
from ..comparison.presets import grid_of
from ..methods.linear.random_projection import RandomProjection
from ..tables import load
from ..tables.readers.layout import Layout
from ..tables.table_sources import read_source
from .protocols import Protocol, Scores, honest_scores, permuted_null
from .values import Refused

RAW = "raw"  # the standardised rows themselves, no map: what every map is held against
_TARGETS = ("target", "class", "label")
_TRIED = 5  # values of a parameter, where the grid is "auto"


def honest(
    source: str,
    method: str,
    params: dict[str, Any] | None = None,
    grid: Any = "auto",
    target: str | None = None,
    reading: dict[str, Any] | None = None,
    **protocol: Any,
) -> Scores:
    """A method of the registry, or ``"raw"``, under the honest protocol (:class:`.protocols.Protocol`).

    ``grid`` is None, sets of parameters, or "auto": five values of what decides most. A method that learns
    from classes chooses by inner folds unless ``choose`` is said: its own map flatters it. ``reading`` are
    arguments of :func:`isentropic.datasets.load`, in place of ours.
    """
    X, y, numeric = _table(source, target, reading)
    judged = _protocol(protocol, numeric, method)
    estimator, sets = _method(method, params, grid, len(X), judged)
    return honest_scores(estimator, X, y, judged, needs_y=_needs_y(method), grid=sets).measures()


def permuted(
    source: str,
    method: str,
    params: dict[str, Any] | None = None,
    grid: Any = None,
    target: str | None = None,
    reading: dict[str, Any] | None = None,
    n_permutations: int = 20,
    **protocol: Any,
) -> Scores:
    """Kappa, or the measure asked for, of the same with labels at random: ``mean`` of the classifiers.

    One split for each permutation. Kappa is 0 where nothing leaks.
    """
    X, y, numeric = _table(source, target, reading)
    judged = _protocol({"measure": "kappa", **protocol, "n_repeats": 1}, numeric, method)
    estimator, sets = _method(method, params, grid, len(X), judged)

    def score(labels: Any) -> float:
        found = honest_scores(estimator, X, labels, judged, needs_y=_needs_y(method), grid=sets)
        return found.scores[0]["mean"]

    null = permuted_null(score, y, n_permutations, judged.seed)
    return {"mean": null.mean, "mean low": null.low, "mean high": null.high, "least": null.least,
            "most": null.most}  # fmt: skip


def random_projections(
    source: str, n_projections: int = 49, n_components: int = 2, target: str | None = None, **protocol: Any
) -> Scores:
    """What choosing among maps that know nothing of the data gives.

    ``mean`` and ``max`` are of the projection that is best on the test rows, as a source has it that chooses
    there; ``unchosen`` is what all give on average, ``chosen inside`` what the one gives that k-NN prefers in
    folds of the training rows. Means over the splits.
    """
    X, y, numeric = _table(source, target)
    judged = _protocol(protocol, numeric, RAW)
    seeds, d = range(require_count("n_projections", n_projections)), min(n_components, X.shape[1])
    tried = [honest_scores(RandomProjection(d, random_state=seed), X, y, judged).scores for seed in seeds]
    means = np.array([[one["mean"] for one in scores] for scores in tried])
    tops = np.array([[one["max"] for one in scores] for scores in tried])
    inside = replace(judged, choose="folds")
    chosen = honest_scores(RandomProjection(d), X, y, inside, grid={"random_state": list(seeds)})
    return {
        "mean": float(means.max(axis=0).mean()),
        "max": float(tops.max(axis=0).mean()),
        "unchosen": float(means.mean()),
        "chosen inside": chosen.measures()["mean"],
    }


# ---- by name -----------------------------------------------------------------------------------


def has_numbers(source: str, target: str | None, reading: dict[str, Any] | None = None) -> bool:
    """Whether the target of a table is a number, and not a class."""
    return _table(source, target, reading)[2]


def _table(
    source: str, target: str | None, reading: dict[str, Any] | None = None
) -> tuple[Floats, Any, bool]:
    """Rows as they are, NaN where a value is missing, and a target; whether that is a number."""
    found = target or usual_target(source, reading)
    table = load(
        source, found, **{"nominal": "coded", "missing": "keep", "scaling": "none", **(reading or {})}
    )
    if table.y is None:
        raise Refused(f"{table.name} has no target, so that there is nothing to tell apart. Name one.")
    return table.X, table.y, not table.class_names


def usual_target(source: str, reading: Mapping[str, Any] | None = None) -> str | None:
    """Of a file that knows none: the column that is called so, else the last; None where the source knows."""
    if not Path(source).is_file():
        return None
    given = reading or {}
    layout = Layout.of(given.get("separator"), given.get("header"))
    raw = read_source(Path(source), None, frozenset(), None, 0, layout)
    if raw.target is not None:
        return None
    columns = [str(name) for name in raw.frame.columns]
    return next((name for name in columns if name.lower() in _TARGETS), columns[-1])


def _protocol(given: dict[str, Any], numeric: bool, method: str) -> Protocol:
    fixed = {"measure": "r2"} if numeric else {}
    choose = {"choose": "folds" if _needs_y(method) else "quality"}
    listed = {"classifiers": tuple(given["classifiers"])} if "classifiers" in given else {}
    return Protocol(**{**choose, **given, **listed, **fixed})


def _needs_y(method: str) -> bool:
    return method != RAW and registry.METHODS[method].needs_y


def _method(
    method: str, params: dict[str, Any] | None, grid: Any, n_rows: int, protocol: Protocol
) -> tuple[Any, Any]:
    """The estimator, and the sets of parameters to choose from."""
    if method == RAW:
        return None, None
    require_one_of("method", method, registry.METHODS)
    line = registry.METHODS[method]
    n_train = round((1 - protocol.test_share) * n_rows)
    if n_train > line.max_rows:
        raise Refused(f"It is made for at most {line.max_rows:,} rows, and {n_train:,} are to learn from.")
    if line.needs_y and protocol.measure == "r2":
        raise Refused("It learns from classes, and the target is a number.")
    estimator = registry.make(method, **(params or {}))
    if grid == "auto":
        known = estimator.get_params(deep=False)
        grid = grid_of({name: known[name] for name in known if name not in (params or {})}, n_train, _TRIED)
    return estimator, grid or None
