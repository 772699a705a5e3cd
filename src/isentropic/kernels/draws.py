"""Counter-based random numbers: each is a hash of where it is used, so that no thread shares a state."""

from __future__ import annotations

import numpy as np

from ._jit import kernel


@kernel
def mixed(value):
    """A 64-bit finaliser (splitmix64): every input bit reaches every output bit."""
    value ^= value >> np.uint64(30)
    value *= np.uint64(0xBF58476D1CE4E5B9)
    value ^= value >> np.uint64(27)
    value *= np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@kernel
def drawn_key(seed, epoch, row):
    """The key of a row in an epoch, from which :func:`next_key` goes on."""
    key = mixed(np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15))
    key = mixed(key ^ (np.uint64(epoch) + np.uint64(0xD1B54A32D192ED03)))
    return mixed(key ^ (np.uint64(row) + np.uint64(0x8CB92BA72F3D8DD7)))


@kernel
def next_key(key):
    """The next key of a row: a linear congruence of full period, whose high bits count."""
    return key * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)


@kernel
def drawn_below(key, n):
    """A number below ``n``, which is less than 2^32, from the high half of a key."""
    return np.int64(((key >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))
