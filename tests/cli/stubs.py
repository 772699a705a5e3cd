"""Methods that are slow, wrong or picky, for what the command line must do about them."""

import hashlib
import os
import time
import warnings
from types import MappingProxyType

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from isentropic._core.errors import IsentropicWarning
from isentropic._core.runtime import require_memory, row_blocks
from isentropic.registry import Method

PAGE = '<!doctype html><meta name="generator" content="isentropic">'


class Stub(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """The first columns.

    Parameters
    ----------
    n_components : int
        How many.
    does : str
        What happens in fit.
    random_state, n_jobs : int, optional
        Kept.
    """

    def __init__(self, n_components=2, *, does="", random_state=None, n_jobs=None):
        self.n_components = n_components
        self.does = does
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        if "STUBS_SAY" in os.environ:  # tell the test that the fit has begun
            os.write(2, b"fitting\n")
        if self.does:
            globals()[self.does]()
        self.embedding_ = X[:, : self.n_components].copy()
        self._n_features_out = self.embedding_.shape[1]
        return self

    def fit_transform(self, X, y=None):
        return self.fit(X, y).embedding_


class Labelled(Stub):
    """Needs a target."""


def wait():
    """Blocks of rows, as in a kernel."""
    for _ in row_blocks(600, "waiting", size=1):
        time.sleep(0.1)


def work():
    """Two stages that report progress."""
    for what in ("first", "second"):
        for _ in row_blocks(3, what, size=1):
            time.sleep(0.01)


def grind():
    """Compiled code that hears no signals and lets other threads run, as LAPACK does."""
    hashlib.pbkdf2_hmac("sha256", b"", b"", 10**9)


def warn():
    for _ in range(2):
        warnings.warn("The map is doubtful. Look twice.", IsentropicWarning, stacklevel=2)
    warnings.warn("noise from a library", RuntimeWarning, stacklevel=2)


def advise():
    warnings.warn("Column 'a' is odd. Leave it out with drop=['a'].", IsentropicWarning, stacklevel=2)


def crash():
    raise KeyError("some inner name")


def refuse():
    raise ValueError("Found array with 1 sample(s) while a minimum of 3 is required.")


def diverge():
    raise np.linalg.LinAlgError("Eigenvalues did not converge")


def swell():
    raise MemoryError


def exceed():
    require_memory(10**18, "All distances", "Take fewer rows.")


def interrupt():
    raise KeyboardInterrupt


METHODS = (
    Method("stub", "stubs:Stub", "Nothing much.", "none", "O(1); O(1)", "nobody"),
    Method("labelled", "stubs:Labelled", "Wants a target.", "none", "O(1); O(1)", "nobody", needs_y=True),
    Method("absent", "stubs:Stub", "Wants more.", "none", "O(1); O(1)", "nobody", extra="parquet"),
)


def with_stubs(methods):
    return MappingProxyType({**methods, **{method.name: method for method in METHODS}})


if __name__ == "__main__":
    import sys

    sys.modules["stubs"] = sys.modules["__main__"]
    from isentropic import registry
    from isentropic.cli import run

    registry.METHODS = with_stubs(registry.METHODS)
    run()
