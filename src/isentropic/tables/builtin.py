"""Built-in sets: classics that come with scikit-learn, and generated ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from .._core.errors import require, require_count, require_one_of
from .._core.values import Floats
from .raw import RawTable

_XYZ = ("x", "y", "z")


@dataclass(frozen=True, slots=True)
class Builtin:
    """One built-in set; ``make`` takes ``n_samples`` and ``random_state`` when it is generated."""

    make: Callable[..., RawTable]
    n_samples: int
    n_features: int
    n_classes: int | None  # None where the target is a number
    generated: bool
    note: str


def read_builtin(name: str, n_samples: int | None, random_state: int) -> RawTable:
    """The set of this name; ``n_samples`` is for the generated ones."""
    require_one_of("builtin", name, BUILTIN)
    builtin = BUILTIN[name]
    if not builtin.generated:
        require_fixed_size(n_samples, f"builtin:{name}")
        return builtin.make(name)
    wanted = builtin.n_samples if n_samples is None else n_samples
    size = require_count("n_samples", wanted, "a positive integer or None")
    return builtin.make(name, size, random_state)


def require_fixed_size(n_samples: int | None, source: str) -> None:
    """Raise when a size is asked of a source that has its own."""
    generated = ", ".join(name for name, builtin in BUILTIN.items() if builtin.generated)
    require(
        n_samples is None, "n_samples", f"None for {source}", n_samples, f"It sets the size of {generated}."
    )


# ---- scikit-learn's tables ---------------------------------------------------------------------


def _classic(loader: str, *, one_unit: bool = False) -> Callable[[str], RawTable]:
    def make(name: str) -> RawTable:
        from sklearn import datasets

        bunch: Any = getattr(datasets, loader)()
        frame = pd.DataFrame(bunch.data, columns=list(bunch.feature_names))
        return _classes(frame, bunch.target, tuple(map(str, bunch.target_names)), name, one_unit)

    return make


def _classes(
    frame: pd.DataFrame, codes: Any, names: tuple[str, ...], name: str, one_unit: bool = True
) -> RawTable:
    frame["target"] = pd.Categorical.from_codes(codes, categories=list(names))
    return RawTable(frame, name, "target", one_unit)


# ---- generated sets ----------------------------------------------------------------------------


def _swiss_roll(name: str, n_samples: int, random_state: int) -> RawTable:
    from sklearn.datasets import make_swiss_roll

    X, t = make_swiss_roll(n_samples, hole=name == "swiss-hole", random_state=random_state)
    return _positions(X, t, name)


def _s_curve(name: str, n_samples: int, random_state: int) -> RawTable:
    from sklearn.datasets import make_s_curve

    X, t = make_s_curve(n_samples, random_state=random_state)
    return _positions(X, t, name)


def _positions(X: Floats, t: Floats, name: str) -> RawTable:
    frame = pd.DataFrame(X, columns=list(_XYZ))
    frame["position"] = t
    return RawTable(frame, name, "position", one_unit=True)


def _four_cluster_roll(name: str, n_samples: int, random_state: int) -> RawTable:
    """Four unit Gaussians at (7.5 or 12.5, 7.5 or 12.5), rolled by ``(x cos x, y, x sin x)``."""
    centres = np.array([(7.5, 7.5), (7.5, 12.5), (12.5, 7.5), (12.5, 12.5)])
    codes = np.sort(np.arange(n_samples) % 4)
    x, y = (centres[codes] + np.random.default_rng(random_state).standard_normal((n_samples, 2))).T
    frame = pd.DataFrame({"x": x * np.cos(x), "y": y, "z": x * np.sin(x)})
    return _classes(frame, codes, tuple(f"({a:g}, {b:g})" for a, b in centres), name)


def _two_moons(name: str, n_samples: int, random_state: int) -> RawTable:
    from sklearn.datasets import make_moons

    X, codes = make_moons(n_samples, noise=0.05, random_state=random_state)
    return _classes(pd.DataFrame(X, columns=list(_XYZ[:2])), codes, ("upper", "lower"), name)


def _blobs(name: str, n_samples: int, random_state: int) -> RawTable:
    from sklearn.datasets import make_blobs

    X, codes = make_blobs(n_samples, n_features=10, centers=5, random_state=random_state)[:2]
    return _classes(pd.DataFrame(X, columns=[f"x{i}" for i in range(10)]), codes, tuple("01234"), name)


BUILTIN = {
    "iris": Builtin(_classic("load_iris"), 150, 4, 3, False, "flowers of three species"),
    "wine": Builtin(_classic("load_wine"), 178, 13, 3, False, "chemistry of wines from three growers"),
    "breast-cancer": Builtin(_classic("load_breast_cancer"), 569, 30, 2, False, "cell nuclei, Wisconsin"),
    "digits": Builtin(_classic("load_digits", one_unit=True), 1797, 64, 10, False, "8 x 8 images of digits"),
    "swiss-roll": Builtin(_swiss_roll, 1000, 3, None, True, "a sheet rolled up; target: position along it"),
    "swiss-hole": Builtin(_swiss_roll, 1000, 3, None, True, "the same with a hole"),
    "s-curve": Builtin(_s_curve, 1000, 3, None, True, "a sheet bent to an S; target: position along it"),
    "four-cluster-roll": Builtin(_four_cluster_roll, 1600, 3, 4, True, "four Gaussians on a swiss roll"),
    "two-moons": Builtin(_two_moons, 1000, 2, 2, True, "two interleaved half circles, noise 0.05"),
    "blobs": Builtin(_blobs, 1000, 10, 5, True, "five Gaussians in ten dimensions"),
}
