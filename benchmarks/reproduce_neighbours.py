"""Kendall's tau of t-SNE, UMAP and TriMap beside the published ones, at the published parameters.

    python -m benchmarks.reproduce_neighbours

Writes the table of docs/guide/neighbour-maps.md. The digits need the data folder (ISENTROPIC_DATA) with the
MNIST files. The roll and the 2,500 digits are remade after their description: they are other rows.
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path

from .sdd import cancer, digits, iris, roll

PAGE = Path(__file__).parents[1] / "docs/guide/neighbour-maps.md"
_TABLES = {"Iris": iris, "Breast Cancer": cancer, "rolled clusters": roll, "2,500 digits": digits(2500)}
_PARAMETER = {"t-sne": "perplexity", "umap": "n_neighbors", "trimap": "n_inliers"}
# Thesis of Hajderanj (2021), tables 4.1 to 4.4: parameter and tau.
PUBLISHED = {
    ("Iris", "t-sne"): (135, 0.9252),
    ("Breast Cancer", "t-sne"): (501, 0.8150),
    ("rolled clusters", "t-sne"): (1507, 0.8683),
    ("2,500 digits", "t-sne"): (2216, 0.5495),
    ("Iris", "umap"): (65, 0.5772),
    ("Breast Cancer", "umap"): (5, 0.7093),
    ("rolled clusters", "umap"): (3, 0.0422),
    ("2,500 digits", "umap"): (1384, 0.3070),
    ("Iris", "trimap"): (146, 0.8238),
    ("Breast Cancer", "trimap"): (1, 0.6936),
    ("rolled clusters", "trimap"): (12, 0.6936),
    ("2,500 digits", "trimap"): (194, 0.4643),
}


def taus():
    """Rows of the table: table, method, parameter, published tau, ours there, ours at the defaults."""
    for (table, method), (value, published) in PUBLISHED.items():
        X = _TABLES[table]()["X"]
        parameter = {_PARAMETER[method]: value}
        ours = _ours(X, method, parameter), _ours(X, method, {})
        yield table, method, f"{_PARAMETER[method]} = {value}", f"{published:.4f}", *ours


def _ours(X, method, parameters):
    """Tau; of a method that draws, the mean of three seeds and how far they range."""
    from isentropic import METHODS, make
    from isentropic.quality import kendall_tau

    seeds = range(3) if METHODS[method].draws_above == 0 else range(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # neighbours clipped, a graph in parts
        maps = (make(method, random_state=seed, **parameters).fit_transform(X) for seed in seeds)
        found = [float(kendall_tau(X, Z)) for Z in maps]
    if len(found) == 1:
        return f"{found[0]:.4f}"
    return f"{sum(found) / len(found):.2f} ({min(found):.2f} to {max(found):.2f})"


def main():
    lines = ["| table | method | published at | published tau | ours there | ours at the defaults |"]
    lines.append("| --- | --- | --- | --- | --- | --- |")
    for table, method, *cells in taus():
        row = [table, f"`{method}`", *cells]
        lines.append(f"| {' | '.join(row)} |")
        print(lines[-1], flush=True)
    text = PAGE.read_text(encoding="utf-8")
    marked = re.compile(r"(<!-- taus -->\n).*?(<!-- end -->)", re.S)
    written = marked.sub(lambda found: found[1] + "\n".join(lines) + "\n" + found[2], text)
    PAGE.write_text(written, encoding="utf-8")


if __name__ == "__main__":
    main()
