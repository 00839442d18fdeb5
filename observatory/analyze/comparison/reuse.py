"""Functions that BASE reused from a cache and HEAD compiles again, from two ledgers. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from benchmarks.catalogue import REUSE_LOST as _METRIC
from benchmarks.catalogue import SCENARIOS, WARM_SCENARIOS, Cell
from observatory.analyze.statements import JudgedVerdict, Statement
from observatory.store.records.comparison import Values
from observatory.store.records.sample import LedgerEntry

REUSE_LOST = _METRIC.name


def reuse_lost(
    cell: Cell, base: Sequence[LedgerEntry] | None, head: Sequence[LedgerEntry] | None
) -> JudgedVerdict | None:
    """How many functions that a cache gave BASE are compiled by HEAD.

    Of builds from empty: hits that became misses, as far as both sides compile functions of the
    same names; where they do not, the verdict is "workload changed". Of warm cells, whose misses
    alert by themselves: hits that became `internal`, as nobody asks a cache for them any more.
    None where the cell has no ledgers or builds nothing.
    """
    warm = cell.scenario in WARM_SCENARIOS
    if base is None or head is None or not (warm or SCENARIOS[cell.scenario].from_empty):
        return None
    same = warm or same_workload(base, head)
    lost = sum(lost_by_name(cell, base, head).values()) if same else 0
    return JudgedVerdict(
        cell=cell, metric=REUSE_LOST, unit="functions", kind="exact",
        conclusion="worse" if lost else "unaffected" if same else "workload changed",
        base=Values(values=[0.0]), head=Values(values=[float(lost)]),
        because=None if same else Statement("other workload"),
    )  # fmt: skip


def same_workload(base: Iterable[LedgerEntry], head: Iterable[LedgerEntry]) -> bool:
    """Whether the two first builds ask caches for functions of the same names.

    Only the first build, which starts from empty on both sides: what a later one asks for depends
    on what it finds, as a graph that hits asks for none of its functions.
    """
    return _asked_first(base) == _asked_first(head)


def lost_by_name(
    cell: Cell, base: Iterable[LedgerEntry], head: Iterable[LedgerEntry]
) -> Counter[str]:
    """Hits of BASE that HEAD lost, as `reuse_lost` counts them, by name and summed over steps."""
    became = "internal" if cell.scenario in WARM_SCENARIOS else "miss"
    before, after = _outcomes(base), _outcomes(head)
    lost: Counter[str] = Counter()
    for (step, name, outcome), hits in before.items():
        if outcome != "hit":
            continue
        fewer = hits - after[step, name, "hit"]
        more = after[step, name, became] - before[step, name, became]
        if (moved := min(fewer, more)) > 0:
            lost[name] += moved
    return lost


def _asked_first(entries: Iterable[LedgerEntry]) -> set[str]:
    steps = ("base", "build", None)
    return {e.name for e in entries if e.outcome != "internal" and e.step in steps}


def _outcomes(entries: Iterable[LedgerEntry]) -> Counter[tuple[str, str, str]]:
    return Counter((entry.step or "", entry.name, entry.outcome) for entry in entries)
