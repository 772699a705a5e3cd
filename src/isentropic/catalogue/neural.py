"""Methods whose map is a network."""

from __future__ import annotations

from .kinds import Method

_HINTON = "Hinton and Salakhutdinov (2006), Reducing the dimensionality of data, Science 313"
_KINGMA = "Kingma and Welling (2014), Auto-encoding variational Bayes, ICLR"
_SCHOLZ = "Scholz, Kaplan, Guy, Kopka and Selbig (2005), Non-linear PCA: missing data, Bioinformatics 21"

NEURAL = (
    Method("nonlinear-pca", "isentropic.methods.neural.nonlinear_pca:NonlinearPCA",
           "A bent surface through the rows, also where values are missing.", "neural",
           "O(n m h); O(n (m + d))", _SCHOLZ, out_of_sample="optimised", precomputed=False, draws_above=0,
           max_rows=100_000),
    Method("autoencoder", "isentropic.methods.neural.autoencoder:Autoencoder",
           "A network that gives each row again, through a few units.", "neural", "O(n w); O(n d + w)",
           _HINTON, precomputed=False, draws_above=0),
    Method("rbm-autoencoder", "isentropic.methods.neural.rbm_autoencoder:RBMAutoencoder",
           "A deep autoencoder that begins as Boltzmann machines.", "neural", "O(n w); O(n d + w)", _HINTON,
           precomputed=False, draws_above=0, figures=("free_energy_gaps_",)),
    Method("variational-autoencoder",
           "isentropic.methods.neural.variational_autoencoder:VariationalAutoencoder",
           "An autoencoder with a likelihood, which draws new rows.", "neural", "O(n w); O(n d + w)", _KINGMA,
           precomputed=False, draws_above=0, figures=("elbo_", "divergences_")),
)  # fmt: skip
