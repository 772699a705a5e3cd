"""Choice of the recommended map: the most useful one, the simpler of two that are the same in practice.

How useful a map is: ``u = -ln(1.05 - N) - ln(1.05 - D)`` with N and D the scores of the two questions, from 0
(chance) to 1. What is lost counts by its ratio: losing 5% instead of 10% is worth about as much as losing 40%
instead of 62%. So a map that retains nearly all neighbors wins where it exists, and one with good distances
wins where all maps lose some neighbors; readers of real tables choose so. The measure is continuous: no
threshold makes the choice jump to another map.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from .grades import Rating
from .thresholds import EXACT, FLOOR, SAME

# of maps that are the same in practice, the one that most readers know; then in the order of the registry
FAMILIAR = ("pca", "classical-mds", "metric-mds", "t-sne", "umap", "isomap", "pacmap")


def usefulness(rating: Rating) -> float:
    """Usefulness of a map, by which maps are ranked."""
    return _retained(rating.score("neighbors")) + _retained(rating.score("distances"))


def _retained(score: float) -> float:
    return -math.log(1.0 + FLOOR - min(1.0, max(0.0, score)))


def rank_maps(ratings: Sequence[Rating], shown: int | None = None) -> list[Rating]:
    """Maps in order: the shown one, then usable ones by usefulness."""
    in_question = {rating.run for rating in candidates(ratings)}

    def place(rating: Rating) -> tuple[float, ...]:
        return (
            rating.run != shown,
            rating.run not in in_question,
            not rating.usable,
            bool(rating.labels),
            rating.worthless,
            -usefulness(rating),
            rating.run,
        )

    return sorted((rating for rating in ratings if not rating.failed), key=place)


def candidates(ratings: Sequence[Rating]) -> list[Rating]:
    """Usable maps; those that saw the classes only where there is no other."""
    usable = [rating for rating in ratings if rating.usable]
    blind = [rating for rating in usable if not rating.labels]
    return blind or usable


def recommend(ratings: Sequence[Rating]) -> Rating | None:
    """The recommended map; None where none may be used."""
    maps = candidates(ratings)
    if not maps:
        return None
    equal = same_in_practice(maps)
    return min(equal, key=lambda rating: (_familiarity(rating), -usefulness(rating), rating.run))


def same_in_practice(maps: Sequence[Rating]) -> list[Rating]:
    """The most useful map and those that differ from it by less than matters, the dominated ones left out."""
    best = max(map(usefulness, maps))
    near = [rating for rating in maps if usefulness(rating) >= best - SAME]
    return [rating for rating in near if not any(dominates(other, rating) for other in maps)]


def dominates(one: Rating, other: Rating) -> bool:
    """Whether a map is better on every score as it is shown.

    Scores that were measured for neither do not count.
    """
    shown = [
        (a.value, b.value)
        for a, b in ((one.neighbors, other.neighbors), (one.distances, other.distances))
        if a is not None and b is not None
    ]
    return bool(shown) and all(a > b for a, b in shown)


def is_exact(rating: Rating) -> bool:
    """A map that loses nothing, as of two columns: it is the table, drawn."""
    return min(rating.score("neighbors"), rating.score("distances")) >= EXACT


def _familiarity(rating: Rating) -> int:
    return FAMILIAR.index(rating.method) if rating.method in FAMILIAR else len(FAMILIAR)
