"""How often the verdict is wrong about maps whose truth is known, beside the rule by R_NX(10).

A map is **right** about neighbours if it retains half of the true ones, beyond chance: R_NX of its places and
the true ones, at a twentieth of the rows and no fewer than k = 10, reaches 0.5. Half, because a reader who
takes a row for a neighbour should be right more often than wrong; a twentieth, because that is what an eye
takes for one place on a map of thousands.

A rule errs in two ways: it recommends a map that is not right (*false trust*), or recommends none where one
is right (*missed*). Both are counted in tables, as a reader gets one map of a table.
"""

from __future__ import annotations

import gzip
import io
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd

from isentropic.comparison.verdict.thresholds import (
    DENSITY,
    DISTANCE_WEIGHT,
    EXACT,
    FLOOR,
    NEIGHBORS_FAIR,
    RELATED,
    RELATION,
)

DATA = Path(__file__).with_name("verdicts.csv.gz")
GUIDE = Path(__file__).parents[1] / "docs" / "guide" / "report.md"
MARKS = ("<!-- calibration -->\n", "<!-- end -->")
HALF = 0.5
WRONG_ON_PURPOSE = ("two columns", "shuffled 20%", "shuffled 50%", "shuffled 80%")

Mask = pd.Series


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
        worthless=maps.rnx_auc <= maps.chance_mean + 2 * (maps.chance_high - maps.chance_mean),
        right=maps.true_near >= HALF,
    )


# ---- rules -------------------------------------------------------------------------------------


def trusted_by_rnx(maps: pd.DataFrame) -> Mask:
    """R_NX(10) of 0.5 + 0.4 / sqrt(n), or as much of a twentieth of the rows; related columns, or 0.9."""
    bar = 0.5 + 0.4 / np.sqrt(maps.n)
    coarse = (maps.n // 20 >= 2 * maps.k) & (maps.rnx_near >= bar)
    open_to = ~maps.worthless & ((maps.p <= 0.01) | (maps.rnx_k >= 0.9))
    return open_to & ((maps.rnx_k >= bar) | coarse)


def usable_for_neighbors(maps: pd.DataFrame) -> Mask:
    """As :func:`isentropic.comparison.verdict` grades them: at least fair, of related columns or exact."""
    exact = np.minimum(maps.near, maps.tau) >= EXACT
    related = (maps.p <= RELATED) & ((maps.relation >= RELATION) | (maps.density >= DENSITY))
    near = _shown(maps)
    return ~maps.worthless & (related | exact.groupby(maps.table).transform("any")) & (near >= NEIGHBORS_FAIR)


def _shown(maps: pd.DataFrame) -> pd.Series:
    """The score of neighbours as the sentence shows it: counts of k are rounded."""
    decimals = np.where(maps.n < 31, 10.0, 1.0)
    share = maps.near_chance + (1 - maps.near_chance) * maps.near
    shown = np.floor(maps.k * share * decimals + 1e-6) / decimals / maps.k
    by_chance = maps.k * maps.near_chance
    chance = np.where(by_chance < 1, 0.0, np.round(by_chance * decimals) / decimals / maps.k)
    return pd.Series(
        np.where(chance < 1, (shown - chance) / np.maximum(1 - chance, 1e-9), 0.0), maps.index
    ).round(9)


def usefulness(maps: pd.DataFrame) -> pd.Series:
    """By which the verdict compares maps."""
    near, far = (-np.log(1 + FLOOR - maps[name].clip(0, 1)) for name in ("near", "tau"))
    return near + DISTANCE_WEIGHT * far


RULES = {
    "R_NX(10)": (trusted_by_rnx, lambda maps: maps.rnx_k),
    "near neighbours": (usable_for_neighbors, usefulness),
}


# ---- errors ------------------------------------------------------------------------------------


def recommended(maps: pd.DataFrame, rule: str) -> pd.DataFrame:
    """The map of each table that a rule recommends; tables without one are absent."""
    offered = maps[~maps.method.isin(WRONG_ON_PURPOSE)]
    trusted, score = RULES[rule]
    usable = offered[trusted(offered)]
    return usable.loc[score(usable).groupby(usable.table).idxmax()]


def counts(maps: pd.DataFrame, rule: str) -> dict[str, int]:
    """Tables: with a right map recommended, with a wrong one, and without one though there is a right map."""
    offered = maps[~maps.method.isin(WRONG_ON_PURPOSE)]
    found = recommended(maps, rule)
    can = set(offered.table[offered.right])
    return {
        "tables": offered.table.nunique(),
        "right": int(found.right.sum()),
        "wrong": int((~found.right).sum()),
        "missed": len(can - set(found.table)),
    }


def table_of_errors(maps: pd.DataFrame) -> str:
    """In Markdown: both rules on all tables, by noise and by rows."""
    lines = [
        "| tables | number | R_NX(10): right, wrong, missed | near neighbours: right, wrong, missed |",
        "| --- | --- | --- | --- |",
    ]
    noises = [(f"noise {noise:.0%}", maps[maps.noise == noise]) for noise in sorted(maps.noise.unique())]
    sizes = [(f"{n:,} rows", maps[maps.n == n]) for n in sorted(maps.n.unique())]
    for name, part in [("all", maps), *noises, *sizes]:
        old, new = (counts(part, rule) for rule in RULES)
        cells = (f"{found['right']}, {found['wrong']}, {found['missed']}" for found in (old, new))
        lines.append(f"| {name} | {old['tables']} | {' | '.join(cells)} |")
    return "\n".join(lines)


def section(date: str, maps: pd.DataFrame) -> str:
    """What the guide says of the planted tables."""
    new = counts(maps, "near neighbours")
    return (
        f"Measured on {date}: {len(maps):,} maps of {new['tables']} tables. A right map is recommended for "
        f"{new['right']} tables, a wrong one for {new['wrong']}, none though there is a right one for "
        f"{new['missed']}.\n\n{table_of_errors(maps)}\n"
    )


def write_guide() -> None:
    """Put the figures of the kept lines into the guide."""
    text = GUIDE.read_text(encoding="utf-8")
    before, rest = text.split(MARKS[0])
    GUIDE.write_text(
        before + MARKS[0] + section(*read()) + MARKS[1] + rest.split(MARKS[1], 1)[1], encoding="utf-8"
    )
