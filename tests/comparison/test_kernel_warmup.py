"""Kernels that are compiled before they are needed."""

import os
import subprocess
import sys

import pytest

from isentropic.comparison.kernel_warmup import warm_up

_WARM = (
    "from isentropic.comparison.kernel_warmup import compile_kernels; compile_kernels('classical-mds', False)"
)
_FIT = "import isentropic as ic; from sklearn.datasets import load_iris; ic.make({!r}).fit(load_iris().data)"


def test_what_was_compiled_is_not_compiled_again(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    def kernels():
        return {path.name for path in tmp_path.rglob("*.nbc")}

    subprocess.run([sys.executable, "-c", _WARM], env=environment, check=True)
    first = kernels()
    assert first
    subprocess.run([sys.executable, "-c", _FIT.format("classical-mds")], env=environment, check=True)
    assert kernels() == first
    subprocess.run([sys.executable, "-c", _FIT.format("laplacian-eigenmaps")], env=environment, check=True)
    assert kernels() > first  # so the comparison above could fail


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_progress_counts_all_calls(n_jobs):
    heard = []
    warm_up(["pca"], n_jobs=n_jobs, on_done=lambda *what: heard.append(what))
    assert heard == [("pca", 1, 3), ("pca", 2, 3), ("pca", 3, 3)]


def test_unknown_methods_are_refused():
    with pytest.raises(ValueError, match=r"methods must be one of .*, got 'isomup'"):
        warm_up(["isomup"])
