"""Files around the package agree with each other: workflow, templates, changelog, packaging."""

import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest
import yaml

from isentropic import __version__

PROJECT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
MAKEFILE = (PROJECT / "Makefile").read_text(encoding="utf-8")
WORKFLOWS = sorted((PROJECT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted(
    set((PROJECT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
    - {PROJECT / ".github/ISSUE_TEMPLATE/config.yml"}
)


def read_yaml(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


CHECKS = read_yaml(PROJECT / ".github" / "workflows" / "checks.yml")["jobs"]


def minor(version):
    """3.11 -> 11."""
    major, number = version.split(".")
    assert major == "3"
    return int(number)


def declared_versions():
    """Versions of Python that the classifiers name, in their order."""
    found = [
        re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", line)
        for line in PYPROJECT["project"]["classifiers"]
    ]
    return [match[1] for match in found if match]


def make_targets(job):
    """Targets that the steps of a job make."""
    commands = "\n".join(step.get("run", "") for step in job["steps"])
    return [
        target
        for line in re.findall(r"^make (.+)$", commands, re.MULTILINE)
        for target in line.split()
        if "=" not in target
    ]


# ---- versions of Python ------------------------------------------------------------------------


def test_the_workflow_tests_every_declared_version_on_two_systems():
    matrix = CHECKS["tests"]["strategy"]["matrix"]
    assert matrix["python"] == declared_versions()
    assert {system.split("-")[0] for system in matrix["system"]} == {"ubuntu", "macos"}


def test_declared_versions_begin_at_the_required_one_without_a_gap():
    versions = declared_versions()
    assert PYPROJECT["project"]["requires-python"] == f">={versions[0]}"
    numbers = [minor(version) for version in versions]
    assert numbers == list(range(numbers[0], numbers[-1] + 1))


def test_the_oldest_version_is_the_same_everywhere():
    versions = declared_versions()
    oldest = versions[0]
    assert PYPROJECT["tool"]["mypy"]["python_version"] == oldest
    assert f"sys.version_info < (3, {minor(oldest)})" in MAKEFILE
    assert f"Python {oldest} or later" in (PROJECT / "README.md").read_text(encoding="utf-8")
    assert CHECKS["wheel"]["strategy"]["matrix"]["python"] == [oldest, versions[-1]]


# ---- workflows ---------------------------------------------------------------------------------


def test_the_workflow_runs_all_that_make_test_runs():
    parts = re.search(r"^test: (.+)$", MAKEFILE, re.MULTILINE)[1].split()
    assert set(parts) <= {target for job in CHECKS.values() for target in make_targets(job)}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_make_targets_that_exist(path):
    targets = [target for job in read_yaml(path)["jobs"].values() for target in make_targets(job)]
    phony = re.search(r"^\.PHONY: (.+)$", MAKEFILE, re.MULTILINE)[1].split()
    assert targets
    assert set(targets) <= set(phony)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_may_only_read_and_their_actions_are_pinned(path):
    workflow = read_yaml(path)
    assert workflow["permissions"] == {"contents": "read"}
    assert "group" in workflow["concurrency"]
    for job in workflow["jobs"].values():
        assert "permissions" not in job
        assert job["timeout-minutes"] <= 90
        for step in job["steps"]:
            assert re.fullmatch(r"actions/[a-z-]+@v\d+", step.get("uses", "actions/checkout@v0"))


# ---- issue forms -------------------------------------------------------------------------------


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_issue_forms_have_labelled_fields_with_ids_of_their_own(path):
    form = read_yaml(path)
    assert form["name"]
    assert form["description"].endswith(".")
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    assert all(field["attributes"]["label"] for field in fields)
    ids = [field["id"] for field in fields]
    assert len(ids) == len(set(ids)) > 0


# ---- changelog and news fragments --------------------------------------------------------------


def changelog_entries():
    return re.findall(r"^- (.+?)(?=\n- |\n\n|\n*\Z)", changelog(), re.MULTILINE | re.DOTALL)


def changelog():
    return (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_entries_of_the_changelog_are_whole_and_there_once():
    entries = changelog_entries()
    assert entries
    openings = Counter(entry[:60] for entry in entries)
    assert [opening for opening, number in openings.items() if number > 1] == []
    ended = re.compile(r"\.( \(#\d+(, #\d+)*\))?$")  # towncrier adds the numbers of issues
    assert [entry for entry in entries if not ended.search(entry)] == []


def test_new_sections_of_the_changelog_have_their_place():
    assert changelog().count(PYPROJECT["tool"]["towncrier"]["start_string"]) == 1


def test_files_that_the_changelog_links_to_exist():
    targets = re.findall(r"\]\(([^)#:]+)\)", changelog())
    assert targets
    assert [target for target in targets if not (PROJECT / target).exists()] == []


def test_types_of_news_fragments_are_those_of_the_readme():
    table = re.findall(
        r"^\| `(\w+)` \|", (PROJECT / "changes" / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert table == [kind["directory"] for kind in PYPROJECT["tool"]["towncrier"]["type"]]


def test_every_news_fragment_has_a_known_type_and_is_a_sentence():
    types = "|".join(kind["directory"] for kind in PYPROJECT["tool"]["towncrier"]["type"])
    for path in (PROJECT / "changes").iterdir():
        if path.name not in PYPROJECT["tool"]["towncrier"]["ignore"]:
            assert re.fullmatch(rf"(\d+|\+[\w-]+)\.({types})\.md", path.name), path.name
            assert path.read_text(encoding="utf-8").strip().endswith("."), path.name


# ---- packaging ---------------------------------------------------------------------------------


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_the_sdist_has_what_its_pages_link_to(page):
    included = set(PYPROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"])
    text = (PROJECT / page).read_text(encoding="utf-8")
    linked = {f"/{target.split('/')[0]}" for target in re.findall(r"\]\(([^)#:]+)\)", text)}
    assert linked | {f"/{page}"} <= included
    assert all((PROJECT / name[1:]).exists() for name in included)


# ---- the papers, a distribution of their own -----------------------------------------------------

PAPERS = tomllib.loads((PROJECT / "papers" / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_package_itself_brings_no_published_tables():
    package = PROJECT / "src" / "isentropic"
    assert list(package.rglob("*.csv")) == []
    assert "entry-points" not in PYPROJECT["project"]
    assert len(list((PROJECT / "papers" / "src").rglob("*.csv"))) == 41


def test_both_distributions_agree():
    for field in ("requires-python", "license", "authors"):
        assert PAPERS["project"][field] == PYPROJECT["project"][field]
    assert (PROJECT / "papers" / "LICENSE").read_bytes() == (PROJECT / "LICENSE").read_bytes()
    assert PAPERS["project"]["dependencies"] == [f"isentropic[report]>={__version__}"]
    assert PAPERS["project"]["version"] == __version__


def test_make_installs_and_checks_both():
    commands = re.findall(r"^\t.*pip install.*$", MAKEFILE, re.MULTILINE)
    assert len(commands) == 2
    assert all(command.endswith("--editable papers") for command in commands)
    tool = PYPROJECT["tool"]
    assert {"papers/tests", "papers/src"} <= set(tool["pytest"]["ini_options"]["testpaths"])
    for packages in (tool["mypy"]["packages"], tool["importlinter"]["root_packages"]):
        assert packages == ["isentropic", "isentropic_papers"]


def test_every_source_of_the_papers_is_there_once():
    points = PAPERS["project"]["entry-points"]["isentropic.experiments"]
    assert sorted(points) == ["000", "001", "002", "004", "survey"]
    assert len(set(points.values())) == len(points)
