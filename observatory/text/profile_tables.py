"""Tables of what builds did: of one subject, and of what another one does differently."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from observatory.analyze.profiles.cells import (
    CellProfile,
    difference_of,
    memory_of,
    pass_times_of,
    phase_times_of,
)
from observatory.store.records.profile import ImportedModule, PartChange, Rewriter
from observatory.text.tables import Table
from observatory.text.units import MISSING, change, count, difference, human, percent, seconds

_LLVM_PASSES = "CPU seconds of LLVM passes, with the analyses that they ask for"
_MOST = 20
"""Rows of a table."""
_LONGER, _MUCH_LONGER = 0.01, 1.5
"""Seconds, and the ratio: of two samples, a module takes less than these longer by chance."""


def profile_tables(one: CellProfile) -> Iterator[Table]:
    """The phases, passes, rewriters and functions of one cell of a subject, the largest first."""
    found, times = one.typical, one.seconds
    calls = {phase.name: phase.calls for phase in found.phases} if found else {}
    names = sorted(
        {*times, *calls},
        key=lambda name: (-times.get(name, 0.0), -(calls.get(name) or 0), name),
    )
    yield Table(
        "Phases, each without those inside it", ("phase", "seconds", "calls"),
        tuple(
            (name, human(times.get(name), "seconds"), human(calls.get(name), "calls"))
            for name in names
        ),
    )  # fmt: skip
    if one.llvm_passes:
        longest = tuple(
            (each.name, each.phase, human(each.seconds, "seconds"), human(each.runs, "calls"))
            for each in one.llvm_passes[:_MOST]
        )
        yield Table(_LLVM_PASSES, ("LLVM pass", "phase", "seconds", "runs"), longest)
    yield from _rewriters(one)
    if one.raised:
        peaks = (
            (name, human(size, "bytes"))
            for name, size in sorted(one.memory.items(), key=lambda item: (-item[1], item[0]))
            if size
        )  # fmt: skip
        yield Table(
            "Memory: by how much each phase raises the peak", ("phase", "bytes"), tuple(peaks)
        )
    if found is None or found.tree is None:
        return
    entered = sorted(found.tree.entered.items(), key=lambda pair: (-pair[1], pair[0]))[:_MOST]
    yield Table("Functions", ("function", "entered"), tuple((f, count(n)) for f, n in entered))


def _rewriters(one: CellProfile) -> Iterator[Table]:
    """The rewriters that took longest, or called most where nothing was timed."""
    traced = {each.name: each for each in one.typical.rewriters} if one.typical else {}
    none = Rewriter(name="")
    both = [
        (name, one.rewriters.get(name, none), traced.get(name, none))
        for name in {**one.rewriters, **traced}
    ]
    both.sort(key=lambda row: (-(row[1].seconds or 0.0), -(row[2].calls or 0), row[0]))
    rows = tuple(
        (name, human(timed.seconds, "seconds"), human(timed.applications, "calls"),
         human(timed.nodes_created, "nodes"), human(entered.tries, "calls"),
         human(entered.calls, "calls"))
        for name, timed, entered in both[:_MOST]
    )  # fmt: skip
    if rows:
        header = ("rewriter", "seconds", "applied", "nodes created", "entered", "calls")
        yield Table("Rewriters, each with all that happens inside it", header, rows)


def difference_tables(base: CellProfile, head: CellProfile) -> Iterator[Table]:
    """What both cells did in seconds and in calls, the parts that changed most first.

    Shares are those of all that was added, or of all that was saved.
    """
    times = phase_times_of(base, head)
    if times:
        rows = (
            (time.name, human(time.base, "seconds"), human(time.head, "seconds"),
             difference(time.base, time.head, "seconds"))
            for time in times
        )  # fmt: skip
        header = ("phase", "BASE", "HEAD", "change")
        yield Table("Seconds of phases, each without those inside it", header, tuple(rows))
    if passes := pass_times_of(base, head):
        largest = sorted(passes, key=lambda one: (-abs(one.head - one.base), one.name))[:_MOST]
        changed = tuple(
            (one.name, one.phase, human(one.base, "seconds"), human(one.head, "seconds"),
             difference(one.base, one.head, "seconds"),
             change(one.base_runs, one.head_runs, "calls"))
            for one in largest
        )  # fmt: skip
        columns = ("LLVM pass", "phase", "BASE", "HEAD", "change", "runs")
        yield Table(_LLVM_PASSES, columns, changed)
    if memory := memory_of(base, head):
        compared = (
            (one.name, human(one.base, "bytes"), human(one.head, "bytes"),
             difference(one.base, one.head, "bytes"))
            for one in memory if one.base or one.head
        )  # fmt: skip
        title = "Memory: by how much each phase raises the peak"
        yield Table(title, ("phase", "BASE", "HEAD", "change"), tuple(compared))
    found = difference_of(base, head)
    if found is None:
        return
    yield _changed("Calls by phase", "phase", found.phases)
    yield _changed("Rewriters that grew or shrank", "rewriter", found.rewriters)
    yield _changed("Functions with which the change begins", "function", found.functions)


def import_tables(sides: Sequence[Sequence[ImportedModule]]) -> Iterator[Table]:
    """The modules with most own time; of two subjects those that take longer in HEAD, or are new.

    Each side is one sample, so a module is shown if it takes at least `_LONGER` more and
    `_MUCH_LONGER` times as long. There is no table if a side does not know what it imports.
    """
    if not all(sides):
        return
    before, after = ({one.name: one.seconds for one in side} for side in (sides[0], sides[-1]))
    if len(sides) == 1:
        largest = sorted(after.items(), key=lambda item: (-item[1], item[0]))[:_MOST]
        rows = tuple((name, seconds(own)) for name, own in largest)
        yield Table("Imports by own time", ("module", "seconds"), rows)
        return
    grown = {name: own - before.get(name, 0.0) for name, own in after.items()}
    longer = sorted(grown, key=lambda name: (-grown[name], name))[:_MOST]
    compared = tuple(
        (name, human(before.get(name), "seconds"), seconds(after[name]), seconds(grown[name]))
        for name in longer
        if grown[name] >= _LONGER and after[name] >= _MUCH_LONGER * before.get(name, 0.0)
    )  # fmt: skip
    yield Table(
        "Imports whose own time is longer, in one sample of each subject",
        ("module", "BASE", "HEAD", "more"),
        compared,
    )


def _changed(title: str, kind: str, parts: Sequence[PartChange]) -> Table:
    largest = sorted(parts, key=lambda part: (-abs(part.calls), part.name))[:_MOST]
    rows = tuple(
        (part.name, MISSING if part.new else count(part.base), count(part.head) if part.head else
         MISSING, f"{part.calls:+,}".replace("-", "\N{MINUS SIGN}"), percent(abs(part.share)))
        for part in largest
    )  # fmt: skip
    noun = "calls of it" if kind == "phase" else "entered"
    return Table(title, (kind, f"{noun}, BASE", "HEAD", "calls", "share"), rows)
