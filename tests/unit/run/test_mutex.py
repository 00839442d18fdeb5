"""The mutex of a machine: who measures is alone."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from observatory.run import mutex

HOLD = """
import sys
from observatory.run import mutex
mutex._NAME = sys.argv[1]
with mutex.alone(print):
    print("held", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture(autouse=True)
def own_name(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    name = f"observatory-test-{request.node.name}-{id(request)}"[:100]
    monkeypatch.setattr(mutex, "_NAME", "\0" + name)
    return name


def test_a_second_run_waits_for_the_first_and_says_so_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks: list[float] = []
    looked_often = threading.Event()

    def sleep(seconds: float) -> None:
        looks.append(seconds)
        if len(looks) == 3:
            looked_often.set()
        looked_often.wait(0.001)

    monkeypatch.setattr(mutex.time, "sleep", sleep)
    said: list[str] = []
    order: list[str] = []

    def second() -> None:
        with mutex.alone(said.append, poll=0.01):
            order.append("second")

    with mutex.alone(said.append):
        thread = threading.Thread(target=second)
        thread.start()
        assert looked_often.wait(30)
        order.append("first")
    thread.join(30)
    assert order == ["first", "second"]
    assert said == ["another run is measuring on this machine; waiting for it to end"]
    assert set(looks) == {0.01}


def test_a_holder_that_is_killed_does_not_block_the_machine(own_name: str) -> None:
    code = HOLD.replace("sys.argv[1]", "chr(0) + sys.argv[1]")
    with subprocess.Popen(
        [sys.executable, "-c", code, own_name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        holder.kill()
        holder.wait()
    with mutex.alone(pytest.fail):
        pass
