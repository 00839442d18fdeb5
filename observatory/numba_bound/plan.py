"""The new spelling of each pin, ``numba>=X.Y,<=A.B.C``, and the file that contains it.

A pin keeps its lower bound, exclusions, extras and marker as they are written. Its upper bound
becomes ``<=`` a release that exists, and never falls below a release that the pin allows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import Specifier, SpecifierSet
from packaging.version import Version

from observatory.numba_bound.pins import NAME, Pin, Project, exchanged, quoted
from observatory.numba_bound.status import UnsafeError
from observatory.store.base.files import write_atomic

_UPPER = ("<", "<=", "~=", "==")
_LOWER = (">=", ">", "~=", "==")


class Change(Enum):
    """How a pin changes."""

    NONE = "unchanged"
    SPELLED = "only the spelling changes"
    MOVED = "a bound changes"
    LEFT = "left alone on purpose"


@dataclass(frozen=True)
class Spelled:
    """The new text of a pin, how it changes, and why: half a sentence.

    ``note`` is a remark for people to check, or empty.
    """

    text: str
    change: Change
    why: str
    note: str = ""


@dataclass(frozen=True)
class Plan:
    """The new spelling of every pin of a project, and the release at which upper bounds end."""

    project: Project
    end: Version
    pins: Mapping[Pin, Spelled]

    def having(self, *changes: Change) -> dict[Pin, Spelled]:
        """The pins that change in one of these ways, and their new spelling."""
        return {pin: after for pin, after in self.pins.items() if after.change in changes}

    @property
    def rewritten(self) -> dict[Pin, Spelled]:
        """The pins whose tokens in the file change."""
        return self.having(Change.SPELLED, Change.MOVED)

    def content(self) -> bytes:
        """The new file. Raises UnsafeError if it cannot be rewritten safely."""
        return exchanged(self.project, {pin: new.text for pin, new in self.rewritten.items()})


def plan(
    project: Project,
    end: Version,
    reach: Callable[[SpecifierSet], Version | None],
    lower: Version | None = None,
) -> Plan:
    """Decide on every pin; ``reach`` returns the newest published numba within bounds.

    Raises UnsafeError for a pin that is not a valid requirement.
    """
    pins = {}
    for pin in project.pins:
        after = spelled(pin.text, end, reach(_bounds(pin)), lower)
        if after.change is Change.NONE and pin.token != quoted(pin.text):
            why = "it means the same; the quotes become canonical"
            after = replace(after, change=Change.SPELLED, why=why)
        pins[pin] = after
    return Plan(project, end, pins)


def exclusions(project: Project) -> SpecifierSet:
    """Releases that any pin excludes by name. Raises UnsafeError for a pin that is not valid."""
    clauses = {clause for pin in project.pins for clause in _bounds(pin)}
    return SpecifierSet(",".join(sorted(str(each) for each in clauses if each.operator == "!=")))


def main_bounds(project: Project) -> SpecifierSet:
    """The bounds with which users get numba: of the main dependency, or else of the first pin."""
    main = [pin for pin in project.pins if pin.place.startswith("project.dependencies[")]
    return _bounds((main or list(project.pins))[0])


def write(path: Path, before: bytes, after: bytes) -> None:
    """Replace a file in one step; it keeps its mode and owner, and a link stays a link.

    Raises UnsafeError if the file does not contain ``before`` any more, and OSError.
    """
    path = path.resolve()
    if path.read_bytes() != before:
        raise UnsafeError("somebody changed it in the meantime; run this again")
    write_atomic(path, after, path.stat())


def requirement_of(text: str, place: str = "") -> Requirement:
    """The requirement of a pin. Raises UnsafeError for a pin that pip would not understand."""
    try:
        return Requirement(text)
    except InvalidRequirement as error:
        reason = str(error).splitlines()[0]
        raise UnsafeError(
            f"{place}{text[:200]!r} is not a requirement that pip understands: {reason}"
        ) from error


def spelled(
    text: str, end: Version, reach: Version | None = None, lower: Version | None = None
) -> Spelled:
    """The canonical spelling of a pin.

    ``end`` becomes the upper bound; ``reach`` is the newest published numba that the pin allows,
    where that may be above ``end``; ``lower`` is for pins without a lower bound. Raises UnsafeError
    as `requirement_of` does.
    """
    requirement = requirement_of(text)
    clauses = requirement.specifier
    if reason := _reason_to_leave(requirement, end, reach):
        return Spelled(text, Change.LEFT, reason)
    first, note = _lower(clauses, lower)
    if first and end not in SpecifierSet(first):
        return Spelled(text, Change.LEFT, f"its lower bound `{first}` is above numba {end}")
    bounds = [*([first] if first else []), f"<={_three_parts(end)}"]
    bounds += sorted(str(clause) for clause in clauses if clause.operator == "!=")
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    _, semicolon, marker = text.partition(";")  # as written: packaging would spell it anew
    marker = f"; {marker.strip()}" if semicolon else ""
    after = f"{NAME}{extras}{','.join(bounds)}{marker}"
    if after == text:
        return Spelled(text, Change.NONE, f"it already ends at numba {end}")
    ends_there = any(each.operator == "<=" and Version(each.version) == end for each in clauses)
    if not ends_there or end not in clauses:
        return Spelled(after, Change.MOVED, _why(clauses, end), note)
    if first == f">={lower}" and first not in map(str, clauses):
        return Spelled(after, Change.MOVED, f"it had no lower bound; --lower is {lower}")
    return Spelled(after, Change.SPELLED, "it means the same, in the canonical spelling", note)


def _reason_to_leave(requirement: Requirement, end: Version, reach: Version | None) -> str:
    never = "a bound is never lowered"
    if requirement.url is not None:
        return "it names a file or a repository instead of versions"
    for clause in requirement.specifier:
        if clause.operator == "===":
            return f"`{clause}` compares text instead of versions"
        if clause.operator == "!=" and not clause.contains(end):
            return f"`{clause}` excludes numba {end} by name"
        named = clause.operator in ("<=", "==") and not clause.version.endswith("*")
        if named and Version(clause.version) > end:
            return f"`{clause}` already allows more than numba {end}; {never}"
    if reach is not None and reach > end and _upper(requirement.specifier):
        return f"it allows numba {reach}, which is newer than {end}; {never}"
    return ""


def _lower(clauses: SpecifierSet, lower: Version | None) -> tuple[str, str]:
    """The lower bound to write, "" for none, and a note for people."""
    found = max(
        (clause for clause in clauses if clause.operator in _LOWER),
        key=lambda clause: (Version(clause.version.removesuffix(".*")), clause.operator == ">"),
        default=None,
    )
    if found is not None and found.operator in (">=", "~="):
        return f">={found.version}", ""
    excluded = found is not None and found.operator == ">" and Version(found.version)
    if lower is not None and not (excluded and lower <= excluded):
        return f">={lower}", f"its lower bound is {lower}, from --lower"
    if found is None:
        return "", "it has no lower bound; `--lower X.Y` would add one"
    if found.operator == "==":
        note = f"`{found}` was its lower bound too, so it allows nothing older"
        return f">={found.version.removesuffix('.*')}", note
    # `>0.57` is `>=0.57.1`: it excludes 0.57 and 0.57.0, and no release is between.
    version = Version(found.version)
    if str(version) != version.base_version or len(version.release) > 3:
        return str(found), f"its lower bound stays `{found}`, which no `>=` expresses"
    after = f">={version.major}.{version.minor}.{version.micro + 1}"
    return after, f"`{found}` is written `{after}`, the next possible release"


def _why(clauses: SpecifierSet, end: Version) -> str:
    upper = _upper(clauses)
    bounds = ",".join(sorted(map(str, upper)))
    if not upper:
        return "it had no upper bound"
    if end not in clauses:
        return f"`{bounds}` excludes numba {end}"
    if any(clause.operator == "==" for clause in upper):
        return f"`{bounds}` is not a range"
    return f"`{bounds}` allows releases that nobody can have tried"


def _upper(clauses: SpecifierSet) -> list[Specifier]:
    return [clause for clause in clauses if clause.operator in _UPPER]


def _three_parts(version: Version) -> str:
    """``A.B.C``: an index may say 0.69 for 0.69.0."""
    missing = 3 - len(version.release)
    return f"{version}{'.0' * missing}" if str(version) == version.base_version else str(version)


def _bounds(pin: Pin) -> SpecifierSet:
    return requirement_of(pin.text, f"{pin.name}: ").specifier
