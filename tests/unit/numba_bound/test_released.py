"""The newest numba: what is asked of pip, and what pip itself answers for a small index on disk."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from observatory.numba_bound.pins import UnsafeError
from observatory.numba_bound.released import NoAnswerError, RealPip, Released, minors
from tests.factories_numba_bound import FakePip


def test_the_newest_is_final_and_has_a_wheel_for_an_allowed_python() -> None:
    assert Released(">=3.12", FakePip()).newest() == Version("0.68.1")
    assert Released("<3.12", FakePip()).newest() == Version("0.66.0")
    assert Released("==3.10.*", FakePip()).newest() == Version("0.61.0")


def test_a_yanked_release_is_neither_the_newest_nor_there() -> None:
    released = Released(">=3.12", FakePip(yanked=("0.68.1",)))
    assert released.newest() == Version("0.68.0")
    assert not released.has(Version("0.68.1"))
    assert released.has(Version("0.68.0"))


def test_the_newest_within_bounds_may_be_that_of_an_older_python() -> None:
    released = Released(">=3.10", FakePip())
    assert released.within(SpecifierSet(">=0.58,<0.66")) == Version("0.61.0")
    assert released.within(SpecifierSet(">=0.58,<=0.66.0")) == Version("0.66.0")
    assert released.within(SpecifierSet("<0.50")) is None


def test_no_python_is_asked_for_beyond_the_last_with_wheels_and_nothing_twice() -> None:
    pip = FakePip()
    released = Released(">=3.11", pip)
    released.newest()
    released.newest()
    assert pip.asked == [("numba", f"3.{minor}") for minor in range(11, 16)]


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
    ("answer", "why"),
    [
        ((1, "", "No module named pip"), "pip cannot say which numba there is: No module named"),
        ((1, "", "WARNING: Retrying (Retry(total=4, ...\nERROR: No matching distribution found"),
         "pip cannot say"),
        ((1, "", "ERROR: No matching distribution found for numba"), "pip finds no final release"),
        ((0, "", ""), "cannot be read"),
        ((0, "{}", ""), "cannot be read"),
        ((0, '{"install": []}', ""), "cannot be read"),
        ((0, '{"install": [{"metadata": {"version": "new"}}]}', ""), "cannot be read"),
        ((0, '{"install": [{"metadata": {"version": "0.69.0rc1"}}]}', ""), "unset `pre`"),
    ],
)  # fmt: skip
def test_an_answer_that_is_none_is_a_sentence(answer: tuple[int, str, str], why: str) -> None:
    with pytest.raises(NoAnswerError) as error:
        Released("==3.12.*", lambda *_: answer).newest()
    assert why in str(error.value)


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


def test_pip_is_asked_with_its_own_configuration(
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
    (tmp_path / "pip.conf").write_text(
        f"[global]\nindex-url = {directory.parent.as_uri()}\npre = true\n"
    )
    for name in ("PIP_INDEX_URL", "PIP_NO_INDEX"):
        monkeypatch.delenv(name, raising=False)
    # Nothing that this machine's own configuration adds may answer.
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", directory.parent.as_uri())
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_DIRS", str(tmp_path))
    monkeypatch.setenv("PIP_CONSTRAINT", str(tmp_path / "none.txt"))
    assert Released("==3.12.*", RealPip()).newest() == Version("0.66.0")
    assert not Released("==3.12.*", RealPip()).has(Version("0.67.0"))
