"""How far rows are from each other: metrics, blocks and sources of distances, all, single and drawn pairs."""

from .blocks import distances_between, distances_to, rows_per_block
from .condensed import condensed_distances, later_distances, store_distances
from .cosine_distances import has_directions, unit_directions
from .duplicates import Distinct, are_all_equal, distinct_rows, hashes_of, same_rows
from .gower import GowerUnits, gower_of, in_units, is_gower, warn_of_strangers, weights_of
from .metrics import (
    BY_DIFFERENCES,
    CITY_BLOCK,
    EUCLIDEAN,
    LARGEST,
    Metric,
    checked_distance_matrix,
    checked_distance_rows,
    checked_magnitude,
    checked_metric,
    metric_name,
    metric_names,
)
from .pairs import DrawnPairs, drawn_pairs, pair_distances
from .precomputed import rows_of
from .sources import (
    Points,
    all_equal,
    distance_rows,
    euclidean_rows,
    finite_rows,
    in_data_units,
    measurable_rows,
    scaled_distance_rows,
    taken,
)
from .sparse import checked_sparse
from .walks import Walks

# What is checked at its door, for users; the other names are for our own modules, which have checked.
__all__ = [
    "Metric",
    "distance_rows",
    "metric_names",
]
