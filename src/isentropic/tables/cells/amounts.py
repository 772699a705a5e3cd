"""Numbers written as text: money, percent, units, thousands, decimal commas, and values with a mark.

A column is read in one style: a decimal mark and a unit. The style is written as text, ``".kg"`` or ``",€"``,
so that new rows are read as the first ones were.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

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
