"""Verdicts in words: what changed, by how much, and with which uncertainty.

Each change has a direction (slower, faster, larger, higher) and a sign; a bare ratio is never
shown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import median

from observatory.benchmarks.catalogue import METRICS, SECTIONS
from observatory.store.records.comparison import (
    FunctionChange,
    GraphChange,
    Ratio,
    Values,
    Verdict,
)
from observatory.text.document import Folded, Name, Paragraph, Piece, Table, Words, written
from observatory.text.plain import shorten
from observatory.text.units import change, count, difference, direction, seconds, signed, span
from observatory.text.words import several

_GRAPHS = 4
"""Graphs of a search that are named."""

LONGEST_NAME = 80
LONGEST_NOTE = 200
LONGEST_SENTENCE = 600

MEASURED = {
    name: METRICS[name].phrase
    for name in sorted(
        (name for name, one in METRICS.items() if one.phrase),
        key=lambda name: (SECTIONS.index(METRICS[name].section), METRICS[name].kind != "noisy"),
    )
}
"""The claims of noisy and near-exact metrics, e.g. "compiling is {}", in the order of a text."""


def name(text: str) -> Name:
    """The word as code, shortened to LONGEST_NAME characters."""
    return Name(shorten(text, LONGEST_NAME))


def sentence(text: str, most: int = LONGEST_SENTENCE) -> Words:
    """The text as a sentence of at most ``most`` characters: a capital first, a full stop last."""
    text = shorten(text, most)
    if not text:
        return ()
    return written(f"{text[0].upper()}{text[1:]}{'' if text[-1] in '.!?…' else '.'}")


def enumerated(names: Sequence[Name], most: int, noun: str) -> Words:
    """`a`, `b` and 3 more; ``noun`` names what is left out, in the singular."""
    words: list[Piece] = []
    shown = names[:most] if len(names) > most + 1 else names
    for index, each in enumerate(shown):
        last = index == len(names) - 1
        words += [" and " if last and index else ", " if index else "", each]
    words += [f" {note}" for (note,) in rest_of(len(names), len(shown), noun)]
    return tuple(part for part in words if part != "")


def only_graphs(graphs: Sequence[str]) -> Words:
    """To which graphs of a model a search was narrowed, after its cell."""
    if not graphs:
        return ()
    which = "graph" if len(graphs) == 1 else "graphs"
    return (f" ({which} ", *enumerated([name(one) for one in graphs], _GRAPHS, "graph"), " only)")


def rest_of(number: int, most: int, noun: str) -> tuple[tuple[str], ...]:
    """Return "and 3 more cells" where only ``most`` of ``number`` are shown, else nothing."""
    return ((f"and {several(number - most, f'more {noun}')}",),) if number > most else ()


def folded_functions(functions: Iterable[FunctionChange], most: int, timed: bool) -> Folded:
    """How the outcome of functions changed, the most expensive first; ``timed``: with the time."""
    ordered = sorted(functions, key=lambda each: (-each.seconds, each.name))
    rows: tuple[tuple[Words, ...], ...] = tuple(
        ((name(each.name),), (count(each.count),), (name(each.base), " → ", name(each.head)),
         *[(seconds(each.seconds),)] * timed)
        for each in ordered[:most]
    )  # fmt: skip
    sides = ("BASE → HEAD", "extra time") if timed else ("before → after",)
    summary = several(sum(each.count for each in ordered), "function")
    summary += ", the most expensive first" * (timed and len(ordered) > 1)
    rest = map(Paragraph, rest_of(len(ordered), most, "name"))
    return Folded(summary, (Table(("function", "how many", *sides), rows), *rest))


def folded_graphs(graphs: Sequence[GraphChange], most: int) -> Folded:
    """Graphs that got worse, by name, and what the cache or the exception says of any."""
    told = any(each.note for each in graphs[:most])
    rows: tuple[tuple[Words, ...], ...] = tuple(
        ((name(each.name),), *[(shorten(each.note, LONGEST_NOTE),)] * told)
        for each in graphs[:most]
    )
    columns = ("graph", "what it says") if told else ("graph",)
    rest = map(Paragraph, rest_of(len(graphs), most, "graph"))
    return Folded(several(len(graphs), "graph"), (Table(columns, rows), *rest))


def joined(sentences: Iterable[Words]) -> Words:
    """One sentence of several, with semicolons."""
    words: list[Piece] = []
    for each in sentences:
        words += ["; ", *each] if words else each
    return tuple(words)


def typical(values: Values) -> float | None:
    """The median of the values; None if there are none."""
    return median(values.values) if values.values else None


def worst(values: Values) -> float:
    """The largest value: one wrong number is one too many. 0 if there is none."""
    return max(values.values, default=0.0)


def claim(verdicts: Sequence[Verdict], where: Words = (), sure: bool = False) -> Words:
    """How one metric changed: "compiling is slower in 2 cells (up to +9.1 %, 387 → 422 ms)".

    ``sure`` adds the interval of the largest change.
    """
    place = (" in ", *where) if where else ()
    return (*what_changed(verdicts), *place, f" ({amount(verdicts, sure)})")


def what_changed(verdicts: Sequence[Verdict]) -> Words:
    """The direction in which one metric changed: "compiling is slower"."""
    first = max(verdicts, key=extent)
    word = effect(first).partition(": ")[0]
    phrase = MEASURED.get(first.metric)
    return (name(first.metric), f" is {word}") if phrase is None else (phrase.format(word),)


def amount(verdicts: Sequence[Verdict], sure: bool = False) -> str:
    """By how much one metric changed, at most: "up to +9.1 %, 387 → 422 ms"."""
    first = max(verdicts, key=extent)
    size = effect(first).partition(": ")[2]
    if size and len({verdict.cell for verdict in verdicts}) > 1:
        size = f"up to {size}"
    numbers = [size, typical_change(first), certainty(first.ratio) if sure else ""]
    return ", ".join(filter(None, numbers))


def effect(verdict: Verdict) -> str:
    """The direction and the relative change from BASE to HEAD: "slower: +30 %".

    Where it is not the change of the medians but an estimate, the text says so (see `factor`).
    """
    base, head = typical(verdict.base), typical(verdict.head)
    if verdict.ratio is None:
        return difference(base or 0.0, head or 0.0, verdict.unit)
    size, seen = factor(verdict, verdict.ratio)
    word = direction(verdict.unit, verdict.ratio.estimate >= 1)
    return f"{word}: {signed(size)}{'' if seen else ' by estimate'}"


def factor(verdict: Verdict, ratio: Ratio) -> tuple[float, bool]:
    """HEAD over BASE, and whether it was seen: whether it is the ratio of the medians.

    Where the interval does not contain that, because the values have two modes, it is the estimate
    of the test.
    """
    base, head = typical(verdict.base), typical(verdict.head)
    seen = head / base if base and head and min(base, head) > 0 else 0.0
    fits = ratio.low <= seen <= ratio.high and (seen >= 1) == (ratio.estimate >= 1)
    return (seen if fits else ratio.estimate), fits or seen == 0


def typical_change(verdict: Verdict) -> str:
    """The medians of BASE and HEAD: "251 → 830 ms"."""
    return change(typical(verdict.base), typical(verdict.head), verdict.unit)


def extent(verdict: Verdict) -> float:
    """The size of a change in either direction, as a ratio or a difference: to sort by."""
    if verdict.ratio is not None:
        return max(verdict.ratio.estimate, 1 / verdict.ratio.estimate)
    return abs(worst(verdict.head) - worst(verdict.base))


def certainty(ratio: Ratio | None) -> str:
    """The uncertainty: "95 % interval +26 to +34 %"; empty if there is none."""
    if ratio is None or (ratio.confidence is None and ratio.low == ratio.high):
        return ""
    return f"{interval(ratio)} {bounds(ratio)}"


def interval(ratio: Ratio) -> str:
    """The kind of the interval: "95 % interval"."""
    if ratio.confidence is None:
        return "range of all values"
    return f"{100 * ratio.confidence:.3g} % interval"


def bounds(ratio: Ratio) -> str:
    """The ends of the interval as relative changes: "+6 to +10 %"."""
    return span(ratio.low, ratio.high)


def beginning(verdicts: Iterable[Verdict]) -> Words:
    """What does or takes more, of the largest alarm that says it; empty if none does.

    Work comes before time.
    """
    said = [v for v in verdicts if v.conclusion == "worse" and v.reason]
    first = max(said, key=lambda one: (one.kind == "near_exact", extent(one)), default=None)
    return sentence(first.reason or "") if first else ()


def by_metric(
    verdicts: Iterable[Verdict], order: Iterable[str] = MEASURED
) -> dict[str, list[Verdict]]:
    """Verdicts by metric, in the given order; other metrics follow, sorted by name."""
    found: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        found[verdict.metric].append(verdict)
    place = {metric: index for index, metric in enumerate(order)}
    return {
        metric: found[metric]
        for metric in sorted(found, key=lambda each: (place.get(each, len(place)), each))
    }
