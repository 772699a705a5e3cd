"""The laws of a map, each stated once: what rows, units, threads, files and degenerate tables may change.

``test_laws.py`` runs every law for every method of the registry and for the variants named there. A method
that cannot keep one is in ``EXEMPTIONS``, with the reason; one that could is a failure. A map that an
optimiser finds is held to equal bits where rows, threads and files are concerned, and to its quality where
a law changes the last digits that the optimiser starts from.
"""

import copy
import pickle
import sys
import tempfile
import warnings
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.utils import get_tags

from assertions import assert_same_bits, assert_same_up_to_sign
from isentropic import UMAP, InvalidInputError, IsentropicError, IsentropicWarning, Knn, load, save
from isentropic.neighbors import nearest_neighbors
from isentropic.quality import rnx_auc


class Exemption(NamedTuple):
    """A law that a method or a variant cannot keep, and why."""

    name: str
    law: str
    reason: str
    raises: type[Exception] = AssertionError


_OF_FEATURES = "its densities are those of each feature: turned axes are other features"
_ONE_GRID = "one grid holds all features: the offset of one alone moves the others on it"
_BANDWIDTH = "its bandwidth, or the least of it, is a number in the unit of the data"
_RADIUS = "its radius is a number in the unit of the data"
_AXES = "the metric is of the axes"
_ONE_CLASS = "equal rows have one class, and there is nothing to tell apart"
_NORMAL = "these rows are normal, which have no independent components: its rounds go on in circles"
_ORIGIN = "the metric is seen from the origin"
_NEXT = "the next neighbour after the k-th sets the scale of its weights: two rows have none"
EXEMPTIONS = (
    Exemption("kde-isomap", "rigid motion", _OF_FEATURES),
    Exemption("kde, root", "rigid motion", _OF_FEATURES),
    Exemption("kde-isomap", "offset", _ONE_GRID),
    Exemption("kde, root", "offset", _ONE_GRID),
    Exemption("kde, largest part", "rigid motion", _OF_FEATURES),
    Exemption("kde, largest part", "offset", _ONE_GRID),
    Exemption("kde, inflated", "rigid motion", _OF_FEATURES),
    Exemption("kde, inflated", "offset", _ONE_GRID),
    Exemption("kde, largest part", "small unit", _BANDWIDTH),
    Exemption("kde, largest part", "large unit", _BANDWIDTH),
    Exemption("kde, inflated", "small unit", _BANDWIDTH),
    Exemption("kde, inflated", "large unit", _BANDWIDTH),
    Exemption("radius", "small unit", _RADIUS),
    Exemption("radius", "large unit", _RADIUS),
    Exemption("manhattan", "rigid motion", _AXES),
    *(Exemption(name, "rigid motion", _AXES) for name in ("gower", "gower sdd", "gower mds", "gower t-sne")),
    Exemption("cosine", "rigid motion", _ORIGIN),
    Exemption("cosine", "offset", _ORIGIN),
    Exemption("cosine pacmap", "offset", _ORIGIN),
    Exemption("correlation", "rigid motion", _AXES),
    Exemption("correlation", "offset", _ORIGIN),
    Exemption("correlation", "one feature", "a row of one feature has no correlation", InvalidInputError),
    Exemption("random landmarks", "row order", "its landmarks are drawn by their place in the table"),
    Exemption("canberra", "rigid motion", _AXES),
    Exemption("canberra", "offset", _ORIGIN),
    Exemption("can-lpp", "two rows", _NEXT),
    Exemption("pnn-lpp", "two rows", _NEXT),
    Exemption("sparse-pca", "rigid motion", "it leaves out features: turned axes are other features"),
    Exemption("pursuit", "rigid motion", "odd values are those of features: turned axes have others"),
    Exemption("fast-ica", "rigid motion", _NORMAL),
    Exemption("fast-ica", "row order", _NORMAL),
    *(
        Exemption(name, table, _ONE_CLASS)
        for name in ("lda", "nca")
        for table in ("equal rows", "300 equal rows")
    ),
    Exemption("class-means", "saved", "a file names classes of isentropic only", InvalidInputError),
)

ROUNDING = 1e-6  # of the width of a map: what is left of other last digits
NOT_EVEN_ROUNDING = 1e-11  # a power of two changes no digit of a sum
OFFSET = 1e-8  # what an offset of 1e7 leaves of sixteen digits
SETTLED = 1e-6  # where a search for the best place ends, if the digits of all its steps are alike
QUALITY = 0.05  # of the area under R_NX, between two maps of the same rows that an optimiser found
NEIGHBOURS = 0.15  # of the neighbours of the new rows


def numbers(seed, n_rows):
    """Rows of numbers with twenty binary places: an offset of 1e7 can be added without rounding."""
    return np.round(np.random.default_rng(seed).normal(size=(n_rows, 3)) * [3, 2, 1] * 2**20) / 2**20


def classes_of(X):
    """Three classes, by thirds of the first feature: equal rows have one class, and units change none."""
    first = np.asarray(X)[:, 0]
    return np.array(["high", "low", "middle"])[np.searchsorted(np.quantile(first, [1 / 3, 2 / 3]), first)]


def needs_y(estimator):
    return get_tags(estimator).target_tags.required


def fit(estimator, X, y=None):
    """Fit, to classes where it needs them, without warnings about data that are degenerate on purpose."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IsentropicWarning)
        return estimator.fit(X, classes_of(X) if y is None and needs_y(estimator) else y)


def width(Z):
    return float(np.ptp(Z, axis=0).max())


# ---- what is tried -----------------------------------------------------------------------------

X, NEW = numbers(0, 240), numbers(1, 7)  # more rows than a dense eigenproblem has
TINY = np.array([[1e-150, 2e-150, -1e-150]])  # a row whose squares are none


@dataclass
class Case:
    """A method as the laws try it: fitted once, for all laws and files of tests."""

    name: str
    estimator: Any
    searched: bool = False  # an optimiser finds its map
    settles: bool = False  # and ends in the same place where its steps have the same digits
    draws: bool = False  # by its seed: another one gives another map
    power: int | None = None  # of the unit of the data that its map has; None: not known, it may have none
    lists: int = 0  # of so many neighbours, which every refit is given

    @property
    def given(self):
        """Whether it is given distances, rather than rows."""
        return getattr(self.estimator, "metric", None) == "precomputed"

    def refit(self, rows, y=None, **params):
        table = cdist(rows, rows) if self.given else rows
        y = classes_of(rows) if y is None and needs_y(self.estimator) else y
        if self.lists:
            params["neighbors"] = nearest_neighbors(rows, Knn(min(self.lists, len(rows) - 1)))
        return fit(clone(self.estimator).set_params(**params), table, y)

    @property
    def places_rows(self):
        return hasattr(self.estimator, "transform") or hasattr(self.fitted, "transform")

    def place(self, fitted, new, rows=X):
        """Where new rows go, among the rows of the fit; none where it places none."""
        if not self.places_rows:
            return np.empty((0, fitted.embedding_.shape[1]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IsentropicWarning)
            return fitted.transform(cdist(new, rows) if self.given else new)

    @cached_property
    def fitted(self):
        """On two threads; whoever changes it takes a copy."""
        return self.refit(X, **({"n_jobs": 2} if "n_jobs" in self.estimator.get_params() else {}))

    @cached_property
    def places(self):
        return self.place(self.fitted, NEW)

    @cached_property
    def quality(self):
        return quality(self.fitted.embedding_, self.places)

    @cached_property
    def luck(self):
        """The least and the most that five other seeds give."""
        fits = [self.refit(X, random_state=seed) for seed in range(1, 6)]
        found = [self.quality, *(quality(one.embedding_, self.place(one, NEW)) for one in fits)]
        return np.min(found, axis=0), np.max(found, axis=0)


# ---- helpers that can fail ---------------------------------------------------------------------


def quality(Z, places):
    """The area under R_NX of the map of X, and the share of its 15 neighbours that a row of NEW has there."""
    near, found = (np.argsort(D, axis=1)[:, :15] for D in (cdist(NEW, X), cdist(places, Z)))
    kept = [np.isin(a, b).mean() for a, b in zip(near, found, strict=False)]  # none, where none are placed
    return rnx_auc(X, Z), np.mean(kept) if kept else 1.0


def assert_as_good(found, least, most):
    """The quality of a map, and of the places of new rows in it, is that of other maps of the same rows."""
    (area, kept), room = found, (QUALITY, NEIGHBOURS)
    low, high = np.subtract(least, room), np.add(most, room)
    assert low[0] <= area <= high[0], f"an area of {area:.3f}, not of {least[0]:.3f} to {most[0]:.3f}"
    assert low[1] <= kept <= high[1], f"{kept:.0%} of neighbours, not {least[1]:.0%} to {most[1]:.0%}"


def assert_same_map(Z, places, expected, expected_places, *, tolerance, signs=False):
    """The same coordinates of fitted and new rows, up to a share of the width of the map."""
    apart = tolerance * width(expected)
    assert apart > 0
    both, wanted = np.vstack([Z, places]), np.vstack([expected, expected_places])
    (assert_same_up_to_sign if signs else assert_allclose)(both, wanted, rtol=0, atol=apart)


def assert_fitted_rows_stay(fitted, table):
    """A fitted row has exactly its own coordinates, and equal rows have the same ones."""
    assert_same_bits(fitted.transform(table), fitted.embedding_)


def assert_rows_by_themselves(transform, new):
    """A batch, its rows one by one and its shuffle get the same coordinates, to the bit."""
    together = transform(new)
    assert np.isfinite(together).all()
    assert_same_bits(np.vstack([transform(row[None]) for row in new]), together)
    order = np.random.default_rng(0).permutation(len(new))
    assert_same_bits(transform(new[order]), together[order])


def assert_finite(Z, places, n_rows):
    """Every row has a place, and so has a new one."""
    assert Z.shape[0] == n_rows
    assert np.isfinite(Z).all()
    assert np.isfinite(places).all()


def assert_same_model(case, again):
    """The same map of the same rows, and the same places of new ones, to the bit."""
    assert type(again) is type(case.fitted)
    assert_same_bits(again.embedding_, case.fitted.embedding_)
    assert_same_bits(case.place(again, NEW), case.places)
    for name, value in vars(case.fitted).items():
        if name.endswith("_") and isinstance(value, float | np.ndarray):
            assert_array_equal(getattr(again, name), value)


def _compare(case, fitted, places, *, tolerance, order=None, unit=0, signs=False, alike=False):
    """The map of the same rows in another order, place or unit with that of the case."""
    Z = fitted.embedding_
    if order is not None:
        Z = np.empty_like(Z)
        Z[order] = fitted.embedding_
    if case.searched and not (case.settles and alike):
        assert_finite(Z, places, len(X))
        expected = case.luck if case.draws else (case.quality, case.quality)
        return assert_as_good(quality(np.ldexp(Z, -unit), np.ldexp(places, -unit)), *expected)
    tolerance = SETTLED if case.searched else tolerance
    expected = (np.ldexp(part, unit) for part in (case.fitted.embedding_, case.places))
    assert_same_map(Z, places, *expected, tolerance=tolerance, signs=signs)


# ---- the laws ----------------------------------------------------------------------------------


def a_fitted_row_stays(case):
    if case.places_rows:
        assert_fitted_rows_stay(case.fitted, cdist(X, X) if case.given else X)


def a_row_is_placed_by_itself(case):
    if case.places_rows:
        assert_rows_by_themselves(partial(case.place, case.fitted), np.vstack([NEW, TINY]))


def threads_change_no_bit(case):
    assert_same_model(case, case.refit(X, n_jobs=1))


def writing_into_the_data_moves_nothing(case):
    rows = cdist(X, X) if case.given else X.copy()
    y = classes_of(X) if needs_y(case.estimator) else None
    fitted = fit(clone(case.estimator), rows, y)
    rows *= 5
    if y is not None:
        y[:] = y[0]
    assert_same_model(case, fitted)
    a_fitted_row_stays(case)


def a_pickle_places_rows_alike(case):
    again = pickle.loads(pickle.dumps(case.fitted))
    assert repr(again) == repr(case.fitted)
    assert_same_model(case, again)


def a_saved_model_places_rows_alike(case):
    with tempfile.TemporaryDirectory() as folder:
        save(case.fitted, Path(folder) / "model.isentropic")
        again = load(Path(folder) / "model.isentropic")
    assert repr(again) == repr(case.fitted)
    assert_same_model(case, again)


def row_order_is_only_row_order(case):
    order = np.random.default_rng(0).permutation(len(X))
    other = case.refit(X[order])
    _compare(case, other, case.place(other, NEW, X[order]), tolerance=ROUNDING, order=order, signs=True)


def rigid_motion_changes_nothing(case):
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    rows, new = X @ rotation + 3.0, NEW @ rotation + 3.0
    other = case.refit(rows, classes_of(X) if needs_y(case.estimator) else None)
    _compare(case, other, case.place(other, new, rows), tolerance=ROUNDING, signs=True)


def an_offset_of_columns_changes_nothing(case):
    offsets = np.array([1e7, 0, -2e7])
    other = case.refit(X + offsets)
    places = case.place(other, NEW + offsets, X + offsets)
    _compare(case, other, places, tolerance=OFFSET, alike=True)


def a_unit_changes_the_unit_of_the_map(case, exponent):
    """By the power that is known, which is 1 for most; or nothing, where a map has no unit.

    A unit of ``2^exponent``: where a power would overflow, it is a smaller one.
    """
    exponent = exponent // max(abs(case.power or 1), 1)
    rows, new = np.ldexp(X, exponent), np.ldexp(NEW, exponent)
    other = case.refit(rows)
    assert width(other.embedding_) > 0, "the map has no width in this unit"
    changed = round(np.log2(width(other.embedding_) / width(case.fitted.embedding_)))
    if case.power is None:
        expected = exponent if abs(changed - exponent) < abs(changed) else 0
        right = case.searched or changed == expected
    else:
        expected = exponent * case.power
        right = changed == expected
    assert right, (
        f"rows times 2^{exponent} make a map of 2^{changed} times the width, not of 2^{expected}. "
        "A map in a power of the unit of its data: a line of IN_UNITS in tests/cases.py"
    )
    unit = expected
    _compare(case, other, case.place(other, new, rows), tolerance=NOT_EVEN_ROUNDING, unit=unit, alike=True)


def classes_matter_to_who_learns_from_them(case):
    """And then by what they are, not by what they are called."""
    codes = 10 * np.unique(classes_of(X), return_inverse=True)[1]
    other, expected = case.refit(X, codes), case.fitted
    if isinstance(other, UMAP):  # which learns from them where they are given
        assert not np.array_equal(other.embedding_, expected.embedding_)
        expected = case.refit(X, classes_of(X))
    assert_same_bits(other.embedding_, expected.embedding_)
    assert_same_bits(case.place(other, NEW), case.place(expected, NEW))


def a_degenerate_table_has_a_map(case, table):
    """Or, where an optimiser would have nothing to do, a refusal that says what must be."""
    rows = DEGENERATE[table]
    try:
        fitted = case.refit(rows)
    except IsentropicError as error:
        refused = str(error)
    else:
        new = np.abs(rows).max() * np.resize(NEW[:2], (2, rows.shape[1]))
        assert_finite(fitted.embedding_, case.place(fitted, new, rows), len(rows))
        assert_fitted_rows_stay(fitted, cdist(rows, rows) if case.given else rows)
        return
    assert case.searched, refused
    assert " must be " in refused


class Broken(Exception):
    """What a stage that is broken on purpose raises."""


@contextmanager
def broken(name):
    """A function of the library that raises wherever it is called; yields whether it was."""
    called = []

    def fails(*args, **kwargs):
        called.append(name)
        raise Broken(name)

    holders = [module for key, module in list(sys.modules.items())
               if key.startswith("isentropic.") and name in vars(module)]  # fmt: skip
    with ExitStack() as stack:
        for module in holders:
            stack.enter_context(patch.object(module, name, fails))
        yield called


def a_broken_refit_changes_nothing(case):
    """Of a method whose eigenvectors get signs, which comes late: if that fails, the old map stays."""
    if not hasattr(case.fitted, "eigenvalues_") or case.given:
        return
    again = copy.deepcopy(case.fitted)
    with broken("fixed_signs") as called, suppress(Broken):
        fit(again, X[:100] + 0.5)
    assert called == ["fixed_signs"], "no stage of this fit was broken"
    assert_same_model(case, again)


def a_failed_refit_changes_nothing(case):
    """Of a method with a start: one that does not fit the rows is refused, late, and the old map stays."""
    if "init" not in case.estimator.get_params() or case.given:  # distances to other rows are other features
        return
    again = copy.deepcopy(case.fitted)
    again.set_params(init=np.zeros((3, 3)), **({"neighbors": None} if case.lists else {}))
    refused = "nothing, for a start of 3 rows for 50"
    try:
        fit(again, X[:50] + 0.5)
    except IsentropicError as error:
        refused = str(error)
    assert refused.startswith("init must be "), refused
    again.set_params(init=case.fitted.init)
    assert_same_model(case, again)


def one_feature_has_a_map(case):
    rows = np.random.default_rng(3).normal(size=(60, 1))
    inner = "" if "n_components" in case.estimator.get_params() else "estimator__"
    fitted = case.refit(rows, **{f"{inner}n_components": 1})
    assert_finite(fitted.embedding_, case.place(fitted, rows[:2] + 0.1, rows), len(rows))


def degenerate_tables():
    rng = np.random.default_rng(2)
    row = np.ones((1, 3))
    return {
        "duplicates": np.repeat(rng.normal(size=(30, 3)), 10, axis=0),
        "equal rows": np.repeat(row, 12, axis=0),
        "300 equal rows": np.repeat(row, 300, axis=0),
        "two rows": np.vstack([row, 2 * row]),
        "one row apart": np.vstack([np.repeat(row, 250, axis=0), 5 * row]),
        "a constant column": rng.normal(size=(250, 3)) * [1, 1, 0],
        "regular simplex": np.eye(30),  # all distances are equal, and so are all eigenvalues but one
        "tiny": rng.normal(size=(40, 3)) * 1e-12,
        "huge": rng.normal(size=(40, 3)) * 1e12,
    }


DEGENERATE = degenerate_tables()
LAWS = {
    "fitted rows": a_fitted_row_stays,
    "batch": a_row_is_placed_by_itself,
    "threads": threads_change_no_bit,
    "table": writing_into_the_data_moves_nothing,
    "pickle": a_pickle_places_rows_alike,
    "saved": a_saved_model_places_rows_alike,
    "row order": row_order_is_only_row_order,
    "rigid motion": rigid_motion_changes_nothing,
    "offset": an_offset_of_columns_changes_nothing,
    "small unit": partial(a_unit_changes_the_unit_of_the_map, exponent=-460),
    "large unit": partial(a_unit_changes_the_unit_of_the_map, exponent=460),
    "classes": classes_matter_to_who_learns_from_them,
    "failed refit": a_failed_refit_changes_nothing,
    "broken refit": a_broken_refit_changes_nothing,
    "one feature": one_feature_has_a_map,
    **{table: partial(a_degenerate_table_has_a_map, table=table) for table in DEGENERATE},
}
