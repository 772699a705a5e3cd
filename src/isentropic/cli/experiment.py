"""``isentropic experiment``: methods on tables of one's own, judged honestly, with the tests of a paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._core.errors import plural, printable, require, require_count, require_number, require_one_of
from .shared.experiments import RESULTS, Asked, Folder, Minutes, Processes, page_option, run_and_write
from .shared.options import AsJson, Force, Memory, Quiet, RawText, input_path
from .shared.output import inputs_of, require_outputs
from .shared.table_options import Dates, Header, Nominal, Rank, Separator, Target
from .shared.terminal import reporting

if TYPE_CHECKING:
    from ..experiments.own_tables import Study

_PAGE = "experiment.html"

Tables = Annotated[
    Path,
    typer.Argument(
        metavar="TABLES", parser=input_path, help="A folder of tables (CSV, TSV, ...), or one table."
    ),
]
Page = Annotated[Path | None, page_option(_PAGE)]
Names = Annotated[
    str | None,
    typer.Option("--methods", "-m", metavar="A,B", help="Methods; those of the quick preset by default."),
]
ProtocolName = Annotated[
    str,
    typer.Option("--protocol", metavar="NAME", help="honest, or permuted: with labels at random beside it."),
]
Judges = Annotated[
    str | None, typer.Option("--classifiers", metavar="A,B", help="Of KNN, SVM, NB, DT, QDA, MLP, GPC, RFC.")
]
MeasureName = Annotated[
    str, typer.Option("--measure", metavar="NAME", help="Of tables with classes: accuracy or kappa.")
]
Components = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Dimensions of the maps; by default as each method has it."),
]
Defaults = Annotated[
    bool,
    typer.Option("--defaults", help="Parameters as they come; else chosen within the rows that teach."),
]
TestShare = Annotated[float, typer.Option(metavar="X", help="Share of the rows that is held out.")]
Repeats = Annotated[int, typer.Option(metavar="N", help="Splits of each table.")]
Rope = Annotated[
    float,
    typer.Option(metavar="X", min=0, help="Scores that differ by less are level, in the Bayesian test."),
]
Seed = Annotated[int, typer.Option(metavar="N", min=0, help="Of the splits.")]


def main(  # long, with a line for each option
    tables: Tables,
    methods: Names = None,
    protocol: ProtocolName = "honest",
    target: Target = None,
    measure: MeasureName = "accuracy",
    classifiers: Judges = None,
    components: Components = None,
    defaults: Defaults = False,
    repeats: Repeats = 10,
    test_share: TestShare = 0.5,
    seed: Seed = 0,
    rope: Rope = 0.01,
    nominal: Nominal = "coded",
    dates: Dates = "number",
    rank: Rank = None,
    separator: Separator = None,
    header: Header = None,
    out: Page = None,
    force: Force = False,
    raw_text: RawText = False,
    folder: Folder = None,
    jobs: Processes = None,
    minutes: Minutes = None,
    memory: Memory = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Judge methods on tables of your own, on rows that they did not see: means, intervals, ranks, tests.

    The target is the column --target; by default one called target, class or label, else the last. Half of
    the rows are held out; scale, parameters and map come from the others. Tables with classes and tables with
    numbers for a target (R² of k-NN) are ranked apart. A table that cannot be judged is a row with its
    reason. Results are kept as they come, as by 'isentropic reproduce'.

    \b
    Examples:
      isentropic experiment my-tables/ --methods pca,isomap,umap --out page.html
      isentropic experiment my-tables/ --methods lda,supervised-umap --protocol permuted
      isentropic experiment my-tables/ --methods pca,sdd --classifiers KNN,SVM --measure kappa --components 3
    """
    require_count("--repeats", repeats, least=2)
    page = out or Path(_PAGE)
    asked = Asked("", "", page, folder or page.parent / RESULTS, jobs, None, minutes, rope, force, raw_text,
                  out is not None)  # fmt: skip
    _require_outputs(asked, tables, target)
    with reporting(bars=False, memory=memory):
        from ..experiments.own_tables import own_experiment, tables_in

        given = {"methods": methods, "protocol": protocol, "target": target, "measure": measure,
                 "classifiers": classifiers, "components": components, "defaults": defaults,
                 "repeats": repeats, "test-share": test_share, "seed": seed, "rope": rope,
                 "nominal": nominal, "dates": dates, "rank": rank,
                 "separator": separator, "header": header}  # fmt: skip
        study, paths = _study(given), tables_in(tables)
        chosen = {name: _parameters(name, components) for name in _methods(methods)}
        found = own_experiment(paths, chosen, study)
        title = f"{len(chosen) + 1} methods on {plural(len(paths), 'table')}"
        given |= {"raw-text": raw_text}
        asked = replace(asked, title=title, command=_command(tables, given, page))
        tasks = [task for table in found for task in table.tasks(False)]
        run_and_write(found, tasks, asked, quiet=quiet, as_json=as_json)


def _require_outputs(asked: Asked, tables: Path, target: str | None) -> None:
    """Refuse files that could not be written, are among the tables, or would be read as one next time."""
    from .._core.files import are_one_file, real_path
    from ..experiments.own_tables import tables_in
    from ..tables.readers.table_files import kind_of_file

    outputs = asked.outputs
    inputs = [path for table in tables_in(tables) for path in inputs_of(str(table), target)]
    require_outputs(outputs, [tables, *inputs], force=asked.force)
    for output in outputs:
        places = (output.path, real_path(output.path))
        among = any(are_one_file(place.parent, tables) and kind_of_file(place) for place in places)
        hint = f"{output.path.name} beside it would be read as a table next time."
        require(not among, "--out", "in another folder than the tables", str(asked.out), hint)


_DEFAULTS: dict[str, object] = {
    "protocol": "honest", "measure": "accuracy", "repeats": 10, "test-share": 0.5, "seed": 0, "rope": 0.01,
    "nominal": "coded", "dates": "number", "rank": None,
    "separator": None, "header": None, "defaults": False, "raw-text": False,
}  # fmt: skip


_READING = ("nominal", "dates", "rank", "separator", "header")


def _study(given: Mapping[str, Any]) -> Study:
    """How tables are read and judged, from the options; what cannot be is refused."""
    from ..experiments.classifiers import EIGHT
    from ..experiments.own_tables import MEASURES, PROTOCOLS, Study

    require_one_of("--protocol", given["protocol"], PROTOCOLS)
    require_one_of("--measure", given["measure"], MEASURES)
    share = given["test-share"]
    require_number("--test-share", share, "a share between 0 and 1", above=0.0, below=1.0)
    judges = given["classifiers"]
    return Study(
        target=given["target"],
        protocol=given["protocol"],
        measure=given["measure"],
        classifiers=None if judges is None else _listed("--classifiers", judges, EIGHT),
        n_repeats=given["repeats"],
        test_share=share,
        seed=given["seed"],
        choose=not given["defaults"],
        reading={n: given[n] for n in _READING if given[n] != _DEFAULTS[n]},
    )


def _parameters(method: str, components: int | None) -> dict[str, object]:
    """Of a method: the dimension of its map, where it is asked for and the method has one."""
    from ..registry import make

    known = components is not None and "n_components" in make(method).get_params(deep=False)
    return {"n_components": components} if known else {}


def _methods(names: str | None) -> tuple[str, ...]:
    from ..registry import METHODS

    if names is not None:
        return _listed("--methods", names, METHODS)
    from ..comparison.presets import PRESETS, methods_of

    return methods_of(PRESETS["quick"], 1, has_classes=False)


def _listed(option: str, text: str, known: object) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    require(bool(names), option, "names with commas between", text)
    for name in names:
        require_one_of(option, name, known)  # type: ignore[arg-type]
    return names


def _command(tables: Path, given: Mapping[str, object], out: Path) -> str:
    words = ["isentropic", "experiment", quote(str(tables))]
    for name, value in given.items():
        if value is not None and value != _DEFAULTS.get(name):
            flags = {True: [f"--{name}"], False: [f"--no-{name}"]}
            words += flags[value] if isinstance(value, bool) else [f"--{name}", quote(str(value))]
    return printable(" ".join([*words, "--out", quote(str(out))]))
