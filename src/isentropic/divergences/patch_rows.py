"""The rows of patches, some patches at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .._core.runtime import row_blocks

BLOCK_NUMBERS = 2**21  # numbers in a block of patches: 16 MiB


def centred_blocks(X, members, sizes) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
    """Means and centred rows of the patches, some patches at a time; rows beyond a patch's size are 0."""
    absent = np.arange(members.shape[1]) >= sizes[:, None]
    size = max(1, BLOCK_NUMBERS // (members.shape[1] * X.shape[1]))
    for block in row_blocks(len(members), "patches", size=size):
        C = X[members[block]]
        C[absent[block]] = 0.0
        means = C.sum(axis=1) / sizes[block, None]
        C -= means[:, None]
        C[absent[block]] = 0.0
        yield block, means, C


def patch_means(X: np.ndarray, members: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The mean of each patch, (p, m)."""
    means = np.empty((len(members), X.shape[1]))
    for block, mu, _ in centred_blocks(X, members, sizes):
        means[block] = mu
    return means
