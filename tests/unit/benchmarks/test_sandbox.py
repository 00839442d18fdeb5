"""The sandbox: directories and environment of one sample."""

from __future__ import annotations

import fcntl
import os
import pickle
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from observatory.benchmarks.catalogue import BACKENDS
from observatory.benchmarks.fillers import CacheError, read_seed, row_of_names
from observatory.benchmarks.flags import parsed
from observatory.benchmarks.sandbox import MOST_LEAKED, Sandbox
from observatory.benchmarks.sweeping import sweep


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return Sandbox.make()


def test_sandboxes_of_one_name_do_not_meet(box: Sandbox) -> None:
    first, second = (Sandbox.make(row_of_names(None)) for _ in range(2))
    assert len({first.path, second.path, box.path}) == 3
    first.remove()
    assert Sandbox.make(row_of_names(None)).path == first.path


def test_a_sample_that_counts_work_has_the_name_of_the_sandbox_that_filled_its_cache(
    box: Sandbox, tmp_path: Path
) -> None:
    first, filler = (Sandbox.make(row_of_names(None)) for _ in range(2))
    filler.keep_cache(tmp_path / "kept", 1)
    first.remove()
    filler.remove()
    assert Sandbox.make(row_of_names(tmp_path / "kept")).path == filler.path
    assert Sandbox.make(row_of_names(tmp_path / "kept")).path == first.path  # the other is taken
    box.keep_cache(tmp_path / "kept", 1)  # of a sandbox with a random name
    assert next(row_of_names(tmp_path / "kept")) == first.path.name


@pytest.mark.parametrize(
    "name",
    ["PYTHONSTARTUP", "PYTENSOR_FLAGS", "PYTENSORRC", "NUMBA_DISABLE_JIT", "OMP_NUM_THREADS"],
)
def test_settings_of_the_user_do_not_reach_the_measured_process(
    box: Sandbox, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "of the user")
    assert box.environment(1, None).get(name) != "of the user"


def test_everything_the_subject_writes_lands_in_the_sandbox(box: Sandbox) -> None:
    env = box.environment(7, "numba__cache=False")
    assert env["PYTENSOR_FLAGS"] == f"base_compiledir={box.cache / 'pytensor'},numba__cache=False"
    assert Path(env["NUMBA_CACHE_DIR"]).is_relative_to(box.cache)
    assert env["TMPDIR"] == str(box.tmp)
    assert env["PYTHONHASHSEED"] == "7"


@pytest.mark.parametrize("name", ["a,b", "a#b", "it's", "a b"])
def test_no_name_of_a_directory_moves_the_cache_out_of_the_sandbox(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / name).mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / name))
    box = Sandbox.make()
    flags = dict(parsed(box.environment(7, "numba__cache=False")["PYTENSOR_FLAGS"]))
    assert flags == {
        "base_compiledir": str(box.cache / "pytensor"), "numba__cache": "False",
    }  # fmt: skip


def test_a_leaked_file_whose_name_is_no_text_is_named(box: Sandbox) -> None:
    Path(os.fsdecode(os.fsencode(box.tmp) + b"/one\xff")).touch()
    (name,) = box.leaked()
    assert name.encode() == "one\ufffd".encode()


def test_a_kept_cache_remembers_the_hash_seed_of_its_filler(box: Sandbox, tmp_path: Path) -> None:
    (box.cache / "pytensor" / "entry").write_text("code")
    box.keep_cache(tmp_path / "kept", 1234)
    other = Sandbox.make()
    other.start_from(tmp_path / "kept")
    assert read_seed(tmp_path / "kept") == 1234
    assert (other.cache / "pytensor" / "entry").read_text() == "code"


def test_c_modules_of_a_copied_cache_name_the_files_of_the_copy(
    box: Sandbox, tmp_path: Path
) -> None:
    """PyTensor compares the path in a key with that of the module, and resolves both if unequal."""
    module = Path("pytensor", "compiledir_Linux", "tmp0")
    (box.cache / module).mkdir(parents=True)
    key, code = box.cache / module / "key.pkl", box.cache / module / "m0.so"
    key.write_bytes(pickle.dumps(str(code)))
    code.write_text(str(code))
    box.keep_cache(tmp_path / "kept", 1)
    other = Sandbox.make()
    other.start_from(tmp_path / "kept")
    assert pickle.loads((other.cache / module / "key.pkl").read_bytes()) == str(
        other.cache / module / "m0.so"
    )
    assert (other.cache / module / "m0.so").read_text() == str(code)  # no other file is touched


def test_a_copy_of_a_cache_never_writes_back(box: Sandbox, tmp_path: Path) -> None:
    box.keep_cache(tmp_path / "kept", 1)
    other = Sandbox.make()
    other.start_from(tmp_path / "kept")
    (other.cache / "pytensor" / "new").write_text("a miss")
    assert not (tmp_path / "kept" / "pytensor" / "new").exists()


def test_a_directory_that_is_no_kept_cache_is_refused(box: Sandbox, tmp_path: Path) -> None:
    with pytest.raises(CacheError, match="is not a filled cache: take a cold sample"):
        box.start_from(tmp_path)


def test_files_left_in_the_temporary_directory_are_counted(box: Sandbox) -> None:
    (box.tmp / "deep").mkdir()
    (box.tmp / "deep" / "one").touch()
    (box.tmp / "two").touch()
    assert box.leaked() == {"deep/one": 1, "two": 1}


def test_what_chance_gives_a_leaked_file_is_no_part_of_its_name(box: Sandbox) -> None:
    for name in ("tmp585xqzph", "tmpg9_wtixd"):
        (box.tmp / name).write_text("import math\n\ndef perform(x):\n    return x\n")
    (box.tmp / "pid-12345").write_bytes(b"\xff")
    (box.tmp / "gone").symlink_to(box.tmp / "absent")
    assert box.leaked() == {"tmp*: def perform": 2, "gone": 1, "pid-*": 1}


def test_many_kinds_of_leaked_files_are_cut_and_none_is_lost(box: Sandbox) -> None:
    for number in range(MOST_LEAKED + 5):
        (box.tmp / f"{chr(97 + number % 26)}{number // 26}").touch()
    found = box.leaked()
    assert (len(found), found["others"], sum(found.values())) == (31, 5, MOST_LEAKED + 5)


def test_sandboxes_of_dead_processes_are_swept_and_those_of_living_ones_stay(
    box: Sandbox, tmp_path: Path
) -> None:
    dead = Sandbox.make()
    os.close(dead.lock)  # what the kernel does when a process ends
    assert sweep() == [dead.path]
    assert box.path.exists()


def test_a_sandbox_that_is_being_made_is_left_alone(box: Sandbox, tmp_path: Path) -> None:
    young = tmp_path / "observatory-sandbox-young"  # its owner has not locked it yet
    young.mkdir()
    assert sweep() == []
    assert young.exists()


def test_a_sandbox_that_was_swept_before_it_was_locked_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    lock, swept = fcntl.flock, []

    def late(file: int, how: int) -> None:
        if how == fcntl.LOCK_EX and not swept:  # another sample begins at this moment
            swept.extend(sweep())
        lock(file, how)

    monkeypatch.setattr("observatory.benchmarks.sandbox.fcntl.flock", late)
    made = Sandbox.make()
    assert len(swept) == 1
    assert made.path not in swept
    assert made.cache.is_dir()
    assert sweep() == []  # it is locked


class Terminated(Exception):
    pass


@pytest.fixture
def terminated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """SIGTERM raises in this process, as it does in that of a sample."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def terminate(_number: int, _frame: object) -> None:
        raise Terminated

    before = signal.signal(signal.SIGTERM, terminate)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.usefixtures("terminated")
def test_a_sample_terminated_while_its_sandbox_is_made_leaves_no_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = fcntl.flock

    def terminate(file: int, how: int) -> None:
        signal.raise_signal(signal.SIGTERM)
        lock(file, how)

    monkeypatch.setattr("observatory.benchmarks.sandbox.fcntl.flock", terminate)
    with pytest.raises(Terminated), Sandbox.open():
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("terminated")
def test_a_sample_terminated_again_while_it_cleans_up_leaves_no_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remove = shutil.rmtree

    def terminate(path: Path, ignore_errors: bool) -> None:
        signal.raise_signal(signal.SIGTERM)
        remove(path, ignore_errors=ignore_errors)

    monkeypatch.setattr("observatory.benchmarks.sandbox.shutil.rmtree", terminate)
    with pytest.raises(Terminated), Sandbox.open():
        signal.raise_signal(signal.SIGTERM)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_a_dying_process_adds_is_removed_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    remove, times = shutil.rmtree, []

    def late(path: Path, ignore_errors: bool) -> None:
        remove(path, ignore_errors=ignore_errors)
        if not times:
            (path / "tmp").mkdir(parents=True)
        times.append(path)

    monkeypatch.setattr("observatory.benchmarks.sandbox.shutil.rmtree", late)
    with Sandbox.open():
        pass
    assert list(tmp_path.iterdir()) == []


def test_our_own_note_in_a_cache_is_not_measured(box: Sandbox, tmp_path: Path) -> None:
    (box.cache / "pytensor" / "entry").write_text("code")
    box.keep_cache(tmp_path / "kept", 1)
    other = Sandbox.make()
    other.start_from(tmp_path / "kept")
    assert other.cache_bytes() == box.cache_bytes() == 4


def test_what_a_filler_left_is_not_leaked_by_the_measured_process(box: Sandbox) -> None:
    (box.tmp / "pymp-x").mkdir()
    (box.tmp / "pymp-x" / "file").touch()
    box.empty_tmp()
    assert box.leaked() == {}


def test_what_a_package_caches_in_the_temporary_directory_is_in_the_caches(
    box: Sandbox, tmp_path: Path
) -> None:
    for _ in range(2):  # a second process of the sample finds it
        box.link_caches(BACKENDS["MLX"])
    (box.tmp / "mlx" / "kernel").write_text("code")
    assert (box.leaked(), box.cache_bytes()) == ({}, 4)
    box.keep_cache(tmp_path / "kept", 1)
    other = Sandbox.make()
    other.start_from(tmp_path / "kept")
    other.link_caches(BACKENDS["MLX"])
    assert (other.tmp / "mlx" / "kernel").read_text() == "code"


def test_a_named_pipe_that_was_left_behind_is_named_and_not_waited_for(box: Sandbox) -> None:
    os.mkfifo(box.tmp / "pipe")
    assert box.leaked() == {"pipe": 1}


def test_a_place_that_cannot_keep_a_cache_is_named_and_nothing_stays_there(
    box: Sandbox, tmp_path: Path
) -> None:
    (tmp_path / "kept").write_text("a file")
    with pytest.raises(CacheError, match=r"kept in .*kept: Not a directory"):
        box.keep_cache(tmp_path / "kept", 1)
    assert [path.name for path in tmp_path.glob("kept*")] == ["kept"]
