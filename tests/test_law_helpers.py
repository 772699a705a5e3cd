"""Every law of laws.py holds for an honest map, and fails for one with the fault that it is about."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import laws
from isentropic import PCA, InvalidInputError
from isentropic.linalg import eigen


class Map(BaseEstimator):
    """Principal axes by hand, row by row, with one fault."""

    def __init__(self, n_components=2, *, fault="", n_jobs=None):
        self.n_components = n_components
        self.fault = fault
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        if self.fault == "refuses":
            raise InvalidInputError("X must be more, got less.")
        self.unit_ = np.exp2(np.floor(np.log2(np.ptp(X, axis=0).max()))) if np.ptp(X) else 1.0
        self.mean_ = np.zeros(X.shape[1]) if self.fault == "offset" else X.mean(axis=0)
        axes = np.linalg.svd((X - self.mean_) / self.unit_, full_matrices=False)[2][: self.n_components]
        if self.fault == "rigid motion":
            axes = np.eye(*axes.shape)
        self.axes_ = axes * np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])[:, None]
        self.given_ = X if self.fault == "table" else X.copy()
        Z = self._placed(X)
        self.embedding_ = Z + self._error(X, Z, y)
        return self

    def _placed(self, X):
        return np.array([[float(((row - self.mean_) * axis).sum()) for axis in self.axes_] for row in X])

    def _error(self, X, Z, y):
        """Of the fitted map."""
        moved = not np.array_equal(X[0], laws.X[0])
        return {
            "threads": 1e-12 * (self.n_jobs or 0),
            "fitted rows": 1e-9,
            "row order": 1e-3 * Z[0],
            "unit": 1e-3,
            "classes": 0.0 if y is None else 1e-9,
            "worse where rows are moved": 10 * moved * np.random.default_rng(0).normal(size=Z.shape),
            "otherwise as good": 1e-3 * X[0, 0],
            "not finite": np.nan if np.ptp(X) < 1e-9 * np.abs(X).max() or np.ptp(X[:, 0]) == 0 else 0.0,
            "one feature": np.nan if X.shape[1] == 1 else 0.0,
            "small": np.inf if np.ptp(X) < 1e-9 else 0.0,
            "large": np.inf if np.ptp(X) > 1e9 else 0.0,
            "a column": np.nan if not np.ptp(X, axis=0).all() else 0.0,
            "two": np.nan if len(X) == 2 else 0.0,
            "copies": np.arange(len(X))[:, None] * 1e-12,
        }.get(self.fault, 0.0)

    def transform(self, X):
        if self.fault == "table":
            return self._placed(X) + 1e-9 * self.given_.mean()
        if self.fault == "batch":
            return self._placed(X) + 1e-12 * len(X)
        known = {row.tobytes(): place for row, place in zip(self.given_, self.embedding_, strict=True)}
        if self.fault in ("fitted rows", "copies"):
            known = {}
        places = self._placed(X)
        return np.array([known.get(row.tobytes(), at) for row, at in zip(X, places, strict=True)])

    def __getstate__(self):
        state = super().__getstate__()
        return {**state, "mean_": state["mean_"] + 1e-9} if self.fault == "pickle" else state


def case_of(fault, **kind):
    return laws.Case("map", Map(fault=fault), **kind)


@pytest.mark.parametrize("law", [law for law in laws.LAWS if law != "saved"])
def test_an_honest_map_keeps(law):
    laws.LAWS[law](case_of(""))
    laws.LAWS[law](case_of("", searched=True))


@pytest.mark.parametrize(
    ("law", "fault"),
    [
        *((law, law) for law in ("fitted rows", "batch", "threads", "table", "pickle", "row order")),
        *((law, law) for law in ("rigid motion", "offset", "classes", "one feature")),
        ("small unit", "unit"),
        ("large unit", "unit"),
        ("duplicates", "copies"),
        *((table, "not finite") for table in ("equal rows", "300 equal rows")),
        ("two rows", "two"),
        ("one row apart", "copies"),
        ("a constant column", "a column"),
        ("tiny", "small"),
        ("huge", "large"),
        ("equal rows", "refuses"),
    ],
)
def test_a_law_fails(law, fault):
    with pytest.raises(AssertionError):
        laws.LAWS[law](case_of(fault))


class Started(Map):
    """One with a start, which it looks at before or after it has changed."""

    def __init__(self, n_components=2, *, init="pca", fault="", n_jobs=None):
        super().__init__(n_components, fault=fault, n_jobs=n_jobs)
        self.init = init

    def fit(self, X, y=None):
        if self.fault == "late":
            super().fit(X, y)
        if not isinstance(self.init, str) and self.fault != "blind":
            raise InvalidInputError("init must be a start, got none.")
        return super().fit(X, y)


@pytest.mark.parametrize("fault", ["late", "blind"])
def test_a_failed_refit_that_changes_a_map_is_noticed(fault):
    laws.LAWS["failed refit"](laws.Case("started", Started()))
    with pytest.raises(AssertionError):
        laws.LAWS["failed refit"](laws.Case("started", Started(fault=fault)))


class Signed(Map):
    """One that gives signs to its eigenvectors before or after it has changed."""

    def fit(self, X, y=None):
        if self.fault == "late":
            super().fit(X, y)
        if self.fault != "none":
            eigen.fixed_signs(X)
        self.eigenvalues_ = np.ones(2)
        return super().fit(X, y)


@pytest.mark.parametrize("fault", ["late", "none"])
def test_a_broken_refit_that_changes_a_map_is_noticed(fault):
    laws.LAWS["broken refit"](laws.Case("signed", Signed()))
    with pytest.raises(AssertionError):
        laws.LAWS["broken refit"](laws.Case("signed", Signed(fault=fault)))


def test_a_model_that_comes_back_otherwise_is_noticed(monkeypatch):
    case = laws.Case("pca", PCA())
    laws.LAWS["saved"](case)
    monkeypatch.setattr(laws, "load", lambda path: PCA(n_jobs=2).fit(laws.X + 1e-9))
    with pytest.raises(AssertionError):
        laws.LAWS["saved"](case)


def test_a_figure_that_comes_back_otherwise_is_noticed():
    case, other = laws.Case("pca", PCA()), PCA(n_jobs=2).fit(laws.X)
    laws.assert_same_model(case, other)
    other.explained_variance_ = other.explained_variance_ * (1 + 1e-15)
    with pytest.raises(AssertionError):
        laws.assert_same_model(case, other)


# ---- maps that an optimiser finds --------------------------------------------------------------


@pytest.mark.parametrize("law", ["row order", "rigid motion"])
def test_a_map_that_was_searched_is_held_to_its_quality(law):
    laws.LAWS[law](case_of("otherwise as good", searched=True))
    with pytest.raises(AssertionError, match="an area of"):
        laws.LAWS[law](case_of("worse where rows are moved", searched=True))
    with pytest.raises(AssertionError):
        laws.LAWS[law](case_of("otherwise as good"))


def test_one_that_settles_is_held_to_coordinates_where_its_steps_are_alike():
    laws.LAWS["large unit"](case_of("", searched=True, settles=True))
    with pytest.raises(AssertionError):
        laws.LAWS["large unit"](case_of("unit", searched=True, settles=True))


def test_one_in_units_must_scale():
    laws.LAWS["large unit"](case_of("", power=1))
    with pytest.raises(AssertionError, match=r"2\^0 times the width, not of 2\^460"):
        laws.LAWS["large unit"](laws.Case("whitened", PCA(whiten=True), power=1))
    laws.LAWS["large unit"](laws.Case("whitened", PCA(whiten=True)))
    laws.LAWS["large unit"](laws.Case("whitened", PCA(whiten=True), power=0))


class Squared(Map):
    """In squares of the unit of its rows."""

    def _placed(self, X):
        return super()._placed(X) * self.unit_


@pytest.mark.parametrize("law", ["small unit", "large unit"])
def test_one_in_squares_of_units_must_scale_by_their_power(law):
    laws.LAWS[law](laws.Case("squared", Squared(), power=2))
    for power in (None, 0, 1, 3):
        with pytest.raises(AssertionError, match="a line of IN_UNITS"):
            laws.LAWS[law](laws.Case("squared", Squared(), power=power))


def test_new_rows_that_land_elsewhere_are_noticed():
    Z, places = laws.X[:, :2], laws.NEW[:, :2]
    plain, moved = laws.quality(Z, places), laws.quality(Z + 1e-3, places + 1e-3)
    laws.assert_as_good(moved, plain, plain)
    with pytest.raises(AssertionError, match="of neighbours"):
        laws.assert_as_good(laws.quality(Z, places[::-1]), plain, plain)
    with pytest.raises(AssertionError):
        laws.assert_as_good((np.nan, 1.0), plain, plain)
    laws.assert_as_good((0.3, 0.5), (0.2, 0.3), (0.4, 0.6))


class Drawn(Map):
    """Along axes that a seed draws: some keep more than others."""

    def __init__(self, n_components=2, *, random_state=None, fault="", n_jobs=None):
        super().__init__(n_components, fault=fault, n_jobs=n_jobs)
        self.random_state = random_state

    def fit(self, X, y=None):
        super().fit(X)
        rng = np.random.default_rng(self.random_state or 0)
        self.axes_ = np.linalg.qr(rng.normal(size=(3, 3)))[0][:2]
        Z = self.embedding_ = self._placed(X)
        self.embedding_ = Z + self._error(X, Z, y)
        return self


def test_one_that_draws_may_be_as_good_as_its_seeds_are():
    laws.LAWS["rigid motion"](laws.Case("drawn", Drawn(), searched=True, draws=True))
    with pytest.raises(AssertionError, match="an area of"):
        laws.LAWS["rigid motion"](
            laws.Case("drawn", Drawn(fault="worse where rows are moved"), searched=True, draws=True)
        )


def test_who_places_no_rows_keeps_the_laws_of_its_map():
    class Flat(Map):
        transform = property(doc="not there")

        def __getattribute__(self, name):
            if name == "transform":
                raise AttributeError(name)
            return super().__getattribute__(name)

    case = laws.Case("flat", Flat(), searched=True)
    for law in ("fitted rows", "batch", "threads", "row order"):
        laws.LAWS[law](case)


def test_a_refusal_says_what_must_be():
    laws.LAWS["two rows"](case_of("refuses", searched=True))
