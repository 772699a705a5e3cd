"""Draw the figures of the guide to SDD into docs/images."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, load_iris, load_wine

from isentropic import PCA, SDD, ParameterFreeSDD

IMAGES = Path(__file__).with_name("images")
DEGREES = (1, 2, 4, 8, 15)


def similarity_curves() -> None:
    """What a degree makes of a distance, and how fast that changes."""
    d, shades = np.linspace(0, 2, 400), plt.get_cmap("viridis")(np.linspace(0, 0.85, len(DEGREES)))
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for degree, shade in zip(DEGREES, shades, strict=True):
        for axes, curve in (
            (left, (1 + d**2) ** -degree),
            (right, 2 * degree * d * (1 + d**2) ** (-degree - 1)),
        ):
            axes.plot(d, curve, color=shade, label=f"degree {degree}")
    for axes in (left, right):
        axes.axvspan(1, 2, color="0.93", zorder=0)
        axes.set(
            xlabel="distance, the largest counting as 1 (white) or 2 (grey)", xlim=(0, 2), ylim=(0, None)
        )
        axes.spines[["top", "right"]].set_visible(False)
    left.set_title("similarity $(1 + d^2)^{-g}$", fontsize=10)
    right.set_title("how fast it falls: where distances are told apart", fontsize=10)
    left.legend(frameon=False, fontsize=8)
    figure.savefig(IMAGES / "sdd-similarity-curves.png", dpi=130)
    plt.close(figure)


def tau_by_degree() -> None:
    """Tau of every degree on three tables, and of the parameter-free map."""
    tables = {"iris": load_iris(), "wine": load_wine(), "digits (600)": load_digits()}
    figure, all_axes = plt.subplots(1, len(tables), figsize=(9, 2.9), layout="constrained")
    for axes, (name, table) in zip(all_axes, tables.items(), strict=True):
        X = table.data[:600]
        scores = SDD(range(1, 16)).fit(X).scores_
        axes.plot(list(scores), list(scores.values()), "o-", color="#31688e", markersize=3, linewidth=1)
        axes.axhline(
            ParameterFreeSDD().fit(X).kendall_tau_, color="#d95f02", linewidth=1, label="parameter-free"
        )
        axes.set_title(name, fontsize=10)
        axes.set(xlabel="degree", xticks=(1, 5, 10, 15))
        axes.ticklabel_format(axis="y", useOffset=False)
        axes.tick_params(labelsize=8)
        axes.spines[["top", "right"]].set_visible(False)
    all_axes[0].set_ylabel("Kendall's tau")
    all_axes[0].legend(frameon=False, fontsize=8)
    figure.savefig(IMAGES / "sdd-tau-by-degree.png", dpi=130)
    plt.close(figure)


def maps() -> None:
    """The same digits by PCA and by SDD."""
    table = load_digits()
    X, y = table.data[:1000], table.target[:1000]
    figure, all_axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
    sdd = ParameterFreeSDD().fit(X)
    for axes, (name, Z) in zip(
        all_axes,
        {
            "PCA": PCA().fit_transform(X),
            f"parameter-free SDD, tau {sdd.kendall_tau_:.2f}": sdd.embedding_,
        }.items(),
        strict=True,
    ):
        axes.scatter(*Z.T, c=y, cmap="tab10", s=7, linewidths=0)
        axes.set_title(name, fontsize=10)
        axes.set(xticks=[], yticks=[], aspect="equal")
    figure.savefig(IMAGES / "sdd-digits.png", dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    similarity_curves()
    tau_by_degree()
    maps()
