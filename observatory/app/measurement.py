"""Measuring subjects: their environments, their samples, and how these ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from observatory.app.progress import Progress, silent
from observatory.app.session import Session, Tally, take_samples
from observatory.errors import Exit
from observatory.run.environments import EnvironmentMakingError
from observatory.run.local import STATE, environment_of, local_subjects
from observatory.run.presets import PRESETS, Narrowed, presets_with, tasks_of
from observatory.run.sources import SubjectError
from observatory.run.subjects import Subjects
from observatory.store.journal.models import new_run
from observatory.store.records.machine import this_machine
from observatory.store.records.subject import Subject

TIMEOUT = 600.0
"""Seconds that one measured process may take, unless somebody says otherwise."""


@dataclass(frozen=True)
class Measurement:
    """What a measurement did; the values themselves are in the results directory."""

    results: Path
    machine: str
    labels: tuple[str, ...]
    """How the subjects are called in the results."""
    tally: Tally

    @property
    def exit_code(self) -> Exit:
        """The status with which `observatory run` ends."""
        return self.tally.exit_code


def measure(
    subjects: str | Sequence[str] = "newest",
    *,
    results: Path | str = "results",
    preset: str = "quick",
    models: Sequence[str] | None = None,
    scenarios: Sequence[str] | None = None,
    backends: Sequence[str] | None = None,
    launches: Sequence[str] | None = None,
    passes: Sequence[str] | None = None,
    rounds: int | None = None,
    requirements: Sequence[str] = (),
    python: str | None = None,
    machine: str | None = None,
    resume: bool = False,
    data: Path | None = None,
    timeout: float = TIMEOUT,
    state: Path = STATE,
    progress: Progress = silent,
) -> Measurement:
    """Take the samples of one or more subjects and record each of them at once.

    Args:
        subjects: ``newest``, a release (``3.3.7``), a range (``2.35.1..3.3.7``), a wheel, with
            further requirements behind a blank (``3.3.7 numba==0.66.0``).
        results: Where the samples are recorded.
        preset: How much of the matrix is measured; see docs/reference/metrics.md.
        models: Only these, of what the preset measures; likewise ``scenarios``, ``backends``,
            ``launches`` (start methods) and ``passes`` (timing, counting, tracing).
        scenarios: See ``models``.
        backends: See ``models``.
        launches: See ``models``.
        passes: See ``models``. The filled caches are kept for the other passes.
        rounds: Timed samples of each cell, instead of the preset's number.
        requirements: Further requirements of every environment.
        python: Version of Python of the environments; the newest that fits if None.
        machine: Name of this machine in the results; its host name if None.
        resume: Whether to go on with the last run of the same preset.
        data: A CSV of radon data instead of the built-in ones.
        timeout: Seconds that one measured process may take.
        state: Where environments and filled caches are kept.
        progress: Called with every update; ``print`` will do.

    Returns:
        How the samples ended. A sample that fails is recorded and raises nothing.

    Raises:
        SubjectError: A subject, preset or filter is not understood or leaves nothing.
        NoInterpreterError: No Python here fits a subject.

    """
    found = local_subjects(state)
    texts = [subjects] if isinstance(subjects, str) else subjects
    chosen = found.parse_all(texts, requirements, python)
    narrowed = Narrowed(models, scenarios, backends, launches, passes, rounds)
    session = Session(
        results=Path(results), state=state, machine=this_machine(machine), timeout=timeout,
        run=new_run(preset), data=data, resume=resume, keep_caches=passes is not None,
        progress=progress,
    )  # fmt: skip
    return measure_subjects(session, found, list(chosen), preset, narrowed)


def measure_subjects(
    session: Session,
    subjects: Subjects,
    chosen: Sequence[Subject],
    preset: str,
    narrowed: Narrowed,
) -> Measurement:
    """Measure subjects one after another; one without an environment does not stop the others.

    Returns how all their samples ended. Raises SubjectError as `measure` does.
    """
    if preset not in PRESETS:
        raise SubjectError(f"there is no preset {preset!r}; choose from {', '.join(PRESETS)}")
    if unknown := narrowed.unknown():
        raise SubjectError(unknown)
    tasks = tasks_of(PRESETS[preset], narrowed)
    if not tasks:
        others = ", ".join(presets_with(narrowed))
        raise SubjectError(
            narrowed.none_left(f"the preset {preset}")
            + (f"; presets that have some: {others}" if others else "")
        )
    total = Tally()
    for subject in chosen:
        session.say(f"{subject.label}: Python {subject.python}, {len(tasks)} samples")
        try:
            environment = environment_of(subject, subjects, session.state)
        except EnvironmentMakingError as error:
            # One commit that does not build must not hide those after it.
            session.say(str(error), "error")
            total.without_environment += 1
            continue
        total += take_samples(session, subject, environment, tasks)
    labels = tuple(subject.label for subject in chosen)
    return Measurement(session.results, session.machine.machine, labels, total)
