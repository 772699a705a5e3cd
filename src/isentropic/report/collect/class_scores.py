"""What the page says of classes: accuracies of held-out rows, nulls of permuted labels, plain classifiers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...comparison import Run
from ...comparison.presentation import decimal
from .scores import Column, Score

_FEW = 40  # permutations that are drawn one by one; of more every second, third, ...


@dataclass(frozen=True, slots=True)
class Group:
    """Runs that belong together on the page, by position; without a title where there is one group only."""

    title: str
    note: str
    runs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NullStrip:
    """A score with the true labels among those with permuted ones, as percent of a scale from 0 to 1."""

    title: str
    text: str
    place: float
    null: tuple[float, ...]
    null_text: str


@dataclass(frozen=True, slots=True)
class Classifier:
    """A classifier on the table itself, with its cell of the accuracy column."""

    name: str
    score: Score


def groups(runs: Sequence[Run]) -> list[Group]:
    """Maps that did not see the classes, and those that did."""
    saw = tuple(i for i, run in enumerate(runs) if run.saw_classes)
    others = tuple(i for i, run in enumerate(runs) if not run.saw_classes)
    if not saw:
        return [Group("", "", others)]
    found = [
        Group("Maps that did not see the classes", "Colours were put on afterwards.", others),
        Group(
            "Maps that saw the classes",
            "A gap between classes may be made by the labels alone, so each was fitted again with permuted "
            "ones. Below a map: the accuracy of k-NN with the true labels (dot) and with permuted ones "
            "(marks), on rows that were held out, and on those that the map saw, as the picture shows them.",
            saw,
        ),
    ]
    return [group for group in found if group.runs]


def null_strips(run: Run) -> list[NullStrip]:
    """The score of held-out rows, and that of rows which the map saw, each beside its null."""
    test = run.label_test
    if test is None:
        return []
    step = -(-len(test.null) // _FEW)
    sides = (
        ("held-out rows", test.observed, test.null),
        ("rows that it saw", test.seen, test.seen_null),
    )
    return [
        NullStrip(
            title,
            decimal(own),
            _percent(own),
            tuple(_percent(value) for value in sorted(null)[::-1][::step]),
            f"{decimal(sum(null) / len(null))}, at most {decimal(max(null))}",
        )
        for title, own, null in sides
    ]


def _percent(value: float) -> float:
    return round(100 * min(1.0, max(0.0, value)), 2)


def accuracy_columns(runs: Sequence[Run]) -> list[Column]:
    """Accuracy on held-out rows, and beside it that with permuted labels; none where nobody has one."""
    held_out = [run.accuracy for run in runs]
    found = [_accuracy_column(held_out)] if any(held_out) else []
    tests = [run.label_test for run in runs]
    if any(tests):
        count = max(len(test.null) for test in tests if test)
        meaning = (
            f"The same with permuted labels, the method fitted anew each of {count} times: the mean, and the "
            "most. A score that these reach is an effect of the labels. Only methods that learn from classes "
            "have it."
        )
        scores = tuple(
            Score("–")
            if test is None
            else Score(decimal(test.mean), f"at most {decimal(test.highest)}", test.mean)
            for test in tests
        )
        found.append(Column("permuted", "permuted labels", meaning, scores))
    return found


def _accuracy_column(held_out: Sequence[tuple[float, float, float] | None]) -> Column:
    best = max((value[0] for value in held_out if value), default=None)
    scores = tuple(_accuracy(value, best) if value else Score("–") for value in held_out)
    meaning = (
        "k-NN accuracy of held-out rows, placed by transform in a map that has not seen them: the honest "
        "one. Only methods that can place new rows have it. Scaling and parameters were chosen on all rows, "
        "without classes."
    )
    return Column("accuracy", "held-out k-NN", meaning, scores)


def _accuracy(value: tuple[float, float, float], best: float | None = None) -> Score:
    return Score(
        decimal(value[0]), f"{decimal(value[1])} to {decimal(value[2])}", -value[0], value[0] == best
    )


def classifiers(runs: Sequence[Run]) -> list[Classifier]:
    """On the same held-out rows of the table itself: what there is to keep, and what a map must be worth."""
    found = next((run.classifiers for run in runs if run.classifiers), {})
    return [Classifier(name, _accuracy(value)) for name, value in found.items()]
