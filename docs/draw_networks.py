"""Draw the picture of the guide to networks: digits in a variational autoencoder, and digits drawn from it.

Takes some minutes, and the folder of data: ISENTROPIC_DATA=FOLDER python docs/draw_networks.py
"""

import gzip
import os
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

from isentropic import VariationalAutoencoder, datasets
from isentropic.plot import palette

OUT = Path(__file__).parent / "images" / "networks.png"
N, SIDE = 10_000, 12


def digits():
    """The first digits of MNIST and what they are."""
    folder = Path(os.environ["ISENTROPIC_DATA"]) / "MNIST"
    X = datasets.load(str(folder / "train-images-idx3-ubyte.gz")).X[:N]
    labels = gzip.decompress((folder / "train-labels-idx1-ubyte.gz").read_bytes())
    return X, np.frombuffer(labels, np.uint8)[8 : 8 + N].astype(int)


def sheet(rows):
    """Images side by side."""
    tiles = np.clip(rows, 0, 255).reshape(SIDE, SIDE, 28, 28)
    return tiles.transpose(0, 2, 1, 3).reshape(28 * SIDE, 28 * SIDE)


def draw(model, labels):
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5.5), layout="constrained")
    colors = [palette.color(label) for label in labels]
    left.scatter(*model.embedding_.T, s=1, c=colors, linewidths=0)
    left.set_title(f"{N:,} digits, placed at their means")
    left.set_aspect("equal")
    right.imshow(sheet(model.sample(SIDE**2, random_state=0)), cmap="gray_r")
    right.set_title("digits that nobody wrote: sample(144)")
    right.axis("off")
    figure.savefig(OUT, dpi=100)
    Image.open(OUT).convert("P", palette=Image.Palette.ADAPTIVE, colors=64).save(OUT, optimize=True)


if __name__ == "__main__":
    X, labels = digits()
    start = time.process_time()
    model = VariationalAutoencoder(max_epochs=40).fit(X)
    took = time.process_time() - start
    draw(model, labels)
    pairs = {name: getattr(model, name) for name in ("n_epochs_", "elbo_", "held_out_elbo_", "divergences_")}
    print(f"{took:.0f} CPU seconds", pairs, model.reconstruction_error_, model.held_out_error_)  # noqa: T201
