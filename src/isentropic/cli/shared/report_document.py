"""What a report says of itself: command, versions, seconds; and the document for programs."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from ... import __version__
from ..._core.errors import printable
from .table_options import TABLE_DEFAULTS

if TYPE_CHECKING:
    from ..._core.values import Integers, Table
    from ...comparison import LabelTest, PageData, Preset, RowDiagnostics, Run, Verdict
    from ...comparison.method_comparison import Comparison
    from ...quality import SharedNeighbors

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba")
_DEFAULTS = {**TABLE_DEFAULTS.by_option(), "seed": 0}


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """What the reader said on the command line."""

    source: str
    out: Path
    maps: Path | None
    folder: Path | None
    options: Mapping[str, Any]
    preset: str
    by_preset: bool  # whether the methods are those of the preset
    seed: int
    raw_text: bool = False  # cells of the maps as they are, formulas included

    @property
    def command(self) -> str:
        """The command that repeats the report."""
        words = ["isentropic", "report", quote(self.source)]
        for name, value in self.options.items():
            if value is None or value == _DEFAULTS.get(name):
                continue
            if isinstance(value, bool):
                words.append(f"--{name}" if value else f"--no-{name}")
                continue
            for item in value if isinstance(value, list) else [value]:
                words += [f"--{name}", quote(str(item))]
        return printable(" ".join([*words, "--out", quote(str(self.out))]))


def facts_of(
    table: Table,
    compared: Comparison,
    request: ReportRequest,
    seconds: float,
    resumed: int,
    warned: Sequence[str],
) -> dict[str, Any]:
    """Plain data about the report, for the page and for programs."""
    from datetime import UTC, datetime

    from ...comparison import PRESETS, intrinsic_dimension
    from ...distances import metric_name

    found = intrinsic_dimension(table.X, metric=table.metric)
    preset = PRESETS[request.preset]
    return {
        "command": request.command,
        "versions": versions(),
        "seconds": round(seconds, 3),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "preset": request.preset if request.by_preset else None,
        "preset_text": preset.text if request.by_preset else _asked_for(preset),
        "seed": request.seed,
        "n_seeds": preset.n_seeds,
        "rows": len(table.X),
        "compared_rows": len(table.X) if compared.rows is None else len(compared.rows),
        "notes": list(compared.notes),
        "features": len(table.feature_names),
        "columns": [asdict(column) for column in table.columns],
        "scaling": table.scaling,
        "metric": metric_name(table.metric),
        "dimensions": {
            "maximum likelihood": found.maximum_likelihood,
            "two nearest neighbours": found.two_nearest,
        },
        "warnings": list(warned),
        "how_to_misread": _misreadings(compared.runs),
        "resumed": resumed,
    }


def _asked_for(preset: Preset) -> str:
    how = "tuned" if preset.tune else "as they come,"
    return f"the methods asked for, {how} as by the preset {preset.name}"


def _misreadings(runs: Sequence[Run]) -> dict[str, str]:
    from ...registry import METHODS, family_of

    return {run.method: family_of(METHODS[run.method]).misread for run in runs if run.method in METHODS}


def versions() -> dict[str, str]:
    """Of ours, of Python, and of the libraries that numbers depend on."""
    from importlib.metadata import version

    libraries = {name: version(name) for name in _LIBRARIES}
    return {"isentropic": __version__, "python": platform.python_version(), **libraries}


# ---- for programs ------------------------------------------------------------------------------


def document(
    table: Table,
    compared: Comparison,
    judged: Verdict,
    drawn: PageData,
    facts: Mapping[str, Any],
    request: ReportRequest,
) -> dict[str, Any]:
    """Everything but the maps, which the page and the folder hold."""
    runs, full_run = compared.runs, compared.full_run
    return {
        "table": table.name,
        **facts,
        "out": str(request.out),
        **({} if request.maps is None or judged.shown is None else {"maps": str(request.maps)}),
        **({} if request.folder is None else {"folder": str(request.folder)}),
        "verdict": {
            **asdict(judged),
            "headline": judged.headline,
            "recommended": _name(runs, judged.recommended),
            "shown": _name(runs, judged.shown),
            "worthless": list(judged.worthless),
            "effects_of_labels": list(judged.effects),
            "lines": list(judged.lines),
        },
        "groups": _of_groups(drawn, compared.rows),
        "agreed": None if drawn.agreed is None else _of_agreed(drawn.agreed),
        "runs": [_of_run(run) for run in runs],
        "whole": None if full_run is None else _of_run(full_run),
    }


def _name(runs: Sequence[Run], position: int | None) -> str | None:
    return None if position is None else runs[position].method


def _of_groups(drawn: PageData, sample: Integers | None) -> list[dict[str, Any]]:
    """The groups found in the shown map; their rows count those of the table."""
    if drawn.groups is None:
        return []
    found: list[dict[str, Any]] = drawn.groups.to_json()["groups"]
    rows = drawn.rows if sample is None else sample[drawn.rows]
    return [{**group, "rows": rows[group["rows"]].tolist()} for group in found]


def _of_agreed(agreed: SharedNeighbors) -> dict[str, Any]:
    """What all trusted maps show: shares of neighbours, and pairs of rows."""
    return {
        "n_maps": agreed.n_maps,
        "n_neighbors": agreed.n_neighbors,
        "share": float(agreed.shares.mean()),
        "n_pairs": len(agreed.pairs),
    }


def _of_rows(trust: RowDiagnostics) -> dict[str, Any]:
    """In numbers; row by row they are in the folder."""
    unsteady = trust.unsteady
    return {
        "by_chance": trust.by_chance,
        "doubtful": trust.doubtful_share,
        "jumping": trust.jumping_share,
        "n_walked": 0 if trust.walked is None else len(trust.walked),
        "unsteady": None if unsteady is None else float(unsteady.mean()),
    }


def _of_test(test: LabelTest) -> dict[str, Any]:
    return {**test.to_fields(), "p": test.p, "effect_of_labels": test.reached}


def _of_run(run: Run) -> dict[str, Any]:
    measures = {} if run.quality is None else run.quality.measures
    return {
        "method": run.method,
        "params": dict(run.params),
        "seed": run.seed,
        "seconds": run.seconds,
        "memory_mib": run.memory_mib,
        "reason": run.reason,
        "criterion": run.criterion,
        "trials": [asdict(trial) for trial in run.trials],
        "repeats": [dict(repeat) for repeat in run.repeats],
        "baseline": {name: list(values) for name, values in run.baseline.items()},
        "accuracy": run.accuracy,
        "data_accuracy": run.data_accuracy,
        "classifiers": {name: list(values) for name, values in run.classifiers.items()},
        "saw_classes": run.saw_classes,
        "label_test": None if run.label_test is None else _of_test(run.label_test),
        "relation": run.relation,
        "row_diagnostics": None if run.row_diagnostics is None else _of_rows(run.row_diagnostics),
        "measures": {name: {"value": m.value, "low": m.low, "high": m.high} for name, m in measures.items()},
        "warnings": list(run.warnings),
        "n_placed": run.n_placed,
    }
