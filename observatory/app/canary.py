"""The canary: processes that share a cache, and whether they return each other's numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from observatory.app.session import Session, take_samples
from observatory.errors import Exit
from observatory.guard.verdicts import Fate, Finding, judge, worst
from observatory.run.environments import EnvironmentMakingError
from observatory.run.local import environment_of
from observatory.run.presets import PRESETS, Narrowed, tasks_of
from observatory.run.sources import SubjectError
from observatory.run.subjects import Subjects
from observatory.store.records.sample import Sample

_STATUS: dict[Fate, Exit] = {
    "wrong": Exit.WRONG_RESULTS,
    "crashed": Exit.SAMPLE_FAILED,
    "shared symbols": Exit.SYMBOLS,
    "not judged": Exit.UNDECIDED,
    "right": Exit.OK,
}


def canary(
    session: Session,
    subjects: Subjects,
    texts: Sequence[str],
    narrowed: Narrowed,
    *,
    preset: str,
    requirements: Sequence[str] = (),
    python: str | None = None,
    measured: Callable[[str, Sequence[Finding]], None],
) -> list[Finding]:
    """Take the canary's samples of each subject, record them, and judge each.

    ``measured`` is called with the label and the findings of every subject that has an environment.
    Returns the findings of all; the cells of a subject without an environment are "not judged".
    Raises SubjectError where a word is unknown or nothing is left to measure.
    """
    chosen = subjects.parse_all(texts, requirements, python)
    if unknown := narrowed.unknown():
        raise SubjectError(unknown)
    tasks = tasks_of(PRESETS[preset], narrowed)
    if not tasks:
        raise SubjectError(narrowed.none_left(f"the preset {preset}"))
    every: list[Finding] = []
    for subject in chosen:
        findings: list[Finding] = []

        def seen(sample: Sample, findings: list[Finding] = findings) -> None:
            findings.append(judge(sample))

        try:
            environment = environment_of(subject, subjects, session.state)
        except EnvironmentMakingError as error:
            session.say(str(error), "error")
            every += [Finding(task.cell, "not judged") for task in tasks]
            continue
        take_samples(session, subject, environment, tasks, seen)
        measured(subject.label, findings)
        every += findings
    return every


def status(findings: Sequence[Finding]) -> Exit:
    """The exit status of the worst finding."""
    return _STATUS[worst(findings)]
