"""Words and bins that have an order: never to always, low to high, months, grades, 18-24 and 65+."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from .amounts import MONEY, SPACE

FEWEST_LEVELS = 3  # of two, the order says nothing

# Words of one step are separated by '|', steps by '<'.
_SCALES = (
    "never < almost never|hardly ever|very rarely|very seldom < rarely|seldom < "
    "occasionally|once in a while < sometimes < about half the time < "
    "often|frequently|regularly < usually|mostly|most of the time < "
    "very often|very frequently|nearly always|almost always < always|constantly|all the time",
    "never < less than once a month < monthly < weekly < several times a week < daily < several times a day",
    "none|no|zero < very low|lowest < low < medium low|moderately low|below average < "
    "medium|moderate|mid|middle|average|normal|intermediate < medium high|moderately high|above average < "
    "high < very high|highest < extreme|extremely high",
    "xxs < xs|extra small|x-small|tiny|very small < s|small < m|medium|mid|moderate < l|large|big < "
    "xl|extra large|x-large|very large < xxl|xx-large|huge < xxxl",
    "strongly disagree|disagree strongly|completely disagree|totally disagree < disagree|mostly disagree < "
    "somewhat disagree|slightly disagree|disagree somewhat|tend to disagree < neutral|undecided|neither|"
    "neither agree nor disagree|neither nor|no opinion|unsure < somewhat agree|slightly agree|agree somewhat|"
    "tend to agree < agree|mostly agree < strongly agree|agree strongly|completely agree|totally agree",
    "terrible|awful|extremely poor|worst < very poor|very bad < poor|bad < fair|average|ok|okay|acceptable < "
    "good < very good < excellent|outstanding|great < exceptional|best",
    "fair < good < very good < premium < ideal",
    "very dissatisfied|very unsatisfied|extremely dissatisfied < dissatisfied|unsatisfied < "
    "somewhat dissatisfied < neutral|neither|neither satisfied nor dissatisfied < somewhat satisfied < "
    "satisfied < very satisfied|extremely satisfied",
    "extremely unlikely < very unlikely < unlikely < somewhat unlikely < "
    "neutral|neither likely nor unlikely < possible|somewhat likely < "
    "likely|probable < very likely < extremely likely|certain",
    "not at all|not < slightly|a little|a little bit|hardly < somewhat|fairly < moderately < "
    "quite|considerably < very|very much|a lot < extremely|completely",
    "none|no|absent < trace|minimal|very mild < mild|slight < moderate < severe|marked|serious < "
    "very severe|extreme|critical",
    "none|nothing < few|a few|little|a little < some < many|much|most|a lot < all",
    "much worse|a lot worse < worse < slightly worse|a little worse < same|the same|no change|unchanged|"
    "equal < slightly better|a little better < better < much better|a lot better",
    "strongly decreased < decreased < stable|no change|unchanged < increased < strongly increased",
    "very slow < slow < medium|moderate|average < fast < very fast",
    "very light < light < medium|moderate < heavy < very heavy",
    "very short|extra short < short < medium|average|mid < tall|long < very tall|very long|extra long",
    "freezing|very cold < cold < cool|mild < warm < hot < very hot",
    "very young|baby|infant < child|young < teen|teenager|adolescent < adult|middle|"
    "middle-aged|middle aged < old|elderly|senior < very old",
    "beginner|novice|entry < elementary|basic < intermediate|medium < advanced < expert|proficient|fluent",
    "intern|trainee < junior < mid|middle|intermediate|mid-level < senior < lead|principal",
    "no schooling|illiterate < primary|elementary|primary school < below college < secondary|high school|"
    "secondary school < college|some college|associate < bachelor|bachelors|bachelor's|graduate < "
    "master|masters|master's|postgraduate < doctor|doctorate|phd",
    "freshman < sophomore < junior < senior",
    "early < mid|middle|medium < late",
    "weak|very weak < moderate|medium < strong < very strong",
    "dry < moist|damp < wet",
    "poorest < poorer < middle < richer < richest",
    "first < second < third < fourth < fifth < sixth < seventh < eighth < ninth < tenth",
    "bronze < silver < gold < platinum < diamond",
    "jan|january < feb|february < mar|march < apr|april < may < jun|june < jul|july < aug|august < "
    "sep|sept|september < oct|october < nov|november < dec|december",
    "mon|monday < tue|tues|tuesday < wed|wednesday < thu|thur|thurs|thursday < fri|friday < sat|saturday < "
    "sun|sunday",
    "f < e < d- < d < d+ < c- < c < c+ < b- < b < b+ < a- < a < a+",
    "a1 < a2 < b1 < b2 < c1 < c2",
)
_LETTERS = frozenset("abcdef")
_ORDINAL = re.compile(r"(?P<n>\d{1,3})(?:st|nd|rd|th)(?: [a-z]+)?")
_STEP = re.compile(r"(?P<word>stage|grade|tier|phase|week|month|year|day|quarter|q|step)[ .-]?(?P<n>\d{1,4})")


def _ranks(scale: str) -> dict[str, int]:
    return {word.strip(): i for i, step in enumerate(scale.split("<")) for word in step.split("|")}


_RANKS = tuple(map(_ranks, _SCALES))


def ordered_levels(words: Iterable[str]) -> tuple[str, ...] | None:
    """Words in their order, if they have one: a known scale, numbered steps, or bins of numbers."""
    found = sorted(words)
    if len(found) < FEWEST_LEVELS or len(found) > 100:
        return None
    return _by_scale(found) or _by_number(found) or _by_bin(found)


def _by_scale(words: Sequence[str]) -> tuple[str, ...] | None:
    plain = [" ".join(word.lower().replace("_", " ").split()) for word in words]
    if set(plain) <= _LETTERS:  # A, B and C may be anything
        return None
    for ranks in _RANKS:
        if all(word in ranks for word in plain):
            return _sorted(words, [float(ranks[word]) for word in plain])
    return None


def _by_number(words: Sequence[str]) -> tuple[str, ...] | None:
    """``1st``, ``2nd``; ``Stage 1``, ``Stage 2``; one word before all numbers."""
    for pattern in (_ORDINAL, _STEP):
        matches = [pattern.fullmatch(word.lower()) for word in words]
        if all(matches) and len({match.groupdict().get("word") for match in matches if match}) == 1:
            return _sorted(words, [float(match["n"]) for match in matches if match])
    return None


# ---- bins --------------------------------------------------------------------------------------


class _Bin(NamedTuple):
    low: float
    high: float
    unit: str


_NUMBER = rf"(?:{MONEY})?{SPACE}*-?\d[\d,]*(?:[.]\d+)?{SPACE}*(?:k|K|M|%|(?:{MONEY}))?"
_UNIT = rf"{SPACE}*(?P<unit>[A-Za-z][A-Za-z/ ]{{0,20}}|%)?"
_RANGE = re.compile(
    rf"[\[(]?(?P<low>{_NUMBER})(?:{SPACE}*(?:-|–|—|to|and|until|,|\.\.){SPACE}*)(?P<high>{_NUMBER})[\])]?{_UNIT}"
)
_BELOW = re.compile(
    rf"(?i:<=?|≤|under|below|less than|up to|at most|fewer than){SPACE}*(?P<high>{_NUMBER}){_UNIT}"
)
_ABOVE = re.compile(rf"(?i:>=?|≥|over|above|more than|at least|from){SPACE}*(?P<low>{_NUMBER}){_UNIT}")
_MORE = re.compile(
    rf"(?P<low>{_NUMBER})(?:{SPACE}*(?i:[+]|plus|(?:or|and) (?:more|over|above|older))){_UNIT}"
)
_LESS = re.compile(rf"(?P<high>{_NUMBER}){SPACE}*(?i:(?:or|and) (?:less|fewer|under|below|younger)){_UNIT}")
_ONE = re.compile(rf"(?P<low>{_NUMBER}){_UNIT}")


def _by_bin(words: Sequence[str]) -> tuple[str, ...] | None:
    """Bins in the order of their lower bounds, unless they overlap or are mostly plain numbers."""
    bins = [found for word in words if (found := _bin(word)) is not None]
    if len(bins) < len(words) or len({found.unit for found in bins if found.unit}) > 1:
        return None
    has_range = any(found.low != found.high and math.isfinite(found.high - found.low) for found in bins)
    order = sorted(range(len(bins)), key=lambda i: bins[i])
    apart = all(bins[a].high <= bins[b].low for a, b in pairwise(order))
    if not has_range or not apart or len({found[:2] for found in bins}) < len(bins):
        return None
    return tuple(words[i] for i in order)


def _bin(word: str) -> _Bin | None:
    for pattern in (_RANGE, _BELOW, _ABOVE, _MORE, _LESS, _ONE):
        match = pattern.fullmatch(word.strip())
        if match is not None:
            ends = match.groupdict()
            low = _number(ends["low"]) if ends.get("low") else -math.inf
            high = _number(ends["high"]) if ends.get("high") else math.inf
            unit = (ends["unit"] or "").strip().lower().removesuffix("s")
            found = _Bin(low, low if pattern is _ONE else high, unit)
            return found if found.low < found.high or pattern is _ONE else None
    return None


def _number(text: str) -> float:
    plain = re.sub(rf"{MONEY}|[ ,%\u00a0\u202f]", "", text)
    factor = {"k": 1e3, "K": 1e3, "M": 1e6}.get(plain[-1:], 1.0)
    return float(plain.rstrip("kKM")) * factor


def _sorted(words: Sequence[str], ranks: Sequence[float]) -> tuple[str, ...] | None:
    """Words by rank; None where two have the same."""
    if len(set(ranks)) < len(words):
        return None
    return tuple(word for _, word in sorted(zip(ranks, words, strict=True)))
