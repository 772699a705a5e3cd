"""What the planted tables say of the rule in force, as it stands in docs/guide/report.md."""

from __future__ import annotations

import pandas as pd

from isentropic.comparison.bars import FEW_ROWS, GLOBAL_BAR, LOCAL_BAR

from .guide_tables import into_guide, markdown, percent
from .verdict_rules import (
    CHOSEN,
    FORMS,
    OLD,
    ORDERS,
    RULES,
    Mask,
    as_before,
    as_now,
    best_bars,
    chosen,
    drawn_errors,
    errors,
    halves,
    interval,
    judged_by_others,
    open_to,
    read,
    unseen,
)


def rules_table(maps: pd.DataFrame) -> str:
    rows = []
    for name, rule in RULES.items():
        trusted = judged_by_others(rule, maps)
        bars = ", ".join(f"{bar:g}" for bar in best_bars(rule, maps))
        rows.append([name, bars, *_with_interval(maps, trusted)])
    rows.sort(key=lambda row: float(row[-1].split("%")[0]))
    rows.append(["as before: (T + C) / 2", f"{OLD['local']:g}", *_with_interval(maps, as_before(maps))])
    rows.append([f"as now: {CHOSEN}", f"{LOCAL_BAR:g}, {FEW_ROWS:g}", *_with_interval(maps, as_now(maps))])
    return markdown(["rule", "bar", "trusted, but not right", "right, but not trusted", "mean"], rows)


def _with_interval(maps: pd.DataFrame, trusted: Mask) -> list[str]:
    ends = interval(drawn_errors(maps, trusted))
    return [
        f"{percent(value)} ({percent(low, False)}–{percent(high)})"
        for value, (low, high) in zip(errors(trusted, maps.right), ends, strict=True)
    ]


def held_out_lines(maps: pd.DataFrame) -> str:
    """Each half of the tables chooses a rule; the errors are those of the other half."""
    even, odd = halves(maps)
    said = []
    for one, other, names in ((even, odd, ("even", "odd")), (odd, even, ("odd", "even"))):
        name, bars = chosen(one)
        b, c = (*bars, 0.0)[:2]
        trusted = open_to(other) & FORMS[name][0](other, *bars)
        said.append(
            f"The {one.table.nunique()} tables of {names[0]} number choose *{name}* with "
            f"{_bar_words(name, b, c)}. On the {other.table.nunique()} of {names[1]} number it trusts "
            f"{_rates(other, trusted)}; the rule before, {_rates(other, as_before(other))}. "
            f"{_difference(other, trusted)}"
        )
    return " ".join(said)


def _bar_words(name: str, b: float, c: float) -> str:
    return f"b = {b:g}, c = {c:g}" if name != next(iter(FORMS)) else f"a bar of {b:g}"


def _rates(maps: pd.DataFrame, trusted: Mask) -> str:
    false, missed, _ = _with_interval(maps, trusted)
    return f"{false} of the maps that are not right and misses {missed} of those that are"


def _difference(maps: pd.DataFrame, trusted: Mask) -> str:
    value, low, high = _gain(maps, trusted)
    return f"Its mean error is {value:.1f} points less (95%: {low:.1f} to {high:.1f})."


def _gain(maps: pd.DataFrame, trusted: Mask) -> tuple[float, float, float]:
    """What a rule gained over the one before, in points of the mean error, on the same draws of tables."""
    gain = errors(as_before(maps), maps.right)[2] - errors(trusted, maps.right)[2]
    drawn = drawn_errors(maps, as_before(maps)) - drawn_errors(maps, trusted)
    low, high = interval(drawn)[2]
    return 100 * gain, 100 * low, 100 * high


def unseen_line(maps: pd.DataFrame) -> str:
    """On tables that nobody had looked at."""
    new = unseen(maps)
    if new.empty:
        return ""
    return (
        f"That a bar should fall with the rows, and by which forms, was said after a look at "
        f"{maps.table.nunique() - new.table.nunique()} of the tables. On the {new.table.nunique()} that were "
        f"measured since, of {', '.join(f'{n:,}' for n in sorted(new.n.unique()))} rows, the rule as it is "
        f"now trusts {_rates(new, as_now(new))}; the rule before, {_rates(new, as_before(new))}. "
        f"{_difference(new, as_now(new))}"
    )


def parts_table(maps: pd.DataFrame, column: str, title: str) -> str:
    """The rule as it was and as it is, part by part, and what was gained."""
    parts = [(title.format(value), maps[maps[column] == value]) for value in sorted(maps[column].unique())]
    head = ["tables with", "tables", "maps that are right"]
    head += [f"{when}: {error}" for when in ("before", "now") for error in ("false trust", "missed")]
    return markdown([*head, "mean error, points less"], [_part(title, own) for title, own in parts])


def _part(title: str, maps: pd.DataFrame) -> list[str]:
    counts = ((~maps.right).sum(), maps.right.sum())  # of maps that could err in either way
    rates = [
        percent(share) if count else "–"
        for rule in (as_before, as_now)
        for share, count in zip(errors(rule(maps), maps.right)[:2], counts, strict=True)
    ]
    gained = "{:.1f} ({:.1f} to {:.1f})".format(*_gain(maps, as_now(maps)))
    return [title, str(maps.table.nunique()), percent(maps.right.mean()), *rates, gained]


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
        bars = best_bars(RULES[CHOSEN], other)
        rows.append(
            [
                name,
                ", ".join(f"{bar:g}" for bar in bars),
                *(percent(errors(rule(maps), right)[2]) for rule in (as_before, as_now)),
            ]
        )
    return markdown(["right is a map that keeps", "best b, c", "before: mean error", "now: mean error"], rows)


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
    odd = halves(maps)[1]
    lines = (
        f"Measured on {date}: {len(maps):,} maps of {tables:,} tables, {right:.0%} of the maps right.",
        held_out_lines(maps),
        unseen_line(maps),
        "By rows, on the tables of odd number alone:",
        parts_table(odd, "n", "{:,} rows"),
        "On all tables:",
        parts_table(maps, "n", "{:,} rows"),
        parts_table(maps, "noise", "noise {:.0%}"),
        "Of all rules, each with bars that other families chose:",
        rules_table(maps),
        " ".join([distances_line(maps), noise_line(maps)]),
        "Is the map with the greatest score the one that keeps most of the truth? Of tables of which some "
        "map keeps a fifth:",
        orders_table(maps),
        "Had *right* been said otherwise:",
        truths_table(maps),
    )
    return "\n\n".join(line for line in lines if line)


def write_guide() -> None:
    text = summary(*read())
    into_guide(text, "report.md", "calibration")
    print(text)
