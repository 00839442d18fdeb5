"""Environments that differ from a subject's own in one thing, to fill the caches that it reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from packaging.version import InvalidVersion, Version

from observatory.errors import ObservatoryError
from observatory.run.contracts import Numbas
from observatory.run.environments import Environment
from observatory.run.local import environment_of
from observatory.run.subjects import Subjects
from observatory.store.records.subject import Subject, name_of

OTHERS = ("python", "numba", "pytensor")
"""What differs, as the primitive names it."""
_MOST = 3
"""Subjects that are tried for each, if an environment cannot be made."""


def others_of(
    subject: Subject, subjects: Subjects, state: Path, wanted: Sequence[str] = OTHERS
) -> dict[str, Environment]:
    """Return an environment with another Python, one with another numba, and so on, by that name.

    One that cannot be made here is left out.
    """
    found: dict[str, Environment] = {}
    for name in wanted:
        with suppress(ObservatoryError):
            for one in list(_candidates(name, subject, subjects))[:_MOST]:
                with suppress(ObservatoryError):
                    found[name] = environment_of(one, subjects, state)
                    break
    return found


def version_of(name: str, environment: Environment) -> str:
    """The version of what an environment has another one of."""
    versions = {"python": environment.versions.python, "numba": environment.versions.numba or ""}
    return versions.get(name, environment.versions.pytensor)


def _candidates(name: str, subject: Subject, subjects: Subjects) -> Iterator[Subject]:
    """Subjects that could have the other version, the best first."""
    if name == "python":
        for minor in _pythons(subject.python, [one.minor for one in subjects.found.ordinary]):
            yield subject.model_copy(update={"python": minor})
    elif name == "numba":
        if (version := Numbas(subjects.index, subject).older()) is not None:
            yield _with(subject, "numba", version)
    else:
        for version in _releases_before(subject, subjects):
            yield _with(subject, "pytensor", version)


def _pythons(own: str, installed: Sequence[str]) -> list[str]:
    """The installed versions other than its own: the next older one first, then newer ones.

    >>> _pythons("3.13", ["3.14", "3.13", "3.12", "3.11"])
    ['3.12', '3.11', '3.14']
    """
    mine = Version(own.rstrip("t"))
    others = [one for one in installed if Version(one) != mine]
    older = [one for one in others if Version(one) < mine]
    newer = [one for one in others if Version(one) > mine]
    return [*sorted(older, key=Version, reverse=True), *sorted(newer, key=Version)]


def _releases_before(subject: Subject, subjects: Subjects) -> list[str]:
    """The releases below a release, or those from before a commit or a wheel; the newest first."""
    releases = subjects.history.table.releases
    try:
        own = Version(subject.label.partition(" ")[0])
    except InvalidVersion:
        before = [one.version for one in releases if one.uploaded < subject.date]
    else:
        before = [one.version for one in releases if Version(one.version) < own]
    return sorted(before, key=Version, reverse=True)


def _with(subject: Subject, name: str, version: str) -> Subject:
    """The subject with another version of one requirement, and with everything else as it is."""
    kept = [text for text in subject.requirements if name_of(text) != name]
    pin = f"{name}=={version}"
    update = {"label": f"{subject.label} {pin}", "requirements": (pin, *kept)}
    return subject.model_copy(update=update)
