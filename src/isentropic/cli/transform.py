"""``isentropic transform``: place new rows in a map that was made before."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._errors import FileFormatError, InvalidInputError
from ._computation import computing, prompt_interrupt
from ._options import AsJson, Memory, Out, Quiet, Source
from ._output import Files, coordinates_frame, require_outputs, write_frame
from ._summary import Summary, show_summary
from ._terminal import reporting

if TYPE_CHECKING:
    from ..datasets import Preparation

Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A file that 'isentropic embed --save' wrote.")]


def main(
    model: Model,
    source: Source,
    out: Out,
    memory: Memory = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Place new rows in a saved map. They are encoded and scaled as the first table was.

    \b
    Example:
      isentropic transform flats.skops new_flats.csv --out new_map.csv
    """
    require_outputs(Files(out), source)
    with reporting(bars=not quiet, memory=memory) as warned:
        from .._io import load_with_extra, refusal
        from ..datasets import load

        with prompt_interrupt():
            estimator, extra = load_with_extra(model)
        name = extra.get("method", type(estimator).__name__)
        if not isinstance(name, str):
            raise FileFormatError(refusal(model, f"its method must be a name, got {name!r}"))
        if not hasattr(estimator, "transform"):
            raise InvalidInputError(
                f"{name} cannot place new rows. Embed them together with the first table."
            )
        preparation = _preparation(model, extra, estimator.n_features_in_)
        with prompt_interrupt():
            table = load(source, preparation=preparation)
        began = time.perf_counter()
        with computing(name):
            Z = estimator.transform(table.X)
        seconds = time.perf_counter() - began
        write_frame(coordinates_frame(Z, estimator.get_feature_names_out(), table), out)
    summary = Summary(name, {}, table, Z.shape[1], seconds, Files(out), warned)
    show_summary(summary, quiet=quiet, as_json=as_json)


def _preparation(model: Path, extra: dict[str, Any], n_features: int) -> Preparation:
    from .._io import refusal
    from ..datasets import Preparation

    if "preparation" not in extra:
        raise FileFormatError(
            f"{model} must say how its table was prepared, but it was saved without that. "
            "Use isentropic.load in Python, or save it with 'isentropic embed --save'."
        )
    try:
        preparation = Preparation.from_json(extra["preparation"])
    except InvalidInputError as error:
        raise FileFormatError(f"{model} is damaged: {error}") from error
    count = len(preparation.feature_names)
    if count != n_features:
        reason = f"its preparation gives {count} features, and its map takes {n_features}"
        raise FileFormatError(refusal(model, reason))
    return preparation
