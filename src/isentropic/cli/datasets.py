"""``isentropic datasets``: what can be embedded without a file."""

from __future__ import annotations

import dataclasses

from .shared.options import AsJson
from .shared.terminal import show_json, show_table


def main(as_json: AsJson = False) -> None:
    """List the tables at hand: built-in ones and those of the data folder.

    \b
    Example:
      isentropic datasets
    """
    from ..tables import catalogue

    entries = catalogue()
    if as_json:
        show_json([dataclasses.asdict(entry) for entry in entries])
        return
    rows = [
        (
            e.source,
            str(e.n_samples),
            str(e.n_features),
            "-" if e.n_classes is None else str(e.n_classes),
            e.note,
        )
        for e in entries
    ]
    show_table(("source", "rows", "features", "classes", "note"), rows)
