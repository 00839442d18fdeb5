"""One pin of numba made canonical, ``numba>=X.Y,<=A.B.C``: what it says then, and why.

What a pin says of the past is kept: its lower bound, its exclusions, its extras and its marker, as
they are written. Its upper bound becomes ``<=`` a release that exists, and never falls below a
release that the pin lets in.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import Specifier, SpecifierSet
from packaging.version import Version

from observatory.numba_bound.pins import NAME


class Change(Enum):
    """What becomes of a pin."""

    NONE = "as it should be"
    SPELLED = "the same in other words"
    MOVED = "a bound changes"
    LEFT = "left alone on purpose"


@dataclass(frozen=True)
class Spelled:
    """A pin as it should read, what becomes of it, and why: half a sentence.

    ``note`` is another one for people to look at, or empty.
    """

    text: str
    change: Change
    why: str
    note: str = ""


def specifiers(text: str) -> SpecifierSet:
    """The bounds of a pin; raise `ValueError` for one that pip would not understand."""
    try:
        return Requirement(text).specifier
    except InvalidRequirement as error:
        reason = str(error).splitlines()[0]
        raise ValueError(
            f"{text[:200]!r} is no requirement that pip understands: {reason}"
        ) from error


def spelled(
    text: str, end: Version, reach: Version | None = None, lower: Version | None = None
) -> Spelled:
    """Make a pin canonical.

    ``end`` becomes the upper bound; ``reach`` is the newest published numba that the pin lets
    in, where that may be above ``end``; ``lower`` is for pins without a lower bound of their
    own. Raises `ValueError` as `specifiers` does.
    """
    clauses = specifiers(text)
    requirement = Requirement(text)
    if reason := _reason_to_leave(requirement, end, reach):
        return Spelled(text, Change.LEFT, reason)
    first, note = _lower(clauses, lower)
    if first and end not in SpecifierSet(first):
        return Spelled(text, Change.LEFT, f"its lower bound `{first}` is above numba {end}")
    bounds = [*([first] if first else []), f"<={_three(end)}"]
    bounds += sorted(str(clause) for clause in clauses if clause.operator == "!=")
    after = f"{NAME}{_extras(requirement)}{','.join(bounds)}{_marker(text)}"
    if after == text:
        return Spelled(text, Change.NONE, f"it ends at numba {end} already")
    ends_there = any(
        clause.operator == "<=" and Version(clause.version) == end for clause in clauses
    )
    if not ends_there or end not in clauses:
        return Spelled(after, Change.MOVED, _why(clauses, end), note)
    if first == f">={lower}" and SpecifierSet(first) not in _each(clauses):
        return Spelled(after, Change.MOVED, f"it had no lower bound; --lower says {lower}")
    return Spelled(after, Change.SPELLED, "it says the same, in the canonical spelling", note)


def _reason_to_leave(requirement: Requirement, end: Version, reach: Version | None) -> str:
    never = "a bound is never lowered here"
    if requirement.url is not None:
        return "it names a file or a repository and no versions"
    for clause in requirement.specifier:
        if clause.operator == "===":
            return f"`{clause}` compares text and no versions"
        if clause.operator == "!=" and not clause.contains(end):
            return f"`{clause}` keeps numba {end} out by name"
        named = clause.operator in ("<=", "==") and not clause.version.endswith("*")
        if named and Version(clause.version) > end:
            return f"`{clause}` goes beyond numba {end} already; {never}"
    if reach is not None and reach > end and _upper(requirement.specifier):
        return f"it lets in numba {reach}, which is newer than {end}; {never}"
    return ""


def _lower(clauses: SpecifierSet, lower: Version | None) -> tuple[str, str]:
    """The lower bound to write, "" for none, and what people should know about it."""
    found = max(
        (clause for clause in clauses if clause.operator in (">=", ">", "~=", "==")),
        key=lambda clause: (_version(clause), clause.operator == ">"),
        default=None,
    )
    if found is not None and found.operator in (">=", "~="):
        return f">={found.version}", ""
    if lower is not None:
        return f">={lower}", f"its lower bound is that of --lower, {lower}"
    if found is None:
        return "", "it has no lower bound and gets none; `--lower X.Y` would give it one"
    if found.operator == "==":
        version = found.version.removesuffix(".*")
        return f">={version}", f"`{found}` was its lower bound too, so that nothing older comes in"
    return _above(found)


def _above(clause: Specifier) -> tuple[str, str]:
    """``>0.57`` is ``>=0.57.1``: it excludes 0.57 and 0.57.0, and no release is between."""
    version = Version(clause.version)
    if str(version) != version.base_version or len(version.release) > 3:
        return str(clause), f"its lower bound stays `{clause}`, which no `>=` says"
    after = f">={version.major}.{version.minor}.{version.micro + 1}"
    return after, f"`{clause}` is written `{after}`, the next release that there can be"


def _why(clauses: SpecifierSet, end: Version) -> str:
    upper = _upper(clauses)
    said = ",".join(sorted(map(str, upper)))
    if not upper:
        return "it had no upper bound"
    if end not in clauses:
        return f"`{said}` keeps numba {end} out"
    if any(clause.operator == "==" for clause in upper):
        return f"`{said}` is no range"
    return f"`{said}` lets in releases that nobody can have tried"


def _upper(clauses: SpecifierSet) -> list[Specifier]:
    return [clause for clause in clauses if clause.operator in ("<", "<=", "~=", "==")]


def _each(clauses: SpecifierSet) -> list[SpecifierSet]:
    return [SpecifierSet(str(clause)) for clause in clauses]


def _version(clause: Specifier) -> Version:
    return Version(clause.version.removesuffix(".*"))


def _three(version: Version) -> str:
    """``A.B.C``: an index may say 0.69 for 0.69.0."""
    missing = 3 - len(version.release)
    return f"{version}{'.0' * missing}" if str(version) == version.base_version else str(version)


def _extras(requirement: Requirement) -> str:
    return f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""


def _marker(text: str) -> str:
    """The marker as it is written; packaging would spell it anew."""
    _, semicolon, marker = text.partition(";")
    return f"; {marker.strip()}" if semicolon else ""
