"""The shape of the package: few modules a folder, short modules, a name for each, a family for each folder.

What is not there yet stands in the tables below, with today's number as a bound. Numbers here only go down,
and a line that is no longer needed must be deleted.
"""

import re

import house_figures
from isentropic.registry import METHODS

MOST_MODULES, MOST_LINES = 15, 450

# folder -> modules that it still has
LARGE_FOLDERS: dict[str, int] = {}

# name -> modules that still have it
REPEATED_NAMES = {
    "datasets": 2,
}

MOST_CLASSES = 3  # of ours that an estimator is made of


def excess(found, bounds, most):
    """What is above its bound, or above ``most`` where it has none."""
    return {name: number for name, number in found.items() if number > bounds.get(name, most)}


def outdated(found, bounds, most):
    """Bounds that are too wide: the number fell below them, or no bound is needed any more."""
    return {name: bound for name, bound in bounds.items() if found.get(name, 0) < bound or bound <= most}


def test_folders_have_few_modules():
    assert excess(house_figures.modules_by_folder(), LARGE_FOLDERS, MOST_MODULES) == {}


def test_modules_are_short():
    lines = {path.as_posix(): house_figures.lines_of(path) for path in house_figures.modules()}
    assert excess(lines, {}, MOST_LINES) == {}


def test_modules_have_names_of_their_own():
    found = {name: len(folders) for name, folders in house_figures.repeated_names().items()}
    assert excess(found, REPEATED_NAMES, 1) == {}


def test_the_exceptions_shrink_with_what_they_allow():
    """Otherwise a folder could grow again up to an old bound."""
    assert outdated(house_figures.modules_by_folder(), LARGE_FOLDERS, MOST_MODULES) == {}
    found = {name: len(folders) for name, folders in house_figures.repeated_names().items()}
    assert outdated(found, REPEATED_NAMES, 1) == {}
    assert max(house_figures.class_counts().values()) == MOST_CLASSES


def test_every_family_folder_is_registered():
    """And the other way round: no method of ours lives outside the folder of a family."""
    folders = {
        name.removeprefix("methods/")
        for name in house_figures.modules_by_folder()
        if re.fullmatch(r"methods/\w+", name)
    }
    modules = [line.load().__module__ for line in METHODS.values()]
    found = [re.fullmatch(r"isentropic\.methods\.(\w+)\.\w+", name) for name in modules]
    assert [name for name, match in zip(modules, found, strict=True) if match is None] == []
    assert {match[1] for match in found if match} == folders


def test_every_folder_says_what_it_is_for():
    texts = {
        folder: house_figures.PACKAGE / folder / "__init__.py" for folder in house_figures.modules_by_folder()
    }
    silent = [folder for folder, file in texts.items() if not file.read_text("utf-8").startswith('"""')]
    assert silent == []


# ---- the figures themselves ----------------------------------------------------------------------


def test_bounds_catch_growth_and_slack():
    assert excess({"a": 16, "b": 20, "c": 15}, {"b": 20}, 15) == {"a": 16}
    assert outdated({"a": 14, "b": 20, "c": 19}, {"a": 16, "b": 20, "c": 20, "d": 15, "e": 30}, 15) == {
        "a": 16, "c": 20, "d": 15, "e": 30,
    }  # fmt: skip


class Base:
    def fit(self):
        return self.first(self.second())

    def first(self, value):
        return value

    def second(self):
        return list(self.third)

    third = (1, 2)


class Derived(Base):
    def fit(self):
        self.first(3)
        return super().fit()


def test_calls_on_self_are_those_in_the_text():
    assert house_figures.called_on_self(Base.fit) == {"first", "second"}
    assert house_figures.called_on_self(Derived.fit) == {"first", "fit"}


def test_classes_of_ours_leave_others_out():
    from isentropic import PCA

    assert house_figures.classes_of_ours(Derived) == []
    assert house_figures.classes_of_ours(PCA)[0] is PCA
    assert object not in house_figures.classes_of_ours(PCA)


def test_a_profile_has_the_functions_that_run_and_no_imports():
    import numpy as np

    from isentropic import linalg

    Z = np.arange(6.0).reshape(3, 2)
    with house_figures.Profile() as found:
        linalg.aligned(Z, Z)
    names = {name for module, name in found.functions if module == "isentropic.linalg.centering"}
    assert {"aligned", "rotation"} <= names
    assert "procrustes_correlation" not in names
    assert "isentropic.linalg.scaling" not in found.modules
