"""Nodes of a grid in the data: SOM and GTM."""

from __future__ import annotations

from ..method import Method

_KOHONEN = "Kohonen (1982), Self-organized formation of topologically correct maps, Biol. Cybernetics 43"
_BISHOP = "Bishop, Svensén and Williams (1998), GTM: the generative topographic mapping, Neural Comp. 10"

METHODS = (
    Method("som", "isentropic.methods.lattice.som:SOM", "A grid of nodes, each the mean of the rows near it.",
           "lattice", "O(r n m); O(n m + r^2)", _KOHONEN, precomputed=False),
    Method("gtm", "isentropic.methods.lattice.gtm:GTM",
           "A curved sheet of Gaussians, fitted by maximum likelihood.",
           "lattice", "O(r n m); O(n m)", _BISHOP, precomputed=False, figures=("log_likelihood_",)),
)  # fmt: skip
