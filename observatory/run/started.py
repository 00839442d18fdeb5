"""A process that was started in an environment under test, and what it prints, within bounds.

What is measured may print without an end. Beyond a bound it is read and forgotten: neither the
memory of this process nor a disk is filled, and the other process never waits for its reader.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

LARGEST = 8 * 2**20
"""Bytes of stdout that are kept, the first ones: as text, each may take four bytes."""
LAST = 2**20
"""Bytes of stderr that are kept, the last ones: a few lines of it are recorded."""
_CHUNK = 2**16


class Started(subprocess.Popen[bytes]):
    """A process whose output is read by `printed`, also in several calls."""

    def __init__(
        self, command: Sequence[str], line: str = "", *, cwd: Path, env: Mapping[str, str],
        start_new_session: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            cwd=cwd, env=env, start_new_session=start_new_session,
        )  # fmt: skip
        self._out, self._err = bytearray(), bytearray()
        assert self.stdin is not None
        with contextlib.suppress(BrokenPipeError), self.stdin as stdin:
            stdin.write(f"{line}\n".encode() if line else b"")

    def printed(self, timeout: float | None = None) -> tuple[str, str]:
        """Wait for the end; return all that it has printed on stdout and on stderr.

        Raises TimeoutExpired after ``timeout`` seconds; a later call goes on.
        """
        until = None if timeout is None else time.monotonic() + timeout
        assert self.stdout is not None
        assert self.stderr is not None
        with selectors.DefaultSelector() as chosen:
            for pipe in (self.stdout, self.stderr):
                if not pipe.closed:
                    chosen.register(pipe, selectors.EVENT_READ)
            while chosen.get_map():
                ready = chosen.select(self._left(until))
                for key, _ in ready:
                    if not self._read(key.fileobj):  # type: ignore[arg-type]
                        chosen.unregister(key.fileobj)
                        key.fileobj.close()  # type: ignore[union-attr]
                if not ready:
                    self._left(until)
        self.wait(self._left(until))
        return self._out.decode(errors="replace"), self._err.decode(errors="replace")

    def _left(self, until: float | None) -> float | None:
        left = None if until is None else until - time.monotonic()
        if left is not None and left <= 0:
            raise subprocess.TimeoutExpired(self.args, 0)
        return left

    def _read(self, pipe: IO[bytes]) -> bool:
        chunk = os.read(pipe.fileno(), _CHUNK)
        if pipe is self.stdout:
            self._out += chunk[: max(0, LARGEST - len(self._out))]
        else:
            self._err += chunk
            if len(self._err) > 2 * LAST:
                del self._err[:-LAST]
        return bool(chunk)


def end(process: Started, grace: float = 10.0) -> tuple[str, str]:
    """End a process, after ``grace`` seconds by force, and return what it printed."""
    process.terminate()
    try:
        return process.printed(grace)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.printed()
