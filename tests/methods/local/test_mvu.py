"""MVU against its semidefinite program, solved otherwise and bounded by its dual; sheets, parts, refusals."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime
from scipy.spatial import procrustes
from scipy.spatial.distance import cdist, pdist
from sklearn.datasets import make_swiss_roll

import laws
from isentropic import MVU, IsentropicWarning, Isomap
from isentropic._core.errors import DisconnectedGraphError, DisconnectedGraphWarning, InvalidInputError
from isentropic._core.runtime import one_blas_thread
from isentropic.methods.local.mvu import Unfolding, _squared_lengths, evened, landmark_basis, patch_pairs
from isentropic.methods.local.neighborhoods import find_neighborhoods, reconstruction_weights


def roll(n, seed=1):
    """A roll, and the sheet that it is: length along it, and height."""
    X, angle = make_swiss_roll(n, random_state=seed)
    return X, np.column_stack([(angle * np.sqrt(1 + angle**2) + np.arcsinh(angle)) / 2, X[:, 1]])


ROLL = roll(50, 0)[0]
CLOUD = np.random.default_rng(0).normal(size=(50, 3))


# ---- the semidefinite program ------------------------------------------------------------------


class Program:
    """``max tr K``, K positive semi-definite and centred, with given squared distances, plainly."""

    def __init__(self, X, k):
        n, pairs = len(X), naive_pairs(X, k)
        self.B = np.zeros((len(pairs), n))
        self.B[np.arange(len(pairs)), pairs[:, 0]], self.B[np.arange(len(pairs)), pairs[:, 1]] = 1, -1
        self.squared = ((self.B @ X) ** 2).sum(axis=1)
        self.H = np.eye(n) - 1 / n

    def lengths(self, K):
        return ((self.B @ K) * self.B).sum(axis=1)

    def laplacian(self, y):
        return (self.B.T * y) @ self.B

    def bound(self, y):
        """No K has a larger trace: weak duality, once multipliers are scaled to ``laplacian(y) >= H``."""
        second = np.linalg.eigvalsh(self.laplacian(y) + 1e3 * (np.eye(len(self.H)) - self.H))[0]
        assert second > 0
        return y @ self.squared / second

    def solved(self, rounds, K, y, mu=1.0):
        """Alternating directions on the dual (Wen, Goldfarb and Yin): K and the multipliers."""
        inverse = np.linalg.inv((self.B @ self.B.T) ** 2)
        S = self.positive(self.laplacian(y) - self.H)
        for number in range(1, rounds + 1):
            y = inverse @ (mu * (self.lengths(K) - self.squared) + self.lengths(S + self.H))
            V = self.laplacian(y) - self.H - mu * K
            S = self.positive(self.H @ V @ self.H)
            K = (S - self.H @ V @ self.H) / mu
            if number % 50 == 0:  # neither side may fall behind the other
                primal = np.linalg.norm(self.lengths(K) - self.squared)
                dual = np.linalg.norm(self.laplacian(y) - self.H - S)
                mu *= 1.5 if primal > 5 * dual else 1 / 1.5 if dual > 5 * primal else 1.0
        return K, y

    @staticmethod
    def positive(V):
        values, vectors = np.linalg.eigh((V + V.T) / 2)
        return (vectors * np.maximum(values, 0)) @ vectors.T


def naive_pairs(X, k):
    """Neighbours, and rows that some row has both of in its list."""
    near = np.argsort(cdist(X, X) + np.diag(np.full(len(X), np.inf)), axis=1)[:, :k]
    patches = [{i, *row} for i, row in enumerate(near.tolist())]
    n = len(X)
    return np.array([(i, j) for i in range(n) for j in range(i + 1, n) if any({i, j} <= p for p in patches)])


@pytest.fixture
def one_thread():
    with one_blas_thread():  # two of them wait for each other in such small products
        yield


def trace(fitted):
    return fitted.eigenvalues_.sum() / fitted.variance_share_


def test_pairs_are_those_of_all_patches():
    assert_array_equal(patch_pairs(find_neighborhoods(ROLL, 4)), naive_pairs(ROLL, 4))


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize(("X", "k"), [(ROLL, 5), (CLOUD, 5)], ids=["roll", "cloud"])
def test_the_trace_is_that_of_the_semidefinite_program(X, k):
    """Another method, from nothing, ends at the same trace, and its multipliers prove that none is larger."""
    program = Program(X / np.sqrt(((X - X.mean(axis=0)) ** 2).mean()), k)
    K, y = program.solved(2_000, np.zeros((50, 50)), np.zeros(len(program.squared)))
    assert_allclose(program.lengths(K), program.squared, atol=1e-3 * program.squared.mean())
    assert program.bound(y) == pytest.approx(np.trace(K), rel=2e-4)
    fitted, unit = MVU(k, tol=1e-4).fit(X), ((X - X.mean(axis=0)) ** 2).mean()
    assert trace(fitted) / unit == pytest.approx(program.bound(y), rel=5e-4)


def test_distances_that_may_shrink_leave_more_variance():
    program = Program(CLOUD, 8)
    free = MVU(8, 8, constraints="at-most", tol=1e-4).fit(CLOUD)
    lengths = program.lengths(free.embedding_ @ free.embedding_.T)
    assert (lengths <= program.squared + 2e-4 * program.squared.mean()).all()
    assert (lengths < 0.9 * program.squared).any()
    assert trace(free) > trace(MVU(8, tol=1e-4).fit(CLOUD))


def centred(Z):
    return Z - Z.mean(axis=0)


@pytest.mark.parametrize("at_most", [False, True])
def test_the_cost_is_that_of_its_formula(at_most, rng):
    pairs = naive_pairs(ROLL, 4)
    problem = Unfolding(50, pairs, _squared_lengths(ROLL, pairs)[1], at_most)
    Y, multipliers = rng.normal(size=(50, 3)), rng.normal(size=len(pairs)) ** 2
    excess = ((Y[pairs[:, 0]] - Y[pairs[:, 1]]) ** 2).sum(axis=1) - problem.squared
    assert_allclose(problem.excess(Y), excess, rtol=1e-9, atol=1e-12)
    moved = problem.moved(multipliers, 3.0, excess)
    variance = (centred(Y) ** 2).sum() / 50
    expected = -variance + (moved @ moved - multipliers @ multipliers) / (2 * 50 * 3.0)
    assert_allclose(problem.lagrangian(multipliers, 3.0)(Y)[0], expected, rtol=1e-12)
    for basis in (centred(rng.normal(size=(50, 6))), None):
        problem = replace(problem, basis=basis)
        one, two = (replace(problem, n_jobs=n_jobs).lagrangian(multipliers, 3.0) for n_jobs in (1, 2))
        at = Y if basis is None else Y[:6]
        assert one(at)[0] == two(at)[0]
        assert_array_equal(one(at)[1], two(at)[1])


def test_coordinates_in_which_lengths_change_evenly_leave_the_problem_as_it_is(rng):
    pairs = naive_pairs(ROLL, 4)
    problem = Unfolding(50, pairs, _squared_lengths(ROLL, pairs)[1], True, centred(rng.normal(size=(50, 6))))
    Y = rng.normal(size=(6, 3))
    even, start = evened(problem, Y)
    assert_allclose(even.rows(start), problem.rows(Y), atol=1e-5)
    assert_allclose(even.excess(start), problem.excess(Y), atol=1e-4)
    gaps = even.basis[pairs[:, 0]] - even.basis[pairs[:, 1]]
    moments = gaps.T @ gaps
    assert_allclose(moments, np.eye(6) * np.trace(moments) / 6, atol=1e-4 * np.trace(moments))


@pytest.mark.parametrize("basis", [None, "landmarks"])
@pytest.mark.parametrize("at_most", [False, True])
def test_the_gradient_is_that_of_the_cost(at_most, basis, rng):
    pairs = naive_pairs(ROLL, 4)
    Q = None if basis is None else centred(rng.normal(size=(50, 6)))
    problem = Unfolding(50, pairs, _squared_lengths(ROLL, pairs)[1], at_most, Q)
    Y = rng.normal(size=(50 if Q is None else 6, 3))
    cost = problem.lagrangian(rng.normal(size=len(pairs)) ** 2, 3.0)
    numeric = approx_fprime(Y.ravel(), lambda flat: cost(flat.reshape(Y.shape))[0], 1e-6)
    assert_allclose(cost(Y)[1].ravel(), numeric, atol=1e-4 * np.abs(numeric).max())


# ---- sheets ------------------------------------------------------------------------------------


def test_a_roll_is_unrolled_many_times_as_well_as_by_isomap():
    X, sheet = roll(400)
    fitted = MVU().fit(X)
    assert procrustes(sheet, fitted.embedding_)[2] < 0.0002
    assert 0.007 < procrustes(sheet, Isomap(6).fit_transform(X))[2]
    assert fitted.variance_share_ > 0.998
    assert fitted.eigengap_ > 0.98
    assert fitted.violation_ <= 0.005
    new, places = roll(450)[0][400:], fitted.transform(roll(450)[0][400:])
    nearest = cdist(new, X).argmin(axis=1)
    apart = np.linalg.norm(places - fitted.embedding_[nearest], axis=1)
    assert apart.max() < 0.1 * laws.width(fitted.embedding_)


def test_a_flat_sheet_is_itself(rng):
    flat = rng.uniform(size=(120, 2)) * [3, 1]
    X = flat @ np.linalg.qr(rng.normal(size=(5, 5)))[0][:2]
    fitted = MVU(8).fit(X)
    assert_allclose(cdist(fitted.embedding_, fitted.embedding_), cdist(X, X), atol=1e-3)


def test_a_bent_line_is_straight_and_its_second_coordinate_zero():
    angle = np.linspace(0, 5, 40)
    with pytest.warns(IsentropicWarning, match="has a rank of 1: the last 1 of 2 coordinates are zero"):
        fitted = MVU(2, constraints="at-most").fit(np.linspace(0, 1, 40)[:, None] * [3, 4])
    assert_allclose(np.ptp(fitted.embedding_, axis=0), [5, 0], atol=1e-4)
    arc = MVU(2, tol=1e-4).fit(np.column_stack([np.cos(angle), np.sin(angle)]))
    chord = 2 * np.sin(5 / 39 / 2)
    assert np.ptp(arc.embedding_[:, 0]) == pytest.approx(39 * chord, rel=0.01)


# ---- landmarks ---------------------------------------------------------------------------------


def test_the_basis_minimises_what_rows_differ_from_their_sums():
    lists = find_neighborhoods(ROLL, 5)
    W, landmarks = reconstruction_weights(ROLL, lists, 1e-3), np.arange(0, 50, 7)
    Q = landmark_basis(W, landmarks)
    assert_array_equal(Q[landmarks], np.eye(len(landmarks)))
    assert_allclose(Q.sum(axis=1), 1, atol=1e-8)  # a shift of the landmarks is one of all
    M = (np.eye(50) - W.toarray()).T @ (np.eye(50) - W.toarray())
    others = np.setdiff1d(np.arange(50), landmarks)
    assert_allclose((M @ Q)[others], 0, atol=1e-10)


def test_landmarks_unroll_too():
    X, sheet = roll(1_000, 0)
    fitted = MVU(n_landmarks=80, max_iter=1_500, tol=0.3).fit(X)
    assert len(fitted.landmarks_) == 80
    assert procrustes(sheet, fitted.embedding_)[2] < procrustes(sheet, Isomap(6).fit_transform(X))[2]
    laws.assert_fitted_rows_stay(fitted, X)


def test_as_many_landmarks_as_rows_are_all_rows():
    every = MVU(max_iter=50, tol=1.0, n_landmarks=50).fit(ROLL)
    assert every.landmarks_ is None
    assert_array_equal(every.embedding_, MVU(max_iter=50, tol=1.0).fit(ROLL).embedding_)


# ---- awkward and bad input ---------------------------------------------------------------------

APART = np.concatenate([CLOUD, CLOUD[:20] + 40.0])


def test_parts_are_bridged_and_said_to_be():
    with (
        pytest.warns(DisconnectedGraphWarning, match="2 parts of 50, 20 rows: the shortest edge"),
        pytest.warns(DisconnectedGraphWarning, match="1 of 2 coordinate only separates groups"),
    ):
        fitted = MVU(5, tol=0.05).fit(APART)
    assert np.isfinite(fitted.embedding_).all()
    gap = cdist(APART[:50], APART[50:]).min()
    assert cdist(fitted.embedding_[:50], fitted.embedding_[50:]).min() > 0.9 * gap


def test_the_largest_part_is_fitted_and_the_others_are_placed():
    with pytest.warns(DisconnectedGraphWarning, match="other 20 rows are placed"):
        fitted = MVU(5, tol=0.05, on_disconnected="largest").fit(APART)
    assert_array_equal(fitted.embedding_[:50], MVU(5, tol=0.05).fit(CLOUD).embedding_)
    laws.assert_fitted_rows_stay(fitted, APART)


@pytest.mark.filterwarnings("ignore::isentropic._core.errors.IsentropicWarning")
def test_landmarks_of_the_largest_part_are_its_own_rows(rng):
    X, far = rng.normal(size=(60, 3)), rng.normal(size=(10, 3)) + 100
    options = {"n_landmarks": 15, "max_iter": 50, "tol": 0.5}
    found = MVU(6, on_disconnected="largest", **options).fit(np.vstack([far, X]))
    alone = MVU(6, **options).fit(X)
    assert_array_equal(found.embedding_[10:], alone.embedding_)
    assert_array_equal(found.landmarks_, alone.landmarks_ + 10)


def test_equal_rows_count_once():
    X = np.concatenate([CLOUD, CLOUD[::2], CLOUD[:9]])
    order = np.random.default_rng(0).permutation(len(X))
    fitted, plain = MVU(5).fit(X[order]), MVU(5).fit(CLOUD)
    assert trace(fitted) == pytest.approx(trace(plain), rel=1e-4)
    laws.assert_fitted_rows_stay(fitted, X[order])
    same = MVU(5).fit(X)
    assert_array_equal(same.embedding_[:50], plain.embedding_)
    assert_array_equal(same.embedding_[50:75], plain.embedding_[::2])


def test_what_is_not_met_is_said():
    with pytest.warns(
        IsentropicWarning, match=r"still differs by .* of the mean after 5 steps \(tol=0.005\)"
    ):
        fitted = MVU(max_iter=5).fit(ROLL)
    assert fitted.n_iter_ == 5
    assert fitted.violation_ > 0.005


def test_few_rows_have_a_map():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IsentropicWarning)
        two = MVU().fit([[0.0, 0.0], [3.0, 4.0]])
        triangle = MVU().fit([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]])
    assert_allclose(np.abs(np.diff(two.embedding_, axis=0)), [[5, 0]], atol=1e-2)
    assert_allclose(np.sort(pdist(triangle.embedding_)), [3, 4, 5], atol=2e-2)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"constraints": "equals"}, "constraints must be one of equal, at-most, got 'equals'"),
        ({"tol": 0}, "tol must be a positive number, got 0"),
        ({"max_iter": 0}, "max_iter must be"),
        (
            {"n_landmarks": 3},
            r"n_landmarks must be .* at least n_components \+ 2 = 4, None or 'auto'",
        ),
        ({"n_landmarks": "some"}, "n_landmarks must be"),
        ({"n_neighbors": 1}, "n_neighbors must be an integer of at least n_components = 2, got 1"),
        ({"on_disconnected": "inflate"}, "on_disconnected must be one of bridge, largest, raise"),
        ({"regularization": -1}, "regularization must be a positive number"),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises(InvalidInputError, match=message):
        MVU(**params).fit(ROLL)


def test_parts_can_be_refused():
    with pytest.raises(DisconnectedGraphError, match="2 parts"):
        MVU(5, on_disconnected="raise").fit(APART)


def test_parts_that_nothing_holds_together_cannot_be_mapped_apart(rng):
    X = np.vstack([rng.normal(size=(20, 3)), 100 + rng.normal(size=(20, 3))])
    with pytest.raises(InvalidInputError, match=r"must be one of bridge, largest, raise, got"):
        MVU(5, on_disconnected="separate").fit(X)


def test_a_new_row_goes_where_equal_rows_are():
    with pytest.warns(IsentropicWarning):
        fitted = MVU(3).fit(np.ones((12, 3)))
    assert_array_equal(fitted.transform([[1.0, 2.0, 3.0], [1.0, 1.0, 1.0]]), np.zeros((2, 2)))
