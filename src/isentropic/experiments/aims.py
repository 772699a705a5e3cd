"""What a source must give again for its protocol to count as understood: how many numbers, how near."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from .results import SAME, UNKNOWN, CellResult, TableResult, agreement
from .survey_facts import RANKED, first_places
from .values import Outcome, Task

_WITHOUT_TIES = ("bank", "coil20", "har", "secom")  # tables of the survey that hold no row twice
_FIRSTS, _TABLES = 6, 10  # tables of the survey on which ours must be first, of all
_UNHELPED = ("PCA", "ISO", "K-PCA-P", "K-PCA-R", "K-PCA-S", "LE", "M-LLE")


@dataclass(frozen=True, slots=True)
class Aim:
    """Numbers of some tables that are held to what is printed; an empty choice is all.

    ``spare`` of them may differ, None: it is only told. ``within`` takes the place of the tolerance of each;
    ``reasons`` counts what differs with its reason too.
    """

    what: str
    spare: int | None = 0
    tables: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    within: float | None = None
    reasons: bool = False

    def holds(self, result: TableResult) -> list[CellResult]:
        """The numbers of a table that are meant, and that were computed again."""
        chosen = ((self.data, "dataset"), (self.methods, "method"), (self.measures, "measure"))
        if self.tables and result.table.name not in self.tables:
            return []
        return [
            one
            for one in result.cells
            if one.agreement != UNKNOWN
            and all(not names or getattr(one.cell, field) in names for names, field in chosen)
        ]

    def is_met(self, one: CellResult) -> bool:
        """Whether a number counts."""
        within = one.cell.tolerance if self.within is None else self.within
        is_near = agreement(one.cell.printed, one.ours, within) == SAME
        return is_near or (self.reasons and bool(one.reason) and not one.is_open)


@dataclass(frozen=True, slots=True)
class Reached:
    """An aim, how many of how many meet it in a run, and how many must, in words."""

    what: str
    met: int
    of: int
    must: str
    holds: bool


_SMALL = ("iris", "wine", "hayes-roth", "SPECTF", "servo")
_PLAIN = ("PCA", "KPCA", "ISO", "LLE", "LAP")
_KDE = ("K-ISO-F", "K-ISO-SIL", "K-ISO-SC")
AIMS: Mapping[str, tuple[Aim, ...]] = MappingProxyType(
    {
        "000": (
            Aim("Table 6, LDA: kappa within .002", 3, ("6",), methods=("LDA",), within=0.002),
            Aim("Table 7, PCA: accuracy within .015", 1, ("7",), methods=("PCA",), within=0.015),
            Aim("Table 8, PCA and ISOMAP: silhouette within .002", 4, ("8",), methods=("PCA", "ISOMAP"),
                within=0.002),
            Aim("Table 9, KDE-ISOMAP as its program has it: silhouette within .02, or with the reason", 0,
                ("9",), methods=_KDE, within=0.02, reasons=True),
            Aim("The same, without reasons", None, ("9",), methods=_KDE, within=0.02),
        ),
        "001": (
            Aim("Table I, ISOMAP-KL as its program has it: silhouette within .02", 2, ("I",),
                methods=("ISO-KL",), within=0.02),
            Aim("Table I, the other methods: silhouette within .002, or with the reason", 0, ("I",),
                methods=_PLAIN, within=0.002, reasons=True),
            Aim("Tables II and III, SVM on five small tables, five methods: accuracy within .002", 1,
                ("II", "III"), _SMALL, _PLAIN, ("SVM",), within=0.002),
        ),
        "002": (
            Aim("1-NN, score and stress as printed", 5, measures=("1-NN", "Score", "Kruskal's stress")),
            Aim("1-NN, score and stress as printed, or with the reason", reasons=True,
                measures=("1-NN", "Score", "Kruskal's stress")),
        ),
        "004": (
            Aim("tau within .005", None, measures=("tau",), within=0.005),
            Aim("tau within .005, or with the reason", measures=("tau",), within=0.005, reasons=True),
        ),
        "survey": (
            Aim("Trustworthiness and continuity to four decimals, of seven columns on tables without copies",
                0, data=_WITHOUT_TIES, methods=_UNHELPED, measures=("trustworthiness", "continuity")),
            Aim("The same, or with the reason", 0, data=_WITHOUT_TIES, methods=_UNHELPED,
                measures=("trustworthiness", "continuity"), reasons=True),
            Aim("Neighbourhood hit of UMAP with labels within .02, on har and coil20", 0,
                data=("har", "coil20"), methods=("UMAP",), measures=("neighborhood hit",), within=0.02),
        ),
    }
)  # fmt: skip


def reached(
    source: str, results: Sequence[TableResult], outcomes: Mapping[Task, Outcome]
) -> tuple[Reached, ...]:
    """Of each aim of a source that anything was computed for."""
    found = []
    for aim in AIMS.get(source, ()):
        cells = [one for result in results for one in aim.holds(result)]
        if cells:
            found.append(_reached(aim, sum(map(aim.is_met, cells)), len(cells)))
    if any((result.table.source, result.table.name) == ("survey", RANKED) for result in results):
        for one in first_places(outcomes):
            held = one.is_aim and one.of == _TABLES
            must = str(_FIRSTS) if held else ""
            found.append(Reached(one.what, one.met, one.of, must, not held or one.met >= _FIRSTS))
    return tuple(found)


def _reached(aim: Aim, met: int, of: int) -> Reached:
    if aim.spare is None:
        return Reached(aim.what, met, of, "", True)
    must = f"all but {aim.spare}" if aim.spare else "all"
    return Reached(aim.what, met, of, must, met >= of - aim.spare)
