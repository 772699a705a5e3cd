"""The five texts whose tables are run again: what each must reach, and what it says of its own tables."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

from isentropic.experiments.findings.rankings import Groups
from isentropic.experiments.findings.results import Aim
from isentropic.experiments.studies import Source

from .entropic import article as entropic_article
from .entropic import thesis as entropic_thesis
from .isomap import thesis as isomap_thesis
from .printed import claimed_p
from .survey import tables as survey
from .survey.facts import aims_of_first_places
from .trustworthy import thesis as trustworthy_thesis

# Tables that a text ranks together, by the name that its p-values have.
_THESIS: Groups = (("3", ("3",)), ("4 (5)", ("4",)), ("6", ("6",)), ("7", ("7",)), ("8-9", ("8", "9")),
                   ("11-12", ("11", "12")))  # fmt: skip
_ARTICLE: Groups = (("I", ("I",)), ("II-III", ("II", "III")))
_OTHER_NAMES: Mapping[str, str] = MappingProxyType(
    {"ISOMAP-KL": "ISO-KL", "Kernel PCA": "KPCA", "ISOMAP": "ISO", "Laplacian Eigenmaps": "LAP", "LE": "LAP"}
)
_SMALL = ("iris", "wine", "hayes-roth", "SPECTF", "servo")
_PLAIN = ("PCA", "KPCA", "ISO", "LLE", "LAP")
_KDE = ("K-ISO-F", "K-ISO-SIL", "K-ISO-SC")
_WITHOUT_TIES = ("bank", "coil20", "har", "secom")  # tables of the survey that hold no row twice
_UNHELPED = ("PCA", "ISO", "K-PCA-P", "K-PCA-R", "K-PCA-S", "LE", "M-LLE")

ENTROPIC_THESIS = Source(
    entropic_thesis.SOURCE,
    "Entropic and supervised maps: the thesis",
    entropic_thesis.tables,
    aims=(
        Aim("Table 6, LDA: kappa within .002", 3, ("6",), methods=("LDA",), within=0.002),
        Aim("Table 7, PCA: accuracy within .015", 1, ("7",), methods=("PCA",), within=0.015),
        Aim("Table 8, PCA and ISOMAP: silhouette within .002", 4, ("8",), methods=("PCA", "ISOMAP"),
            within=0.002),
        Aim("Table 9, KDE-ISOMAP as its program has it: silhouette within .02, or with the reason", 0,
            ("9",), methods=_KDE, within=0.02, reasons=True),
        Aim("The same, without reasons", None, ("9",), methods=_KDE, within=0.02),
    ),
    groups=_THESIS,
    p_values=partial(claimed_p, entropic_thesis.SOURCE, _THESIS),
    other_names=_OTHER_NAMES,
)  # fmt: skip
ENTROPIC_ARTICLE = Source(
    entropic_article.SOURCE,
    "ISOMAP-KL: the article",
    entropic_article.tables,
    aims=(
        Aim("Table I, ISOMAP-KL as its program has it: silhouette within .02", 2, ("I",),
            methods=("ISO-KL",), within=0.02),
        Aim("Table I, the other methods: silhouette within .002, or with the reason", 0, ("I",),
            methods=_PLAIN, within=0.002, reasons=True),
        Aim("Tables II and III, SVM on five small tables, five methods: accuracy within .002", 1,
            ("II", "III"), _SMALL, _PLAIN, ("SVM",), within=0.002),
    ),
    groups=_ARTICLE,
    p_values=partial(claimed_p, entropic_article.SOURCE, _ARTICLE),
    other_names=_OTHER_NAMES,
)  # fmt: skip
ISOMAP_THESIS = Source(
    isomap_thesis.SOURCE,
    "PCA and ISOMAP: the thesis",
    isomap_thesis.tables,
    aims=(
        Aim("1-NN, score and stress as printed", 5, measures=("1-NN", "Score", "Kruskal's stress")),
        Aim("1-NN, score and stress as printed, or with the reason", reasons=True,
            measures=("1-NN", "Score", "Kruskal's stress")),
    ),
)  # fmt: skip
TRUSTWORTHY_THESIS = Source(
    trustworthy_thesis.SOURCE,
    "SDD and trustworthy reduction: the thesis",
    trustworthy_thesis.tables,
    aims=(
        Aim("tau within .005", None, measures=("tau",), within=0.005),
        Aim("tau within .005, or with the reason", measures=("tau",), within=0.005, reasons=True),
    ),
)
SURVEY = Source(
    survey.SOURCE,
    "44 techniques on ten tables: the survey",
    survey.tables,
    aims=(
        Aim("Trustworthiness and continuity to four decimals, of seven columns on tables without copies",
            0, data=_WITHOUT_TIES, methods=_UNHELPED, measures=("trustworthiness", "continuity")),
        Aim("The same, or with the reason", 0, data=_WITHOUT_TIES, methods=_UNHELPED,
            measures=("trustworthiness", "continuity"), reasons=True),
        Aim("Neighbourhood hit of UMAP with labels within .02, on har and coil20", 0,
            data=("har", "coil20"), methods=("UMAP",), measures=("neighborhood hit",), within=0.02),
    ),
    more_aims=aims_of_first_places,
)  # fmt: skip
