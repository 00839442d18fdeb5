"""Two subjects get the same dependencies wherever both allow them; where not, it says why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from observatory.run.together import Together, together
from observatory.run.uv import Index, UvError
from observatory.store.records.subject import Subject

EARLY, LATE = (datetime(2026, month, 1, tzinfo=UTC) for month in (3, 9))
NEEDS: Mapping[str, Mapping[str, str]] = {
    "pytensor==1": {"numba": ">0.5", "scipy": ">=1", "filelock": ""},
    "pytensor==2": {"numba": ">0.5,<0.7", "scipy": ">=1", "filelock": ""},
    "pytensor==3": {"numba": ">=0.7", "scipy": ">=1", "six": ""},
}
RELEASED = {"numba": ("0.6", "0.7", "0.8"), "scipy": ("1.0", "1.1"), "filelock": ("3", "4"),
            "six": ("1",)}  # fmt: skip
YOUNG = ("0.8", "1.1", "4")
"""Not there yet at the early date."""


class FakeIndex(Index):
    """Resolves the table above: the newest version of each, or the one that is preferred."""

    def resolve(self, requirements: Sequence[str], **options: Any) -> dict[str, str]:
        prefer, date = options.get("prefer") or {}, options["exclude_newer"]
        (subject,) = (text for text in requirements if text.startswith("pytensor"))
        limits = {name: SpecifierSet(text) for name, text in NEEDS[subject].items()}
        found = {"pytensor": subject.removeprefix("pytensor==")}
        for text in requirements:
            asked = Requirement(text)
            if asked.name != "pytensor":
                limits[asked.name] = limits.get(asked.name, SpecifierSet()) & asked.specifier
        for name, limit in limits.items():
            left = [
                version for version in RELEASED[name]
                if Version(version) in limit and not (date == EARLY and version in YOUNG)
            ]  # fmt: skip
            if not left:
                own = f"{name}{NEEDS[subject].get(name, '')}"
                said = f"No solution found: Because {subject} depends on {own} and you require more"
                raise UvError("uv pip compile", said)
            found[name] = prefer[name] if prefer.get(name) in left else left[-1]
        return found


def subject(version: int, *more: str, date: datetime | None = LATE, named: Sequence[str] = ()):  # type: ignore[no-untyped-def]
    return Subject(
        label=str(version), requirements=(f"pytensor=={version}", *more, *named), python="3.13",
        commit="0" * 40, date=date or LATE, exclude_newer=date, extras=tuple(named),
    )  # fmt: skip


def versions(found: Together) -> tuple[dict[str, str], ...]:
    return tuple(dict(one.pins) for one in (found.base, found.head))


def test_both_have_the_later_date_whichever_side_it_is_of() -> None:
    early, late = subject(1, date=EARLY), subject(1)
    for pair in ((early, late), (late, early)):
        found = together(FakeIndex(), *pair)
        assert {one.subject.exclude_newer for one in (found.base, found.head)} == {LATE}
    now = together(FakeIndex(), early, subject(1, date=None))
    assert now.base.subject.exclude_newer is None


def test_what_is_alike_anyway_is_not_pinned() -> None:
    assert versions(together(FakeIndex(), subject(1), subject(1))) == ({}, {})


def test_the_bound_of_one_side_holds_for_both() -> None:
    for pair in ((1, 2), (2, 1)):
        base, head = versions(together(FakeIndex(), *map(subject, pair)))
        assert base == head == {"numba": "0.6", "scipy": "1.1", "filelock": "4"}


def test_what_must_differ_says_the_requirement() -> None:
    found = together(FakeIndex(), subject(2), subject(3))
    base, head = versions(found)
    assert (base["numba"], head["numba"]) == ("0.6", "0.8")
    assert base["scipy"] == head["scipy"]
    assert found.apart == {"numba": "pytensor==2 requires numba>0.5,<0.7"}


def test_a_requirement_that_one_side_alone_names_differs_on_purpose() -> None:
    found = together(FakeIndex(), subject(1), subject(1, named=["numba==0.7"]))
    assert found.apart == {}
    assert versions(found) == ({}, {})


def test_the_newer_release_takes_the_older_numba_if_it_allows_it() -> None:
    older, newer = subject(2, "numba==0.6", date=EARLY), subject(1, "numba==0.8")
    for pair in ((older, newer), (newer, older)):
        assert {one["numba"] for one in versions(together(FakeIndex(), *pair))} == {"0.6"}
    refused = together(FakeIndex(), older, subject(3, "numba==0.8"))
    assert list(refused.apart) == ["numba"]
    assert refused.head.pins["numba"] == "0.8"
    assert older.requirements == ("pytensor==2", "numba==0.6")
