"""Methods that preserve neighbours: SNE, t-SNE, UMAP, PaCMAP, TriMap and supervised variants."""

from __future__ import annotations

from ..method import Method

_MAATEN = "van der Maaten and Hinton (2008), Visualizing data using t-SNE, JMLR 9"
_DE_BODT = "de Bodt, Mulders, Verleysen and Lee (2018), Perplexity-free t-SNE, ESANN 2018"
_HINTON = "Hinton and Roweis (2002), Stochastic neighbor embedding, NIPS 15"
_LEE = "Lee, Peluffo-Ordóñez and Verleysen (2015), Multi-scale similarities in SNE, Neurocomputing 169"
_ZHOU = "Zhou and Sharpee (2018), Using global t-SNE to preserve inter-cluster data structure, bioRxiv"
_MCINNES = "McInnes, Healy and Melville (2018), UMAP: uniform manifold approximation, arXiv 1802.03426"
_WANG = "Wang, Huang, Rudin and Shaposhnik (2021), Understanding how DR tools work, JMLR 22"
_AMID = (
    "Amid and Warmuth (2019), TriMap: large-scale dimensionality reduction using triplets, arXiv 1910.00204"
)
_HAJDERANJ_2019 = "Hajderanj, Weheliye and Chen (2019), A new supervised t-SNE with dissimilarity measure"
_CERVATI_NETO = "Cervati Neto (2024), Dimensionality reduction-based metric learning, thesis, section 3.3"

METHODS = (
    Method("t-sne", "isentropic.methods.neighbor.tsne:TSNE",
           "Preserves neighbours: affinities as Student weights.",
           "neighbours", "O(n^1.1 m + n k); O(n (m + k))", _MAATEN, out_of_sample="optimised",
           draws_above=10_000, preset="quick", figures=("kl_divergence_",)),
    Method("multiscale-t-sne", "isentropic.methods.neighbor.multiscale:MultiscaleTSNE",
           "Student weights for neighbourhoods of all sizes.", "neighbours", "O(n^2 log n); O(n^2)", _DE_BODT,
           out_of_sample="optimised", max_rows=10_000, preset="standard", figures=("kl_divergence_",)),
    Method("sne", "isentropic.methods.neighbor.tsne:SNE",
           "Preserves neighbours, by Gaussian weights.", "neighbours",
           "O(n^2); O(n^2)", _HINTON, out_of_sample="optimised", max_rows=10_000,
           figures=("kl_divergence_",)),
    Method("multiscale-sne", "isentropic.methods.neighbor.multiscale:MultiscaleSNE",
           "Gaussian weights for neighbourhoods of all sizes.", "neighbours", "O(n^2 log n); O(n^2)", _LEE,
           out_of_sample="optimised", max_rows=5_000, figures=("kl_divergence_",)),
    Method("global-t-sne", "isentropic.methods.neighbor.tsne:GlobalTSNE",
           "Preserves neighbours, and large distances as well.",
           "neighbours", "O(n^1.1 m + n k); O(n (m + k))", _ZHOU, out_of_sample="optimised",
           draws_above=4_000, figures=("kl_divergence_",)),
    Method("umap", "isentropic.methods.neighbor.umap:UMAP",
           "Matches the fuzzy neighbour graphs of data and map.",
           "neighbours", "O(n^1.1 m + n k); O(n (m + k))", _MCINNES, out_of_sample="optimised",
           draws_above=0, preset="quick", figures=("cost_",)),
    Method("pacmap", "isentropic.methods.neighbor.pacmap:PaCMAP",
           "Near and mid-near pairs attract, further pairs repel.",
           "neighbours", "O(n^1.1 m + n k); O(n (m + k))", _WANG, out_of_sample="optimised", draws_above=0,
           preset="standard", figures=("cost_",)),
    Method("trimap", "isentropic.methods.neighbor.trimap:TriMap",
           "Preserves which of two rows is nearer, over triplets.",
           "neighbours", "O(n^1.1 m + n k); O(n (m + k))", _AMID, out_of_sample="optimised", draws_above=0,
           figures=("violated_",)),
    Method("supervised-t-sne", "isentropic.methods.neighbor.supervised_tsne:SupervisedTSNE",
           "Preserves neighbours by a dissimilarity that separates classes.", "neighbours",
           "O(n^2 m + n k); O(n (m + k))", _HAJDERANJ_2019, needs_y=True, out_of_sample="optimised",
           max_rows=100_000, figures=("kl_divergence_",)),
    Method("sgt-sne", "isentropic.methods.neighbor.sgt_sne:SGtSNE",
           "Preserves neighbours by geodesics that are longer between classes.", "neighbours",
           "O(n^1.1 m + n k p log p); O(n (m + k + p))", _CERVATI_NETO, needs_y=True,
           out_of_sample="optimised", precomputed=False, draws_above=10_000, max_rows=100_000,
           figures=("kl_divergence_",)),
    Method("set-sne", "isentropic.methods.neighbor.sgt_sne:SEtSNE",
           "Preserves neighbours by divergences of patches and classes.", "neighbours",
           "O(n^1.1 m + n k m^2); O(n (m^2 + k + p))", _CERVATI_NETO, needs_y=True,
           out_of_sample="optimised", precomputed=False, draws_above=10_000, max_rows=100_000,
           figures=("kl_divergence_",)),
    Method("supervised-umap", "isentropic.methods.neighbor.umap:SupervisedUMAP",
           "UMAP that weakens edges between classes.", "neighbours",
           "O(n^1.1 m + n k); O(n (m + k))", _MCINNES, needs_y=True, out_of_sample="optimised",
           draws_above=0, figures=("cost_",)),
)  # fmt: skip
