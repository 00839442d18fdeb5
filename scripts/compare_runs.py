"""Are the exact metrics of two runs of one subject identical? Names every cell where they are not.

    .venv/bin/python scripts/compare_runs.py RESULTS_A RESULTS_B --subject 3.3.7

Compares the exact metrics of every cell that both have, and the ledgers as multisets of (step,
name, outcome). Exit status 1 where something differs.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from benchmarks.catalogue import metrics_of
from observatory.store.journal.ledgers import LedgerStore
from observatory.store.journal.models import JournalEntry
from observatory.store.journal.reader import read_journal
from observatory.store.records import layout

Key = tuple[str, str, str, str]


def counting(results: Path, subject: str) -> dict[Key, JournalEntry]:
    """The latest counting sample of each cell of a subject."""
    found: dict[Key, JournalEntry] = {}
    for path in layout.journals(results):
        contents = read_journal(path)
        if contents.header is None or contents.header.subject.label != subject:
            continue
        for entry in contents.current():
            cell = entry.sample.cell
            if entry.sample.measure == "counting":
                found[(cell.model, cell.scenario, cell.backend, cell.launch)] = entry
    return found


def exact_metrics(key: Key) -> list[str]:
    """The exact metrics of a cell."""
    _, scenario, _, launch = key
    return [metric.name for metric in metrics_of(scenario, launch) if metric.kind == "exact"]


def multiset(results: Path, entry: JournalEntry) -> Counter[tuple[str | None, str, str]]:
    """The ledger of a sample: how often each (step, name, outcome)."""
    if entry.ledger is None:
        return Counter()
    ledger = LedgerStore(results / layout.LEDGERS).load(entry.ledger)
    return Counter((line.step, line.name, line.outcome) for line in ledger)


def main() -> int:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", nargs=2, type=Path)
    parser.add_argument("--subject", required=True)
    options = parser.parse_args()
    a, b = (counting(results, options.subject) for results in options.results)
    common = sorted(a.keys() & b.keys())
    different = 0
    for key in common:
        one, other = a[key].sample.metrics, b[key].sample.metrics
        lines = [
            f"{name} {one.get(name)} and {other.get(name)}"
            for name in exact_metrics(key)
            if one.get(name) != other.get(name)
        ]
        first, second = (
            multiset(results, found[key])
            for results, found in zip(options.results, (a, b), strict=True)
        )
        if first != second:
            apart = (first - second) + (second - first)
            lines.append(f"ledgers differ in {apart.total()} entries, e.g. {next(iter(apart))}")
        if lines:
            different += 1
            print(f"{' '.join(key)}: {'; '.join(lines)}")
    seeds = {entry.sample.hash_seed for found in (a, b) for entry in found.values()}
    print(
        f"{options.subject}: {len(common)} cells in both runs, {len(common) - different} identical "
        f"in their exact metrics and ledgers, {different} not; {len(seeds)} hash seeds"
    )
    return int(different > 0)


if __name__ == "__main__":
    raise SystemExit(main())
