"""Draw the gallery of the guide: the methods of the review on the same sheets and digits; fill in its table.

Takes some minutes. The figures under a map are those of the guide's table.
"""

import re
import time
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

from isentropic import datasets, make
from isentropic.plot import palette
from isentropic.quality import kendall_tau, rnx_auc

FOLDER = Path(__file__).parent
METHODS = {
    "pca": {},
    "classical-mds": {},
    "kernel-pca": {},
    "isomap": {},
    "c-isomap": {},
    "kernel-isomap": {},
    "mvu": {},
    "lle": {"n_neighbors": 12},
    "modified-lle": {"n_neighbors": 12},
    "hessian-lle": {"n_neighbors": 12},
    "ltsa": {"n_neighbors": 12},
    "laplacian-eigenmaps": {},
    "diffusion-maps": {},
    "lpp": {},
    "kernel-lpp": {},
    "sne": {},
    "t-sne": {},
    "umap": {},
}
SHEETS = {"swiss-roll": "roll", "swiss-hole": "roll with a hole", "s-curve": "S-curve"}
N = 1_000


def tables():
    """Rows, what they are compared with (the flat sheet, or the rows themselves), and their colours."""
    for name, title in SHEETS.items():
        data = datasets.load(f"builtin:{name}")
        along = np.asarray(data.y, float)
        rolled = (along * np.sqrt(1 + along**2) + np.arcsinh(along)) / 2
        sheet = np.column_stack([along if name == "s-curve" else rolled, data.X[:, 1]])
        yield title, data.X, sheet, along
    digits = datasets.load("builtin:digits")
    yield "digits", digits.X[:N], digits.X[:N], digits.y[:N].astype(int)


def fitted(name, params, X):
    """The map, and how long it took."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of constants and parts, told in the guide
        Z = make(name, **params).fit_transform(X)
    return Z, time.process_time() - start


def draw(axes, Z, colours, text):
    middle = np.median(Z, axis=0)
    far = np.abs(Z - middle) > 8 * np.quantile(np.abs(Z - middle), 0.9, axis=0)
    shown = ~far.any(axis=1)
    digits = colours.dtype.kind == "i"
    paint = [palette.color(code) for code in colours[shown]] if digits else colours[shown]
    axes.scatter(*Z[shown].T, c=paint, cmap=None if digits else palette.CONTINUOUS, s=2.5, linewidths=0)
    axes.set_box_aspect(1)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.margins(0.06)
    for side in axes.spines.values():
        side.set_color("#dddddd")
    axes.set_xlabel(text, fontsize=7.5, color=palette.INK, labelpad=2)


def gallery():
    """The picture; the figures of every map, by method and table."""
    columns, names, found = list(tables()), list(METHODS), {}
    height = -(-len(names) // 2)
    figure = plt.figure(figsize=(13.6, 1.8 * height + 0.3))
    halves = figure.add_gridspec(1, 2, left=0.022, right=0.997, top=0.975, bottom=0.018, wspace=0.055)
    for half, mine in zip(halves, (names[:height], names[height:]), strict=True):
        axes = half.subgridspec(height, len(columns), wspace=0.05, hspace=0.2).subplots()
        for row, name in zip(axes, mine, strict=False):
            row[0].set_ylabel(name, fontsize=9, color=palette.INK)
            for panel, (title, X, truth, colours) in zip(row, columns, strict=True):
                Z, seconds = fitted(name, METHODS[name], X)
                kept, tau = rnx_auc(truth, Z), float(kendall_tau(truth, Z).value)
                found[name, title] = kept, tau, seconds
                draw(panel, Z, colours, f"$R_{{NX}}$ {kept:.2f}   $\\tau$ {tau:.2f}")
        for panel, (title, *_) in zip(axes[0], columns, strict=True):
            panel.set_title(title, fontsize=9, color=palette.INK)
    file = FOLDER / "images" / "gallery.png"
    figure.savefig(file, dpi=110)
    Image.open(file).convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        file, optimize=True
    )
    return found, [title for title, *_ in columns]


def write_table(found, titles):
    """The figures of all maps, between two marks of the guide; the best of a column are bold."""
    lines = [f"| method | {' | '.join(titles)} | CPU s, digits |", "| --- |" + " --- |" * (len(titles) + 1)]
    best = {title: np.max([found[name, title][:2] for name in METHODS], axis=0) for title in titles}

    def shown(name, title):
        pairs = zip(found[name, title][:2], best[title], strict=True)
        texts = ((f"{value:.2f}", f"{most:.2f}") for value, most in pairs)
        return " / ".join(f"**{value}**" if value == most else value for value, most in texts)

    for name in METHODS:
        cells = " | ".join(shown(name, title) for title in titles)
        lines.append(f"| `{name}` | {cells} | {found[name, titles[-1]][2]:.1f} |")
    table = "<!-- figures -->\n\n" + "\n".join(lines) + "\n\n<!-- end -->"
    page = FOLDER / "guide" / "gallery.md"
    text = page.read_text(encoding="utf-8")
    filled = re.sub(r"<!-- figures -->.*<!-- end -->", lambda _: table, text, flags=re.S)
    page.write_text(filled, encoding="utf-8")


if __name__ == "__main__":
    write_table(*gallery())
