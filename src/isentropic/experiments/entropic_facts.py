"""What the scale of maps did to columns of the entropic sources, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .entropic_scale import SCALED
from .sentences import number
from .values import PUBLISHED, Cell, Outcome, Task


def scale_facts(
    cells: Sequence[Cell], methods: Sequence[str], beside: str, outcomes: Mapping[Task, Outcome]
) -> tuple[str, ...]:
    """What the scale of the map did to the printed columns, in one sentence."""
    found = {
        (task.dataset, task.method): outcome.measures["mean"]
        for task, outcome in outcomes.items()
        if task.protocol == PUBLISHED and "mean" in outcome.measures
    }
    printed = {(cell.dataset, cell.method): cell.printed for cell in cells if cell.printed is not None}
    wanted = (*(f"{method} {SCALED}" for method in methods), beside)
    data = [
        name for name in dict.fromkeys(cell.dataset for cell in cells)
        if all((name, method) in found for method in wanted)
        and all((name, method) in printed for method in methods)
    ]  # fmt: skip
    if not data:
        return ()

    def mean(values: Mapping[tuple[str, str], float | None], method: str) -> str:
        return number(float(np.mean([values[name, method] for name in data])))

    told = " and ".join(
        f"{method} has mean {mean(found, f'{method} {SCALED}')} where {mean(printed, method)} is printed"
        for method in methods
    )
    return (
        f"With maps at unit variance {told} ({beside} {mean(found, beside)}; {len(data)} data sets): the "
        "difference is what the scale of their coordinates took.",
    )
