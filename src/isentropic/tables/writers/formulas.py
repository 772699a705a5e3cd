"""Text that a spreadsheet would run as a formula: a leading quote stops it, and is undone on reading."""

from __future__ import annotations

import re
from typing import Any

# what OWASP lists: the signs, also in full width, and characters that a spreadsheet skips at the start
_FORMULA = re.compile(r"'*[=+\-@＝＋－＠\t\r\n].*", re.DOTALL)
_NUMBER = re.compile(r"'*[+-](\d+[.]?\d*|[.]\d+)([eE][+-]?\d+)?", re.ASCII)


def is_formula(text: str) -> bool:
    """Whether text begins, after any quotes, like a formula and is no plain number."""
    return _FORMULA.fullmatch(text) is not None and _NUMBER.fullmatch(text) is None


def escape_formula(cell: Any) -> Any:
    """A cell as a spreadsheet may open it; :func:`unescape_formula` is the exact inverse.

    >>> [escape_formula(cell) for cell in ("=1+1", "'=1+1", "'tis", "-5", -5)]
    ["'=1+1", "''=1+1", "'tis", '-5', -5]
    """
    return f"'{cell}" if isinstance(cell, str) and is_formula(cell) else cell


def unescape_formula(text: str) -> str:
    """The text without the quote that :func:`escape_formula` put before it.

    >>> [unescape_formula(text) for text in ("'=1+1", "''=1+1", "'tis", "-5", "=1+1")]
    ['=1+1', "'=1+1", "'tis", '-5', '=1+1']
    """
    return text[1:] if text.startswith("'") and is_formula(text) else text
