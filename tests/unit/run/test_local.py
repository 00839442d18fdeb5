"""The lock of a machine: one run measures at a time."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from observatory.run import local

HOLD = """
import sys
from pathlib import Path
from observatory.run import local
local._LOCKED = Path(sys.argv[1])
with local.measuring_lock(print):
    print("held", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture(autouse=True)
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    assert local._LOCKED.is_dir()  # on every machine: a file would be left behind
    monkeypatch.setattr(local, "_LOCKED", tmp_path)
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
        assert waits.wait(30)
        order.append("first")
    thread.join(30)
    assert order == ["first", "second"]
    assert said == ["another run is measuring on this machine; waiting for it to end"]
    assert list(place.iterdir()) == []


def test_a_holder_that_is_killed_does_not_block_the_machine(place: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(place)],
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
