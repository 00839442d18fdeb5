"""Numbers with units as people read them. No other module formats numbers."""

from __future__ import annotations

import math
import re

from observatory.benchmarks.catalogue import COMPARED

MISSING = "-"
"""Shown in place of a missing number; a footnote explains it."""

_TIMES = ((1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms"), (1.0, "s"))
_SIZES = ((1.0, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB"))
_COUNTS = ((1e3, "k"), (1e6, "M"), (1e9, "G"), (1e12, "T"))
_SCALES = {"seconds": _TIMES, "bytes": _SIZES[1:]}
_BEYOND = 1e15
"""No measured number is as large; longer ones are not written, to keep texts short."""
_LARGEST = {"seconds": 99.95, "bytes": _BEYOND}
"""Below these, a value is written as a decimal number and a unit."""
_MORE = 3
"""Digits that may tell two values apart which are the same to three digits."""
_DIRECTIONS = {"seconds": ("slower", "faster"), "bytes": ("larger", "smaller")}
MINUS = "\N{MINUS SIGN}"
COUNTED = frozenset(
    {"", "unit"}
    | {one.unit for one in COMPARED.values() if one.kind != "noisy" and one.unit not in _SCALES}
)
"""Units that are not written: those of counts, because the metric's name says them."""
_UNIT = re.compile(r"(?=.{1,24}$)[A-Za-zµ%°](?:[A-Za-zµ%°/^() ²]|\.(?![A-Za-z]))*", re.ASCII)
"""Foreign units that are safe to write: they cannot become a link, a mention or markup."""
_ENDING = re.compile(r"[^ ]*[0-9] [^0-9]+")
"""A number with its unit; not "2 min 14 s"."""


def seconds(value: float) -> str:
    """Three digits and a unit; minutes and hours above 100 s.

    >>> seconds(4.9e-6), seconds(0.2514), seconds(4.2), seconds(134)
    ('4.90 µs', '251 ms', '4.20 s', '2 min 14 s')
    """
    if value < 0:
        return f"-{seconds(-value)}"
    if value >= _BEYOND:
        return "over 30 million years"
    if value >= 99.95:
        minutes, rest = divmod(round(value), 60)
        if minutes < 60:
            return f"{minutes} min {rest:02d} s"
        return f"{minutes // 60:,} h {minutes % 60:02d} min"
    return _scaled(value, _TIMES) if value else "0 s"


def about(value: float) -> str:
    """An estimate of seconds, no more exact than it is.

    >>> about(20), about(130), about(2290), about(9000)
    ('about 20 s', 'about 2 min', 'about 38 min', 'about 2.5 h')
    """
    if value < 55:
        return f"about {max(5, 5 * round(value / 5))} s"
    return (
        f"about {value / 60:.0f} min"
        if value < 5700
        else f"about {count(round(value / 3600, 1))} h"
    )


def size(value: float) -> str:
    """Bytes in powers of 1000.

    >>> size(813), size(13_500_000)
    ('813 B', '13.5 MB')
    """
    if abs(value) < 1000:
        return f"{value:.0f} B"
    if value >= _BEYOND:
        return "over 1000 TB"
    return f"-{size(-value)}" if value < 0 else _scaled(value, _SIZES)


def count(value: float) -> str:
    """A count with separated thousands; a small one that is not whole has three digits.

    >>> count(597703), count(2.5)
    ('597,703', '2.5')
    """
    if value < 0:
        return f"-{count(-value)}"
    if value >= _BEYOND:
        return "over a million billions"
    whole = float(value).is_integer() or value >= 99.95
    return f"{value:,.0f}" if whole else f"{value:.3g}"


def percent(fraction: float) -> str:
    """A share or a relative change, with two digits below 10 %.

    >>> percent(0.0834), percent(0.125), percent(1.1), percent(0.0004)
    ('8.3 %', '12 %', '110 %', '0.04 %')
    """
    if fraction < 0:
        return f"-{percent(-fraction)}"
    value = 100 * fraction
    if value >= _BEYOND:
        return "over a million billion %"
    if 0 < value < 0.01:
        return "under 0.01 %"
    return f"{value:.2g} %" if value < 9.95 else f"{value:,.0f} %"


def signed(ratio: float) -> str:
    """The relative change for a ratio of new to old, with a sign; from a factor of 2 on a factor.

    It is the change of the value in both directions: 482 to 371 ms is -23 %, not "30 % faster".

    >>> signed(1.3), signed(371 / 482), signed(4.5), signed(1 / 4.5), signed(0)
    ('+30 %', '−23 %', '×4.5', '÷4.5', '−100 %')
    """
    if 0.5 < ratio < 2 or ratio == 0:
        text = percent(abs(ratio - 1))
        sign = MINUS if ratio < 1 else "+" if ratio > 1 else ""
        return f"under {sign}{text.removeprefix('under ')}" if text[0] == "u" else f"{sign}{text}"
    sign, factor = ("×", ratio) if ratio > 1 else ("÷", 1 / ratio)
    if factor > 1000:
        return f"over {sign}1,000"
    return f"{sign}{factor:.2g}" if factor < 9.95 else f"{sign}{factor:,.0f}"


def span(low: float, high: float) -> str:
    """The ends of an interval of ratios as relative changes.

    >>> span(1.26, 1.34), span(0.75, 0.79), span(0.97, 1.1), span(1.9, 2.1)
    ('+26 to +34 %', '−25 to −21 %', '−3 to +10 %', '+90 % to ×2.1')
    """
    ends = signed(low), signed(high)
    return ends[0] if ends[0] == ends[1] else _paired(*ends, " to ")


def direction(unit: str, up: bool) -> str:
    """The word for a value that rose or fell: "slower" for seconds, "larger" for bytes."""
    return _DIRECTIONS.get(unit, ("higher", "lower"))[0 if up else 1]


def effect(base: float, head: float, unit: str) -> str:
    """The direction and the relative change of a value.

    >>> effect(0.482, 0.371, "seconds"), effect(2e6, 9e6, "bytes"), effect(0, 35, "functions")
    ('faster: −23 %', 'larger: ×4.5', 'higher: +35')
    """
    if base == head or min(base, head) <= 0 or not 0 < (ratio := head / base) < math.inf:
        return difference(base, head, unit)
    return f"{direction(unit, head > base)}: {signed(ratio)}"


def difference(base: float, head: float, unit: str) -> str:
    """The direction and the difference of a count.

    >>> difference(40, 35, "functions"), difference(3, 3, "files")
    ('lower: −5', 'the same')
    """
    if base == head:
        return "the same"
    sign = "+" if head > base else MINUS
    return f"{direction(unit, head > base)}: {sign}{human(abs(head - base), unit)}"


def human(value: float | None, unit: str) -> str:
    """A value with its unit; MISSING for None and NaN.

    ``seconds`` and ``bytes`` are scaled. Counts of the observatory have no unit, because the name
    of their metric says it; every other unit is written as the benchmark gives it.

    >>> human(0.2514, "seconds"), human(35, "functions"), human(0.00316, "gflops")
    ('251 ms', '35', '0.00316 gflops')
    """
    if value is None or math.isnan(value):
        return MISSING
    if math.isinf(value):
        return "infinite" if value > 0 else "-infinite"
    if unit == "seconds":
        return seconds(value)
    if unit == "bytes":
        return size(value)
    known = unit in COUNTED or not _UNIT.fullmatch(unit)
    return count(value) if known else f"{count(value)} {unit}"


def brief(value: float, unit: str) -> str:
    """A value where room is scarce: large counts in thousands (k), millions (M), 10⁹ (G).

    >>> brief(2_036_912_345, "instructions"), brief(35, "functions"), brief(0.25, "seconds")
    ('2.04 G', '35', '250 ms')
    """
    if unit in _SCALES or not 1000 <= value < _BEYOND:
        return human(value, unit)
    return _scaled(value, _COUNTS)


def change(base: float | None, head: float | None, unit: str) -> str:
    """From BASE to HEAD, in one scale if both are readable in it; the unit is written once.

    >>> change(0.2514, 4.53, "seconds"), change(4.9e-6, 5.5e-6, "seconds")
    ('0.25 → 4.53 s', '4.90 → 5.50 µs')
    >>> change(13_510_000, 13_540_000, "bytes")
    '13.51 → 13.54 MB'
    >>> change(0, 35, "functions"), change(None, 1.0, "seconds")
    ('0 → 35', '- → 1.00 s')
    """
    return pair(base, head, unit, " → ")


def pair(one: float | None, other: float | None, unit: str, joint: str) -> str:
    """Two values in one scale, if the smaller is at least a thousandth of it.

    >>> pair(0.0035, 0.092, "seconds", " and "), pair(2.34e-4, 27.6, "seconds", " and ")
    ('3.50 and 92.0 ms', '234 µs and 27.6 s')
    """
    if one is not None and other is not None and min(one, other) > 0:
        smaller, larger = min(one, other), max(one, other)
        if unit in _SCALES and larger < _LARGEST[unit]:
            scale, name = _scale(larger, _SCALES[unit])
            # Three digits are left of the larger one: below the smallest scale there are fewer.
            if smaller >= 0.001 * scale and larger >= 0.9995 * scale:
                return f"{joint.join(_told_apart(one / scale, other / scale))} {name}"
    return _paired(human(one, unit), human(other, unit), joint)


def _paired(one: str, other: str, joint: str) -> str:
    """Two texts; the unit that both end with is written once."""
    number, _, unit = one.partition(" ")
    shared = _ENDING.fullmatch(one) and other.partition(" ")[2] == unit
    return f"{number if shared else one}{joint}{other}"


def _scaled(value: float, scales: tuple[tuple[float, str], ...]) -> str:
    scale, name = _scale(value, scales)
    return f"{_digits(value / scale)} {name}"


def _scale(value: float, scales: tuple[tuple[float, str], ...]) -> tuple[float, str]:
    # The scale is chosen after rounding to 3 digits, so that 0.9996 s is 1.00 s and not 1000 ms.
    rounded = float(f"{value:.2e}")
    return next((item for item in reversed(scales) if rounded >= item[0] * (1 - 1e-9)), scales[0])


def _told_apart(one: float, other: float) -> tuple[str, str]:
    """Two numbers with three digits, or with up to three more if those do not tell them apart."""
    for more in range(_MORE + 1):
        texts = _short(one, more), _short(other, more)
        if texts[0] != texts[1]:
            return texts
    return _short(one), _short(other)


def _short(number: float, more: int = 0) -> str:
    return _digits(number, more) if number >= 0.0995 else f"{number:.{2 + more}g}"


def _digits(number: float, more: int = 0) -> str:
    rounded = float(f"{number:.{2 + more}e}")
    digits = 2 if rounded < 9.995 else 1 if rounded < 99.95 else 0
    return f"{rounded:.{digits + more}f}"
