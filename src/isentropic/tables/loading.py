"""``load``: a source as a table of numbers, ready to be embedded."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .._core.errors import listing, notice, require, require_one_of
from .._core.sparse_rows import SPARSE_METRIC
from .._core.values import Floats, Table
from .class_labels import class_names, notice_of_minus_one, with_new_classes
from .prepare.column_scaling import ROWS, SCALINGS, fit_scale, require_weights, weighted_scale
from .prepare.dates import DATES
from .prepare.distance_matrix import distances_table, recognize_distances
from .prepare.encoding import Encoded, encode_columns
from .prepare.factor_imputation import fit_factors
from .prepare.meaning import CODES, interpret, require_levels, with_meanings
from .prepare.metric_choice import Choices
from .prepare.missing import complete_rows
from .prepare.preparation import MISSING, NOMINAL, Preparation, feature_names
from .prepare.roles import Roles, assign_roles, split, split_like_fitted
from .prepare.summaries import new_summaries, summarize_fitted, with_shares
from .prepare.suspects import name_suspects
from .prepare.tails import TAILS
from .raw import RawTable
from .readers.layout import Layout
from .sparse_tables import reduce_rows, sparse_source, sparse_table, stays_sparse
from .table_sources import read_source


def load(
    source: Any,
    target: str | os.PathLike[str] | None = None,
    *,
    features: Iterable[str] = (),
    labels: Iterable[str] = (),
    drop: Iterable[str] = (),
    keep: Iterable[str] = (),
    index: str | None = None,
    levels: Iterable[str] = (),
    codes: str = "missing",
    nominal: str = "onehot",
    missing: str = "raise",
    dates: str = "number",
    scaling: str = "auto",
    metric: str = "euclidean",
    weights: Mapping[str, float] | None = None,
    rows: str = "auto",
    tails: str = "auto",
    rank: int | None = None,
    separator: str | None = None,
    header: bool | None = None,
    skip_lines: int | None = None,
    n_samples: int | None = None,
    random_state: int = 0,
    preparation: Preparation | None = None,
) -> Table:
    """Read a table and make it numbers: complete, encoded and scaled.

    Parameters
    ----------
    source
        ``builtin:NAME``, ``openml:NAME``, ``openml:NAME@VERSION``, ``openml:ID``,
        a file (CSV, TSV, TXT, DAT, JSON, JSON lines, ARFF and IDX, each
        also .gz, .bz2, .xz or .zst; a ZIP archive of one table; Excel, its first sheet or
        ``book.xlsx#Sheet``; Parquet, Feather, Arrow,
        NPY, NPZ), a frame of pandas, polars or Arrow, a sparse matrix, or the name of a set in the data
        folder that ``ISENTROPIC_DATA`` points at. The data folder also answers ``openml:`` when it has the
        set.
    target
        Column of the classes or of a number to colour by; for IDX and NPY a file of labels, for NPZ
        the name of an array. Built-in sets, the data folder and OpenML know theirs; an IDX file
        of images finds the labels next to it; an NPZ file those called ``y``.
    features
        The columns that make the distance between rows. All others become labels.
    labels
        Columns to colour by, to read in tooltips and to ``explain`` by, which are not part of the distance.
    drop
        Columns to leave out. ``table.other_columns`` still has them, as every column that is no feature.
    keep
        Columns that count as features though a rule makes them names, labels or leaves them out.
    index
        Column that names the rows. Where none is named, one that looks like it is taken, with a notice.
    levels
        Columns to read as unordered levels, to the letter: text that would be numbers or ordered words, or
        numbers that are codes.
    codes
        Codes for missing values, as -999 or 99, far from all other values of a column: they count as
        ``"missing"``, with a notice, or stay (``"keep"``) as numbers.
    nominal
        Text and categories as one feature per level (``"onehot"``), or as ``"coded"`` numbers in the
        order of the levels. Ordered levels are one number each, in equal steps.
    missing
        ``"raise"`` an error that counts them; ``"drop"`` the rows that have one; take the ``"median"`` of the
        feature (of levels: none), with one more 0/1 feature for each column that has holes, both of which
        weigh together as one column; what a factor model of the other columns tells, ``"ppca"``; the
        ``"mean"`` of the feature (of a level: its share); or ``"keep"`` them as NaN, for the method
        ``probabilistic-pca``. Where they are kept, filled in by factors or flagged, scaling is by the values
        that are there.
    dates
        Days since 1970 (``"number"``), or also the place in the year, the week and the day (``"cycle"``),
        where dates differ in it: as sine and cosine, so that December lies beside January. The features of
        one date weigh together as one column, its days and each cycle alike.
    scaling
        ``"standard"``, ``"minmax"``, ``"robust"`` (median and interquartile range) or ``"none"``.
        ``"auto"`` is none where all features share one unit and standard elsewhere: generated sets and
        images, and 20 or more columns of numbers with a common range, or 10 that are numbered, as pixels,
        spectra, genes or answers. 50 or more columns of counts are taken as log(1 + x), unscaled.
    metric
        By what rows are to be compared, which ``table.metric`` says to those who do: ``"euclidean"``, or
        ``"gower"`` for text beside numbers and missing values: levels are coded then, nothing is scaled, what
        is missing is kept as NaN, and every column has the same share of the mean distance.
        ``"precomputed"``: the table is a square of distances between its rows. ``"auto"`` is that for such a
        square, else Euclidean with missing values filled in as by ``missing="median"``, and says so. Any
        other name is handed on. A sparse table stays sparse for ``"cosine"``, unless ``rank`` is given:
        methods that work from distances, neighbours and all of quality take it so.
    weights
        Of columns, by name: 2 doubles a column's share of the mean distance (for Gower's metric; else of the
        mean squared distance), 0.5 halves it, as long as it is small. Without it every column has the same.
    rows
        What a row is taken as, where its size is not what it is compared for: ``"shares"`` (divided by its
        sum), ``"profiles"`` (minus its mean, divided by its standard deviation) or ``"unit"`` (divided by its
        length, so that Euclidean neighbours are those by cosine); all columns must be numbers then.
        ``"auto"`` is unit for embeddings, and ``"values"``, rows as they are, elsewhere.
    tails
        ``"auto"`` takes columns with a skewness beyond 2, or an excess kurtosis beyond 10, by their
        logarithms where all values are positive, else by asinh around the median, unless a scaling is given,
        and says so; ``"log"`` those with a skewness beyond 1, whatever the scaling; ``"keep"``
        none. Columns of fewer than 20 rows or 10 different values stay.
    rank
        How many principal components a sparse matrix, given or in a file of ``scipy.sparse.save_npz``, is
        reduced to: 50, or one less than its rows or columns. They are centred and not scaled, and a notice
        says how much of the variance they keep; for ``metric="cosine"`` they are those of rows of length 1,
        and not centred. Such a table is never made dense.
    separator
        What stands between the fields of a CSV or TSV file, as ``";"`` or ``"|"``. By default it is the comma
        or the tab that the suffix says, unless another of ``,``, ``;``, tab and ``|`` cuts all of the first
        lines into more fields, which a notice says.
    header
        Whether the first row of a CSV, TSV or Excel file names the columns. By default it does, unless it
        looks like a row of data: numbers over numbers, which are neither years nor evenly spaced. A notice
        says so then, and columns are called ``x0``, ``x1`` ... Titles above the names are left out, and names
        in two lines are joined, unless this or ``skip_lines`` is given.
    skip_lines
        How many lines or rows to skip before the names of a text or Excel file.
    n_samples, random_state
        Size and seed of a generated set.
    preparation
        ``table.preparation`` of another table: the rows are encoded and scaled as that one was, and
        ``missing="raise"`` stands for its choice. They need its columns, but no target.

    Notes
    -----
    In CSV files the empty field, NA, NaN, null and ? are missing; None is a level. Text counts as dates where
    95% of it is written as YYYY-MM-DD, YYYY-MM or with the name of a month, with or without a time. Names in
    ``features``, ``labels``, ``drop`` and ``keep`` may be patterns as ``"x_*"``, or several with commas; a
    column that is named wins over a pattern. Columns that name the rows, follow their order, have more
    levels than rows in each, or one value or none, are no features; a :class:`TableWarning` names them. Dates
    and words among numbers are kept and named so. Whole numbers as a target are classes, up to 100 of them;
    rows without a target have the class -1, or NaN.
    The levels of one column weigh together as one column does: with shares p they are divided by
    sqrt(sum p (1 - p)).

    Examples
    --------
    >>> from isentropic.datasets import load
    >>> iris = load("builtin:iris")
    >>> iris.X.shape, iris.class_names, iris.scaling
    ((150, 4), ('setosa', 'versicolor', 'virginica'), 'standard')

    New rows are prepared as the first ones were:

    >>> import pandas as pd
    >>> flat = load(pd.DataFrame({"rooms": [2, 3, 4], "heating": ["gas", "oil", "gas"]}))
    >>> flat.feature_names
    ('rooms', 'heating=gas', 'heating=oil')
    >>> load(pd.DataFrame({"rooms": [3], "heating": ["oil"]}), preparation=flat.preparation).X.round(2)
    array([[ 0., -1.,  1.]])
    """
    require_one_of("nominal", nominal, NOMINAL)
    require_one_of("missing", missing, MISSING)
    require_one_of("dates", dates, DATES)
    require_one_of("codes", codes, CODES)
    nominal_columns = (levels,) if isinstance(levels, str) else tuple(levels)
    require_one_of("scaling", scaling, ("auto", *SCALINGS))
    require_one_of("rows", rows, ROWS)
    require_one_of("tails", tails, TAILS)
    roles = Roles.of(target, drop, keep, index, features, labels)
    layout = Layout.of(separator, header, skip_lines)
    if preparation is not None:
        require_no_second_choice(preparation, roles, nominal, dates, scaling, metric)
        require_no_shape(weights, rows, tails)
    sparse = sparse_source(source)
    require_source(sparse is not None, rank, roles, preparation)
    if sparse is not None:
        layout.require_none("a sparse table")
    if sparse is None:
        texts = roles.text_columns(preparation) | {*nominal_columns}
        raw = read_source(source, roles.target, texts, n_samples, random_state, layout)
    elif stays_sparse(metric, rank, preparation):
        return sparse_table(*sparse, roles, preparation)
    else:
        fitted = None if preparation is None else preparation.reduction
        raw = reduce_rows(*sparse, rank, fitted, by_cosine=metric == SPARSE_METRIC)
    if preparation is None:
        choices = Choices(metric, nominal, missing, dates, scaling, weights, rows, tails)
        return _fit(raw, roles, choices, nominal_columns, codes)
    preparation.require_rule(missing)
    return _apply(raw, roles, preparation, preparation.missing if missing == "raise" else missing)


def _fit(raw: RawTable, asked_roles: Roles, asked: Choices, levels: tuple[str, ...], codes: str) -> Table:
    """Decide how the columns become numbers, and make them so."""
    roles = asked_roles.resolve(raw)
    distances = recognize_distances(raw, roles, asked.metric)
    if distances is not None:
        return distances_table(raw, roles, distances)
    require_levels(raw, levels)
    others = {*roles.drop, *(() if roles.index is None else (roles.index,))}
    raw, meanings = interpret(raw, roles.target or raw.target, others, levels, codes)
    found = assign_roles(raw, asked_roles)
    parts = split(raw, found)
    chosen, columns = asked.resolve(parts.features, one_unit=raw.one_unit)
    columns = with_meanings(columns, meanings)
    classes = () if parts.target is None else class_names(parts.target)
    notice_of_minus_one(parts.target, classes)
    encoded = encode_columns(parts.features, columns, chosen.nominal, raw.name)
    encoded.require_finite(raw.name)
    holes = encoded.missing_counts()
    if not raw.one_unit:
        name_suspects(encoded)
    chosen, encoded = chosen.for_shape(encoded, one_unit=raw.one_unit)
    nominal, missing, scaling = chosen.nominal, chosen.missing, chosen.scaling
    asked_weights = require_weights(chosen.weights, [column.name for column in columns], raw.name)
    if missing == "median":
        encoded = encoded.flagged()
    rows = complete_rows(encoded, parts, classes, missing, raw.name).as_profiles(encoded, chosen.rows)
    names = feature_names(encoded.columns, nominal)
    scale = fit_scale(rows.X, scaling, names, encoded.groups())
    if scaling != "none":
        _name_constants(rows.X, encoded, scaling)
    weights = None
    if asked_weights:
        weights = tuple(asked_weights.get(column.name, 1.0) for column in encoded.columns)
        scale = scale if chosen.metric == "gower" else weighted_scale(scale, weights, encoded.firsts)
    preparation = Preparation(
        columns=encoded.columns,
        target=parts.target_name,
        index=found.index,
        drop=found.named("ignored"),
        class_names=rows.class_names,
        nominal=nominal,
        missing=missing,
        scaling=scaling,
        fill=rows.fill,
        scale=scale,
        metric=chosen.metric,
        reduction=raw.reduction,
        weights=weights,
        rows=chosen.rows,
    )
    rows = rows.scaled(scale)
    if missing == "ppca":
        preparation = replace(preparation, factors=fit_factors(rows.X, encoded.firsts, raw.name))
    if chosen.metric == "gower":
        preparation = preparation.balanced(rows.X)
    summaries = summarize_fitted(found, parts, preparation, holes)
    return with_shares(rows.table(raw.name, replace(preparation, summaries=summaries), missing, summaries))


def _apply(raw: RawTable, roles: Roles, preparation: Preparation, missing: str) -> Table:
    """Make the columns numbers as they were made before."""
    parts = split_like_fitted(raw, roles, preparation)
    classes: tuple[str, ...] = ()
    if parts.target is not None:
        is_fitted = parts.target_name == preparation.target
        classes = (
            with_new_classes(parts.target, preparation.class_names)
            if is_fitted
            else class_names(parts.target)
        )
    differ = preparation.metric == "gower"  # an unknown level is one that no fitted row has
    encoded = encode_columns(
        parts.features, preparation.columns, preparation.nominal, raw.name, unseen_differ=differ
    )
    holes = encoded.missing_counts()
    rows = complete_rows(encoded, parts, classes, missing, raw.name, preparation)
    columns = new_summaries(preparation, parts, holes)
    rows = rows.as_profiles(encoded, preparation.rows)
    return rows.scaled(preparation.scale).table(raw.name, preparation, missing, columns)


def _name_constants(X: Floats, encoded: Encoded, scaling: str) -> None:
    if len(X) == 1:
        notice(
            f"the table has one row, which scaling {scaling!r} makes 0 in every feature. Choose "
            "scaling='none', or preparation=... of the table that it belongs to."
        )
        return
    constant = np.logical_and.reduceat(np.nanmin(X, axis=0) == np.nanmax(X, axis=0), encoded.firsts)
    names = [column.name for column, flag in zip(encoded.columns, constant, strict=True) if flag]
    if names:
        notice(f"constant columns tell no row from another and become 0: {listing(names)}.")


# ---- checks --------------------------------------------------------------------------------------


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
