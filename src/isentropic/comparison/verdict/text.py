"""Every sentence of the verdict. Each is made from the numbers that it states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..evaluation.runs import LabelTest
from .thresholds import Level, at_least

if TYPE_CHECKING:
    from .grades import Grade, Rating

NEIGHBORS = "Which rows are alike"
DISTANCES = "How far apart things are"
GROUPS = "Are there groups"
GRADE_NAMES: dict[Level, str] = {
    "good": "good",
    "fair": "fair",
    "poor": "poor",
    "chance": "no better than chance",
    "unknown": "not measured",
}
# as labels of the page
GRADE_LABELS: dict[Level, str] = {
    "good": "Good",
    "fair": "Fair",
    "poor": "Poor",
    "chance": "No better than chance",
    "unknown": "Not known",
}
GROUP_LABELS = {"yes": "Yes", "no": "No", "not tested": "Not tested"}
TEST_LABELS = {"effect": "An effect of the labels.", "untested": "Labels not tested."}
# usual names; rare ones are expanded in words
TITLES = {
    "pca": "PCA",
    "classical-mds": "classical MDS",
    "metric-mds": "metric MDS",
    "nonmetric-mds": "nonmetric MDS",
    "landmark-mds": "landmark MDS",
    "isomap": "Isomap",
    "landmark-isomap": "landmark Isomap",
    "entropic-isomap": "entropic Isomap (ISOMAP-KL)",
    "t-sne": "t-SNE",
    "umap": "UMAP",
    "pacmap": "PaCMAP",
    "trimap": "TriMap",
    "sammon": "Sammon's mapping",
    "lle": "LLE",
    "laplacian-eigenmaps": "Laplacian eigenmaps",
    "diffusion-maps": "diffusion maps",
    "sdd": "SDD (same-degree distributions)",
    "multi-sdd": "MSDD (several same-degree distributions)",
    "parameter-free-sdd": "SDD (same-degree distributions, degree 1)",
    "multiscale-t-sne": "multiscale t-SNE",
    "lda": "LDA",
    "nca": "NCA",
    "som": "a self-organizing map",
    "gtm": "GTM (generative topographic map)",
}


def title_of(method: str) -> str:
    """The usual name of a method.

    >>> title_of("t-sne"), title_of("mine")
    ('t-SNE', 'mine')
    """
    return TITLES.get(method, method)


# ---- grades --------------------------------------------------------------------------------------


def neighbors(near: float, k: int, chance: float, digits: int) -> str:
    """How many of the points beside a point are close to it in the data.

    >>> neighbors(9, 10, 0.3, 0)
    '9 of the 10 points beside a point are close to it in the data too; by chance fewer than 1.'
    >>> neighbors(6.6, 7, 2.31, 1)
    '6.6 of the 7 points beside a point are close to it in the data too; by chance 2.3.'
    """
    if k == 1:
        return (
            f"The point beside a point is close to it in the data too in {near:.0%} of cases; by chance in "
            f"{chance:.0%}."
        )
    count = f"{near:.{digits}f}".removesuffix(".0")
    verb = "is" if count == "1" else "are"
    beside = f"{count} of the {k} points beside a point {verb} close to it in the data too"
    return f"{beside}; {by_chance(chance, digits)}."


def by_chance(count: float, digits: int) -> str:
    """
    >>> by_chance(0.4, 0), by_chance(2.31, 1), by_chance(4.6, 0)
    ('by chance fewer than 1', 'by chance 2.3', 'by chance 5')
    """
    return "by chance fewer than 1" if count < 1 else f"by chance {f'{count:.{digits}f}'.removesuffix('.0')}"


def distances(ordered: int) -> str:
    """How many pairs of distances are in the right order.

    >>> distances(68)
    '68 of 100 pairs of distances are in the right order on the map; by chance 50.'
    """
    return f"{ordered} of 100 pairs of distances are in the right order on the map; by chance 50."


def rating(title: str, neighbors: Grade, distances: Grade | None, worthless: bool) -> str:
    """One map in one sentence."""
    if worthless:
        return f"{title} is no better than the same points in random places."
    sentence = f"{title}: neighbours {GRADE_NAMES[neighbors.level]}"
    return f"{sentence}, distances {GRADE_NAMES['unknown' if distances is None else distances.level]}."


def failed(title: str, reason: str) -> str:
    """A method that gave no map."""
    return f"{title} gave no map: {reason}"


def graded(grade: Grade) -> str:
    """A question with its answer, as a line of text."""
    return f"{grade.title}: {GRADE_NAMES[grade.level]}. {grade.sentence}"


def groups_answer(sentence: str) -> str:
    """
    >>> groups_answer("Not tested.")
    'Are there groups: Not tested.'
    """
    return f"{GROUPS}: {sentence}"


def careful(caveat: str) -> str:
    """
    >>> careful("With 12 rows, treat every grade as rough.")
    'Be careful: With 12 rows, treat every grade as rough.'
    """
    return f"Be careful: {caveat}"


def tradeoff(title: str, neighbors: Grade, distances: Grade) -> str:
    """What a dot of the trade-off picture says: both grades of a map."""
    near, far = (GRADE_LABELS[grade.level].lower() for grade in (neighbors, distances))
    return f"{title}: which rows are alike {near}, distances {far}"


# ---- headlines -----------------------------------------------------------------------------------


def headline(rating: Rating, has_groups: bool | None) -> tuple[str, str]:
    """What a map may be used for, and what not."""
    near, far = (at_least(rating.level(question), "fair") for question in ("neighbors", "distances"))
    title = rating.title
    if near:
        use = f"Use {title} to see which rows are alike."
        apart = "between groups" if has_groups else "between points that lie far apart"
        if rating.level("distances") == "good":
            return f"Use {title} to see which rows are alike, and how far apart they are.", ""
        if far:
            return use, f"Read distances {apart} only roughly."
        return use, f"Do not read distances {apart}."
    assert far, "a map that is poor on both questions is not recommended"
    return f"Use {title} to see how far apart rows are.", "Do not read which ones are neighbours."


def no_recommendation(case: str, shown: str | None) -> tuple[str, str]:
    """Why no map is recommended, and why one is shown."""
    why = {
        "failed": "No method gave a map of this table.",
        "chance": "No flat map shows anything of this table: none is better than random places.",
        "unrelated": "No map of this table shows more than chance: its columns are unrelated.",
        "hardly related": "No map of this table is recommended: its columns are hardly related.",
        "alike": (
            "No flat map shows which rows are alike in this table: the distances between rows hardly differ."
        ),
        "effect": (
            "No map of this table is recommended: what they show of the classes is an effect of the labels."
        ),
        "untested": (
            "No map of this table is recommended: they saw the classes, and it was not tested what that "
            "makes of them."
        ),
        "little": "No flat map shows which rows are alike in this table.",
    }[case]
    return why, "" if shown is None else f"{shown} is shown because no map is better."


def column_relation(case: str, p: float, density: float) -> str:
    """Whether the columns are related, for the record of the report."""
    how = f"shuffled by itself (p = {p:.2f})"
    if case == "unrelated":
        return f"Rows lie no closer together than with each column {how}: the columns are unrelated."
    if case == "hardly related":
        return (
            f"Rows lie hardly closer together than with each column {how}: {density:.1f} times as dense. "
            "The columns are hardly related."
        )
    return f"Rows lie {density:,.1f} times as dense as with each column {how}: there is something to show."


def next_step(case: str, p: float | None) -> str:
    """What to do where no map is recommended."""
    shuffled = "" if p is None else f" (p = {p:.2f})"
    return {
        "failed": "Why, and what to do, is said of each method.",
        "chance": "Look at the columns one by one, leave out those that are noise, or bring more rows.",
        "unrelated": (
            "Rows lie no closer together than with each column shuffled by itself"
            f"{shuffled}. Look at the columns one by one, or bring more rows."
        ),
        "hardly related": (
            "Rows lie hardly closer together than with each column shuffled by itself. Look at the columns "
            "one by one, or leave out those that are noise."
        ),
        "alike": "Leave out columns that are noise, or compare rows by a few columns that matter.",
        "effect": "Compare methods that do not see the classes.",
        "untested": "Compare methods that do not see the classes; they need no such test.",
        "little": (
            "Compare more methods (--preset thorough), or only the columns that matter: a flat map cannot "
            "show what has many dimensions."
        ),
    }[case]


# ---- groups --------------------------------------------------------------------------------------


def groups(count: int) -> str:
    """The answer of the test of groups."""
    if count:
        found = "1 group" if count == 1 else f"{count} groups"
        each = "" if count == 1 else "each "
        return f"{found}, {each}found again in both halves of the rows."
    return "No groups: what looks like one is not found again in another half of the rows."


def groups_of_columns(columns: Sequence[str]) -> str:
    """Where few columns alone make all that looks like groups.

    >>> groups_of_columns(["sex"])
    'No groups but those that the column sex alone makes.'
    """
    verb = "makes" if len(columns) == 1 else "make"
    return f"No groups but those that {_the_columns(columns)} alone {verb}."


def _the_columns(names: Sequence[str]) -> str:
    return f"the column{'' if len(names) == 1 else 's'} {listing(names)}"


def group_names(names: Sequence[str]) -> str:
    """
    >>> group_names(["A", "B"])
    'The groups: A; B.'
    """
    more = f"; and {len(names) - 6} more" if len(names) > 6 else ""
    return f"The groups: {'; '.join(names[:6])}{more}."


def groups_not_tested(reason: str) -> str:
    """
    >>> groups_not_tested(""), groups_not_tested("Not tested below 30 rows.")
    ('Not tested.', 'Not tested below 30 rows.')
    """
    if reason.startswith("Not tested"):
        return reason
    return f"Not tested{': ' + reason if reason else ''}".rstrip(".") + "."


# ---- what the map shows --------------------------------------------------------------------------


def columns_share(share: float, names: Sequence[str], n_columns: int) -> str:
    """Few columns that make most of the difference between rows."""
    return (
        f"{share:.0%} of the difference between rows comes from {listing(names)}, of {n_columns} columns. "
        f"Without: --drop {','.join(names)}."
    )


def common_factor(share: float) -> str:
    """Most of the variance along one direction, in which all columns rise."""
    return (
        f"{share:.0%} of the variance is one direction: all columns rise together. To compare rows without "
        "it: --rows-as shares."
    )


def listing(names: Sequence[str]) -> str:
    """
    >>> listing(["a"]), listing(["a", "b", "c"]), listing(list("abcdef"))
    ('a', 'a, b and c', 'a, b, c and 3 more')
    """
    if len(names) > 4:
        return f"{', '.join(names[:3])} and {len(names) - 3} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


# ---- be careful ----------------------------------------------------------------------------------


def doubtful(share: float, least: int, k: int) -> str:
    """Rows whose neighbors on the map are mostly far from them."""
    beside = f"fewer than {least} of the {k} points beside them are close in the data"
    return f"{percent(share)} of points are doubtful: {beside}."


def torn(share: float) -> str:
    """Rows that the map has parted from their neighbors."""
    return f"{percent(share)} of points lie far from the rows that are nearest to them in the data."


def seeds(low: int, high: int, n_seeds: int, k: int) -> str:
    """Another seed gives another map."""
    vary = f"over {n_seeds} seeds the near neighbours vary from {low} to {high} of {k}"
    return f"Another seed gives another map: {vary}."


def few_rows(n: int) -> str:
    """
    >>> few_rows(12)
    'With 12 rows, treat every grade as rough.'
    """
    return f"With {n} rows, treat every grade as rough."


def made_by(groups: Sequence[str], columns: Sequence[str]) -> str:
    """Groups that few columns alone make."""
    which = f"Group {groups[0]} is" if len(groups) == 1 else f"Groups {listing(groups)} are"
    return f"{which} made by {_the_columns(columns)} alone."


def percent(share: float) -> str:
    """
    >>> percent(0.0), percent(0.004), percent(0.124), percent(0.998), percent(1.0)
    ('0%', 'Less than 1%', '12%', 'More than 99%', '100%')
    """
    if 0 < share < 0.01:
        return "Less than 1%"
    return "More than 99%" if 0.99 < share < 1 else f"{share:.0%}"


# ---- how it was chosen ---------------------------------------------------------------------------


def why_chosen(title: str, n_maps: int, equal: Sequence[str]) -> str:
    """Among how many maps, and which ones are the same in practice."""
    if equal:
        verb = "is" if len(equal) == 1 else "are"
        return (
            f"All in all, {listing(equal)} {verb} about as useful; {title} is preferred as the simpler or "
            f"the more familiar of the {len(equal) + 1}."
        )
    if n_maps == 1:
        return "It is the only map that was compared."
    return (
        f"{title} is the most useful of {n_maps} maps, by the neighbours and the distances that it retains."
    )


def better_for(question: str, title: str, value: float, own: float, k: int) -> str:
    """Another map that has a better grade on one question."""
    if question == "distances":
        kept = f"{value:.0f} of 100 pairs are in the right order, here {own:.0f}"
        return f"For distances look at {title}: {kept}."
    return f"For neighbours look at {title}: {value:g} of {k} are close in the data, here {own:g}."


def worthless(titles: Sequence[str]) -> str:
    """Maps that are no better than chance."""
    return f"No better than random places: {', '.join(titles)}."


# ---- maps that saw the classes -------------------------------------------------------------------


def saw_classes(labels: str, test: LabelTest | None) -> str:
    """What the labels that a map saw are worth."""
    if test is None:
        return "It saw the classes, and it was not tested whether they are more than labels."
    effect = "shows an effect of the labels" if labels == "effect" else "saw the classes"
    return f"It {effect}: {label_numbers(test)}."


def label_numbers(test: LabelTest) -> str:
    """The accuracy on held-out rows beside that with permuted labels."""
    return (
        f"{test.observed:.0%} of held-out rows are classified rightly by their neighbours, with permuted "
        f"labels {test.mean:.0%}, at most {test.highest:.0%}"
    )


def best_of_classes(
    title: str, n_real: int, test: LabelTest, classifiers: Sequence[tuple[str, float]]
) -> str:
    """The map that tells the classes apart best, beside classifiers on the table itself."""
    which = f"Of {n_real} maps that saw the classes, {title} tells them apart best"
    if n_real == 1:
        which = f"{title} saw the classes and tells them apart"
    beside = ", ".join(f"{name} {value:.0%}" for name, value in classifiers)
    raw = f" On the table itself, without a map: {beside}." if beside else ""
    return f"{which}: {label_numbers(test)}.{raw}"


def effects_of_labels(titles: Sequence[str]) -> str:
    return (
        f"An effect of the labels: {', '.join(titles)}. Held-out rows are classified no better than with "
        "permuted labels: whatever such a map shows of the classes, it has put there itself."
    )


def untested_labels(titles: Sequence[str]) -> str:
    return f"Not tested with permuted labels, and so not recommended: {', '.join(titles)}."


# ---- large tables --------------------------------------------------------------------------------


def sampled(n_compared: int, n: int, n_mapped: int) -> str:
    """On which rows the maps were compared, and what became of the others."""
    done = (
        f"the recommended map was fitted on them, and the other {n_mapped:,} rows were mapped into it, each "
        "by itself."
        if n_mapped
        else "the recommended map was then fitted on all rows."
    )
    return f"Compared on {n_compared:,} of {n:,} rows; {done}"


def sampled_only(n_compared: int, recommended: bool) -> str:
    """Without a map of all rows."""
    why = "" if recommended else ", as none is recommended"
    return f"Compared on a sample of {n_compared:,} rows; no map was fitted on all rows{why}."


def sampled_without_map(n_compared: int, title: str, reason: str) -> str:
    """The map of all rows failed."""
    return (
        f"Compared on a sample of {n_compared:,} rows. {title} gave no map of all rows: {reason} Its map of "
        "the sample is shown."
    )


def for_sample_only(n_compared: int) -> str:
    """A map that is usable on the sample, and not of all rows."""
    return f"This holds for the {n_compared:,} compared rows; the map of all rows is poor."
