"""Runs whose scores are given, so that every grade, choice and sentence can be asked for."""

from dataclasses import replace
from functools import cache

import numpy as np

from isentropic import Run
from isentropic.comparison import LabelTest
from isentropic.quality import assess

EFFECT = LabelTest("honest", "accuracy", 0.4, (0.3, 0.4, 0.5), 0.9, (0.85, 0.95, 0.9), 84, 36, 2, 0)
REAL = LabelTest("honest", "accuracy", 0.8, (0.3, 0.4, 0.5), 0.9, (0.85, 0.95, 0.9), 84, 36, 2, 0)
FAILED = Run("broken", {}, None, 0.0, None, reason="It broke.")


@cache
def _measured(n):
    X = np.random.default_rng(n).normal(size=(n, 5))
    return X[:, :2], assess(X, X[:, :2], n_neighbors=min(10, max(1, n // 3)))


def planted_run(name, n=60, *, near, tau=0.5, chance=0.1, p=None, worthless=False, without=None, **fields):
    """A map of n rows with this near-neighbor share beyond chance, and this tau; None: not defined."""
    Z, quality = _measured(n)
    k = quality.n_neighbors[0]
    curves = replace(
        quality.curves,
        near_share=np.full(n - 1, chance + (1 - chance) * near),
        near_chance=np.full(n - 1, chance),
    )
    measures = dict(quality.measures)
    measures[f"near_neighbors({k})"] = replace(measures[f"near_neighbors({k})"], value=near)
    tau_measure = measures.pop("kendall_tau")
    if tau is not None:
        measures["kendall_tau"] = replace(tau_measure, value=tau)
    rows = np.full_like(quality.near_neighbors, chance + (1 - chance) * near)
    found = replace(quality, measures=measures, curves=curves, near_neighbors=rows)
    run = Run(
        name,
        {},
        None,
        0.0,
        None,
        embedding=Z,
        quality=found,
        relation=None if p is None else (0.1, p, 1.5),
        baseline={"rnx_auc": (0.0, 1.0 if worthless else -1.0)},
        without={}
        if without is None
        else {f"near_neighbors({k})": tuple(near + without * np.cos(np.arange(20.0)))},
    )
    return replace(run, **fields)
