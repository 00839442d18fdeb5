"""Which numbas there are, with an index that answers from a list."""

from __future__ import annotations

import pytest
from fakes import FakeUv
from packaging.requirements import Requirement
from packaging.version import Version

from observatory.run.contracts import Numba, Numbas
from observatory.run.uv import Index, UvError
from tests.factories import subject

RELEASES = ("0.60.0", "0.67.0", "0.68.0", "0.68.1")
BOUND = "<=0.68.0,>=0.61"


def numbas(releases: tuple[str, ...] = RELEASES, pinned: str = "numba==0.68.0") -> Numbas:
    """An index with these releases, and a PyTensor that declares BOUND."""

    def answer(args: tuple[str, ...], stdin: str) -> str:
        wanted = [Requirement(line) for line in stdin.splitlines()]
        bounds = [one.specifier for one in wanted if one.name == "numba"]
        if any(one.name == "pytensor" for one in wanted):
            bounds.append(Requirement(f"numba{BOUND}").specifier)
        pre = "--prerelease" in args
        fitting = [
            version
            for version in releases
            if (pre or not Version(version).is_prerelease)
            and all(bound.contains(version, prereleases=True) for bound in bounds)
        ]
        if not fitting:
            raise UvError("uv pip compile", "the rest\nyour requirements are unsatisfiable.")
        return f"numba=={max(fitting, key=Version)}\nllvmlite==0.50.0\npytensor==3.3.7\n"

    requirements = ("pytensor==3.3.7", pinned)
    return Numbas(Index(FakeUv(answer)), subject(requirements=requirements))


def test_every_release_within_the_bounds_is_found_oldest_first() -> None:
    assert numbas().allowed() == [Numba("0.67.0"), Numba("0.68.0")]


def test_the_newest_is_beyond_the_bound_and_says_so() -> None:
    assert numbas().newest() == Numba("0.68.1", ("numba==0.68.1",))


def test_a_newest_within_the_bounds_needs_nothing_lifted() -> None:
    assert numbas(RELEASES[:3]).newest() == Numba("0.68.0")


def test_where_the_index_has_no_pre_release_there_is_none() -> None:
    assert numbas().newest_prerelease() is None


def test_a_pre_release_brings_the_llvmlite_that_it_needs() -> None:
    found = numbas((*RELEASES, "0.69.0rc1")).newest_prerelease()
    assert found == Numba("0.69.0rc1", ("llvmlite==0.50.0", "numba==0.69.0rc1"))


def test_a_pre_release_of_what_is_out_already_is_none() -> None:
    assert numbas((*RELEASES, "0.68.0rc1")).newest_prerelease() is None


@pytest.mark.parametrize(("pinned", "own"), [("numba==0.68.0", "0.68.0"), ("numba", None)])
def test_the_own_numba_is_what_the_subject_pins(pinned: str, own: str | None) -> None:
    assert numbas(pinned=pinned).own() == own


def test_an_index_that_does_not_answer_is_an_error() -> None:
    def silent(args: tuple[str, ...], stdin: str) -> str:
        raise UvError("uv pip compile", "connection refused")

    with pytest.raises(UvError, match="connection refused"):
        Numbas(Index(FakeUv(silent)), subject()).allowed()
