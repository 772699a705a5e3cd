"""Peaks of memory, as the Linux kernel counts them; ``ru_maxrss`` would begin with that of the parent.

    python tests/memory_peaks.py BUDGET FILE ...

loads each file in a process of its own, with a budget in bytes, and prints what each took, or did, as JSON.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
NO_PEAKS = "the peak of a process is read from /proc/self/status, which this system does not have"


def kib(field: str) -> int:
    """A field of this process: ``VmRSS`` is what it holds, ``VmHWM`` the most that it held."""
    lines = STATUS.read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))


def are_known() -> bool:
    """Whether the system tells peaks, and lets a process begin a new one."""
    is_told = STATUS.exists() and "VmHWM:" in STATUS.read_text(encoding="utf-8")
    return is_told and os.access(RESET, os.W_OK)


def reset() -> int:
    """Let the peak begin anew; KiB held now, from which it grows."""
    RESET.write_text("5", encoding="utf-8")
    return kib("VmRSS")


@contextmanager
def growth_below(limit: int) -> Iterator[None]:
    """Fails if the process grows by more KiB within the block; where peaks are not known it cannot."""
    before = reset() if are_known() else None
    yield
    if before is not None:
        grown = kib("VmHWM") - before
        assert grown < limit, f"it grew by {grown:,} KiB, and may by {limit:,}"


def growth_in_fork(begin: Callable[[], None], function: Callable[[], str]) -> tuple[str, int]:
    """What a function returns in a copy of this process, and the KiB that the copy grew by at its peak.

    ``begin`` comes first: it brings in the code of libraries, which a copy reads from the disk anew.
    """
    source, target = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            begin()
            before = reset()
            said = function()
            os.write(target, json.dumps([said, kib("VmHWM") - before]).encode())
        finally:
            os._exit(0)
    os.close(target)
    with os.fdopen(source, "rb") as answer:
        told = answer.read()
    os.waitpid(child, 0)
    said, grown = json.loads(told or b'["ended without an answer", 0]')
    return said, grown


def loaded(path: str, budget: int) -> str:
    """``refused`` by the budget, or what else became of a file."""
    from isentropic import config_context, datasets
    from isentropic._core.errors import MemoryBudgetError

    try:
        with config_context(memory_limit=budget):
            datasets.load(path)
    except MemoryBudgetError:
        return "refused"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return "loaded"


def small_files(folder: Path) -> list[Path]:
    """A sound table in every kind of file that libraries read."""
    import pandas as pd

    frame = pd.DataFrame({"a": [1.5, 2.0, 4.0, 8.0], "b": ["x", "y", "x", "yy"]})
    frame.to_csv(folder / "small.csv", index=False)
    frame.to_parquet(folder / "small.parquet", row_group_size=2)
    frame.to_feather(folder / "small.feather", compression="zstd")
    frame.to_excel(folder / "small.xlsx", index=False)
    return [folder / f"small.{suffix}" for suffix in ("csv", "parquet", "feather", "xlsx")]


def main() -> None:
    import zstandard  # noqa: F401 - what the readers import is no memory of a file

    budget, *paths = sys.argv[1:]
    with TemporaryDirectory() as folder:
        small = small_files(Path(folder))

        def begin() -> None:
            said = [loaded(str(path), int(budget)) for path in small]
            assert set(said) == {"loaded"}, said

        begin()  # imports what they need
        grown = {Path(p).name: growth_in_fork(begin, lambda p=p: loaded(p, int(budget))) for p in paths}
    sys.stdout.write(json.dumps(grown))


if __name__ == "__main__":
    main()
