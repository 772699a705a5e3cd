"""The process that compiles the kernels, and one that finds them on the disk, give the same bits."""

import os
import subprocess
import sys

GRADIENTS = """
import numpy as np
from isentropic.objectives import AllPairs, SameDegree

rng = np.random.default_rng(0)
pairs, Z = AllPairs(100, rng.uniform(size=4950)), rng.normal(size=(100, 2))
for degree in (1.0, 1.5, 13.0):
    cost, gradient = SameDegree(pairs, unit=0.7, degrees=[degree])(Z)
    print(cost.hex(), gradient.tobytes().hex())
"""


def test_a_first_run_gives_the_same_bits_as_the_next(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", GRADIENTS]
    runs = [subprocess.run(command, env=environment, capture_output=True, check=True) for _ in range(2)]
    assert any(tmp_path.rglob("*.nbc"))
    assert runs[0].stdout == runs[1].stdout
    assert len(runs[0].stdout.split()) == 6
