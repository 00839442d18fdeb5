"""A git history of PyTensor's releases whose hashes are the same on every machine.

asv orders results by the commits of a repository. PyTensor's own has thousands of commits and needs
the network. This one has one commit for each release, dated by its upload, whose tree says how to
install the release as of its day. The hashes depend on the table of releases alone, so the results
of all machines name the same commits, and a hash is known without building the repository.
"""

from __future__ import annotations

import hashlib
import shutil
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import chain
from pathlib import Path

from observatory.errors import Exit, ObservatoryError
from observatory.run.git import Git, GitError
from observatory.run.releases import Release, ReleasesError, ReleaseTable
from observatory.run.uv import as_uv_date
from observatory.store.base.locking import locked
from observatory.store.base.scratch import temporary

PERSON = "observatory <observatory@localhost>"
BRANCH = "main"

_README = """\
One commit per release of PyTensor, made by the observatory: this is not PyTensor's source.
`uv pip install -r requirements.txt`, run here, installs the release with the dependencies
of its day (see uv.toml).
"""


class HistoryError(ObservatoryError):
    """The history of releases cannot be built."""

    exit_code = Exit.ENVIRONMENT


def tree_of(release: Release) -> dict[str, str]:
    """Return the files of a release's commit, from name to text."""
    return {
        "README": _README,
        "requirements.txt": "".join(f"{line}\n" for line in release.requirements),
        # `upgrade` never goes back: an environment that a newer release used needs --reinstall as
        # well (asv.releases.conf.json). That is not written here because the hashes are fixed.
        "uv.toml": (
            f'exclude-newer = "{as_uv_date(release.exclude_newer)}"\n\n'
            "[pip]\ncompile-bytecode = true\nupgrade = true\n"
        ),
    }


def message_of(release: Release) -> str:
    """Return the commit message, without the note: notes are corrected, and hashes are fixed."""
    return f"PyTensor {release.version}\n\nWith {', '.join(release.requirements[1:])}.\n"


@dataclass(frozen=True)
class History:
    """The commits of a table of releases, and the directory of the repository that holds them."""

    table: ReleaseTable
    directory: Path

    @property
    def repository(self) -> Path:
        """The path of the bare repository; `build` creates it."""
        return self.directory / "releases.git"

    @cached_property
    def commits(self) -> Mapping[str, str]:
        """The commit of each release, from version to 40 hexadecimal digits, oldest first."""
        return {version: objects[-1][0] for version, objects in self._objects.items()}

    def commit_of(self, version: str) -> str:
        """Return the commit of a release, without a repository.

        Raises ReleasesError if the table does not contain the release.
        """
        release = self.table.find(version)
        if release is None:
            raise ReleasesError(f"release {version} is not in the history of releases")
        return self.commits[release.version]

    def build(self) -> Path:
        """Return the path of the repository; build it if it is missing, broken or out of date.

        Raises HistoryError if the table is empty or git cannot read what was built.
        """
        if not self.table.releases:
            raise HistoryError("the table of releases is empty; run scripts/update_releases.py")
        self.directory.mkdir(parents=True, exist_ok=True)
        with locked(self.directory / "releases.lock"):
            if not self._is_current(self.repository):
                with temporary("releases-", self.directory) as scratch:
                    fresh = Path(scratch) / "releases.git"
                    self._write(fresh)
                    if not self._is_current(fresh):
                        raise HistoryError(
                            f"git cannot read the history of releases built in {self.directory}; "
                            "check that git is installed and works"
                        )
                    shutil.rmtree(self.repository, ignore_errors=True)
                    fresh.rename(self.repository)
        return self.repository

    @cached_property
    def _objects(self) -> dict[str, list[tuple[str, bytes]]]:
        """The names and contents of each release's git objects; its commit is the last."""
        objects: dict[str, list[tuple[str, bytes]]] = {}
        parent: str | None = None
        for release in self.table.releases:
            made = _objects_of(tree_of(release), message_of(release), release.uploaded, parent)
            objects[release.version] = made
            parent = made[-1][0]
        return objects

    def _write(self, repository: Path) -> None:
        """Write a bare repository with the objects, a tag for each release, and the branch."""
        refs = {f"tags/v{version}": commit for version, commit in self.commits.items()}
        refs[f"heads/{BRANCH}"] = list(self.commits.values())[-1]
        files = {"HEAD": f"ref: refs/heads/{BRANCH}\n".encode()}
        files["config"] = b"[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
        files |= {f"refs/{name}": f"{commit}\n".encode() for name, commit in refs.items()}
        for name, content in chain.from_iterable(self._objects.values()):
            files[f"objects/{name[:2]}/{name[2:]}"] = zlib.compress(content)
        for name, content in files.items():
            (repository / name).parent.mkdir(parents=True, exist_ok=True)
            (repository / name).write_bytes(content)

    def _is_current(self, repository: Path) -> bool:
        """Whether git finds the newest release's commit at the head of the repository."""
        try:
            head = Git(repository).resolved(f"refs/heads/{BRANCH}")
        except GitError:
            return False
        return head == list(self.commits.values())[-1]


def commit_of_wheel(digest: str, label: str, date: datetime) -> str:
    """Return a commit for a wheel, which is in no repository, from the SHA-256 of its file."""
    tree = {"sha256": f"{digest}\n"}
    return _objects_of(tree, f"{label}\n\nsha256 {digest}\n", date, None)[-1][0]


def _objects_of(
    tree: Mapping[str, str], message: str, date: datetime, parent: str | None
) -> list[tuple[str, bytes]]:
    """Return the names and contents of a commit's git objects; the commit itself is the last."""
    blobs = {name: _object("blob", text.encode()) for name, text in sorted(tree.items())}
    entries = (b"100644 %s\0" % n.encode() + bytes.fromhex(blob[0]) for n, blob in blobs.items())
    root = _object("tree", b"".join(entries))
    when = f"{int(date.timestamp())} +0000"
    lines = [f"tree {root[0]}", *([f"parent {parent}"] if parent else [])]
    lines += [f"author {PERSON} {when}", f"committer {PERSON} {when}", "", message]
    return [*blobs.values(), root, _object("commit", "\n".join(lines).encode())]


def _object(kind: str, body: bytes) -> tuple[str, bytes]:
    content = f"{kind} {len(body)}\0".encode() + body
    # By definition, git names objects by SHA-1. Security does not depend on it here.
    return hashlib.sha1(content, usedforsecurity=False).hexdigest(), content
