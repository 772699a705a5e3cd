"""Does ``map_jumps`` find tears, and only those? On shapes that its threshold was not chosen by.

    python -m benchmarks.jumps FILE    # measures what FILE does not hold yet; jumps.csv.gz is kept
    python -m benchmarks.jumps         # writes into the guide what jumps.csv.gz says

Two kinds of map. **Drawn** ones are formulas: of a sphere and a torus, cut along lines and laid flat, a row
is torn if one of its ten nearest rows lies across a cut; of an S-curve seen from the side and a plane with a
hole bent smoothly no row is. **Fitted** ones have no formula: there a row is torn if the farthest of its ten
nearest rows in the data lies two fifths of the width of the map away, and whole if it lies within a fifth;
rows between are not counted. Neither looks at how new rows are placed, of which jumps are made.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from isentropic import make
from isentropic.neighbors import nearest_among
from isentropic.quality import map_jumps
from isentropic.quality.row_measures import JUMP

from .guide_tables import into_guide, markdown, percent
from .runner import answer_help

DATA = Path(__file__).with_name("jumps.csv.gz")
SIZES = (150, 400, 1_000)
FITTED_SIZES = (150, 400)
NOISES = (0.0, 0.02, 0.05)  # times the standard deviation of the columns
SEEDS = (11, 12)
METHODS = ("pca", "isomap", "t-sne", "cda", "umap")
WALKED = 150
TORN, WHOLE = 0.4, 0.2  # widths of the map
_K = 10
_KEY = ["shape", "method", "n", "noise", "seed"]

Place = Callable[[np.ndarray], np.ndarray]


# ---- shapes ------------------------------------------------------------------------------------


def s_curve(random: np.random.Generator, n: int) -> np.ndarray:
    t = 1.5 * np.pi * random.uniform(-1, 1, n)
    return np.column_stack([np.sin(t), random.uniform(0, 2, n), np.sign(t) * (np.cos(t) - 1)])


def sphere(random: np.random.Generator, n: int) -> np.ndarray:
    x = random.normal(size=(n, 3))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def torus(random: np.random.Generator, n: int) -> np.ndarray:
    a, b = random.uniform(0, 2 * np.pi, size=(2, n))
    wide = 3 + np.cos(b)
    return np.column_stack([wide * np.cos(a), wide * np.sin(a), np.sin(b)])


def plane_with_a_hole(random: np.random.Generator, n: int) -> np.ndarray:
    x = random.uniform(-1, 1, size=(3 * n, 2))
    x = x[np.hypot(*x.T) > 0.45][:n]
    return np.column_stack([x, 0.3 * np.sin(2 * x[:, 0])])


def sheet(random: np.random.Generator, n: int) -> np.ndarray:
    return np.column_stack([random.uniform(0, 1.6, n), random.uniform(0, 1, n), 0.01 * random.normal(size=n)])


SHAPES = {
    "S-curve": s_curve, "sphere": sphere, "torus": torus, "plane with a hole": plane_with_a_hole,
    "sheet": sheet,
}  # fmt: skip


def _turn(X: np.ndarray) -> np.ndarray:
    """Around the third axis, cut where x is negative."""
    return np.arctan2(X[:, 1], X[:, 0])


def _tube_of_torus(X: np.ndarray) -> np.ndarray:
    """Around the tube, cut along its inside."""
    return np.arctan2(X[:, 2], np.hypot(X[:, 0], X[:, 1]) - 3)


DRAWN: dict[str, tuple[str, Place, tuple[Place, ...]]] = {  # shape, map, angles that are cut at half a turn
    "sphere, cut from pole to pole": (
        "sphere", lambda X: np.column_stack([_turn(X), X[:, 2] / np.linalg.norm(X, axis=1)]), (_turn,)
    ),
    "torus, cut once": ("torus", lambda X: np.column_stack([3 * _turn(X), X[:, 2]]), (_turn,)),
    "torus, cut twice": (
        "torus", lambda X: np.column_stack([3 * _turn(X), _tube_of_torus(X)]), (_turn, _tube_of_torus)
    ),
    "plane with a hole, bent": (
        "plane with a hole",
        lambda X: np.column_stack([X[:, 0] + 0.3 * X[:, 1] ** 2, np.exp(0.7 * X[:, 1])]), (),
    ),
    "S-curve, from the side": ("S-curve", lambda X: X[:, [2, 1]] * [2.0, 1.0], ()),
}  # fmt: skip


# ---- measures ----------------------------------------------------------------------------------


def planted_table(shape: str, n: int, noise: float, seed: int) -> np.ndarray:
    random = np.random.default_rng([seed, n, list(SHAPES).index(shape)])
    X = SHAPES[shape](random, n)
    return X + noise * X.std(axis=0).mean() * random.normal(size=X.shape)


def drawn_lines(name: str, n: int, noise: float, seed: int) -> pd.DataFrame:
    shape, place, angles = DRAWN[name]
    X = planted_table(shape, n, noise, seed)
    found = map_jumps(place, X, place(X), sample=WALKED, random_state=seed, n_jobs=1)
    near = _near(X)[found.rows]
    crossed = np.zeros(len(near), bool)
    for angle in angles:
        a = angle(X)
        crossed |= (np.abs(a[near] - a[found.rows][:, None]) > np.pi).any(axis=1)
    return _lines("drawn", name, "formula", n, noise, seed, np.where(crossed, 1.0, 0.0), found.jumps)


def fitted_lines(shape: str, method: str, n: int, noise: float, seed: int) -> pd.DataFrame:
    X = planted_table(shape, n, noise, seed)
    model = make(method)
    given = {"random_state": 0, "n_jobs": 1}
    model.set_params(**{name: value for name, value in given.items() if name in model.get_params()})
    Z = model.fit_transform(X)
    found = map_jumps(model.transform, X, Z, sample=WALKED, random_state=seed, n_jobs=1)
    apart = np.linalg.norm(Z[found.rows][:, None] - Z, axis=2)
    ranks = apart.argsort(axis=1).argsort(axis=1)  # 0: the row itself
    near = _near(X)[found.rows]
    behind = np.take_along_axis(ranks, near, axis=1).max(axis=1) / n
    gaps = np.take_along_axis(apart, near, axis=1).max(axis=1) / np.ptp(Z, axis=0).max()
    return _lines("fitted", shape, method, n, noise, seed, gaps, found.jumps, behind)


def _near(X: np.ndarray) -> np.ndarray:
    return nearest_among(X, X, _K, selves=np.arange(len(X)), n_jobs=1)[0]


def _lines(kind, shape, method, n, noise, seed, gaps, jumps, behind=np.nan) -> pd.DataFrame:
    same = {"kind": kind, "shape": shape, "method": method, "n": n, "noise": noise, "seed": seed}
    found = {"gap": np.round(gaps, 3), "behind": np.round(behind, 3), "jump": np.round(jumps, 3)}
    return pd.DataFrame({**same, **found})


def work() -> Iterator[tuple[tuple, Callable[[], pd.DataFrame]]]:
    """What is measured, by its key."""
    for name, n, noise, seed in product(DRAWN, SIZES, NOISES, SEEDS):
        yield (name, "formula", n, noise, seed), lambda key=(name, n, noise, seed): drawn_lines(*key)
    for seed, n, noise, shape, method in product(SEEDS, FITTED_SIZES, NOISES[:2], SHAPES, METHODS):
        key = (shape, method, n, noise, seed)
        yield key, lambda key=key: fitted_lines(*key)


def measure(path: Path, most_seconds: float = 300.0) -> None:
    """Within so many CPU seconds; what is there stays."""
    warnings.simplefilter("ignore")
    parts = [pd.read_csv(path)] if path.exists() else []
    done = {tuple(key) for part in parts for key in part[_KEY].to_numpy()}
    for key, lines in work():
        if key in done:
            continue
        parts.append(lines())
        if time.process_time() > most_seconds:
            break
    pd.concat(parts).to_csv(path, index=False, compression={"method": "gzip", "mtime": 0})


# ---- tables ------------------------------------------------------------------------------------


def rates(lines: pd.DataFrame) -> list[str]:
    """Maps; torn rows and which of them are found; whole rows and which of them are flagged."""
    torn, whole = lines[lines.gap >= TORN], lines[lines.gap <= WHOLE]
    maps = len(lines.drop_duplicates(_KEY))
    cells = [str(maps)]
    for rows in (torn, whole):
        cells += [f"{len(rows):,}", percent((rows.jump > JUMP).mean()) if len(rows) else "–"]
    return cells


def table(lines: pd.DataFrame, by: str, title: str) -> str:
    head = [title, "maps", "torn rows", "found", "whole rows", "flagged"]
    parts = [(str(value), lines[lines[by] == value]) for value in lines[by].unique()]
    return markdown(head, [[name, *rates(own)] for name, own in [*parts, ("all", lines)]])


def summary(lines: pd.DataFrame) -> str:
    drawn, fitted = (lines[lines.kind == kind] for kind in ("drawn", "fitted"))
    sizes, noises = (
        ", ".join(f"{value:,}" for value in sorted(lines[name].unique())) for name in ("n", "noise")
    )
    return "\n\n".join(
        [
            f"Maps by formula, of {sizes} rows and noise of {noises} standard deviations:",
            table(drawn, "shape", "map"),
            table(drawn, "noise", "noise"),
            "Fitted maps:",
            table(fitted, "method", "method"),
            table(fitted, "shape", "shape"),
            "The sheet and the plane with a hole can be drawn whole. Rows that are flagged there, and "
            "behind how many "
            "of all rows the farthest of their ten nearest stands, in the median:",
            flat_table(fitted),
        ]
    )


def flat_table(fitted: pd.DataFrame) -> str:
    """Are the tears of what is flat, and need not be torn, real?"""
    flat = fitted[fitted["shape"].isin(["sheet", "plane with a hole"])]
    rows = []
    for method, own in flat.groupby("method", sort=False):
        flagged = own.jump > JUMP
        behind = [
            f"{part.median():.0%}" if len(part) else "–"
            for part in (own.behind[flagged], own.behind[~flagged])
        ]
        rows.append([str(method), percent(flagged.mean()), *behind])
    return markdown(["method", "flagged", "of these, behind", "of the others, behind"], rows)


def main(arguments: list[str]) -> None:
    if arguments:
        measure(Path(arguments[0]))
    else:
        text = summary(pd.read_csv(DATA))
        into_guide(text, "report.md", "jumps")
        print(text)


if __name__ == "__main__":
    answer_help(__doc__)
    main(sys.argv[1:])
