"""The machine as a place to measure: its interpreters, its index, what it keeps in `state`."""

from __future__ import annotations

from pathlib import Path

from observatory.record.subject import Subject
from observatory.run.environments import Environment, Environments
from observatory.run.history import History
from observatory.run.index import Index
from observatory.run.interpreters import find
from observatory.run.releases import load
from observatory.run.subjects import Subjects
from observatory.run.uv import RealUv

STATE = Path(".observatory")
"""Where environments, filled caches and the history of releases are kept, in the checkout."""


def subjects_here(state: Path) -> Subjects:
    """What reads the subjects on this machine. Looks for interpreters: about a second."""
    uv = RealUv()
    return Subjects(History(load(), state), Index(uv), find(uv))


def environment_of(subject: Subject, subjects: Subjects, state: Path) -> Environment:
    """The environment of a subject, made now if need be.

    Raises NoInterpreterError and EnvironmentMakingError.
    """
    return Environments(state / "envs").ensure(subject, subjects.found.of(subject.python))
