"""Git as tests use it."""

from __future__ import annotations

import subprocess
from pathlib import Path

_WHO = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false")
"""Commits need somebody who makes them, and a machine may know nobody or ask for a signature."""


def git(where: Path, *arguments: str) -> str:
    """What git prints in a directory. Raises CalledProcessError."""
    done = subprocess.run(
        ["git", "-C", str(where), *_WHO, *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()
