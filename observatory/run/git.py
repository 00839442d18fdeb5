"""git as a process: arguments are lists, no shell is used, and git asks the user nothing."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from observatory.errors import Exit
from observatory.store.base.problems import RecordError

_TIMEOUT = 600.0  # seconds for one command
_SETTINGS = ("autocrlf", "safecrlf", "symlinks", "sparseCheckout", "fsmonitor")
"""Settings that are turned off, so that git writes files byte for byte, and links as files."""
_SCRUBBED = re.compile(r"GIT_(?!SSH|ASKPASS|CONFIG|AUTHOR|COMMITTER|TRACE)")
"""Variables that name another repository; git sets them while it runs a hook."""

_NONE = "fatal: not a git repository (or any"
"""What git says of a directory that is in no repository."""


class GitError(RecordError):
    """git is not installed, or a command failed; the message quotes what git printed."""

    exit_code = Exit.USAGE


@dataclass
class Git:
    """A git repository. Raises GitError if ``repository`` is not one."""

    repository: Path
    directory: Path = field(init=False)
    """The path of its git directory."""

    def __post_init__(self) -> None:
        none = f"{self.repository} is not a git repository: give the path of a clone"
        if not self.repository.is_dir():
            raise GitError(none)
        self.directory = self.repository
        try:
            self.directory = Path(self.text("rev-parse", "--absolute-git-dir", found=False))
        except GitError as error:
            if _NONE not in str(error):
                raise
            raise GitError(none) from error

    def text(
        self, *arguments: str, variables: Mapping[str, str] | None = None, found: bool = True
    ) -> str:
        """Return what a command prints, stripped. Raises GitError if it fails."""
        done = self.run(*arguments, found=found, variables=variables)
        if done.returncode != 0:
            reason = reason_in(done.stderr)
            raise GitError(f"git {arguments[0]} failed in {self.repository}: {reason}")
        return done.stdout.strip()

    def resolved(self, name: str) -> str | None:
        """Return the commit that a name stands for, or None if there is none."""
        done = self.run("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        return done.stdout.strip() if done.returncode == 0 else None

    def contains(self, ancestor: str, commit: str) -> bool:
        """Return whether a commit is ``ancestor`` or a descendant of it."""
        return self.run("merge-base", "--is-ancestor", ancestor, commit).returncode == 0

    def run(
        self,
        *arguments: str,
        content: str = "",
        variables: Mapping[str, str] | None = None,
        found: bool = True,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command with ``content`` as its input, whatever its exit status.

        ``variables`` are added to the environment; ``found`` is False until the git directory is
        known. Raises GitError if git is not installed or does not end within ten minutes.
        """
        given = {key: value for key, value in os.environ.items() if not _SCRUBBED.match(key)}
        given |= {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", **(variables or {})}
        if found:
            given["GIT_DIR"] = str(self.directory)
        settings = [word for setting in _SETTINGS for word in ("-c", f"core.{setting}=false")]
        try:
            return subprocess.run(
                ["git", *settings, *arguments],
                cwd=given.get("GIT_WORK_TREE", self.repository),
                env=given,
                input=content,
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


def reason_in(output: str) -> str:
    """Return the last lines of git's output as one line, without what may be a password."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return re.sub(r"://[^/@\s]*@", "://", " ".join(lines[-3:]))[:500] or "no reason was given"
