"""What a cache contains, who can load it, and what may be deleted."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from observatory.guard.caches.entries import STATES, Reader
from observatory.guard.caches.judging import NoEntriesError, Report, inspect
from tests.factories_cache import COMPILEDIR, aged, library, put_module
from tests.factories_scan import MACHINE, NUMBA, RANDOM_UID, mangled, object_of, put

NOW = 1_790_000_000.0
DAY = 24 * 3600.0
FGRAPH = "pytensor.link.numba.dispatch.basic.numba_funcified_fgraph"
READER = Reader("python", "3.13.0", "3.3.8", NUMBA, MACHINE, "0x2000000")


def sound(directory: Path, name: str = "sound", numba: str = NUMBA) -> list[Path]:
    """A function that no other shares its symbol with."""
    uid = RANDOM_UID + sum(map(ord, name))
    paths = put(directory, name, object_of({mangled(FGRAPH, uid): "x"}), numba=numba)
    for path in directory.iterdir():
        aged(path, NOW - DAY)
    return paths


def inspected(directory: Path, readers: Sequence[Reader] = (READER,)) -> Report:
    return inspect(directory, readers, NOW)


def states(report: Report) -> dict[str, int]:
    found: dict[str, int] = {}
    for group in report.groups:
        found[group.state] = found.get(group.state, 0) + group.entries
    return found


def test_what_a_python_can_load_is_usable_and_stays(tmp_path: Path) -> None:
    sound(tmp_path / "numba")
    put_module(tmp_path / COMPILEDIR, "tmp1", NOW - DAY)
    report = inspected(tmp_path)
    assert states(report) == {"usable": 2}
    assert (report.deletable, report.deletable_size) == ([], 0)
    assert {group.origin.processor for group in report.groups} == {"znver4", "znver3"}


def test_a_look_at_a_module_is_no_use_of_it(tmp_path: Path) -> None:
    """PyTensor ignores and deletes what nobody used for 24 days, by the time of last access."""
    module = put_module(tmp_path / COMPILEDIR, "tmp1", NOW - 40 * DAY)
    for _ in range(2):
        assert states(inspected(tmp_path)) == {"old": 1}
    assert {path.stat().st_atime for path in module.iterdir()} == {NOW - 40 * DAY}


def test_a_module_that_may_not_be_read_is_named_and_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_module(tmp_path / COMPILEDIR, "tmp1", NOW - DAY)
    shut = put_module(tmp_path / COMPILEDIR, "tmp2", NOW - DAY)
    listed = Path.iterdir

    def refused(self: Path) -> Iterator[Path]:
        if self == shut:
            raise PermissionError(13, "Permission denied", str(self))
        return listed(self)

    monkeypatch.setattr(Path, "iterdir", refused)
    report = inspected(tmp_path)
    assert states(report) == {"usable": 1, "unreadable": 1}
    (finding,) = report.findings
    assert finding.reason == "it cannot be read: Permission denied"
    assert report.deletable == []


def test_functions_that_may_not_be_read_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They may be somebody else's; so may the code that an unreadable index refers to."""
    first, second = tmp_path / "one", tmp_path / "two"
    sound(first, "hidden")
    sound(second, "other")
    (index,), (code,) = first.glob("*.nbi"), second.glob("*.nbc")
    for path in (index, code):
        path.write_bytes(b"")  # what a reader without rights sees of them
        aged(path, NOW - DAY)
    assert states(inspected(tmp_path)).get("broken") == 2
    secret = {index, code}
    monkeypatch.setattr(os, "access", lambda path, _: Path(path) not in secret)
    report = inspected(tmp_path)
    assert states(report) == {"unreadable": 3}
    assert report.deletable == []


@pytest.mark.parametrize("where", ["", "host", "host/c"])
def test_modules_are_found_whatever_their_directory_is_called(tmp_path: Path, where: str) -> None:
    """The flag `compiledir_format` may name it: a Python of any version may load them."""
    put_module(tmp_path / where, "tmp1", NOW - DAY)
    sound(tmp_path / "numba")
    assert states(inspected(tmp_path)) == {"usable": 2}


def test_a_module_is_as_old_as_pytensor_is_told(tmp_path: Path) -> None:
    put_module(tmp_path / COMPILEDIR, "tmp1", NOW - 40 * DAY)
    assert states(inspect(tmp_path, [READER], NOW)) == {"old": 1}
    assert states(inspect(tmp_path, [READER], NOW, 60 * DAY)) == {"usable": 1}


@pytest.mark.parametrize("age", [60.0, 40 * DAY])
def test_modules_that_are_imported_by_path_are_never_old_and_need_no_key(
    tmp_path: Path, age: float
) -> None:
    module = put_module(tmp_path / COMPILEDIR, "lazylinker_ext", NOW - age)
    (module / "key.pkl").unlink()
    assert states(inspected(tmp_path)) == {"usable": 1}


@pytest.mark.parametrize(
    ("reader", "reason"),
    [
        (Reader("python", "3.12.4", "3.3.8", NUMBA, MACHINE, "0x2000000"), "not for Python 3.12"),
        (Reader("python", "3.13.0", "3.3.8", "9.9", MACHINE, "0x2000000"), "not for numba 9.9"),
        (
            Reader("python", "3.13.0", "3.3.8", NUMBA, ("x", "haswell", ""), "0x2000000"),
            "not for processor haswell",
        ),
        (Reader("python", "3.13.0", "3.3.8"), "python has no numba"),
    ],
)
def test_a_function_that_no_python_can_load_says_why(
    tmp_path: Path, reader: Reader, reason: str
) -> None:
    sound(tmp_path)
    report = inspected(tmp_path, [reader])
    assert [(one.state, one.reason) for one in report.groups] == [("other", reason)]
    assert report.deletable == ["sound.py313.1.nbc", "sound.py313.nbi"]
    assert states(inspected(tmp_path, [reader, READER])) == {"usable": 1}


@pytest.mark.parametrize(
    ("reader", "reason"),
    [
        (Reader("python", "3.13.1", "3.3.8", numpy_abi="0x2000000"), "not for Python 3.13.1"),
        (Reader("python", "3.13.0", "3.3.8", numpy_abi="0x1"), "not for NumPy's ABI 0x1"),
        (Reader("python", "3.13.0", numpy_abi="0x2000000"), "python has no PyTensor"),
    ],
)
def test_a_module_that_no_python_can_load_says_why(
    tmp_path: Path, reader: Reader, reason: str
) -> None:
    put_module(tmp_path / COMPILEDIR, "tmp1", NOW - DAY)
    report = inspected(tmp_path, [reader])
    assert [(one.state, one.reason) for one in report.groups] == [("other", reason)]
    assert report.deletable == [f"{COMPILEDIR}/tmp1"]


def test_without_a_python_nothing_is_called_usable_or_deletable(tmp_path: Path) -> None:
    sound(tmp_path)
    report = inspected(tmp_path, [])
    assert (states(report), report.deletable) == ({"unknown": 1}, [])


def test_files_that_no_process_loads_may_be_deleted(tmp_path: Path) -> None:
    """The index of what remains stays, and so does what may be a build that is going on."""
    data = sound(tmp_path)[0]
    (tmp_path / "alone.py313.1.nbc").write_bytes(data.read_bytes())
    aged(tmp_path / "alone.py313.1.nbc", NOW - DAY)
    (tmp_path / "just.py313.1.nbc").write_bytes(data.read_bytes())
    aged(tmp_path / "just.py313.1.nbc", NOW - 60)
    (tmp_path / "sound.py313.nbi.tmp.1f").write_bytes(b"")
    aged(tmp_path / "sound.py313.nbi.tmp.1f", NOW - DAY)
    report = inspected(tmp_path)
    assert states(report) == {"usable": 1, "unreachable": 1, "new": 1, "leftover": 1}
    assert report.deletable == ["alone.py313.1.nbc", "sound.py313.nbi.tmp.1f"]
    assert report.deletable_size == data.stat().st_size


def test_a_truncated_function_is_broken_and_a_missing_one_is_not_deleted(tmp_path: Path) -> None:
    first = sound(tmp_path, "first")[0]
    second = sound(tmp_path, "second")[0]
    first.write_bytes(first.read_bytes()[:100])
    second.unlink()
    report = inspected(tmp_path)
    assert [(one.state, one.name) for one in report.findings] == [
        ("broken", "first.py313"), ("missing", "second.py313"),
    ]  # fmt: skip
    assert report.findings[0].reason
    # An index that refers to nothing any more goes, too.
    assert report.deletable == ["first.py313.1.nbc", "first.py313.nbi", "second.py313.nbi"]


def test_a_function_that_shares_its_symbol_is_named(tmp_path: Path) -> None:
    put(tmp_path, "one", object_of({mangled(FGRAPH, 1): "x * 0.1"}))
    put(tmp_path, "other", object_of({mangled(FGRAPH, 1): "x * 0.2"}))
    put(tmp_path, "third", object_of({mangled(FGRAPH, 2): "x * 0.2"}))
    report = inspected(tmp_path)
    assert [one.state for one in report.findings] == ["collided", "collided", "vulnerable"]
    assert FGRAPH in report.findings[0].reason


def test_modules_that_pytensor_would_not_load_may_be_deleted(tmp_path: Path) -> None:
    compiledir = tmp_path / COMPILEDIR
    put_module(compiledir, "tmp_good", NOW - 90 * DAY, used=NOW - DAY)
    put_module(compiledir, "tmp_old", NOW - 90 * DAY, used=NOW - 25 * DAY)
    marked = put_module(compiledir, "tmp_marked", NOW - DAY)
    aged(_written(marked / "delete.me"), NOW - DAY)
    (put_module(compiledir, "tmp_keyless", NOW - DAY) / "key.pkl").unlink()
    (put_module(compiledir, "tmp_empty", NOW - DAY) / "m1.so").unlink()
    short = put_module(compiledir, "tmp_short", NOW - DAY) / "m1.so"
    short.write_bytes(library()[:-1])
    key = put_module(compiledir, "tmp_key", NOW - DAY) / "key.pkl"
    key.write_bytes(pickle.dumps(["-O3"])[:-2])
    for path in (short, key):
        aged(path, NOW - DAY)
    (put_module(compiledir, "tmp_going_on", NOW - 60) / "key.pkl").unlink()
    (put_module(compiledir, "lazylinker_ext", NOW - DAY) / "key.pkl").unlink()
    report = inspected(tmp_path)
    assert states(report) == {"usable": 2, "old": 1, "leftover": 3, "broken": 2, "new": 1}
    assert report.deletable == [
        f"{COMPILEDIR}/tmp_{name}" for name in ("empty", "key", "keyless", "marked", "old", "short")
    ]


def _written(path: Path) -> Path:
    path.write_bytes(b"")
    return path


def test_links_are_neither_followed_nor_deleted(tmp_path: Path) -> None:
    outside = put_module(tmp_path / "outside" / COMPILEDIR, "tmp1", NOW - DAY)
    (outside / "m1.so").unlink()
    inside = tmp_path / "cache"
    sound(inside)
    (inside / COMPILEDIR).symlink_to(outside.parent, target_is_directory=True)
    other = inside / "compiledir_x-3.13.0-64"
    other.mkdir()
    (other / "tmp1").symlink_to(outside, target_is_directory=True)
    report = inspected(inside)
    assert (states(report), report.deletable) == ({"usable": 1}, [])


@pytest.mark.parametrize("name", ["absent", "empty"])
def test_a_directory_without_a_cache_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(NoEntriesError, match=name):
        inspected(tmp_path / name)


@settings(max_examples=30, deadline=None)
@given(key=st.binary(max_size=200), module=st.binary(max_size=200), cut=st.integers(0, 20_000))
def test_hostile_files_are_entries_and_never_errors(
    tmp_path_factory: pytest.TempPathFactory, key: bytes, module: bytes, cut: int
) -> None:
    directory = tmp_path_factory.mktemp("hostile")
    made = put_module(directory / COMPILEDIR, "tmp1", NOW - DAY)
    (made / "key.pkl").write_bytes(key)
    (made / "m1.so").write_bytes(module or library()[:cut])
    for file in made.iterdir():
        os.utime(file, (NOW - DAY, NOW - DAY))
    report = inspected(directory)
    assert report.entries == 1
    assert {group.state for group in report.groups} <= set(STATES)
