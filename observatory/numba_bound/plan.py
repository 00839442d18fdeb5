"""What becomes of every pin of a file, and the file written so that it is whole at any instant."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from packaging.specifiers import Specifier, SpecifierSet
from packaging.version import Version

from observatory.numba_bound.pins import Pin, Project, UnsafeError, exchanged, quoted
from observatory.numba_bound.spelling import Change, Spelled, specifiers, spelled
from observatory.store.base.files import sync_directory


@dataclass(frozen=True)
class Planned:
    """A pin and what becomes of it."""

    pin: Pin
    spelled: Spelled

    @property
    def rewritten(self) -> bool:
        """Whether its token in the file changes."""
        return self.spelled.change in (Change.SPELLED, Change.MOVED)


@dataclass(frozen=True)
class Plan:
    """Every pin of a project, and the release that their upper bounds end at."""

    project: Project
    end: Version
    pins: tuple[Planned, ...]

    @property
    def rewritten(self) -> tuple[Planned, ...]:
        """The pins that change."""
        return tuple(each for each in self.pins if each.rewritten)

    @property
    def left(self) -> tuple[Planned, ...]:
        """The pins that are left alone on purpose."""
        return tuple(each for each in self.pins if each.spelled.change is Change.LEFT)

    @property
    def moved(self) -> bool:
        """Whether any bound changes, and not only how it is spelled."""
        return any(each.spelled.change is Change.MOVED for each in self.pins)

    def content(self) -> bytes:
        """The file as it should be; raise `UnsafeError` if it cannot be rewritten safely."""
        return exchanged(self.project, {each.pin: each.spelled.text for each in self.rewritten})


def plan(
    project: Project,
    end: Version,
    reach: Callable[[SpecifierSet], Version | None],
    lower: Version | None = None,
) -> Plan:
    """Decide on every pin; ``reach`` tells the newest published numba within bounds.

    Raises `UnsafeError` for a pin that is no valid requirement.
    """
    return Plan(project, end, tuple(_planned(pin, end, reach, lower) for pin in project.pins))


def exclusions(project: Project) -> SpecifierSet:
    """Releases that any pin excludes by name; raise `UnsafeError` for a pin that is not valid."""
    clauses: set[Specifier] = set()
    for pin in project.pins:
        clauses |= {clause for clause in _bounds(pin) if clause.operator == "!="}
    return SpecifierSet(",".join(sorted(map(str, clauses))))


def main_bounds(project: Project) -> SpecifierSet:
    """The bounds under which users get numba: those of the main dependency, else of the first."""
    main = [pin for pin in project.pins if pin.place.startswith("project.dependencies[")]
    return _bounds((main or list(project.pins))[0])


def write(path: Path, before: bytes, after: bytes) -> None:
    """Replace a file's content, its mode and owner kept; never half of it, never another's edit.

    Raises `UnsafeError` if it no longer holds ``before``, and OSError.
    """
    path = path.resolve()  # a link stays a link
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(after)
            stream.flush()
            known = path.stat()
            with suppress(PermissionError):
                os.fchown(stream.fileno(), known.st_uid, known.st_gid)
            os.fchmod(stream.fileno(), known.st_mode & 0o7777)
            os.fsync(stream.fileno())
        if path.read_bytes() != before:
            raise UnsafeError("somebody changed it in the meantime; run this again")
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    sync_directory(path.parent)


def _planned(
    pin: Pin,
    end: Version,
    reach: Callable[[SpecifierSet], Version | None],
    lower: Version | None,
) -> Planned:
    after = spelled(pin.text, end, reach(_bounds(pin)), lower)
    if after.change is Change.NONE and pin.token != quoted(pin.text):
        why = "it says the same, in the canonical quotes"
        after = replace(after, change=Change.SPELLED, why=why)
    return Planned(pin, after)


def _bounds(pin: Pin) -> SpecifierSet:
    try:
        return specifiers(pin.text)
    except ValueError as error:
        raise UnsafeError(f"{pin.name}: {error}") from error
