"""Files around the package agree with each other: workflow, templates, changelog, packaging."""

import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest
import yaml

from isentropic import __version__
from isentropic.registry import BUILT_IN

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


# ---- pages for contributors ----------------------------------------------------------------------

PACKAGE = PROJECT / "src" / "isentropic"
PAGES = ("CONTRIBUTING.md", "docs/architecture.md")
_PLACEHOLDER = re.compile(r"FAMILY|FOLDER|NAME|FILE\b|\bmy[_-]|^out/|^~|^\.venv/|/tests/$")
_FILE = re.compile(r"[\w.-]+\.(py|js|css|html|md|toml|csv|json|schema\.json)")
_PATH = re.compile(r"(?=.*[a-z])[\w.-]+(/[\w*.-]+)*/?")


def blocks_of(page):
    """Headings, paragraphs, items of lists and rows of tables, without fenced code."""
    text = re.sub(r"^ *```.*?^ *```$", "", (PROJECT / page).read_text(encoding="utf-8"), flags=re.M | re.S)
    return [block for block in re.split(r"\n\s*\n|\n(?=\s*(?:\||-|\d+\.) )", text) if block.strip()]


def code_spans(block):
    return [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", block)]


def paths_in(block):
    """Words of code that are a path: with a slash, or with the suffix of a file of ours."""
    words = [word.partition("::")[0] for span in code_spans(block) for word in span.split()]
    return [
        word
        for word in words
        if _PATH.fullmatch(word) and ("/" in word or _FILE.fullmatch(word)) and not _PLACEHOLDER.search(word)
    ]


def missing_paths(block):
    """Paths that are not below the root or src/isentropic, bare names not in a folder of the block either."""
    paths = paths_in(block)
    folders = [PROJECT, PACKAGE]
    for path in paths:
        found = next((root / path for root in (PROJECT, PACKAGE) if (root / path).exists()), None)
        if "/" in path and found is not None:
            folders.append(found if found.is_dir() else found.parent)
    return [path for path in paths if not any(list(folder.glob(path)) for folder in folders)]


def test_paths_that_do_not_exist_are_found():
    assert missing_paths("`tables/loading.py`, `loading.py` and `cells.py`; `make docs`, `a / b`") == []
    assert missing_paths("`tables/readers/` has `arrow.py`, `cells.py`") == ["cells.py"]
    assert missing_paths("say `pytest -n auto tests/tables tests/tabels`") == ["tests/tabels"]
    assert missing_paths("`embedding/classes/`") == ["embedding/classes/"]
    assert missing_paths("| `kernels/` | `_jit.py`, `jit.py` |") == ["jit.py"]


@pytest.mark.parametrize("page", PAGES)
def test_paths_named_for_contributors_exist(page):
    blocks = blocks_of(page)
    assert sum(len(paths_in(block)) for block in blocks) > 50
    assert [(path, block[:60]) for block in blocks for path in missing_paths(block)] == []


def test_names_are_where_the_pages_say():
    """In the table "Where is it?" and in the walks: the names of a row are in its files."""
    text = (PROJECT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| [^|]+ \| (.+) \| (.+) \|$", text.split("## Where is it?")[1], re.MULTILINE)
    assert len(rows) > 20
    wrong = []
    for row in rows:
        paths = paths_in(" ".join(row))
        found = [root / path for path in paths for root in (PROJECT, PACKAGE) if (root / path).exists()]
        files = [file for path in found for file in (path.rglob("*.py") if path.is_dir() else [path])]
        sources = " ".join(file.read_text(encoding="utf-8") for file in files)
        spans = [span for span in code_spans(" ".join(row)) if span not in paths] if paths else []
        names = [re.match(r"[\w.]+", span)[0].split(".")[-1] for span in spans]
        wrong += [(name, row) for name in names if not re.search(rf"\b{name}\b", sources)]
    assert wrong == []


# ---- the number of methods -----------------------------------------------------------------------


def test_the_readme_says_how_many_methods_there_are():
    text = (PROJECT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"(\d+) methods\b", text) == [str(len(BUILT_IN))], "count those of the registry"


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
