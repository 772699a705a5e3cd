"""Figures of embeddings. Pure: arrays in, a figure out; no fitting, no files, no global state.

>>> import numpy as np
>>> from isentropic.plot import scatter
>>> figure = scatter(np.random.default_rng(0).normal(size=(50, 2)), title="noise")
>>> figure.axes[0].get_title(loc="left")
'noise'
"""

from .biplots import biplot
from .curves import quality_curves
from .damage import distortion, quality_sheet
from .densities import coranking, shepard
from .labels import label_null
from .lattices import component_planes, lattice
from .maps import scatter
from .paths import path_curves
from .ranks import critical_difference_diagram

__all__ = [
    "biplot", "component_planes", "coranking", "critical_difference_diagram", "distortion", "label_null",
    "lattice", "path_curves", "quality_curves", "quality_sheet", "scatter", "shepard",
]  # fmt: skip
