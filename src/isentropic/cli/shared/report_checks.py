"""What ``isentropic report`` refuses of its options and of a table before anything is compared."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..._core.errors import InvalidInputError, require, require_one_of
from .options import bytes_in

if TYPE_CHECKING:
    from ..._core.values import Table

_FEWEST_ROWS, _FEWEST_FEATURES = 4, 2
_LEAST_ROOM = 160 * 2**20  # bytes: compiled code, one method, the page
_COPIES = 6  # of the table: scaled, sampled, neighbours, drawn


def method_names(methods: str | None, preset: str | None) -> tuple[str, ...] | None:
    """Names of methods that exist; None for those of the preset."""
    if preset is not None:
        from ...comparison import PRESETS

        require_one_of("--preset", preset, PRESETS)
    if methods is None:
        return None
    from ... import registry

    names = [name.strip() for name in methods.split(",") if name.strip()]
    require(bool(names), "--methods", "names with commas between", methods, "For instance: pca,isomap.")
    for name in names:
        require_one_of("--methods", name, registry.METHODS)
    return tuple(names)


def require_table(table: Table) -> None:
    """Refuse a table that has no map, and a target that names rows."""
    n, m = table.X.shape
    hint = "Fewer rows have nothing to compare."
    require(n >= _FEWEST_ROWS, "SOURCE", f"a table of at least {_FEWEST_ROWS} rows", n, hint)
    hint = "One column needs no map: sort by it."
    require(m >= _FEWEST_FEATURES, "SOURCE", f"a table of at least {_FEWEST_FEATURES} features", m, hint)
    from ...distances import are_all_equal

    hint = "All columns are constant: there is nothing to compare."
    require(not are_all_equal(table.X), "SOURCE", "a table whose rows differ", f"{n} equal rows", hint)
    if table.y is not None and _names_rows(table):
        name = getattr(table.preparation, "target", None) or "target"
        raise InvalidInputError(
            f"--target must be a column of classes or of a quantity, got {name!r}, which names rows: nearly "
            f"every one of {n} has a value of its own. Say --index instead of --target."
        )


def _names_rows(table: Table) -> bool:
    """Whether a target is an identifier: words, nearly all different, or the numbers from a to a + n - 1."""
    import numpy as np

    n, y = len(table.X), table.y
    if table.class_names:
        return n >= 10 and 2 * len(table.class_names) > n
    assert y is not None
    y = y[~np.isnan(y)]
    whole = bool((y == np.floor(y)).all())
    return n >= 10 and whole and len(np.unique(y)) == n and float(np.ptp(y)) == n - 1


def require_room(table: Table, memory: str | None) -> None:
    """Refuse a limit of memory that no report of this table could keep."""
    from ..._core.runtime import held_memory

    size = bytes_in("--memory", memory)
    if size is None:
        return
    held = held_memory()
    least = math.ceil((held + _LEAST_ROOM + _COPIES * table.X.nbytes) / 2**20)
    hint = f"The libraries and the table take {math.ceil(held / 2**20)}M already."
    require(size >= least * 2**20, "--memory", f"at least {least}M for this table", memory, hint)
