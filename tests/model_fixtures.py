"""One saved model for every method: what later versions must load, and where it placed new rows.

    python tests/model_fixtures.py

It writes the files of ``tests/models`` that are missing, as this version writes them, and never one that is
there: a file that stands was saved by the version that its header names, and stays so.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "models"
PLACES = FOLDER / "places.json"
ROWS, NEW_ROWS = 30, 4
SMALL = {  # beside those of tests/cases.py, which are for more rows
    "landmark-isomap": {"n_landmarks": 8},
    "landmark-mds": {"n_landmarks": 8},
    "kde-isomap": {"n_bins": 16},
    "parametric": {"layers": (4,), "max_epochs": 2, "synthetic": 0},
}


def table():
    """Rows to fit and rows to place; the classes of the first."""
    rng = np.random.default_rng(0)
    classes = np.arange(ROWS) % 2
    X = rng.normal(size=(ROWS, 3)) + classes[:, None]
    return X, rng.normal(size=(NEW_ROWS, 3)) + 0.5, classes


def names():
    """Every method of the registry, and the search that has none."""
    from isentropic.registry import METHODS

    return [*METHODS, "selected"]


def unfitted(name):
    """The estimator, with few enough steps and nodes for a file of some thousand bytes."""
    import isentropic
    from cases import SMALL as OF_CASES

    if name == "selected":
        return isentropic.Selected(isentropic.Isomap(5), {"n_neighbors": [5, 6]}, n_jobs=1)
    return isentropic.make(name, **{**OF_CASES.get(name, {}), **SMALL.get(name, {})})


def placed(model, name):
    """Where a model has its new rows; its own where it can place none."""
    from isentropic.registry import METHODS

    has_none = name in METHODS and METHODS[name].out_of_sample == "none"
    return model.embedding_[:NEW_ROWS] if has_none else model.transform(table()[1])


def main():
    import isentropic

    FOLDER.mkdir(exist_ok=True)
    places = json.loads(PLACES.read_text(encoding="utf-8")) if PLACES.exists() else {}
    X, _, classes = table()
    for name in names():
        path = FOLDER / f"{name}.isentropic"
        if path.exists():
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", isentropic.IsentropicWarning)
            model = unfitted(name).fit(X, classes)
        isentropic.save(model, path)
        places[name] = placed(model, name).tolist()
        sys.stdout.write(f"{path.name}: {path.stat().st_size:,} bytes\n")
    PLACES.write_text(json.dumps(dict(sorted(places.items())), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
