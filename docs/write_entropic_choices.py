"""Compare our own choices of the entropic methods, and write the tables into docs/guide/entropic-isomap.md.

    ISENTROPIC_DATA=FOLDER python docs/write_entropic_choices.py [regularization] [auto] [--render]

Every figure is kept in out/entropic as soon as it is measured, so that a run can be continued.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import numpy as np
from scipy.stats import rankdata
from sklearn.metrics import silhouette_score

from isentropic import EntropicIsomap, Isomap
from isentropic.quality import rnx_auc
from isentropic_papers.entropic.sets import ARTICLE, prepared
from isentropic_papers.printed import printed

GUIDE = Path(__file__).with_name("guide") / "entropic-isomap.md"
OUT = Path("out/entropic")
RULES = (0.001, 0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, "oas", "ledoit-wolf", "reference")
SIZES = (10, 20, 40)  # neighbours at which the regularisations are compared
NAMES = tuple(dict.fromkeys(row.dataset for row in printed("001_table1") if not row.is_summary))


class Cells:
    """Measured figures by name, kept in a file after each one."""

    def __init__(self, name: str):
        self.path = OUT / f"{name}.json"
        self.values = json.loads(self.path.read_text()) if self.path.exists() else {}

    def measure(self, name: str, model, X, y) -> None:
        """Silhouette by the labels, and the area under R_NX, which knows none."""
        if name in self.values:
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            Z = model.fit_transform(X)
        self.values[name] = [float(silhouette_score(Z, y)), float(rnx_auc(X, Z))]
        OUT.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps(self.values, indent=0))


def by_size() -> list[str]:
    return sorted(NAMES, key=lambda name: len(prepared(ARTICLE[name])[0]))


def regularization() -> None:
    """Every regularisation at three sizes of a patch, with plain ISOMAP beside."""
    cells = Cells("regularization")
    for name in by_size():
        X, y = prepared(ARTICLE[name])
        for k in SIZES:
            for rule in RULES:
                cells.measure(f"{name}|{k}|{rule}", EntropicIsomap(k, regularization=rule), X, y)
            cells.measure(f"{name}|{k}|isomap", Isomap(k), X, y)


def auto() -> None:
    """One k chosen by the area under R_NX against the default k."""
    cells = Cells("auto")
    for name in by_size():
        X, y = prepared(ARTICLE[name])
        cells.measure(f"{name}|n_neighbors=20", EntropicIsomap(20), X, y)
        cells.measure(f'{name}|n_neighbors="auto"', EntropicIsomap("auto"), X, y)


# ---- the tables ----------------------------------------------------------------------------------


def markdown(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def regularizations(cells: dict[str, list[float]]) -> str:
    """Means and mean ranks over all tables and sizes at which every rule was measured."""
    rules = [*map(str, RULES), "isomap"]
    pairs = [
        (name, k) for name in NAMES for k in SIZES if all(f"{name}|{k}|{rule}" in cells for rule in rules)
    ]
    scores = np.array([[cells[f"{name}|{k}|{rule}"] for rule in rules] for name, k in pairs])
    placed = [rankdata(-np.round(scores[:, :-1, c], 6), axis=1).mean(axis=0) for c in (0, 1)]
    rows = []
    for i, rule in enumerate(rules):
        means = [f"{value:.4f}" for value in scores[:, i].mean(axis=0)]
        places = [f"{p[i]:.2f}" for p in (*placed, sum(placed) / 2)] if rule != "isomap" else [""] * 3
        rows.append([f"`{rule}`", *means, *places])
    header = ["regularisation", "mean silhouette", "mean area under R_NX", "mean rank by silhouette",
              "mean rank by R_NX", "mean of both ranks"]  # fmt: skip
    missing = sorted(set(NAMES) - {name for name, _ in pairs})
    text = f"{len(pairs)} pairs of a table of the paper and a k of {', '.join(map(str, SIZES))}"
    text += f" (without {', '.join(missing)})" if missing else ""
    return f"{text}:\n\n{markdown(header, rows)}"


def settings(cells: dict[str, list[float]]) -> str:
    """The chosen k against the default: means, and on how many tables it is better."""
    known = ("n_neighbors=20", 'n_neighbors="auto"')
    common = [name for name in NAMES if all(f"{name}|{setting}" in cells for setting in known)]
    first, *_ = scores = [np.array([cells[f"{name}|{setting}"] for name in common]) for setting in known]
    rows = []
    for setting, found in zip(known, scores, strict=True):
        better, worse = (found > first + 1e-9).sum(axis=0), (found < first - 1e-9).sum(axis=0)
        means = [f"{value:.4f}" for value in found.mean(axis=0)]
        rows.append([f"`{setting}`", *means, *(f"{b} : {w}" for b, w in zip(better, worse, strict=True))])
    header = ["setting", "mean silhouette", "mean area under R_NX", "silhouette better : worse",
              "R_NX better : worse"]  # fmt: skip
    return f"{len(common)} tables ({', '.join(common)}):\n\n{markdown(header, rows)}"


def fill(path: Path, tables: dict[str, str]) -> None:
    """Put every table between the marks ``<!-- its name -->`` and ``<!-- end -->`` of the page."""
    text = path.read_text(encoding="utf-8")
    for name, table in tables.items():
        before, rest = text.split(f"<!-- {name} -->\n", 1)
        after = rest.split("<!-- end -->", 1)[1]
        text = f"{before}<!-- {name} -->\n{table}<!-- end -->{after}"
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    tasks = {"regularization": regularization, "auto": auto}
    for task in [word for word in sys.argv[1:] if word in tasks] or ([] if "--render" in sys.argv else tasks):
        tasks[task]()
    if "--render" in sys.argv:
        rules, chosen = regularizations(Cells("regularization").values), settings(Cells("auto").values)
        fill(GUIDE, {"regularisations": rules, "settings": chosen})
