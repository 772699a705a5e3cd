"""Eigenvectors are known up to sign; this rule chooses one."""

from __future__ import annotations

import numpy as np

_TIE = 1e-9  # entries this close to the largest count as equal, so that rounding does not choose the sign


def fixed_signs(vectors: np.ndarray) -> np.ndarray:
    """Flip columns so that the entry of largest magnitude (the first, if several) is positive.

    >>> import numpy as np
    >>> fixed_signs(np.array([[0.6, -0.1], [-0.8, 0.9]])).tolist()
    [[-0.6, -0.1], [0.8, 0.9]]
    """
    magnitude = np.abs(vectors)
    first = np.argmax(magnitude >= (1 - _TIE) * magnitude.max(axis=0), axis=0)
    leading = vectors[first, np.arange(vectors.shape[1])]
    return vectors * np.where(leading < 0, -1.0, 1.0)
