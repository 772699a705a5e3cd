"""What a comparison measures of maps of planted tables, beside how right these maps are.

    python -m benchmarks.verdicts FOLDER [FIRST LAST]    # measures the tables that FOLDER does not hold yet
    python -m benchmarks.verdicts --keep FOLDER          # puts the lines of FOLDER into verdicts.csv.gz
    python -m benchmarks.verdicts                        # writes into the guide what these say of the rule

Every table is compared as a report does it, and the same maps are held against the truth. One file for each
table, small tables first, so that an interrupted run goes on; two processes may share a folder, each from
FIRST to before LAST. What is right and which rule is chosen: ``verdict_rules.py``.
"""

from __future__ import annotations

import csv
import os
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from isentropic import Run
from isentropic.comparison.explain.column_relation import column_relation
from isentropic.comparison.explain.dimension import intrinsic_dimension
from isentropic.quality import assess, baseline, kendall_tau
from isentropic.quality.ranks.rank_curves import rnx_area
from isentropic.registry import METHODS, Method

from .planted import Planted, numbered, planted
from .runner import answer_help
from .verdict_rules import gathered, write_guide

COMPARED = ("pca", "isomap", "t-sne", "umap", "lle", "laplacian-eigenmaps", "parameter-free-sdd")
SHUFFLED = (0.2, 0.5, 0.8)  # shares of the rows of a map that change places
_SMALL = 100  # rows: tables of no more come first, of all such sizes in turn
_ROWS = 200  # whose chance is measured: it varies little between rows
NEAR = 20  # a neighbourhood is one twentieth of the rows, and no fewer than the k of the report


def near(n: int, k: int) -> int:
    """Rows of a true neighbourhood: the k of the report, and a twentieth of many rows."""
    return max(k, n // NEAR)


def maps(table: Planted) -> dict[str, Callable[[np.ndarray], np.ndarray]]:
    """Methods as they come, and maps that are wrong on purpose."""
    random = np.random.default_rng([table.number, 1])
    columns = random.permutation(table.X.shape[1])[:2]
    found = {name: partial(_mapped, METHODS[name]) for name in COMPARED}
    found["two columns"] = lambda X: X[:, columns]
    for share in SHUFFLED:
        found[f"shuffled {share:.0%}"] = partial(_shuffled, share=share, random=random)
    return found


def _mapped(method: Method, X: np.ndarray) -> np.ndarray:
    estimator = method.load()()
    known = estimator.get_params()
    given = {"random_state": 0, "n_jobs": 1}
    return estimator.set_params(**{k: v for k, v in given.items() if k in known}).fit_transform(X)


def _shuffled(X: np.ndarray, share: float, random: np.random.Generator) -> np.ndarray:
    """Two principal components, of which some rows change places."""
    U, s, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    Z = U[:, :2] * s[:2]
    moved = random.permutation(len(X))[: round(share * len(X))]
    Z[moved] = Z[random.permutation(moved)]
    return Z


def measured(table: Planted) -> list[dict]:
    """A line for each map: what a report knows of it, and how much of the truth it keeps."""
    found = column_relation(table.X, table.number)
    relation = None if found is None else (found.strength, found.p_value, found.density)
    dimensions = intrinsic_dimension(table.X, n_jobs=1)
    of_table = {
        "table": table.number,
        "family": table.family,
        "dimension": table.dimension,
        "n": len(table.X),
        "m": table.X.shape[1],
        "noise": table.noise,
        "kind": table.kind,
        "ml": dimensions.maximum_likelihood,
        "two": dimensions.two_nearest,
    }
    drawn = [(name, mapped(table.X)) for name, mapped in maps(table).items()]
    runs = [_run(table, name, Z, relation) for name, Z in drawn if np.isfinite(Z).all()]
    return [{**of_table, "method": run.method, **_of_run(run), **_of_truth(table, run)} for run in runs]


def _run(table: Planted, name: str, Z: np.ndarray, relation: tuple[float, float, float] | None) -> Run:
    """As a comparison makes it, but for the rows left out and the seconds."""
    quality = assess(table.X, Z, measures="ranks", random_state=0, n_jobs=1)
    tau = kendall_tau(table.X, Z, n_jobs=1)
    chance = baseline(table.X, Z, sample=min(len(Z), _ROWS), random_state=table.number, n_jobs=1)
    by_chance = {**chance.measures, "rnx_local": rnx_area(chance.chance["r_nx"], quality.n_neighbors[0])}
    return Run(
        name,
        {},
        None,
        0.0,
        None,
        embedding=Z,
        quality=replace(quality, measures={**quality.measures, "kendall_tau": tau}),
        baseline={
            name: (float(values.mean()), float(np.quantile(values, 0.975)))
            for name, values in by_chance.items()
        },
        relation=relation,
    )


def _of_run(run) -> dict:
    quality, measures = run.quality, run.quality.measures
    n, k, curves = quality.n, quality.n_neighbors[0], quality.curves
    large = near(n, k)
    return {
        "k": k,
        "rnx_local": measures["rnx_local"].value,
        "near": measures[f"near_neighbors({k})"].value,
        "near_chance": curves.near_chance[k - 1],
        "rnx_k": curves.r_nx[k - 1],
        "rnx_near": curves.r_nx[large - 1],
        "area_near": curves.rnx_area(large),
        "rnx_auc": measures["rnx_auc"].value,
        "t": measures[f"trustworthiness({k})"].value,
        "c": measures[f"continuity({k})"].value,
        "t_near": curves.trustworthiness[large - 1],
        "c_near": curves.continuity[large - 1],
        "tau": measures["kendall_tau"].value,
        "chance_mean": run.baseline["rnx_auc"][0],
        "chance_high": run.baseline["rnx_auc"][1],
        "chance_local": run.baseline["rnx_local"][1],
        "relation": run.relation[0] if run.relation else 0.0,
        "p": run.relation[1] if run.relation else 1.0,
        "density": run.relation[2] if run.relation else 1.0,
    }


def _of_truth(table: Planted, run) -> dict:
    true = assess(table.truth, run.embedding, measures="ranks", random_state=0, n_jobs=1)
    n, k, r = true.n, true.n_neighbors[0], true.curves.r_nx
    return {
        "true_local": true.measures["rnx_local"].value,
        "true_k": r[k - 1],
        "true_fiftieth": r[max(k, n // 50) - 1],
        "true_near": r[near(n, k) - 1],
        "true_tenth": r[max(k, n // 10) - 1],
        "true_tau": kendall_tau(table.truth, run.embedding, n_jobs=1).value,
        "clean_tau": kendall_tau(table.clean, run.embedding, n_jobs=1).value,
    }


def write(path: Path, lines: list[dict]) -> None:
    """All or nothing."""
    part = path.with_suffix(f".{os.getpid()}")
    with part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(lines[0]))
        writer.writeheader()
        for line in lines:
            writer.writerow({name: _text(value) for name, value in line.items()})
    part.replace(path)


def _text(value) -> str:
    if value is None:
        return ""
    return f"{value:.4f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def measure(folder: Path, first: int = 0, last: int | None = None) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    for number, family, n, noise in sorted(numbered()[first:last], key=lambda table: max(table[2], _SMALL)):
        path = folder / f"{number:04}.csv"
        if path.exists():
            continue
        began = time.process_time()
        write(path, measured(planted(number, family, n, noise)))
        print(number, family, n, noise, f"{time.process_time() - began:.1f} CPU s", flush=True)


def main(arguments: Sequence[str]) -> None:
    if not arguments:
        write_guide()
    elif arguments[0] == "--keep":
        gathered(Path(arguments[1]))
    else:
        measure(Path(arguments[0]), *(int(number) for number in arguments[1:3]))


if __name__ == "__main__":
    answer_help(__doc__)
    main(sys.argv[1:])
