"""Other processes of a contract: forked ones, and fresh ones with a hash seed of their own.

Each gives an answer that JSON can hold. Run as a module, this is a fresh one:
`python -m benchmarks.contracts.others MODULE FUNCTION ARGUMENTS`.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO

from benchmarks.contracts.contract import one_line
from benchmarks.parent import end_with_parent
from benchmarks.sandbox import new_seed

_PATIENCE = 120.0
"""Seconds for a fresh process."""


class OtherDied(Exception):
    """Raised where another process gave no answer; the message says how it ended."""


@dataclass(frozen=True)
class Forked:
    """A forked child under way."""

    pid: int
    stream: BinaryIO

    def ended(self) -> bool:
        """Whether it has answered or died; `answer` is still to be called."""
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None

    def answer(self) -> Any:
        """Wait for its answer. Raises OtherDied."""
        with self.stream:
            said = self.stream.read()
        _, status = os.waitpid(self.pid, 0)
        return _read(said, os.waitstatus_to_exitcode(status), "a forked child")


def start(function: Callable[[], Any]) -> Forked:
    """Fork a child that calls the function and leaves by os._exit, as a worker of a pool does."""
    reading, writing = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        end_with_parent(signal.SIGKILL, parent)
        try:
            os.close(reading)
            with os.fdopen(writing, "wb") as stream:
                stream.write(_answer(function))
        finally:
            os._exit(0)
    os.close(writing)
    return Forked(pid, os.fdopen(reading, "rb"))


def forked(function: Callable[[], Any]) -> Any:
    """What the function returns in a forked child. Raises OtherDied."""
    return start(function).answer()


def fresh(function: Callable[..., Any], *arguments: Any, hash_seed: int | None = None) -> Any:
    """What a function of a module returns in a fresh interpreter.

    Raises OtherDied, and TimeoutError after two minutes.
    """
    command = [sys.executable, "-m", __name__, function.__module__, function.__qualname__]
    environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed or new_seed())}
    try:
        done = subprocess.run(
            [*command, json.dumps(arguments)],
            capture_output=True,
            env=environment,
            timeout=_PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise TimeoutError(f"a fresh process did not end within {_PATIENCE:g} s") from error
    lines = done.stdout.splitlines()
    return _read(lines[-1] if lines else b"", done.returncode, "a fresh process", done.stderr)


def _answer(function: Callable[[], Any]) -> bytes:
    try:
        return json.dumps({"value": function()}).encode()
    except Exception as error:
        traceback.print_exc()
        return json.dumps({"raised": one_line(error)}).encode()


def _read(said: bytes, code: int, who: str, stderr: bytes = b"") -> Any:
    if code < 0:
        raise OtherDied(f"{who} died of {signal.Signals(-code).name}")
    try:
        answer = json.loads(said)
    except ValueError as error:
        last = stderr.decode(errors="replace").strip().rpartition("\n")[2][:300]
        raise OtherDied(f"{who} gave no answer (exit code {code}): {last}") from error
    if "raised" in answer:
        raise OtherDied(f"{who} raised {answer['raised']}")
    return answer["value"]


def main() -> None:
    """Be a fresh process: call the function that is named and print its answer."""
    end_with_parent(signal.SIGKILL)
    module, name, arguments = sys.argv[1:]
    answer = _answer(lambda: getattr(importlib.import_module(module), name)(*json.loads(arguments)))
    sys.stdout.buffer.write(b"\n" + answer + b"\n")


if __name__ == "__main__":
    main()
