"""``isentropic methods``: what there is to choose from."""

from __future__ import annotations

import dataclasses
import inspect
import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .shared.terminal import show_json, show_table

if TYPE_CHECKING:
    from ..registry import Method

_SECTION = re.compile(r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n-+\n|\Z)", re.MULTILINE | re.DOTALL)
_ENTRY = re.compile(r"^(\S[^\n]*)\n((?:[ \t]+[^\n]*\n?|\n)*)", re.MULTILINE)


def main(
    name: Annotated[str | None, typer.Argument(help="Show this method with its parameters.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
) -> None:
    """List the methods, or show one: its parameters, cost and reference.

    \b
    Examples:
      isentropic methods
      isentropic methods isomap
    """
    from .._core.errors import require_one_of
    from ..registry import METHODS

    if name is None:
        _show_all(list(METHODS.values()), as_json)
        return
    require_one_of("method", name, METHODS)
    _show_one(METHODS[name], as_json)


def _show_all(methods: list[Method], as_json: bool) -> None:
    if as_json:
        show_json([_described(method) for method in methods])
        return
    rows = [(m.name, m.family, _summary(m), m.cost, m.out_of_sample) for m in methods]
    show_table(("method", "family", "summary", "cost: time; memory", "new rows"), rows)


def _described(method: Method) -> dict[str, Any]:
    plain = dataclasses.asdict(dataclasses.replace(method, params=dict(method.params)))
    return {**plain, "stochastic": method.stochastic, "installed": not _lacking(method)}


def _lacking(method: Method) -> str:
    """What to type before the method can be used, or nothing."""
    from .._core.errors import missing_modules, remedy

    return remedy(method.extra) if method.extra and missing_modules(method.extra) else ""


def _summary(method: Method) -> str:
    lacking = _lacking(method)
    return f"{method.summary} Needs: {lacking}" if lacking else method.summary


def _show_one(method: Method, as_json: bool) -> None:
    parameters = parameters_of(method)
    if as_json:
        show_json({**_described(method), "parameters": parameters})
        return
    time, _, memory = method.cost.partition("; ")
    typer.echo(f"{method.name}: {method.summary}\n")
    facts = [
        ("family", method.family),
        ("time", time),
        ("memory", memory),
        ("rows", f"up to about {method.max_rows:,}"),
        ("target", "needed" if method.needs_y else "not used"),
        ("new rows", method.out_of_sample),
        ("draws", _draws(method)),
        ("preset", method.preset),
        ("reference", method.reference),
    ]
    lacking = _lacking(method)
    facts += [("needs", lacking)] if lacking else []
    for name, fact in facts:
        typer.echo(f"  {name:<10} {fact}")
    typer.echo("\nparameters, set with -p name=value:")
    for parameter in parameters:
        default = "" if parameter["required"] else f" = {parameter['default']!r}"
        typer.echo(f"  {parameter['name']}{default}")
        for line in parameter["text"].splitlines():
            typer.echo(f"      {line}")


def _draws(method: Method) -> str:
    if method.draws_above is None:
        return "nothing"
    return "always" if method.draws_above == 0 else f"above {method.draws_above:,} rows"


def parameters_of(method: Method) -> list[dict[str, Any]]:
    """Name, default and description of each parameter, from the signature and the docstring."""
    estimator = method.load()
    texts = _parameter_texts(inspect.getdoc(estimator) or "")
    described = []
    for name, parameter in inspect.signature(estimator).parameters.items():
        default = method.params.get(name, parameter.default)
        required = default is inspect.Parameter.empty
        described.append(
            {
                "name": name,
                "required": required,
                "default": None if required else default,
                "text": texts.get(name, ""),
            }
        )
    return described


def _parameter_texts(docstring: str) -> dict[str, str]:
    section = _SECTION.search(docstring)
    if section is None:
        return {}
    texts = {}
    for heads, body in _ENTRY.findall(section.group(1)):
        for head in heads.partition(":")[0].split(","):
            texts[head.strip()] = inspect.cleandoc(body).strip()
    return texts
