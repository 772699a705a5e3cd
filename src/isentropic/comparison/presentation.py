"""How numbers and classes are shown to readers: number formats, and colours that stay apart for everyone."""

from __future__ import annotations

# Okabe and Ito (2008): at least 15 units of CIELAB apart, also for colour-blind readers; one is neutral.
CLASS_COLORS = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#4D4D4D", "#F0E442",
)  # fmt: skip


def decimal(value: float, digits: int = 3) -> str:
    """A score: three decimals below 100, separated thousands above, powers of ten from a million.

    >>> decimal(0.75361), decimal(-0.25), decimal(-0.0001), decimal(1234.5), decimal(2.5e6)
    ('0.754', '−0.250', '0.000', '1,234', '2.50e+06')
    """
    if abs(value) >= 1e6:
        return f"{value:.2e}"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


def table_decimal(value: float, digits: int = 3) -> str:
    """A score as statistical tables print it: without the zero before the point.

    >>> table_decimal(0.7536), table_decimal(-0.25, 2), table_decimal(1.0), table_decimal(12.3456)
    ('.754', '-.25', '1.000', '12.346')
    """
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def decimal_range(low: float, high: float, digits: int = 3) -> str:
    """From one number of a table to another; a dash before a minus is hard to read.

    >>> decimal_range(0.25, 0.5), decimal_range(-0.5, -0.25)
    ('.250–.500', '-.500 to -.250')
    """
    return f"{table_decimal(low, digits)}{' to ' if low < 0 else '–'}{table_decimal(high, digits)}"


def p_value(p: float) -> str:
    """
    >>> p_value(0.0425), p_value(2.9e-12), p_value(0.9999), p_value(0.0)
    ('.043', '2.9e-12', '> .999', '0')
    """
    if p == 0:
        return "0"
    if p > 0.999:
        return "> .999"
    return table_decimal(p) if p >= 0.001 else f"{p:.1e}"


def seconds(value: float) -> str:
    """
    >>> seconds(0.004), seconds(3.21), seconds(200), seconds(239.7)
    ('0.00 s', '3.2 s', '3 min 20 s', '4 min 0 s')
    """
    if value >= 100:
        minutes, rest = divmod(round(value), 60)
        return f"{minutes} min {rest} s"
    return f"{value:.1f} s" if value >= 1 else f"{value:.2f} s"
