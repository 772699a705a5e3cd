"""Estimators of estimators."""

from __future__ import annotations

from ..method import Method

_ESPADOTO = "Espadoto, Hirata and Telea (2020), Deep learning multidimensional projections, Inf. Vis. 19"

METHODS = (
    Method("parametric", "isentropic.methods.meta.parametric_embedding:ParametricEmbedding",
           "A network that mimics the map of another method.", "wrapper", "O(n w); O(n m + w)", _ESPADOTO,
           precomputed=False, draws_above=0),
)  # fmt: skip
