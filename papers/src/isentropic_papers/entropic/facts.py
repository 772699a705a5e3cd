"""What the scale of maps, and choosing on the test half, did to columns of the entropic sources, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from isentropic.comparison.presentation import table_decimal as number
from isentropic.experiments.findings.sentences import interval
from isentropic.experiments.tasks import HONEST, PUBLISHED, Cell, Outcome, Task

from .scale import SCALED

_UNMOVED = ("KNN", "NB", "DT", "QDA", "RFC")  # classifiers to which a map and its double are one


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


def choice_facts(method: str, beside: str, outcomes: Mapping[Task, Outcome]) -> tuple[str, ...]:
    """What choosing a parameter on the test half gave a method by its equations, in one sentence."""
    found: dict[str, dict[str, Mapping[str, float]]] = {method: {}, beside: {}}
    for task, outcome in outcomes.items():
        if task.protocol == PUBLISHED and task.method in found and outcome.measures:
            found[task.method][task.dataset] = outcome.measures
    data = [name for name in found[method] if name in found[beside]]
    if not data:
        return ()
    chosen, unchosen = (np.array([found[method][name][key] for name in data]) for key in ("mean", "unchosen"))
    other = float(np.mean([found[beside][name]["mean"] for name in data]))
    return (
        f"{method} by its equations has mean {number(float(chosen.mean()))} with its parameter chosen on the "
        f"test half and {number(float(unchosen.mean()))} over all parameters, where {beside} has "
        f"{number(other)} ({len(data)} data sets): choosing there gave {interval(chosen - unchosen)}.",
    )


def judged_by_scale(
    cells: Sequence[Cell], methods: Sequence[str], beside: str, outcomes: Mapping[Task, Outcome]
) -> tuple[str, ...]:
    """What methods lack to another as printed, by classifiers that a scale moves or not, and honestly.

    One difference for each data set: a mean over classifiers. Honest maps have unit variance.
    """
    printed = {
        (one.dataset, one.method, one.measure): one.printed for one in cells if one.printed is not None
    }
    honest = {
        (task.dataset, task.method, name): value
        for task, outcome in outcomes.items()
        if task.protocol == HONEST
        for name, value in outcome.measures.items()
    }
    moved = sorted({name for _, _, name in printed} - set(_UNMOVED))
    said = []
    for method in methods:
        told = [
            f"{_lacks(printed, method, beside, names)} by those that {how}"
            for names, how in ((moved, f"a scale moves ({', '.join(moved)})"), (_UNMOVED, "none moves"))
        ]
        left = _lacks(honest, method, beside, (*moved, *_UNMOVED))
        end = f"; on unseen rows, with maps at unit variance, {left} by all" if left else ""
        said.append(f"{method} has, as printed, {' and '.join(told)}{end}.")
    return (f"Accuracy less that of {beside}, by classifier: {' '.join(said)}",)


def _lacks(
    values: Mapping[tuple[str, str, str], float], method: str, beside: str, names: Sequence[str]
) -> str:
    """The mean difference to another method over data sets that have both by all these classifiers."""
    apart = []
    for data in dict.fromkeys(data for data, _, _ in values):
        keys = [((data, method, name), (data, beside, name)) for name in names]
        if all(one in values and other in values for one, other in keys):
            apart.append(float(np.mean([values[one] - values[other] for one, other in keys])))
    return f"{interval(np.array(apart))} ({len(apart)} data sets)" if apart else ""
