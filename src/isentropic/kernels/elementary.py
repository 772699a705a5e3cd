"""What kernels share: exponentials and logarithms, products of small matrices, random numbers by counter."""

from __future__ import annotations

import numpy as np

from ._jit import kernel

# ---- Exponentials and logarithms of whole rows, by loops that the compiler turns into vectors ----
#
# A call of ``exp`` or ``log`` for each number is a loop of calls; these are sums and products of the numbers
# and their bits, a few machine instructions for several numbers at once.


_SQRT_HALF_BITS = np.float64(np.sqrt(0.5)).view(np.int64)
_LOG_2 = np.log(2.0)
_PER_LOG_2 = 1.0 / _LOG_2
LEAST_EXPONENT = -700.0  # what is below counts as this: 1e-304, and no number without its full digits


@kernel
def exponentials(x, factor, out, bits):
    """``out = exp(factor x)`` for exponents of at most 0, with a relative error of 1e-13; the sum of all.

    ``exp t = 2^k exp r`` with ``|r| <= log(2) / 2``, where fourteen terms of the series leave less than
    rounding; ``2^k`` is made of its bits, in ``bits`` (int64, as long as x). x has no NaN.
    """
    for j in range(len(x)):
        t = max(factor * x[j], LEAST_EXPONENT)
        k = np.floor(t * _PER_LOG_2 + 0.5)
        r = t - k * _LOG_2
        r2 = r * r
        r4 = r2 * r2
        low = 1.0 + r + r2 * (1 / 2.0 + r * (1 / 6.0))
        middle = 1 / 24.0 + r * (1 / 120.0) + r2 * (1 / 720.0 + r * (1 / 5040.0))
        high = 1 / 40320.0 + r * (1 / 362880.0) + r2 * (1 / 3628800.0 + r * (1 / 39916800.0))
        top = 1 / 479001600.0 + r * (1 / 6227020800.0)
        out[j] = low + r4 * (middle + r4 * (high + r4 * top))
        bits[j] = (np.int64(np.int32(k)) + 1023) << 52
    powers, total = bits.view(np.float64), 0.0
    for j in range(len(x)):
        out[j] *= powers[j]
        total += out[j]
    return total


@kernel
def weighted_logs(weights, x, scratch):
    """``sum w log(x)`` for x of at least 1e-300; half the time of a call of log for each.

    ``x = 2^k m`` by the bits of x, ``m`` from ``sqrt(1/2)`` to ``sqrt(2)`` into ``scratch``, and
    ``log m = 2 artanh(q) = 2 q (1 + q^2 / 3 + q^4 / 5 + ...)`` with ``q = (m - 1) / (m + 1)``, |q| < 0.172:
    eleven terms leave less than rounding.
    """
    bits, mantissa = x.view(np.int64), scratch.view(np.int64)
    octaves, largest = 0.0, 0.0
    for j in range(len(x)):
        k = (bits[j] - _SQRT_HALF_BITS) >> 52
        mantissa[j] = bits[j] - (k << 52)
        octaves += weights[j] * np.int32(k)
        largest += x[j]
    if not np.isfinite(largest):  # the bits of NaN and infinity would pass for numbers
        return largest
    total = 0.0
    for j in range(len(x)):
        q = (scratch[j] - 1.0) / (scratch[j] + 1.0)
        z = q * q
        z2 = z * z
        z4 = z2 * z2
        low = 1.0 + z * (1 / 3.0) + z2 * (1 / 5.0 + z * (1 / 7.0))
        middle = 1 / 9.0 + z * (1 / 11.0) + z2 * (1 / 13.0 + z * (1 / 15.0))
        high = 1 / 17.0 + z * (1 / 19.0) + z2 * (1 / 21.0)
        total += weights[j] * q * (low + z4 * (middle + z4 * high))
    return 2.0 * total + _LOG_2 * octaves


@kernel
def logarithms(x, scratch, out):
    """``out = log(x)`` for finite x of at least 1e-300, as in :func:`weighted_logs`."""
    bits, mantissa = x.view(np.int64), scratch.view(np.int64)
    for j in range(len(x)):
        k = (bits[j] - _SQRT_HALF_BITS) >> 52
        mantissa[j] = bits[j] - (k << 52)
        out[j] = _LOG_2 * np.int32(k)
    for j in range(len(x)):
        q = (scratch[j] - 1.0) / (scratch[j] + 1.0)
        z = q * q
        z2 = z * z
        z4 = z2 * z2
        low = 1.0 + z * (1 / 3.0) + z2 * (1 / 5.0 + z * (1 / 7.0))
        middle = 1 / 9.0 + z * (1 / 11.0) + z2 * (1 / 13.0 + z * (1 / 15.0))
        high = 1 / 17.0 + z * (1 / 19.0) + z2 * (1 / 21.0)
        out[j] += 2.0 * q * (low + z4 * (middle + z4 * high))


# ---- Two numbers of single precision as the bits of one, so that both are fetched by one access --------


_LOW, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)


@kernel
def low_single(pair):
    """The first of two float32 that are seen as one uint64."""
    return np.uint32(pair & _LOW).view(np.float32)


@kernel
def high_single(pair):
    """The second one."""
    return np.uint32(pair >> _HALF).view(np.float32)


# ---- Small dense matrices inside other kernels: dot products, Cholesky factors, triangular systems ----


@kernel
def dot(a, b, start, stop):
    """``sum_t a_t b_t`` over t from ``start`` to before ``stop``."""
    total = 0.0
    for t in range(start, stop):
        total += a[t] * b[t]
    return total


@kernel
def cholesky(S, shift, L):
    """Lower Cholesky factor of ``S + shift I`` by rows; returns its log-determinant, NaN where there is none.

    Only the lower triangle of S is read.
    """
    log_det = 0.0
    for i in range(len(S)):
        for j in range(i):
            L[i, j] = (S[i, j] - dot(L[i], L[j], 0, j)) / L[j, j]
        pivot = S[i, i] + shift - dot(L[i], L[i], 0, i)
        if not pivot > 0.0:
            return np.nan
        L[i, i] = np.sqrt(pivot)
        log_det += np.log(pivot)
    return log_det


@kernel
def solve_lower(L, z):
    """Solve ``L x = z`` in place."""
    for i in range(len(z)):
        z[i] = (z[i] - dot(L[i], z, 0, i)) / L[i, i]


@kernel
def solve_upper(L, z):
    """Solve ``L' x = z`` in place."""
    for i in range(len(z) - 1, -1, -1):
        total = z[i]
        for t in range(i + 1, len(z)):
            total -= L[t, i] * z[t]
        z[i] = total / L[i, i]


# --------------------------------------------------------------------------------------------------
# Counter-based random numbers: each is a hash of where it is used, so that no thread shares a state.


@kernel
def mixed(value):
    """A 64-bit finaliser (splitmix64): every input bit reaches every output bit."""
    value ^= value >> np.uint64(30)
    value *= np.uint64(0xBF58476D1CE4E5B9)
    value ^= value >> np.uint64(27)
    value *= np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@kernel
def random_key(seed, epoch, row):
    """The key of a row in an epoch, from which :func:`next_key` goes on."""
    key = mixed(np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15))
    key = mixed(key ^ (np.uint64(epoch) + np.uint64(0xD1B54A32D192ED03)))
    return mixed(key ^ (np.uint64(row) + np.uint64(0x8CB92BA72F3D8DD7)))


_FACTOR, _SUMMAND = 6364136223846793005, 1442695040888963407


@kernel
def next_key(key):
    """The next key of a row: a linear congruence of full period, whose high bits count."""
    return key * np.uint64(_FACTOR) + np.uint64(_SUMMAND)


@kernel
def random_below(key, n):
    """A number below ``n``, which is less than 2^32, from the high half of a key."""
    return np.int64(((key >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


def key_jumps(count):
    """``count`` factors and summands (2, count) that lead from a key to each of the next, whatever it is."""
    factor, summand, jumps = 1, 0, np.empty((2, count), np.uint64)
    for t in range(count):
        factor = factor * _FACTOR % 2**64
        summand = (summand * _FACTOR + _SUMMAND) % 2**64
        jumps[0, t], jumps[1, t] = factor, summand
    return jumps
