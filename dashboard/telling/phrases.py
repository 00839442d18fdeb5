"""Verdicts in words: what changed, by how much, how sure, and in which cells.

Whatever is compared is said to be slower, faster, larger or more; a bare ratio is never shown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from math import inf, prod
from statistics import median

from benchmarks.vocabulary import BACKENDS, LAUNCHES, MODELS, SCENARIOS, WARM_SCENARIOS
from dashboard.document import Name, Piece, Words, written
from dashboard.plain import shorten
from dashboard.words import known_first, several
from observatory.decide.units import change, count, human, percent, times
from observatory.record.comparison import Comparison, Ratio, Values, Verdict
from observatory.record.sample import CellRecord

LONGEST_NAME = 80
LONGEST_SENTENCE = 600
_NAMED_CELLS = 3
_NAMED_WORDS = 4
_NAMED_GROUPS = 4
_AXES: dict[str, dict[str, str]] = {
    "model": MODELS, "scenario": SCENARIOS, "backend": BACKENDS, "launch": LAUNCHES,
}  # fmt: skip

MEASURED = {
    "compile_time": "compiling is {}",
    "function_time": "the call of pytensor.function is {}",
    "first_call_time": "the first call is {}",
    "cpu_time": "the CPU time of compiling is {}",
    "python_calls": "building enters {} Python functions",
    "call_time": "calling is {}",
    "import_time": "importing is {}",
    "peak_rss": "peak memory is {}",
    "modules_imported": "{} modules are imported inside the clock",
    "object_code_bytes": "machine code is {}",
    "cache_bytes": "the cache on disk is {}",
}
"""What is said of a noisy or near-exact metric that is "8 % slower", in the order of telling."""
_COMPARATIVES = {"seconds": ("slower", "faster"), "bytes": ("larger", "smaller")}
_PLURAL = ("more", "fewer")


@dataclass(frozen=True)
class Labels:
    """How cells are named: without their model where the whole comparison has only one."""

    model: str | None
    every: frozenset[CellRecord]

    @classmethod
    def of(cls, comparison: Comparison) -> Labels:
        """The labels of a comparison's cells."""
        every = all_cells(comparison)
        models = {cell.model for cell in every}
        return cls(models.pop() if len(models) == 1 else None, frozenset(every))

    def cell(self, cell: CellRecord) -> Name:
        """One cell."""
        words = (cell.scenario, cell.backend, cell.launch)
        shown = words if self.model is not None else (cell.model, *words)
        return name(" ".join(shown))

    def cells(self, cells: Collection[CellRecord]) -> Words:
        """Several cells, by their axes: "`cold` · `C` and `NUMBA` · `spawn`; `call C fork`"."""
        chosen = set(cells)
        if len(chosen) < 2:
            return (self.cell(chosen.pop()),) if chosen else ("no cell",)
        if whole := self._whole(chosen):
            return whole
        groups = _alike(chosen)
        said: list[Piece] = []
        for group in groups[:_NAMED_GROUPS]:
            said += ["; " if said else "", *self._group(group)]
        if rest := sum(len(group) for group in groups[_NAMED_GROUPS:]):
            said.append(f"; and {several(rest, 'more cell')}")
        return tuple(said)

    def crowd(self, cells: set[CellRecord]) -> Words:
        """For a headline: the cell, or how many of what: "4 warm cells of `NUMBA`"."""
        if len(cells) == 1:
            return (self.cell(next(iter(cells))),)
        if whole := self._whole(cells):
            return whole
        scenarios = {cell.scenario for cell in cells}
        backends = known_first((cell.backend for cell in cells), BACKENDS)
        words: list[Piece] = [several(len(cells), "cell")]
        if len(scenarios) == 1:
            words = [f"{count(len(cells))} ", name(scenarios.pop()), " cells"]
        elif scenarios <= set(WARM_SCENARIOS):
            words = [several(len(cells), "warm cell")]
        if len(backends) <= 2:
            words += [" of ", *enumerated([name(word) for word in backends], 2, "backend")]
        return tuple(words)

    def _group(self, cells: list[CellRecord]) -> Words:
        """Cells of the same scenarios: axis by axis if they are all combinations of these."""
        axes = [
            known_first((getattr(cell, axis) for cell in cells), known)
            for axis, known in _AXES.items()
            if axis != "model" or self.model is None
        ]
        if len(cells) == 1 or prod(map(len, axes)) != len(cells):
            return enumerated([self.cell(cell) for cell in cells], _NAMED_CELLS, "cell")
        said: list[Piece] = []
        for axis in axes:
            said += [" · ", *enumerated([name(word) for word in axis], _NAMED_WORDS, "word")]
        return tuple(said[1:])

    def _whole(self, cells: set[CellRecord]) -> Words:
        """Say that no cell is left out, of all or of a backend; empty where some are."""
        if cells >= self.every:
            return ("every cell",)
        backends = {cell.backend for cell in cells}
        if len(backends) > 1 or cells < {c for c in self.every if c.backend in backends}:
            return ()
        return ("every cell of ", name(backends.pop()))


def all_cells(comparison: Comparison) -> set[CellRecord]:
    """Every cell that the comparison speaks of."""
    judged = {verdict.cell for verdict in comparison.verdicts}
    return judged | {missing.cell for missing in comparison.missing}


def in_order(cells: Collection[CellRecord]) -> list[CellRecord]:
    """Cells in the order of the vocabulary, unknown words last."""
    orders = {
        axis: {word: place for place, word in enumerate(known)} for axis, known in _AXES.items()
    }

    def place(cell: CellRecord) -> list[tuple[int, str]]:
        words = {axis: getattr(cell, axis) for axis in _AXES}
        return [(orders[axis].get(word, len(orders[axis])), word) for axis, word in words.items()]

    return sorted(set(cells), key=place)


def _alike(cells: Collection[CellRecord]) -> list[list[CellRecord]]:
    """Cells in groups: scenarios with the same models, backends and launches are told together."""
    by_scenario: dict[str, list[CellRecord]] = defaultdict(list)
    for cell in in_order(cells):
        by_scenario[cell.scenario].append(cell)
    groups: dict[frozenset[tuple[str, str, str]], list[CellRecord]] = defaultdict(list)
    for found in by_scenario.values():
        groups[frozenset((each.model, each.backend, each.launch) for each in found)] += found
    return list(groups.values())


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
        return _by(verdict.ratio.estimate, more, less)
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


def certainty(ratio: Ratio | None) -> str:
    """How sure: "95 % interval 3.1 to 3.5 times"; empty if there is nothing to say."""
    if ratio is None or (ratio.confidence is None and " to " not in bounds(ratio)):
        return ""
    return f"{interval(ratio)} {bounds(ratio)}"


def interval(ratio: Ratio) -> str:
    """What the bounds of a ratio are: "95 % interval"."""
    if ratio.confidence is None:
        return "range of all values"
    return f"{100 * ratio.confidence:.3g} % interval"


def bounds(ratio: Ratio) -> str:
    """Written as the estimate is: "3.1 to 3.5 times", or in per cent "6 to 10 %"."""
    low, high = ratio.low, ratio.high
    if ratio.estimate >= 2:
        return _span(times(low), times(high))
    if ratio.estimate <= 0.5:
        return _span(times(1 / high if high else inf), times(1 / low if low else inf))
    if ratio.estimate < 1:
        low, high = 2 - high, 2 - low  # so that 8 % faster is between 6 and 10 %
    return _span(percent(low - 1), percent(high - 1))


def by_metric(verdicts: Iterable[Verdict], order: tuple[str, ...]) -> dict[str, list[Verdict]]:
    """Verdicts by metric, those of the order first; unknown ones by name."""
    found: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        found[verdict.metric].append(verdict)
    place = {metric: index for index, metric in enumerate(order)}
    return {
        metric: found[metric]
        for metric in sorted(found, key=lambda each: (place.get(each, len(place)), each))
    }


def _by(estimate: float, more: str, less: str) -> str:
    if estimate >= 1:
        amount = times(estimate) if estimate >= 2 else percent(estimate - 1)
        return f"{amount} {more}"
    amount = times(1 / estimate) if estimate <= 0.5 else percent(1 - estimate)
    return f"{amount} {less}"


def _span(low: str, high: str) -> str:
    """Two numbers of one unit, the unit said once; one number where they read the same."""
    if low == high:
        return low
    number, _, unit = low.rpartition(" ")
    return f"{number} to {high}" if number and high.endswith(f" {unit}") else f"{low} to {high}"
