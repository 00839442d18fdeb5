"""Which observatory this is, as workflows name it: its repository, commit and release."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution
from pathlib import Path

from observatory.run.adoption import REMOTE
from observatory.run.git import Git
from observatory.store.base.problems import RecordUsageError

_HOME = Path(__file__).resolve().parents[2]
"""The checkout, unless the package is installed elsewhere."""
_DISTRIBUTION = "pytensor-observatory"
_REPOSITORY = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*")
_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True)
class Tool:
    """The observatory that the workflows use. Raises RecordUsageError if a name is invalid."""

    repository: str
    """OWNER/NAME."""
    commit: str
    release: str = ""
    """The tag of the commit, such as v0.2.0; empty if it has none."""

    def __post_init__(self) -> None:
        if not _REPOSITORY.fullmatch(self.repository):
            raise RecordUsageError(f"{self.repository!r} is not a repository; write OWNER/NAME")
        if not _COMMIT.fullmatch(self.commit):
            raise RecordUsageError(
                f"{self.commit!r} is not a full commit hash; the meaning of a shorter one, a tag "
                "or a branch may change"
            )

    def uses(self, workflow: str) -> str:
        """The value of a line `uses`: the hash, and the release that bots read and change."""
        called = f"{self.repository}/.github/workflows/{workflow}.yml@{self.commit}"
        return f"{called} # {self.release}" if self.release else called


def this_tool(repository: str | None, commit: str | None, git: Git) -> Tool:
    """Return the observatory that is named, or else the one that runs.

    The package's metadata name the repository. The commit is that of the checkout, or the one that
    it was installed from, or else that of the release's tag, for which ``git`` asks GitHub. Raises
    RecordUsageError.
    """
    found = distribution(_DISTRIBUTION)
    repository = repository or _repository(found)
    if commit is not None:
        return Tool(repository, commit)
    if (_HOME / ".git").exists():
        home = Git(_HOME)
        commit = home.text("rev-parse", "HEAD")
        tags = home.run("tag", "--points-at", "HEAD", "--list", "v*").stdout.split()
        return Tool(repository, commit, tags[-1] if tags else "")
    if commit := _installed_from(found):
        return Tool(repository, commit)
    release = f"v{found.version}"
    listed = git.run("ls-remote", f"https://github.com/{repository}", f"refs/tags/{release}*")
    at = None
    for line in listed.stdout.splitlines():
        found_commit, _, name = line.partition("\t")
        # The tag itself, or the commit of an annotated one, which is listed after it.
        if name in (f"refs/tags/{release}", f"refs/tags/{release}^{{}}"):
            at = found_commit
    if at is None:
        raise RecordUsageError(
            f"the commit of {release} of {repository} is not known: GitHub did not answer, or has "
            "no such tag; add --commit HASH"
        )
    return Tool(repository, at, release)


def _repository(found: Distribution) -> str:
    """OWNER/NAME of the address in the metadata, which pyproject.toml sets."""
    for line in found.metadata.get_all("Project-URL") or ():
        name, _, address = line.partition(", ")
        if name == "Repository" and (match := REMOTE.search(address)):
            return match[1]
    raise RecordUsageError(
        "the installed package names no repository; add --observatory OWNER/NAME"
    )


def _installed_from(found: Distribution) -> str | None:
    """The commit that it was installed from, if pip or uv took it from git."""
    try:
        origin = json.loads(found.read_text("direct_url.json") or "{}")
    except ValueError:
        return None
    commit = origin.get("vcs_info", {}).get("commit_id")
    return commit if isinstance(commit, str) else None
