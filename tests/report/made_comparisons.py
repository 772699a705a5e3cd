"""A small comparison, made by hand so that nothing is fitted."""

from dataclasses import replace

import numpy as np

from isentropic import report
from isentropic._core.values import Table
from isentropic.comparison import (
    Caveat,
    Grade,
    GroupAnswer,
    LabelTest,
    Rating,
    Run,
    Trial,
    Verdict,
    collect_page_data,
)
from isentropic.comparison.page_data import shown_groups
from isentropic.quality import assess


def make_table(n=120, n_classes=3, m=4, *, seed=0, markup=False):
    random = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = random.normal(size=(n, m))
    X[:, :2] += 5 * np.column_stack([np.cos(y), np.sin(y)])[:, :m]
    wrap = "<script>alert('{}')</script>" if markup else "{}"
    return Table(
        X=X,
        y=y,
        feature_names=tuple(wrap.format(f"column {j}") for j in range(m)),
        row_names=tuple(wrap.format(f"row {i}") for i in range(n)),
        class_names=tuple(wrap.format(f"class {c}") for c in range(n_classes)),
        name=wrap.format("made"),
        scaling="none",
    )


def make_runs(table, n_maps=3, *, quality=None, seed=0):
    """Maps of single columns, the first the best; the last run failed."""
    random = np.random.default_rng(seed)
    runs = []
    for i in range(n_maps):
        Z = np.roll(table.X, i, axis=1)[:, :2] + (random.normal(size=(len(table.X), 2)) if i else 0.0)
        found = assess(table.X, Z, table.y) if quality is None else quality
        runs.append(Run(f"method-{i}", {"n_neighbors": 5 + i}, None, 0.5 * (i + 1), 10.0 * i, Z, found))
    runs[0] = replace(
        runs[0],
        criterion="rnx_auc",
        trials=(
            Trial({"n_neighbors": 5}, 0.6, 0.1),
            Trial({"n_neighbors": 50}, 0.4, 0.1),
            Trial({"n_neighbors": 2}, None, 0.1, "the graph falls apart"),
        ),
    )
    return [*runs, Run("broken", {}, None, 0.25, None, reason="the <b>patch</b> is singular")]


def make_supervised(table, runs):
    """The last map learnt from the classes, and permuted labels score as well; and so did one that failed."""
    null = (0.3, 0.35, 0.4)
    test = LabelTest("honest", "accuracy", 0.375, null, 0.9, (0.85, 0.95, 0.875), 84, 36, 2, 0)
    classifiers = {"k-NN": (0.5, 0.4, 0.6), "QDA": (0.55, 0.45, 0.65), "LDA": (0.525, 0.425, 0.625)}
    saw = replace(runs[-2], saw_classes=True, label_test=test, accuracy=(0.375, 0.3, 0.45))
    found = [*runs[:-2], saw, replace(runs[-1], saw_classes=True)]
    return [replace(run, classifiers=classifiers) for run in found]


def make_grades(run, near=0.9, far=0.7):
    said = "9 of the 10 points beside a point are close to it in the data too; by chance fewer than 1."
    order = "70 of 100 pairs of distances are in the right order on the map; by chance 50."
    return (
        make_grade("neighbors", "Which rows are alike", "good", said, near - 0.1 * run, 0.05, 0.5, 0.95),
        make_grade("distances", "How far apart things are", "poor", order, far - 0.02 * run, 0.5),
    )


def make_grade(question, title, level, sentence, value, chance, low=None, high=None):
    score = (value - chance) / (1 - chance)
    return Grade(question, title, level, sentence, value, chance, low=low, high=high, score=score)


def with_value(grade, value):
    """The grade of a map that keeps so much."""
    return make_grade(
        grade.question, grade.title, grade.level, grade.sentence, value, grade.chance, grade.low, grade.high
    )


def make_rating(run, position):
    grades = (None, None) if run.failed else make_grades(position % 9)
    usable = not run.failed
    return Rating(run.method, run.method, position, *grades, f"Map {position}.", usable, run.failed)


def make_verdict(runs, rows=()):
    ratings = tuple(make_rating(run, i) for i, run in enumerate(runs))
    caveats = (
        Caveat("Some rows have false neighbours.", tuple(rows), "false", 0.5),
        Caveat("Much is lost.", (), "", 0.2),
    )
    return Verdict(
        recommended=0,
        shown=0,
        use="Use method-0 to see which rows are alike.",
        caution="Do not read distances between groups.",
        groups=GroupAnswer("yes", "3 groups, each found again in both halves of the rows."),
        shows=("60% of the difference between rows comes from column 0.",),
        caveats=caveats,
        choice=("method-0 keeps the most neighbours of the maps.",),
        ratings=ratings,
    )


def first_columns(X):
    """How the first map is made: the test of groups fits it again."""
    return X[:, :2]


def page(table, runs, verdict, facts, **options):
    """The page of a comparison, with everything drawn that there is."""
    tested = shown_groups(table, runs, verdict, embed=first_columns)
    drawn = collect_page_data(table, runs, verdict, group_test=tested)
    return report.page(table, runs, verdict, drawn, facts, **options)


FACTS = {
    "command": "isentropic report made.csv --target 'a <b> c'",
    "versions": {"isentropic": "0.1.0", "numpy": "2.3.0"},
    "seconds": 12.0,
    "date": "2026-01-01T00:00:00Z",
    "preset": "quick",
    "preset_text": "few methods",
    "seed": 0,
    "n_seeds": 3,
    "dimensions": {"maximum likelihood": 3.9, "two nearest neighbours": None},
    "warnings": ["A column is constant."],
    "how_to_misread": {"method-1": "Do not read its axes."},
    "resumed": 1,
}
