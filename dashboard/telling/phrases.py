"""Verdicts in words: what changed, by how much, and how sure.

Whatever is compared is said to be slower, faster, larger or more; a bare ratio is never shown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import inf
from statistics import median

from benchmarks.catalogue import METRICS, SECTIONS
from dashboard.document import Name, Piece, Words, written
from dashboard.plain import shorten
from dashboard.words import several
from observatory.decide.units import amount, change, human, percent, relative, times
from observatory.record.comparison import Ratio, Values, Verdict

LONGEST_NAME = 80
LONGEST_SENTENCE = 600

MEASURED = {
    name: METRICS[name].phrase
    for name in sorted(
        (name for name, one in METRICS.items() if one.phrase),
        key=lambda name: (SECTIONS.index(METRICS[name].section), METRICS[name].kind != "noisy"),
    )
}
"""What is said of a noisy or near-exact metric that is "8 % slower", in the order of telling."""
EVERYWHERE = tuple(name for name, one in METRICS.items() if one.once)
"""Metrics that are one thing in every cell, and are judged once by `observatory.decide`."""
_COMPARATIVES = {"seconds": ("slower", "faster"), "bytes": ("larger", "smaller")}
_PLURAL = ("more", "fewer")
_SPEEDS = ("seconds",)
"""Units of which half is twice as fast."""


def name(text: str) -> Name:
    """A foreign word, shortened where it is longer than anybody reads."""
    return Name(shorten(text, LONGEST_NAME))


def sentence(text: str, most: int = LONGEST_SENTENCE) -> Words:
    """A foreign text as a sentence: a capital first, a full stop last."""
    said = shorten(text, most)
    if not said:
        return ()
    return written(f"{said[0].upper()}{said[1:]}{'' if said[-1] in '.!?…' else '.'}")


def capitalised(words: Words) -> Words:
    """The same words, the first one with a capital."""
    first, rest = words[0], words[1:]
    return (f"{first[:1].upper()}{first[1:]}", *rest) if isinstance(first, str) else words


def enumerated(names: Sequence[Name], most: int, noun: str) -> Words:
    """`a`, `b` and 3 more."""
    said: list[Piece] = []
    shown = names[:most] if len(names) > most + 1 else names
    for index, each in enumerate(shown):
        last = index == len(names) - 1
        said += [" and " if last and index else ", " if index else "", each]
    if len(shown) < len(names):
        said.append(f" and {several(len(names) - len(shown), f'more {noun}')}")
    return tuple(part for part in said if part != "")


def typical(values: Values) -> float | None:
    """The median of the values; None if there are none."""
    return median(values.values) if values.values else None


def worst(values: Values) -> float:
    """The largest value: one wrong number is one too many. 0 if there is none."""
    return max(values.values, default=0.0)


def said_of(metric: str, amount: str) -> Words:
    """A claim about a metric that is e.g. "8 % slower"; an unknown metric goes by its name."""
    known = MEASURED.get(metric)
    return (name(metric), f" is {amount}") if known is None else (known.format(amount),)


def effect(verdict: Verdict) -> str:
    """By how much: "3.3 times slower", "8 % faster", "35 more"."""
    more, less = _COMPARATIVES.get(verdict.unit, _PLURAL)
    if verdict.ratio is not None:
        estimate = verdict.ratio.estimate
        said = amount(estimate, speed=verdict.unit in _SPEEDS)
        return f"{said} {more if estimate >= 1 else less}"
    base, head = typical(verdict.base) or 0.0, typical(verdict.head) or 0.0
    if base == head:
        return "the same"
    return f"{human(abs(head - base), verdict.unit)} {more if head > base else less}"


def typical_change(verdict: Verdict) -> str:
    """The medians of BASE and HEAD: "251 ms → 830 ms"."""
    return change(typical(verdict.base), typical(verdict.head), verdict.unit)


def extent(verdict: Verdict) -> float:
    """How large a change is, whatever its direction: to find the largest of one metric."""
    if verdict.ratio is not None:
        return max(verdict.ratio.estimate, 1 / verdict.ratio.estimate)
    return abs(worst(verdict.head) - worst(verdict.base))


def certainty(ratio: Ratio | None, unit: str) -> str:
    """How sure: "95 % interval 3.1 to 3.5 times"; empty if there is nothing to say."""
    if ratio is None or (ratio.confidence is None and " to " not in bounds(ratio, unit)):
        return ""
    return f"{interval(ratio)} {bounds(ratio, unit)}"


def interval(ratio: Ratio) -> str:
    """What the bounds of a ratio are: "95 % interval"."""
    if ratio.confidence is None:
        return "range of all values"
    return f"{100 * ratio.confidence:.3g} % interval"


def bounds(ratio: Ratio, unit: str) -> str:
    """Written as the estimate is: "3.1 to 3.5 times", or in per cent "6 to 10 %"."""
    speed = unit in _SPEEDS
    if ratio.estimate >= 1:
        low, high = ratio.low - 1, ratio.high - 1
    else:
        # An end on the other side of 1 is a change of the other direction: below 0.
        low, high = (_shrunk(end, speed) for end in (ratio.high, ratio.low))
    if relative(ratio.estimate, speed=speed) >= 1:
        return _span(times(low + 1), times(high + 1))
    return _span(percent(low), percent(high))


def _shrunk(ratio: float, speed: bool) -> float:
    if not speed:
        return 1 - ratio
    return 1 / ratio - 1 if ratio else inf


def by_metric(
    verdicts: Iterable[Verdict], order: Iterable[str] = MEASURED
) -> dict[str, list[Verdict]]:
    """Verdicts by metric, those of the order first; unknown ones by name."""
    found: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        found[verdict.metric].append(verdict)
    place = {metric: index for index, metric in enumerate(order)}
    return {
        metric: found[metric]
        for metric in sorted(found, key=lambda each: (place.get(each, len(place)), each))
    }


def _span(low: str, high: str) -> str:
    """Two numbers of one unit, the unit said once; one number where they read the same."""
    if low == high:
        return low
    number, _, unit = low.rpartition(" ")
    return f"{number} to {high}" if number and high.endswith(f" {unit}") else f"{low} to {high}"
