"""Which rule says most often rightly whether a map is to be trusted, from maps whose truth is known.

    python -m benchmarks.verdict_rules           # judges what verdicts.csv.gz holds, and writes the guide
    python -m benchmarks.verdict_rules FOLDER    # gathers the lines of FOLDER there first

A map is **right** about neighbourhoods if it keeps half of the true ones, beyond chance: R_NX of its places
and the true ones, at a twentieth of the rows and no fewer than k = 10, reaches 0.5. Half, because a reader
who takes a row for a neighbour should be right more often than wrong; a twentieth, because that is what an
eye takes for one place on a map of thousands. It is right about distances if of two true distances, noise
apart, it puts three of four in the right order: tau of 0.5.

A rule errs in two ways: a map that is trusted and not right, a map that is right and not trusted. Each is a
share of the maps that could err so, and the bars make the mean of the two least, so that it does not matter
how many good maps were planted. Bars are judged on families of tables that did not choose them.
"""

from __future__ import annotations

import gzip
import io
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from isentropic.comparison.standings import EXACT_BAR, GLOBAL_BAR, LOCAL_BAR, RELATED

from .guide_tables import into_guide, markdown, percent
from .planted import KIN

DATA = Path(__file__).with_name("verdicts.csv.gz")
HALF = 0.5
BOOTSTRAP = 400  # draws of tables
_OLD = {"local": 0.875, "global": 0.5, "exact": (0.97, 0.9)}  # the bars before there was a truth
_FINE = np.round(np.arange(0.70, 0.991, 0.0125), 4)
_GRID = np.round(np.arange(0.10, 0.901, 0.025), 3)

Mask = pd.Series
Rule = tuple[Callable[..., Mask], list[tuple[float, ...]]]


def _one(column: str, grid: np.ndarray) -> Rule:
    return (lambda maps, bar: maps[column] >= bar), [(bar,) for bar in grid]


def _coarse(maps: pd.DataFrame, bar: float) -> Mask:
    """R_NX(k), or that of a twentieth of the rows where that is at least twice k."""
    large = maps.n // 20 >= 2 * maps.k
    return (maps.rnx_k >= bar) | (large & (maps.rnx_near >= bar))


def _falling(maps: pd.DataFrame, bar: float, slope: float) -> Mask:
    return maps.rnx_k >= bar - slope * np.log10(maps.n / 100)


def _both(column: str, maps: pd.DataFrame, bar: float, other: float) -> Mask:
    return (maps.rnx_k >= bar) & (maps[column] >= other)


RULES: dict[str, Rule] = {
    "(T + C) / 2": _one("tc", _FINE),
    "the lesser of T and C": _one("lesser", _FINE),
    "R_NX(1–k)": _one("rnx_local", _GRID),
    "R_NX(1–k) less the greatest by chance": _one("excess", _GRID),
    "area under R_NX, all k": _one("rnx_auc", _GRID),
    "tau": _one("tau", _GRID),
    "R_NX(k)": _one("rnx_k", _GRID),
    "R_NX(k), a bar that changes with log n": (_falling, [*product(_GRID, (-0.1, 0.0, 0.05, 0.1, 0.2))]),
    "R_NX(k) and tau": (partial(_both, "tau"), [*product(_GRID, _GRID[:20:3])]),
    "R_NX(k) and (T + C) / 2": (partial(_both, "tc"), [*product(_GRID, _FINE[::3])]),
    "R_NX(k), or of a twentieth of the rows": (_coarse, [(bar,) for bar in _GRID]),
}  # fmt: skip
CHOSEN = "R_NX(k), or of a twentieth of the rows"
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
    local, total = _OLD["exact"]
    exact = (maps.tc >= local) | (maps.tau >= total)
    return ~maps.worthless & ((maps.p <= RELATED) | exact) & (maps.tc >= _OLD["local"])


def as_now(maps: pd.DataFrame) -> Mask:
    return open_to(maps) & _coarse(maps, LOCAL_BAR)


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


def drawn_errors(maps: pd.DataFrame, trusted: Mask) -> np.ndarray:
    """The three errors over draws of tables with all of their maps, the same draws for every rule."""
    random, right = np.random.default_rng(0), maps.right
    parts = {"false": trusted & ~right, "wrong": ~right, "missed": ~trusted & right, "right": right}
    sums = pd.DataFrame({**parts, "table": maps.table}).groupby("table").sum().to_numpy()
    places = random.integers(len(sums), size=(BOOTSTRAP, len(sums)))
    drawn = np.array([sums[place].sum(axis=0) for place in places])
    false, missed = drawn[:, 0] / drawn[:, 1], drawn[:, 2] / drawn[:, 3]
    return np.column_stack([false, missed, (false + missed) / 2])


def interval(values: np.ndarray) -> list[tuple[float, float]]:
    """95% of each column."""
    low, high = np.quantile(values, [0.025, 0.975], axis=0)
    return [*zip(low.tolist(), high.tolist(), strict=True)]


# ---- tables ------------------------------------------------------------------------------------


def rules_table(maps: pd.DataFrame) -> str:
    rows = []
    for name, rule in RULES.items():
        trusted = judged_by_others(rule, maps)
        bars = ", ".join(f"{bar:g}" for bar in best_bars(rule, maps))
        rows.append([name, bars, *_with_interval(maps, trusted)])
    rows.sort(key=lambda row: float(row[-1].split("%")[0]))
    rows.append(["as before: (T + C) / 2", f"{_OLD['local']:g}", *_with_interval(maps, as_before(maps))])
    rows.append([f"as now: {CHOSEN}", f"{LOCAL_BAR:g}", *_with_interval(maps, as_now(maps))])
    return markdown(["rule", "bar", "trusted, but not right", "right, but not trusted", "mean"], rows)


def _with_interval(maps: pd.DataFrame, trusted: Mask) -> list[str]:
    ends = interval(drawn_errors(maps, trusted))
    return [
        f"{percent(value)} ({percent(low, False)}–{percent(high)})"
        for value, (low, high) in zip(errors(trusted, maps.right), ends, strict=True)
    ]


def gain_line(maps: pd.DataFrame) -> str:
    """What the new rule gained over the old one, on the same draws of tables."""
    gain = errors(as_before(maps), maps.right)[2] - errors(as_now(maps), maps.right)[2]
    drawn = drawn_errors(maps, as_before(maps)) - drawn_errors(maps, as_now(maps))
    low, gain, high = (100 * value for value in (interval(drawn)[2][0], gain, interval(drawn)[2][1]))
    return f"The mean error is {gain:.1f} points less than before (95%: {low:.1f} to {high:.1f})."


def parts_table(maps: pd.DataFrame) -> str:
    """The rule as it was and as it is, by rows of the table and by noise."""
    titles = {"n": "{:,} rows", "noise": "noise {:.0%}"}
    parts = [
        (title.format(value), maps[maps[column] == value])
        for column, title in titles.items()
        for value in sorted(maps[column].unique())
    ]
    head = ["tables with", "tables", "maps that are right"]
    head += [f"{when}: {error}" for when in ("before", "now") for error in ("false trust", "missed")]
    return markdown(head, [_part(title, own) for title, own in parts])


def _part(title: str, maps: pd.DataFrame) -> list[str]:
    counts = ((~maps.right).sum(), maps.right.sum())  # of maps that could err in either way
    rates = [
        percent(share) if count else "–"
        for rule in (as_before, as_now)
        for share, count in zip(errors(rule(maps), maps.right)[:2], counts, strict=True)
    ]
    return [title, str(maps.table.nunique()), percent(maps.right.mean()), *rates]


def orders_table(maps: pd.DataFrame) -> str:
    """How near the map with the greatest score comes to the one that keeps most of the truth."""
    tables = maps.groupby("table")
    best = tables.true_near.max()
    told = best.index[best >= 0.2]
    rows = []
    for column, name in ORDERS.items():
        picked = maps.loc[tables[column].idxmax()].set_index("table").true_near
        loss = (best - picked)[told]
        rows.append(
            [name, f"{loss.mean():.3f}", percent((loss <= 0.02).mean()), percent((loss <= 0.05).mean())]
        )
    return markdown(
        ["the map with the greatest", "loses on average", "within 0.02 of the best", "within 0.05"], rows
    )


def truths_table(maps: pd.DataFrame) -> str:
    """Would another notion of right have chosen otherwise?"""
    notions = {
        "half of a twentieth of the rows": maps.true_near >= 0.5,
        "two fifths of them": maps.true_near >= 0.4,
        "three fifths of them": maps.true_near >= 0.6,
        "half of the k = 10 nearest": maps.true_k >= 0.5,
        "half of a tenth of the rows": maps.true_tenth >= 0.5,
    }
    rows = []
    for name, right in notions.items():
        other = maps.assign(right=right)
        bar = best_bars(RULES[CHOSEN], other)[0]
        rows.append(
            [name, f"{bar:g}", *(percent(errors(rule(maps), right)[2]) for rule in (as_before, as_now))]
        )
    return markdown(["right is a map that keeps", "best bar", "before: mean error", "now: mean error"], rows)


def distances_line(maps: pd.DataFrame) -> str:
    right = maps.right_tau
    bar = best_bars(RULES["tau"], maps, "right_tau")[0]
    others = errors(judged_by_others(RULES["tau"], maps, "right_tau"), right)
    now = errors(open_to(maps) & (maps.tau >= GLOBAL_BAR), right)
    return (
        f"The bar of tau that errs least is {bar:g}. Chosen by other families it trusts "
        f"{percent(others[0])} of the maps that are not right about distances, and misses "
        f"{percent(others[1])} of those that are; {GLOBAL_BAR:g}, as it stands, {percent(now[0])} and "
        f"{percent(now[1])}."
    )


def noise_line(maps: pd.DataFrame) -> str:
    noise = maps[maps.noise == 1]
    return (
        f"Of {len(noise):,} maps of nothing but noise, {int(as_now(noise).sum())} are trusted for "
        f"neighbourhoods; before, {int(as_before(noise).sum())} were."
    )


def summary(date: str, maps: pd.DataFrame) -> str:
    tables, right = maps.table.nunique(), maps.right.mean()
    lines = (
        f"Measured on {date}: {len(maps):,} maps of {tables:,} tables, {right:.0%} of the maps right.",
        rules_table(maps),
        " ".join([gain_line(maps), distances_line(maps), noise_line(maps)]),
        parts_table(maps),
        "Is the map with the greatest score the one that keeps most of the truth? Of tables of which some "
        "map keeps a fifth:",
        orders_table(maps),
        "Had *right* been said otherwise:",
        truths_table(maps),
    )
    return "\n\n".join(lines)


def main(arguments: Sequence[str]) -> None:
    if arguments:
        gathered(Path(arguments[0]))
    text = summary(*read())
    into_guide(text, "report.md", "calibration")
    print(text)


if __name__ == "__main__":
    main(sys.argv[1:])
