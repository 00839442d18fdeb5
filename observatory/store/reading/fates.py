"""What became of each graph of a subject, where many are built apart: small enough to keep."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

import orjson

from benchmarks.catalogue import SCENARIOS
from observatory.store.base.problems import Problem
from observatory.store.journal.ledgers import LedgerError, LedgerStore
from observatory.store.journal.models import JournalEntry
from observatory.store.journal.reader import read_journal
from observatory.store.journal.values import latest_runs
from observatory.store.records import layout
from observatory.store.records.sample import Build, OpCoverage, StoredEntry

UNKEPT = ""
"""Stands for fates of which a ledger could not be read: it is looked for each time."""
_LONGEST = 300
_SAID = {"raised": "raised", "died": "raised", "collided": "collided", "unstable": "unstable"}


class Fate(NamedTuple):
    """What became of one graph."""

    name: str
    fate: str  # one of the catalogue's FATES
    note: str = ""  # what the cache or the exception says; Ops that run in Python


Fates: TypeAlias = Mapping[str, Sequence[Fate]]
"""By cell, in words, what became of its graphs."""

Coverage: TypeAlias = Mapping[str, OpCoverage]
"""By cell, in words, which Ops of the release no graph of the model has."""


def fates_of(entries: Iterable[JournalEntry], store: LedgerStore, problems: list[Problem]) -> Fates:
    """The fates by cell: those of the cell's newest good counting sample.

    ``entries`` are comparable samples of one subject. Only cells that start from what another
    build left are told. A ledger that is missing or broken is added to ``problems``, and its cell
    is left out.
    """
    found: dict[str, list[Fate]] = {}
    for entry in latest_runs(entries):
        sample = entry.sample
        known = SCENARIOS.get(sample.cell.scenario)
        if known is None or not (known.apart and known.filled_by) or entry.ledger is None:
            continue
        if sample.status != "ok":
            continue
        try:
            ledger = store.load(entry.ledger)
        except LedgerError as error:
            problems.append(Problem(store.path(entry.ledger), str(error)))
            continue
        by_step: dict[str | None, list[StoredEntry]] = defaultdict(list)
        for one in ledger:
            by_step[one.step].append(one)
        found[str(sample.cell)] = [
            _fate(step, by_step[step.name], bool(known.of_pair)) for step in sample.steps
        ]
    return found


def coverage_of(entries: Iterable[JournalEntry]) -> Coverage:
    """By cell, the Ops that no graph has: from the cell's first good sample that says so.

    ``entries`` are comparable samples of one subject.
    """
    found: dict[str, OpCoverage] = {}
    for entry in latest_runs(entries):
        sample = entry.sample
        if sample.coverage is not None and sample.status == "ok":
            found.setdefault(str(sample.cell), sample.coverage)
    return found


def kept_of(entries: Iterable[JournalEntry], store: LedgerStore) -> str:
    """The fates as JSON for the cache; UNKEPT if a ledger is missing or broken."""
    problems: list[Problem] = []
    found = fates_of(entries, store, problems)
    return UNKEPT if problems else orjson.dumps(found, default=list).decode()


def of_journal(path: Path, kept: str, problems: list[Problem]) -> Fates:
    """The fates in a journal, by cell: from ``kept``, or if that is UNKEPT from the journal."""
    if kept != UNKEPT:
        cells = orjson.loads(kept)
        return {cell: [Fate(*each) for each in found] for cell, found in cells.items()}
    store = LedgerStore(layout.results_of(path) / layout.LEDGERS)
    return fates_of(read_journal(path).current(), store, problems)


def _fate(step: Build, entries: Sequence[StoredEntry], of_pair: bool) -> Fate:
    note = " ".join((step.note or "").split("\n", 1)[0].split())[:_LONGEST]
    if step.status == "absent":
        return Fate(step.name, "absent", note)
    if step.status in _SAID:
        return Fate(step.name, _SAID[step.status], note)
    if step.metrics.get("wrong_results"):
        return Fate(step.name, "wrong", note)
    if of_pair:
        return Fate(step.name, "right")
    fate, why = _of_cache(entries)
    if step.in_python:
        ops = ", ".join(dict.fromkeys(step.in_python))
        cached = "" if fate in ("hit", "uncached") else f"; {fate}" + f": {why}" * bool(why)
        return Fate(step.name, "python", f"{ops[:_LONGEST]}{cached}")
    return Fate(step.name, fate, why)


def _of_cache(entries: Sequence[StoredEntry]) -> tuple[str, str]:
    """The worst outcome of a graph's functions, and the cache's reason or the functions."""
    for outcome in ("uncacheable", "miss"):
        own = [entry for entry in entries if entry.outcome == outcome]
        if own:
            why = next((entry.why for entry in own if entry.why), "")
            names = ", ".join(dict.fromkeys(entry.name for entry in own))
            return outcome, f"{names[:_LONGEST]}{f': {why}' if why else ''}"[: 2 * _LONGEST]
    return ("hit" if any(entry.outcome == "hit" for entry in entries) else "uncached"), ""
