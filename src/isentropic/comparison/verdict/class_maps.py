"""The maps that saw the classes, apart from the others."""

from __future__ import annotations

from collections.abc import Sequence

from ..evaluation.runs import Run
from . import text
from .grades import Rating


def about_classes(runs: Sequence[Run], ratings: Sequence[Rating]) -> tuple[str, ...]:
    """Sentences: which map tells the classes apart, beside classifiers; what is an effect of the labels."""
    found = []
    real = [rating for rating in ratings if rating.labels == "real" and not rating.failed]
    if real:
        best = max(real, key=lambda rating: (_observed(runs[rating.run]), -rating.run))
        run = runs[best.run]
        assert run.label_test is not None
        beside = [(name, value[0]) for name, value in run.classifiers.items()]
        found.append(text.best_of_classes(best.title, len(real), run.label_test, beside))
    for labels, sentence in (("effect", text.effects_of_labels), ("untested", text.untested_labels)):
        titles = [rating.title for rating in ratings if rating.labels == labels and not rating.failed]
        found += [sentence(titles)] if titles else []
    return tuple(found)


def _observed(run: Run) -> float:
    return 0.0 if run.label_test is None else run.label_test.observed
