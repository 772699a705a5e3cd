"""One line per method, and everything that derives from it."""

import inspect
import re
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import MappingProxyType

import pytest
from sklearn.base import BaseEstimator

import isentropic.methods
from isentropic import registry
from isentropic._errors import InvalidInputError
from isentropic.registry import METHODS, Method, make

METHODS_FOLDER = Path(isentropic.methods.__file__).parent
NAMES = ("pca", "classical-mds", "isomap", "landmark-isomap")
every_method = pytest.mark.parametrize("name", METHODS)


# ---- the lines ---------------------------------------------------------------------------------


def test_the_names_users_rely_on():
    assert set(NAMES) <= set(METHODS)


def test_every_method_file_is_registered():
    files = {path.stem for path in METHODS_FOLDER.glob("[!_]*.py")}
    assert files == {
        m.module.rsplit(".", 1)[-1] for m in METHODS.values() if m.module.startswith("isentropic.methods.")
    }


@every_method
def test_a_name_is_in_kebab_case_and_names_its_own_line(name):
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
    assert METHODS[name].name == name


def test_no_two_lines_have_the_same_name():
    names = [method.name for method in registry._BUILT_IN]
    assert len(names) == len(set(names))


@every_method
def test_a_line_is_complete(name):
    method = METHODS[name]
    assert re.fullmatch(r"[A-Z].*\.", method.summary)
    assert re.fullmatch(r"[a-z]+", method.family)
    assert re.fullmatch(r"O\(.+\); O\(.+\)", method.cost)  # time; memory
    assert re.search(r"\(\d{4}\)", method.reference)
    assert method.out_of_sample in ("exact", "optimised", "none")
    assert method.max_rows > 0


@every_method
def test_the_target_is_an_estimator_that_takes_the_preset(name):
    method = METHODS[name]
    estimator = method.load()
    assert issubclass(estimator, BaseEstimator)
    assert f"{estimator.__module__}:{estimator.__name__}" == method.target
    assert set(method.params) <= set(inspect.signature(estimator).parameters)


@every_method
def test_what_the_line_says_of_the_estimator_is_true(name):
    method, estimator = METHODS[name], METHODS[name].load()
    assert hasattr(estimator, "transform") == (method.out_of_sample != "none")
    assert method.precomputed == ("metric" in inspect.signature(estimator).parameters)
    assert make(name).__sklearn_tags__().target_tags.required == method.needs_y


def test_methods_cannot_be_changed():
    with pytest.raises(TypeError):
        METHODS["pca"] = METHODS["isomap"]
    with pytest.raises(AttributeError):
        METHODS["pca"].name = "other"
    assert isinstance(METHODS, MappingProxyType)


# ---- make --------------------------------------------------------------------------------------


@every_method
def test_make_applies_the_preset(name):
    method = METHODS[name]
    built = make(name)
    assert type(built) is method.load()
    defaults = type(built)().get_params()
    assert built.get_params() == defaults | dict(method.params)


def test_a_parameter_wins_over_the_preset():
    assert make("landmark-isomap").n_landmarks == 500
    assert make("landmark-isomap", n_landmarks=80, n_components=3).get_params()["n_landmarks"] == 80
    assert make("landmark-isomap", n_components=3).n_components == 3
    assert make("landmark-isomap").n_landmarks == 500  # the line itself did not change
    assert make("isomap").n_landmarks is None


@pytest.mark.parametrize(
    ("typed", "meant"), [("isomup", "isomap"), ("pcaa", "pca"), ("classic-mds", "classical-mds")]
)
def test_an_unknown_method_offers_the_nearest(typed, meant):
    with pytest.raises(InvalidInputError) as caught:
        make(typed)
    said = str(caught.value)
    assert said.startswith(f"method must be one of {', '.join(METHODS)}, got {typed!r}. Did you mean ")
    assert repr(meant) in said


def test_an_unknown_method_like_no_other_offers_nothing():
    with pytest.raises(InvalidInputError) as caught:
        make("zzz")
    assert str(caught.value) == f"method must be one of {', '.join(METHODS)}, got 'zzz'."


def test_an_unknown_parameter_offers_the_nearest():
    with pytest.raises(InvalidInputError) as caught:
        make("isomap", n_neighbours=5)
    said = str(caught.value)
    assert said.startswith("isomap has no parameter 'n_neighbours'. Did you mean 'n_neighbors'")
    assert said.endswith(f"? It takes {', '.join(inspect.signature(METHODS['isomap'].load()).parameters)}.")


def test_an_unknown_parameter_like_no_other_lists_what_there_is():
    with pytest.raises(InvalidInputError) as caught:
        make("pca", zzzzzz=5)
    assert str(caught.value) == "pca has no parameter 'zzzzzz'. It takes n_components, whiten, n_jobs."


# ---- methods of third parties ------------------------------------------------------------------

MODULE = """
from sklearn.base import BaseEstimator
from isentropic.registry import Method

class Flat(BaseEstimator):
    def __init__(self, height=1):
        self.height = height

line = Method("flat", "flatland:Flat", "Everything in a plane.", "linear", "O(n); O(n)", "Abbott (1884)",
              params={"height": 0})
"""


@pytest.fixture
def flatland(tmp_path, monkeypatch):
    """A distribution on the path that declares a method, as one that is installed does."""
    (tmp_path / "flatland.py").write_text(MODULE, encoding="utf-8")
    info = tmp_path / "flatland-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: flatland\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[isentropic.methods]\nflat = flatland:line\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("flatland", None)


def read_again():
    """The registry module as a new process would read it."""
    spec = spec_from_file_location("isentropic._registry_read_again", registry.__file__)
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[spec.name]
    return module


@pytest.mark.usefixtures("flatland")
def test_methods_of_other_packages_get_in():
    again = read_again()
    assert set(again.METHODS) == {*METHODS, "flat"}
    assert again.make("flat").height == 0
    assert again.make("flat", height=2).height == 2
    with pytest.raises(InvalidInputError, match=r"flat has no parameter 'hight'\. Did you mean 'height'"):
        again.make("flat", hight=3)


def test_without_them_there_are_only_ours():
    assert set(read_again().METHODS) == set(METHODS)
    assert "flat" not in METHODS


def test_entry_points_of_other_groups_are_not_methods(monkeypatch):
    asked = []

    class Point:
        def load(self):
            return Method("flat", "flatland:Flat", "Flat.", "linear", "O(n); O(n)", "Abbott (1884)")

    def entry_points(*, group):
        asked.append(group)
        return [Point()]

    monkeypatch.setattr(registry, "entry_points", entry_points)
    assert [method.name for method in registry._installed()] == ["flat"]
    assert asked == ["isentropic.methods"]
