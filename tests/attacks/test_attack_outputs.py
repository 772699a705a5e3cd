"""No output of any command takes the place of what it reads, by whatever name either is given.

Which commands there are and what they write is asked of the command line itself: a command, an option or a
file beside an output that is not attacked here fails a test.
"""

import inspect
import itertools
import os
import random
import shutil
import typing
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from isentropic import cli
from isentropic._core import cache as _cache
from isentropic.cli.shared import options as _options
from isentropic.cli.shared import output as _output
from published_stub import install_sources

ATTACKS = int(os.environ.get("ISENTROPIC_ATTACKS", "1"))
GARBAGE = b"\0 this is no table, no model and no page \xff\n"  # who reads it ends with another error
PATH_WORDS = {"FILE", "DIR", "FOLDER", "MODEL", "TABLES", "EMBEDDING", "FIRST", "SECOND"}

# of each command that writes: its arguments, {} standing for what it reads, and how each is named
CALLS = {
    "embed": (["embed", "{}", "-m", "pca"], ["in.csv"]),
    "transform": (["transform", "{}", "{}"], ["m.isentropic", "in.csv"]),
    "update": (["update", "{}", "{}"], ["m.isentropic", "in.csv"]),
    "path": (["path", "{}"], ["in.csv"]),
    "quality": (["quality", "{}", "{}"], ["in.csv", "map.csv"]),
    "compare-maps": (["compare-maps", "{}", "{}", "{}"], ["map.csv", "other.csv", "in.csv"]),
    "report": (["report", "{}", "-m", "pca"], ["in.csv"]),
    "experiment": (["experiment", "{}", "-m", "pca"], ["in.csv"]),
    "experiment of a folder": (["experiment", "tables", "-m", "pca"], ["tables/in.csv"]),
    "reproduce": (["reproduce", "small", "--data", "data"], ["data/iris.csv"]),
    "labels": (["embed", "rows.npy", "-m", "pca", "--target", "{}"], ["labels.npy"]),
    "a sheet": (["embed", "{}#Sold", "-m", "pca"], ["book.xlsx"]),
    "a set of the data folder": (["embed", "iris", "-m", "pca"], ["data/iris.csv"]),
    "an OpenML set of the data folder": (["embed", "openml:iris", "-m", "pca"], ["data/iris.csv"]),
}
SUFFIXES = {"--plot": ".png", "--save": ".isentropic", "--maps": ".csv", "--folder": ""}
PAGES = ("report", "experiment", "reproduce")


@dataclass(frozen=True)
class Parameter:
    """An argument or an option of a command, as its signature has it."""

    option: str
    kind: type
    metavar: str
    parser: object
    required: bool


def parameters_of(command):
    main = inspect.unwrap(command)
    defaults = inspect.signature(main).parameters
    for name, hint in typing.get_type_hints(main, include_extras=True).items():
        if name == "return":
            continue
        kind, info = typing.get_args(hint)[:2]
        # within Annotated the first name of an option stands where its default would
        option = info.default if isinstance(info.default, str) else f"--{name.replace('_', '-')}"
        yield Parameter(option, kind, info.metavar, info.parser, defaults[name].default is inspect._empty)


COMMANDS = {one.name: list(parameters_of(one.callback)) for one in cli.app.registered_commands}


def run(*arguments):
    return CliRunner().invoke(cli.app, [str(argument) for argument in arguments])


def options_of(command, parser):
    """The options of a command that are paths of this kind."""
    return [one.option for one in COMMANDS[command] if one.parser is parser]


def written_as(command, stem):
    """Every output option of a command, with a file of this stem."""
    given = {}
    for option in options_of(command, _options.output_path):
        kind = ".html" if command in PAGES else ".csv"
        given[option] = f"{stem}{option.strip('-')}{SUFFIXES.get(option, kind)}"
    return given


def call_of(case, outputs, inputs=None):
    """The arguments of a case; what is required and not given is a new file."""
    words, named = CALLS[case]
    inputs = iter(inputs or named)
    words = [next(inputs).join(word.split("{}")) if "{}" in word else word for word in words]
    needs_out = any(one.required and one.option == "--out" for one in COMMANDS[words[0]])
    given = {"--out": "new.csv"} | outputs if needs_out else outputs
    return [*words, *itertools.chain.from_iterable(given.items())]


@pytest.fixture
def world(tmp_path, monkeypatch):
    """A folder with all that is read, none of which can be read in truth, and a home."""
    _cache.cache_folder("")  # asked once, while the home is that of the user
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.chdir(home)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("ISENTROPIC_DATA", "data")
    install_sources(monkeypatch, small="published_stub:SOURCE")
    for folder in ("data", "tables", "results"):
        Path(folder).mkdir()
    entry = '{"name": "iris", "openml_name": "iris v1 (id 61)", "file": "iris.csv", "n_samples": 1, '
    Path("data/manifest.json").write_text(f'[{entry}"n_features": 1, "n_classes": 1}}]', encoding="utf-8")
    names = {name for _, named in CALLS.values() for name in named} | {"rows.npy", "tables/more.csv"}
    for name in names:
        Path(name).write_bytes(GARBAGE + name.encode())
    return home


def state(folder):
    """All files below a folder: what they are, who may use them, and what they hold."""
    found = {}
    for path in sorted(Path(folder).rglob("*")):
        status = path.lstat()
        kept = (status.st_mode, status.st_uid, status.st_gid, status.st_nlink, status.st_rdev)
        plain = path.is_file() and not path.is_symlink()
        found[str(path.relative_to(folder))] = (kept, path.read_bytes() if plain else os.path.islink(path))
    return found


def assert_refused(result, before, folder, said="another file than its sources"):
    __tracebackhide__ = True
    assert result.exit_code == 2, result.output
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert state(folder) == before


# ---- which outputs there are ---------------------------------------------------------------------


def declared(case, outputs, monkeypatch):
    """What a command says that it will write and read, before it does either."""
    told = []

    def tell(outputs, inputs):
        told.append((outputs, inputs))
        raise typer.Exit(99)

    with monkeypatch.context() as patched:
        patched.setattr(_output, "_require_no_input", tell)
        result = run(*call_of(case, outputs))
    assert result.exit_code == 99, result.output
    return told[0]


def outputs_of(case, monkeypatch):
    """The option and the name of every output of a case whose options are given with the stem OUT."""
    found = []
    for option, name in written_as(CALLS[case][0][0], "OUT").items():
        outputs, _ = declared(case, {option: name}, monkeypatch)
        names = [str(one.path) for one in outputs if one.path.name.startswith("OUT")]
        assert name in names, f"{option} is not among the outputs"
        found += [(option, one) for one in names]
    return found


def test_every_path_is_declared_as_read_or_written():
    """An option for a file without one of the two parsers would be in no check."""
    parsers = (_options.input_path, _options.output_path)
    for command, parameters in COMMANDS.items():
        for one in parameters:
            is_path = one.metavar in PATH_WORDS or Path in (one.kind, *typing.get_args(one.kind))
            assert not is_path or one.parser in parsers, f"{command} {one.option}"


def test_every_command_that_writes_is_attacked():
    attacked = {words[0] for words, _ in CALLS.values()}
    assert {name for name in COMMANDS if options_of(name, _options.output_path)} == attacked


@pytest.mark.parametrize("case", CALLS)
def test_every_input_is_declared(world, monkeypatch, case):
    for option, name in written_as(CALLS[case][0][0], "OUT").items():
        _, inputs = declared(case, {option: name}, monkeypatch)
        assert {os.path.realpath(path) for path in inputs} >= {os.path.realpath(p) for p in CALLS[case][1]}


# ---- names of one file ---------------------------------------------------------------------------


def as_given(path):
    return path


def absolute(path):
    return os.path.abspath(path)


def with_a_dot(path):
    return f"./{path}"


def with_two_dots(path):
    os.makedirs("aside", exist_ok=True)
    return f"aside/../{path}"


def doubled(path):
    return f".//{path}"


def at_home(path):
    return f"~/{path}"


def of_a_process(path):
    return f"/proc/self/cwd/{path}"


def through_a_link(path):
    if not os.path.lexists("here"):
        os.symlink(".", "here")
    return f"here/{path}"


def through_links(path):
    if not os.path.lexists("there"):
        os.symlink("here/here", "there")
    return f"there/{through_a_link(path)}"


def in_capitals(path):
    return path.upper()


SPELLINGS = [as_given, absolute, with_a_dot, with_two_dots, doubled, at_home, of_a_process, through_a_link,
             through_links]  # fmt: skip
if os.path.exists(__file__.upper()):  # the file system folds case
    SPELLINGS.append(in_capitals)


def linked(path, name):
    os.symlink(os.path.abspath(path), name)


def linked_from_here(path, name):
    os.symlink(os.path.relpath(path, os.path.dirname(os.path.abspath(name))), name)


def linked_in_a_chain(path, name):
    for i, end in enumerate([os.path.abspath(path), "chain0", "chain1", "chain2"]):
        link = f"chain{i}" if i < 3 else name
        os.symlink(end if i == 0 else os.path.abspath(end), link)


def linked_by_way_of_a_folder(path, name):
    os.symlink(through_a_link(path), name)


def linked_at_home(path, name):
    os.symlink(os.path.expanduser(f"~/{path}"), name)


def hard_linked(path, name):
    os.link(path, name)


def hard_linked_link(path, name):
    os.symlink(os.path.abspath(path), "first")
    os.link("first", name, follow_symlinks=False)


LINKS = [linked, linked_from_here, linked_in_a_chain, linked_by_way_of_a_folder, linked_at_home, hard_linked,
         hard_linked_link]  # fmt: skip


def may_be(case, option, slot):
    """The one output that may take the place of an input: the grown model that of the old one."""
    return (case, option, CALLS[case][1][slot]) == ("update", "--save", "m.isentropic")


@pytest.fixture
def again(world):
    """The world as it was at first, as often as it is asked for."""
    shutil.copytree(world, world.parent / "spare")

    def renew():
        os.chdir(world.parent)
        shutil.rmtree(world)
        shutil.copytree(world.parent / "spare", world)
        os.chdir(world)

    return renew


@pytest.mark.parametrize("case", CALLS)
def test_an_output_that_is_a_link_to_an_input(world, again, monkeypatch, case):
    slots = range(len(CALLS[case][1]))
    for (option, name), slot, link in itertools.product(outputs_of(case, monkeypatch), slots, LINKS):
        if may_be(case, option, slot):
            continue
        again()
        given = written_as(CALLS[case][0][0], "OUT")[option]
        link(CALLS[case][1][slot], name)
        before = state(world)
        assert_refused(run(*call_of(case, {option: given})), before, world)


@pytest.mark.parametrize("case", [case for case, (words, _) in CALLS.items() if "{}" in words])
def test_an_output_that_is_an_input_by_another_spelling(world, again, monkeypatch, case):
    """The file that is read has the name that the output will have, whatever its kind: nothing is read."""
    named = CALLS[case][1]
    crossed = list(zip(SPELLINGS, reversed(SPELLINGS), strict=True))
    pairs = crossed if ATTACKS == 1 else list(itertools.product(SPELLINGS, SPELLINGS))
    for (option, name), slot in itertools.product(outputs_of(case, monkeypatch), range(len(named))):
        if may_be(case, option, slot):
            continue
        for of_input, of_output in pairs:
            again()
            os.rename(named[slot], name)
            inputs = [of_input(name) if i == slot else one for i, one in enumerate(named)]
            given = of_output(written_as(CALLS[case][0][0], "OUT")[option])
            before = state(world)
            assert_refused(run(*call_of(case, {option: given}, inputs)), before, world)


def test_names_at_random(world, again, monkeypatch):
    """Links upon links upon spellings, of any input and any output."""
    chance = random.Random(0)
    every = {case: outputs_of(case, monkeypatch) for case in CALLS}
    for _ in range(100 * ATTACKS):
        case = chance.choice(list(CALLS))
        slot = chance.randrange(len(CALLS[case][1]))
        option, name = chance.choice(every[case])
        if may_be(case, option, slot):
            continue
        again()
        end = CALLS[case][1][slot]
        for i in range(chance.randrange(4)):
            chance.choice([linked, linked_from_here, hard_linked, linked_at_home])(end, f"hop{i}")
            end = f"hop{i}"
        chance.choice(LINKS)(end, name)
        given = chance.choice(SPELLINGS)(written_as(CALLS[case][0][0], "OUT")[option])
        before = state(world)
        assert_refused(run(*call_of(case, {option: given})), before, world)


# ---- names that are known to have cost a table ---------------------------------------------------


KNOWN = {
    "the numbers of a page": ["experiment", "t.csv", "-o", "t.html"],
    "the numbers of a page, of what is kept": ["experiment", "t.csv", "-o", "t.html", "--minutes", "0"],
    "the numbers of a page among the tables": ["experiment", "tabs", "-o", "tabs/t.html"],
    "the numbers of the usual page": ["experiment", "experiment.csv"],
    "the ranks of a page": ["experiment", "t-ranks.csv", "-o", "t.html"],
    "the ranks of a page among the tables": ["experiment", "tabs", "-o", "tabs/u.html"],
    "a table at home": ["quality", "~/t.csv", "map.csv", "-o", "{home}/t.csv"],
    "maps of a table at home": ["report", "~/t.csv", "-m", "pca", "-o", "r.html", "--maps", "{home}/t.csv"],
    "a model": ["transform", "m.isentropic", "t.csv", "-o", "m.csv"],
    "a book": ["embed", "b.xlsx#Sheet", "-m", "pca", "-o", "new.csv", "--save", "b.xlsx"],
    "labels": ["embed", "x.npy", "--target", "y.npy", "-m", "pca", "-o", "new.csv", "--save", "y.npy"],
    "results in place of a table": ["report", "t.csv", "-m", "pca", "-o", "r.html", "--folder", "t.csv"],
    "results among the tables": ["experiment", "tabs", "-o", "r.html", "--folder", "tabs"],
}


@pytest.mark.parametrize("attack", KNOWN)
def test_what_is_read_stays(tmp_path, monkeypatch, attack):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    Path("tabs").mkdir()
    for name in ("t.csv", "experiment.csv", "t-ranks.csv", "tabs/t.csv", "tabs/u-ranks.csv", "map.csv"):
        rows = (f"{i},{i * i % 7},{i % 3}" for i in range(30))
        Path(name).write_text("\n".join(["a,b,target", *rows]) + "\n", encoding="utf-8")
    for name in ("m.isentropic", "b.xlsx", "x.npy", "y.npy"):
        Path(name).write_bytes(GARBAGE)
    os.link("m.isentropic", "m.csv")
    before = state(tmp_path)
    result = run(*(word.format(home=tmp_path) for word in KNOWN[attack]))
    assert_refused(result, before, tmp_path)


# ---- files under names that nobody typed -----------------------------------------------------------


USUAL = {
    "the page of a report": (["report", "in.csv"], "report.html"),
    "the page of an experiment": (["experiment", "in.csv"], "experiment.html"),
    "the page of published tables": (["reproduce", "small"], "reproduce.html"),
    "numbers of an experiment": (["experiment", "in.csv", "-o", "new.html"], "new.csv"),
    "ranks of an experiment": (["experiment", "in.csv", "-o", "new.html"], "new-ranks.csv"),
    "numbers of published tables": (["reproduce", "small", "-o", "new.html"], "new.csv"),
    "ranks of published tables": (["reproduce", "small", "-o", "new.html"], "new-ranks.csv"),
}


def a_file(name):
    Path(name).write_text("a,b\n1,2\n", encoding="utf-8")


def an_empty_file(name):
    Path(name).touch()


def a_link_to_a_file(name):
    a_file("elsewhere.csv")
    Path(name).symlink_to("elsewhere.csv")


def numbers_of_another_page(name):
    """The ranks of x.html have the name of the numbers of x-ranks.html."""
    from isentropic.experiments.findings.rankings import RANK_COLUMNS
    from isentropic.experiments.findings.results import COLUMNS

    columns = COLUMNS if name.endswith("-ranks.csv") else RANK_COLUMNS
    Path(name).write_text(",".join(columns) + "\n", encoding="utf-8")


@pytest.mark.parametrize(
    "make", [a_file, an_empty_file, a_link_to_a_file, numbers_of_another_page, os.mkfifo]
)
@pytest.mark.parametrize("usual", USUAL)
def test_a_file_of_another_is_not_replaced_under_a_name_that_nobody_typed(world, usual, make):
    words, name = USUAL[usual]
    make(name)
    before = state(world)
    assert_refused(run(*words), before, world, "was not written by isentropic")
    forced = run(*words, "--force", "--repeats" if "experiment" in words else "--jobs", "-1")
    assert "was not written by isentropic" not in forced.output


def small_table(name):
    rows = (f"{i % 5},{i * i % 7},{'xy'[i % 2]}" for i in range(40))
    Path(name).write_text("\n".join(["a,b,target", *rows]) + "\n", encoding="utf-8")


def test_a_page_and_its_files_are_replaced_by_those_of_the_next_run(world):
    call = ("reproduce", "small", "--jobs", 1, "--quiet")
    for _ in range(2):
        assert run(*call).exit_code == 0
    assert sorted(path.name for path in world.glob("reproduce*")) == [
        "reproduce-ranks.csv", "reproduce.csv", "reproduce.html"]  # fmt: skip
    Path("reproduce.csv").write_text("a\n1\n", encoding="utf-8")
    assert run(*call).exit_code == 2
    assert run(*call, "--force").exit_code == 0
    assert Path("reproduce.csv").read_text(encoding="utf-8").startswith("source,table")


def test_only_ranks_of_an_earlier_run_are_removed(world, monkeypatch):
    from isentropic.experiments.findings.rankings import RANK_COLUMNS

    small_table("in.csv")
    call = ("experiment", "in.csv", "-m", "pca", "--minutes", 0, "--quiet", "-o", "new.html")
    Path("new-ranks.csv").write_text(",".join(RANK_COLUMNS) + "\n1\n", encoding="utf-8")
    assert run(*call).exit_code == 0
    assert not Path("new-ranks.csv").exists()
    Path("new-ranks.csv").write_text("mine\n", encoding="utf-8")
    assert run(*call).exit_code == 2
    assert run(*call, "--force").exit_code == 0
    assert Path("new-ranks.csv").read_text(encoding="utf-8") == "mine\n"


@pytest.mark.parametrize(("words", "name"), [(("-o", "new.html"), "new.csv"), ((), "experiment.html")])
def test_a_file_that_came_meanwhile_is_not_replaced(world, monkeypatch, words, name):
    from isentropic.experiments import runner

    def run_for_long(*given, **options):
        a_file(name)
        return {}

    monkeypatch.setattr(runner, "run", run_for_long)
    small_table("in.csv")
    result = run("experiment", "in.csv", "-m", "pca", *words)
    assert result.exit_code == 2
    assert Path(name).read_text(encoding="utf-8") == "a,b\n1,2\n"


# ---- outputs among each other, and where they go ---------------------------------------------------


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("command", ["embed", "report", "quality", "compare-maps"])
def test_outputs_are_files_of_their_own(world, command, link):
    first, second = list(written_as(command, "OUT").items())[:2]
    Path(first[1]).write_bytes(b"old")
    link(first[1], second[1])
    before = state(world)
    result = run(*call_of(command, dict([first, second])))
    assert_refused(result, before, world, f"{second[0]} must be another file than {first[0]}")


def test_two_names_of_a_file_to_be_made_that_differ_in_case_only(world, monkeypatch):
    """Where a folder tells them apart they are two files; where it does not, one."""
    from isentropic._core import files as _files

    call = ("embed", "in.csv", "-m", "pca", "-o", "New.csv", "--save", "new.csv")
    before = state(world)
    told_apart = not os.path.exists("IN.CSV")
    assert ("another file than --out" in run(*call).stderr) is not told_apart
    assert state(world) == before
    monkeypatch.setattr(_files.os.path, "lexists", lambda path: True)  # as a folder that folds case answers
    assert_refused(run(*call), before, world, "--save must be another file than --out")


def test_a_tilde_is_the_home_folder_of_every_path_and_a_folder_where_it_is_spelt_so(world, monkeypatch):
    monkeypatch.chdir(world.parent)
    small_table("home/in.csv")
    Path("~").mkdir()
    made = run(
        "embed",
        "~/in.csv",
        "-m",
        "pca",
        "-o",
        "~/out.csv",
        "--save",
        "~/out.isentropic",
        "--plot",
        "./~/out.svg",
    )
    assert made.exit_code == 0, made.stderr
    assert run("transform", "~/out.isentropic", "~/in.csv", "-o", "./~/out.csv").exit_code == 0
    assert run("quality", "~/in.csv", "~/out.csv", "-o", "~/scores.csv").exit_code == 0
    assert sorted(os.listdir("~")) == ["out.csv", "out.svg"]
    assert {"out.csv", "out.isentropic", "scores.csv"} <= set(os.listdir("home"))


@pytest.mark.parametrize("out", ["", ".", "..", "/", "-", "new", ".html/..", "new.html/.."])
@pytest.mark.parametrize("command", PAGES)
def test_a_page_without_a_name_is_a_sentence(world, command, out):
    before = state(world)
    result = run(*call_of(command, {"--out": out}))
    assert_refused(result, before, world, "--out must be a file ending in .html, .htm")


@pytest.mark.parametrize("out", ["tables/new.html", "link/new.html", "tables/../tables/new.html"])
def test_no_file_is_put_among_the_tables_that_the_next_run_would_read(world, out):
    Path("link").symlink_to("tables")
    before = state(world)
    result = run("experiment", "tables", "-m", "pca", "-o", out)
    assert_refused(result, before, world, "--out must be in another folder than the tables")


# ---- nothing else is written -----------------------------------------------------------------------


MORE = {"report": ["--preset", "quick"], "experiment": ["--minutes", "0"], "reproduce": ["--minutes", "0"]}


@pytest.mark.parametrize("command", sorted({words[0] for words, _ in CALLS.values()}))
def test_a_command_writes_what_it_declares_and_nothing_else(world, monkeypatch, command):
    for name in ("in.csv", "map.csv", "other.csv"):
        small_table(name)
    model = (
        "embed",
        "in.csv",
        "-m",
        "isomap",
        "--target",
        "target",
        "-o",
        "map.csv",
        "--save",
        "m.isentropic",
    )
    assert run(*model).exit_code == 0
    shutil.copy("map.csv", "other.csv")
    told = []
    check = _output._require_no_input
    monkeypatch.setattr(_output, "_require_no_input", lambda *given: told.append(given) or check(*given))
    before = state(world)
    target = [] if command in ("transform", "update", "reproduce") else ["--target", "target"]
    done = run(*call_of(command, written_as(command, "OUT")), *target, *MORE.get(command, []), "--quiet")
    assert done.exit_code == 0, done.output
    after = state(world)
    assert {name: after[name] for name in before} == before
    ((outputs, _),) = told
    made = {Path(name) for name in after if name not in before}
    folders = [one.path for one in outputs if one.is_folder]
    inside = {path for path in made if any(folder in (path, *path.parents) for folder in folders)}
    declared = {one.path for one in outputs if not one.is_folder}
    assert made - inside <= declared
    assert {path for path in declared if "ranks" not in path.name} <= made
