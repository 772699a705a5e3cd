"""How often the test of groups is right: on noise, on planted groups, and on real tables.

    python -m benchmarks.groups [--seeds N]          # noise and planted tables: a table of rates
    python -m benchmarks.groups --real FOLDER        # real tables that choose, written there as CSV before
    python -m benchmarks.groups --judge FOLDER       # those that judge

A rate is the share of tables with the answer "groups". ``FOLDER`` is that of ``real_tables_data``.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from isentropic import datasets, registry
from isentropic.comparison import GroupTest, test_groups

from .real_tables_data import TABLES, chooses

METHODS = ("pca", "t-sne", "umap")
SIZES = (100, 250, 600)
NOISE = (*(f"{kind} {m}" for kind in ("normal", "uniform", "lognormal") for m in (2, 5, 20)), "ring", "roll")
_MOST_LEVELS = 40


def noise(kind: str, n: int, random: np.random.Generator) -> np.ndarray:
    """Rows without groups: clouds of some columns, a ring under noise, a rolled sheet."""
    if kind == "ring":
        turn = random.uniform(0, 2 * np.pi, n)
        return np.column_stack([np.cos(turn), np.sin(turn)]) + 0.05 * random.normal(size=(n, 2))
    if kind == "roll":
        turn = 1.5 * np.pi * (1 + 2 * random.uniform(size=n))
        return np.column_stack([turn * np.cos(turn), 21 * random.uniform(size=n), turn * np.sin(turn)])
    name, m = kind.split()
    return getattr(random, name)(size=(n, int(m)))


def planted(apart: float, m: int, k: int, n: int, random: np.random.Generator) -> np.ndarray:
    """Equal normal groups of deviation 1, neighbours ``apart`` from each other, turned at random."""
    if m == 2:
        turn = 2 * np.pi * np.arange(k) / k
        middles = apart / (2 * np.sin(np.pi / k)) * np.column_stack([np.cos(turn), np.sin(turn)])
    else:
        middles = apart / np.sqrt(2) * np.eye(m)[:k]
    rows = middles[random.permutation(np.arange(n) % k)] + random.normal(size=(n, m))
    return rows @ np.linalg.qr(random.normal(size=(m, m)))[0]


def tables(seeds: int) -> Iterator[tuple[str, str, np.ndarray]]:
    """Kind of answer, kind of table, rows."""
    for seed in range(seeds):
        for n in SIZES:
            for kind in NOISE:
                yield "noise", kind, noise(kind, n, np.random.default_rng([seed, n, NOISE.index(kind)]))
            for apart in (4, 5, 6):
                for m in (2, 10):
                    for k in (2, 3, 4):
                        random = np.random.default_rng([seed, n, 100, apart, m, k])
                        what = f"{apart} deviations apart, {m} columns"
                        yield what, f"{k} groups", planted(apart, m, k, n, random)


def answer(X: np.ndarray, method: str, table: object = None, metric: object = "euclidean") -> GroupTest:
    """Of the map of one method with its defaults."""
    params = {} if metric == "euclidean" else {"metric": metric}
    if "random_state" in registry.make(method).get_params():
        params["random_state"] = 0

    def embed(rows: np.ndarray) -> np.ndarray:
        return registry.make(method, **params).fit_transform(rows)

    return test_groups(X, embed(X), embed, table=table, metric=metric)


def rates(seeds: int) -> pd.DataFrame:
    """Share of tables with groups, by kind and method."""
    lines = [
        {"table": what, "kind": kind, "method": method, "groups": answer(X, method).answer == "groups"}
        for what, kind, X in tables(seeds)
        for method in METHODS
    ]
    frame = pd.DataFrame(lines)
    by_kind = frame[frame["table"] == "noise"].assign(table=lambda f: "noise: " + f["kind"])
    found = pd.concat([frame, by_kind]).groupby(["table", "method"])["groups"].agg(["mean", "size"])
    return found["mean"].unstack()[list(METHODS)].assign(tables=found["size"].unstack().iloc[:, 0])


def real(folder: Path, choosing: bool) -> Iterator[str]:
    """A line for each real table: what is expected, and the answers."""
    for table in TABLES:
        if chooses(table) is not choosing or table.kind == "distances":
            continue
        frame = pd.read_csv(folder / "tables" / f"{table.name}.csv")
        words = [name for name in frame if frame[name].dtype == object]
        frame = frame.drop(columns=[name for name in words if frame[name].nunique() > _MOST_LEVELS])
        mixed = frame.isna().any(axis=None) or any(name in frame for name in words)
        load: Callable[..., datasets.Table] = partial(datasets.load, frame)
        loaded = load(missing="keep", metric="gower") if mixed else load()
        methods = [name for name in METHODS if not (mixed and name == "pca")]
        found = {name: answer(loaded.X, name, loaded, loaded.metric) for name in methods}
        told = "; ".join(f"{name}: {_told(test)}" for name, test in found.items())
        yield f"| {table.name} | {table.groups} | {told} |"


def _told(test: GroupTest) -> str:
    makers = f", made by {', '.join(test.made_by)}" if test.made_by else ""
    return f"{test.answer} {len(test.groups)}{makers}" if test.groups else test.answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--real", type=Path)
    parser.add_argument("--judge", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    began = time.perf_counter()
    if given.real or given.judge:
        for line in real(given.real or given.judge, choosing=given.real is not None):
            print(line, flush=True)
    else:
        found = rates(given.seeds).round(2)
        print('| answer "groups" | ' + " | ".join(map(str, found.columns)) + " |")
        for name, line in found.iterrows():
            print(f"| {name} | " + " | ".join(f"{value:g}" for value in line) + " |")
    print(f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
