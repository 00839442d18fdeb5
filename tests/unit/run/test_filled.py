"""Directories of filled caches: gone after use, and after a process that was killed using one."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from observatory.run.filled import CACHES, filled_caches, sweep
from observatory.store.base.locking import locked_at_once

WEEKS = 30 * 86_400


def use(state: Path, word: str) -> None:
    with filled_caches(state, "compare") as made:
        (made / "numba").mkdir()
        Path(word).write_text(str(made))
        os.kill(os.getpid(), signal.SIGKILL)


def killed(state: Path, word: Path) -> Path:
    """The directory that a killed process left behind."""
    child = os.fork()
    if child == 0:
        use(state, str(word))
    os.waitpid(child, 0)
    return Path(word.read_text())


def test_a_directory_is_empty_at_first_and_gone_at_the_end(tmp_path: Path) -> None:
    with filled_caches(tmp_path, "census") as made:
        assert made.is_absolute()
        assert made.parent == tmp_path / CACHES
        assert list(made.iterdir()) == []
        (made / "numba").mkdir()
    assert list((tmp_path / CACHES).iterdir()) == []


def test_what_a_killed_process_left_goes_with_the_next_use_and_what_is_used_stays(
    tmp_path: Path,
) -> None:
    left = killed(tmp_path, tmp_path / "word")
    assert (left / "numba").is_dir()
    with filled_caches(tmp_path, "upgrade") as first:
        assert not left.exists()
        with filled_caches(tmp_path, "upgrade") as second:
            assert first != second
            assert first.is_dir()


@pytest.mark.parametrize("used", [False, True], ids=["left", "in use"])
def test_a_run_waits_a_week_for_who_continues_it(tmp_path: Path, used: bool) -> None:
    root, old, young = tmp_path, tmp_path / "run-1", tmp_path / "run-2"
    for run in (old, young):
        (run / "environment").mkdir(parents=True)
        (run / "environment" / "numba").mkdir()
    for path in (old / "environment", old):
        os.utime(path, (time.time() - WEEKS,) * 2)
    if used:
        with locked_at_once(old / "environment") as ours:
            assert ours
            sweep(root)
    else:
        sweep(root)
    assert (old / "environment" / "numba").is_dir() == used
    assert (young / "environment" / "numba").is_dir()


def test_there_need_be_nothing_to_sweep(tmp_path: Path) -> None:
    sweep(tmp_path / "none")
    (tmp_path / "a file").touch()
    sweep(tmp_path)
    assert (tmp_path / "a file").exists()
