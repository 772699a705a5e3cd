"""Methods whose map is a network."""

from __future__ import annotations

from .kinds import Method

_HINTON = (
    "Hinton and Salakhutdinov (2006), Reducing the dimensionality of data with neural networks, Science 313"
)

NEURAL = (
    Method("autoencoder", "isentropic.methods.autoencoder:Autoencoder",
           "A network that gives each row again, through a few units.", "neural", "O(n w); O(n d + w)",
           _HINTON, precomputed=False, draws_above=0),
)  # fmt: skip
