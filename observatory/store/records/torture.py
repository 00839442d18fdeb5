"""What became of PyTensor's caches under faults: ``results/torture/*.json``.

One file for each PyTensor, numba and Python that `observatory torture` tried on a machine, schema
``docs/schemas/torture-1.json``. Tried again, it is replaced.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import AwareDatetime, Field, FiniteFloat

from observatory.store.base.problems import RecordError
from observatory.store.base.record import Record, RecordFiles
from observatory.store.records.layout import TORTURE, checked_machine, checked_name
from observatory.store.records.sample import Count, Text, Word
from observatory.store.records.subject import Subject

Verdict = Literal["safe", "recompiles", "slower", "raises", "hangs", "dies", "WRONG"]
"""From the best to the worst; `dies`: a signal ended the process."""
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
FOREIGN = "foreign"
"""The group of caches that somebody else filled: to compile again is as right as to use them."""
CONTROL = "control"
"""The group of faults that no cache can withstand: they show that a wrong value is seen."""


class Outcome(Record):
    """Steps of a fault that came out alike."""

    verdict: Verdict
    after: Verdict = Field(description="of the next processes, when the fault itself is over")
    detail: Text = Field(description="an exception, a wrong value, or counts")
    cases: Count
    steps: Text = Field(description="the first and the last of them")
    left: int | None = Field(
        None,
        ge=-1_000_000,
        le=1_000_000,
        description="files and directories in the cache after the next processes, beyond those "
        "that are there without the fault, the most of all steps; negative: some are missing; "
        "null: they were not counted",
    )
    warned: Count | None = Field(
        None,
        description="warnings of the processes that met the fault, the most of all steps; null: "
        "they were not counted",
    )


class Fault(Record):
    """One fault of the catalogue, and what became of it."""

    name: Word
    cache: Word = Field(description="numba or c")
    group: Word
    what: Text = Field(description="what was done, as a sentence without its end")
    certain: bool = Field(description="whether the worst verdict is the same in each run")
    verdict: Verdict | None = Field(description="the worst of its steps; null: it was not tried")
    after: Verdict | None
    outcomes: list[Outcome] = Field(max_length=1_000, description="the worst first")
    skipped: Text = Field(description="why it was not tried; empty if it was")
    seconds: Annotated[FiniteFloat, Field(ge=0)]

    @property
    def key(self) -> tuple[str, str]:
        """The cache and the name, which together name a fault."""
        return self.cache, self.name

    @property
    def cases(self) -> int:
        """How many steps were tried."""
        return sum(one.cases for one in self.outcomes)

    @property
    def warned(self) -> int:
        """The most warnings of its steps, usual ones included; 0 where nobody counted."""
        return max((one.warned or 0 for one in self.outcomes), default=0)

    @property
    def left(self) -> int:
        """How many files and directories too many stay in the cache; 0 where nobody counted."""
        return max((one.left or 0 for one in self.outcomes), default=0)

    @property
    def rank(self) -> tuple[int, int]:
        """How bad it is: the verdict on the process, then that on the next ones; (-1, -1): untried.

        >>> one = dict(name="x", cache="c", group="files", what="", certain=True, outcomes=[],
        ...            skipped="", seconds=0)
        >>> Fault(verdict="raises", after="safe", **one).rank
        (3, 0)
        """
        if self.verdict is None or self.after is None:
            return -1, -1
        return VERDICTS.index(self.verdict), VERDICTS.index(self.after)


class Tried(Record):
    """Whose caches they were, and where, as far as the environment itself cannot tell."""

    subject: Subject
    machine: Word
    others: dict[Word, Text] = Field(
        default_factory=dict,
        description="versions of what filled caches in faults such as `of_python`: python, numba "
        "and pytensor; the fault of one that is missing was imitated, or not tried",
    )


class Torture(Record):
    """The faults of one PyTensor on one machine."""

    schema_: Literal["observatory/torture/1"] = Field("observatory/torture/1", alias="schema")
    tried: Tried | None = Field(None, description="null as printed by the primitive")
    environment: dict[Word, Text | None] = Field(description="versions and platform, as strings")
    steps: Count = Field(description="steps of a fault, at most")
    faults: list[Fault] = Field(max_length=1_000)
    seconds: Annotated[FiniteFloat, Field(ge=0)] = Field(
        description="of the last run, which may have gone on with one that was interrupted; in "
        "older records, of one run for each cache, added up"
    )
    cpu_seconds: Annotated[FiniteFloat, Field(ge=0)] = Field(
        description="of all processes of the last run; each cache can have a run of its own"
    )
    load: Annotated[FiniteFloat, Field(ge=0)] = Field(description="of the machine, at the end")
    started_at: AwareDatetime
    left: Count = Field(
        0,
        description="faults that are left for a later run, because the time was over; such a "
        "record is not saved",
    )

    @property
    def minutes(self) -> float:
        """What the faults took, added up; both caches are tried at the same time."""
        return sum(one.seconds for one in self.faults) / 60

    def of(self, *verdicts: Verdict) -> Iterator[Fault]:
        """The faults with one of these verdicts, or after which another process has one.

        The controls are left out: they have to be wrong.
        """
        for one in self.faults:
            if one.group != CONTROL and (one.verdict in verdicts or one.after in verdicts):
                yield one

    @property
    def nothing_tried(self) -> bool:
        """Whether none of the faults could be tried: then nothing is known."""
        return all(one.verdict is None for one in self.faults)

    @property
    def blind(self) -> list[Fault]:
        """The controls that came out as anything but wrong: then the others say nothing."""
        return [
            one for one in self.faults
            if one.group == CONTROL and one.verdict not in ("WRONG", None)
        ]  # fmt: skip


def _name(record: Torture) -> str:
    if record.tried is None:
        raise RecordError("it does not say which subject it is of")
    subject, machine = record.tried.subject, checked_machine(record.tried.machine)
    place = subject.env_name.removeprefix("observatory-")
    name = f"{machine}-{subject.label.partition(' ')[0]}-{place}"
    return checked_name(name, "name of a record of faults")


FILES = RecordFiles(
    Torture,
    TORTURE,
    _name,
    "is no record of caches under faults",
    "run `observatory torture` again",
    moment="started_at",
)
"""One for each subject and machine; a newer one replaces the older one."""
path_of, save, load_all = FILES.path_of, FILES.save, FILES.load_all
readable = FILES.readable


def is_recorded(
    results: Path, subject: Subject, machine: str, steps: int, caches: Iterable[str]
) -> bool:
    """Whether there is a record of these caches of a subject on a machine with as many steps."""
    asked = set(caches)
    for one in readable(results):
        if one.tried is not None and one.steps == steps:
            known = one.tried.subject
            same = known.commit == subject.commit and known.env_name == subject.env_name
            covered = asked <= {fault.cache for fault in one.faults}
            if same and covered and one.tried.machine == machine:
                return True
    return False


def load(results: Path, like: Torture) -> Torture | None:
    """The record of the same subject and machine; None if there is none. Raises RecordError."""
    return FILES.load(path_of(results, like))


def with_other_cache(new: Torture, old: Torture | None) -> Torture:
    """A record of one cache with what an older one says of the other, if the steps are as fine."""
    if old is None or old.steps != new.steps:
        return new
    own = {one.cache for one in new.faults}
    others = [one for one in old.faults if one.cache not in own]
    return new.model_copy(update={"faults": [*new.faults, *others]})
