"""Call a function in another process: in a forked child, or in a fresh interpreter.

The result is returned as JSON. `python -m benchmarks.workers MODULE FUNCTION ARGUMENTS` is the
fresh interpreter.
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

from .fillers import new_seed
from .messages import name_of_signal
from .parent import end_with_parent, fork
from .raised import one_line

_PATIENCE = 120.0
"""Seconds for a fresh interpreter."""


class WorkerDied(Exception):
    """Raised when another process returned no result; the message says how it ended."""


@dataclass(frozen=True)
class Forked:
    """A forked child that is still running."""

    pid: int
    stream: BinaryIO

    def ended(self) -> bool:
        """Return whether it has answered or died. `answer` must be called in either case."""
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None

    def answer(self) -> Any:
        """Wait for the child and return its answer. Raises WorkerDied."""
        with self.stream:
            answer = self.stream.read()
        _, status = os.waitpid(self.pid, 0)
        return _read(answer, os.waitstatus_to_exitcode(status), "a forked child")


def start(function: Callable[[], Any]) -> Forked:
    """Fork a child that calls the function and leaves by `os._exit`, like a worker of a pool.

    The function returns what JSON can hold. Raises OSError if this process cannot fork.
    """
    reading, writing = os.pipe()

    def answer() -> int:
        os.close(reading)
        with os.fdopen(writing, "wb") as stream:
            stream.write(_answer(function))
        return 0

    pid = fork(answer)
    os.close(writing)
    return Forked(pid, os.fdopen(reading, "rb"))


def forked(function: Callable[[], Any]) -> Any:
    """Call the function in a forked child and return its answer. Raises WorkerDied."""
    return start(function).answer()


def fresh(function: Callable[..., Any], *arguments: Any, hash_seed: int | None = None) -> Any:
    """Call a function at the top of a module in a fresh interpreter and return its answer.

    ``arguments``: what JSON can hold. ``hash_seed``: PYTHONHASHSEED; None: a new one. Raises
    WorkerDied, and TimeoutError after two minutes.
    """
    command = [sys.executable, "-m", __name__, function.__module__, function.__qualname__]
    seed = new_seed() if hash_seed is None else hash_seed
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
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


def _read(output: bytes, code: int, who: str, stderr: bytes = b"") -> Any:
    if code < 0:
        raise WorkerDied(f"{who} died of {name_of_signal(-code)}")
    try:
        answer = json.loads(output)
    except ValueError as error:
        last = stderr.decode(errors="replace").strip().rpartition("\n")[2][:300]
        raise WorkerDied(f"{who} gave no answer (exit code {code}): {last}") from error
    if "raised" in answer:
        raise WorkerDied(f"{who} raised {answer['raised']}")
    return answer["value"]


def main() -> None:
    """Call the function that the arguments name and print its answer."""
    end_with_parent(signal.SIGKILL)
    module, name, arguments = sys.argv[1:]
    answer = _answer(lambda: getattr(importlib.import_module(module), name)(*json.loads(arguments)))
    sys.stdout.buffer.write(b"\n" + answer + b"\n")


if __name__ == "__main__":
    main()
