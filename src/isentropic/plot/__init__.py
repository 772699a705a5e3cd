"""Figures of embeddings. Pure: arrays in, a figure out; no fitting, no files, no global state.

>>> import numpy as np
>>> from isentropic.plot import scatter
>>> figure = scatter(np.random.default_rng(0).normal(size=(50, 2)), title="noise")
>>> figure.axes[0].get_title(loc="left")
'noise'
"""

from .biplots import biplot
from .critical_difference import critical_difference_diagram
from .density_plots import coranking, shepard
from .distortion_map import distortion, quality_sheet
from .label_permutation import label_null
from .lattice_plot import component_planes, lattice
from .neighborhood_path import path_curves
from .quality_curve import quality_curves
from .scatter_plot import scatter

__all__ = [
    "biplot", "component_planes", "coranking", "critical_difference_diagram", "distortion", "label_null",
    "lattice", "path_curves", "quality_curves", "quality_sheet", "scatter", "shepard",
]  # fmt: skip
