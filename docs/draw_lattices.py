"""Draw the figures of the guide page on lattices, and fill in its table. Takes half a minute."""

import re
import time
from pathlib import Path

import numpy as np
from PIL import Image

from isentropic import GTM, PCA, SOM, TSNE, datasets
from isentropic.plot import component_planes, lattice, palette
from isentropic.plot.palette import new_figure
from isentropic.quality import kendall_tau, rnx_auc

FOLDER = Path(__file__).parent
CELL = 8  # pixels of a digit along each side


def save(figure, name):
    """With few colours: these pictures have no more."""
    file = FOLDER / "images" / name
    figure.savefig(file, dpi=110)
    shown = Image.open(file).convert("RGB")
    shown.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(file, optimize=True)


def draw_digits(digits):
    """The lattice as what its nodes stand for, its U-matrix, and its rows; beside them a GTM."""
    som = SOM(shape=(16, 16)).fit(digits.X)
    gtm = GTM(n_nodes=16).fit(digits.X)
    figure = new_figure(13.2, 8.2)
    for row, (model, title, values, name) in enumerate(
        (
            (som, "SOM", som.u_matrix_, "U-matrix: distance to the next nodes"),
            (gtm, "GTM", np.log10(gtm.magnification_), "magnification, powers of ten"),
        )
    ):
        draw_codebook(figure.add_subplot(2, 3, 3 * row + 1), model, f"{title}: what nodes stand for")
        lattice(model.places_, values, title=name, ax=figure.add_subplot(2, 3, 3 * row + 2))
        draw_rows(figure.add_subplot(2, 3, 3 * row + 3), model, digits.y.astype(int), f"{title}: rows")
    save(figure, "lattices-digits.png")


def draw_codebook(axes, model, title):
    """Every node as the digit of its row, at its place."""
    side = round(np.sqrt(len(model.places_)))
    order = np.lexsort((model.places_[:, 0], -model.places_[:, 1]))  # from the top, from the left
    digits = model.codebook_[order].reshape(side, side, CELL, CELL)
    # with a margin, so that they do not touch
    cells = np.pad(digits, [(0, 0), (0, 0), (1, 1), (1, 1)]).swapaxes(1, 2)
    axes.imshow(cells.reshape(side * (CELL + 2), -1), cmap="Greys", vmin=0, vmax=16)
    axes.set_title(title, loc="left", color=palette.INK)
    axes.set_axis_off()


def draw_rows(axes, model, y, title):
    """Rows at their places; those of one node are shaken, so that they do not hide each other."""
    random, step = np.random.default_rng(0), np.abs(model.places_[1] - model.places_[0]).max()
    shaken = model.embedding_ + random.uniform(-0.4, 0.4, size=model.embedding_.shape) * step
    shown = shaken if isinstance(model, SOM) else model.embedding_
    for digit in np.unique(y):
        axes.scatter(*shown[y == digit].T, color=palette.color(digit), s=4, linewidths=0, label=str(digit))
    axes.set_title(title, loc="left", color=palette.INK)
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.legend(fontsize="x-small", frameon=False, loc="center left", bbox_to_anchor=(1, 0.5), markerscale=2)


def draw_wine():
    """Thirteen measurements of wines over one hexagonal lattice."""
    wine = datasets.load("builtin:wine")  # each feature with a standard deviation of 1
    som = SOM(shape=(10, 8), lattice="hexagonal").fit(wine.X)
    names = [name.replace("_", " ") for name in wine.feature_names]
    save(component_planes(som.places_, som.codebook_, feature_names=names), "lattices-wine.png")


def figures(digits):
    """How well each keeps neighbours and order, how near nodes are to rows, and how long it takes."""
    models = {
        "`PCA()`": PCA(),
        "`SOM()`": SOM(),
        "`SOM(smooth=True)`": SOM(smooth=True),
        "`SOM(shape=(16, 16))`": SOM(shape=(16, 16)),
        '`SOM(shape=(16, 16), lattice="hexagonal")`': SOM(shape=(16, 16), lattice="hexagonal"),
        "`SOM(shape=(40, 40))`": SOM(shape=(40, 40)),
        "`GTM()`": GTM(),
        "`GTM(n_nodes=40)`": GTM(n_nodes=40),
        "`TSNE()`": TSNE(),
    }
    for name, model in models.items():
        model.fit(digits.X[:300])  # loads what is compiled
        start = time.process_time()
        Z = model.fit(digits.X).embedding_
        seconds = time.process_time() - start
        nodes = f"{len(model.places_)}" if hasattr(model, "places_") else ""
        near = f"{model.quantization_error_:.1f}" if isinstance(model, SOM) else ""
        torn = f"{model.topographic_error_:.2f}" if isinstance(model, SOM) else ""
        kept, tau = rnx_auc(digits.X, Z), kendall_tau(digits.X, Z).value
        yield f"| {name} | {nodes} | {near} | {torn} | {kept:.2f} | {tau:.2f} | {seconds:.1f} |"


def write_table(digits):
    lines = [
        "| method | nodes | quantisation error | topographic error | R_NX | tau | CPU s |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *figures(digits),
    ]
    table = "<!-- figures -->\n" + "\n".join(lines) + "\n<!-- end -->"
    page = FOLDER / "guide" / "lattices.md"
    text = page.read_text(encoding="utf-8")
    filled = re.sub(r"<!-- figures -->.*<!-- end -->", lambda _: table, text, flags=re.S)
    page.write_text(filled, encoding="utf-8")


if __name__ == "__main__":
    table = datasets.load("builtin:digits")
    draw_digits(table)
    draw_wine()
    write_table(table)
