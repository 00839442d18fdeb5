"""Tables of what builds did: of one subject, and of what another one does more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from observatory.analyze.profiles.cells import CellProfile, difference_of, phase_times_of
from observatory.store.records.profile import PartChange
from observatory.text.tables import Table
from observatory.text.units import MISSING, count, difference, human, percent

_MOST = 20
"""Rows of a table."""


def profile_tables(one: CellProfile) -> Iterator[Table]:
    """The phases, the rewriters and the functions of one cell of a subject, the largest first."""
    found, seconds = one.typical, one.seconds
    calls = {phase.name: phase.calls for phase in found.phases} if found else {}
    names = sorted({*seconds, *calls}, key=lambda name: (-seconds.get(name, 0.0), name))
    yield Table(
        "Phases, each without those inside it", ("phase", "seconds", "calls"),
        tuple(
            (name, human(seconds.get(name), "seconds"), human(calls.get(name), "calls"))
            for name in names
        ),
    )  # fmt: skip
    if found is None or found.tree is None:
        return
    rewriters = tuple(
        (one.name, human(one.tries, "calls"), human(one.calls, "calls"))
        for one in found.rewriters[:_MOST]
    )
    yield Table("Rewriters", ("rewriter", "entered", "calls"), rewriters)
    entered = sorted(found.tree.entered.items(), key=lambda pair: (-pair[1], pair[0]))[:_MOST]
    yield Table("Functions", ("function", "entered"), tuple((f, count(n)) for f, n in entered))


def difference_tables(base: CellProfile, head: CellProfile) -> Iterator[Table]:
    """What both cells did in seconds and in calls, the parts that grew most first."""
    times = phase_times_of(base, head)
    if times:
        rows = (
            (time.name, human(time.base, "seconds"), human(time.head, "seconds"),
             difference(time.base, time.head, "seconds"))
            for time in times
        )  # fmt: skip
        header = ("phase", "BASE", "HEAD", "change")
        yield Table("Seconds of phases, each without those inside it", header, tuple(rows))
    found = difference_of(base, head)
    if found is None:
        return
    yield _grown("Calls by phase", "phase", found.phases)
    yield _grown("Rewriters that grew or shrank", "rewriter", found.rewriters)
    yield _grown("Functions with which additional calls begin", "function", found.functions)


def _grown(title: str, kind: str, parts: Sequence[PartChange]) -> Table:
    rows = tuple(
        (part.name, MISSING if part.new else count(part.base), count(part.head),
         f"{part.calls:+,}".replace("-", "\N{MINUS SIGN}"), percent(part.share))
        for part in [one for one in parts if one.calls > 0][:_MOST]
    )  # fmt: skip
    noun = "calls of it" if kind == "phase" else "entered"
    return Table(title, (kind, f"{noun}, BASE", "HEAD", "calls", "share"), rows)
