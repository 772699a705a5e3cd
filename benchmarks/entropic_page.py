"""docs/guide/entropic-reproduction.md from the cells that reproduce_entropic.py has measured."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np

from .entropic_data import PUBLISHED_K, TABLE_9, TABLE_I, Cells
from .reproduce_entropic import BANDWIDTHS, ISOMAP_K_000, ISOMAP_K_001, REGULARIZATIONS, SIZES

PAGE = Path("docs/guide/entropic-reproduction.md")
GUIDE = Path("docs/guide/entropic-isomap.md")
NOTES = Path("benchmarks/entropic_notes.md")  # what was found about the cells that differ
FAR = 0.05


def published(file: str, method: str) -> dict[str, float]:
    path = Path(os.environ["ISENTROPIC_PUBLISHED"]) / file
    with open(path, encoding="utf-8") as lines:
        return {
            row["dataset"]: float(row["value"])
            for row in csv.DictReader(lines)
            if row["method"] == method and row["value"]
        }


def curve(cells: dict[str, float], name: str, method: str) -> dict[int, float]:
    """Silhouettes by k, or by percentile."""
    found = {}
    for key, value in cells.items():
        data, measured, at = key.split("|")
        if (data, measured) == (name, method):
            found[int(at)] = value
    return found


def best(found: dict[int, float]) -> int | None:
    return max(found, key=lambda k: found[k]) if found else None


def nearest(found: dict[int, float], value: float) -> int | None:
    return min(found, key=lambda k: abs(found[k] - value)) if found else None


def markdown(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


class Columns:
    """Published figures with ours beside them, their mean difference, and the cells that are far off."""

    def __init__(self, names):
        self.names, self.header, self.cells = list(names), ["data"], [[name] for name in names]
        self.last, self.far, self.far_program = ["mean"], [], []

    def add_published(self, method: str, values: dict[str, float]) -> None:
        self.header.append(f"{method} published")
        self.last.append(f"{np.mean([values[name] for name in self.names]):.3f}")
        for row, name in zip(self.cells, self.names, strict=True):
            row.append(f"{values[name]:.3f}")

    def add(self, title, method, values, found, far) -> None:
        """``found`` has (silhouette, where) for each name, or None."""
        self.header.append(title)
        differences = []
        for row, name in zip(self.cells, self.names, strict=True):
            if found[name] is None:
                row.append("not measured")
                continue
            value, at = found[name]
            row.append(f"{value:.3f} ({at})" if at else f"{value:.3f}")
            differences.append(value - values[name])
            if abs(differences[-1]) > FAR:
                far.append(f"{name} {method} {differences[-1]:+.3f}")
        self.last.append(f"{np.mean(differences):+.3f}")

    def text(self) -> str:
        return markdown(self.header, [*self.cells, self.last])


def table_one(cells: dict[str, float]) -> Columns:
    """001 Table I."""
    columns = Columns(TABLE_I)
    values = published("001_table1.csv", "ISO-KL")
    ours, program, plain = {}, {}, {}
    for name in TABLE_I:
        found, theirs = curve(cells, name, "ISO-KL"), curve(cells, name, "program")
        k = PUBLISHED_K.get(name)
        at = k if k in found else best(found)
        ours[name] = None if at is None else (found[at], f"k = {at}")
        at = k if k in theirs else nearest(theirs, values[name])
        program[name] = None if at is None else (theirs[at], f"k = {at}" if at == k else f"k ~ {at}")
        isomap = curve(cells, name, "ISO").get(ISOMAP_K_001)
        plain[name] = None if isomap is None else (isomap, "")
    columns.add_published("ISO-KL", values)
    columns.add("ours", "ISO-KL", values, ours, columns.far)
    columns.add("program", "ISO-KL", values, program, columns.far_program)
    values = published("001_table1.csv", "ISO")
    columns.add_published("ISO", values)
    columns.add(f"ours (k = {ISOMAP_K_001})", "ISO", values, plain, columns.far)
    return columns


def table_nine(cells: dict[str, float]) -> Columns:
    """000 Table 9: KDE-ISOMAP, at the percentile of the best silhouette, as the published program prints."""
    columns = Columns(TABLE_9)
    for method in BANDWIDTHS:
        values = published("000_table9.csv", method)
        columns.add_published(method, values)
        for title, key, far in (
            ("ours", method, columns.far),
            ("program", f"{method} program", columns.far_program),
        ):
            found = {}
            for name in TABLE_9:
                silhouettes = curve(cells, name, key)
                p = best(silhouettes)
                found[name] = None if p is None else (silhouettes[p], p)
            columns.add(title, method, values, found, far)
    return columns


def table_eight(cells: dict[str, float]) -> Columns:
    """000 Table 8: the columns of methods that are here."""
    columns = Columns(TABLE_9)
    for method in ("PCA", "ISOMAP"):
        values = published("000_table8.csv", method)
        found = {}
        for name in TABLE_9:
            at = curve(cells, name, method)
            value = at.get(2) if method == "PCA" else at.get(ISOMAP_K_000)
            found[name] = None if value is None else (value, "")
        columns.add_published(method, values)
        columns.add("ours", method, values, found, columns.far)
    return columns


def ranks(scores: np.ndarray) -> np.ndarray:
    """Rank 1 for the largest of each row; equal ones share the mean of theirs."""
    from scipy.stats import rankdata

    return rankdata(-scores, axis=1)


def regularizations(cells: dict[str, list[float]]) -> str:
    """Means and mean ranks over all tables and sizes at which every rule was measured."""
    rules = [*map(str, REGULARIZATIONS), "isomap"]
    pairs = [
        (name, k) for name in TABLE_I for k in SIZES if all(f"{name}|{k}|{rule}" in cells for rule in rules)
    ]
    scores = np.array([[cells[f"{name}|{k}|{rule}"] for rule in rules] for name, k in pairs])
    placed = [ranks(np.round(scores[:, :-1, c], 6)).mean(axis=0) for c in (0, 1)]
    rows = []
    for i, rule in enumerate(rules):
        means = [f"{value:.4f}" for value in scores[:, i].mean(axis=0)]
        places = [f"{p[i]:.2f}" for p in (*placed, sum(placed) / 2)] if rule != "isomap" else [""] * 3
        rows.append([f"`{rule}`", *means, *places])
    header = ["regularisation", "mean silhouette", "mean area under R_NX", "mean rank by silhouette",
              "mean rank by R_NX", "mean of both ranks"]  # fmt: skip
    missing = sorted(set(TABLE_I) - {name for name, _ in pairs})
    text = f"{len(pairs)} pairs of a table of the paper and a k of {', '.join(map(str, SIZES))}"
    text += f" (without {', '.join(missing)})" if missing else ""
    return f"{text}:\n\n{markdown(header, rows)}"


def settings(cells: dict[str, list[float]]) -> str:
    names = {}
    for key in cells:
        name, setting = key.split("|")
        names.setdefault(setting, set()).add(name)
    common = [name for name in TABLE_I if all(name in known for known in names.values())]
    rows = []
    for setting in names:
        scores = np.array([cells[f"{name}|{setting}"] for name in common])
        first = np.array([cells[f"{name}|n_neighbors=20"] for name in common])
        won = [f"{int((scores[:, c] > first[:, c] + 1e-9).sum())}" for c in (0, 1)]
        lost = [f"{int((scores[:, c] < first[:, c] - 1e-9).sum())}" for c in (0, 1)]
        means = scores.mean(axis=0)
        rows.append(
            [
                f"`{setting}`",
                f"{means[0]:.4f}",
                f"{means[1]:.4f}",
                f"{won[0]} : {lost[0]}",
                f"{won[1]} : {lost[1]}",
            ]
        )
    header = [
        "setting",
        "mean silhouette",
        "mean area under R_NX",
        "silhouette better : worse",
        "R_NX better : worse",
    ]
    return f"{len(common)} tables ({', '.join(common)}):\n\n{markdown(header, rows)}"


def off(columns: Columns) -> str:
    ours = "; ".join(columns.far) or "none"
    text = f"Ours off by more than {FAR}: {ours}."
    if "program" in columns.header:
        text += f" The program restated, off by more than {FAR}: {'; '.join(columns.far_program) or 'none'}."
    return text


def fill(path: Path, tables: dict[str, str]) -> None:
    """Put every table between the marks ``<!-- its name -->`` and ``<!-- end -->`` of the page."""
    text = path.read_text(encoding="utf-8")
    for name, table in tables.items():
        before, rest = text.split(f"<!-- {name} -->\n", 1)
        after = rest.split("<!-- end -->", 1)[1]
        text = f"{before}<!-- {name} -->\n{table}<!-- end -->{after}"
    path.write_text(text, encoding="utf-8")


def render() -> None:
    """Write the page, and the tables of the guide, from the cells measured so far."""
    rules, chosen = regularizations(Cells("regularization").values), settings(Cells("auto").values)
    fill(GUIDE, {"regularisations": rules, "settings": chosen})
    one, eight, nine = (
        make(Cells(store).values)
        for make, store in ((table_one, "kl"), (table_eight, "kde"), (table_nine, "kde"))
    )
    PAGE.write_text(
        "# Published figures of the entropic methods, and ours\n\n"
        "Written by `python -m benchmarks.reproduce_entropic --render`. Silhouettes of maps in two "
        "dimensions, in brackets the k or the percentile; the last line has the mean, and the mean "
        "difference from the published figures. *Ours* is what the library computes. *Program* is what the "
        "published programs compute, restated in `benchmarks/entropic_program.py`: it tells a difference of "
        "method from a mistake. k ~ marks the nearest k of the grid where none is printed.\n\n"
        f"## ISOMAP-KL (2020), Table I\n\n{one.text()}\n{off(one)}\n\n"
        f"## KDE-ISOMAP (2024), Table 9\n\n{nine.text()}\n{off(nine)}\n\n"
        f"## KDE-ISOMAP (2024), Table 8\n\n{eight.text()}\n{off(eight)}\n\n"
        f"{NOTES.read_text(encoding='utf-8')}\n"
        f"## Which regularisation\n\n{rules}\n"
        f"## One k, and a chosen k\n\n{chosen}",
        encoding="utf-8",
    )
