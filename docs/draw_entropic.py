"""Draw the figures of the guide pages on the entropic methods. Needs the data folder (ISENTROPIC_DATA)."""

import os
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from isentropic import EntropicIsomap, Isomap, KDEIsomap

IMAGES = Path(__file__).parent / "images"


def table(name):
    frame = pd.read_csv(Path(os.environ["ISENTROPIC_DATA"]) / f"{name}.csv")
    X = frame.iloc[:, :-1].to_numpy(float)
    return (X - X.mean(axis=0)) / X.std(axis=0), pd.factorize(frame.iloc[:, -1])[0]


def draw(axes, model, X, y, title):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # parts of the graph, told in the guide
        Z = model.fit_transform(X)
    shown = np.abs(Z - np.median(Z, axis=0)) <= 4 * np.percentile(
        np.abs(Z - np.median(Z, axis=0)), 95, axis=0
    )
    shown = shown.all(axis=1)
    colours = plt.get_cmap("tab20" if y.max() >= 10 else "tab10")
    axes.scatter(
        *Z[shown].T, c=y[shown], cmap=colours, s=5, linewidths=0, alpha=0.8, vmin=0, vmax=max(y.max(), 9)
    )
    left_out = int((~shown).sum())
    axes.set_title(title + (f" ({left_out} rows outside)" if left_out else ""), fontsize=10)
    axes.set_xticks([])
    axes.set_yticks([])


def entropic():
    figure, axes = plt.subplots(2, 2, figsize=(8, 7.4), constrained_layout=True)
    for row, (name, k) in zip(axes, (("mfeat-fourier", 40), ("texture", 40)), strict=True):
        X, y = table(name)
        draw(row[0], Isomap(k), X, y, f"{name}: isomap, k = {k}")
        draw(row[1], EntropicIsomap(k), X, y, f"{name}: entropic-isomap, k = {k}")
    figure.savefig(IMAGES / "entropic-isomap.png", dpi=110)


def kde():
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.8), constrained_layout=True)
    X, y = table("wine")
    draw(axes[0], Isomap(20), X, y, "wine: isomap, k = 20")
    draw(axes[1], KDEIsomap(20), X, y, "wine: kde-isomap, p = 20")
    draw(axes[2], KDEIsomap(20, root=True), X, y, "wine: kde-isomap, p = 20, root=True")
    figure.savefig(IMAGES / "kde-isomap.png", dpi=110)


if __name__ == "__main__":
    entropic()
    kde()
