"""The published experiments: their tables as numbers, scores of maps, and a store of what was measured."""

from __future__ import annotations

import json
import os
import time
import warnings
from functools import cache
from pathlib import Path

import numpy as np

OUT = Path("out/entropic")

# name in 001 Table I: file. Where there are two versions, the one whose PCA column is the published one.
TABLE_I = {
    "iris": "iris", "wine": "wine", "mfeat-four.": "mfeat-fourier", "texture": "texture",
    "satimage": "satimage", "theorem": "first-order-theorem-proving", "synthetic": "synthetic_control",
    "car": "car", "tae": "tae", "transplant": "transplant", "hayes": "hayes-roth_v2", "SPECTF": "SPECTF",
    "servo": "servo", "mu284": "mu284", "triazines": "triazines", "pageblock": "page-blocks_v2",
    "male-lung": "arsenic-male-lung", "retinol": "plasma_retinol", "diggle": "diggle_table_a2_v2",
    "rmftsa": "rmftsa_ladata",
}  # fmt: skip
PUBLISHED_K = {
    "iris": 20, "wine": 40, "mfeat-four.": 40, "texture": 40, "satimage": 200, "theorem": 40, "hayes": 15,
    "SPECTF": 80, "servo": 10, "pageblock": 100,
}  # fmt: skip
TABLE_9 = {
    "iris": "iris", "wine": "wine", "prnn_crabs": "prnn_crabs", "happiness": "happiness", "mux6": "mux6",
    "parity5": "parity5", "Hayes-roth": "hayes-roth_v2", "aids": "AIDS", "pm10": "pm10", "strikes": "strikes",
    "disclosure_z": "disclosure_z", "diggle_table_a2": "diggle_table_a2_v2",
    "Monks-problem": "monks-problems-1", "Breast-tissue": "breast-tissue_v2",
    "planning-relax": "planning-relax", "haberman": "haberman", "KnuggetChase3": "KnuggetChase3",
    "bolts": "bolts", "fl2000": "FL2000_v2", "Engine1": "Engine1", "fri_c2_100_10": "fri_c2_100_10",
    "Vineyard(2)": "vineyard", "diabetes_numeric (2)": "diabetes_numeric", "prnn_fglass": "prnn_fglass_v2",
    "parkinsons": "parkinsons", "Acute-inflammations(2)": "acute-inflammations", "blogger": "blogger",
    "prnn_viruses": "prnn_viruses", "analcatdata_creditscore": "analcatdata_creditscore",
    "Confidence(2)": "confidence_v2",
}  # fmt: skip


@cache
def table(file: str) -> tuple[np.ndarray, np.ndarray]:
    """Standardised features and class codes of one file of the data folder."""
    import pandas as pd

    folder = Path(os.environ["ISENTROPIC_DATA"])
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    entry = next(item for item in manifest if item["file"] == f"{file}.csv")
    orders = entry.get("nominal_features") or {}
    frame = pd.read_csv(folder / f"{file}.csv", keep_default_na=False, na_values=[""])
    columns = []
    for name in frame.columns[:-1]:
        column = frame[name]
        if name in orders or not pd.api.types.is_numeric_dtype(column):  # nominal ones may look like numbers
            order = orders.get(name) or sorted(column.dropna().unique())
            codes = {str(value): i for i, value in enumerate(order)}
            column = column.map(lambda value, codes=codes: codes.get(str(value), np.nan))
        column = column.astype(float)
        columns.append(column.fillna(column.mean()).to_numpy())
    X = np.column_stack(columns)
    spread = X.std(axis=0)
    X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return X, pd.factorize(frame.iloc[:, -1])[0]


def silhouette_of(Z: np.ndarray, y: np.ndarray) -> float:
    from sklearn.metrics import silhouette_score

    return float(silhouette_score(Z, y))


def map_silhouette(model, X: np.ndarray, y: np.ndarray) -> float:
    return silhouette_of(model.fit_transform(X), y)


def both_scores(model, X: np.ndarray, y: np.ndarray) -> list[float]:
    """Silhouette by the labels, and the area under R_NX, which knows none."""
    from isentropic.quality import rnx_auc

    Z = model.fit_transform(X)
    return [silhouette_of(Z, y), float(rnx_auc(X, Z))]


class Cells:
    """Measured figures by name, kept in a file after each one."""

    def __init__(self, name: str):
        self.path = OUT / f"{name}.json"
        self.values = json.loads(self.path.read_text()) if self.path.exists() else {}

    def get(self, *key, measure):
        name = "|".join(map(str, key))
        if name not in self.values:
            start = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.values[name] = measure()
            print(f"{name}: {self.values[name]} ({time.perf_counter() - start:.1f} s)", flush=True)
            OUT.mkdir(parents=True, exist_ok=True)
            self.path.write_text(json.dumps(self.values, indent=0))
        return self.values[name]


def by_size(files: dict[str, str]) -> list[str]:
    return sorted(files, key=lambda name: len(table(files[name])[0]))
