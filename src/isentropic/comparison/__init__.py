"""Methods side by side on one table: fitted, timed, scored."""

from .runs import Run, Trial

__all__ = ["Run", "Trial"]
