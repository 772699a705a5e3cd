"""Which map to use, for what, and what to be careful about."""

from .answers import GroupAnswer
from .caveats import Caveat
from .grades import Grade, Rating
from .judging import Verdict, verdict

__all__ = ["Caveat", "Grade", "GroupAnswer", "Rating", "Verdict", "verdict"]
