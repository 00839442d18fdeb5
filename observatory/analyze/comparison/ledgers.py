"""Two ledgers compared: functions with another outcome, lost reuse, another workload. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Literal, TypeVar

from observatory.analyze.comparison.rules import Rule, conclude
from observatory.analyze.statements import JudgedVerdict, Statement
from observatory.benchmarks.catalogue import REUSE_LOST as _METRIC
from observatory.benchmarks.catalogue import SCENARIOS, WARM_SCENARIOS, Cell
from observatory.store.journal.ledgers import tally_of
from observatory.store.records.comparison import FunctionChange, Values
from observatory.store.records.sample import LedgerEntry

REUSE_LOST = _METRIC.name
ABSENT = "absent"
_SIZED = "numba"
"""The cache whose entries have the size of one function; a C module is padded."""
_SAME_CODE = 8
"""Bytes by which the machine code of equal functions of numba differs at most."""
_Kind = TypeVar("_Kind")
COMPILED = ("miss", "uncacheable", "internal")


def function_changes(
    base: Iterable[LedgerEntry], head: Iterable[LedgerEntry]
) -> Iterator[FunctionChange]:
    """Functions whose outcome changed, by name: what HEAD has more of, and what it was in BASE.

    `internal` functions follow from the others, as they never ask a cache, and are left out.
    """
    before, after = (Counter((e.name, e.outcome) for e in entries) for entries in (base, head))
    for name in sorted({e.name for e in head if e.outcome != "internal"}):
        gone = {o: before[name, o] - after[name, o] for o in ("hit", "miss", "uncacheable")}
        source = max(gone, key=lambda o: gone[o])
        for outcome, number in gone.items():
            if number < 0:
                yield FunctionChange(
                    name=name, count=-number,
                    base=source if gone[source] > 0 else ABSENT, head=outcome,
                    seconds=more_seconds(base, head, name),
                )  # fmt: skip


def of_graphs(entries: Sequence[LedgerEntry]) -> Mapping[str | None, list[LedgerEntry]]:
    """The entries of each graph of many; all of them under None. A graph without any has none."""
    found: dict[str | None, list[LedgerEntry]] = defaultdict(list)
    for entry in entries:
        found[entry.step].append(entry)
    found[None] = list(entries)
    return found


def summed(changes: Iterable[FunctionChange]) -> Iterator[FunctionChange]:
    """The changes of several graphs, with one for each function and kind of change."""
    found: dict[tuple[str, str, str], list[FunctionChange]] = {}
    for change in changes:
        found.setdefault((change.name, change.base, change.head), []).append(change)
    for same in found.values():
        count, seconds = sum(c.count for c in same), sum(c.seconds for c in same)
        yield same[0].model_copy(update={"count": count, "seconds": round(seconds, 4)})


def unasked(base: Iterable[LedgerEntry], head: Iterable[LedgerEntry]) -> Iterator[FunctionChange]:
    """Functions that HEAD compiles without asking the cache, by name, more often than BASE."""
    before, after = (
        Counter(e.name for e in side if e.outcome == "internal") for side in (base, head)
    )
    for name, number in sorted((after - before).items()):
        yield FunctionChange(
            name=name, count=number, base=ABSENT, head="internal",
            seconds=more_seconds(base, head, name),
        )  # fmt: skip


def more_seconds(
    base: Iterable[LedgerEntry], head: Iterable[LedgerEntry], name: str | None = None
) -> float:
    """Seconds that HEAD spent more than BASE, on the functions of one name or on all."""

    def spent(entries: Iterable[LedgerEntry]) -> float:
        return sum(entry.seconds for entry in entries if name is None or entry.name == name)

    return round(spent(head) - spent(base), 4)


def costs_of(
    changes: Mapping[_Kind, Sequence[FunctionChange]],
    base: Sequence[LedgerEntry],
    head: Sequence[LedgerEntry],
) -> dict[_Kind, float]:
    """The seconds that each kind of change costs: those of its functions, and of what follows.

    What follows is compiled for others without asking a cache. Each kind has a share of it like
    that of its own functions. Whatever else got slower or faster is no cost of a change.
    """
    names = {change.name for found in changes.values() for change in found}
    before, after = (
        sum(e.seconds for e in side if e.outcome == "internal" and e.name not in names)
        for side in (base, head)
    )
    follows = max(after - before, 0.0)
    own = {kind: sum(max(c.seconds, 0.0) for c in found) for kind, found in changes.items()}
    total = sum(own.values()) or 1.0
    return {kind: round(seconds * (1 + follows / total), 4) for kind, seconds in own.items()}


def workload(
    base: Iterable[LedgerEntry], head: Iterable[LedgerEntry]
) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """Compiled functions that appeared and that vanished, by name, with how many."""
    before, after = (
        Counter(e.name for e in entries if e.outcome in COMPILED) for entries in (base, head)
    )
    return sorted((after - before).items()), sorted((before - after).items())


def reuse_lost(
    cell: Cell, base: Sequence[LedgerEntry] | None, heads: Sequence[Sequence[LedgerEntry]]
) -> JudgedVerdict | None:
    """How many functions that a cache gave BASE are compiled by HEAD, in each of its samples.

    In builds from empty: hits that became misses, as far as both sides compile functions of the
    same names; where they do not, the verdict is "workload changed". In warm cells, whose misses
    alert by themselves: hits that became `internal`, as nobody asks a cache for them any more.
    None where the cell has no ledgers or builds nothing.
    """
    warm, scenario = cell.scenario in WARM_SCENARIOS, SCENARIOS[cell.scenario]
    builds = warm or scenario.from_empty or scenario.covers_ops
    if base is None or not heads or not builds:
        return None
    alike = same_steps if scenario.covers_ops else same_workload
    same = warm or all(alike(base, head) for head in heads)
    lost = [float(sum(lost_by_name(cell, base, head).values()) if same else 0) for head in heads]
    found = conclude(Rule("exact", judged=True), [0.0], lost)
    because = None if same else Statement("other workload")
    if found.uneven is not None:
        because = Statement("not deterministic", (REUSE_LOST, lost, found.uneven))
    return JudgedVerdict(
        cell=cell, metric=REUSE_LOST, unit="functions", kind="exact",
        conclusion=found.conclusion if same else "workload changed",
        base=Values(values=[0.0]), head=Values(values=lost), because=because,
    )  # fmt: skip


def same_workload(base: Iterable[LedgerEntry], head: Iterable[LedgerEntry]) -> bool:
    """Whether the two first builds ask caches for functions of the same names.

    Only the first build starts from empty on both sides: what a later one asks for depends on what
    it finds, as a graph that hits asks for none of its functions.
    """
    steps = ("base", "build", None)
    asked = [
        {name for step, name, outcome in tally_of(side) if outcome != "internal" and step in steps}
        for side in (base, head)
    ]
    return asked[0] == asked[1]


def same_steps(base: Iterable[LedgerEntry], head: Iterable[LedgerEntry]) -> bool:
    """Whether each of many graphs, which share a cache, asks it for functions of the same names.

    What a graph finds depends on all graphs before it, so that one that differs spoils the rest.
    """
    asked = [
        {(step, name) for step, name, outcome in tally_of(side) if outcome != "internal"}
        for side in (base, head)
    ]
    return asked[0] == asked[1]


def lost_by_name(
    cell: Cell, base: Sequence[LedgerEntry], head: Sequence[LedgerEntry]
) -> Counter[str]:
    """Hits of BASE that HEAD lost, as `reuse_lost` counts them, by name and summed over steps.

    No more than HEAD compiles more often in all: a function that another step compiles first is as
    little compiled as before. And from empty no more than HEAD compiles twice: many functions have
    the name ``Composite{...}``, and one more of them need not be one that was there.
    """
    became: Literal["internal", "miss"] = "internal" if cell.scenario in WARM_SCENARIOS else "miss"
    before, after = tally_of(base), tally_of(head)
    lost: Counter[str] = Counter()
    for (step, name, outcome), hits in before.items():
        if outcome == "hit":
            lost_to = step, name, became
            fewer = hits - after.get((step, name, "hit"), 0)
            more = after.get(lost_to, 0) - before.get(lost_to, 0)
            lost[name] += max(0, min(fewer, more))
    compiled: Counter[str] = Counter()
    for sign, tally in ((-1, before), (1, after)):
        for (_, name, outcome), number in tally.items():
            compiled[name] += sign * number * (outcome == became)
    found = +Counter({name: min(number, compiled[name]) for name, number in lost.items()})
    if became == "miss":
        for name in found:
            twice = [_compiled_twice(name, side) for side in (base, head)]
            if twice[0] is not None and twice[1] is not None:
                found[name] = min(found[name], twice[1] - twice[0])
    return +found


def _compiled_twice(name: str, entries: Iterable[LedgerEntry]) -> int | None:
    """How often a build from empty compiles a function of this name that it has compiled before.

    The size of the machine code tells functions of one name apart: the symbols of equal ones
    differ by a digit. None where it does not, as in C modules, or where it is not known.
    """
    missed = [entry for entry in entries if entry.name == name and entry.outcome == "miss"]
    sizes = sorted(entry.bytes for entry in missed if entry.bytes is not None)
    if len(sizes) < len(missed) or any(entry.kind != _SIZED for entry in missed):
        return None
    return sum(after - before <= _SAME_CODE for before, after in pairwise(sizes))
