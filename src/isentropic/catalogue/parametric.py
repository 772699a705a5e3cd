"""Methods that train a network on the cost of a neighbour embedding."""

from __future__ import annotations

from .kinds import Method

_MAATEN = "van der Maaten (2009), Learning a parametric embedding by preserving local structure, AISTATS 12"
_SAINBURG = "Sainburg, McInnes and Gentner (2021), Parametric UMAP embeddings, Neural Computation 33"

PARAMETRIC = (
    Method("parametric-t-sne", "isentropic.methods.neural.parametric_tsne:ParametricTSNE",
           "A network that goes down the cost of t-SNE.", "neural",
           "O(n^1.1 m + n k + n w); O(n (m + k) + w)", _MAATEN, precomputed=False, draws_above=0,
           figures=("kl_divergence_",)),
    Method("parametric-umap", "isentropic.methods.neural.parametric_umap:ParametricUMAP",
           "A network that goes down the cost of UMAP.", "neural",
           "O(n^1.1 m + n k + n w); O(n (m + k) + w)", _SAINBURG, precomputed=False, draws_above=0,
           figures=("cost_",)),
)  # fmt: skip
