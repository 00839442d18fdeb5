"""Which faults a release withstands worse than the one before it. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from observatory.analyze.statements import Occurrence, Statement, id_of, over_by
from observatory.store.records.alerts import At, Change, at_of
from observatory.store.records.torture import FOREIGN, VERDICTS, Fault, Torture

FAULTS = "worse under faults"
"""The kind of the alerts."""
_Key = tuple[str, str]


@dataclass(frozen=True)
class Moved:
    """A fault whose verdict is not what it was."""

    before: Fault
    after: Fault

    @property
    def worse(self) -> bool:
        """Whether the newer of the two is the worse one.

        Whether the entry of another PyTensor or Python is used depends on both, and either is
        right.
        """
        both = (*self.before.rank, *self.after.rank)
        if self.after.group == FOREIGN and max(both) <= VERDICTS.index("recompiles"):
            return False
        return self.after.rank > self.before.rank


def moved(before: Torture, after: Torture) -> list[Moved]:
    """The faults that two subjects withstand differently, in the order of the catalogue.

    A fault is left out if one of the records did not try it or says that chance decides it.
    """
    old, new = (
        {one.key: one for one in record.faults if one.certain and one.verdict is not None}
        for record in (before, after)
    )
    return [
        Moved(old[key], one) for key, one in new.items() if key in old and one.rank != old[key].rank
    ]


def lines_of(records: Iterable[Torture]) -> Iterator[list[Torture]]:
    """The records of each machine and environment, the oldest subject first.

    Finer steps find more: records with other numbers of steps are not compared.
    """
    found: dict[tuple[str, str, int], list[Torture]] = defaultdict(list)
    for one in records:
        if one.tried is not None:
            found[one.tried.machine, one.tried.subject.env_name, one.steps].append(one)
    for _, own in sorted(found.items()):
        yield sorted(own, key=_date)


def fault_records(records: Iterable[Torture]) -> dict[tuple[str, str], int]:
    """The number of steps of each record, by the kind of its alerts and by what they are about."""
    return {
        (FAULTS, about(f"{at.machine}, {at.subject.env_name}", at_of(at.subject))): one.steps
        for one in records
        if (at := one.tried) is not None
    }


def about(place: str, at: At) -> str:
    """What an alert on the records of a subject is about; ``place``: machine and environment."""
    return f"{place}, {at.label}"[:4000]


def before_it(record: Torture, records: Iterable[Torture]) -> Torture | None:
    """The record of the newest subject before that of a record, of the same machine and Python."""
    line = next((own for own in lines_of([record, *records]) if record in own), [])
    older = [one for one in line if _date(one) < _date(record)]
    return older[-1] if older else None


def fault_changes(records: Iterable[Torture]) -> Iterator[Occurrence]:
    """What got worse from one subject to the next: one change for each subject.

    It is over when every fault is withstood again as it was before it.
    """
    for line in lines_of(records):
        for number, (before, after) in enumerate(pairwise(line), start=1):
            worse = [one for one in moved(before, after) if one.worse]
            if worse:
                yield _change(before, after, worse, line[number + 1 :])


def _change(
    before: Torture, after: Torture, worse: Sequence[Moved], later: Sequence[Torture]
) -> Occurrence:
    assert before.tried is not None
    assert after.tried is not None
    good, bad = at_of(before.tried.subject), at_of(after.tried.subject)
    place = f"{after.tried.machine}, {after.tried.subject.env_name}"
    change = Change(
        id=id_of(FAULTS, place, bad.commit), kind=FAULTS, about=about(place, bad),
        sentence="", last_good=good, first_bad=bad, between=0,
    )  # fmt: skip
    told = [
        (one.after.cache, one.after.what, one.after.verdict, one.after.after,
         one.before.verdict, one.before.after)
        for one in worse
    ]  # fmt: skip
    recovered = over_by([_over(one, later) for one in worse])
    return Occurrence(change, True, Statement("worse under faults", (bad.label, told, good.label)),
                      recovered)  # fmt: skip


def _over(one: Moved, later: Sequence[Torture]) -> At | None:
    for record in later:
        found = _by_key(record).get(one.after.key)
        if found is None or found.verdict is None or record.tried is None:
            continue
        if found.rank <= one.before.rank:
            return at_of(record.tried.subject)
    return None


def _by_key(record: Torture) -> Mapping[_Key, Fault]:
    return {one.key: one for one in record.faults}


def _date(record: Torture) -> tuple[datetime, str]:
    assert record.tried is not None
    return record.tried.subject.date, record.tried.subject.commit
