"""What a long call reports while it runs: updates, each of which prints as one line.

A function that takes ``progress`` calls it with every update. ``progress=print`` is enough for a
notebook; the commands draw a bar.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from benchmarks.plan import Task
from observatory.store.base.problems import Problem
from observatory.store.records.sample import Sample
from observatory.text.units import seconds

_SHOWN_PROBLEMS = 10


@dataclass(frozen=True)
class Message:
    """Something that a person should read now."""

    text: str
    kind: Literal["plain", "warning", "error"] = "plain"

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Activity:
    """What is under way; it replaces the activity before. An empty text: nothing is any more."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class RunBegins:
    """The samples of one subject are about to be taken."""

    label: str
    tasks: tuple[Task, ...]
    workers: int
    """How many counting samples are taken side by side."""

    def __str__(self) -> str:
        return f"{self.label}: {len(self.tasks)} samples"


@dataclass(frozen=True)
class SampleBegins:
    """One sample of a run is being taken."""

    task: Task

    def __str__(self) -> str:
        return f"{self.task.cell} {self.task.measure}: begins"


@dataclass(frozen=True)
class SampleEnds:
    """One sample of a run was taken and recorded, whatever its status is."""

    task: Task
    sample: Sample
    took: float
    """Seconds."""

    def __str__(self) -> str:
        return (
            f"{self.task.cell} {self.task.measure}: {failure_of(self.sample) or 'taken'}, "
            f"{seconds(self.took)}"
        )


@dataclass(frozen=True)
class RunEnds:
    """The run is over, or was interrupted."""

    label: str

    def __str__(self) -> str:
        return f"{self.label}: done"


Update = Message | Activity | RunBegins | SampleBegins | SampleEnds | RunEnds
Progress = Callable[[Update], None]


def silent(_: Update) -> None:
    """Report nothing: the default of every function that takes ``progress``."""


def failure_of(sample: Sample) -> str:
    """Why a sample failed, in words; empty if it did not."""
    if sample.status in ("ok", "unavailable"):
        return ""
    return f"{sample.status}: {sample.failure.message if sample.failure else sample.status}"


def skipped(problems: Sequence[Problem]) -> Iterator[str]:
    """What could not be read, a line for each of the first ten and one for the others."""
    for problem in problems[:_SHOWN_PROBLEMS]:
        yield f"skipped: {problem}"
    if len(problems) > _SHOWN_PROBLEMS:
        yield f"skipped: and {len(problems) - _SHOWN_PROBLEMS} more"
