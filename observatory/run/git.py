"""git as a process: lists of arguments, no shell, no question asked of anybody."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from observatory.errors import Exit
from observatory.store.base.problems import RecordError

_TIMEOUT = 600.0  # seconds of one command
_AS_IT_IS = (
    "core.autocrlf=false", "core.safecrlf=false", "core.symlinks=false",
    "core.sparseCheckout=false", "core.fsmonitor=false",
)  # fmt: skip
"""Settings under which files are committed and unpacked byte for byte, and links as files."""
_OTHERS = re.compile(r"GIT_(?!SSH|ASKPASS|CONFIG|AUTHOR|COMMITTER|TRACE)")
"""Variables that say where a repository is: whoever calls this from a hook has them."""


class GitError(RecordError):
    """git is not there, or did not do what it was asked; the message says what it said."""

    exit_code = Exit.USAGE


@dataclass
class Git:
    """One repository. Raises GitError where there is none."""

    repository: Path
    directory: Path = field(init=False)
    """Its git directory."""

    def __post_init__(self) -> None:
        if not self.repository.is_dir():
            raise GitError(f"{self.repository} is not a git repository")
        self.directory = self.repository
        self.directory = Path(self.text("rev-parse", "--absolute-git-dir", found=False))

    def text(
        self, *arguments: str, variables: Mapping[str, str] | None = None, found: bool = True
    ) -> str:
        """What a command prints. Raises GitError if it fails."""
        done = self.run(*arguments, found=found, variables=variables)
        if done.returncode != 0:
            said = reason_in(done.stderr)
            raise GitError(f"git {arguments[0]} failed in {self.repository}: {said}")
        return done.stdout.strip()

    def resolved(self, name: str) -> str | None:
        """The commit of a name; None if there is none."""
        done = self.run("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        return done.stdout.strip() if done.returncode == 0 else None

    def run(
        self,
        *arguments: str,
        content: str | None = None,
        variables: Mapping[str, str] | None = None,
        found: bool = True,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command, with ``content`` as its input. Raises GitError only if it cannot run."""
        inherited = {key: v for key, v in os.environ.items() if not _OTHERS.match(key)}
        given = {**inherited, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", **(variables or {})}
        if found:
            given["GIT_DIR"] = str(self.directory)
        settings = [word for setting in _AS_IT_IS for word in ("-c", setting)]
        try:
            return subprocess.run(
                ["git", *settings, *arguments],
                cwd=given.get("GIT_WORK_TREE", self.repository),
                env=given,
                input=content or "",
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_TIMEOUT,
                check=False,
            )
        except FileNotFoundError as error:
            raise GitError("git is not installed or not on PATH") from error
        except subprocess.TimeoutExpired as error:
            raise GitError(f"git {arguments[0]} did not end within {_TIMEOUT:g} s") from error


def reason_in(said: str) -> str:
    """The end of what git said, on one line, without what may be a password."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return re.sub(r"://[^/@\s]*@", "://", " ".join(lines[-3:]))[:500] or "no reason was given"
