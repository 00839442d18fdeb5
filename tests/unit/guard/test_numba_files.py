from __future__ import annotations

import os
import pickle
from datetime import timedelta
from pathlib import Path

import pytest

from observatory.guard.scan import numba_files
from observatory.guard.scan.numba_files import Realm, entries_of, find, object_code
from observatory.guard.scan.pickles import CacheFileError
from tests.factories_scan import BITCODE, MACHINE, NUMBA, data_file, index_file, put


def written(directory: Path, content: bytes, name: str = "string.add-1f.py313.nbi") -> Path:
    path = directory / name
    path.write_bytes(content)
    return path


def test_index_and_data_files_are_found_below_a_directory_in_order(tmp_path: Path) -> None:
    put(tmp_path / "b" / "numba", "add", b"code", b"code")
    put(tmp_path / "a", "mul", b"code")
    (tmp_path / "a" / "other.txt").write_text("x")
    (tmp_path / "a" / "add.py313.1.nbc.tmp.1234").write_text("x")
    found = find(tmp_path)
    assert [path.name for path in found.indexes] == ["mul.py313.nbi", "add.py313.nbi"]
    assert [path.name for path in found.data] == [
        "mul.py313.1.nbc", "add.py313.1.nbc", "add.py313.2.nbc",
    ]  # fmt: skip
    assert found.broken == []


def test_links_are_not_followed(tmp_path: Path) -> None:
    put(tmp_path / "far", "add", b"code")
    (tmp_path / "near").mkdir()
    (tmp_path / "near" / "loop").symlink_to(tmp_path)
    (tmp_path / "near" / "add.py313.nbi").symlink_to(tmp_path / "far" / "add.py313.nbi")
    found = find(tmp_path / "near")
    assert found.indexes == [tmp_path / "near" / "add.py313.nbi"]
    with pytest.raises(CacheFileError, match="it cannot be read"):
        entries_of(found.indexes[0])


def test_directories_may_be_deep(tmp_path: Path) -> None:
    inner = tmp_path
    for _ in range(1200):
        inner = inner / "d"
        inner.mkdir()
    (inner / "add.py313.1.nbc").write_bytes(b"")
    assert len(find(tmp_path).data) == 1
    (inner / "add.py313.1.nbc").unlink()
    while inner != tmp_path:  # shutil.rmtree, which pytest uses later, cannot go as deep
        inner.rmdir()
        inner = inner.parent


def test_what_cannot_be_listed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "a", "add", b"code")
    scandir = os.scandir

    def refuse(path: Path) -> object:
        if Path(path).name == "b":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    (tmp_path / "b").mkdir()
    monkeypatch.setattr(os, "scandir", refuse)
    found = find(tmp_path)
    assert found.broken == [(tmp_path / "b", "it cannot be listed: Permission denied")]
    assert len(found.data) == 1


def test_more_files_than_the_bound_are_named_as_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numba_files, "MOST_FILES", 3)
    put(tmp_path / "b", "add", b"code", b"code")
    put(tmp_path / "a", "add", b"code")
    found = find(tmp_path)
    assert [reason for _, reason in found.broken] == ["no more than 3 files are read"]


def test_an_index_tells_its_data_files_and_what_can_load_them(tmp_path: Path) -> None:
    index = written(
        tmp_path, index_file(["string.add-1f.py313.1.nbc", "string.add-1f.py313.2.nbc"])
    )
    realm = Realm(tmp_path, NUMBA, "py313", MACHINE)
    assert entries_of(index) == [
        (tmp_path / "string.add-1f.py313.1.nbc", realm),
        (tmp_path / "string.add-1f.py313.2.nbc", realm),
    ]


def test_of_a_machine_the_first_words_are_kept(tmp_path: Path) -> None:
    index = index_file(["add.1.nbc"], machine=tuple(str(number) for number in range(20)))
    ((_, realm),) = entries_of(written(tmp_path, index))
    assert realm.machine == tuple(str(number) for number in range(10))


def test_directories_of_one_numba_cache_are_one_cache(tmp_path: Path) -> None:
    where = tmp_path / f"package_{'0a' * 20}"
    put(where, "add", b"code")
    assert entries_of(where / "add.py313.nbi")[0][1].cache == tmp_path
    where = tmp_path / "package_0a"
    put(where, "add", b"code")
    assert entries_of(where / "add.py313.nbi")[0][1].cache == where


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "at byte 0: pickle exhausted before seeing STOP"),
        (pickle.dumps(NUMBA, -1), "at byte 21: pickle exhausted before seeing STOP"),
        (index_file(["add.1.nbc"])[:-5], "is longer than the file"),
        (pickle.dumps(1) + pickle.dumps((0, {}), 4), "does not begin with a version"),
        (pickle.dumps("1" * 20_000) + pickle.dumps((0, {}), 4), "does not begin with a version"),
        (pickle.dumps(NUMBA, -1) + pickle.dumps([0], 4), "not contain a stamp and a dict"),
        (
            pickle.dumps(NUMBA, -1) + pickle.dumps((0, [1]), 4),
            "not contain a stamp and a dict",
        ),
        (index_file(["../add.1.nbc"]), "is not a data file"),
        (index_file(["/etc/passwd"]), "is not a data file"),
        (index_file(["add.1.nbc\0.nbc"]), "is not a data file"),
        (index_file(["a" * 255 + ".nbc"]), "is not a data file"),
        (
            pickle.dumps(NUMBA, -1) + pickle.dumps((0, {1: 2}), 4),
            "is not a data file",
        ),
    ],
)
def test_an_index_that_numba_would_not_write_is_refused(
    tmp_path: Path, content: bytes, why: str
) -> None:
    with pytest.raises(CacheFileError, match=why):
        entries_of(written(tmp_path, content))


def test_the_object_code_of_a_function_and_of_a_library_is_found(tmp_path: Path) -> None:
    assert object_code(written(tmp_path, data_file(b"the code"), "add.1.nbc")) == b"the code"
    library = pickle.dumps(("add", "object", (b"the code", BITCODE)), 4)
    assert object_code(written(tmp_path, library, "add.1.nbc")) == b"the code"


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ((), "contains no compiled function"),
        (None, "contains no compiled function"),
        ({"add": 1}, "contains no compiled function"),
        ("abc", "contains no compiled function"),
        ((timedelta(1), 2, 3), "contains no compiled function"),
        (("add", "bitcode", BITCODE), "without object code"),
        ((("add", "bitcode", (BITCODE, BITCODE)), 1), "without object code"),
        ((("add", "object", ()), 1), "without object code"),
        ((("add", "object", ("text", BITCODE)), 1), "without object code"),
    ],
)
def test_a_data_file_without_object_code_is_refused(
    tmp_path: Path, value: object, why: str
) -> None:
    with pytest.raises(CacheFileError, match=why):
        object_code(written(tmp_path, pickle.dumps(value, 4), "add.1.nbc"))


def test_what_is_no_regular_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "add.1.nbc")
    (tmp_path / "add.2.nbc").mkdir()
    for name in ("add.1.nbc", "add.2.nbc"):
        with pytest.raises(CacheFileError, match=r"not a regular file|cannot be read"):
            object_code(tmp_path / name)


def test_a_file_larger_than_the_bound_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numba_files, "LARGEST", 100)
    with pytest.raises(CacheFileError, match="it has more than 100 bytes"):
        object_code(written(tmp_path, data_file(b"x" * 100), "add.1.nbc"))
