"""The machine as a place to measure: its interpreters, its index, what it keeps in `state`."""

from __future__ import annotations

from pathlib import Path

from observatory.run.environments import Environment, EnvironmentMakingError, Environments
from observatory.run.history import History
from observatory.run.index import Index
from observatory.run.interpreters import find
from observatory.run.releases import load
from observatory.run.subjects import Subjects
from observatory.run.uv import RealUv
from observatory.store.records.subject import Subject

STATE = Path(".observatory")
"""Where environments, filled caches and the history of releases are kept, in the checkout."""


def local_subjects(state: Path) -> Subjects:
    """What reads the subjects on this machine. Looks for interpreters: about a second."""
    uv = RealUv()
    return Subjects(History(load(), state), Index(uv), find(uv))


def environment_of(
    subject: Subject, subjects: Subjects, state: Path, overrides: tuple[str, ...] = ()
) -> Environment:
    """The environment of a subject, made now if need be.

    ``overrides``: requirements that hold against the metadata of others. A numba that was named for
    the subject is one where nothing else will do: who asks for it wants to know what it does, not
    that PyTensor does not allow it. Raises NoInterpreterError and EnvironmentMakingError.
    """
    interpreter = subjects.found.of(subject.python)
    named = tuple(extra for extra in subject.extras if extra.startswith("numba=="))
    try:
        return Environments(state / "envs", overrides=overrides).ensure(subject, interpreter)
    except EnvironmentMakingError:
        if overrides or not named:
            raise
        return Environments(state / "envs", overrides=named).ensure(subject, interpreter)
