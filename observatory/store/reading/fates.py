"""What became of each graph of a subject, where many are built apart: small enough to keep."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from observatory.benchmarks.catalogue import METRICS, SCENARIOS, Scenario
from observatory.store.base.problems import Problem
from observatory.store.journal.contents import ContentError
from observatory.store.journal.ledgers import LedgerStore
from observatory.store.journal.models import JournalEntry
from observatory.store.journal.values import latest_runs
from observatory.store.reading.kept import OfLedgers
from observatory.store.records.sample import Build, OpCoverage, Sample, StoredEntry

_LONGEST = 300
_SAID = {"raised": "raised", "died": "raised", "collided": "collided", "unstable": "unstable"}


class Fate(NamedTuple):
    """What became of one graph."""

    name: str
    fate: str  # one of the catalogue's FATES
    note: str = ""  # what the cache or the exception says; Ops that run in Python
    value: float | None = None  # of the metric that its scenario tells, if it tells one


Fates: TypeAlias = Mapping[str, Sequence[Fate]]
"""By cell, in words, what became of its graphs."""

Coverage: TypeAlias = Mapping[str, OpCoverage]
"""By cell, in words, which Ops of the release no graph of the model has."""


def fates_of(entries: Iterable[JournalEntry], store: LedgerStore, problems: list[Problem]) -> Fates:
    """The fates by cell: those of the cell's first good counting sample.

    ``entries`` are comparable samples of one subject. Only cells that start from what another
    build left are told, pairs whose keys are compared, and graphs whose keys are counted. A ledger
    that is missing or broken is added to ``problems``, and its cell is left out.
    """
    found: dict[str, list[Fate]] = {}
    for entry in latest_runs(entries):
        sample = entry.sample
        known = SCENARIOS.get(sample.cell.scenario)
        if known is None or not known.told or entry.ledger is None:
            continue
        if sample.status != "ok" or str(sample.cell) in found:
            continue
        try:
            ledger = store.load(entry.ledger)
        except ContentError as error:
            problems.append(Problem(store.path(entry.ledger), str(error)))
            continue
        found[str(sample.cell)] = fates_in(sample, ledger)
    return found


def fates_in(sample: Sample, ledger: Iterable[StoredEntry]) -> list[Fate]:
    """What became of each graph of a sample that builds many apart."""
    known = SCENARIOS[sample.cell.scenario]
    by_step: dict[str | None, list[StoredEntry]] = defaultdict(list)
    for one in ledger:
        by_step[one.step].append(one)
    fates = [(step, _fate(step, by_step[step.name], known)) for step in sample.steps]
    return [one for step, fate in fates for one in _told(step, fate, known)]


def _told(step: Build, fate: Fate, scenario: Scenario) -> Iterator[Fate]:
    """The rows of a graph: one, or one for each count where its scenario has several."""
    if fate.fate != "counted" or len(scenario.tells) == 1:
        yield fate
        return
    for metric in scenario.tells:
        if metric in step.metrics:
            name = f"{step.name}: {METRICS[metric].noun}"
            yield Fate(name, "counted", value=step.metrics[metric])


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


def _fate(step: Build, entries: Sequence[StoredEntry], scenario: Scenario) -> Fate:
    note = " ".join((step.note or "").split("\n", 1)[0].split())[:_LONGEST]
    if step.status == "absent":
        return Fate(step.name, "absent", note)
    if step.status in _SAID:
        return Fate(step.name, _SAID[step.status], note)
    if step.metrics.get("wrong_results"):
        return Fate(step.name, "wrong", note)
    if scenario.tells:
        return Fate(step.name, "counted", value=step.metrics.get(scenario.tells[0]))
    if scenario.of_pair:
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


KEPT_FATES = OfLedgers(Fate, fates_of)
"""The fates of a subject, read once and kept."""
