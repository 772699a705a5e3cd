"""The tables of data behind the entropic methods, as the programs had them: coded and standardised."""

from __future__ import annotations

from functools import cache

import numpy as np

from isentropic._core.values import Floats, Integers
from isentropic.datasets import load

# A name in a published table: the file. Where there are two versions, the one that meets the printed columns
# of PCA and LDA. Iris is Fisher's, as scikit-learn has it: UCI's, which differs in two rows, misses cells.
ARTICLE = {
    "iris": "builtin:iris", "wine": "wine", "mfeat-four.": "mfeat-fourier", "texture": "texture",
    "satimage": "satimage", "theorem": "first-order-theorem-proving", "synthetic": "synthetic_control",
    "car": "car", "tae": "tae", "transplant": "transplant", "hayes": "hayes-roth_v2", "SPECTF": "SPECTF",
    "servo": "servo", "mu284": "mu284", "triazines": "triazines", "pageblock": "page-blocks_v2",
    "male-lung": "arsenic-male-lung", "retinol": "plasma_retinol", "diggle": "diggle_table_a2_v2",
    "rmftsa": "rmftsa_ladata", "mfeat-fourier": "mfeat-fourier", "hayes-roth": "hayes-roth_v2",
    "first-order-theorem": "first-order-theorem-proving", "page-blocks": "page-blocks_v2",
}  # fmt: skip
TABLE_6 = {
    "iris": "builtin:iris", "digits": "digits", "prnn_crabs": "prnn_crabs", "balance_scale": "balance_scale",
    "parity5": "parity5", "hayes-roth": "hayes-roth_v2", "rabe_131": "rabe_131", "servo": "servo",
    "monks-problem-1": "monks-problems-1", "bolts": "bolts", "fri_c2_100_10": "fri_c2_100_10",
    "threeOf9": "threeOf9", "fri_c3_100_5": "fri_c3_100_5", "baskball": "baskball",
    "newton_hema": "newton_hema", "strikes": "strikes", "datatrieve": "datatrieve",
    "diggle_table_a2": "diggle_table_a2_v2", "fl2000": "FL2000_v2", "triazines": "triazines",
    "veteran": "veteran", "diabetes": "openml:37", "car": "car", "prnn_fglass": "prnn_fglass_v2",
    "creditscore": "analcatdata_creditscore", "pwlinear": "pwLinear", "breast_cancer": "WDBC",
    "wine": "wine", "backache": "backache", "heart-statlog": "heart-statlog",
}  # fmt: skip
TABLE_7 = {
    "SPECTF": "SPECTF", "veteran": "veteran", "sleuth_ex1605": "sleuth_ex1605", "AIDS": "AIDS",
    "cloud": "cloud", "FL2000": "FL2000", "analcatdata_creditscore": "analcatdata_creditscore",
    "corral": "corral", "cars1": "cars1", "LED-display-domain-7digit": "LED-display-domain-7digit",
    "hayes-roth": "hayes-roth", "Diabetes 130 US (1%)": "Diabetes130US_1pct", "blogger": "blogger",
    "user-knowledge": "user-knowledge", "rabe_131": "rabe_131", "haberman": "haberman",
    "prnn_synth": "prnn_synth", "visualizing_enviromental": "visualizing_environmental",
    "vineyard": "vineyard", "monks-problems-1": "monks-problems-1",
    "acute-inflammations": "acute-inflammations", "planning-relax": "planning-relax", "sensory": "sensory",
    "auto_price": "auto_price", "wisconsin": "wisconsin", "fri_c4_250_100": "fri_c4_250_100",
    "thoracic_surgery": "thoracic_surgery", "conference_attendance": "conference_attendance",
    "analcatdata_boxing1": "analcatdata_boxing1", "fri_c2_100_10": "fri_c2_100_10", "lupus": "lupus",
    "fruitfly": "fruitfly",
}  # fmt: skip
TABLE_9 = {
    "iris": "builtin:iris", "wine": "wine", "prnn_crabs": "prnn_crabs", "happiness": "happiness",
    "mux6": "mux6", "parity5": "parity5", "Hayes-roth": "hayes-roth_v2", "aids": "AIDS", "pm10": "pm10",
    "strikes": "strikes", "disclosure_z": "disclosure_z", "diggle_table_a2": "diggle_table_a2_v2",
    "Monks-problem": "monks-problems-1", "Breast-tissue": "breast-tissue_v2",
    "planning-relax": "planning-relax", "haberman": "haberman", "KnuggetChase3": "KnuggetChase3",
    "bolts": "bolts", "fl2000": "FL2000_v2", "Engine1": "Engine1", "fri_c2_100_10": "fri_c2_100_10",
    "Vineyard(2)": "vineyard", "diabetes_numeric (2)": "diabetes_numeric", "prnn_fglass": "prnn_fglass_v2",
    "parkinsons": "parkinsons", "Acute-inflammations(2)": "acute-inflammations", "blogger": "blogger",
    "prnn_viruses": "prnn_viruses", "analcatdata_creditscore": "analcatdata_creditscore",
    "Confidence(2)": "confidence_v2",
}  # fmt: skip


@cache
def prepared(source: str, alphabetical: bool = False) -> tuple[Floats, Integers]:
    """Features with mean 0 and variance 1 (divisor n), and class codes.

    Nominal features are the places of their categories in declared, or in ``alphabetical``, order; a missing
    category is -1, a missing number the mean of its column.
    """
    table = load(source, nominal="coded", missing="keep", scaling="none")
    X = table.X.copy()
    for j, column in enumerate(table.preparation.columns):
        if column.levels:
            place = np.argsort(np.argsort(column.levels)) if alphabetical else np.arange(len(column.levels))
            missing = np.isnan(X[:, j])
            codes = np.where(missing, 0, X[:, j]).astype(int)
            X[:, j] = np.where(missing, -1, place[codes])
    X = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    spread = X.std(axis=0)
    X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return X, np.asarray(table.y)
