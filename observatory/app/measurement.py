"""Measure subjects, and check with the canary that a shared cache mixes up no results."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from observatory.app.cluster import on_cluster
from observatory.app.progress import Progress, silent
from observatory.app.session import TIMEOUT, Session
from observatory.app.taking import Tally, samples_of
from observatory.app.telling import Course, Part
from observatory.benchmarks.catalogue import no_such
from observatory.benchmarks.plan import Task
from observatory.errors import Exit
from observatory.guard.verdicts import Fate, Finding, judge, worst
from observatory.run import fitness
from observatory.run.batches import Line, carry_out
from observatory.run.environments import EnvironmentMakingError
from observatory.run.incomplete import lacking, recorded
from observatory.run.local import STATE
from observatory.run.placing import Shard
from observatory.run.presets import PRESETS, Narrowed, presets_with, tasks_of
from observatory.run.schedule import Estimate
from observatory.run.sources import SubjectError
from observatory.store.records.machine import this_machine
from observatory.store.records.sample import Sample
from observatory.store.records.subject import Subject
from observatory.text.units import about
from observatory.text.words import several

_SHORTEST = "quick"
"""The preset that is offered to whoever began a long one."""
Groups = Mapping[tuple[str, ...], tuple[Sequence[Task], Part]]
"""The tasks of a subject by what its environment holds beside it, and what tells how far it is."""
CANARY_STATUS: dict[Fate, Exit] = {
    "wrong": Exit.WRONG_RESULTS,
    "crashed": Exit.SAMPLE_FAILED,
    "shared symbols": Exit.SYMBOLS,
    "not judged": Exit.UNDECIDED,
    "right": Exit.OK,
}


@dataclass(frozen=True)
class Measurement:
    """How a measurement ended; the values themselves are in the results directory."""

    results: Path
    machine: str
    labels: tuple[str, ...]
    """The names of the subjects in the results."""
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
    budget: float = math.inf,
    timeout: float = TIMEOUT,
    state: Path = STATE,
    cluster: str | None = None,
    shard: Shard | None = None,
    stored: Path | None = None,
    progress: Progress = silent,
) -> Measurement:
    """Take the samples of one or more subjects, and record each of them at once.

    Args:
        subjects: ``newest``, a release (``3.3.7``), a range (``2.35.1..3.3.7``) or a wheel; each
            may be followed by further requirements (``3.3.7 numba==0.66.0``).
        results: Directory in which the samples are recorded.
        preset: Which cells are measured, and how often; see docs/reference/metrics.md.
        models: Measure these models instead of those of the preset. ``scenarios``, ``backends``,
            ``launches`` (start methods) and ``passes`` (timing, counting, tracing, work) limit it.
        scenarios: See ``models``.
        backends: See ``models``.
        launches: See ``models``.
        passes: See ``models``. The filled caches are kept, so that a later run can continue with
            the other passes.
        rounds: Number of timing samples of each cell, instead of the preset's.
        requirements: Further requirements of every environment.
        python: Version of Python of the environments; the newest that fits if None.
        machine: Name of this machine in the results; its host name if None.
        resume: Whether to continue the last run of the same preset.
        data: A CSV of radon data that replaces the built-in data.
        budget: Seconds after which no sample begins; ``resume`` takes those that are left.
        timeout: Longest time in seconds for one measured process.
        state: Directory of environments and filled caches.
        cluster: ``local:N``, or the address of a scheduler of Dask, whose workers take the samples;
            this process if None. It needs the extra ``fleet``.
        shard: Take only this part of the plan; other jobs take the others.
        stored: Results; samples that they have of a subject on this machine are not taken again.
        progress: A function that is called with every update, e.g. ``print``.

    Returns:
        How the samples ended. A sample that fails is recorded and raises no exception.

    Raises:
        SubjectError: A subject, preset or filter is unknown, nothing is left to measure, or only
            work is left and nothing here counts it.
        NoInterpreterError: No Python on this machine fits a subject.
        FleetError: The cluster cannot be used, or is lost.

    """
    session = Session(
        preset, Path(results), state, this_machine(machine), timeout, data=data, resume=resume,
        deadline=time.monotonic() + budget, keep_caches=passes is not None, progress=progress,
    )  # fmt: skip
    texts = [subjects] if isinstance(subjects, str) else subjects
    narrowed = Narrowed(models, scenarios, backends, launches, passes, rounds)
    chosen_tasks(preset, narrowed)  # a wrong word is refused before any package index is asked
    # Ranges may overlap, and a subject beside itself would share its filled caches.
    chosen = list(dict.fromkeys(session.subjects.parse_all(texts, requirements, python)))
    with on_cluster(session, cluster) as session:
        return measure_subjects(session, chosen, narrowed, shard, stored)


def measure_subjects(
    session: Session,
    subjects: Sequence[Subject],
    narrowed: Narrowed,
    shard: Shard | None = None,
    stored: Path | None = None,
) -> Measurement:
    """Take the samples of subjects, and return how they ended. Raises SubjectError.

    Where nothing counts instructions, samples of the pass `work` are left out, which is said once.
    """
    tasks = chosen_tasks(session.plan, narrowed)
    others = [task for task in tasks if task.measure != "work"]
    if len(others) < len(tasks) and (problem := session.uncounted()):
        if not others:
            raise SubjectError(problem)
        session.say(f"the pass work is left out: {problem}", "warning")
        tasks = others
    if any(task.measure == "timing" for task in tasks) and (problem := session.untimed()):
        tasks = [task for task in tasks if task.measure != "timing"]
        if not tasks:
            raise SubjectError(f"no worker takes times: {problem}")
        session.say(f"times are left out: {problem}", "warning")
    if shard is not None:
        tasks = shard.tasks(tasks)
        session.say(f"part {shard} of the plan")
        session.results.mkdir(parents=True, exist_ok=True)  # a part may be empty, and not missing
    session.say(_announced(session, tasks, len(subjects)))
    if any(task.measure == "timing" for task in tasks) and (problem := fitness.busy()):
        session.say(problem, "warning")
    total, course = Tally(), Course(session.progress, session.workers)
    planned = [(subject, _by_environment(tasks, course, subject)) for subject in subjects]

    def line(subject: Subject, groups: Groups) -> Line:
        known = [] if stored is None else recorded(stored, session.machine, subject, tasks)
        yield from _of_subject(session, subject, groups, total, known=known)

    # A time is taken alone, so that subjects with times gain nothing from another beside them.
    timed = any(task.measure == "timing" for task in tasks)
    lines = (line(subject, groups) for subject, groups in planned)
    carry_out(lines, session.workers, at_once=1 if timed else session.workers)
    labels = tuple(subject.label for subject in subjects)
    return Measurement(session.results, session.machine.machine, labels, total)


def canary(
    session: Session,
    subjects: Sequence[Subject],
    narrowed: Narrowed,
    judged: Callable[[str, Sequence[Finding]], None],
) -> Exit:
    """Take the canary's samples of subjects, record them, and judge each.

    ``judged`` is called with the label and the findings of every subject that has an environment.
    Returns the exit status for the worst finding. Raises SubjectError.
    """
    tasks = chosen_tasks(session.plan, narrowed)
    every: list[Finding] = []
    course = Course(session.progress, session.workers)
    for subject in subjects:
        tally, samples = Tally(), list[Sample]()
        groups = _by_environment(tasks, course, subject)
        line = _of_subject(session, subject, groups, tally, samples.append)
        carry_out([line], session.workers)
        if tally.without_environment:
            every += [Finding(task.cell, "not judged") for task in tasks]
            continue
        findings = [judge(sample) for sample in samples]
        judged(subject.label, findings)
        every += findings
    return CANARY_STATUS[worst(every)]


def chosen_tasks(preset: str, narrowed: Narrowed) -> list[Task]:
    """The tasks of a preset that the options leave.

    Raises SubjectError if the preset or a word of the options is unknown, or if no task is left.
    """
    if preset not in PRESETS:
        raise SubjectError(no_such("preset", preset, PRESETS))
    if unknown := narrowed.unknown():
        raise SubjectError(unknown)
    tasks = tasks_of(PRESETS[preset], narrowed)
    if not tasks:
        others = ", ".join(presets_with(narrowed))
        raise SubjectError(
            narrowed.none_left(f"the preset {preset}")
            + (f"; presets with matching cells: {others}" if others else "")
        )
    return tasks


def _announced(session: Session, tasks: Sequence[Task], subjects: int) -> str:
    """What will be taken, for how long, and how to take less."""
    wall = subjects * Estimate(tasks, session.workers).seconds_left()
    each = f" of each of {subjects} subjects" if subjects > 1 else ""
    text = f"The preset {session.plan}: {several(len(tasks), 'sample')}{each}, {about(wall)}."
    quick = Estimate(tasks_of(PRESETS[_SHORTEST], Narrowed()), session.workers).seconds_left()
    if wall > 2 * subjects * quick:
        text += f" The preset {_SHORTEST} takes {about(subjects * quick)}."
    return f"{text} You can interrupt it; --resume continues."


def _of_subject(
    session: Session,
    subject: Subject,
    groups: Groups,
    total: Tally,
    seen: Callable[[Sample], None] = lambda _: None,
    known: Sequence[Sample] = (),
) -> Line:
    """Take the samples of a subject that are not ``known``, and count them in ``total``.

    One without an environment has none: a commit that does not build must not hide those after it.
    """
    tasks = [task for group, _ in groups.values() for task in group]
    left = lacking(tasks, known)
    of = f" of {len(tasks)}" if len(left) < len(tasks) else ""
    session.say(f"{subject.label}: Python {subject.python}, {len(left)}{of} samples")
    without, failed = False, False
    for added, (group, told) in groups.items():
        chosen = lacking(group, known)
        told.expect(chosen)
        if failed or not chosen:
            told.expect(())
            continue
        try:
            environment = session.environment(subject, added)
            yield from samples_of(session, subject, environment, chosen, told, total, seen)
        except EnvironmentMakingError as error:
            session.say(str(error), "error")
            told.expect(())
            without = True
            failed = not added  # nothing can be added to it either
    total.without_environment += without


def _by_environment(tasks: Sequence[Task], course: Course, subject: Subject) -> Groups:
    """The tasks by what their environment holds beside the subject; those without it first."""
    groups: dict[tuple[str, ...], list[Task]] = {(): []}
    for task in tasks:
        groups.setdefault(task.cell.installs, []).append(task)
    return {
        added: (group, course.of(subject.label, group)) for added, group in groups.items() if group
    }
