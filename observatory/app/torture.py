"""Inject faults into the caches of subjects, record it, and say what got worse."""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from observatory.analyze.history.faults import Moved, before_it, moved
from observatory.app.progress import Progress, Update, silent
from observatory.errors import Exit
from observatory.run.environments import EnvironmentMakingError
from observatory.run.local import environment_of, measuring_lock
from observatory.run.others import OTHERS, others_of
from observatory.run.subjects import Subjects
from observatory.run.torture import DEFAULT_STEPS, TortureError, journal_of, torture
from observatory.store.records import torture as record
from observatory.store.records.subject import Subject
from observatory.store.records.torture import Torture
from observatory.text.torture import CACHES, counted, left_over


@dataclass
class Tortures:
    """The subjects into whose caches faults are injected, one after another."""

    subjects: Subjects
    state: Path
    results: Path
    machine: str
    only: Sequence[str] = ()
    """The names of faults; none: all. A record of some only is not saved."""
    steps: int | None = None
    cache: str | None = None
    """Only the faults of numba or c; what is recorded of the other cache stays."""
    new: bool = False
    """Whether a subject that is recorded already is left out."""
    stored: Path | None = None
    """Further results that say what is recorded."""
    budget: float = math.inf
    """Seconds for all subjects; faults that are left are tried by the next run."""
    progress: Progress = silent
    records: list[Torture] = field(default_factory=list)
    undecided: list[str] = field(default_factory=list)
    worse: list[tuple[Torture, list[Moved]]] = field(default_factory=list)
    """What got worse from the subject before, as far as that is recorded."""

    def try_all(self, chosen: Sequence[Subject]) -> None:
        """Try the faults of every subject. One that cannot be tried is reported, nothing raised."""
        deadline = time.monotonic() + self.budget
        for subject in chosen:
            if self.new and self._is_recorded(subject):
                self.progress(Update(f"PyTensor {subject.label}: its faults are recorded already"))
                continue
            try:
                self._try(subject, max(0.0, deadline - time.monotonic()))
            except (EnvironmentMakingError, TortureError) as error:
                self.undecided.append(f"PyTensor {subject.label}: {error}")
                self.progress(Update(self.undecided[-1], "error"))

    def _is_recorded(self, subject: Subject) -> bool:
        steps, caches = self.steps or DEFAULT_STEPS, [self.cache] if self.cache else CACHES
        return any(
            record.is_recorded(results, subject, self.machine, steps, caches)
            for results in (self.results, *filter(None, [self.stored]))
        )

    def _try(self, subject: Subject, seconds: float) -> None:
        place = environment_of(subject, self.subjects, self.state)
        wanted = [name for name in OTHERS if not self.only or f"of_{name}" in self.only]
        others = others_of(subject, self.subjects, self.state, wanted)
        told = [(name, other.key) for name, other in others.items()]
        asked = [self.steps, self.cache, self.machine, told]
        journal = None if self.only else journal_of(place, self.state, asked)
        with measuring_lock(lambda text: self.progress(Update(text))):
            self.progress(Update(f"PyTensor {subject.label}: its caches under faults"))
            found = torture(
                place, subject, self.machine, self.only, self.steps, self.cache, others, journal,
                seconds,
            )  # fmt: skip
        if found.left:
            self.progress(Update(f"PyTensor {subject.label}: {left_over(found)}", "warning"))
            return
        if found.nothing_tried:
            why = next((one.skipped for one in found.faults if one.skipped), "no fault was chosen")
            self.undecided.append(f"PyTensor {subject.label}: nothing could be tried: {why}")
            self.progress(Update(self.undecided[-1], "error"))
            return
        if self.cache is not None:
            found = record.with_other_cache(found, record.load(self.results, found))
        before = before_it(found, [*record.readable(self.results), *self.records])
        if before is not None:
            got_worse = [one for one in moved(before, found) if one.worse]
            if got_worse:
                self.worse.append((before, got_worse))
        self.records.append(found)
        if not self.only:
            record.save(self.results, found)
        if journal is not None:
            shutil.rmtree(journal, ignore_errors=True)
        self.progress(Update(f"PyTensor {subject.label}: {counted(found)}"))

    @property
    def exit_code(self) -> Exit:
        """The exit status: a wrong number outranks what got worse, and that what is undecided."""
        wrong = (one for tried in self.records for one in tried.of("WRONG"))
        if any(one.certain for one in wrong):
            return Exit.WRONG_RESULTS
        if self.worse:
            return Exit.WORSE
        if self.undecided or any(one.blind for one in self.records):
            return Exit.UNDECIDED
        return Exit.OK
