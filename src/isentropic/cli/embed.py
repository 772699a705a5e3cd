"""``isentropic embed``: a table in, coordinates out."""

from __future__ import annotations

import dataclasses
import inspect
import re
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._core.errors import InvalidInputError, message, require, require_one_of
from ..scale.saved_model import Rows, SavedModel, make_reference_outputs
from .shared.options import AsJson, Jobs, Memory, Out, Plot, Quiet, RawText, Source, output_path
from .shared.output import (
    Files,
    coordinates_frame,
    inputs_of,
    map_outputs,
    require_outputs,
    write_figure,
    write_map,
)
from .shared.partitioned import (
    MODEL,
    Cluster,
    FitRows,
    fit_files,
    is_mapped_in_files,
    layout_of,
    map_files,
    require_files,
    show_files,
)
from .shared.process import computing, prompt_interrupt
from .shared.summary import Summary, facts_of, show_summary
from .shared.table_options import TABLE_DEFAULTS, TableOptions, with_table_options
from .shared.terminal import reporting

if TYPE_CHECKING:
    import pandas as pd

    from .._core.values import Table

MethodName = Annotated[str, typer.Option("--method", "-m", metavar="NAME", help="See 'isentropic methods'.")]
Parameters = Annotated[
    list[str] | None,
    typer.Option("--param", "-p", metavar="KEY=VALUE", help="A parameter of the method; may be repeated."),
]
Save = Annotated[
    Path | None,
    typer.Option(
        metavar="MODEL", parser=output_path, help="Keep the model, for 'isentropic transform' and 'update'."
    ),
]
Seed = Annotated[int | None, typer.Option(metavar="N", help="Seed, where the method draws at random.")]


@with_table_options
def main(
    source: Source,
    method: MethodName,
    out: Out,
    param: Parameters = None,
    save: Save = None,
    plot: Plot = None,
    raw_text: RawText = False,
    table_options: TableOptions = TABLE_DEFAULTS,
    fit_rows: FitRows = None,
    cluster: Cluster = None,
    seed: Seed = None,
    jobs: Jobs = None,
    memory: Memory = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Embed a table: write a few coordinates for each row.

    \b
    Examples:
      isentropic embed builtin:iris --method isomap --out map.csv --plot map.png
      isentropic embed flats.csv -m isomap -p neighbors=radius:0.5 --target price \\
          --out map.parquet --save flats.isentropic
      isentropic embed mixed.csv -m umap --metric gower --out map.csv
      isentropic embed 'flats.xlsx#Sold' -m umap --missing median --dates cycle --out map.csv
      isentropic embed 'big/*.parquet' -m umap --fit-rows auto --out map/
    """
    given = parse_parameters(param or [])
    table_options.require_metric()
    estimator = _build(method, given, seed, jobs, table_options)
    if is_mapped_in_files(source, out):
        model = save or out / MODEL
        require_files(source, out, cluster, fit_rows=fit_rows, save=model, plot=plot, raw_text=raw_text)
        with reporting(bars=not quiet, memory=memory) as warned:
            fit = fit_files(estimator, method, source, table_options, fit_rows, seed, model, out)
            layout = layout_of(table_options)
            found, seconds = map_files(model, source, out, "raise", jobs, cluster, layout)
        show_files(found, seconds, method, warned, fit, quiet=quiet, as_json=as_json)
        return
    for option, value in (("--fit-rows", fit_rows), ("--cluster", cluster)):
        require(value is None, option, "left out for one table", value, "It is for a folder or a pattern.")
    files = Files(out, save, plot)
    require_outputs(map_outputs(out, save, plot), inputs_of(source, table_options.target))
    with reporting(bars=not quiet, memory=memory) as warned:
        with prompt_interrupt():
            table = table_options.load(source, metric=_metric(table_options.metric, given))
        Z, seconds = _fit(method, estimator, table)
        _write(Z, method, estimator, table, files, raw_text=raw_text)
    summary = Summary(method, given, table, Z.shape[1], seconds, files, warned, facts_of(estimator, method))
    show_summary(summary, quiet=quiet, as_json=as_json)


def _metric(metric: str, given: dict[str, Any]) -> str:
    """How the table is read: for a metric that ``--param`` gives, as features, or as distances."""
    if metric != "auto" or "metric" not in given:
        return metric
    return "precomputed" if given["metric"] == "precomputed" else "euclidean"


def _build(
    method: str, given: dict[str, Any], seed: int | None, jobs: int | None, table_options: TableOptions
) -> Any:
    from .._core.errors import require_one_of
    from ..registry import METHODS, make

    require_one_of("--method", method, METHODS)
    missing, metric = table_options.missing, table_options.metric
    if metric not in ("auto", "euclidean"):
        takes_metrics = "metric" in METHODS[method].load()().get_params()
        hint = "It works on columns of numbers: umap, t-sne, isomap and classical-mds take any metric."
        require(takes_metrics, "--metric", f"euclidean for {method}", metric, hint)
        require("metric" not in given, "--metric", "left out where --param gives one", metric)
    elif missing == "keep":
        takes_holes = "missing" in METHODS[method].load()().get_params()
        hint = "probabilistic-pca maps rows with holes."
        require(takes_holes, "--missing", f"raise, drop, median, ppca or mean for {method}", missing, hint)
        given = {"missing": "em", **given}
    return make(method, **with_seed_and_jobs(given, METHODS[method].load(), seed, jobs))


def _fit(method: str, estimator: Any, table: Table) -> tuple[Any, float]:
    """The coordinates, and the seconds that they took."""
    from ..registry import METHODS

    learns = METHODS[method].needs_y  # umap takes classes, too: supervised-umap is the name of that map here
    require(not learns or table.y is not None, "--target", f"given, because {method} learns from it", None)
    must_be, hint = "a table of at least 2 rows", "A map shows rows beside each other."
    require(len(table.X) >= 2, "SOURCE", must_be, len(table.X), hint)
    if table.metric != "euclidean":
        takes_metrics = "metric" in estimator.get_params()
        hint = "It works on columns of numbers: umap, t-sne, isomap and classical-mds take any metric."
        require(takes_metrics, "--metric", f"euclidean for {method}", table.metric, hint)
        estimator.set_params(metric=table.metric)
    began = time.perf_counter()
    with computing(method):
        y = table.y if table.classes is None else table.classes
        Z = estimator.fit_transform(table.X, y if learns else None)
    return Z, time.perf_counter() - began


def _write(Z: Any, method: str, estimator: Any, table: Table, files: Files, *, raw_text: bool) -> None:
    from .._core.files import write_together

    columns = estimator.get_feature_names_out()
    frame = coordinates_frame(Z, columns, table)
    with write_together():
        write_map(frame, columns, files.out, method, table, raw_text=raw_text)
        if files.save is not None:
            reference = make_reference_outputs(estimator, table.X)
            SavedModel(estimator, method, table.preparation, Rows.of(table), reference).write(files.save)
        if files.plot is not None:
            _draw(frame.iloc[:, 1 : 1 + Z.shape[1]], f"{table.name}, {method}", table, files.plot)


def _draw(coordinates: pd.DataFrame, title: str, table: Table, path: Path) -> None:
    import pandas as pd

    from ..plot import scatter
    from ..plot.palette import plain_text

    codes, names = table.sampled_classes or (table.y, ())
    y = None if codes is None else pd.Series(codes, name=table.preparation.target)
    write_figure(scatter(coordinates, y, class_names=names, title=plain_text(title)), path)


# ---- parameters of the method --------------------------------------------------------------------

_WORDS = {"true": True, "false": False, "none": None}
_STAGE = re.compile(r"(?P<name>[A-Za-z_]\w*):(?P<fields>.*\d.*)")


def parse_parameters(items: Iterable[str]) -> dict[str, Any]:
    """``["k=3", "metric=cityblock"]`` as ``{"k": 3, "metric": "cityblock"}``."""
    parameters: dict[str, Any] = {}
    for item in items:
        name, equals, text = item.partition("=")
        require(bool(name and equals), "-p", "key=value", item, "For instance: -p n_neighbors=15.")
        require(name not in parameters, "-p", f"given once for {name}", item)
        parameters[name] = _stage(name, text) if _STAGE.fullmatch(text) else parse_value(text)
    return parameters


def parse_value(text: str) -> Any:
    """``true``, ``false`` and ``none``, integers, floats, several of them; anything else is text."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    numbers = [parse_value(part) for part in text.split(",")] if "," in text else []
    if numbers and all(type(number) in (int, float) for number in numbers):
        return tuple(numbers)
    return text


def _stage(parameter: str, text: str) -> Any:
    from .._core.values import STAGES

    name, _, fields = text.partition(":")
    require_one_of(parameter, name, STAGES, "For instance: radius:0.5 or knn:15,approximate=false.")
    choice = STAGES[name]
    known = [field.name for field in dataclasses.fields(choice)]
    values = {}
    for position, item in enumerate(fields.split(",")):
        key, equals, value = item.partition("=")
        if not equals:
            key, value = known[0], item
            if position > 0:
                raise InvalidInputError(message(parameter, "name:first,field=value", text))
        require_one_of(f"field of {name}", key, known)
        values[key] = parse_value(value)
    for field in dataclasses.fields(choice):
        if field.default is dataclasses.MISSING and field.name not in values:
            raise InvalidInputError(f"{parameter}={text} needs a value for {field.name}: {name}:VALUE.")
    return choice(**values)


def with_seed_and_jobs(
    parameters: Mapping[str, Any], estimator: type, seed: int | None, jobs: int | None
) -> dict[str, Any]:
    """Add ``random_state`` and ``n_jobs`` where the method has them."""
    accepted = inspect.signature(estimator).parameters
    merged = dict(parameters)
    for option, name, value in (("--seed", "random_state", seed), ("--jobs", "n_jobs", jobs)):
        if value is None or name not in accepted:
            continue
        require(name not in merged, option, f"left out where -p {name} is given", value)
        merged[name] = value
    return merged
