"""Scripts in a process of their own: where failure is an abort, or the environment is the test."""

import os
import subprocess
import sys


def run(script, **environment):
    """Run Python code with some variables of the environment changed."""
    return subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
