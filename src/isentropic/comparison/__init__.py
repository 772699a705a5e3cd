"""Methods side by side on one table: fitted, timed, scored, and which of their maps to trust."""

from .comparing import compare
from .dimension import Dimensions, intrinsic_dimension
from .presets import PRESETS, Preset
from .runs import Run, Trial
from .standings import Standing
from .verdicts import Fact, Verdict, verdict

__all__ = [
    "Dimensions",
    "Fact",
    "PRESETS",
    "Preset",
    "Run",
    "Standing",
    "Trial",
    "Verdict",
    "compare",
    "intrinsic_dimension",
    "verdict",
]
