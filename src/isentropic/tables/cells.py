"""What text in cells means: amounts with units, words and bins that have an order, exact whole numbers.

A column of amounts is read in one style: a decimal mark and a unit. The style is written as text,
``".kg"`` or ``",€"``, so that new rows are read as the first ones were.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

_CODES = "USD|EUR|GBP|JPY|CHF|CNY|INR|CAD|AUD|SEK|NOK|DKK|PLN|CZK|BRL|KRW|MXN|ZAR|TRY|RUB"
MONEY = rf"(?:[$€£¥₹₽₩₺₴฿]|{_CODES}|R[$]|US[$]|kr[.]?|zł|Kč)"
SPACE = "[ \u00a0\u202f]"
GROUPED = rf"[0-9]{{1,3}}(?:(?:[,']|{SPACE})[0-9]{{3}})+|[0-9]{{1,3}}(?:[.][0-9]{{3}}){{2,}}"

_WORD = re.compile(
    rf"(?P<before>[<>≤≥~≈]=?|\[)?{SPACE}*(?P<open>[(])?{SPACE}*(?P<sign>[+−-])?{SPACE}*(?P<money>{MONEY})?"
    rf"{SPACE}*(?P<inner>[+−-])?(?P<body>[0-9](?:[0-9.,'’ \u00a0\u202f]*[0-9])?[.]?|[.,][0-9]+)"
    rf"(?P<power>[eE][+-]?[0-9]{{1,3}})?(?P<gap>{SPACE}*)(?P<suffix>[^0-9()+*\[\]<>=-]{{0,16}})(?P<close>[)])?"
    r"(?P<after>[+]|[*]+|\]|†)?"
)
_MARK = "(?P<mark>[{}'’ \u00a0\u202f])"
_BODIES = {
    point: re.compile(
        rf"(?:[1-9][0-9]{{0,2}}{_MARK.format(group)}[0-9]{{3}}(?:(?P=mark)[0-9]{{3}})*|[0-9]+)"
        rf"(?:[{point}][0-9]*)?|[{point}][0-9]+"
    )
    for point, group in ((".", ","), (",", "."))
}
_FACTORS = {"k": 1e3, "K": 1e3, "M": 1e6, "m": 1e6, "B": 1e9, "bn": 1e9, "Mio": 1e6, "mn": 1e6, "mln": 1e6}
_SMALL_FACTORS = ("m",)  # a metre, unless it follows money
_IS_MONEY = re.compile(MONEY)
_GROUP_OF_THREE = re.compile(r"[1-9][0-9]{0,2}([.,])[0-9]{3}")
# units that are written without a space: after others a word may be part of a name, as in 12A
_UNITS = frozenset((
    "mg", "g", "kg", "lb", "lbs", "oz", "mm", "cm", "m", "km", "in", "ft", "yd", "mi", "ml", "cl", "l",
    "dl", "s", "sec", "ms", "min", "h", "hr", "hrs", "days", "weeks", "months", "yr", "yrs", "years",
    "mph", "km/h", "kmh", "kn", "hp", "kW", "kWh", "mV", "mA", "Hz", "kHz", "MHz", "GHz", "KB", "MB",
    "GB", "TB", "px", "°C", "°F", "°", "Pa", "hPa", "kPa", "bar", "psi", "kcal", "cal", "kJ", "cc", "%",
    "‰",
))  # fmt: skip
MISSING_WORDS = frozenset((
    "-", "--", "---", "–", "—", ".", "..", "...", "*", "**", "n.a.", "n.a", "na", "n/a", "nan", "null",
    "n.d.", "nd", "n/d", "nr", "n.r.", "nil", "unknown", "unk", "missing", "tbd", "tba", "#value!",
    "#div/0!", "#ref!", "#null!", "#num!", "#name?", "(blank)", "(null)", "not available",
    "not applicable", "no data", "no answer", "not reported", "not recorded", "not known", "don't know",
    "refused", "prefer not to say",
))  # fmt: skip
_FEWEST_NUMBERS = 3  # different ones, beside words that count as missing
_FEWEST_CELLS = 10  # that are numbers, beside words that are not known to mean missing
_MOST_STRAYS = 0.1  # share of cells with such words
_MOST_WORDS = 20  # of them, different ones
_LONGEST = 15  # digits of a number that is measured
_LOOK = 1_000  # different words that are looked at first


@dataclass(frozen=True, slots=True)
class NumberReading:
    """How the words of a column are numbers. ``values`` has each word; NaN where it counts as missing."""

    style: str  # the decimal mark, and the unit after it
    values: Mapping[str, float]
    strays: tuple[str, ...]  # words that count as missing
    marked: tuple[str, ...]  # '<1', '5+', '[209]': read as the number in them
    is_ambiguous: bool  # one sign may separate thousands or decimals in every word

    @property
    def unit(self) -> str:
        return self.style[1:]


@dataclass(frozen=True, slots=True)
class _Piece:
    """A word taken apart."""

    body: str
    power: str
    is_negative: bool
    unit: str
    factor: str
    is_marked: bool
    is_attached: bool  # the unit follows without a space


def _split(word: str) -> _Piece | None:
    match = _WORD.fullmatch(word)
    if match is None or bool(match["open"]) != bool(match["close"]):
        return None
    if (match["before"] == "[") != (match["after"] == "]") or (match["sign"] and match["inner"]):
        return None
    suffix, money = match["suffix"].strip(" \u00a0\u202f"), match["money"] or ""
    factor, unit = _factor_and_unit(suffix, bool(money))
    minus = (match["sign"] or match["inner"] or "+") in "−-" or match["open"] is not None
    is_marked = bool(match["before"] or match["after"])
    attached = bool(unit) and not match["gap"]
    return _Piece(match["body"], match["power"] or "", minus, money + unit, factor, is_marked, attached)


def _factor_and_unit(suffix: str, has_money: bool) -> tuple[str, str]:
    """``k`` and ``€`` of ``k€``; after money ``m`` is a million."""
    for factor in sorted(_FACTORS, key=len, reverse=True):
        rest = suffix.removeprefix(factor).strip()
        is_money = has_money or _IS_MONEY.fullmatch(rest) is not None
        is_one = suffix.startswith(factor) and (rest == "" or _IS_MONEY.fullmatch(rest) is not None)
        if is_one and (is_money or factor not in _SMALL_FACTORS):
            return factor, rest
    return "", suffix


def number_in(word: str, style: str) -> float:
    """The number that a word is in a style; NaN where it is none."""
    piece = _split(word)
    return math.nan if piece is None else _value(piece, style)


def _value(piece: _Piece, style: str) -> float:
    point, unit = style[0], style[1:]
    match = _BODIES[point].fullmatch(piece.body)
    if match is None or sum(map(str.isdigit, piece.body)) > _LONGEST:
        return math.nan
    digits = piece.body.replace(match["mark"] or "'", "").replace(point, ".")
    number = float(digits + piece.power)
    if piece.factor == unit and not piece.unit:  # a unit that looks like a factor, as kelvin
        factor = 1.0
    elif piece.unit == unit or (not piece.unit and (number == 0.0 or _IS_MONEY.match(unit))):
        factor = _FACTORS[piece.factor] if piece.factor else 1.0
    else:
        return math.nan
    return (-number if piece.is_negative else number) * factor


def read_numbers(counts: Mapping[str, int], plain: Collection[float] = ()) -> NumberReading | None:
    """How words, so many times each, are numbers; None where they are not. ``plain`` cells beside them are.

    Words that mean no value count as missing; so do other words where at most a tenth of the cells hold them.
    """
    words = list(counts)
    if not words or not (plain or _may_be_numbers(words[:_LOOK])):
        return None
    pieces = {word: piece for word in words if (piece := _split(word)) is not None}
    unit = _common_unit(pieces, counts)
    if unit is None:
        return None
    point, is_ambiguous = _decimal_mark(list(pieces.values()), unit)
    style = point + unit
    values = dict.fromkeys(words, math.nan) | {word: _value(piece, style) for word, piece in pieces.items()}
    strays = tuple(word for word in words if math.isnan(values[word]))
    marked = tuple(word for word in pieces if pieces[word].is_marked and not math.isnan(values[word]))
    reading = NumberReading(style, values, strays, marked, is_ambiguous)
    return reading if _are_numbers(reading, counts, plain) else None


def _may_be_numbers(words: Sequence[str]) -> bool:
    found = sum(_split(word) is not None for word in words)
    return 2 * found > len(words) - sum(is_missing_word(word) for word in words) and found > 0


def is_missing_word(word: str) -> bool:
    """Whether a word is known to say that there is no value."""
    plain = word.lower().strip()
    return plain in MISSING_WORDS or plain.rstrip("*†") in MISSING_WORDS


def _common_unit(pieces: Mapping[str, _Piece], counts: Mapping[str, int]) -> str | None:
    """The unit that most cells have, '' for none; None where it may be part of a name."""
    factors = {piece.factor for piece in pieces.values() if not piece.unit}
    units: Counter[str] = Counter()
    for word, piece in pieces.items():
        units[piece.unit] += counts[word]
    if len(factors) == 1 and "" not in factors and set(units) == {""}:
        return factors.pop()
    unit = max(units, key=lambda one: (units[one], one), default="")
    if not unit and any(_IS_MONEY.fullmatch(one) for one in units):  # some cells leave it out
        unit = max((one for one in units if _IS_MONEY.fullmatch(one)), key=lambda one: units[one])
    attached = any(piece.is_attached and piece.unit == unit for piece in pieces.values())
    is_known = unit in _UNITS or _IS_MONEY.match(unit) is not None
    is_word = any(letter.isalpha() for letter in unit)
    if unit and not is_known and (attached or not is_word or len(pieces) < 2):
        return None
    return unit


def _decimal_mark(pieces: Sequence[_Piece], unit: str) -> tuple[str, bool]:
    """``.`` or ``,`` by the words that only one of them fits; whether none was decisive."""
    fits = {mark: sum(body.fullmatch(p.body) is not None for p in pieces) for mark, body in _BODIES.items()}
    if fits["."] != fits[","]:
        return max(fits, key=lambda mark: fits[mark]), False
    grouped = {match[1] for piece in pieces if (match := _GROUP_OF_THREE.fullmatch(piece.body))}
    if grouped == {","}:  # thousands, unless others have none: 1,234 beside 12345
        has_long = any(len(piece.body) > 3 and piece.body.isdigit() for piece in pieces)
        return ("," if has_long else "."), not has_long and _IS_MONEY.match(unit) is None
    if grouped == {"."}:
        is_money = _IS_MONEY.match(unit) is not None
        return ("," if is_money else "."), is_money
    return ".", False


def _are_numbers(reading: NumberReading, counts: Mapping[str, int], plain: Collection[float]) -> bool:
    odd = [word for word in reading.strays if not is_missing_word(word)]
    read = [word for word, value in reading.values.items() if not math.isnan(value)]
    n_odd, n_words = (sum(counts[word] for word in some) for some in (odd, read))
    n_read = n_words + len(plain)
    n_plain = n_read - sum(counts[word] for word in reading.marked)
    if not n_read or 2 * n_plain < n_read:
        return False
    if not reading.strays:
        return True
    is_few = n_odd <= _MOST_STRAYS * (n_odd + n_read) and len(odd) <= _MOST_WORDS
    enough = len({*plain, *(reading.values[word] for word in read)}) >= _FEWEST_NUMBERS
    return is_few and enough and (not odd or n_read >= _FEWEST_CELLS)


# ---- Words and bins in order ---------------------------------------------------------------------


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


# ---- Whole numbers that float64 rounds -----------------------------------------------------------


LARGEST = 2**53  # up to here every whole number is a float64
_WHOLE = re.compile(r"\s*[+-]?\d+\s*")


def exact_number(text: str) -> int | float:
    """A number, as an int where it is whole and a float would round it; raises ValueError for words."""
    number = float(text)
    return int(text) if abs(number) >= LARGEST and is_whole(text) and np.isfinite(number) else number


def is_whole(text: str) -> bool:
    """Whether text is a whole number written with digits alone."""
    return _WHOLE.fullmatch(text) is not None
