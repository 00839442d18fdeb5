"""What a search for the subject that changed a metric found: `observatory bisect`.

``results/searches/<ends>-<cell and metric>.json``, schema ``docs/schemas/search-1.json``. The
measured values are samples in journals, as of any run; those of single graphs are not kept here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field, FiniteFloat

from observatory.store.base.moments import Moment
from observatory.store.base.record import Record, RecordFiles
from observatory.store.records.alerts import At, Change
from observatory.store.records.comparison import Cause
from observatory.store.records.layout import SEARCHES
from observatory.store.records.sample import Count, StoredCell, Text, Word

Certainty = Literal[
    "confirmed", "not measured again", "half measured again", "dependencies", "not reproduced"
]
"""What a second measurement of both sides of a change said, in new environments.

confirmed: the same change. half measured again: a side gave no value. dependencies: no change with
equal dependencies, and their versions had differed before. not reproduced: no change, either.
"""
_Hash = Annotated[str, Field(max_length=100)]


class BlamedCommit(Record):
    """A commit between the two sides of a change."""

    hash: _Hash
    author: Text
    date: Moment
    title: Text
    pull_request: Count | None = None
    files: list[Text] = Field([], max_length=2000)


class Culprit(Record):
    """Neighbours between which the value changes."""

    before: At
    after: At
    low: FiniteFloat = Field(description="the value before, as that of a probe")
    high: FiniteFloat = Field(description="the value after")
    certainty: Certainty
    again: tuple[FiniteFloat | None, FiniteFloat | None] | None = Field(
        None, description="both values when they were measured again; null: they were not"
    )
    skipped: list[Word] = Field(
        [], max_length=5000, description="in between, not measurable: each may be the culprit, too"
    )
    dependencies: dict[Word, tuple[Word, Word]] = Field(
        {}, description="packages whose versions differed when the values were first measured"
    )
    commits: list[BlamedCommit] = Field([], max_length=2000, description="the newest first")
    causes: list[Cause] = Field(
        [], max_length=1000, description="what the ledgers and profiles of both sides tell of it"
    )

    def is_of(self, change: Change) -> bool:
        """Whether a change lies between the same two subjects."""
        return change.ends == (self.before.commit, self.after.commit)


class Probe(Record):
    """A subject of the range whose value is known."""

    at: At
    value: FiniteFloat | None = Field(
        description="in the unit of the metric; of a time, its ratio to that of the first subject; "
        "null: it cannot be measured"
    )


class Searched(Record):
    """A search from the first to the last subject of a range."""

    schema_: Literal["observatory/search/1"] = Field("observatory/search/1", alias="schema")
    observatory: Word
    machine: Word
    cell: StoredCell
    metric: Word
    instead_of: Word | None = Field(
        None, description="the time that got worse, where its work was searched for"
    )
    graphs: list[Word] = Field(
        [], max_length=5000, description="the only graphs that were built; empty: all of the model"
    )
    good: At = Field(description="the first subject")
    bad: At = Field(description="the last subject")
    within: tuple[At, At] | None = Field(
        None, description="the releases between whose tags these commits lie"
    )
    subjects: Count = Field(description="in the range, both ends included")
    probes: list[Probe] = Field(max_length=10_000, description="along the range")
    measured: Count = Field(description="subjects that were measured for it; others were recorded")
    samples: Count = Field(0, description="samples that were taken for it")
    seconds: FiniteFloat = Field(0.0, ge=0, description="that it took")
    finished: bool = Field(True, description="false: its time was over")
    taken_at: Moment
    culprits: list[Culprit] = Field([], max_length=1000, description="along the range")

    def is_of(self, change: Change) -> bool:
        """Whether it looked for what made this change."""
        ranges = [(self.good, self.bad), *([self.within] if self.within else ())]
        mine = {(one.commit, other.commit) for one, other in ranges}
        mine |= {(one.before.commit, one.after.commit) for one in self.culprits}
        places = {(one.benchmark, one.metric) for one in change.series}
        metrics = {self.metric, self.instead_of}
        return change.ends in mine and any((str(self.cell), one) in places for one in metrics)

    def goes_on_from(self, other: Searched) -> bool:
        """Whether it looked for the same value between two neighbours that another one found."""
        same = (self.cell, self.metric) == (other.cell, other.metric)
        if not same or self.within is None:
            return False
        inside = tuple(one.commit for one in self.within)
        return inside in {(one.before.commit, one.after.commit) for one in other.culprits}


def of_change(searches: Iterable[Searched], change: Change) -> list[Searched]:
    """The searches for what made a change: those along releases first, then their commits.

    A range may have releases in between, whose commits were searched.
    """
    left, found = [*searches], list[Searched]()
    while more := [one for one in left if one.is_of(change) or any(map(one.goes_on_from, found))]:
        found += more
        left = [one for one in left if one not in more]
    return sorted(found, key=lambda one: (one.within is not None, one.taken_at))


def _name(one: Searched) -> str:
    what = hashlib.sha256(f"{one.cell}\0{one.metric}\0{one.machine}".encode()).hexdigest()
    return f"{one.good.commit[:10]}-{one.bad.commit[:10]}-{what[:10]}"


FILES = RecordFiles(
    Searched, SEARCHES, _name, "is no search", "run `observatory bisect` again; values are kept"
)
"""One for each range, cell and metric; a newer one replaces the older one."""
path_of, save, load_all = FILES.path_of, FILES.save, FILES.load_all
readable = FILES.readable
