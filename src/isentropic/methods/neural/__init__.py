"""Networks: autoencoders and parametric maps."""

from __future__ import annotations

from ..method import Method

_SCHOLZ = "Scholz, Kaplan, Guy, Kopka and Selbig (2005), Non-linear PCA: missing data, Bioinformatics 21"
_HINTON = "Hinton and Salakhutdinov (2006), Reducing the dimensionality of data, Science 313"
_KINGMA = "Kingma and Welling (2014), Auto-encoding variational Bayes, ICLR"
_MAATEN = "van der Maaten (2009), Learning a parametric embedding by preserving local structure, AISTATS 12"
_SAINBURG = "Sainburg, McInnes and Gentner (2021), Parametric UMAP embeddings, Neural Computation 33"

METHODS = (
    Method("nonlinear-pca", "isentropic.methods.neural.nonlinear_pca:NonlinearPCA",
           "A curved surface through the rows; accepts missing values.", "neural",
           "O(n m h); O(n (m + d))", _SCHOLZ, out_of_sample="optimised", precomputed=False, draws_above=0,
           max_rows=100_000),
    Method("autoencoder", "isentropic.methods.neural.autoencoder:Autoencoder",
           "A network that reconstructs each row from a few units.", "neural", "O(n w); O(n d + w)",
           _HINTON, precomputed=False, draws_above=0),
    Method("rbm-autoencoder", "isentropic.methods.neural.rbm_autoencoder:RBMAutoencoder",
           "A deep autoencoder pretrained as Boltzmann machines.", "neural", "O(n w); O(n d + w)", _HINTON,
           precomputed=False, draws_above=0, figures=("free_energy_gaps_",)),
    Method("variational-autoencoder",
           "isentropic.methods.neural.variational_autoencoder:VariationalAutoencoder",
           "An autoencoder with a likelihood that can sample rows.", "neural", "O(n w); O(n d + w)", _KINGMA,
           precomputed=False, draws_above=0, figures=("elbo_", "divergences_")),
    Method("parametric-t-sne", "isentropic.methods.neural.parametric_maps:ParametricTSNE",
           "A network trained by the loss of t-SNE.", "neural",
           "O(n^1.1 m + n k + n w); O(n (m + k) + w)", _MAATEN, precomputed=False, draws_above=0,
           figures=("kl_divergence_",)),
    Method("parametric-umap", "isentropic.methods.neural.parametric_maps:ParametricUMAP",
           "A network trained by the loss of UMAP.", "neural",
           "O(n^1.1 m + n k + n w); O(n (m + k) + w)", _SAINBURG, precomputed=False, draws_above=0,
           figures=("cost_",)),
)  # fmt: skip
