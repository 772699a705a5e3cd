"""Batch epochs: all rows move at once, each by what it sees of the last positions of the others."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from .._core.runtime import row_blocks
from ..kernels._jit import threads

_FEW = 4096  # rows


class Move(Protocol):
    """Writes into ``out`` where the rows of ``Z`` go in an epoch, and keeps what it needs in ``memory``."""

    n_memories: int  # arrays of the size of Z, at first zero

    def __call__(self, Z: np.ndarray, memory: np.ndarray, out: np.ndarray, epoch: int) -> None: ...


def batch_epochs(move: Move, start: np.ndarray, n_epochs: int, *, n_jobs: int | None = None) -> np.ndarray:
    """Positions after so many epochs, in single precision on the way: two buffers that take turns.

    Progress is reported, and Ctrl-C let in, after every epoch. Few rows take one thread: an epoch of them is
    shorter than others take to wake up.

    >>> import numpy as np
    >>> class Halve:
    ...     n_memories = 0
    ...     def __call__(self, Z, memory, out, epoch):
    ...         np.multiply(Z, 0.5, out=out)
    >>> batch_epochs(Halve(), np.array([[8.0, 4.0]]), 3).tolist()
    [[1.0, 0.5]]
    """
    Z = np.array(start, np.float32, order="C")  # a copy: the buffers are written into
    out, memory = np.empty_like(Z), np.zeros((move.n_memories, *Z.shape), np.float32)
    for block in row_blocks(n_epochs, "epochs", size=1):
        with threads(1 if len(Z) <= _FEW else n_jobs):
            move(Z, memory, out, block.start)
        Z, out = out, Z
    return Z.astype(np.float64)
