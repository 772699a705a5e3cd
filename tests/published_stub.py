"""A small source of our own: a table of three methods on five data sets, whose every number is known."""

from importlib.metadata import EntryPoint

from isentropic.experiments.studies import GROUP, Source
from isentropic.experiments.tasks import (
    HONEST,
    PERMUTED,
    PUBLISHED,
    RANDOM,
    Cell,
    PublishedTable,
    Task,
    measured,
)

DATA = ("iris", "wine", "glass", "lost", "car")
METHODS = ("PCA", "LDA", "SGt-SNE")
PRINTED = {"PCA": 0.70, "LDA": 0.80, "SGt-SNE": 0.95}


def small_table():
    """Printed, ours, honest and null of three methods on five data sets, one of which is not here."""
    cells = tuple(
        Cell(data, method, "accuracy", round(PRINTED[method] + 0.01 * i, 3), tolerance=0.002)
        for i, data in enumerate(DATA)
        for method in METHODS
    )

    def task(data, method, protocol, **measures):
        return Task("small", "1", data, method, protocol, "builtins:dict", measures)

    def tasks(quick):
        found = []
        for i, data in enumerate(DATA[:2] if quick else DATA):
            for method in METHODS:
                value = PRINTED[method] + 0.01 * i
                if data == "lost":
                    found.append(Task("small", "1", data, method, PUBLISHED, "operator:not_there", {}))
                    continue
                off = 0.2 if (data, method) == ("car", "PCA") else 0.01 if method == "LDA" else 0.0
                found.append(task(data, method, PUBLISHED, mean=value + off))
                honest = {"PCA": 0.7, "LDA": 0.82, "SGt-SNE": 0.6005}[method] + 0.01 * i
                ends = {"mean low": honest - 0.05, "mean high": honest + 0.05}
                found.append(task(data, method, HONEST, mean=honest, **ends))
            if data != "lost":
                found.append(task(data, "SGt-SNE", PERMUTED, mean=0.9005 + 0.01 * i))
                found.append(task(data, "SGt-SNE", RANDOM, mean=0.9405 + 0.01 * i))
        return tuple(found)

    reasons = {
        ("", "LDA", ""): "Another program.",
        ("", "PCA", ""): "Wider, so not said where a narrower one is known.",
        ("car", "PCA", ""): "A copy error.",
        ("", "", "accuracy"): "Widest.",
    }
    reader = measured(cells, {"accuracy": "mean"})
    return PublishedTable("small", "1", "Accuracies", cells, tasks, reader, reasons, "First *words*.")


def tables():
    return (small_table(),)


SOURCE = Source("small", "A small source", tables)
TAKEN = Source("list", "A word of the command line", tables)


def install_sources(monkeypatch, **targets):
    """As if only these entry points were installed, for one test."""
    points = [EntryPoint(name, target, GROUP) for name, target in targets.items()]
    monkeypatch.setattr(
        "isentropic.experiments.studies.entry_points",
        lambda *, group: [point for point in points if point.group == group],
    )
