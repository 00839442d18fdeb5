"""What is asked of the package index, and what is made of its answers."""

from __future__ import annotations

import re

from fakes import FakeUv
from packaging.specifiers import SpecifierSet

from observatory.run.uv import Index, UvError, because

RELEASES = ("0.66.0", "0.67.0", "0.67.1", "0.68.0", "0.69.0")


def newest(_: tuple[str, ...], asked: str) -> str:
    """The newest release that satisfies a requirement, as uv answers."""
    found = list(SpecifierSet(re.sub(r"^\w+", "", asked)).filter(RELEASES))
    if not found:
        raise UvError("uv pip compile", "× No solution found")
    return f"numba=={found[-1]}\n"


def test_the_releases_between_two_are_listed_in_order() -> None:
    index = Index(FakeUv(newest))
    assert index.between("numba", "0.66.0", "0.69.0", "3.13") == ["0.67.0", "0.67.1", "0.68.0"]
    assert index.between("numba", "0.68.0", "0.69.0", "3.13") == []


def test_why_nothing_fits_is_said_without_the_drawing_of_uv() -> None:
    said = "  × No solution found:\n  ╰─▶ Because a depends on b<2\n      and you require b>=2,\n"
    assert because(UvError("uv", said)) == "Because a depends on b<2 and you require b>=2,"
    assert because(UvError("uv", "no network")) == "no network"
