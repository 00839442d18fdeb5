"""Check subjects that use the cache of another subject, as after an upgrade."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import pairwise, zip_longest

from observatory.app import implementations
from observatory.app.session import Session
from observatory.benchmarks.catalogue import Cell
from observatory.run.environments import Environment
from observatory.run.execute import Executor
from observatory.run.filled import filled_caches
from observatory.run.local import measuring_lock
from observatory.run.sources import SubjectError
from observatory.run.upgrade import Chain
from observatory.store.records import upgrades as record
from observatory.store.records.sample import Sample
from observatory.store.records.subject import Subject
from observatory.store.records.upgrades import Side, Upgrade


def upgrade(
    session: Session, sides: Sequence[tuple[Side, Environment]], cells: Sequence[Cell]
) -> list[Upgrade]:
    """Let each subject use the cache that the one before it left, and then that one again.

    Returns a record for each pair of neighbours, in order. Each is saved in RESULTS/upgrades at
    once.
    """

    def took(name: str, sample: Sample) -> None:
        session.say(f"{name} {sample.cell.model} {sample.cell.backend}: {sample.status}")

    chain = Chain(cells, took)
    found: list[Upgrade] = []
    with filled_caches(session.state, "upgrade") as caches, measuring_lock(session.say):
        before: tuple[str, Executor, dict[Cell, Sample], Side] | None = None
        for number, (side, environment) in enumerate(sides):
            executor = Executor(
                environment, caches, session.timeout, flags=_flags(side),
                variables=_variables(side),
            )  # fmt: skip
            name = f"{number + 1}-{side.subject.label.replace(' ', '_').replace('/', '_')}"
            if before is None:
                before = (name, executor, chain.first(name, executor), side)
                continue
            parts, fresh = chain.turns(before[:3], (name, executor))
            made = Upgrade(
                base=before[3], head=side, machine=session.machine,
                taken_at=datetime.now(UTC), parts=parts,
            )  # fmt: skip
            record.save(session.results, made)
            found.append(made)
            before = (name, executor, fresh, side)
    return found


def under_the_same_version(
    say: Callable[[str], None], sides: Sequence[tuple[Side, Environment]]
) -> list[str]:
    """A warning for each step that changes the code of Ops and not its version.

    ``say`` is told where sources cannot be read.
    """
    return [
        warning
        for (old, base), (new, head) in pairwise(sides)
        if base.python != head.python
        for warning in implementations.between(
            say, base, head, (old.subject.label, new.subject.label)
        )
    ]


def _flags(side: Side) -> str | None:
    """The PYTENSOR_FLAGS of a side: its own, and those by which a compiler makes its code."""
    target = f"gcc__cxxflags=-march={side.cpu}" if side.cpu else None
    return ",".join(filter(None, (side.flags, target))) or None


def _variables(side: Side) -> dict[str, str]:
    return {"NUMBA_CPU_NAME": side.cpu, "NUMBA_CPU_FEATURES": ""} if side.cpu else {}


def sides_of(
    session: Session,
    texts: Sequence[str],
    flags: Sequence[str],
    pythons: Sequence[str],
    cpus: Sequence[str] = (),
) -> list[tuple[Side, Environment]]:
    """The subjects in order, each with its flags and its environment. Raises SubjectError."""
    subjects = session.subjects
    chosen: list[Subject] = []
    if len(pythons) <= 1:
        # Parsed together, all get the same Python if one fits all.
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
    for option, given in (("--flags", flags), ("--cpu", cpus)):
        if len(given) > len(chosen):
            raise SubjectError(
                f"{option} is given {len(given)} times for {len(chosen)} subjects; give it at most "
                "once for each"
            )
    sides = []
    for one, added, cpu in zip_longest(chosen, flags, cpus):
        environment = session.environment(one)
        versions = environment.versions
        side = Side(subject=one, versions=versions, flags=added or None, cpu=cpu or None)
        sides.append((side, environment))
    return sides
