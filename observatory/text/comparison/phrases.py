"""Verdicts in words: what changed, by how much, and how sure.

Whatever is compared is said to be slower, faster, larger or higher, with the change of its value
and its sign; a bare ratio is never shown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import median

from benchmarks.catalogue import METRICS, SECTIONS
from observatory.store.records.comparison import Ratio, Values, Verdict
from observatory.text.document import Name, Piece, Words, written
from observatory.text.plain import shorten
from observatory.text.units import change, difference, direction, signed, span
from observatory.text.words import several

LONGEST_NAME = 80
LONGEST_SENTENCE = 600

MEASURED = {
    name: METRICS[name].phrase
    for name in sorted(
        (name for name, one in METRICS.items() if one.phrase),
        key=lambda name: (SECTIONS.index(METRICS[name].section), METRICS[name].kind != "noisy"),
    )
}
"""What is said of a noisy or near-exact metric that is "slower: +8 %", in the order of telling."""
EVERYWHERE = tuple(name for name, one in METRICS.items() if one.once)
"""Metrics that are one thing in every cell, and are judged once by `observatory.analyze`."""


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
    """A claim about a metric that is e.g. "slower: +8 %"; an unknown metric goes by its name."""
    known = MEASURED.get(metric)
    return (name(metric), f" is {amount}") if known is None else (known.format(amount),)


def effect(verdict: Verdict, up_to: str = "") -> str:
    """What became of HEAD, in a word and as the change of the value: "slower: +30 %".

    The change is that of the medians, which stand beside it. Where the interval does not hold it,
    as values have two modes, it is the estimate that the interval belongs to, and is said to be.
    """
    base, head = typical(verdict.base), typical(verdict.head)
    ratio = verdict.ratio
    if ratio is None:
        return difference(base or 0.0, head or 0.0, verdict.unit)
    seen = head / base if base and head and min(base, head) > 0 else 0.0
    fits = ratio.low <= seen <= ratio.high and (seen >= 1) == (ratio.estimate >= 1)
    said = f"{up_to}{signed(seen if fits else ratio.estimate)}"
    word = direction(verdict.unit, ratio.estimate >= 1)
    return f"{word}: {said}" if fits or seen == 0 else f"{word}: {said} by estimate"


def typical_change(verdict: Verdict) -> str:
    """The medians of BASE and HEAD: "251 → 830 ms"."""
    return change(typical(verdict.base), typical(verdict.head), verdict.unit)


def extent(verdict: Verdict) -> float:
    """How large a change is, whatever its direction: to find the largest of one metric."""
    if verdict.ratio is not None:
        return max(verdict.ratio.estimate, 1 / verdict.ratio.estimate)
    return abs(worst(verdict.head) - worst(verdict.base))


def certainty(ratio: Ratio | None) -> str:
    """How sure: "95 % interval +26 to +34 %"; empty if there is nothing to say."""
    if ratio is None or (ratio.confidence is None and ratio.low == ratio.high):
        return ""
    return f"{interval(ratio)} {bounds(ratio)}"


def interval(ratio: Ratio) -> str:
    """What the bounds of a ratio are: "95 % interval"."""
    if ratio.confidence is None:
        return "range of all values"
    return f"{100 * ratio.confidence:.3g} % interval"


def bounds(ratio: Ratio) -> str:
    """The ends of the interval, as changes of the value: "+6 to +10 %"."""
    return span(ratio.low, ratio.high)


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
