"""Methods whose map is a network."""

from __future__ import annotations

from .kinds import Method

_HINTON = (
    "Hinton and Salakhutdinov (2006), Reducing the dimensionality of data with neural networks, Science 313"
)
_MAATEN = "van der Maaten (2009), Learning a parametric embedding by preserving local structure, AISTATS 12"
_SAINBURG = "Sainburg, McInnes and Gentner (2021), Parametric UMAP embeddings, Neural Computation 33"

NEURAL = (
    Method("autoencoder", "isentropic.methods.autoencoder:Autoencoder",
           "A network that gives each row again, through a few units.", "neural", "O(n w); O(n d + w)",
           _HINTON, precomputed=False, draws_above=0),
    Method("parametric-t-sne", "isentropic.methods.parametric_tsne:ParametricTSNE",
           "A network that goes down the cost of t-SNE.", "neural",
           "O(n^1.1 m + n k + n w); O(n (m + k) + w)", _MAATEN, precomputed=False,
           draws_above=0, figures=("kl_divergence_",)),
    Method("parametric-umap", "isentropic.methods.parametric_umap:ParametricUMAP",
           "A network that goes down the cost of UMAP.", "neural",
           "O(n^1.1 m + n k + n w); O(n (m + k) + w)", _SAINBURG, precomputed=False,
           draws_above=0, figures=("cost_",)),
)  # fmt: skip
