"""Asking uv: the one place that starts it.

uv works as this machine has configured it: no index is named here, so that a mirror, extra links
or certificates of the user's own stay in force.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import uv as _uv

from observatory.errors import Exit, ObservatoryError

_LAST_LINES = 12
_SCRUBBED = ("VIRTUAL_ENV", "PYTHONHOME", "PYTHONPATH", "UV_PROJECT", "UV_WORKING_DIRECTORY")


class UvError(ObservatoryError):
    """Raised when uv says no. The message holds what was asked and uv's own last lines."""

    exit_code = Exit.ENVIRONMENT

    def __init__(self, asked: str, said: str) -> None:
        self.asked = asked
        self.said = said
        super().__init__(f"{asked} failed; uv says: {said}")


class Uv(Protocol):
    """Whatever runs uv: the real one, or a fake in tests."""

    def __call__(self, *args: str, stdin: str = "", timeout: float = 600.0) -> str:
        """Run ``uv ARGS`` and return its standard output; raise `UvError` if it fails."""
        ...


@dataclass(frozen=True)
class RealUv:
    """The uv that came with the tool's own environment."""

    binary: str = field(default_factory=_uv.find_uv_bin)

    def __call__(self, *args: str, stdin: str = "", timeout: float = 600.0) -> str:
        """Run ``uv ARGS`` with ``stdin``; ``timeout`` in seconds. Raise `UvError` if it fails."""
        environment = {k: v for k, v in os.environ.items() if k not in _SCRUBBED}
        environment["NO_COLOR"] = "1"
        try:
            done = subprocess.run(
                [self.binary, "--no-progress", *args],
                input=stdin,
                capture_output=True,
                text=True,
                timeout=timeout,
                check=False,
                env=environment,
                # A pyproject.toml or uv.toml of the directory that the user happens to be in
                # must not change what is installed.
                cwd=Path.cwd().anchor,
            )
        except subprocess.TimeoutExpired as error:
            raise UvError(_spoken(args), f"it was stopped after {timeout:.0f} s") from error
        except OSError as error:
            raise UvError(_spoken(args), f"it cannot be started ({error})") from error
        if done.returncode != 0:
            raise UvError(_spoken(args), last_lines(done.stderr) or f"exit code {done.returncode}")
        return done.stdout


def last_lines(text: str, count: int = _LAST_LINES) -> str:
    """The last ``count`` lines of a program's output that are not empty."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    return "\n".join(lines[-count:])


def _spoken(args: Sequence[str]) -> str:
    words = [word for word in args if not word.startswith("-")]
    return "uv " + " ".join(words[:3])
