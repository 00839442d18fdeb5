"""The command in the process of a test: starting another imports a thousand modules each time."""

from __future__ import annotations

import io
import signal
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from observatory.cli.main import main

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def observatory(*arguments: str | Path) -> CompletedProcess[str]:
    """Run a command as a user does; return its exit status and what it said."""
    words = ["observatory", *map(str, arguments)]
    handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", words)
        with pytest.raises(SystemExit) as left:
            main()
    for number, handler in handlers.items():
        signal.signal(number, handler)
    return CompletedProcess(words, int(left.value.code or 0), said(out), said(err))


def said(stream: io.TextIOWrapper) -> str:
    """All that was written to a stream."""
    stream.seek(0)
    return stream.read()
