"""The updates that a long call reports while it runs.

A function that takes ``progress`` calls it with every `Update`. In a notebook ``progress=print`` is
enough; the commands draw a bar.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from observatory.store.base.problems import Problem

if TYPE_CHECKING:  # its import takes as long as all else that a short command does
    from observatory.store.records.sample import Sample

_SHOWN_PROBLEMS = 10


@dataclass(frozen=True)
class Update:
    """A line of text about a call that is running."""

    text: str
    kind: Literal["plain", "warning", "error", "sample", "activity"] = "plain"
    """A ``sample`` was taken without an error. An ``activity`` is what happens now; it replaces
    the activity before it, and an empty text ends it."""
    done: int = 0
    """Number of samples taken so far, of ``total``."""
    total: int | None = None

    def __str__(self) -> str:
        return self.text


Progress = Callable[[Update], None]


@contextmanager
def doing(progress: Progress, text: str) -> Iterator[None]:
    """Report that something goes on until the block ends; ``text`` says what, e.g. "reading x"."""
    progress(Update(text, "activity"))
    try:
        yield
    finally:
        progress(Update("", "activity"))


def silent(_: Update) -> None:
    """Report nothing: the default of every function that takes ``progress``."""


def failure_of(sample: Sample) -> str:
    """Why a sample failed, in words; empty if it did not fail."""
    if sample.status in ("ok", "unavailable"):
        return ""
    return f"{sample.status}: {sample.failure.message if sample.failure else sample.status}"


def skipped(problems: Sequence[Problem]) -> Iterator[str]:
    """What could not be read: a line for each of the first ten problems, and one for the others."""
    for problem in problems[:_SHOWN_PROBLEMS]:
        yield f"skipped: {problem}"
    if len(problems) > _SHOWN_PROBLEMS:
        yield f"skipped: and {len(problems) - _SHOWN_PROBLEMS} more"
