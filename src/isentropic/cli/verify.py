"""``isentropic verify``: does this machine place rows where the one that saved the model did?"""

from __future__ import annotations

import warnings
from typing import Any

import typer

from .._core.errors import InvalidInputError, IsentropicError, IsentropicWarning
from ..scale.saved_model import ReferenceOutputs, read_model, transform_rows
from .shared.options import AsJson, Memory, Model, Quiet
from .shared.process import computing, prompt_interrupt
from .shared.terminal import reporting, show_json

_ROUNDING = 1e-6  # of the map's width: what is below may be that of another machine
_NO_FINGERPRINT = (
    "the model does not say which preparation its map was made with, so that only the map is verified. "
    "Save it again with 'isentropic embed --save'."
)


def main(model: Model, memory: Memory = None, quiet: Quiet = False, as_json: AsJson = False) -> None:
    """Place again the rows that were placed when the model was saved, and compare every bit.

    A file that was damaged or edited, or whose preparation is not that of its map, is refused. Exit code 0
    where all bits agree, 1 where they do not.

    \b
    Example:
      isentropic verify flats.isentropic
    """
    with reporting(bars=False, memory=memory) as warned:
        with prompt_interrupt():
            saved = read_model(model)
        name = saved.method
        if saved.reference_outputs is None:
            raise InvalidInputError(
                f"{model} must hold rows to compare with, but was saved without them: {name} may place no "
                "new rows. Save it again with 'isentropic embed --save'."
            )
        if not saved.has_fingerprint:
            warnings.warn(_NO_FINGERPRINT, IsentropicWarning, stacklevel=2)
        with computing(name):
            found = _compare(saved.estimator, saved.reference_outputs)
    if as_json:
        show_json({"model": str(model), "method": name, **found, "warnings": warned})
    elif found["equal"] and not quiet:
        typer.echo(
            f"{name}: all {found['rows']} rows are placed with the same bits as when the model was saved."
        )
    if not found["equal"]:
        raise IsentropicError(_difference(name, found))


def _compare(estimator: Any, saved: ReferenceOutputs) -> dict[str, Any]:
    import numpy as np

    rows, saved_at = saved.rows, saved.coordinates
    here = transform_rows(estimator, rows)
    width = float(np.ptp(estimator.embedding_, axis=0).max()) or 1.0
    differing = int((here != saved_at).any(axis=1).sum())
    return {
        "rows": len(rows),
        "equal": differing == 0,
        "differing": differing,
        "largest": float(np.abs(here - saved_at).max()),
        "of_width": float(np.abs(here - saved_at).max()) / width,
    }


def _difference(name: str, found: dict[str, Any]) -> str:
    rounding = "Another processor, or other versions of the libraries, may sum in another order."
    more = "That is more than rounding: fit the model again, and save it here."
    return (
        f"{name}: {found['differing']} of {found['rows']} rows are placed elsewhere than when the model was "
        f"saved, by up to {found['largest']:.2g}, {found['of_width']:.2g} of the map's width. "
        f"{rounding if found['of_width'] < _ROUNDING else more}"
    )
