"""What is worse with other settings of a process, and was not with the subject before it. Pure."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from observatory.analyze.history.faults import about
from observatory.analyze.statements import Occurrence, Statement, id_of, over_by
from observatory.store.records.alerts import At, Change, at_of
from observatory.store.records.settings import Row, Settings

SETTINGS = "worse with other settings"
"""The kind of the alerts."""
_Excess = Mapping[str, Mapping[str, float]]
"""By row and count, by how much it is above the usual one. A failure is infinitely much above."""


class _Worse(NamedTuple):
    """A count, or the sentence of a failure, that is further above the usual one than before."""

    row: Row
    what: str
    by: float
    before: float


def settings_changes(records: Iterable[Settings]) -> Iterator[Occurrence]:
    """What got worse from one subject to the next: one change for each subject.

    The first subject of a machine and environment is compared with what is right. A change is over
    when every row gives no more than before it.
    """
    lines: dict[tuple[str, str], list[Settings]] = defaultdict(list)
    for one in records:
        lines[one.machine.machine, one.subject.env_name].append(one)
    for _, unordered in sorted(lines.items()):
        line = sorted(unordered, key=lambda one: (one.subject.date, one.subject.commit))
        excesses = list(map(_excess, line))
        for at, record in enumerate(line):
            before = excesses[at - 1] if at else {}
            worse = [
                _Worse(row, what, by, was)
                for row in record.rows
                for what, by in excesses[at][row.name].items()
                if by > (was := _of(before, row, what))
            ]
            if worse:
                later = zip(line[at + 1 :], excesses[at + 1 :], strict=True)
                after = [(at_of(one.subject), excess) for one, excess in later]
                yield _change(line[at - 1] if at else None, record, worse, after)


def settings_records(records: Iterable[Settings]) -> dict[tuple[str, str], int]:
    """Which records there are, as `fault_records` has them; they have no steps."""
    return {
        (SETTINGS, about(f"{o.machine.machine}, {o.subject.env_name}", at_of(o.subject))): 0
        for o in records
    }


def _excess(record: Settings) -> _Excess:
    usual = record.rows[0]
    found: dict[str, dict[str, float]] = {}
    for row in record.rows:
        than = None if row is usual else usual
        failures = dict.fromkeys(row.failed(than), math.inf)
        found[row.name] = row.above(than) | failures
    return found


def _of(excess: _Excess, row: Row, what: str) -> float:
    """That of one row; of the worst one if there was no such row, as with fewer settings."""
    rows = [excess[row.name]] if row.name in excess else excess.values()
    return max((own.get(what, 0.0) for own in rows), default=0.0)


def _change(
    good: Settings | None, bad: Settings, worse: Sequence[_Worse],
    later: Sequence[tuple[At, _Excess]],
) -> Occurrence:  # fmt: skip
    first, last = at_of(bad.subject), None if good is None else at_of(good.subject)
    place = f"{bad.machine.machine}, {bad.subject.env_name}"
    change = Change(
        id=id_of(SETTINGS, place, first.commit), kind=SETTINGS,
        about=about(place, first),
        sentence="", last_good=last, first_bad=first, between=0,
    )  # fmt: skip
    told: dict[str, list[_Worse]] = defaultdict(list)
    for one in worse:
        told[one.what].append(one)
    parts = [
        (what, max(one.by for one in own), shared_settings([one.row for one in own]), len(own))
        for what, own in told.items()
    ]
    rows = len({one.row.name for one in worse})
    values = first.label, rows, parts, "" if last is None else last.label
    recovered = over_by([_over(one, later) for one in worse])
    return Occurrence(change, True, Statement("worse with other settings", values), recovered)


def shared_settings(rows: Sequence[Row]) -> list[str]:
    """The settings that all rows have, in the order of the first; there is at least one row."""
    return [one for one in rows[0].settings if all(one in row.settings for row in rows)]


def _over(one: _Worse, later: Iterable[tuple[At, _Excess]]) -> At | None:
    return next((at for at, own in later if _of(own, one.row, one.what) <= one.before), None)
