"""What a verdict says of the maps that saw the classes, apart from the others."""

from __future__ import annotations

from collections.abc import Sequence

from .runs import Run
from .standings import Standing
from .words import label_numbers


def about_classes(runs: Sequence[Run], standings: Sequence[Standing]) -> tuple[str, ...]:
    """Sentences: which map tells the classes apart, beside classifiers; what is an effect of the labels."""
    found = []
    real = [s.run for s in standings if s.labels == "real" and s.keeps]
    if real:
        best = max(real, key=lambda i: (_observed(runs[i]), -i))
        found.append(_of_best(runs[best], len(real)))
    effects = [s.method for s in standings if s.labels == "effect" and s.keeps]
    if effects:
        found.append(
            f"An effect of the labels: {', '.join(effects)}. Held-out rows are classified no better than "
            "with permuted labels: whatever such a map shows of the classes, it has put there itself."
        )
    untested = [s.method for s in standings if s.labels == "untested" and s.keeps]
    if untested:
        found.append(f"Not tested with permuted labels, and so not trusted: {', '.join(untested)}.")
    return tuple(found)


def _of_best(run: Run, n_real: int) -> str:
    assert run.label_test is not None
    which = f"Of {n_real} maps that saw the classes {run.method} tells them apart best"
    if n_real == 1:
        which = f"{run.method} saw the classes, and tells them apart"
    beside = ", ".join(f"{name} {value[0]:.0%}" for name, value in run.classifiers.items())
    raw = f" On the table itself, without a map: {beside}." if beside else ""
    return f"{which}: {label_numbers(run.label_test)}.{raw}"


def _observed(run: Run) -> float:
    return 0.0 if run.label_test is None else run.label_test.observed
