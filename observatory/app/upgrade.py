"""Upgrades: a subject on the cache that another one left."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path

from benchmarks.catalogue import Cell
from observatory.app.progress import Message, Progress, silent
from observatory.run.environments import Environment
from observatory.run.execute import Executor
from observatory.run.local import environment_of, local_subjects, measuring_lock
from observatory.run.sources import SubjectError
from observatory.run.upgrade import Chain
from observatory.store.records import upgrades as record
from observatory.store.records.machine import Machine
from observatory.store.records.sample import Sample
from observatory.store.records.subject import Subject
from observatory.store.records.upgrades import Side, Upgrade


def upgrade(
    sides: Sequence[tuple[Side, Environment]],
    cells: Sequence[Cell],
    *,
    results: Path,
    machine: Machine,
    timeout: float,
    state: Path,
    progress: Progress = silent,
) -> list[Upgrade]:
    """Let each subject use the cache that the one before it left; then the first one comes back.

    Returns a record for each pair of neighbours, in order; each is saved under RESULTS/upgrades as
    soon as it is there.
    """
    run = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    caches = (state / "caches" / f"upgrade-{run}").absolute()
    caches.mkdir(parents=True)

    def say(text: str) -> None:
        progress(Message(text))

    def took(name: str, sample: Sample) -> None:
        say(f"{name} {sample.cell.model} {sample.cell.backend}: {sample.status}")

    chain = Chain(cells, took)
    found: list[Upgrade] = []
    try:
        with measuring_lock(say):
            before: tuple[str, Executor, dict[Cell, Sample], Side] | None = None
            for number, (side, environment) in enumerate(sides):
                executor = Executor(environment, caches, timeout, flags=side.flags)
                name = f"{number + 1}-{side.subject.label.replace(' ', '_').replace('/', '_')}"
                if before is None:
                    before = (name, executor, chain.first(name, executor), side)
                    continue
                parts, fresh = chain.turns(before[:3], (name, executor))
                found.append(
                    Upgrade(
                        base=before[3], head=side, machine=machine, taken_at=datetime.now(UTC),
                        parts=parts,
                    )
                )  # fmt: skip
                record.save(results, found[-1])
                before = (name, executor, fresh, side)
    finally:
        shutil.rmtree(caches, ignore_errors=True)
    return found


def sides_of(
    texts: Sequence[str], flags: Sequence[str], pythons: Sequence[str], state: Path
) -> list[tuple[Side, Environment]]:
    """The subjects in their order, each with its flags and its environment. Raises SubjectError."""
    subjects = local_subjects(state)
    chosen: list[Subject] = []
    if len(pythons) <= 1:
        # Together, so that all get one Python where one fits all.
        chosen += subjects.parse_all(texts, (), next(iter(pythons), None))
    else:
        for text, python in zip_longest(texts, pythons):
            if text is None or python is None:
                raise SubjectError(
                    f"--python is given {len(pythons)} times for {len(texts)} subjects; "
                    "give it once, or once for each"
                )
            chosen += subjects.parse_all([text], (), python)
    if len(chosen) < 2:
        raise SubjectError("an upgrade needs at least two subjects; write e.g. 3.2.3 3.2.4")
    if len(flags) > len(chosen):
        raise SubjectError(
            f"--flags is given {len(flags)} times for {len(chosen)} subjects; give it at most "
            "once for each"
        )
    sides = []
    for one, added in zip_longest(chosen, flags):
        environment = environment_of(one, subjects, state)
        side = Side(subject=one, versions=environment.versions, flags=added or None)
        sides.append((side, environment))
    return sides
