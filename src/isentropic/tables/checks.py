"""What :func:`load` refuses of its options before a table is read, or new rows are prepared."""

from __future__ import annotations

from collections.abc import Mapping

from .._core.errors import require
from .prepare.preparation import Preparation
from .prepare.roles import Roles


def require_source(is_sparse: bool, rank: int | None, roles: Roles, preparation: Preparation | None) -> None:
    """Raise where a source is sparse and the fitted one was not, or the other way round."""
    if preparation is not None:
        was = preparation.reduction is not None or preparation.sparse_columns is not None
        words = ("dense", "sparse")
        must_be = f"{words[was]}, as the fitted table"
        require(is_sparse == was, "source", must_be, words[is_sparse])
        require(not was or rank is None, "rank", "left to the preparation", rank, "Give one or the other.")
    hint = "It reduces sparse ones."
    require(is_sparse or rank is None, "rank", "None for a table that is not sparse", rank, hint)
    hint = "Give y to fit(X, y)."
    require(not is_sparse or roles.target is None, "target", "None for a sparse table", roles.target, hint)


def require_no_second_choice(
    preparation: Preparation, roles: Roles, nominal: str, dates: str, scaling: str, metric: str
) -> None:
    """Raise where an option says what the preparation of another table says."""
    is_one = isinstance(preparation, Preparation)
    require(is_one, "preparation", "a Preparation", preparation, "Give table.preparation.")
    for name, is_left in (
        *((name, not getattr(roles, name)) for name in ("features", "labels", "drop", "keep")),
        ("nominal", nominal == "onehot"),
        ("dates", dates == "number"),
        ("scaling", scaling == "auto"),
        ("metric", metric in ("euclidean", "auto", preparation.metric)),
    ):
        require(is_left, name, "left to the preparation", "both", "Give one or the other.")


def require_no_shape(weights: Mapping[str, float] | None, rows: str, tails: str) -> None:
    """The same for options that shape columns and rows."""
    for name, is_left in (("weights", weights is None), ("rows", rows == "auto"), ("tails", tails == "auto")):
        require(is_left, name, "left to the preparation", "both", "Give one or the other.")
