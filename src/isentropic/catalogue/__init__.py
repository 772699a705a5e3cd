"""What is known of every method without importing it: a line each, in the file of its family.

Methods are listed, compared and tested in this order.
"""

from .geodesic import GEODESIC
from .kinds import FAMILIES, Family, Method, family_of
from .lattices import LATTICES
from .linear import LINEAR
from .neighbours import NEIGHBOURS
from .neural import NEURAL
from .parametric import PARAMETRIC
from .spectral import SPECTRAL
from .stress import STRESS
from .wrappers import WRAPPERS

__all__ = ["BUILT_IN", "FAMILIES", "Family", "Method", "family_of"]

BUILT_IN = (*LINEAR, *SPECTRAL, *STRESS, *GEODESIC, *NEIGHBOURS, *LATTICES, *NEURAL, *PARAMETRIC, *WRAPPERS)
