"""What every test shares: the settings of hypothesis, a seeded generator, a roll."""

import os
import signal

# Before scikit-learn is imported: one of its estimator checks needs it, and would be skipped.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
# Before any library of threads is loaded: those of several processes that spin while they wait take each
# other's cores, several times the work itself. No result depends on it.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import numpy as np
import pytest
from hypothesis import settings

from isentropic._core.cache import SUFFIX, cache_folder

# Every folder may have its conftest.py; read as modules with doctests, they would clash by name.
# What compares bits with a reference of one machine is a script.
collect_ignore_glob = ["*conftest.py", "bits*.py"]

# A shell starts what runs in the background deaf to Ctrl-C, and so would be the processes of the tests.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples in every run: a failure can be repeated.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")


def pytest_report_header() -> list[str]:
    """Say what takes minutes where nothing has been compiled yet."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") != "0":
        return ["kernels: run as plain Python"]
    folder = cache_folder(os.environ.get("NUMBA_CACHE_DIR", ""))
    if folder is None:
        return ["kernels: compiled by every process anew, as no folder can keep them"]
    n_compiled = sum(1 for _ in folder.glob(f"*{SUFFIX}"))
    if n_compiled:
        return [f"kernels: {n_compiled} compiled functions in {folder}"]
    return [f"kernels: none compiled yet. Tests compile them into {folder}, once: some minutes more"]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture
def roll(rng) -> np.ndarray:
    """600 rows of a swiss roll, a surface of two dimensions in three."""
    angle = 1.5 * np.pi * (1 + 2 * rng.uniform(size=600))
    return np.column_stack([angle * np.cos(angle), 21 * rng.uniform(size=600), angle * np.sin(angle)])
