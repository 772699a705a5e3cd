"""Metamorphic tests on 12 real tables: harmless changes must not make the report's answer worse.

``python -m benchmarks.metamorphic`` applies every change of :mod:`benchmarks.table_changes` to every table
and prints the answers that got worse; ``--names`` and ``--changes`` choose some. Answers are stored in the
data folder for each table, change and state of the source code, so a run can go on.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from .guide_tables import markdown
from .real_tables import Place, source_hash
from .report_answers import (
    Answer,
    as_json,
    border_changes,
    changes_for_the_worse,
    from_json,
    report_in_process,
)
from .runner import _day, _keep
from .table_changes import CHANGES, UNRELATED, changed_table

# Small ones of every kind, of the half by which rules are chosen.
NAMES = (
    "iris",
    "crabs",
    "boston",
    "diabetes",
    "hitters",
    "breast cancer",
    "cars93",
    "msleep",
    "birthwt",
    "elnino",
    "votes",
    "tissues",
)
ALL_CHANGES = (*CHANGES, UNRELATED)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One change of one table."""

    table: str
    change: str
    before: Answer
    after: Answer

    @property
    def worse(self) -> list[str]:
        """What breaks the law; empty if it holds."""
        if self.change != UNRELATED:
            return changes_for_the_worse(self.before, self.after)
        return [] if self.after.unrelated else [f"not called unrelated: {self.after}"]

    @property
    def remarks(self) -> list[str]:
        return [] if self.change == UNRELATED else border_changes(self.before, self.after)


def answer(name: str, change: str | None, at: Place) -> Answer:
    """Answer for a table after a change (None: as it is), from the store if it is there."""
    stored = at.results(name) / f"answer after {change}.json"
    if stored.exists():
        return from_json(json.loads(stored.read_text(encoding="utf-8")))
    frame = pd.read_csv(at.table(name))
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "table.csv"
        (frame if change is None else changed_table(frame, change)).to_csv(path, index=False)
        found = report_in_process(path, ["--preset", at.preset], Path(folder) / "page.html")
    stored.write_text(json.dumps(as_json(found)), encoding="utf-8")
    return found


def outcomes(names: Sequence[str], changes: Sequence[str], at: Place) -> list[Outcome]:
    done = []
    for name in names:
        before = answer(name, None, at)
        print(f"{name}: {before}", flush=True)
        for change in changes:
            outcome = Outcome(name, change, before, answer(name, change, at))
            done.append(outcome)
            for line in outcome.worse:
                print(f"  WORSE after {change}: {line}", flush=True)
            for line in outcome.remarks:
                print(f"  after {change}: {line}", flush=True)
    return done


def summary(done: Sequence[Outcome]) -> str:
    """Of each change, on how many tables the answer is not worse, and where it is."""
    rows = []
    for change in dict.fromkeys(outcome.change for outcome in done):
        own = [outcome for outcome in done if outcome.change == change]
        broken = [outcome.table for outcome in own if outcome.worse]
        rows.append([change, f"{len(own) - len(broken)} of {len(own)}", ", ".join(broken)])
    return markdown(["change", "not worse", "worse on"], rows)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.metamorphic", description=__doc__)
    parser.add_argument("--names", default=",".join(NAMES))
    parser.add_argument("--changes", default=",".join(ALL_CHANGES))
    parser.add_argument("--preset", default="quick")
    parser.add_argument("--folder", type=Path, default=Path("/tmp/real"), help="of real_tables_data.py")
    parser.add_argument("--write", action="store_true", help="put the table into RESULTS.md")
    asked = parser.parse_args(arguments)
    at = Place(asked.folder, asked.preset, source_hash())
    done = outcomes(asked.names.split(","), asked.changes.split(","), at)
    text = f"\n{summary(done)}\n"
    print(text)
    if asked.write:
        title = f"preset {asked.preset}"
        heading = "Changes of a table that must not make the answer of `isentropic report` worse."
        _keep("benchmarks.metamorphic", heading, [title], title, f"**{title}** ({_day()})\n{text}")


if __name__ == "__main__":
    main()
