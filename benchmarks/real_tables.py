"""Judge ``isentropic report`` on real tables with known structure, as an analyst meets it: no options.

The held-out columns are absent. The map that the report recommends (or shows, where it recommends none) is
compared with the two maps that anyone would make first, PCA and UMAP with defaults on standardised one-hot
columns: which of them tells most about what was held out (:mod:`benchmarks.recovered`). The groups that
the report finds are compared with what someone who knows the data expects.

``python -m benchmarks.real_tables --half chooses`` goes on from what is there: results are stored in the data
folder for each table and state of the source code. ``--write`` puts the table into RESULTS.md.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import resource
import signal
import subprocess
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from .guide_tables import markdown
from .real_tables_data import TABLES, RealTable, chooses
from .recovered import FIRST_MAPS, chance, is_clearly_below, known_elsewhere, plain_numbers, recovered
from .report_answers import Answer, failed, from_json, is_below_fair, promises_neighbors, read_answer
from .runner import RESULTS, _day, _keep

LEAST = 0.1  # above chance: of less, nothing of what is known is in the columns
TOLERANCE = 0.02  # of structure recovered: maps that differ by less are equally good
_ROOT = RESULTS.parents[1]
# Threads that spin while they wait count the load of the machine as CPU seconds of the report.
_ENVIRONMENT = {**os.environ, "OMP_WAIT_POLICY": "PASSIVE"}
_HEADLINE = 120  # characters of a headline in the printed table


@dataclass(frozen=True, slots=True)
class Result:
    """One table: what the report answers, and how much each map recovers."""

    name: str
    half: str
    kind: str
    shape: tuple[int, int]
    groups_expected: bool | None
    answer: Answer
    recovered: dict[str, float] = field(default_factory=dict)  # by each map, and by all columns
    of_methods: dict[str, float] = field(default_factory=dict)  # by every map of the report
    clearly_below: tuple[str, ...] = ()  # first maps that recover more than the report's, in a bootstrap
    cpu_seconds: float = math.nan
    commit: str = ""

    @property
    def is_at_least_as_good(self) -> bool | None:
        """As PCA and UMAP, within the tolerance; None where nothing is known."""
        first = [self.recovered[name] for name in FIRST_MAPS if name in self.recovered]
        if not first or math.isnan(first[0]):
            return None
        return self.recovered.get("report", -math.inf) >= max(first) - TOLERANCE


# ---- one table -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Place:
    """Where the tables lie, and where results of this state of the source code are stored."""

    folder: Path
    preset: str
    source: str  # hash of the source code

    def table(self, name: str) -> Path:
        return self.folder / "tables" / f"{name}.csv"

    def known(self, name: str) -> pd.DataFrame:
        path = self.folder / "tables" / f"{name}-known.csv"
        try:
            return pd.read_csv(path)
        except pd.errors.EmptyDataError:  # nothing is held out
            return pd.DataFrame()

    def results(self, name: str) -> Path:
        path = self.folder / "results" / f"{self.preset}-{self.source}" / name
        path.mkdir(parents=True, exist_ok=True)
        return path


def judge(table: RealTable, at: Place, limit: float) -> Result:
    """Result of one table; the report and the first maps are taken from the store if they are there."""
    frame = pd.read_csv(at.table(table.name))
    run = stored_run(table.name, at, limit)
    maps = compared_maps(table, at, frame, run.answer)
    entity = None if table.entity is None else frame[table.entity]
    known = known_elsewhere(at.known(table.name), entity)
    facts = {name: _facts(Z, known, entity) for name, Z in maps.items()}
    scores = {name: recovered(Z.to_numpy(), *facts[name]) for name, Z in maps.items()}
    scores["chance"] = chance(known)
    below: list[str] = []
    of_methods: dict[str, float] = {}
    if "report" in maps:
        own = maps["report"]
        all_maps = report_maps(at.results(table.name) / "maps.csv", frame)
        of_methods = {name: recovered(Z.to_numpy(), *facts["report"]) for name, Z in all_maps.items()}
        for name in FIRST_MAPS:
            rival = maps[name].loc[own.index].to_numpy()
            below += [name] * is_clearly_below(own.to_numpy(), rival, *facts["report"])
    return Result(
        table.name, half_of(table), table.kind, frame.shape, table.groups, run.answer, scores, of_methods,
        tuple(below), run.cpu_seconds, run.commit,
    )  # fmt: skip


def _facts(
    Z: pd.DataFrame, known: pd.DataFrame, entity: pd.Series | None
) -> tuple[pd.DataFrame, pd.Series | None]:
    """What is known of the rows of a map, which may be fewer than those of the table."""
    return known.reindex(Z.index), None if entity is None else entity.loc[Z.index]


@dataclass(frozen=True, slots=True)
class Run:
    """One report: its answer, what it took, and of which state of the code."""

    answer: Answer
    cpu_seconds: float
    limit: float  # CPU seconds after which it is stopped
    commit: str


def stored_run(name: str, at: Place, limit: float) -> Run:
    """The report of a table, run once for each state of the code; again if it was stopped too early."""
    stored = at.results(name) / "run.json"
    if stored.exists():
        found = json.loads(stored.read_text(encoding="utf-8"))
        run = Run(**{**found, "answer": from_json(found["answer"])})
        if not (run.answer.failure.startswith("stopped") and limit > run.limit):
            return run
    answer, cpu = run_report(at.table(name), at.results(name), at.preset, limit)
    run = Run(answer, cpu, limit, _commit())
    stored.write_text(json.dumps(asdict(run), indent=1), encoding="utf-8")
    return run


def run_report(table: Path, into: Path, preset: str, limit: float) -> tuple[Answer, float]:
    """Answer and CPU seconds of a report in a process of its own; page and maps stay in the folder."""
    outputs = ["--out", str(into / "page.html"), "--maps", str(into / "maps.csv"), "--force"]
    options = ["--preset", preset, "--json", *outputs]
    command = [sys.executable, "-m", "isentropic", "report", str(table), *options]

    def hold() -> None:
        if math.isfinite(limit):
            resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit), math.ceil(limit) + 5))

    before = _cpu_of_children()
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=_ROOT, env=_ENVIRONMENT, preexec_fn=hold
    )
    cpu = _cpu_of_children() - before
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return failed(f"stopped after {cpu:.0f} CPU s"), cpu
    if done.returncode != 0:
        return failed(done.stderr), cpu
    (into / "report.json").write_text(done.stdout, encoding="utf-8")
    return read_answer(json.loads(done.stdout)), cpu


def compared_maps(
    table: RealTable, at: Place, frame: pd.DataFrame, answer: Answer
) -> dict[str, pd.DataFrame]:
    """Coordinates by row number: of the report's map, of the first maps, and the columns themselves."""
    stored = at.results(table.name) / "first_maps.npz"
    X = plain_numbers(frame, table.names)
    if not stored.exists():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            np.savez(stored, **{name: make(X) for name, make in FIRST_MAPS.items()})
    with np.load(stored) as arrays:
        maps = {name: pd.DataFrame(arrays[name]) for name in FIRST_MAPS}
    if not answer.failure:
        of_report = report_maps(at.results(table.name) / "maps.csv", frame)
        maps["report"] = of_report.get(answer.shown, next(iter(of_report.values())))  # it stands first
    return {**maps, "columns": pd.DataFrame(X)}


def report_maps(maps: Path, frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Coordinates in the file of ``--maps``: of each method, by row number of the table."""
    found = pd.read_csv(maps)
    rows = found.iloc[:, 0]
    if len(found) == len(frame):
        rows = frame.index
    elif not pd.api.types.is_integer_dtype(rows):  # rows were dropped: find them by their names
        named = next(column for column in frame if set(rows) <= set(frame[column]))
        rows = pd.Index(frame[named]).get_indexer(rows)
    methods = [column[:-2] for column in found if column.endswith("_0") and f"{column[:-2]}_1" in found]
    return {
        method: pd.DataFrame(found[[f"{method}_0", f"{method}_1"]].to_numpy(float), index=list(rows))
        for method in methods
    }


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


# ---- stored results ------------------------------------------------------------------------------


def source_hash() -> str:
    """Hash of the package that runs: equal for equal code, whatever the commit."""
    import isentropic

    package = Path(isentropic.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        digest.update(str(path.relative_to(package)).encode() + path.read_bytes())
    return digest.hexdigest()[:10]


def _commit() -> str:
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False, cwd=_ROOT
    )
    return done.stdout.strip()


def half_of(table: RealTable) -> str:
    return "chooses" if chooses(table) else "judges"


def pick(half: str, names: str | None, at: Place) -> list[RealTable]:
    """Tables of a half, or those that are named, the smallest file first."""
    wanted = None if names is None else {name.strip() for name in names.split(",")}
    unknown = (wanted or set()) - {table.name for table in TABLES}
    if unknown:
        raise SystemExit(f"--names must be tables of real_tables_data.py, got {', '.join(sorted(unknown))}.")
    picked = [
        table for table in TABLES if (table.name in wanted if wanted else half in ("all", half_of(table)))
    ]
    return sorted(picked, key=lambda table: at.table(table.name).stat().st_size)


# ---- what is printed -----------------------------------------------------------------------------

_HEAD = ["table", "kind", "rows x columns", "map", "neighbors", "distances", "groups", "expected",
         "report", "PCA", "UMAP", "", "best map of the report", "columns", "CPU s", "headline"]  # fmt: skip


def results_table(results: Sequence[Result]) -> str:
    return markdown(_HEAD, [_line(result) for result in results])


def _line(result: Result) -> list[str]:
    answer, scores = result.answer, result.recovered
    method = answer.recommended or (f"({answer.shown})" if answer.shown else "none")
    mark = {None: "", True: "as good", False: "below"}[result.is_at_least_as_good]
    mark = f"clearly {mark}" if mark == "below" and result.clearly_below else mark
    expected = {None: "either", True: "yes", False: "no"}[result.groups_expected]
    told = f"failed: {answer.failure}" if answer.failure else answer.headline
    numbers = [_number(scores.get(name)) for name in ("report", *FIRST_MAPS)]
    return [
        result.name, result.kind, "{} x {}".format(*result.shape), method, str(answer.neighbors),
        str(answer.distances), answer.groups, expected, *numbers, mark, _best(result.of_methods),
        _number(scores.get("columns")), f"{result.cpu_seconds:.0f}", told[:_HEADLINE].replace("|", "/"),
    ]  # fmt: skip


def _best(of_methods: dict[str, float]) -> str:
    known = {name: value for name, value in of_methods.items() if not math.isnan(value)}
    return f"{max(known, key=known.__getitem__)} {max(known.values()):.2f}" if known else "–"


def _number(value: float | None) -> str:
    return "–" if value is None or math.isnan(value) else f"{value:.2f}"


def summary(results: Sequence[Result]) -> str:
    """How often the map is as good as the first maps, and how often the answer is wrong."""
    judged = [result for result in results if result.is_at_least_as_good is not None]
    below = [result.name for result in judged if not result.is_at_least_as_good]
    hidden = [r.name for r in judged if r.recovered["columns"] < r.recovered["chance"] + LEAST]
    counts = {
        f"what is known is hardly in the columns (less than {LEAST} above chance)": hidden,
        "clearly below one of them (bootstrap)": [r.name for r in judged if r.clearly_below],
        "groups found where none are expected": _with_groups(results, "yes", False),
        "no groups found where some are expected": _with_groups(results, "no", True),
        'maps below fair under "Use ... to see which rows are alike"': [
            r.name for r in results if promises_neighbors(r.answer) and is_below_fair(r.answer.neighbors)
        ],
        "no map recommended": [r.name for r in results if not r.answer.failure and not r.answer.recommended],
        "failed": [r.name for r in results if r.answer.failure],
    }
    first = (
        f"The report's map recovers at least as much as PCA and UMAP (within {TOLERANCE}) on "
        f"{len(judged) - len(below)} of {len(judged)} tables"
    )
    lines = [first + (f"; below on {', '.join(below)}." if below else ".")]
    lines += [f"{what}: {len(names)}{_listed(names)}" for what, names in counts.items()]
    lines.append(f"CPU seconds in all: {sum(result.cpu_seconds for result in results):.0f}")
    return "\n".join(f"- {line}" for line in lines)


def _with_groups(results: Sequence[Result], level: str, expected: bool) -> list[str]:
    return [
        r.name
        for r in results
        if not r.answer.failure and r.answer.groups == level and r.groups_expected is expected
    ]


def _listed(names: Sequence[str]) -> str:
    return f" ({', '.join(names)})" if names else ""


def judge_all(tables: Sequence[RealTable], at: Place, limit: float) -> Iterator[Result]:
    for table in tables:
        result = judge(table, at, limit)
        scores = ", ".join(f"{name} {_number(value)}" for name, value in result.recovered.items())
        print(f"{table.name}: {result.answer}; {scores}; {result.cpu_seconds:.0f} CPU s", file=sys.stderr)
        yield result


_HEADING = (
    "The map of `isentropic report` without options against PCA and UMAP with defaults: balanced accuracy or "
    "rank correlation of held-out columns by the 10 nearest points, each row left out in turn. "
    '"Best map": the method of the report that recovers most. "Columns": the same in all columns at once, '
    "standardised. Brackets: shown, not recommended."
)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.real_tables", description=__doc__)
    parser.add_argument("--half", choices=["chooses", "judges", "all"], default="chooses")
    parser.add_argument("--names", help="tables, with commas between; instead of --half")
    parser.add_argument("--preset", default="quick")
    parser.add_argument("--folder", type=Path, default=Path("/tmp/real"), help="of real_tables_data.py")
    parser.add_argument("--limit", type=float, default=math.inf, help="CPU seconds for one report")
    parser.add_argument("--json", type=Path, help="file for all results")
    parser.add_argument("--write", action="store_true", help="put the table of a half into RESULTS.md")
    asked = parser.parse_args(arguments)
    at = Place(asked.folder, asked.preset, source_hash())
    tables = pick(asked.half, asked.names, at)
    order = [table.name for table in TABLES]
    results = sorted(judge_all(tables, at, asked.limit), key=lambda result: order.index(result.name))
    text = f"{results_table(results)}\n\n{summary(results)}\n"
    print(text)
    if asked.json:
        asked.json.write_text(json.dumps([asdict(r) for r in results], indent=1), encoding="utf-8")
    if asked.write and asked.names is None:
        title = f"{asked.half}, preset {asked.preset}"
        halves = ("chooses", "judges", "all")
        known = [f"{half}, preset {preset}" for preset in ("quick", "standard") for half in halves]
        dated = f"**{title}** ({_day()}, {_commit()})\n\n{text}"
        _keep("benchmarks.real_tables", _HEADING, known, title, dated)


if __name__ == "__main__":
    main()
