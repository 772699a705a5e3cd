"""Figures of embeddings. Pure: arrays in, a figure out; no fitting, no files, no global state.

>>> import numpy as np
>>> from isentropic.plot import scatter
>>> figure = scatter(np.random.default_rng(0).normal(size=(50, 2)), title="noise")
>>> figure.axes[0].get_title(loc="left")
'noise'
"""

from .curves import critical_difference_diagram, label_null, path_curves, quality_curves
from .distortion_map import coranking, distortion, quality_sheet, shepard
from .lattice_plot import component_planes, lattice
from .scatter_plot import biplot, scatter

__all__ = [
    "biplot", "component_planes", "coranking", "critical_difference_diagram", "distortion", "label_null",
    "lattice", "path_curves", "quality_curves", "quality_sheet", "scatter", "shepard",
]  # fmt: skip
