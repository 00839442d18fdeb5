"""A run that begins or goes on: which one it is, and that only one process takes its samples."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from observatory.errors import ObservatoryError
from observatory.store.base.locking import holder_of, locked_at_once
from observatory.store.journal.models import plan_of
from observatory.store.journal.values import comparable
from observatory.store.journal.writer import Journal
from observatory.store.records.sample import Sample


class RunningError(ObservatoryError):
    """Another process takes the samples of the run that was to be continued."""


@dataclass(frozen=True)
class Place:
    """Where the filled caches of runs lie, and the name of those of one environment and CPU."""

    root: Path
    name: str

    def of(self, run: str) -> Path:
        """The directory of a run; the process that goes on with it holds its lock."""
        return self.root / run / self.name


@dataclass(frozen=True)
class Run:
    """A run with which only this process goes on: its id, its directory, its samples so far."""

    id: str
    caches: Path
    taken: list[Sample]


@contextlib.contextmanager
def only_here(journal: Journal, new: str, resume: bool, place: Place) -> Iterator[Run]:
    """The run to continue, or the ``new`` one if there is none or none is wanted.

    Its directory is made and locked until the block ends. Raises RunningError if another process
    holds that lock, and OSError.
    """
    while True:
        run, _ = _where_it_stopped(journal, new, resume)
        caches = place.of(run)
        with locked_at_once(caches) as ours:
            if not ours:
                by = holder_of(caches)
                who = "another process" if by is None else f"process {by}"
                raise RunningError(
                    f"{who} takes the samples of run {run} of {journal.header.subject.label}: wait "
                    "until it has ended, or leave out --resume to begin another run"
                )
            # Whoever held the lock until now may have taken samples since.
            again, taken = _where_it_stopped(journal, new, resume)
            if again == run:
                yield Run(run, caches, taken)
                return
            discard(caches)


def discard(caches: Path) -> None:
    """Remove the directory of a run."""
    shutil.rmtree(caches, ignore_errors=True)
    with contextlib.suppress(OSError):  # the caches of other subjects may still be needed
        caches.parent.rmdir()


def _where_it_stopped(journal: Journal, new: str, resume: bool) -> tuple[str, list[Sample]]:
    """The run to continue and its samples; the ``new`` one if there is none or none is wanted."""
    if not resume or not journal.path.exists():
        return new, []
    # The environment may have changed since, and another plan may have been measured meanwhile.
    entries = [
        entry
        for entry in journal.read().entries
        if comparable(journal.header, entry) and plan_of(entry.run) in ("", plan_of(new))
    ]
    if not entries:
        return new, []
    last = max(entry.run for entry in entries)
    return last, [entry.sample for entry in entries if entry.run == last]
