"""Claims on CPUs: none is owned by two processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from observatory.run.cpus import CpusTakenError, claim


def test_each_worker_gets_cpus_of_its_own_and_gives_them_back(tmp_path: Path) -> None:
    first, second = claim(1, {4, 5, 6}, tmp_path), claim(2, {4, 5, 6}, tmp_path)
    assert (first.cpus, second.cpus) == ((4,), (5, 6))
    first.release()
    assert claim(1, {4, 5, 6}, tmp_path).cpus == (4,)


def test_a_worker_that_would_share_is_refused_and_keeps_nothing(tmp_path: Path) -> None:
    held = claim(1, {4}, tmp_path)
    said = r"needs 2 CPUs of its own; this one may use 2 CPUs .4, 5., of which other.* own 4"
    with pytest.raises(CpusTakenError, match=said):
        claim(2, {4, 5}, tmp_path)
    assert claim(1, {4, 5}, tmp_path).cpus == (5,)
    held.release()


def test_a_claim_ends_with_its_process(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from observatory.run.cpus import claim\n"
        f"kept = claim(1, {{7}}, Path({str(tmp_path)!r})); print('has it', flush=True)\n"
        "sys.stdin.read()"
    )
    owner = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert owner.stdout is not None
    assert owner.stdout.readline() == b"has it\n"
    with pytest.raises(CpusTakenError):
        claim(1, {7}, tmp_path)
    owner.kill()
    owner.communicate()
    assert claim(1, {7}, tmp_path).cpus == (7,)


def test_what_one_user_gave_back_another_may_claim_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        claim(1, {5}, tmp_path).release()
    finally:
        os.umask(before)
    assert (tmp_path / "observatory-cpu-5").stat().st_mode & 0o777 == 0o666


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "observatory-cpu-3").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic"):
        claim(1, {3}, tmp_path)
    assert not (tmp_path / "elsewhere").exists()
