"""Mean and covariance of any number of rows, in one pass, with the same bits for any files and batches.

Rows are counted from 0 through all files. Sums are those of blocks of 4,096 rows, added one after the other
within groups of 64 blocks, then over the groups, so that they depend on the rows alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from .._core.errors import require
from .._core.runtime import one_blas_thread
from ..linalg.centering import Moments

BLOCK = 4096  # rows whose products are one call of BLAS
_GROUP = 64  # blocks


def moments_of(batches: Iterable[np.ndarray], centre: np.ndarray) -> Moments:
    """Mean and covariance of the rows of all batches. ``O(n m^2)`` time, ``O(m^2)`` memory.

    ``centre`` is a point near the mean, as that of a sample: sums are of what rows differ from it by, so that
    an offset does not drown the rest.
    """
    m = len(centre)
    total, products, n = np.zeros(m), np.zeros((m, m)), 0
    part, part_products = np.zeros(m), np.zeros((m, m))
    with one_blas_thread():
        for number, block in enumerate(blocks_of(batches)):
            rows = block - centre
            part += rows.sum(axis=0)
            part_products += rows.T @ rows
            n += len(block)
            if (number + 1) % _GROUP == 0:
                total, products = total + part, products + part_products
                part, part_products = np.zeros(m), np.zeros((m, m))
    total, products = total + part, products + part_products
    require(n >= 2, "source", "of at least 2 rows", n)
    shift = total / n
    covariance = (products - n * np.outer(shift, shift)) / (n - 1)
    return Moments(n, centre + shift, (covariance + covariance.T) / 2.0)


def blocks_of(batches: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
    """The rows of all batches in blocks of 4,096, the last one shorter."""
    waiting: list[np.ndarray] = []
    size = 0
    for batch in batches:
        start = 0
        while len(batch) - start >= BLOCK - size:
            stop = start + BLOCK - size
            yield np.ascontiguousarray(np.concatenate([*waiting, batch[start:stop]]))
            waiting, size, start = [], 0, stop
        if start < len(batch):
            waiting.append(batch[start:])
            size += len(batch) - start
    if size:
        yield np.ascontiguousarray(np.concatenate(waiting))
