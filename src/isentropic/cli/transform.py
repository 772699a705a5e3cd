"""``isentropic transform``: place new rows in a map that was made before."""

from __future__ import annotations

import time

from ..scale.saved_model import read_model
from .shared.options import AsJson, Memory, Model, NewMissing, Out, Quiet, RawText, Source
from .shared.output import Files, coordinates_frame, inputs_of, map_outputs, require_outputs, write_map
from .shared.process import computing, prompt_interrupt
from .shared.summary import Summary, show_summary
from .shared.table_options import Header, Separator, SkipLines
from .shared.terminal import reporting


def main(
    model: Model,
    source: Source,
    out: Out,
    raw_text: RawText = False,
    missing: NewMissing = "raise",
    separator: Separator = None,
    header: Header = None,
    skip_lines: SkipLines = None,
    memory: Memory = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Place new rows in a saved map. They are encoded and scaled as the first table was.

    \b
    Example:
      isentropic transform flats.isentropic new_flats.csv --missing mean --out new_map.csv
    """
    require_outputs(map_outputs(out), inputs_of(source, None, model))
    with reporting(bars=not quiet, memory=memory) as warned:
        from ..tables import load

        with prompt_interrupt():
            saved = read_model(model)
            saved.require_rule(missing)
            table = load(
                source,
                preparation=saved.preparation,
                missing=missing,
                separator=separator,
                header=header,
                skip_lines=skip_lines,
            )
        began = time.perf_counter()
        with computing(saved.method):
            Z = saved.estimator.transform(table.X)
        seconds = time.perf_counter() - began
        columns = saved.estimator.get_feature_names_out()
        frame = coordinates_frame(Z, columns, table)
        write_map(frame, columns, out, saved.method, table, raw_text=raw_text)
    summary = Summary(saved.method, {}, table, Z.shape[1], seconds, Files(out), warned)
    show_summary(summary, quiet=quiet, as_json=as_json)
