"""Two ledgers set against each other as multisets of (name, outcome). Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from observatory.store.records.comparison import FunctionChange
from observatory.store.records.sample import LedgerEntry

ABSENT = "absent"
COMPILED = ("miss", "uncacheable", "internal")


def changes(base: Sequence[LedgerEntry], head: Sequence[LedgerEntry]) -> Iterator[FunctionChange]:
    """Functions whose outcome changed, by name: what HEAD has more of, and what it was in BASE.

    `internal` functions follow from the others, as they never ask a cache, and are left out.
    """
    before, after = _outcomes(base), _outcomes(head)
    for name in sorted({name for name, _ in after}):
        gone = {o: before[name, o] - after[name, o] for o in ("hit", "miss", "uncacheable")}
        came = {outcome: -number for outcome, number in gone.items() if number < 0}
        for outcome, number in came.items():
            source = max(gone, key=lambda o: gone[o])
            yield FunctionChange(
                name=name, count=number,
                base=source if gone[source] > 0 else ABSENT, head=outcome,
                seconds=seconds_more(base, head, name),
            )  # fmt: skip


def seconds_more(
    base: Iterable[LedgerEntry], head: Iterable[LedgerEntry], name: str | None = None
) -> float:
    """Seconds that HEAD spent more than BASE, on the functions of one name or on all."""

    def spent(entries: Iterable[LedgerEntry]) -> float:
        return sum(entry.seconds for entry in entries if name is None or entry.name == name)

    return round(spent(head) - spent(base), 4)


def workload(
    base: Iterable[LedgerEntry], head: Iterable[LedgerEntry]
) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """Compiled functions that appeared and that vanished, by name, with how many."""
    before, after = _compiled(base), _compiled(head)
    return sorted((after - before).items()), sorted((before - after).items())


def _compiled(entries: Iterable[LedgerEntry]) -> Counter[str]:
    return Counter(entry.name for entry in entries if entry.outcome in COMPILED)


def _outcomes(entries: Iterable[LedgerEntry]) -> Counter[tuple[str, str]]:
    return Counter((e.name, e.outcome) for e in entries if e.outcome != "internal")
