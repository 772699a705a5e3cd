"""Short names of groups, by at most two of the columns that tell each from all other rows."""

from __future__ import annotations

from collections.abc import Sequence

from ..explain.explanations import Difference, Explanation

_STRENGTHS = (0.4, 0.6)  # of the first and the second column: AUC 0.7 and 0.8, or 40 and 60 points of a level
_LONGEST = 24  # characters of a level; longer ones are cut
_FLAGS = {"0", "1", "yes", "no", "y", "n", "true", "false", "t", "f"}  # levels that say nothing alone


def group_names(explanations: Sequence[Explanation | None]) -> list[str]:
    """A name for each group: "high flipper_length, Gentoo"; numbered where columns give none, or the same."""
    names = [
        f"group {number}" if explanation is None else _name(explanation) or f"group {number}"
        for number, explanation in enumerate(explanations, start=1)
    ]
    return [
        name if names.count(name) == 1 else f"{name} ({names[: place + 1].count(name)})"
        for place, name in enumerate(names)
    ]


def _name(explanation: Explanation) -> str:
    told: dict[str, str] = {}
    for one in sorted(explanation.differences, key=_order):
        if one.column not in told and len(told) < len(_STRENGTHS) and one.strength >= _STRENGTHS[len(told)]:
            told[one.column] = _words(one)
    return ", ".join(told.values())


def _order(one: Difference) -> tuple[bool, float]:
    """The strongest first; levels that a group has not come last."""
    return bool(one.level) and one.auc < 0.5, -one.strength


def _words(one: Difference) -> str:
    if one.lift is None:
        words = ("late", "early") if one.dates else ("high", "low")
        return f"{words[one.auc < 0.5]} {one.column}"
    level = one.level if len(one.level) <= _LONGEST else f"{one.level[: _LONGEST - 1]}\u2026"
    says_nothing = one.level.casefold() in _FLAGS or one.level.replace(".", "", 1).isdigit()
    text = f"{one.column} {level}" if says_nothing else level
    return text if one.auc > 0.5 else f"not {text}"
