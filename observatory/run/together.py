"""Two subjects with the same dependencies, as far as both allow it.

Each subject alone has the dependencies of its own date. Of two that are compared, a release of
numba in between would be blamed on the later one. Both are resolved as of the later date, and each
takes the versions of the other wherever its requirements allow them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from observatory.run.environments import wanted_of
from observatory.run.uv import Index, UvError, because
from observatory.store.records.subject import Subject, name_of

_DEPENDS = re.compile(r"([\w.-]+(?:==\S+)?) depends on ([\w.-]+)([<>=!~]\S*)?")
_LONGEST = 300

Pins = Mapping[str, str]
"""Versions by the name of a distribution."""


@dataclass(frozen=True)
class Resolved:
    """A subject as of the date of both, and the versions that it must be installed with."""

    subject: Subject
    pins: Pins
    """Empty where it gets them without being told."""


@dataclass(frozen=True)
class Together:
    """Both subjects, and where they cannot have the same version."""

    base: Resolved
    head: Resolved
    apart: Mapping[str, str]
    """Why, by the name of a distribution; empty where the reason is not known."""


def together(index: Index, base: Subject, head: Subject) -> Together:
    """Resolve two subjects as of the later of their dates, with as few differences as possible.

    Further requirements that only one of them names, or names otherwise, differ on purpose. Raises
    UvError if the index does not answer, or a subject cannot be resolved as of that date.
    """
    date = _later(base.exclude_newer, head.exclude_newer)
    old, new = (one.model_copy(update={"exclude_newer": date}) for one in (base, head))
    old, new = _freed(old, new), _freed(new, old)
    free = {"pytensor", *(name_of(extra) for extra in {*old.extras} ^ {*new.extras})}
    of_old, of_new = _resolved(index, old, {}), _resolved(index, new, {})
    if not _different(of_old, of_new, free):
        return Together(Resolved(old, {}), Resolved(new, {}), {})
    of_old = _resolved(index, old, _without(of_new, free))
    of_new = _resolved(index, new, _without(of_old, free))
    different = _different(of_old, of_new, free)
    apart = {name: _why(index, old, new, name, (of_old, of_new)) for name in different}
    return Together(
        Resolved(old, _without(of_old, free)), Resolved(new, _without(of_new, free)), apart
    )


def _resolved(index: Index, subject: Subject, prefer: Pins) -> Pins:
    return index.resolve(
        wanted_of(subject), minor=subject.python, exclude_newer=subject.exclude_newer, prefer=prefer
    )


def _different(old: Pins, new: Pins, free: set[str]) -> list[str]:
    common = old.keys() & new.keys()
    return sorted(name for name in common - free if old[name] != new[name])


def _without(pins: Pins, free: set[str]) -> dict[str, str]:
    """The pins that can be asked for: what comes from no index has no version."""
    return {name: version for name, version in pins.items() if version and name not in free}


def _why(index: Index, old: Subject, new: Subject, name: str, versions: tuple[Pins, Pins]) -> str:
    """The requirement that keeps one side from the version of the other; empty if none does."""
    for subject, other in ((old, versions[1][name]), (new, versions[0][name])):
        asked = (*wanted_of(subject), f"{name}=={other}")
        try:
            index.resolve(asked, minor=subject.python, exclude_newer=subject.exclude_newer)
        except UvError as error:
            words = because(error)
            for who, what, wanted in _DEPENDS.findall(words):
                if canonicalize_name(what) == name:
                    return f"{who} requires {what}{wanted.rstrip(',')}"[:_LONGEST]
            return words[:_LONGEST]
    return ""


def _later(one: datetime | None, other: datetime | None) -> datetime | None:
    """The later of two moments; None, which is now, is later than all."""
    return None if one is None or other is None else max(one, other)


def _freed(one: Subject, other: Subject) -> Subject:
    """A release without the numba of its date, if that is newer than the one of the other's.

    Releases are measured with the newest numba of their date, as many have no bound that is right.
    A newer release says itself whether it works with an older numba.
    """
    own, others = _numba(one), _numba(other)
    if own is None or others is None or own <= others:
        return one
    kept = tuple("numba" if name_of(text) == "numba" else text for text in one.requirements)
    return one.model_copy(update={"requirements": kept})


def _numba(subject: Subject) -> Version | None:
    """The numba that a release of this date has; None where a person named it, or none is."""
    if any(name_of(extra) == "numba" for extra in subject.extras):
        return None
    pins = [text for text in subject.requirements if name_of(text) == "numba"]
    found = [str(Requirement(text).specifier) for text in pins]
    return Version(found[0].removeprefix("==")) if found and found[0].startswith("==") else None
