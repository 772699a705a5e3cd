"""Pictures for a blind judgement: three maps of each real table, A, B and C, in random order.

For each table there is one picture and one text in ``OUT/pages``. The picture shows the map of
``isentropic report``, PCA and UMAP with defaults, without names of methods: coloured by what was held out
above, uncoloured below. The text describes the data and names its columns. Readers write one file each,
``{"01": "A", "02": "BC", ...}`` (several letters: equally good), and ``--answers`` counts them by
``OUT/key.json``. The headlines, which name methods, are in ``OUT/headlines``, for a second question.

``python -m benchmarks.blind_pages OUT --half judges`` uses the reports that benchmarks.real_tables stored,
and runs those that are missing.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .guide_tables import markdown
from .real_tables import Place, compared_maps, pick, source_hash, stored_run
from .real_tables_data import RealTable
from .recovered import FIRST_MAPS, has_order

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LETTERS = ("A", "B", "C")
_MAPS = ("report", *FIRST_MAPS)
_SHOWN_COLUMNS = 40
_MOST_CLASSES = 20  # that colours tell apart; of more, the common ones


def pages(tables: Sequence[RealTable], at: Place, out: Path, seed: int, limit: float) -> None:
    """Write picture and text of each table, and the key."""
    (out / "pages").mkdir(parents=True, exist_ok=True)
    (out / "headlines").mkdir(exist_ok=True)
    key: dict[str, dict[str, str]] = {}
    for number, table in enumerate(sorted(tables, key=lambda table: table.name), 1):
        frame = pd.read_csv(at.table(table.name))
        run = stored_run(table.name, at, limit)
        if run.answer.failure:
            print(f"{table.name}: left out, the report failed: {run.answer.failure}")
            continue
        maps = compared_maps(table, at, frame, run.answer)
        order = np.random.default_rng([seed, *table.name.encode()]).permutation(_MAPS)
        page = f"{number:02}"
        known = at.known(table.name)
        _draw([maps[name] for name in order], known, out / "pages" / f"{page}.png")
        (out / "pages" / f"{page}.txt").write_text(description(table, frame, known), encoding="utf-8")
        (out / "headlines" / f"{page}.txt").write_text(run.answer.headline + "\n", encoding="utf-8")
        key[page] = {"table": table.name, **dict(zip(LETTERS, map(str, order), strict=True))}
    (out / "key.json").write_text(json.dumps(key, indent=1), encoding="utf-8")


def description(table: RealTable, frame: pd.DataFrame, known: pd.DataFrame) -> str:
    """What a reader is told: the data, the columns and the colour; neither the table's name nor a method."""
    columns = [str(column) for column in frame.columns]
    rest = len(columns) - _SHOWN_COLUMNS
    listed = ", ".join(columns[:_SHOWN_COLUMNS]) + (f" and {rest} more" if rest > 0 else "")
    colour = "Nothing was held out."
    if len(known.columns):
        first = known[known.columns[0]]
        scale = " (dark is low, bright is high)" if has_order(first) else ""
        colour = f"Colour (above): {first.name}{scale}; no map saw it."
    return (
        f"{len(frame):,} rows, {len(columns)} columns ({table.kind}).\n{table.expects}\nColumns: {listed}.\n"
        f"{colour}\nQuestion: which of A, B, C would you show to see what this table holds?\n"
    )


# ---- picture -------------------------------------------------------------------------------------


def _draw(maps: Sequence[pd.DataFrame], known: pd.DataFrame, path: Path) -> None:
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, len(maps), figsize=(15, 10.4), layout="constrained")
    truth = known[known.columns[0]] if len(known.columns) else None
    for letter, Z, (above, below) in zip(LETTERS, maps, axes.T, strict=True):
        above.set_title(letter, fontsize=18)
        _scatter(above, Z, truth)
        _scatter(below, Z, None)
    if truth is not None and not has_order(truth):
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=8, markerscale=2, frameon=False)
    figure.savefig(path, dpi=80)
    plt.close(figure)


def _scatter(axis: Axes, Z: pd.DataFrame, truth: pd.Series | None) -> None:
    """Points of one map in one style, without axes; coloured by classes or by the rank of a number."""
    style: dict[str, Any] = {"s": min(60.0, max(5.0, 9000 / len(Z))), "linewidths": 0, "alpha": 0.8}
    x, y = Z.to_numpy().T
    if truth is None:
        axis.scatter(x, y, color="#445566", **style)
    elif has_order(truth):
        ranks = truth.reindex(Z.index).rank(pct=True)
        axis.scatter(x, y, c=ranks.fillna(-1), cmap="viridis", vmin=0, vmax=1, **style)
    else:
        _scatter_classes(axis, x, y, truth.reindex(Z.index), style)
    axis.set(xticks=[], yticks=[], aspect="equal")
    axis.set_adjustable("datalim")


def _scatter_classes(
    axis: Axes, x: np.ndarray, y: np.ndarray, truth: pd.Series, style: dict[str, Any]
) -> None:
    from matplotlib import colormaps

    levels = sorted(truth.value_counts().index[:_MOST_CLASSES], key=str)
    palette = colormaps["tab10" if len(levels) <= 10 else "tab20"]
    others = ~truth.isin(levels).to_numpy()
    if others.any():
        axis.scatter(x[others], y[others], color="#cccccc", label="other or unknown", **style)
    for code, level in enumerate(levels):
        rows = (truth == level).to_numpy()
        axis.scatter(x[rows], y[rows], color=palette(code), label=str(level), **style)


# ---- answers -------------------------------------------------------------------------------------


def count_answers(out: Path, answers: Sequence[Path]) -> str:
    """Which map each reader chose: a table of the pages, and how often each map was chosen."""
    key: Mapping[str, Mapping[str, str]] = json.loads((out / "key.json").read_text(encoding="utf-8"))
    given = [json.loads(path.read_text(encoding="utf-8")) for path in answers]
    rows, chosen = [], [Counter[str]() for _ in answers]
    for page, maps in key.items():
        picked = [[maps[letter] for letter in LETTERS if letter in reader.get(page, "")] for reader in given]
        for counts, names in zip(chosen, picked, strict=True):
            counts.update(names)
        rows.append([page, maps["table"], *(", ".join(names) or "none" for names in picked)])
    total = [", ".join(f"{name} {count}" for name, count in counts.most_common()) for counts in chosen]
    head = ["page", "table", *(path.stem for path in answers)]
    return markdown(head, [*rows, ["all", "", *total]])


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.blind_pages", description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--half", choices=["chooses", "judges", "all"], default="judges")
    parser.add_argument("--names", help="tables, with commas between; instead of --half")
    parser.add_argument("--preset", default="quick")
    parser.add_argument("--folder", type=Path, default=Path("/tmp/real"), help="of real_tables_data.py")
    parser.add_argument("--limit", type=float, default=math.inf, help="CPU seconds for one report")
    parser.add_argument("--seed", type=int, default=0, help="of the order of the three maps")
    parser.add_argument("--answers", type=Path, nargs="+", help="files of readers; prints what they chose")
    asked = parser.parse_args(arguments)
    if asked.answers:
        print(count_answers(asked.out, asked.answers))
        return
    import matplotlib

    matplotlib.use("Agg")
    at = Place(asked.folder, asked.preset, source_hash())
    pages(pick(asked.half, asked.names, at), at, asked.out, asked.seed, asked.limit)


if __name__ == "__main__":
    main()
