"""Which rule says most often rightly whether a map is to be trusted, from maps whose truth is known.

A map is **right** about neighbourhoods if it keeps half of the true ones, beyond chance: R_NX of its places
and the true ones, at a twentieth of the rows and no fewer than k = 10, reaches 0.5. Half, because a reader
who takes a row for a neighbour should be right more often than wrong; a twentieth, because that is what an
eye takes for one place on a map of thousands. It is right about distances if of two true distances, noise
apart, it puts three of four in the right order: tau of 0.5.

A rule errs in two ways: a map that is trusted and not right, a map that is right and not trusted. Each is a
share of the maps that could err so, and the bars make the mean of the two least, so that it does not matter
how many good maps were planted. Bars are judged on tables that did not choose them: the other families, or,
for the rule in force, the other half.

The rule in force is the one of :data:`FORMS` that errs least of those that err no more than the rule before
it at any number of rows, neither on the whole nor by trusting what is not right (:func:`chosen`).
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from isentropic.comparison.bars import EXACT_BAR, FEW_ROWS, LOCAL_BAR, RELATED

from .planted import KIN

DATA = Path(__file__).with_name("verdicts.csv.gz")
HALF = 0.5
BOOTSTRAP = 400  # draws of tables
OLD = {"local": 0.875, "global": 0.5, "exact": (0.97, 0.9)}  # the bars before there was a truth
_FINE = np.round(np.arange(0.70, 0.991, 0.0125), 4)
_GRID = np.round(np.arange(0.10, 0.901, 0.025), 3)
_BASES = (0.45, 0.475, 0.5, 0.525, 0.55)
_FEWEST = 10  # tables of a size by which a rule can be refused
SEEN = (range(163), range(360, 536))  # tables that were measured before the form of the rule was chosen

Mask = pd.Series
Rule = tuple[Callable[..., Mask], list[tuple[float, ...]]]


def _one(column: str, grid: np.ndarray) -> Rule:
    return (lambda maps, bar: maps[column] >= bar), [(bar,) for bar in grid]


def _coarse(maps: pd.DataFrame, bar: float | pd.Series) -> Mask:
    """R_NX(k), or that of a twentieth of the rows where that is at least twice k."""
    large = maps.n // 20 >= 2 * maps.k
    return (maps.rnx_k >= bar) | (large & (maps.rnx_near >= bar))


def _over_root(maps: pd.DataFrame, bar: float, few: float) -> Mask:
    return _coarse(maps, bar + few / np.sqrt(maps.n))


def _over_rows(maps: pd.DataFrame, bar: float, few: float) -> Mask:
    return _coarse(maps, bar + few / maps.n)


def _stepping(maps: pd.DataFrame, bar: float, few: float) -> Mask:
    return _coarse(maps, pd.Series(np.where(maps.n < 100, few, bar), maps.index))


def _both(column: str, maps: pd.DataFrame, bar: float, other: float) -> Mask:
    return (maps.rnx_k >= bar) & (maps[column] >= other)


CHOSEN = "R_NX(k), or of a twentieth of the rows; b + c / √n"
FORMS: dict[str, Rule] = {
    "R_NX(k), or of a twentieth of the rows": (_coarse, [(bar,) for bar in _GRID]),
    CHOSEN: (_over_root, [*product(_BASES, np.round(np.arange(0.1, 1.01, 0.1), 1).tolist())]),
    "R_NX(k), or of a twentieth of the rows; b + c / n": (
        _over_rows, [*product(_BASES, np.arange(0.5, 5.1, 0.5).tolist())],
    ),
    "R_NX(k), or of a twentieth of the rows; b, c below 100 rows": (
        _stepping, [*product(_BASES, np.round(np.arange(0.45, 0.701, 0.025), 3).tolist())],
    ),
}  # fmt: skip
RULES: dict[str, Rule] = {
    "(T + C) / 2": _one("tc", _FINE),
    "the lesser of T and C": _one("lesser", _FINE),
    "R_NX(1–k)": _one("rnx_local", _GRID),
    "R_NX(1–k) less the greatest by chance": _one("excess", _GRID),
    "area under R_NX, all k": _one("rnx_auc", _GRID),
    "tau": _one("tau", _GRID),
    "R_NX(k)": _one("rnx_k", _GRID),
    "R_NX(k) and tau": (partial(_both, "tau"), [*product(_GRID, _GRID[:20:3])]),
    "R_NX(k) and (T + C) / 2": (partial(_both, "tc"), [*product(_GRID, _FINE[::3])]),
    **FORMS,
}  # fmt: skip
ORDERS = {
    "rnx_k": "R_NX(k)", "rnx_local": "R_NX(1–k)", "rnx_auc": "area under R_NX, all k",
    "tc": "(T + C) / 2", "tau": "tau",
}  # fmt: skip


# ---- data --------------------------------------------------------------------------------------


def gathered(folder: Path) -> None:
    """All lines of a folder in one file, with the date of the last one above them."""
    paths = sorted(folder.glob("[0-9]*.csv"))
    date = datetime.fromtimestamp(max(path.stat().st_mtime for path in paths), UTC).date()
    texts = [path.read_text(encoding="utf-8").splitlines() for path in paths]
    lines = [f"# {date}", texts[0][0], *(line for text in texts for line in text[1:])]
    DATA.write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))


def read(path: Path = DATA) -> tuple[str, pd.DataFrame]:
    """The date, and a line for each map."""
    date, text = gzip.decompress(path.read_bytes()).decode().split("\n", 1)
    return date.removeprefix("# "), judgeable(pd.read_csv(io.StringIO(text)))


def judgeable(maps: pd.DataFrame) -> pd.DataFrame:
    """With what rules read, and whether each map is right."""
    return maps.assign(
        kin=maps.family.map(KIN),
        tc=(maps.t + maps.c) / 2,
        lesser=maps[["t", "c"]].min(axis=1),
        excess=maps.rnx_local - maps.chance_local.clip(lower=0),
        worthless=maps.rnx_auc <= maps.chance_mean + 2 * (maps.chance_high - maps.chance_mean),
        right=maps.true_near >= HALF,
        right_tau=maps.clean_tau >= HALF,
    )


def open_to(maps: pd.DataFrame) -> Mask:
    """Maps that are better than chance, and of related columns or nearly exact: what is asked of any map."""
    return ~maps.worthless & ((maps.p <= RELATED) | (maps.rnx_k >= EXACT_BAR))


def as_before(maps: pd.DataFrame) -> Mask:
    """Trusted for neighbourhoods by the rule that had no truth behind it."""
    local, total = OLD["exact"]
    exact = (maps.tc >= local) | (maps.tau >= total)
    return ~maps.worthless & ((maps.p <= RELATED) | exact) & (maps.tc >= OLD["local"])


def as_now(maps: pd.DataFrame) -> Mask:
    return open_to(maps) & _over_root(maps, LOCAL_BAR, FEW_ROWS)


# ---- errors ------------------------------------------------------------------------------------


def errors(trusted: Mask, right: Mask) -> tuple[float, float, float]:
    """Shares: of maps that are not right the trusted ones, of right ones those not trusted; their mean."""
    false = float((trusted & ~right).sum() / max(1, (~right).sum()))
    missed = float((~trusted & right).sum() / max(1, right.sum()))
    return false, missed, (false + missed) / 2


def best_bars(rule: Rule, maps: pd.DataFrame, right: str = "right") -> tuple[float, ...]:
    """Of the bars that err least, the middle one."""
    decide, grid = rule
    found = [errors(open_to(maps) & decide(maps, *bars), maps[right])[2] for bars in grid]
    least = [bars for bars, error in zip(grid, found, strict=True) if error <= min(found) + 1e-9]
    return least[len(least) // 2]


def judged_by_others(rule: Rule, maps: pd.DataFrame, right: str = "right") -> Mask:
    """Trusted by bars that the other kin chose."""
    trusted = pd.Series(False, index=maps.index)
    for kin in maps.kin.unique():
        own = maps.kin == kin
        bars = best_bars(rule, maps[~own], right)
        trusted[own] = open_to(maps[own]) & rule[0](maps[own], *bars)
    return trusted


def chosen(maps: pd.DataFrame) -> tuple[str, tuple[float, ...]]:
    """The form and its bars that err least, of those that nowhere err more than the rule before."""
    found = [
        (errors(open_to(maps) & decide(maps, *bars), maps.right)[2], name, bars)
        for name, (decide, grid) in FORMS.items()
        for bars in grid
        if _nowhere_worse(open_to(maps) & decide(maps, *bars), maps)
    ]
    _, name, bars = min(found)
    return name, bars


def _nowhere_worse(trusted: Mask, maps: pd.DataFrame) -> bool:
    """At no number of rows more false trust than before, nor a greater mean error."""
    before = as_before(maps)
    for _, own in maps.groupby("n"):
        if own.table.nunique() < _FEWEST:
            continue
        old, new = (errors(rule[own.index], own.right) for rule in (before, trusted))
        if new[0] > old[0] or new[2] > old[2]:
            return False
    return True


def halves(maps: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Tables of even and of odd number, with all of their maps; numbers were given at random."""
    even = maps.table % 2 == 0
    return maps[even], maps[~even]


def unseen(maps: pd.DataFrame) -> pd.DataFrame:
    """Tables that nobody had looked at when the form of the rule was chosen."""
    return maps[[not any(table in seen for seen in SEEN) for table in maps.table]]


def drawn_errors(maps: pd.DataFrame, trusted: Mask) -> np.ndarray:
    """The three errors over draws of tables with all of their maps, the same draws for every rule."""
    random, right = np.random.default_rng(0), maps.right
    parts = {"false": trusted & ~right, "wrong": ~right, "missed": ~trusted & right, "right": right}
    sums = pd.DataFrame({**parts, "table": maps.table}).groupby("table").sum().to_numpy()
    places = random.integers(len(sums), size=(BOOTSTRAP, len(sums)))
    drawn = np.array([sums[place].sum(axis=0) for place in places])
    false, missed = (drawn[:, i] / np.maximum(drawn[:, i + 1], 1) for i in (0, 2))
    return np.column_stack([false, missed, (false + missed) / 2])


def interval(values: np.ndarray) -> list[tuple[float, float]]:
    """95% of each column."""
    low, high = np.quantile(values, [0.025, 0.975], axis=0)
    return [*zip(low.tolist(), high.tolist(), strict=True)]
