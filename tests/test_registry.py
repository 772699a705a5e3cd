"""One line per method, and everything that derives from it."""

import ast
import inspect
import re
import subprocess
import sys
import tomllib
from dataclasses import replace
from importlib import import_module
from importlib.util import module_from_spec, resolve_name, spec_from_file_location
from pathlib import Path
from pkgutil import walk_packages
from types import MappingProxyType

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator

import cases
import isentropic.embedding
import isentropic.methods
import laws
from isentropic import Knn, Landmarks, registry
from isentropic._core import errors as _extras
from isentropic._core.errors import EXTRAS, InvalidInputError, MissingExtraError
from isentropic._core.state import field_specs
from isentropic.comparison import PRESETS
from isentropic.embedding.embedder import Embedder, SupportsInverse
from isentropic.embedding.row_distances import ALL_UP_TO
from isentropic.quality import kendall_tau
from isentropic.registry import FAMILIES, METHODS, Method, make

NAMES = ("pca", "classical-mds", "isomap", "landmark-isomap")
every_method = pytest.mark.parametrize("name", METHODS)


# ---- the lines ---------------------------------------------------------------------------------


def test_the_names_users_rely_on():
    assert set(NAMES) <= set(METHODS)


def modules_below(package):
    return [
        module.name for module in walk_packages(package.__path__, f"{package.__name__}.") if not module.ispkg
    ]


def test_every_estimator_is_registered():
    """All but those from which others inherit, and :class:`Selected`, which takes any of them."""
    kinds = [
        kind
        for name in modules_below(isentropic.methods)
        for kind in vars(import_module(name)).values()
        if inspect.isclass(kind) and kind.__module__ == name and issubclass(kind, BaseEstimator)
    ]
    bases = {base for kind in kinds for base in kind.__mro__[1:]}
    alone = {f"{kind.__module__}:{kind.__name__}" for kind in kinds if kind not in bases}
    ours = {method.target for method in METHODS.values() if method.module.startswith("isentropic.")}
    assert alone == ours | {f"{isentropic.Selected.__module__}:Selected"}


def test_no_module_of_a_family_imports_that_of_a_method():
    """So methods never import each other, nor does what they share import one of them."""
    methods = {method.module for method in METHODS.values()}
    for name in [*modules_below(isentropic.methods), *modules_below(isentropic.embedding)]:
        module = import_module(name)
        for node in ast.walk(ast.parse(Path(module.__file__).read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                source = resolve_name("." * node.level + (node.module or ""), module.__package__)
                named = {source, *(f"{source}.{alias.name}" for alias in node.names)}
                assert named.isdisjoint(methods), f"{name} imports {named & methods}"


@every_method
def test_a_name_is_in_kebab_case_and_names_its_own_line(name):
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
    assert METHODS[name].name == name


def test_no_two_lines_have_the_same_name():
    names = [method.name for method in registry.BUILT_IN]
    assert len(names) == len(set(names))


def test_a_line_stands_in_the_folder_of_its_estimator():
    folders = {folder.__name__: folder.METHODS for folder in registry._FOLDERS}
    for folder, lines in folders.items():
        assert [line.name for line in lines if line.module.rpartition(".")[0] != folder] == []
    assert {line.name for line in registry.BUILT_IN} == {
        line.name for lines in folders.values() for line in lines
    }


def test_methods_are_listed_by_family_and_some_after_a_relative():
    names = [line.name for line in registry.BUILT_IN]
    families = list(dict.fromkeys(line.family for line in registry.BUILT_IN))
    assert families == list(registry._READ_AS)
    assert set(families) == set(FAMILIES)
    for name, relative in registry._FOLLOWS.items():
        assert names[names.index(name) - 1] == relative
    assert names[:6] == ["pca", "lpp", "npe", "linear-ltsa", "can-lpp", "pnn-lpp"]


def test_listing_the_methods_imports_no_estimator():
    script = "import isentropic.registry, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    modules = set(done.stdout.split())
    assert modules.isdisjoint(line.module for line in METHODS.values())
    assert modules.isdisjoint({"numba", "sklearn", "scipy"})


@every_method
def test_a_line_is_complete(name):
    method = METHODS[name]
    assert re.fullmatch(r"[A-Z].*\.", method.summary)
    assert method.family in FAMILIES
    assert method.preset in PRESETS
    assert method.extra == "" or method.extra in EXTRAS
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
    assert make(name).__sklearn_tags__().target_tags.required == method.needs_y


@every_method
def test_precomputed_distances_give_the_map_of_the_table_where_the_line_says_so(name):
    D = cdist(laws.X, laws.X)
    if METHODS[name].precomputed:
        Z, given = cases.case(name).fitted.embedding_, cases.case(f"{name} of distances").fitted
        assert given.embedding_.shape == Z.shape
        assert given.n_features_in_ == len(laws.X)
        assert kendall_tau(D, given.embedding_, metric="precomputed").value == pytest.approx(
            kendall_tau(laws.X, Z).value, abs=0.02
        )
    elif "metric" not in METHODS[name].params:  # one that is its metric would be another method
        with pytest.raises((InvalidInputError, TypeError), match="metric"):
            laws.fit(make(name, metric="precomputed"), D)


# Parameters with which a method draws that otherwise does so only for more rows than a test has.
DRAWING = {
    "sdd": {"degree": 1, "pairs": 4},
    "multi-sdd": {"degrees": (1, 2), "pairs": 4},
    "parameter-free-sdd": {"pairs": 4},
    "metric-mds": {"pairs": 4},
    "elastic-scaling": {"pairs": 4},
    "sammon": {"pairs": 4},
    "nonmetric-mds": {"pairs": 4},
    "geodesic-sammon": {"metric": "euclidean", "pairs": 4},
    "cca": {"pairs": 4},
    "cda": {"rule": "stochastic"},
    "dd-hds": {"pairs": 4},
    "isomap": {"n_landmarks": Landmarks(10, "random")},
    "landmark-isomap": {"n_landmarks": Landmarks(10, "random")},
    "c-isomap": {"n_landmarks": Landmarks(10, "random")},
    "kernel-isomap": {"n_landmarks": Landmarks(10, "random")},
    "entropic-isomap": {"n_landmarks": Landmarks(10, "random")},
    "class-isomap": {"n_landmarks": Landmarks(10, "random")},
    "t-sne": {"init": "random"},
    "global-t-sne": {"init": "random"},
    "sgt-sne": {"low_dimensional": "graph", "max_iter": 5},
    "set-sne": {"low_dimensional": "graph", "max_iter": 5},
}


@every_method
def test_another_seed_gives_another_map_where_the_line_says_so(name):
    method = METHODS[name]
    X = np.random.default_rng(0).normal(size=(80, 4))
    has_seed = "random_state" in inspect.signature(method.load()).parameters
    assert has_seed or not method.stochastic

    def same(**params):
        seeds = ({"random_state": seed} if has_seed else {} for seed in (0, 1))
        small = cases.SMALL.get(name, {}) | params
        one, two = (laws.fit(make(name, **small, **seed), X).embedding_ for seed in seeds)
        return bool(np.array_equal(one, two))

    assert same() == (method.draws_above != 0)
    assert method.draws_above in (None, 0) or not same(**DRAWING[name])


def test_the_lines_know_from_how_many_rows_on_pairs_and_neighbours_are_drawn():
    of_pairs = ("sdd", "multi-sdd", "parameter-free-sdd", "metric-mds", "elastic-scaling")
    of_pairs += ("sammon", "nonmetric-mds", "cca", "dd-hds")
    assert {METHODS[name].draws_above for name in of_pairs} == {ALL_UP_TO}
    lines = (METHODS[name] for name in ("isomap", "landmark-isomap", "entropic-isomap", "t-sne"))
    assert {line.draws_above for line in lines} == {Knn().exact_below}


@every_method
def test_figures_are_fitted_attributes(name):
    model = cases.case(name).fitted
    figures = (*registry.family_of(METHODS[name]).figures, *METHODS[name].figures)
    missing = [figure for figure in METHODS[name].figures if not hasattr(model, figure)]
    assert not missing, f"figures of the line of {name}: {missing} are not fitted"
    which = (
        f"none of {figures} is fitted: figures=... in the line of {name} says what tells how good a map is"
    )
    assert any(hasattr(model, figure) for figure in figures), which


def test_every_family_says_how_it_is_misread():
    for name, family in FAMILIES.items():
        assert family.name == name
        assert re.fullmatch(r"[A-Z].*\.", family.misread)


# ---- extras ------------------------------------------------------------------------------------


def test_extras_are_those_of_the_project():
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    declared = project["project"]["optional-dependencies"]
    assert set(EXTRAS) <= set(declared)
    for extra in EXTRAS:
        assert extra in declared["all"][0]


def test_a_method_whose_extra_is_missing_says_what_to_install(monkeypatch):
    line = replace(METHODS["pca"], name="distant", extra="absent")
    monkeypatch.setattr(_extras, "EXTRAS", {"absent": ("no_such_module",)})
    monkeypatch.setattr(registry, "METHODS", MappingProxyType({**METHODS, "distant": line}))
    with pytest.raises(MissingExtraError) as caught:
        make("distant")
    assert str(caught.value) == (
        "distant needs no_such_module, which is not installed. "
        "Install it with: pip install 'isentropic[absent]'"
    )
    monkeypatch.setattr(_extras, "EXTRAS", {"absent": ("json",)})
    assert type(make("distant")).__name__ == "PCA"


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


@pytest.mark.parametrize("name", METHODS)
def test_a_method_made_of_parts_derives_from_the_embedder_alone(name):
    """Parts, not towers: the method and ``Embedder``; what others share are functions and parts.

    A method whose map has an inverse says so by ``SupportsInverse``.
    """
    kind = METHODS[name].load()
    ours = [base for base in kind.__mro__ if base.__module__.startswith("isentropic.")]
    assert ours == [kind, *([SupportsInverse] if hasattr(kind, "inverse_transform") else []), Embedder]
    assert "_map" in field_specs(kind)
    assert not {"_state", "_parameters", "_found_again", "_place", "_keep", "_remember"} & set(vars(kind))
