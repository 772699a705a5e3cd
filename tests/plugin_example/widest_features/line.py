"""The line of the method, in a module of its own: listing methods imports this and no estimator."""

from isentropic.registry import Method

METHOD = Method(
    "my-method",
    "widest_features.estimator:WidestFeatures",
    "Features of largest standard deviation.",
    "linear",
    "O(n m); O(n m)",
    "Example (2026), A method of another package",
    precomputed=False,
)
