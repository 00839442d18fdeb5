"""The lock of a machine: one run measures at a time."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from observatory.run import local
from observatory.run.environments import EnvironmentMakingError, Environments
from observatory.store.base.locking import holder_of, locked
from tests.factories import subject

HOLD = """
import sys
from observatory.run import local
with local.measuring_lock(lambda text: print(text, flush=True)):
    print("held", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture(autouse=True)
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    assert Path(local._LOCKED).is_dir()  # on every machine: a file would be left behind
    monkeypatch.setenv(local.LOCK, str(tmp_path))
    return tmp_path


def test_a_second_run_waits_for_the_first_and_says_so_once(place: Path) -> None:
    said: list[str] = []
    order: list[str] = []
    waits = threading.Event()

    def say(text: str) -> None:
        said.append(text)
        waits.set()

    def second() -> None:
        with local.measuring_lock(say):
            order.append("second")

    with local.measuring_lock(say):
        thread = threading.Thread(target=second)
        thread.start()
        assert waits.wait(120)
        order.append("first")
    thread.join(120)
    assert order == ["first", "second"]
    (sentence,) = said
    pattern = r"another run is measuring on this machine( \(.+\))?; waiting for it to end"
    assert re.fullmatch(pattern, sentence)
    assert list(place.iterdir()) == []


def test_who_waits_is_told_whose_run_it_is(place: Path) -> None:
    if holder_of(place) is not None or not _kernel_names_holders(place):
        pytest.skip("this kernel does not say who holds a lock")
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, "--releases", "3.3.7..3.3.8"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as holder:  # fmt: skip
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        said: list[str] = []

        def say(text: str) -> None:
            said.append(text)
            holder.kill()

        with local.measuring_lock(say):
            pass
    assert f"(process {holder.pid}: " in said[0]


def test_a_run_gives_way_to_one_that_waits(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A comparison must not wait for a whole night."""
    if not _kernel_names_holders(place):
        pytest.skip("this kernel does not say who waits for a lock")
    monkeypatch.setattr(local, "_LASTS", -1.0)
    said: list[str] = []
    measured: list[str] = []
    with local.measuring_lock(said.append) as turn:
        assert not turn.is_over()
        with subprocess.Popen(
            [sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as other:
            assert other.stdout is not None
            assert "another run is measuring" in other.stdout.readline()
            while not turn.is_over():
                time.sleep(0.01)
            thread = threading.Thread(target=_released, args=(other, measured))
            thread.start()
            turn.give_way()
            assert measured == ["held\n"]  # before this run took the lock again
            thread.join()
    assert said == [
        "another run waits for this machine: it measures first, then this one continues"
    ]


def _released(other: subprocess.Popen[str], measured: list[str]) -> None:
    """End a process that holds the lock, and remember what it said."""
    assert other.stdout is not None
    measured.append(other.stdout.readline())
    time.sleep(0.3)  # so that it is seen; otherwise the run that gives way waits ten seconds
    other.kill()
    other.wait()


def _kernel_names_holders(place: Path) -> bool:
    with locked(place):
        listed = Path("/proc/locks")
        return listed.exists() and f" {os.getpid()} " in listed.read_text()


@pytest.mark.usefixtures("place")
def test_a_holder_that_is_killed_does_not_block_the_machine() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        holder.kill()
        holder.wait()
    with local.measuring_lock(pytest.fail):
        pass


def test_runs_with_other_directories_measure_at_once(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def waits(sentence: str) -> None:
        raise AssertionError(sentence)

    other = place / "other"
    other.mkdir()
    with local.measuring_lock(waits):
        monkeypatch.setenv(local.LOCK, str(other))
        with local.measuring_lock(waits):
            pass


def test_git_ignores_the_state_in_any_clone(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    state = local.hidden_from_git(tmp_path / ".observatory")
    (state / "envs").mkdir()
    (state / "envs" / "one").write_text("")
    asked = ["git", "-C", str(tmp_path), "status", "--short", "--untracked-files=all"]
    assert subprocess.run(asked, capture_output=True, check=True).stdout == b""
    (state / ".gitignore").write_text("!*\n")  # somebody's own stays
    local.hidden_from_git(state)
    assert (state / ".gitignore").read_text() == "!*\n"


@pytest.mark.parametrize(
    ("extra", "required"),
    [
        ("numba==0.66.0", "numba==0.66.0"),
        ("numba==0.68.0+whl.0a1b2c3d", "numba @ file:///tmp/numba-0.68.0-py3-none-any.whl"),
    ],
)
def test_a_numba_that_a_person_named_is_installed_against_the_bound_of_pytensor(
    extra: str, required: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, ...]] = []

    def ensure(environments: Environments, *_: object) -> str:
        asked.append(environments.overrides)
        if not environments.overrides:
            raise EnvironmentMakingError("no solution found")
        return "made"

    monkeypatch.setattr(Environments, "ensure", ensure)
    found = SimpleNamespace(found=SimpleNamespace(of=lambda _: None))
    requirements = ("pytensor==3.3.0", "numba-scipy==1.0", required)
    own = subject("3.3.0", requirements=requirements, extras=(extra, "numba-scipy==1.0"))
    assert local.environment_of(own, found, tmp_path) == "made"  # type: ignore[comparison-overlap,arg-type]
    assert asked == [(), (required,)]
    plain = subject("3.3.0", requirements=("pytensor==3.3.0", "numba==0.66.0"))
    with pytest.raises(EnvironmentMakingError):
        local.environment_of(plain, found, tmp_path)  # type: ignore[arg-type]
