"""Check what PyTensor relies on in numba, with one numba after another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from observatory.app.progress import Progress, Update, silent
from observatory.errors import Exit
from observatory.run.contracts import Numba, Numbas, SuiteError, check
from observatory.run.environments import EnvironmentMakingError
from observatory.run.local import environment_of
from observatory.run.subjects import Subjects
from observatory.store.records import contracts as record
from observatory.store.records.contracts import Contracts, Status, version_order
from observatory.store.records.subject import Subject

_WORDS: dict[Status, str] = {"broken": "BROKEN", "failed": "not judged", "holds": "hold"}


@dataclass
class Checks:
    """The contracts of a subject, checked with one numba after another."""

    subjects: Subjects
    subject: Subject
    """The subject with its own numba."""
    text: str
    """The subject as the user wrote it, and its further requirements."""
    requirements: Sequence[str]
    state: Path
    results: Path
    progress: Progress = silent
    records: list[Contracts] = field(default_factory=list)
    undecided: list[str] = field(default_factory=list)
    without_environment: int = 0

    def check(self, numba: Numba | None) -> None:
        """Check with one numba; None stands for the numba that the subject installs.

        An environment or a suite that fails is reported and raises nothing.
        """
        subject = self._with(numba)
        overrides = numba.overrides if numba else ()
        name = f"PyTensor {subject.label}"
        try:
            place = environment_of(subject, self.subjects, self.state, overrides)
            found = check(place, subject, lifted=bool(overrides))
        except (EnvironmentMakingError, SuiteError) as error:
            self.without_environment += isinstance(error, EnvironmentMakingError)
            self.undecided.append(f"{name}: {error}")
            self.progress(Update(self.undecided[-1], "error"))
            return
        self.records.append(found)
        record.save(self.results, found)
        self.progress(Update(f"numba {found.numba}: {_counted(found)} ({found.seconds:.0f} s)"))

    def _with(self, numba: Numba | None) -> Subject:
        if numba is None or f"numba=={numba.version}" in self.subject.requirements:
            return self.subject
        extras = [*self.requirements, f"numba=={numba.version}"]
        return self.subjects.parse(self.text, extras, self.subject.python)

    @property
    def exit_code(self) -> Exit:
        """The exit status: a broken contract outranks one that could not be judged."""
        if any(one.of("broken") for one in self.records):
            return Exit.CONTRACTS
        if self.without_environment and not self.records:
            return Exit.ENVIRONMENT
        if self.undecided or any(one.of("failed") for one in self.records):
            return Exit.UNDECIDED
        return Exit.OK


def numbas_of(
    checks: Checks, asked: Sequence[str], all_allowed: bool, newest: bool, pre: bool
) -> Sequence[Numba | None]:
    """Every numba once, oldest first; None stands for the numba that the subject installs."""
    numbas = Numbas(checks.subjects.index, checks.subject)
    found = [numbas.asked(version) for version in asked]
    found += numbas.allowed() if all_allowed else []
    found += [numbas.newest()] if newest else []
    if pre:
        prerelease = numbas.newest_prerelease()
        if prerelease is None:
            checks.progress(Update("--pre: the index has no pre-release of numba"))
        else:
            found.append(prerelease)
    if not (found or pre):
        own = numbas.own()
        pinned = any(one.startswith("numba==") for one in checks.subject.extras)
        # A numba that the user named may be outside PyTensor's bounds.
        return [numbas.asked(own) if own and pinned else None]
    by_version = {one.version: one for one in found}
    return sorted(by_version.values(), key=lambda one: version_order(one.version))


def _counted(found: Contracts) -> str:
    order: tuple[Status, ...] = ("broken", "failed", "holds")
    counts = {status: len(found.of(status)) for status in order}
    parts = [f"{count} {_WORDS[status]}" for status, count in counts.items() if count]
    beyond = ", beyond PyTensor's bounds" if found.checked and found.checked.lifted else ""
    return ", ".join(parts) + beyond
