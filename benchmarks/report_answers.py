"""What ``isentropic report --json`` answers about a table, in grades that can be compared.

Two answers have an order: a change for the worse is a lower grade, groups where none were found, a
recommendation that is lost, or a report that fails.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

LEVELS = ("chance", "poor", "fair", "good")  # from worst to best
BORDER = 0.05  # good and fair whose values differ by at most this are the same grade


@dataclass(frozen=True, slots=True)
class Grade:
    """Level of one question about a map, and the number behind it."""

    level: str = ""  # one of LEVELS; empty: no map, or not measured
    value: float = math.nan

    def __str__(self) -> str:
        return "–" if not self.level else f"{self.level} {self.value:.2f}"


@dataclass(frozen=True, slots=True)
class Answer:
    """First screen of a report: headline, map, both grades, groups."""

    headline: str = ""
    recommended: str = ""  # method; empty: no map is recommended
    shown: str = ""  # method of the map that stands first
    neighbors: Grade = Grade()
    distances: Grade = Grade()
    groups: str = "not tested"  # yes, no, not tested
    unrelated: bool = False  # says that the columns are unrelated
    failure: str = ""  # the error message of a report that failed

    def __str__(self) -> str:
        if self.failure:
            return f"failed: {self.failure}"
        said = "unrelated columns" if self.unrelated else f"groups {self.groups}"
        grades = f"neighbors {self.neighbors}, distances {self.distances}"
        return f"{self.recommended or 'none'} ({grades}, {said})"


def failed(message: str) -> Answer:
    """Answer of a report that failed: the last line of what it printed."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return Answer(failure=lines[-1] if lines else "no message")


def read_answer(document: Mapping[str, Any]) -> Answer:
    """Answer in the JSON of a report; tolerates verdicts with and without grades."""
    verdict = document["verdict"]
    shown = str(verdict.get("shown") or verdict.get("recommended") or "")
    neighbors, distances = _grades(verdict, shown)
    return Answer(
        headline=" ".join(str(verdict.get(part) or "") for part in _headline_parts(verdict)).strip(),
        recommended=str(verdict.get("recommended") or ""),
        shown=shown,
        neighbors=neighbors,
        distances=distances,
        groups=_groups(document),
        unrelated=_says_unrelated(verdict),
    )


def _headline_parts(verdict: Mapping[str, Any]) -> tuple[str, ...]:
    return ("headline",) if verdict.get("headline") else ("use", "caution")


def _grades(verdict: Mapping[str, Any], shown: str) -> tuple[Grade, Grade]:
    for rating in verdict.get("ratings") or ():
        if rating.get("method") == shown:
            return _grade(rating.get("neighbors")), _grade(rating.get("distances"))
    for standing in verdict.get("standings") or ():
        if standing.get("method") == shown:
            return _kept(standing, "local", "local"), _kept(standing, "global", "overall")
    return Grade(), Grade()


def _grade(found: Mapping[str, Any] | None) -> Grade:
    if not found or found.get("level") is None:
        return Grade()
    level, value = str(found["level"]).lower(), found.get("value")
    level = "chance" if "chance" in level or level in ("no", "none") else level
    if level not in LEVELS:
        raise ValueError(f"a grade must be one of {', '.join(LEVELS)}, got {level!r}")
    return Grade(level, math.nan if value is None else float(value))


def _kept(standing: Mapping[str, Any], part: str, number: str) -> Grade:
    """Verdicts without grades say only whether a map keeps a part: fair if so, poor if not."""
    value = standing.get(number)
    level = "fair" if standing.get("keeps") in (part, "both") else "poor"
    level = "chance" if standing.get("worthless") else level
    return Grade(level, math.nan if value is None else float(value))


def _groups(document: Mapping[str, Any]) -> str:
    found = document["verdict"].get("groups")
    if isinstance(found, Mapping):
        return str(found.get("level") or "not tested")
    return "yes" if document.get("groups") else "no"


def _says_unrelated(verdict: Mapping[str, Any]) -> bool:
    """Whether the verdict itself, not a line about some method, calls the columns unrelated."""
    parts = [verdict.get(part) for part in ("headline", "use", "caution")]
    for several in ("shows", "caveats"):
        items = verdict.get(several) or ()
        parts += [item.get("text") if isinstance(item, Mapping) else item for item in items]
    return bool(verdict.get("unrelated")) or any("unrelated" in str(part) for part in parts if part)


def promises_neighbors(answer: Answer) -> bool:
    """Whether the headline sends the reader to the map to see which rows are alike."""
    return answer.headline.startswith("Use ") and " alike" in answer.headline


def is_below_fair(grade: Grade) -> bool:
    return grade.level in ("chance", "poor")


# ---- order ---------------------------------------------------------------------------------------


def changes_for_the_worse(before: Answer, after: Answer) -> list[str]:
    """What is worse after a change of the table that should not matter; empty if nothing is."""
    if after.failure:
        return [] if before.failure else [f"the report fails: {after.failure}"]
    worse = []
    if before.recommended and not after.recommended:
        worse.append(f"no map is recommended any more, was {before.recommended}")
    if after.unrelated and not before.unrelated:
        worse.append("the columns are called unrelated")
    if after.groups == "yes" and before.groups == "no":
        worse.append("groups are found where there were none")
    for question, other in (("neighbors", "distances"), ("distances", "neighbors")):
        old, new = getattr(before, question), getattr(after, question)
        if (
            _steps_down(old, new)
            and not is_border(old, new)
            and not _is_trade(before, after, question, other)
        ):
            worse.append(f"{question} {old} -> {new}")
    return worse


def _is_trade(before: Answer, after: Answer, question: str, other: str) -> bool:
    """Whether another map, about as useful, is fair where the first was good, and better otherwise.

    Of maps that are the same in practice a small change of the table may recommend any.
    """
    fell = (getattr(before, question).level, getattr(after, question).level)
    rose = getattr(after, other).value > getattr(before, other).value
    return before.recommended != after.recommended and fell == ("good", "fair") and rose


def border_changes(before: Answer, after: Answer) -> list[str]:
    """Grades that fell from good to fair by a small number, and groups that are no longer found."""
    seen = [
        f"border: {question} {old} -> {new}"
        for question in ("neighbors", "distances")
        for old, new in [(getattr(before, question), getattr(after, question))]
        if _steps_down(old, new) and is_border(old, new)
    ]
    lost = before.groups == "yes" and after.groups == "no"
    return [*seen, *(["groups are no longer found"] if lost else [])]


def _steps_down(old: Grade, new: Grade) -> bool:
    return bool(old.level and new.level) and LEVELS.index(new.level) < LEVELS.index(old.level)


def is_border(old: Grade, new: Grade) -> bool:
    """Whether two grades are good and fair by a small difference."""
    return {old.level, new.level} == {"good", "fair"} and abs(old.value - new.value) <= BORDER


# ---- files ---------------------------------------------------------------------------------------


def report_in_process(table: Path, options: Sequence[str], page: Path) -> Answer:
    """Run ``isentropic report TABLE`` inside this process and read its answer."""
    from typer.testing import CliRunner

    from isentropic.cli import app

    arguments = ["report", str(table), *options, "--quiet", "--json", "--force", "--out", str(page)]
    done = CliRunner().invoke(app, arguments)
    if done.exit_code != 0:
        return failed(done.stderr or repr(done.exception))
    return read_answer(json.loads(done.stdout))


def as_json(answer: Answer) -> dict[str, Any]:
    return asdict(answer)


def from_json(found: Mapping[str, Any]) -> Answer:
    """
    >>> from_json(as_json(Answer("Use PCA", "pca"))).recommended
    'pca'
    """
    grades = {question: Grade(**found[question]) for question in ("neighbors", "distances")}
    return Answer(**{**found, **grades})
