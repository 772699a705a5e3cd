"""The options of a table: declared once, the same in every command, and all of them reach ``load``."""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import Annotated

import pytest
import typer

from isentropic import cli
from isentropic.cli.shared.table_options import TABLE_DEFAULTS, TableOptions, Target, with_table_options
from isentropic.tables import load

READERS = ("embed", "path", "quality", "compare-maps", "report")
PYTHON_ONLY = {"source", "random_state", "preparation"}


def parameters_of(name):
    return {one.name: one for one in typer.main.get_command(cli.app).commands[name].params}


@pytest.mark.parametrize("name", READERS[1:])
def test_commands_have_the_same_options(name):
    first, other = parameters_of(READERS[0]), parameters_of(name)
    for field in fields(TableOptions):
        one, two = first[field.name], other[field.name]
        assert (one.opts, one.secondary_opts, one.help, one.default) == (
            two.opts, two.secondary_opts, two.help, two.default
        )  # fmt: skip
        assert one.default == field.default


def test_every_argument_of_load_has_an_option(monkeypatch):
    given = {}
    monkeypatch.setattr("isentropic.tables.load", lambda source, target, **rest: given.update(rest))
    TABLE_DEFAULTS.load("builtin:iris")
    defaults = {name: one.default for name, one in inspect.signature(load).parameters.items()}
    assert set(given) == set(defaults) - PYTHON_ONLY - {"target"}
    assert {name for name in given if given[name] != defaults[name]} == {"metric"}  # here found by default


def test_options_stand_where_the_parameter_does_and_reach_the_command():
    found = []

    @with_table_options
    def command(
        source: Annotated[str, typer.Argument()],
        target: Target = None,
        table_options: TableOptions = TABLE_DEFAULTS,
        last: int = 0,
    ) -> None:
        found.append((source, target, table_options, last))

    names = list(inspect.signature(command).parameters)
    assert names[:3] == ["source", "target", "features"]
    assert names[-2:] == ["samples", "last"]
    assert "table_options" not in names
    command(source="a", target="b", drop=["c"], last=3)
    assert found == [("a", "b", TableOptions(target="b", drop=["c"]), 3)]
