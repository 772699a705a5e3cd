"""Tables that a program puts into a guide, between its two marks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

GUIDE = Path(__file__).parents[1] / "docs" / "guide"


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """
    >>> print(markdown(["a", "b"], [["1", "2"]]))
    | a | b |
    | --- | --- |
    | 1 | 2 |
    """
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows])


def percent(share: float, sign: bool = True) -> str:
    return f"{100 * share:.1f}{'%' if sign else ''}"


def into_guide(text: str, page: str, mark: str) -> None:
    """Between ``<!-- mark -->`` and ``<!-- end -->``."""
    path = GUIDE / page
    found = path.read_text(encoding="utf-8")
    put = f"<!-- {mark} -->\n{text}\n<!-- end -->"
    path.write_text(
        re.sub(rf"<!-- {mark} -->.*?<!-- end -->", lambda _: put, found, flags=re.DOTALL), encoding="utf-8"
    )
