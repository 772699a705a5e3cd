"""What stands where a file is to be written: pipes, sockets, devices, folders, links, full disks."""

import ast
import os
import re
import resource
import socket
import stat
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import isentropic
from isentropic import cli
from isentropic._core import files as _files
from isentropic._core.errors import FileFormatError
from isentropic._core.files import atomic_write, require_writable, write_together
from isentropic.cli.shared import output as _output
from isentropic.tables.map_files import MapsFrame, write_frame, write_maps

FRAME = pd.DataFrame({"row": ["a", "b", "c"], "x0": [0.1, 0.2, 0.3], "x1": [1.0, 2.0, 3.0]})
IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
PACKAGE = Path(isentropic.__file__).parent


def write_model(path):
    isentropic.save(isentropic.make("pca").fit(np.random.default_rng(0).normal(size=(20, 3))), path)


def write_plot(path):
    from matplotlib.figure import Figure

    _output.write_figure(Figure(), path)


def write_text(path):
    with atomic_write(path) as file:
        file.write(b"text\n" * 3000)


WRITERS = {
    "a.csv": lambda path: write_frame(FRAME, path),
    "a.tsv.gz": lambda path: write_frame(FRAME, path),
    "a.parquet": lambda path: write_frame(FRAME, path),
    "a.feather": lambda path: write_frame(FRAME, path),
    "a.h5ad": lambda path: write_maps(MapsFrame(FRAME, {"x": ["x0", "x1"]}), path),
    "a.isentropic": write_model,
    "a.png": write_plot,
    "a.svg": write_plot,
    "a.pdf": write_plot,
    "a.html": write_text,
}


@pytest.fixture
def at(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def bind(path):
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(path))


def device(kind, major, minor):
    return lambda path: os.mknod(path, kind | 0o600, os.makedev(major, minor))


# ---- what is refused -------------------------------------------------------------------------------

REFUSED = {
    "a folder": lambda path: path.mkdir(),
    "a socket": bind,
    "a link that leads to itself": lambda path: path.symlink_to(path.name),
    "a pipe that nobody reads": os.mkfifo,
}
if IS_ROOT:
    REFUSED["a block device"] = device(stat.S_IFBLK, 7, 250)  # of a number that no driver has
    REFUSED["a full device"] = device(stat.S_IFCHR, 1, 7)
AT_ONCE = ("a folder", "a socket", "a link that leads to itself", "a block device")


@pytest.mark.parametrize("linked", [False, True], ids=["itself", "a link to it"])
@pytest.mark.parametrize("what", REFUSED)
@pytest.mark.parametrize("name", WRITERS)
def test_what_cannot_be_written_stays_as_it_is(at, name, what, linked):
    path = at / (f"real-{name}" if linked else name)
    REFUSED[what](path)
    if linked:
        (at / name).symlink_to(path)
    before = {
        one.name: (one.lstat().st_mode, one.lstat().st_rdev, one.lstat().st_ino) for one in at.iterdir()
    }
    with pytest.raises(FileFormatError, match=r"(must be a file, got|cannot be written: (nobody|no space))"):
        WRITERS[name](at / name)
    if what in AT_ONCE:
        with pytest.raises(FileFormatError, match="must be a file, got"):
            require_writable(at / name)
    else:
        require_writable(at / name)  # only writing tells
    assert {
        one.name: (one.lstat().st_mode, one.lstat().st_rdev, one.lstat().st_ino) for one in at.iterdir()
    } == before


# ---- what is written through -------------------------------------------------------------------------


def content_of(name, at):
    folder = at / "plain"
    folder.mkdir()
    WRITERS[name](folder / name)
    return (folder / name).read_bytes()


SAME_EACH_TIME = [name for name in WRITERS if name not in ("a.isentropic", "a.h5ad", "a.svg", "a.pdf")]


@pytest.mark.parametrize("linked", [False, True], ids=["itself", "a link to it"])
@pytest.mark.parametrize("name", WRITERS)
def test_a_pipe_gets_the_whole_file_and_stays_a_pipe(at, name, linked):
    wanted = content_of(name, at)
    pipe = at / (f"real-{name}" if linked else name)
    os.mkfifo(pipe)
    if linked:
        (at / name).symlink_to(pipe)
    with open(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), "rb") as reader:
        require_writable(at / name)
        WRITERS[name](at / name)
        found = reader.read()
    assert stat.S_ISFIFO(pipe.lstat().st_mode)
    if name in SAME_EACH_TIME:
        assert found == wanted
    else:
        assert found[:4] == wanted[:4]
        assert len(found) > 500


@pytest.mark.skipif(not IS_ROOT, reason="only root makes devices")
@pytest.mark.parametrize("name", WRITERS)
def test_a_character_device_stays_one(at, name):
    device(stat.S_IFCHR, 1, 3)(at / "null")
    (at / name).symlink_to("null")
    WRITERS[name](at / name)
    assert stat.S_ISCHR((at / "null").lstat().st_mode)
    assert sorted(os.listdir(at)) == sorted([name, "null"])


@pytest.mark.parametrize("to", ["a file", "a pipe"])
def test_an_open_descriptor_is_written_where_it_stands(at, to):
    """As /dev/stdout, whatever that leads to."""
    ends = os.pipe() if to == "a pipe" else (None, os.open("shown.txt", os.O_WRONLY | os.O_CREAT))
    os.write(ends[1], b"before\n")
    (at / "a.csv").symlink_to(f"/dev/fd/{ends[1]}")
    write_frame(FRAME, at / "a.csv")
    os.write(ends[1], b"after\n")
    os.close(ends[1])
    shown = Path("shown.txt").read_bytes() if ends[0] is None else os.read(ends[0], 4096)
    if ends[0] is not None:
        os.close(ends[0])
    assert shown.startswith(b"before\nrow,x0,x1\n")
    assert shown.endswith(b"3.0\nafter\n")
    with pytest.raises(FileFormatError, match="bad file descriptor"):
        require_writable(at / "a.csv")


def test_a_reader_that_leaves_is_said(at):
    os.mkfifo("a.html")
    end = os.open("a.html", os.O_RDONLY | os.O_NONBLOCK)

    def leave(*given, **options):
        os.close(end)
        return shutil_copy(*given, **options)

    shutil_copy = _files.shutil.copyfileobj
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(_files.shutil, "copyfileobj", leave)
        with pytest.raises(FileFormatError, match="broken pipe"):
            write_text("a.html")


# ---- what is replaced ----------------------------------------------------------------------------


@pytest.mark.skipif(not IS_ROOT, reason="only root gives files away")
def test_owner_group_and_mode_stay_also_behind_links(at):
    (at / "real.csv").write_bytes(b"old")
    os.chown(at / "real.csv", 65534, 65533)
    (at / "real.csv").chmod(0o640)
    (at / "b.csv").symlink_to("real.csv")
    (at / "a.csv").symlink_to(at / "b.csv")
    write_frame(FRAME, at / "a.csv")
    status = (at / "real.csv").stat()
    assert (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (65534, 65533, 0o640)
    assert (at / "a.csv").is_symlink()
    assert (at / "b.csv").is_symlink()


@contextmanager
def as_nobody():
    if not IS_ROOT:
        yield
        return
    os.setresgid(65534, 65534, 0)
    os.setresuid(65534, 65534, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)
        os.setresgid(0, 0, 0)


@pytest.mark.parametrize("folder_mode", [0o555, 0o000, 0o777])
def test_what_a_user_may_not_write_is_refused_and_stays(at, folder_mode):
    for above in at.parents:
        if IS_ROOT and not above.stat().st_mode & stat.S_IXOTH:
            above.chmod(above.stat().st_mode | stat.S_IXOTH)
    at.chmod(0o755)
    folder = at / "folder"
    folder.mkdir()
    (folder / "a.csv").write_bytes(b"old")
    (folder / "a.csv").chmod(0o444)  # protected, also where the folder is open to all
    folder.chmod(folder_mode)
    with as_nobody():
        for attempt in (require_writable, lambda path: write_frame(FRAME, path)):
            with pytest.raises(FileFormatError, match="cannot be written"):
                attempt(folder / "a.csv")
    folder.chmod(0o755)
    assert (folder / "a.csv").read_bytes() == b"old"
    assert os.listdir(folder) == ["a.csv"]


def test_a_link_to_nothing_makes_what_it_names_and_a_missing_folder_is_said(at):
    (at / "a.csv").symlink_to("new.csv")
    write_frame(FRAME, at / "a.csv")
    assert (at / "new.csv").is_file()
    assert (at / "a.csv").is_symlink()
    (at / "b.csv").symlink_to("nowhere/b.csv")
    for path in (at / "b.csv", at / "none" / "a.csv", at / "new.csv" / "a.csv"):
        with pytest.raises(FileFormatError, match="cannot be written"):
            write_frame(FRAME, path)


# ---- a full disk -----------------------------------------------------------------------------------


@contextmanager
def room_for(size):
    """Within the block no file can be larger, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("size", [0, 20])
def test_the_old_file_stays_where_the_new_one_has_no_room(at, name, size):
    (at / name).write_bytes(b"old")
    with room_for(size), pytest.raises((FileFormatError, OSError)):
        WRITERS[name](at / name)
    assert (at / name).read_bytes() == b"old"
    assert os.listdir(at) == [name]


@pytest.mark.parametrize("name", ["a" * 251 + ".csv", "\u00e9" * 123 + ".csv.gz"])
def test_a_name_as_long_as_the_file_system_takes_is_written(at, name):
    require_writable(at / name)
    write_frame(FRAME, at / name)
    assert os.listdir(at) == [name]


def test_a_longer_name_is_refused_before_the_work(at):
    with pytest.raises(FileFormatError, match="cannot be written: file name too long"):
        require_writable(at / ("a" * 252 + ".csv"))


def test_a_link_to_a_folder_that_is_not_there_names_it(at):
    (at / "a.csv").symlink_to(at / "nowhere" / "b.csv")
    with pytest.raises(FileFormatError, match=r"a\.csv cannot be written: there is no folder .*nowhere"):
        require_writable(at / "a.csv")


def write_both(at):
    with write_together():
        write_frame(FRAME, at / "a.csv")
        assert (at / "a.csv").read_bytes() == b"old"
        write_text(at / "a.html")


def test_of_files_that_are_written_together_all_old_ones_stay(at):
    for name in ("a.csv", "a.html"):
        (at / name).write_bytes(b"old")
    with room_for(1000), pytest.raises(FileFormatError, match=r"a\.html cannot be written: file too large"):
        write_both(at)  # there is room for the first
    assert [(at / name).read_bytes() for name in sorted(os.listdir(at))] == [b"old", b"old"]
    write_both(at)
    assert sorted(os.listdir(at)) == ["a.csv", "a.html"]
    assert (at / "a.csv").read_bytes() != b"old"


def test_a_page_without_room_leaves_the_numbers_and_ranks_of_the_last_one(at):
    from typer.testing import CliRunner

    from isentropic.experiments.findings.rankings import RANK_COLUMNS
    from isentropic.experiments.findings.results import COLUMNS

    rows = (f"{i % 5},{i * i % 7},{'xy'[i % 2]}" for i in range(40))
    Path("in.csv").write_text("\n".join(["a,b,target", *rows]) + "\n", encoding="utf-8")
    old = {
        "new.html": "old",
        "new.csv": ",".join(COLUMNS) + "\n",
        "new-ranks.csv": ",".join(RANK_COLUMNS) + "\n",
    }
    for name, text in old.items():
        Path(name).write_text(text, encoding="utf-8")
    words = ["experiment", "in.csv", "-m", "pca", "--minutes", "0", "--quiet", "-o", "new.html"]
    with room_for(5000):
        result = CliRunner().invoke(cli.app, words)
    assert result.exit_code == 1
    assert "new.html cannot be written: file too large" in result.stderr
    assert {name: Path(name).read_text(encoding="utf-8") for name in old} == old
    assert sorted(os.listdir(at)) == ["in.csv", "isentropic-results", *sorted(old)]


# ---- there is no other way to a file ---------------------------------------------------------------

# who removes or makes files, locks and folders of its own beside what _core/files.py writes
OWN_FILES = {
    "_core/files.py",
    "_core/cache.py",
    "experiments/store.py",
    "cli/shared/experiments.py",
    "scale/map_folders.py",  # makes the folder of a map, and removes files of its own that are out of date
    "scale/partition_maps.py",  # removes what was made of a file that cannot be mapped now
}
WAYS = {"replace", "rename", "renames", "unlink", "remove", "rmdir", "rmtree", "write_text", "write_bytes",
        "mkdir", "makedirs", "touch", "symlink_to", "hardlink_to", "copyfile", "copy2", "truncate",
        "NamedTemporaryFile", "mkstemp", "mkdtemp"}  # fmt: skip
SHARED_NAMES = {"replace", "remove", "rename", "truncate"}  # with methods of text, lists and frames


def ways_to_files(path):
    """Calls in a module that make, replace or remove files otherwise than through _core/files.py."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        owner = getattr(getattr(node.func, "value", None), "id", "")
        if name == "open":
            given = [one.value for one in node.args if isinstance(one, ast.Constant)]
            if owner == "os" or any(re.fullmatch("[rwxab+]*[wxa+][rwxab+]*", str(mode)) for mode in given):
                yield name
        elif name in WAYS and (name not in SHARED_NAMES or owner in ("os", "shutil")):
            yield name


def test_the_search_for_ways_to_files_finds_them(at):
    calls = [
        "open(p, 'w')",
        "p.open('x+b')",
        "os.replace(a, b)",
        "p.write_text('')",
        "p.unlink()",
        "os.open(p, 1)",
    ]
    for call in calls:
        Path("a.py").write_text(call, encoding="utf-8")
        assert list(ways_to_files(Path("a.py"))), call
    Path("a.py").write_text("open(p); p.open('rb'); 'a'.replace('a', 'b'); rows.remove(1)", encoding="utf-8")
    assert not list(ways_to_files(Path("a.py")))


def test_every_file_is_written_by_the_one_writer():
    found = {
        path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py") if list(ways_to_files(path))
    }
    # h5py writes to memory, a file of /proc resets a counter of the kernel, a worker answers on its own pipe
    assert found - {"comparison/evaluation/fitting.py"} == OWN_FILES
