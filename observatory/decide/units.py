"""Numbers with units as people read them. The only place that formats them."""

from __future__ import annotations

import math

MISSING = "-"
"""Stands where there is no number; a footnote says why."""

_TIMES = ((1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms"), (1.0, "s"))
_SIZES = ((1.0, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB"))


def seconds(value: float) -> str:
    """Three digits and a unit; minutes and hours above 100 s.

    >>> seconds(4.9e-6), seconds(0.2514), seconds(4.2), seconds(134)
    ('4.90 µs', '251 ms', '4.20 s', '2 min 14 s')
    """
    if value < 0:
        return f"-{seconds(-value)}"
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
    return f"-{size(-value)}" if value < 0 else _scaled(value, _SIZES)


def count(value: float) -> str:
    """A count with thousands apart; three digits where it is none.

    >>> count(597703), count(2.5)
    ('597,703', '2.5')
    """
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.3g}"


def human(value: float | None, unit: str) -> str:
    """A value in its unit: ``seconds``, ``bytes`` or anything counted. MISSING for None and NaN."""
    if value is None or math.isnan(value):
        return MISSING
    if math.isinf(value):
        return "infinite" if value > 0 else "-infinite"
    if unit == "seconds":
        return seconds(value)
    return size(value) if unit == "bytes" else count(value)


def _long_time(whole: int) -> str:
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,} h {minutes:02d} min"


def _scaled(value: float, scales: tuple[tuple[float, str], ...]) -> str:
    # The scale is chosen after rounding to 3 digits, so that 0.9996 s is 1.00 s and not 1000 ms.
    rounded = float(f"{value:.2e}")
    scale, name = next(
        (item for item in reversed(scales) if rounded >= item[0] * (1 - 1e-9)), scales[0]
    )
    number = rounded / scale
    digits = 2 if number < 9.995 else 1 if number < 99.95 else 0
    return f"{number:.{digits}f} {name}"
