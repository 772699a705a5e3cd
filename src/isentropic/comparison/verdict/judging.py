"""``verdict``: which map to use, for what, and what to be careful about; from Runs to sentences.

A map is graded by two questions (:mod:`.thresholds`), and the most useful one is recommended
(:mod:`.choice`). None is where every map is poor on both, where the columns of the table are unrelated, or
where what maps show is an effect of the labels that they saw. Maps that saw the classes are judged by the
same measures, and recommended only where no other map can be used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..evaluation.runs import Run, require_all_runs
from . import text
from .answers import GroupAnswer, TestedGroups
from .caveats import Caveat, caveats, with_groups
from .choice import candidates, is_exact, rank_maps, recommend, same_in_practice
from .grades import Rating, rate
from .thresholds import ALIKE, DENSITY, RELATED, RELATION, at_least


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the maps of a table may be used for; positions are those of the runs."""

    recommended: int | None  # None: no map is recommended
    shown: int | None  # the map to look at: the recommended one, or the best of the others
    use: str  # what it may be used for
    caution: str  # what not; "" where there is nothing to say
    groups: GroupAnswer
    shows: tuple[str, ...]  # what the map shows
    caveats: tuple[Caveat, ...]  # of the map that is shown
    choice: tuple[str, ...]  # how it was chosen
    ratings: tuple[Rating, ...]
    classes: tuple[str, ...] = ()  # sentences on the maps that saw the classes
    sampled: str = ""  # of a large table: on which rows its maps were compared, and which one is of all

    @property
    def headline(self) -> str:
        """What the map may be used for, and what not."""
        return f"{self.use} {self.caution}".rstrip()

    @property
    def grades(self) -> tuple[str, ...]:
        """The three questions about the shown map, with their answers."""
        if self.shown is None:
            return ()
        rating = self.ratings[self.shown]
        graded = [grade for grade in (rating.neighbors, rating.distances) if grade is not None]
        return (*map(text.graded, graded), text.groups_answer(self.groups.sentence))

    @property
    def effects(self) -> tuple[str, ...]:
        """Names of the maps that show an effect of the labels: permuted ones score as well."""
        return tuple(rating.method for rating in self.ratings if rating.labels == "effect")

    @property
    def worthless(self) -> tuple[str, ...]:
        """Names of the maps that are no better than chance."""
        return tuple(rating.method for rating in self.ratings if rating.worthless)

    @property
    def lines(self) -> tuple[str, ...]:
        """The first screen as text: use, grades, what it shows, caveats, how it was chosen."""
        careful = [text.careful(caveat.text) for caveat in self.caveats]
        rows = [self.sampled] if self.sampled else []
        return (self.headline, *self.grades, *self.shows, *careful, *self.choice, *rows, *self.classes)


def verdict(runs: Sequence[Run], groups: TestedGroups | None = None, shows: Sequence[str] = ()) -> Verdict:
    """Judge the maps of one table. ``O(n)`` for each.

    Parameters
    ----------
    runs
        What :func:`compare` returns. Of a large table the maps of a sample are judged; the map of all rows,
        which stands last, is that of the recommended method.
    groups
        The test of the groups of the shown map.
    shows
        Sentences on what the table itself says of its maps.

    >>> from isentropic import compare, datasets
    >>> from isentropic.comparison import verdict
    >>> iris = datasets.load("builtin:iris")
    >>> found = verdict(compare(iris.X, methods=["pca", "isomap"], tune=False))
    >>> found.recommended, found.headline
    (0, 'Use PCA to see which rows are alike, and how far apart they are.')
    """
    require_all_runs(runs)
    runs, full = split_full(runs)
    ratings = tuple(rate(run, position) for position, run in enumerate(runs))
    case = _obstacle(runs, ratings)
    recommended = None if case else recommend(ratings)
    order = rank_maps(ratings)
    shown = recommended or (order[0] if order else None)
    judged = _about_full(runs, shown, full)
    found = Verdict(
        recommended=None if recommended is None else recommended.run,
        shown=None if shown is None else shown.run,
        use="",
        caution="",
        groups=GroupAnswer.of(None),
        shows=(),
        caveats=() if shown is None else caveats(judged or runs[shown.run]),
        choice=_choice(runs, ratings, recommended, case),
        ratings=ratings,
        classes=about_classes(runs, ratings),
        sampled=_sampled(runs, full, recommended),
    )
    return with_answers(_with_headline(found, runs, recommended, shown, case, judged), groups, shows)


def with_answers(found: Verdict, groups: TestedGroups | None, shows: Sequence[str] = ()) -> Verdict:
    """The verdict with the answer of a group test, and with sentences on the table."""
    answer = GroupAnswer.of(groups)
    caution = found.caution
    if found.recommended is not None:
        rating = found.ratings[found.recommended]
        if caution == text.headline(rating, found.groups.level == "yes")[1]:
            caution = text.headline(rating, answer.level == "yes")[1]
    return replace(
        found,
        caution=caution,
        groups=answer,
        shows=(*shows, *([text.group_names(answer.names)] if answer.names else [])),
        caveats=with_groups(found.caveats, answer),
    )


def split_full(runs: Sequence[Run]) -> tuple[Sequence[Run], Run | None]:
    """The compared runs, and the run of all rows, which stands last where the others are of a sample."""
    if len(runs) > 1 and runs[-1].rows is None and runs[0].rows is not None:
        return runs[:-1], runs[-1]
    return runs, None


def _about_full(runs: Sequence[Run], shown: Rating | None, full: Run | None) -> Run | None:
    """The map of all rows, where it is what readers see."""
    return full if full is not None and not full.failed and shown is not None else None


def _with_headline(
    found: Verdict,
    runs: Sequence[Run],
    recommended: Rating | None,
    shown: Rating | None,
    case: str,
    full: Run | None,
) -> Verdict:
    if recommended is None:
        use, caution = text.no_recommendation(case, None if shown is None else shown.title)
        return replace(found, use=use, caution=caution)
    if full is None:
        use, caution = text.headline(recommended, False)
        return replace(found, use=use, caution=caution)
    of_all = rate(full, recommended.run)
    if not of_all.usable:
        use, caution = text.headline(recommended, False)
        assert runs[0].rows is not None
        return replace(found, use=use, caution=text.for_sample_only(len(runs[0].rows)))
    use, caution = text.headline(of_all, False)
    ratings = tuple(of_all if rating.run == of_all.run else rating for rating in found.ratings)
    return replace(found, use=use, caution=caution, ratings=ratings)


# ---- why none ------------------------------------------------------------------------------------


def _obstacle(runs: Sequence[Run], ratings: Sequence[Rating]) -> str:
    """Why no map is recommended; "" where one is."""
    maps = [rating for rating in ratings if not rating.failed]
    if not maps:
        return "failed"
    if all(rating.worthless for rating in maps):
        return "chance"
    in_question = candidates(ratings)
    saw = {rating.labels for rating in maps if not rating.worthless and _is_graded(rating)}
    blocked = next((labels for labels in ("effect", "untested") if labels in saw), "")
    if blocked and not in_question:
        return blocked
    unrelated = _unrelated(runs)
    if unrelated and not any(is_exact(rating) for rating in maps):
        return unrelated
    alike = max((rating.neighbors.chance for rating in maps if rating.neighbors is not None), default=0.0)
    return "" if in_question else "alike" if alike >= ALIKE else "little"


def _is_graded(rating: Rating) -> bool:
    """Whether a map is at least fair on one question."""
    return any(at_least(rating.level(question), "fair") for question in ("neighbors", "distances"))


def _unrelated(runs: Sequence[Run]) -> str:
    """Whether the columns are "unrelated" or "hardly related"; "" where they are related, or not tested."""
    related = next((run.relation for run in runs if run.relation is not None), None)
    if related is None:
        return ""
    strength, p, density = related
    weak = strength < RELATION and density < DENSITY
    return "unrelated" if p > RELATED else "hardly related" if weak else ""


def relation_of_columns(runs: Sequence[Run]) -> str:
    """Whether the columns are related, in a sentence; "" where that was not measured."""
    related = next((run.relation for run in runs if run.relation is not None), None)
    return "" if related is None else text.column_relation(_unrelated(runs), related[1], related[2])


def p_of_columns(runs: Sequence[Run]) -> float | None:
    """By what chance unrelated columns look as related as those of the table; None: not measured."""
    return next((run.relation[1] for run in runs if run.relation is not None), None)


# ---- how it was chosen ---------------------------------------------------------------------------


def _choice(
    runs: Sequence[Run], ratings: Sequence[Rating], recommended: Rating | None, case: str
) -> tuple[str, ...]:
    found = []
    if recommended is None:
        found.append(text.next_step(case, p_of_columns(runs)))
    else:
        maps = candidates(ratings)
        equal = [rating.title for rating in same_in_practice(maps) if rating.run != recommended.run]
        n_maps = sum(not rating.failed for rating in ratings)
        found.append(text.why_chosen(recommended.title, n_maps, equal))
        found += _better_elsewhere(runs, maps, recommended)
    worthless = [rating.title for rating in ratings if rating.worthless]
    if worthless:
        found.append(text.worthless(worthless))
    return (*found, *(rating.text for rating in ratings if rating.failed))


def _better_elsewhere(runs: Sequence[Run], maps: Sequence[Rating], recommended: Rating) -> list[str]:
    """For each question the map with a better grade than the recommended one has, if there is one."""
    quality = runs[recommended.run].quality
    assert quality is not None
    found = []
    for question, count in (("neighbors", quality.n_neighbors[0]), ("distances", 100)):
        best = max(maps, key=lambda rating: (rating.score(question), -rating.run))
        own, other = (rating.grade(question) for rating in (recommended, best))
        if own is None or other is None or own.level == other.level or not at_least(other.level, own.level):
            continue
        found.append(text.better_for(question, best.title, count * other.value, count * own.value, count))
    return found


# ---- large tables --------------------------------------------------------------------------------


def _sampled(runs: Sequence[Run], full: Run | None, recommended: Rating | None) -> str:
    if runs[0].rows is None or (full is None and runs[0].copies is not None):
        return ""  # all rows were compared, identical ones once
    n_compared = len(runs[0].rows)
    if full is None:
        return text.sampled_only(n_compared, recommended is not None)
    if full.failed or full.embedding is None:
        return text.sampled_without_map(n_compared, text.title_of(full.method), full.reason)
    return text.sampled(n_compared, len(full.embedding), full.n_placed)


# ---- maps that saw the classes -------------------------------------------------------------------


def about_classes(runs: Sequence[Run], ratings: Sequence[Rating]) -> tuple[str, ...]:
    """Sentences: which map tells the classes apart, beside classifiers; what is an effect of the labels."""
    found = []
    real = [rating for rating in ratings if rating.labels == "real" and not rating.failed]
    if real:
        best = max(real, key=lambda rating: (_observed(runs[rating.run]), -rating.run))
        run = runs[best.run]
        assert run.label_test is not None
        beside = [(name, value[0]) for name, value in run.classifiers.items()]
        found.append(text.best_of_classes(best.title, len(real), run.label_test, beside))
    for labels, sentence in (("effect", text.effects_of_labels), ("untested", text.untested_labels)):
        titles = [rating.title for rating in ratings if rating.labels == labels and not rating.failed]
        found += [sentence(titles)] if titles else []
    return tuple(found)


def _observed(run: Run) -> float:
    return 0.0 if run.label_test is None else run.label_test.observed
