"""Runs whose scores are said, with curves that agree with them, so that every sentence can be asked for."""

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
    return X[:, :2], assess(X, X[:, :2])


def measured_run(n):
    """A map of n rows as it was measured."""
    Z, quality = _measured(n)
    return Run("made", {}, None, 0.0, None, embedding=Z, quality=quality)


def planted_run(
    name, n=60, *, r, tau, near=None, area=0.3, p=None, worthless=False, without=None, params=None, **fields
):
    """A map of n rows: R_NX is ``r`` up to k, ``near`` at a twentieth of the rows, and so on to the end."""
    Z, quality = _measured(n)
    k = quality.n_neighbors[0]
    sizes = np.arange(1, n - 1)
    near = r if near is None else near
    R = np.interp(sizes, [k, max(k + 1, n // 20)], [r, near])
    q = np.append((R * (n - 1 - sizes) + sizes) / (n - 1), 1.0)[: len(quality.curves.q_nx)]
    measures = {
        **quality.measures,
        f"r_nx({k})": replace(quality.measures[f"r_nx({k})"], value=r),
        "rnx_auc": replace(quality.measures["rnx_auc"], value=area),
    }
    if tau is not None:
        measures["kendall_tau"] = replace(quality.measures["kendall_tau"], value=tau)
    found = replace(quality, measures=measures, curves=replace(quality.curves, q_nx=q))
    run = Run(
        name,
        params or {},
        None,
        0.0,
        None,
        embedding=Z,
        quality=found,
        relation=None if p is None else (0.1, p),
        baseline={"rnx_auc": (0.0, 1.0 if worthless else 0.01)},
        without={} if without is None else {f"r_nx({k})": tuple(r + without * np.cos(np.arange(20.0)))},
    )
    return replace(run, **fields)
