"""Python of the README and of the guides runs as it stands there, on small tables under the names it uses."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import random as random_sparse

from isentropic import datasets
from many_files import save_model, write_parts
from processes import in_fresh_process, run_blocks

PROJECT = Path(__file__).parents[1]
PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs" / "guide").glob("*.md"))]
_FENCED = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LESS = {
    "n_permutations=99": "n_permutations=3",
    "max_epochs=50": "max_epochs=2",
    "shape=(16, 16)": "shape=(6, 6)",
}
# What a block needs that is not here, and where it is tested.
_ELSEWHERE = {
    "maps.h5ad": "scanpy; tests of exports write and read such files",
    "maps.json": "datamapplot; tests of exports read such files",
    "flats.json": "a file of the command line; its tests read it",
    "rows.f4": "five million rows",
    "*runs, whole = ": "more than 10,000 rows; tests of samples have such tables",
}


def blocks(page: Path) -> list[str]:
    """What is fenced as Python, in the order of the page."""
    return _FENCED.findall(page.read_text(encoding="utf-8"))


@pytest.fixture
def names(tmp_path, monkeypatch) -> dict[str, Any]:
    """What the pages call their tables, rows and maps, and the files that they read."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_module.py").write_text("def measured(k):\n    return {'accuracy': 1 / k}\n")
    draws = np.random.default_rng(0)
    X = draws.normal(size=(60, 6)) * [3.0, 2.0, 1.0, 0.5, 0.5, 0.5]
    y = np.arange(60) % 3
    flats = pd.DataFrame(X, columns=["size", "rooms", "year", "floor", "age", "price"])
    flats["heating"] = np.where(X[:, 0] > 2, "oil", "gas")
    flats["kind"] = np.array(["flat", "house", "attic"])[y]
    flats.to_csv("flats.csv", index=False)
    flats.rename(columns={"kind": "species", "heating": "island"}).to_csv("penguins.csv", index=False)
    write_parts(flats, tmp_path / "big", (0, 20, 60))
    save_model(flats, tmp_path / "flats.isentropic", "pca")
    months = flats[["size", "rooms", "year", "floor"]].rename_axis("flat")
    months.to_csv("october.csv")
    (months + 0.01).to_csv("november.csv")
    scores = draws.normal(size=(12, 3))
    counts = random_sparse(60, 60, 0.2, "csr", random_state=0)
    return {
        "X": X, "y": y, "one_map": X[:, :2], "another": X[:, 1:3], "scores": scores,
        "methods": ("isomap", "pca", "lle"), "isomap_scores": scores[:, 0], "pca_scores": scores[:, 1],
        "counts": counts, "more_counts": counts[:9],
    }  # fmt: skip


WITH_CODE = [page for page in PAGES if blocks(page)]


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.stem)
def test_what_a_page_shows_runs(page, names, tmp_path):
    """Block after block, as a reader would type them into a fresh process: data are given, imports are not.

    Rows to place are the first of the table at hand.
    """
    typed = []
    for block in blocks(page):
        if any(word in block for word in _ELSEWHERE):
            continue
        for much, less in _LESS.items():
            block = block.replace(much, less)
        more = {} if typed else names
        if "rows" in block:
            more = more | dict.fromkeys(("rows", "new_rows"), _rows_at_hand(block, names))
        typed.append((block, more))
    in_fresh_process(run_blocks, typed, page.name, tmp_path)


def _rows_at_hand(block: str, names: dict[str, Any]) -> Any:
    found = re.search(r'datasets\.load\("([\w:.-]+)"(?:, target="(\w+)")?\)', block)
    return names["X"][:3] if found is None else datasets.load(found[1], found[2] or None).X[:3]


@pytest.mark.parametrize("words", _ELSEWHERE)
def test_what_is_not_run_is_one_block(words):
    assert sum(words in block for page in WITH_CODE for block in blocks(page)) == 1


def test_python_is_fenced():
    """So that nothing is passed over: no other fence, and no indented text, begins as Python does."""
    for page in PAGES:
        text = _FENCED.sub("", page.read_text(encoding="utf-8"))
        assert (
            re.search(r"^ *(from [\w.]+ import|import \w+$|>>> )|^ *```\s*py", text, re.MULTILINE) is None
        ), page.name
    assert {"README", "experiments", "growing", "tables"} <= {page.stem for page in WITH_CODE}
