"""The newest numba: what uv is asked, and what uv itself answers for a small index on disk."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from observatory.numba_bound.releases import Index, minors
from observatory.numba_bound.status import NoAnswerError, UnsafeError
from observatory.run.uv import UvError
from tests.factories_numba_bound import FakeUv


def test_the_newest_is_final_and_has_a_wheel_for_an_allowed_python() -> None:
    assert Index(">=3.12", FakeUv()).newest() == Version("0.68.1")
    assert Index("<3.12", FakeUv()).newest() == Version("0.66.0")
    assert Index("==3.10.*", FakeUv()).newest() == Version("0.61.0")


def test_a_yanked_release_is_neither_the_newest_nor_there() -> None:
    index = Index(">=3.12", FakeUv(yanked=("0.68.1",)))
    assert index.newest() == Version("0.68.0")
    assert not index.has(Version("0.68.1"))
    assert index.has(Version("0.68.0"))


def test_the_newest_within_bounds_may_be_that_of_an_older_python() -> None:
    index = Index(">=3.10", FakeUv())
    assert index.within(SpecifierSet(">=0.58,<0.66")) == Version("0.61.0")
    assert index.within(SpecifierSet(">=0.58,<=0.66.0")) == Version("0.66.0")
    assert index.within(SpecifierSet("<0.50")) is None


def test_no_python_is_asked_for_beyond_the_last_with_wheels_and_nothing_twice() -> None:
    uv = FakeUv()
    index = Index(">=3.11", uv)
    index.newest()
    index.newest()
    assert uv.asked == [("numba", f"3.{minor}") for minor in range(11, 16)]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (">=3.12,<3.15", ("3.12", "3.13", "3.14")),
        ("~=3.11", tuple(f"3.{minor}" for minor in range(11, 30))),
        (">=3.12.4,<3.13.2", ("3.12", "3.13")),
        (">3.11,!=3.13.*,<3.15", ("3.11", "3.12", "3.14")),
        ("", tuple(f"3.{minor}" for minor in range(8, 30))),
    ],
)
def test_an_allowed_python_is_one_of_which_any_patch_is_allowed(
    said: str, expected: tuple[str, ...]
) -> None:
    assert minors(said) == expected


@pytest.mark.parametrize("said", ["3.12", "<3.7", ">=4"])
def test_a_project_that_allows_no_python_is_a_sentence(said: str) -> None:
    with pytest.raises(UnsafeError, match="requires-python"):
        minors(said)


@pytest.mark.parametrize(
    ("failure", "why"),
    [
        ("Failed to fetch: https://example.org/simple", "uv cannot say which numba there is: Fail"),
        ("your requirements are unsatisfiable.\nhint: the network was disabled", "uv cannot say"),
        ("your requirements are unsatisfiable.", "uv finds no final release"),
    ],
)
def test_a_failure_of_uv_is_a_sentence(failure: str, why: str) -> None:
    def failing(*_: str, **__: object) -> str:
        raise UvError("uv pip compile", failure)

    with pytest.raises(NoAnswerError, match=why):
        Index("==3.12.*", failing).newest()


@pytest.mark.parametrize("answer", ["", "numba", "numba==new"])
def test_an_answer_without_a_version_is_a_sentence(answer: str) -> None:
    with pytest.raises(NoAnswerError, match="uv's answer to numba cannot be read"):
        Index("==3.12.*", lambda *_, **__: answer).newest()


def wheel(directory: Path, version: str, tag: str, page: list[str], yanked: bool = False) -> None:
    """A wheel that holds nothing but its metadata, and its line on the page of the index."""
    name = f"numba-{version}-{tag}.whl"
    with zipfile.ZipFile(directory / name, "w") as archive:
        info = f"numba-{version}.dist-info"
        metadata = f"Metadata-Version: 2.1\nName: numba\nVersion: {version}\n"
        archive.writestr(f"{info}/METADATA", metadata)
        archive.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nTag: {tag}\n")
        archive.writestr(f"{info}/RECORD", "")
    mark = ' data-yanked=""' if yanked else ""
    page.append(f'<a href="{name}"{mark}>{name}</a>')


def test_uv_is_asked_with_its_own_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory, page = tmp_path / "simple" / "numba", list[str]()
    directory.mkdir(parents=True)
    wheel(directory, "0.66.0", "cp312-none-any", page)
    wheel(directory, "0.67.0", "cp312-none-any", page, yanked=True)
    wheel(directory, "0.68.0", "cp313-none-any", page)
    wheel(directory, "0.69.0rc1", "cp312-none-any", page)
    page.append('<a href="numba-0.70.0.tar.gz">numba-0.70.0.tar.gz</a>')
    (directory / "index.html").write_text(f"<!DOCTYPE html><html><body>{''.join(page)}")
    for name in [name for name in os.environ if name.startswith("UV_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("UV_CONFIG_FILE", str(tmp_path / "uv.toml"))
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "uv.toml").write_text(
        f'prerelease = "allow"\n[[index]]\nurl = "{directory.parent.as_uri()}"\ndefault = true\n'
    )
    assert Index("==3.12.*").newest() == Version("0.66.0")
    assert Index("==3.13.*").newest() == Version("0.68.0")
    assert not Index("==3.12.*").has(Version("0.67.0"))
