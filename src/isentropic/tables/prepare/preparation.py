"""Preparation: everything that turned a table into numbers, kept so that new rows are treated alike."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Self, get_args

import numpy as np

from ..._core.errors import (
    InvalidInputError,
    is_real,
    plural,
    require,
    require_count,
    require_flag,
    require_one_of,
)
from ..._core.runtime import require_memory
from ..._core.values import ColumnSummary, Floats, Gower, Role
from .column_scaling import ROWS, SCALINGS, Scale, balancing_weights
from .columns import KINDS, Column, first_features
from .dates import CYCLES
from .factor_imputation import Factors
from .tails import Transform

NOMINAL = ("onehot", "coded")
MISSING = ("raise", "drop", "median", "ppca", "mean", "keep")
SUMMARY_KINDS = ("number", "date", "levels", "ordered", "text")
_FORMAT = 3
# Formats that are understood. The first knew neither flags nor cycles nor factors; up to the second, ordered
# levels were one feature each, cells had no style, and there were no labels.
_READ = (1, 2, 3)


@dataclass(frozen=True, slots=True, eq=False)
class Reduction:
    """Principal axes of a sparse table: ``z = V (x - mean)``."""

    mean: Floats  # (m,)
    axes: Floats  # (r, m) orthonormal

    def apply(self, X: Any) -> Floats:
        """The components of sparse rows, each by the same sums in any batch: ``O(nnz r)``."""
        m = len(self.mean)
        if X.shape[1] != m:
            raise InvalidInputError(
                f"the sparse table must have the {m} columns of the fitted one, got {X.shape[1]}. Give it "
                "the same columns, in the same order."
            )
        size = 24 * X.shape[0] * len(self.axes)
        require_memory(size, "the components of the sparse table", "Take fewer rows.")
        return np.asarray(X @ np.ascontiguousarray(self.axes.T)) - self.axes @ self.mean

    def to_json(self) -> dict[str, Any]:
        return {"mean": self.mean.tolist(), "axes": self.axes.tolist()}

    @classmethod
    def from_json(cls, data: Any, n_columns: int) -> Self:
        """The reduction that :meth:`to_json` described, to so many columns; raises for anything else."""
        require(isinstance(data, Mapping), "reduction", "mean and axes", data)
        mean, axes = (np.array(data[key], dtype=np.float64) for key in ("mean", "axes"))
        fits = mean.ndim == 1 and axes.shape == (n_columns, len(mean))
        require(fits, "reduction", f"to {plural(n_columns, 'column')}", (mean.shape, axes.shape))
        finite = bool(np.isfinite(mean).all() and np.isfinite(axes).all())
        require(finite, "reduction", "finite", "NaN or infinite")
        return cls(mean, axes)


@dataclass(frozen=True, slots=True, eq=False)
class Preparation:
    """How the columns of a table became numbers; :func:`load` applies it to new rows.

    ``fill`` holds the mean of each feature before scaling, or under ``missing="median"`` the median; it takes
    the place of missing values. Under ``missing="ppca"`` that is for ``factors``, after scaling.
    """

    columns: tuple[Column, ...]
    target: str | None
    index: str | None
    drop: tuple[str, ...]
    class_names: tuple[str, ...]
    nominal: str  # "onehot" or "coded"
    missing: str  # one of MISSING
    scaling: str  # "standard", "minmax", "robust" or "none"
    fill: Floats  # (m,)
    scale: Scale  # centre and scale of the m features
    factors: Factors | None = None
    metric: str = "euclidean"  # by which rows are compared; "gower" where levels and holes are kept
    reduction: Reduction | None = None  # of a sparse table, before all else
    sparse_columns: int | None = None  # of a sparse table that stays so, and has no other columns
    summaries: tuple[ColumnSummary, ...] = ()  # of all columns of the fitted table; none in formats 1 and 2
    # of each column: for Gower's metric that of its differences, else that of its squared ones, in ``scale``
    weights: tuple[float, ...] | None = None
    rows: str = "values"  # what rows are taken as before they are scaled, one of ROWS

    def require_rule(self, missing: str) -> None:
        """Raise for a way with missing values that needs what this preparation does not hold."""
        known = ("raise", "drop", *(() if self.missing == "median" else ("mean",)), "keep")
        rules = tuple(dict.fromkeys((*known, self.missing)))
        hint = f"The fitted table had missing={self.missing!r}."
        require_one_of("missing", missing, rules, hint)

    @property
    def row_metric(self) -> str | Gower:
        """The metric of the prepared rows: for Gower's, with the columns that are levels, or ordered ones."""
        if self.metric != "gower":
            return self.metric
        firsts = np.cumsum(
            [0, *(len(column.feature_names(self.nominal)) for column in self.columns)]
        ).tolist()
        spans = list(zip(self.columns, firsts, strict=False))
        return Gower(
            levels=tuple(a for column, a in spans if column.kind == "nominal" and not column.ordered),
            ordered=tuple(a for column, a in spans if column.ordered),
            weights=self.weights,
        )

    def in_given_units(self, X: Floats, first: int = 0) -> Floats:
        """Features ``first``, ``first + 1``, ... of prepared rows as they were before scaling and logarithms.

        Rows taken as shares, profiles or directions stay so.
        """
        features = slice(first, first + X.shape[1])
        centre = self.scale.centre[features]
        values: Floats = X * self.scale.scale[features] + centre
        values[np.abs(values) <= 1e-15 * np.abs(centre)] = 0.0  # a zero that was centred and scaled
        firsts = first_features(self.columns, self.nominal).tolist()
        for column, j in zip(self.columns, firsts, strict=True):
            if column.transform is not None and features.start <= j < features.stop:
                values[:, j - first] = column.transform.undo(values[:, j - first])
        return values

    def balanced(self, X: Floats) -> Preparation:
        """The same for Gower's metric, each column of equal weight in the mean distance of these rows."""
        metric = self.row_metric
        assert isinstance(metric, Gower)
        asked = self.weights or (1.0,) * len(self.columns)
        return replace(self, weights=balancing_weights(X, replace(metric, weights=None), asked))

    @property
    def labels(self) -> tuple[str, ...]:
        """Columns that are labels: for colour, tooltips and ``explain``, and not for the distance."""
        return tuple(one.name for one in self.summaries if one.role == "label")

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features, in the order of the columns of ``X``."""
        if self.sparse_columns is not None:
            return tuple(f"x{j}" for j in range(self.sparse_columns))
        return feature_names(self.columns, self.nominal)

    def to_json(self) -> dict[str, Any]:
        """Plain lists, strings and numbers; :meth:`from_json` gives the same preparation back."""
        return {
            "format": _FORMAT,
            "columns": [
                {
                    "name": column.name,
                    "kind": column.kind,
                    "levels": list(column.levels),
                    "flag": column.flag,
                    "cycles": list(column.cycles),
                    "ordered": column.ordered,
                    "transform": None if column.transform is None else column.transform.to_json(),
                    "style": column.style,
                    "marks": list(column.marks),
                }
                for column in self.columns
            ],
            "target": self.target,
            "index": self.index,
            "drop": list(self.drop),
            "class_names": list(self.class_names),
            "nominal": self.nominal,
            "missing": self.missing,
            "scaling": self.scaling,
            "metric": self.metric,
            "fill": self.fill.tolist(),
            "centre": self.scale.centre.tolist(),
            "scale": self.scale.scale.tolist(),
            "factors": None if self.factors is None else self.factors.to_json(),
            "reduction": None if self.reduction is None else self.reduction.to_json(),
            "sparse_columns": self.sparse_columns,
            "summaries": [asdict(one) for one in self.summaries],
            "weights": None if self.weights is None else list(self.weights),
            "rows": self.rows,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The preparation that :meth:`to_json` described; raises for anything else."""
        form = data.get("format") if isinstance(data, Mapping) else data
        require(
            type(form) is int and form in _READ,
            "preparation",
            f"of format {' or '.join(map(str, _READ))}",
            form,
            "Load the table and save its preparation again.",
        )
        try:
            preparation = cls._from_fields(data)
        except (KeyError, OverflowError, TypeError, ValueError) as error:
            raise InvalidInputError(
                f"preparation must hold what to_json() gives, got something else ({error}). "
                "Load the table and save its preparation again."
            ) from error
        return preparation

    @classmethod
    def _from_fields(cls, data: Mapping[str, Any]) -> Self:
        columns = tuple(
            Column(
                _text("name", item["name"]),
                item["kind"],
                _texts("levels", item["levels"]),
                item.get("flag", False),
                _texts("cycles", item.get("cycles", [])),
                item.get("ordered", False) and (data["format"] > 2 or data["nominal"] == "coded"),
                _transform(item.get("transform")),
                _text("style", item.get("style", "")),
                _texts("marks", item.get("marks", [])),
            )
            for item in data["columns"]
        )
        for column in columns:
            _require_column(column)
        _require_roles(data, columns)
        require_one_of("nominal", data["nominal"], NOMINAL)
        require_one_of("missing", data["missing"], MISSING)
        require_one_of("scaling", data["scaling"], SCALINGS)
        rows = data.get("rows", "values")
        require_one_of("rows", rows, ROWS[1:])
        m = len(feature_names(columns, data["nominal"]))
        fill, scale = _fill_and_scale(data, m)
        factors, reduction, sparse = (data.get(key) for key in ("factors", "reduction", "sparse_columns"))
        if sparse is not None:
            require_count("sparse_columns", sparse)
            require(not columns, "columns", "none beside those of a sparse table", len(columns))
        factors = None if factors is None else Factors.from_json(factors, m)
        guesses = (data["missing"] == "ppca") == (factors is not None)
        require(guesses, "factors", "there for missing='ppca', and for nothing else", data["missing"])
        return cls(
            columns=columns,
            target=_text_or_none("target", data["target"]),
            index=_text_or_none("index", data["index"]),
            drop=_texts("drop", data["drop"]),
            class_names=_texts("class_names", data["class_names"]),
            nominal=data["nominal"],
            missing=data["missing"],
            scaling=data["scaling"],
            metric=_text("metric", data.get("metric", "euclidean")),
            fill=fill,
            scale=scale,
            factors=factors,
            reduction=None if reduction is None else Reduction.from_json(reduction, len(columns)),
            sparse_columns=sparse,
            summaries=_summaries(data.get("summaries", []), columns),
            weights=_weights(data.get("weights"), len(columns)),
            rows=rows,
        )


def _summaries(items: Any, columns: Sequence[Column]) -> tuple[ColumnSummary, ...]:
    """Raises for what is no summary, or gives a feature another role."""
    require(isinstance(items, list), "summaries", "a list", items)
    found = tuple(ColumnSummary(**item) for item in items)
    for one in found:
        for name in ("name", "why", "change", "command"):
            _text(name, getattr(one, name))
        require_one_of("role", one.role, get_args(Role))
        require_one_of("kind", one.kind, SUMMARY_KINDS)
        require_count("missing", one.missing, least=0)
        require(one.share is None or is_real(one.share), "share", "a number or None", one.share)
    _require_distinct("summaries", [one.name for one in found])
    features = {column.name for column in columns}
    both = [one.name for one in found if one.role != "feature" and one.name in features]
    require(not both, "summaries", "features where columns are", both[:1])
    return found


def _fill_and_scale(data: Mapping[str, Any], m: int) -> tuple[Floats, Scale]:
    fill, centre, scale = (_numbers(key, data[key]) for key in ("fill", "centre", "scale"))
    for name, values in (("fill", fill), ("centre", centre), ("scale", scale)):
        require(values.shape == (m,), name, f"of shape {(m,)}", values.shape)
        require(bool(np.isfinite(values).all()), name, "finite", "NaN or infinite")
    require(bool((scale > 0).all()), "scale", "positive", float(scale.min(initial=1.0)))
    plain = (
        data["scaling"] != "none"
        or data.get("weights") is not None
        or not (centre.any() or (scale != 1).any())
    )
    require(plain, "centre and scale", "0 and 1 where nothing is scaled", "other numbers")
    return fill, Scale(centre, scale)


def _require_column(column: Column) -> None:
    """Raise for one that no table has: words where there are no levels, or the other way round."""
    require_one_of("kind", column.kind, KINDS)
    require_flag("flag", column.flag)
    require_flag("ordered", column.ordered)
    for cycle in column.cycles:
        require_one_of("cycles", cycle, CYCLES)
    has_levels = column.kind == "nominal"
    fits = bool(column.levels) == has_levels and (has_levels or not column.ordered)
    require(fits, "levels", f"those of a column of kind {column.kind!r}", column.levels)
    plain = column.kind == "number" or column.transform is None
    require(plain, "transform", "that of a number", column.kind)
    require(not column.cycles or column.kind == "date", "cycles", "those of a date", column.cycles)
    styles = {
        "number": re.fullmatch("([.,].{0,40})?", column.style),
        "date": column.style in ("", "dmy", "mdy"),
    }
    require(bool(styles.get(column.kind, not column.style)), "style", f"one of a {column.kind}", column.style)
    for name, values in (("levels", column.levels), ("cycles", column.cycles)):
        _require_distinct(f"{name} of {column.name!r}", values)


def _require_roles(data: Mapping[str, Any], columns: Sequence[Column]) -> None:
    """Raise where a column is there twice, or is a feature and something else."""
    names = [column.name for column in columns]
    _require_distinct("names of columns", names)
    _require_distinct("class_names", _texts("class_names", data["class_names"]))
    others = {*_texts("drop", data["drop"]), *(_text_or_none(key, data[key]) for key in ("target", "index"))}
    both = [name for name in names if name in others]
    require(not both, "columns", "features, and not the target, the index or left out as well", both)


def _require_distinct(name: str, values: Sequence[str]) -> None:
    often = [value for value, count in Counter(values).items() if count > 1]
    require(not often, name, "different from each other", often[:1])


def _transform(data: Any) -> Transform | None:
    return None if data is None else Transform.from_json(data)


def _weights(values: Any, n_columns: int) -> tuple[float, ...] | None:
    """Weights of the columns, checked as by Gower's metric; None for 1."""
    if values is None:
        return None
    weights = _numbers("weights", values)
    sound = weights.shape == (n_columns,) and bool((np.isfinite(weights) & (weights >= 0)).all())
    sound = sound and bool((weights > 0).any())
    require(sound, "weights", f"{n_columns} numbers of at least 0, one above it", values)
    return tuple(weights.tolist())


def _text(name: str, value: Any) -> str:
    require(isinstance(value, str), name, "a string", value)
    return str(value)


def _text_or_none(name: str, value: Any) -> str | None:
    return None if value is None else _text(name, value)


def _numbers(name: str, values: Any) -> np.ndarray:
    are_numbers = isinstance(values, list) and all(map(is_real, values))
    require(are_numbers, name, "a list of numbers", values)
    return np.array(values, dtype=np.float64)


def _texts(name: str, values: Any) -> tuple[str, ...]:
    require(isinstance(values, list), name, "a list of strings", values)
    return tuple(_text(name, value) for value in values)


def feature_names(columns: Sequence[Column], nominal: str) -> tuple[str, ...]:
    """The features that the columns become, in order."""
    return tuple(name for column in columns for name in column.feature_names(nominal))
