"""Synthetic subjects, samples and journals. FOR TESTS ONLY: no value here was measured."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from observatory.benchmarks.catalogue import SAMPLE_SCHEMA, Cell
from observatory.store.journal.models import JournalEntry, JournalHeader, JournalLine
from observatory.store.journal.writer import Journal
from observatory.store.records.machine import Machine
from observatory.store.records.profile import CallTree, Profile
from observatory.store.records.sample import Failure, LedgerEntry, Overhead, Sample
from observatory.store.records.subject import Subject, Versions

RUN = "20261120T143000Z"
LATER = "20261121T143000Z"
WARM = Cell("radon", "warm_disk", "NUMBA", "fork")
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def subject(label: str = "3.3.7", **changes: Any) -> Subject:
    """A release as a subject; its commit follows from its label."""
    fields: dict[str, Any] = {
        "label": label,
        "requirements": (f"pytensor=={label}",),
        "python": "3.13",
        "commit": hashlib.sha1(label.encode(), usedforsecurity=False).hexdigest(),
        "date": datetime(2026, 8, 14, tzinfo=UTC),
    }
    return Subject(**fields | changes)


def header(
    label: str = "3.3.7", numba: str = "0.68.0", cpu: str = "Some CPU", **changes: Any
) -> JournalHeader:
    """A journal's header. ``changes`` are of the subject."""
    return JournalHeader(
        schema="observatory/journal/1",
        subject=subject(label, **changes),
        versions=Versions(pytensor=label, numba=numba, python="3.13.0", packages={"numba": numba}),
        machine=Machine(machine="bench", os="Linux", arch="x86_64", cpu=cpu, num_cpu="2"),
    )


def sample(
    cell: Cell = WARM,
    measure: str = "timing",
    metrics: Mapping[str, float] | None = None,
    **changes: Any,
) -> Sample:
    """One good sample; ``metrics`` are added to its two correctness metrics."""
    fields: dict[str, Any] = {
        "schema": SAMPLE_SCHEMA,
        "cell": vars(cell),
        "measure": measure,
        "status": "ok",
        "metrics": {"wrong_results": 0, "crashed": 0, **(metrics or {})},
        "absent": {},
        "environment": {"numba": "0.68.0", "llvmlite": None},
        "hash_seed": 7,
        "started_at": NOON,
        "overhead": Overhead(
            total=2.0,
            prepare=0.1,
            fill=0,
            start=0.1,
            imports=1.0,
            build=0.3,
            warm_up=0,
            measured=0.4,
            exit=0,
            rest=0.1,
        ),
    }
    return Sample.model_validate(fields | changes)


def traced(calls: int, cell: Cell = WARM) -> Sample:
    """A tracing sample of a build that enters one function, `f`."""
    tree = CallTree(
        calls=calls,
        floor=1,
        modules={"": ["(build)", "(other)"], "m": ["f"]},
        entries=[0, 0, calls],
        depths=[0, 1],
        functions=[0, 2],
        counts=[0, calls],
    )
    return sample(cell, "tracing", {"python_calls": calls}, profile=Profile(tree=tree))


def failed(cell: Cell = WARM, measure: str = "timing", **changes: Any) -> Sample:
    """A sample that died of a segmentation fault."""
    died = Failure(message="the measured process died of SIGSEGV", signal="SIGSEGV")
    bare: dict[str, Any] = {"status": "killed", "failure": died, "metrics": {"crashed": 1}}
    return Sample.model_validate(sample(cell, measure).model_dump(by_alias=True) | bare | changes)


def ledger(*names: str, outcome: str = "hit", seconds: float = 0.01234) -> list[LedgerEntry]:
    """Entries of these names."""
    return [
        LedgerEntry.model_validate(
            {"name": name, "kind": "numba", "key": f"key of {name}", "outcome": outcome,
             "bytes": 100, "seconds": seconds}
        )
        for name in names
    ]  # fmt: skip


def entry(taken: Sample, run: str = RUN, under: JournalHeader | None = None) -> JournalEntry:
    """A journal entry that never was in a file."""
    return JournalEntry(under or header(), JournalLine(run=run, sample=taken), b"")


def journal(
    results: Path, samples: Iterable[Sample], run: str = RUN, under: JournalHeader | None = None
) -> Journal:
    """A journal in a results directory that holds these samples."""
    made = Journal.of(results, under or header())
    for taken in samples:
        made.append(run, taken)
    return made
