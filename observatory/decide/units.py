"""Numbers with units as people read them. The only place that formats them."""

from __future__ import annotations

import math

MISSING = "-"
"""Stands where there is no number; a footnote says why."""

_TIMES = ((1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms"), (1.0, "s"))
_SIZES = ((1.0, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB"))
_SCALES = {"seconds": _TIMES, "bytes": _SIZES[1:]}
_BEYOND = 1e15
"""No measured number is as large; a text stays short whatever a file claims."""
_LARGEST = {"seconds": 99.95, "bytes": _BEYOND}
"""Below these, a value is written as a decimal number and a unit."""


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
        return _long_time(round(value))
    return _scaled(value, _TIMES) if value else "0 s"


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
    """A count with thousands apart; three digits where it is a small one and not whole.

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
    """A share or a relative change, with as many digits as anybody reads.

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


def times(factor: float) -> str:
    """How many times as much.

    >>> times(2.0), times(3.31), times(18.2), times(1234)
    ('2 times', '3.3 times', '18 times', 'over 1,000 times')
    """
    if factor > 1000:
        return "over 1,000 times"
    return f"{factor:.2g} times" if factor < 9.95 else f"{factor:,.0f} times"


def relative(ratio: float, *, speed: bool) -> float:
    """The size of a change of either direction.

    A time that halves is 100 % faster (``speed``); anything else that halves is 50 % less.
    """
    if ratio >= 1:
        return ratio - 1
    return 1 / ratio - 1 if speed else 1 - ratio


def amount(ratio: float, *, speed: bool) -> str:
    """The size of a change in words: from 100 % on in times.

    >>> amount(1.08, speed=True), amount(0.4, speed=True), amount(0.4, speed=False)
    ('8 %', '2.5 times', '60 %')
    """
    size = relative(ratio, speed=speed)
    return times(size + 1) if size >= 1 else percent(size)


def human(value: float | None, unit: str) -> str:
    """A value in its unit: ``seconds``, ``bytes`` or anything counted. MISSING for None and NaN."""
    if value is None or math.isnan(value):
        return MISSING
    if math.isinf(value):
        return "infinite" if value > 0 else "-infinite"
    if unit == "seconds":
        return seconds(value)
    return size(value) if unit == "bytes" else count(value)


def change(base: float | None, head: float | None, unit: str) -> str:
    """From BASE to HEAD, in one scale where both can be read in it.

    >>> change(0.2514, 4.53, "seconds"), change(4.9e-6, 5.5e-6, "seconds")
    ('0.25 s → 4.53 s', '4.90 µs → 5.50 µs')
    >>> change(0, 35, "functions"), change(None, 1.0, "seconds")
    ('0 → 35', '- → 1.00 s')
    """
    if base is not None and head is not None and min(base, head) > 0:
        larger = max(base, head)
        if unit in _SCALES and larger < _LARGEST[unit]:
            scale, name = _scale(larger, _SCALES[unit])
            # Two digits at least are left of the smaller one, three of the larger.
            if min(base, head) >= 0.1 * scale and larger >= 0.9995 * scale:
                return f"{_digits(base / scale)} {name} → {_digits(head / scale)} {name}"
    return f"{human(base, unit)} → {human(head, unit)}"


def _long_time(whole: int) -> str:
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,} h {minutes:02d} min"


def _scaled(value: float, scales: tuple[tuple[float, str], ...]) -> str:
    scale, name = _scale(value, scales)
    return f"{_digits(value / scale)} {name}"


def _scale(value: float, scales: tuple[tuple[float, str], ...]) -> tuple[float, str]:
    # The scale is chosen after rounding to 3 digits, so that 0.9996 s is 1.00 s and not 1000 ms.
    rounded = float(f"{value:.2e}")
    return next((item for item in reversed(scales) if rounded >= item[0] * (1 - 1e-9)), scales[0])


def _digits(number: float) -> str:
    rounded = float(f"{number:.2e}")
    digits = 2 if rounded < 9.995 else 1 if rounded < 99.95 else 0
    return f"{rounded:.{digits}f}"
