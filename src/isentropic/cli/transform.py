"""``isentropic transform``: place new rows in a map that was made before."""

from __future__ import annotations

import time

from .._core.errors import require
from ..scale.saved_model import read_model
from .shared.options import AsJson, Jobs, Memory, Model, NewMissing, Out, Quiet, RawText, Source
from .shared.output import Files, coordinates_frame, inputs_of, map_outputs, require_outputs, write_map
from .shared.partitioned import Cluster, is_mapped_in_files, layout_of, map_files, require_files, show_files
from .shared.process import computing, prompt_interrupt
from .shared.summary import Summary, show_summary
from .shared.table_options import Header, Separator, SkipLines, TableOptions
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
    cluster: Cluster = None,
    jobs: Jobs = None,
    memory: Memory = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Place new rows in a saved map. They are encoded and scaled as the first table was.

    \b
    Examples:
      isentropic transform flats.isentropic new_flats.csv --missing mean --out new_map.csv
      isentropic transform flats.isentropic 'big/*.parquet' --out map/
    """
    if is_mapped_in_files(source, out):
        require_files(source, out, cluster, raw_text=raw_text)
        layout = layout_of(TableOptions(separator=separator, header=header, skip_lines=skip_lines))
        with reporting(bars=not quiet, memory=memory) as warned:
            method = read_model(model).method
            found, seconds = map_files(model, source, out, missing, jobs, cluster, layout)
        show_files(found, seconds, method, warned, quiet=quiet, as_json=as_json)
        return
    require(cluster is None, "--cluster", "for a source of many files", cluster)
    require_outputs(map_outputs(out), inputs_of(source, None, model))
    with reporting(bars=not quiet, memory=memory) as warned:
        from ..tables import load

        with prompt_interrupt():
            saved = read_model(model)
            saved.require_rule(missing)
            if jobs is not None and "n_jobs" in saved.estimator.get_params(deep=False):
                saved.estimator.set_params(n_jobs=jobs)
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
