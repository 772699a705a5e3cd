"""Commands in this process, on small tables, with stub methods beside the real ones."""

import pytest
import stubs
from typer.testing import CliRunner

from isentropic.cli import app
from isentropic.cli.shared.process import set_debug


@pytest.fixture
def run():
    """Run a command; the result has exit_code, stdout and stderr."""

    def invoke(*arguments, **options):
        return CliRunner().invoke(app, [str(argument) for argument in arguments], **options)

    yield invoke
    set_debug(False)


@pytest.fixture
def stub_methods(monkeypatch):
    """Register the methods of stubs.py for one test."""
    from isentropic import registry

    monkeypatch.setattr(registry, "METHODS", stubs.with_stubs(registry.METHODS))


@pytest.fixture
def flats(tmp_path):
    """A table with names of rows, a word, numbers and a class."""
    lines = ["flat,rooms,area,heating,quarter"]
    for i in range(30):
        heating, quarter = ("gas", "oil")[i % 2], ("north", "south", "west")[i % 3]
        lines.append(f"f{i:02},{1 + i % 5},{30 + 7 * (i % 5) + (i * 37 % 11)},{heating},{quarter}")
    path = tmp_path / "flats.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
