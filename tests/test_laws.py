"""The laws of tests/laws.py, for every method of the registry and for variants of some."""

import numpy as np
import pytest

import cases
import laws
from isentropic import ClassicalMDS, Geodesic, Isomap, ParameterFreeSDD, Percentile, Radius

pytestmark = pytest.mark.filterwarnings("ignore::isentropic._core.errors.IsentropicWarning")
EXEMPT = {(exemption.name, exemption.law): exemption for exemption in laws.EXEMPTIONS}


def held(names, laws_of_them):
    """Every name with every law; an exemption that is not needed any more is a failure."""
    for name in names:
        for law in laws_of_them:
            exempt = EXEMPT.get((name, law))
            marks = (
                pytest.mark.xfail(strict=True, raises=exempt.raises, reason=exempt.reason) if exempt else ()
            )
            yield pytest.param(name, law, marks=marks, id=f"{name} {law}".replace(" ", "-"))


ORDINARY = [law for law in laws.LAWS if law not in laws.DEGENERATE]


@pytest.mark.parametrize(
    ("name", "law"), [*held(cases.NAMES, laws.LAWS), *held([*cases.GIVEN, *cases.VARIANTS], ORDINARY)]
)
def test_every_method_keeps(name, law):
    try:
        laws.LAWS[law](cases.case(name))
    except Exception as error:
        what_may_be_done = "a line of EXEMPTIONS in tests/laws.py, with the reason."
        error.add_note(f"If {name} cannot keep {law!r} by its nature: {what_may_be_done}")
        raise


def test_a_law_that_fails_says_what_may_be_done(monkeypatch):
    def broken(case):
        raise AssertionError

    monkeypatch.setitem(laws.LAWS, "batch", broken)
    with pytest.raises(AssertionError) as caught:
        test_every_method_keeps("pca", "batch")
    assert caught.value.__notes__ == [
        "If pca cannot keep 'batch' by its nature: a line of EXEMPTIONS in tests/laws.py, with the reason."
    ]


def test_an_exemption_is_of_a_case_and_of_a_law():
    assert {exemption.name for exemption in laws.EXEMPTIONS} <= {*cases.NAMES, *cases.VARIANTS}
    assert {exemption.law for exemption in laws.EXEMPTIONS} <= set(laws.LAWS)
    assert len(EXEMPT) == len(laws.EXEMPTIONS)


# ---- every metric ------------------------------------------------------------------------------

PLACES = {
    "isomap": lambda metric: Isomap(5, metric=metric),
    "landmarks": lambda metric: Isomap(5, metric=metric, n_landmarks=12),
    "radius": lambda metric: Isomap(neighbors=Radius(0.4), metric=metric),
    "percentile": lambda metric: Isomap(neighbors=Percentile(15), metric=metric),
    "mds": lambda metric: ClassicalMDS(metric=metric),
    "sdd": lambda metric: ParameterFreeSDD(metric=metric, max_iter=10),
    "drawn pairs": lambda metric: ParameterFreeSDD(metric=metric, max_iter=10, pairs=8),
    "geodesic sdd": lambda metric: ParameterFreeSDD(metric=Geodesic(5, metric), max_iter=10),
}


def whole_numbers(kind):
    """Sixty rows with many equal distances, and twelve new ones; the first columns give all a direction."""
    rng = np.random.default_rng(5)
    X = rng.random((72, 8)) < 0.4 if kind == "binary" else rng.poisson(1.0, size=(72, 8))
    X = X.astype(float)
    X[:, :2] = [1, 0]
    return X[:60], X[60:]


@pytest.mark.parametrize("kind", ["binary", "counts"])
@pytest.mark.parametrize("metric", ["cosine", "correlation", "manhattan"])
@pytest.mark.parametrize("method", PLACES)
def test_a_row_is_placed_by_itself_by_any_metric(method, metric, kind):
    X, new = whole_numbers(kind)
    fitted = laws.fit(PLACES[method](metric), X)
    laws.assert_rows_by_themselves(fitted.transform, new)
    laws.assert_fitted_rows_stay(fitted, X)
