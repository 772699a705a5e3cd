"""``isentropic experiment``: methods on tables of one's own, judged honestly, with the tests of a paper."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from .._errors import printable, require, require_count, require_one_of
from ._experiments import RESULTS, Asked, Folder, Minutes, Page, Processes, require_place, run_and_write
from ._options import AsJson, Memory, Quiet, Target
from ._terminal import reporting

Tables = Annotated[
    Path, typer.Argument(metavar="TABLES", help="A folder of tables (CSV, TSV, ...), or one table.")
]
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
    classifiers: Judges = None,
    repeats: Repeats = 10,
    seed: Seed = 0,
    rope: Rope = 0.01,
    out: Page = Path("experiment.html"),
    folder: Folder = None,
    jobs: Processes = None,
    minutes: Minutes = None,
    memory: Memory = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Judge methods on tables of your own, on rows that they did not see: means, intervals, ranks, tests.

    The target is the column --target; by default one called target, class or label, else the last. Half of
    the rows are held out; scale, parameters and map come from the others. A table that cannot be judged is a
    row with its reason. Results are kept as they come, as by 'isentropic reproduce'.

    \b
    Examples:
      isentropic experiment my-tables/ --methods pca,isomap,umap --out page.html
      isentropic experiment my-tables/ --methods lda,supervised-umap --protocol permuted
    """
    require_place(out)
    require_count("--repeats", repeats, least=2)
    with reporting(bars=False, memory=memory):
        from ..experiments.battery import EIGHT
        from ..experiments.own_tables import PROTOCOLS, own_experiment, tables_in

        require_one_of("--protocol", protocol, PROTOCOLS)
        judges = None if classifiers is None else _listed("--classifiers", classifiers, EIGHT)
        paths = tables_in(tables)
        chosen: dict[str, dict[str, object]] = {name: {} for name in _methods(methods)}
        table = own_experiment(
            paths, chosen, target=target, protocol=protocol, classifiers=judges,
            n_repeats=repeats, seed=seed,
        )  # fmt: skip
        given = {"methods": methods, "protocol": protocol, "target": target, "classifiers": classifiers,
                 "repeats": repeats, "seed": seed, "rope": rope}  # fmt: skip
        command = _command(tables, given, out)
        asked = Asked(table.title, command, out, folder or out.parent / RESULTS, jobs, None, minutes, rope)
        run_and_write([table], table.tasks(False), asked, quiet=quiet, as_json=as_json)


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
    defaults = {"protocol": "honest", "repeats": 10, "seed": 0, "rope": 0.01}
    words = ["isentropic", "experiment", quote(str(tables))]
    for name, value in given.items():
        if value is not None and value != defaults.get(name):
            words += [f"--{name}", quote(str(value))]
    return printable(" ".join([*words, "--out", quote(str(out))]))
