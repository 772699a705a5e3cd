"""How far rows are from each other: metrics, blocks and sources of distances, all, single and drawn pairs."""

from .gower import GowerUnits, gower_of, in_units, warn_of_disjoint_rows, weights_of
from .metrics import (
    BY_DIFFERENCES,
    CITY_BLOCK,
    EUCLIDEAN,
    LARGEST,
    Distinct,
    Metric,
    are_all_equal,
    as_doubles,
    checked_distance_matrix,
    checked_distance_rows,
    checked_magnitude,
    checked_metric,
    checked_sparse,
    distinct_rows,
    has_directions,
    hashes_of,
    is_gower,
    metric_name,
    metric_names,
    rows_of,
    same_rows,
    unit_directions,
)
from .pairwise_blocks import (
    DiffusionDistances,
    SampledPairs,
    distances_between,
    distances_to,
    pair_distances,
    rows_per_block,
    sampled_pairs,
)
from .sources import (
    Points,
    References,
    all_equal,
    condensed_distances,
    distance_rows,
    euclidean_rows,
    finite_rows,
    in_data_units,
    in_tiles,
    later_distances,
    measurable_rows,
    scaled_distance_rows,
    select_rows,
    store_distances,
)

# What is checked at its door, for users; the other names are for our own modules, which have checked.
__all__ = [
    "Metric",
    "distance_rows",
    "metric_names",
]
