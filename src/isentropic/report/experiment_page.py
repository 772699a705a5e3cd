"""``tables_page``: reproduced tables, or one's own, as one self-contained HTML page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from html import escape
from typing import Any

from ..comparison.presentation import decimal_range, p_value, seconds, table_decimal
from ..experiments.findings.rankings import PrintedP, Ranking, against, first_of
from ..experiments.findings.results import CellResult, TableResult
from ..experiments.findings.sentences import Chapter
from ..experiments.own_tables import OWN
from ..experiments.statistics import RankLayout, rank_layout
from ..experiments.tasks import HONEST, PERMUTED, PUBLISHED, RANDOM, ROUNDED, Task
from .rendering import asset, template

_FACTS = ("command", "versions", "seconds", "date", "quick", "folder")
_COLUMNS = ("printed", "ours", "least", "honest", "permuted", "random")
_LEGEND = {
    "printed": "printed",
    "ours": "ours, by the same protocol",
    "least": "between what bounds rounding alone moves it, where it does",
    "permuted": "the same with labels at random",
    "random": "the best of as many random projections",
}
_PROTOCOLS = {
    PUBLISHED: "as published",
    HONEST: "honest",
    PERMUTED: "with labels at random",
    RANDOM: "of random projections",
    ROUNDED: "of what rounding does",
}
_MOST_DIAGRAM = 40  # methods that a diagram can name


def tables_page(title: str, chapters: Sequence[Chapter], facts: Mapping[str, Any]) -> str:
    """Chapters as one HTML file: what survives, every number with its company, the statistics, the nulls.

    The same arguments give the same bytes. All text is escaped; no script runs and nothing is fetched (a
    content security policy in the page forbids both).
    """
    return template("experiment.html").render(
        title=title,
        chapters=[_chapter(one, i) for i, one in enumerate(chapters, 1)],
        own=all(one.name == OWN for one in chapters),
        facts={**dict.fromkeys(_FACTS), **facts},
        style=asset("page.css") + asset("experiment.css"),
        seconds=seconds,
    )


def _chapter(chapter: Chapter, place: int) -> dict[str, Any]:
    tables = [_table(result) | {"id": f"table-{place}-{i}"} for i, result in enumerate(chapter.results, 1)]
    leads: dict[str, str] = {}
    for table in tables:  # a note that several tables share stands with the first of them
        lead, _, rest = table["note"].partition("\n")
        table["note"] = "" if lead in leads else rest
        leads.setdefault(lead, table["name"])
    return {
        "name": chapter.name,
        "title": chapter.title,
        "leads": [lead for lead in leads if lead],  # the first paragraph of each note: what survives
        "sentences": chapter.sentences,
        "reached": chapter.reached,
        "tables": tables,
        "rankings": [_ranking(ranking) for ranking in chapter.rankings],
        "p_values": [_printed(one) for one in chapter.p_values],
    }


# ---- tables of numbers ---------------------------------------------------------------------------


def _table(result: TableResult) -> dict[str, Any]:
    """Lines and columns of numbers; the longer side goes down the page."""
    cells = [one for one in result.cells if _has_number(one)]
    shown = [column for column in _COLUMNS if any(_value(one, column) is not None for one in cells)]
    reasons = list(dict.fromkeys(one.reason for one in cells if one.reason))
    methods = (result.table.order or _as_listed)(cells)
    blocks = list(dict.fromkeys((one.cell.dataset, one.cell.measure) for one in cells))
    there = {(one.cell.measure, name) for one in cells for name in shown if _value(one, name) is not None}
    at = {
        (one.cell.dataset, one.cell.measure, one.cell.method): _cell(one, shown, reasons, there)
        for one in cells
    }
    data = {dataset for dataset, _ in blocks}
    measures = {measure for _, measure in blocks}
    heads = [_block(block, len(data), len(measures)) for block in blocks]
    grid = [[at.get((*block, method)) for method in methods] for block in blocks]
    by_method = len(methods) > len(blocks)
    return {
        "name": result.table.name,
        "title": result.table.title,
        "what": _what(data, measures),
        "columns": [_LEGEND.get(column) or _honest(result) for column in shown],
        "across": heads if by_method else methods,
        "down": methods if by_method else heads,
        "grid": [list(line) for line in zip(*grid, strict=True)] if by_method and grid else grid,
        "reasons": reasons,
        "note": as_html(result.table.note),
        "counts": (result.n_same, len(result.compared)),
        "met": ", ".join(f"{name} {met} of {of}" for name, (met, of) in result.met_by_method.items()),
        "failures": [(data, method, _PROTOCOLS[kind], why) for data, method, kind, why in result.failures],
        "left": _left(result.left),
        "n_tasks": result.n_tasks,
        "seconds": result.seconds,
    }


def _as_listed(cells: Sequence[CellResult]) -> list[str]:
    return list(dict.fromkeys(one.cell.method for one in cells))


def _honest(result: TableResult) -> str:
    """The honest column in words, with what stands in its brackets."""
    label = f"honest, {result.table.honest}"
    if not any(one.low is not None for one in result.cells):
        return label
    return f"{label} (in brackets {result.table.interval})"


def _left(tasks: Sequence[Task]) -> str:
    """How many pieces of work were not run, by protocol, in words."""
    counts = Counter(task.protocol for task in tasks)
    return ", ".join(f"{counts[name]:,} {label}" for name, label in _PROTOCOLS.items() if counts[name])


def _has_number(one: CellResult) -> bool:
    return any(_value(one, column) is not None for column in _COLUMNS) or bool(one.reason)


def _value(one: CellResult, column: str) -> float | None:
    value: float | None = one.cell.printed if column == "printed" else getattr(one, column)
    return value


def _what(data: set[str], measures: set[str]) -> str:
    """What is the same for all of a table, to stand above it once."""
    return ", ".join([*(data if len(data) == 1 else ()), *(measures if len(measures) == 1 else ())])


def _block(block: tuple[str, str], n_data: int, n_measures: int) -> str:
    dataset, measure = block
    if n_measures == 1:
        return dataset if n_data > 1 else measure
    return measure if n_data == 1 else f"{dataset}, {measure}"


def _cell(
    one: CellResult, shown: Sequence[str], reasons: Sequence[str], there: Container[tuple[str, str]]
) -> dict[str, Any]:
    """Its lines; a dash where its measure has such a number elsewhere in the table."""
    digits = one.cell.digits
    ran = one.ours is not None or one.honest is not None
    lines = []
    for column in shown:
        value = _value(one, column)
        text = "" if value is None else table_decimal(value, digits)
        if column == "honest" and value is not None and one.low is not None and one.high is not None:
            text += f" ({decimal_range(one.low, one.high, digits)})"
        if column == "least" and value is not None and one.most is not None:
            text = "" if text == table_decimal(one.most, digits) else decimal_range(value, one.most, digits)
        if text or (column in ("ours", "honest") and ran and (one.cell.measure, column) in there):
            lines.append({"column": column, "text": text})
    empty = [{"column": "none", "text": ""}] if one.reason else []  # a dash, to bear the number of its reason
    return {
        "lines": lines or empty,
        "agreement": one.agreement,
        "note": reasons.index(one.reason) + 1 if one.reason else 0,
        "title": "; ".join(part for part in (one.cell.parameter, one.reason) if part),
    }


# ---- statistics ----------------------------------------------------------------------------------


def _ranking(ranking: Ranking) -> dict[str, Any]:
    test = ranking.test
    layout = rank_layout(test.methods, test.average_ranks, ranking.difference)
    first = first_of(ranking)
    rows = [
        {
            "name": mark.name,
            "rank": f"{mark.rank:.2f}",
            "mean": table_decimal(ranking.means[test.methods.index(mark.name)]),
            "against": [] if mark.name == first else _against(ranking, mark.name),
        }
        for mark in layout.marks
    ]
    return {
        "name": ranking.name,
        "how": ranking.how,
        "blocks": ranking.blocks,
        "first": first,
        "friedman": p_value(test.friedman_p),
        "iman_davenport": p_value(test.iman_davenport_p),
        "agreement": table_decimal(test.agreement, 2),
        "difference": f"{ranking.difference:.2f}",
        "rope": f"{ranking.rope:g}",
        "rows": rows,
        "diagram": diagram(layout) if len(rows) <= _MOST_DIAGRAM else "",
    }


def _against(ranking: Ranking, name: str) -> list[str]:
    """The first against another: p-values of four tests, wins, ties and losses, effect, probabilities."""
    one = against(ranking, name)
    return [
        *map(p_value, (one.p_uncorrected, one.p_nemenyi, one.p_conover, one.p_wilcoxon_holm)),
        f"{one.won}–{one.tied}–{one.lost}",
        table_decimal(one.rank_biserial, 2),
        " / ".join(table_decimal(chance, 2) for chance in (one.better, one.level, one.worse)),
    ]


def _printed(one: PrintedP) -> dict[str, Any]:
    values = {"uncorrected": one.uncorrected, "as_defined": one.as_defined, "by_data": one.by_data}
    texts = {name: "" if value is None else p_value(value) for name, value in values.items()}
    return {
        "table": one.table, "test": one.test, "pair": one.pair, "printed": one.printed, **texts,
        "n_blocks": one.n_blocks, "n_data": one.n_data, "lost": one.lost,
    }  # fmt: skip


_WIDTH, _SIDE, _ROW, _BAR = 820, 240, 19, 9


def diagram(layout: RankLayout) -> str:
    """A critical-difference diagram as SVG; names are escaped."""
    wide = _WIDTH - 2 * _SIDE

    def x(place: float) -> float:
        return round(_SIDE + place * wide, 1)

    axis = 46
    below = axis + _BAR * (len(layout.bars) + 1) + 6
    height = below + _ROW * layout.n_rows + 4
    parts = [f'<line class="axis" x1="{x(0)}" x2="{x(1)}" y1="{axis}" y2="{axis}"/>']
    for rank, place in layout.ticks:
        parts.append(f'<line class="axis" x1="{x(place)}" x2="{x(place)}" y1="{axis - 5}" y2="{axis}"/>')
        parts.append(f'<text x="{x(place)}" y="{axis - 9}" text-anchor="middle">{rank}</text>')
    parts.append(f'<line class="bar" x1="{x(0)}" x2="{x(layout.difference)}" y1="14" y2="14"/>')
    parts.append(f'<text x="{x(layout.difference) + 6}" y="18">critical difference</text>')
    for level, (start, end) in enumerate(layout.bars, 1):
        y = axis + _BAR * level
        parts.append(f'<line class="clique" x1="{x(start) - 3}" x2="{x(end) + 3}" y1="{y}" y2="{y}"/>')
    for mark in layout.marks:
        y, side = below + _ROW * mark.row + 6, x(0) - 10 if mark.left else x(1) + 10
        anchor, shift = ("end", -5) if mark.left else ("start", 5)
        text = f"{mark.name} {mark.rank:.2f}" if mark.left else f"{mark.rank:.2f} {mark.name}"
        parts.append(
            f'<polyline class="lead" points="{x(mark.place)},{axis} {x(mark.place)},{y} {side},{y}"/>'
        )
        label = escape(text)
        parts.append(
            f'<text class="name" x="{side + shift}" y="{y + 4}" text-anchor="{anchor}">{label}</text>'
        )
    box = f'viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'
    return f'<svg class="ranks" {box} role="img" aria-label="Mean ranks">{"".join(parts)}</svg>'


# ---- notes ---------------------------------------------------------------------------------------


def as_html(markdown: str) -> str:
    """Paragraphs, headings, lists, tables, **strong**, *emphasis* and `code` of a note; all else is text.

    >>> as_html("## Why\\n\\nOne **two** `<b>`.")
    '<h4>Why</h4>\\n<p>One <strong>two</strong> <code>&lt;b&gt;</code>.</p>'
    """
    return "\n".join(_paragraph(part.strip("\n")) for part in re.split(r"\n\s*\n", markdown.strip()) if part)


def _paragraph(text: str) -> str:
    lines = text.splitlines()
    if lines[0].startswith("#"):
        head = f"<h4>{_inline(lines[0].lstrip('# '))}</h4>"
        return head if len(lines) == 1 else head + "\n" + _paragraph("\n".join(lines[1:]))
    if lines[0].startswith(("- ", "* ")):
        items = re.split(r"\n[-*] ", text[2:])
        return "<ul>" + "".join(f"<li>{_inline(' '.join(item.split()))}</li>" for item in items) + "</ul>"
    if lines[0].startswith("|"):
        rows = [line.strip().strip("|").split("|") for line in lines if not re.fullmatch(r"[|\s:-]+", line)]
        filled = ("".join(f"<td>{_inline(cell.strip())}</td>" for cell in row) for row in rows)
        return "<table>" + "".join(f"<tr>{row}</tr>" for row in filled) + "</table>"
    return f"<p>{_inline(' '.join(text.split()))}</p>"


def _inline(text: str) -> str:
    text = escape(text)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    text = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", text)
    return re.sub(r"\*([^*\s][^*]*)\*", r"<em>\1</em>", text)
