"""A git history of PyTensor's releases, the same to the last bit wherever it is built.

asv orders results by the commits of a repository. PyTensor's own has thousands and needs the
network; this one has a commit per release, dated by its upload, whose tree says how to install the
release as of its day. Nothing but the table of releases goes into a hash, so that results recorded
anywhere name the same commits, and a hash is known without building the repository.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path

from observatory.errors import Exit, ObservatoryError
from observatory.run.index import as_uv_date
from observatory.run.releases import Release, ReleasesError, ReleaseTable
from observatory.store.base.locking import locked

PERSON = "observatory <observatory@localhost>"
BRANCH = "main"

_README = """\
One commit per release of PyTensor, made by the observatory: this is not PyTensor's source.
`uv pip install -r requirements.txt`, run here, installs the release with the dependencies
of its day (see uv.toml).
"""


class HistoryError(ObservatoryError):
    """Raised when git cannot build the history; the message holds git's last lines."""

    exit_code = Exit.ENVIRONMENT


def tree_of(release: Release) -> dict[str, str]:
    """The files of a release's commit: name to text."""
    return {
        "README": _README,
        "requirements.txt": "".join(f"{line}\n" for line in release.requirements),
        # `upgrade` never goes back: in an environment that a newer release used, --reinstall is
        # needed as well (asv.releases.conf.json). It is not here, since the hashes are fixed.
        "uv.toml": (
            f'exclude-newer = "{as_uv_date(release.exclude_newer)}"\n\n'
            "[pip]\ncompile-bytecode = true\nupgrade = true\n"
        ),
    }


def message_of(release: Release) -> str:
    """The commit message. Notes stay out: they may be corrected, and a hash may not change."""
    return f"PyTensor {release.version}\n\nWith {', '.join(release.requirements[1:])}.\n"


@dataclass(frozen=True)
class History:
    """The commits of a table of releases, and the repository that holds them."""

    table: ReleaseTable
    directory: Path

    @property
    def repository(self) -> Path:
        """Where the bare repository is, once built."""
        return self.directory / "releases.git"

    @cached_property
    def commits(self) -> Mapping[str, str]:
        """The commit of each release: version to 40 hexadecimal digits, oldest first."""
        commits: dict[str, str] = {}
        parent: str | None = None
        for release in self.table.releases:
            parent = _hash_commit(tree_of(release), message_of(release), release.uploaded, parent)
            commits[release.version] = parent
        return commits

    def commit_of(self, version: str) -> str:
        """The commit of a release; needs no repository. Raise `ReleasesError` if it is unknown."""
        release = self.table.find(version)
        if release is None:
            raise ReleasesError(f"release {version} is not in the history of releases")
        return self.commits[release.version]

    def build(self) -> Path:
        """Build the repository if it is not there or ends elsewhere; return where it is.

        Raises `HistoryError` if git fails, or if it finds other hashes than `commits`.
        """
        self.directory.mkdir(parents=True, exist_ok=True)
        with locked(self.directory / "releases.lock"):
            if self._head(self.repository) != self._expected_head:
                with tempfile.TemporaryDirectory(dir=self.directory, prefix="releases-") as made:
                    fresh = Path(made) / "releases.git"
                    self._import(fresh)
                    shutil.rmtree(self.repository, ignore_errors=True)
                    fresh.rename(self.repository)
        return self.repository

    @property
    def _expected_head(self) -> str:
        if not self.table.releases:
            raise HistoryError("the table of releases is empty; run scripts/update_releases.py")
        return self.commits[self.table.releases[-1].version]

    def _import(self, repository: Path) -> None:
        _git("init", "--quiet", "--bare", "--template=", f"--initial-branch={BRANCH}", repository)
        stream = b"".join(_fast_import(self.table))
        _git("--git-dir", repository, "fast-import", "--quiet", "--done", stdin=stream)
        head = self._head(repository)
        if head != self._expected_head:
            raise HistoryError(
                f"git built the history of releases with the head {head}, and not "
                f"{self._expected_head} as computed: results would be filed under commits that "
                "nobody else has; please report this with the version of git"
            )

    def _head(self, repository: Path) -> str | None:
        if not repository.is_dir():
            return None
        try:
            said = _git("--git-dir", repository, "rev-parse", "--verify", f"refs/heads/{BRANCH}")
        except HistoryError:
            return None
        return said.strip()


def commit_of_wheel(digest: str, label: str, date: datetime) -> str:
    """A commit for something that is in no repository, from the SHA-256 of its file alone."""
    message = f"{label}\n\nsha256 {digest}\n"
    return _hash_commit({"sha256": f"{digest}\n"}, message, date, None)


def _hash_object(kind: str, body: bytes) -> bytes:
    # Git's object names are SHA-1 by definition; nothing is kept safe by them here.
    return hashlib.sha1(f"{kind} {len(body)}\0".encode() + body, usedforsecurity=False).digest()


def _hash_commit(tree: Mapping[str, str], message: str, date: datetime, parent: str | None) -> str:
    entries = b"".join(
        f"100644 {name}\0".encode() + _hash_object("blob", text.encode())
        for name, text in sorted(tree.items())
    )
    lines = [f"tree {_hash_object('tree', entries).hex()}"]
    if parent is not None:
        lines.append(f"parent {parent}")
    when = f"{int(date.timestamp())} +0000"
    lines += [f"author {PERSON} {when}", f"committer {PERSON} {when}", "", message]
    return _hash_object("commit", "\n".join(lines).encode()).hex()


def _fast_import(table: ReleaseTable) -> Iterator[bytes]:
    for mark, release in enumerate(table.releases, start=1):
        when = f"{int(release.uploaded.timestamp())} +0000"
        yield f"commit refs/heads/{BRANCH}\nmark :{mark}\n".encode()
        yield f"committer {PERSON} {when}\n".encode()
        yield _data(message_of(release))
        yield b"deleteall\n"
        for name, text in sorted(tree_of(release).items()):
            yield f"M 100644 inline {name}\n".encode() + _data(text)
        yield f"reset refs/tags/v{release.version}\nfrom :{mark}\n\n".encode()
    yield b"done\n"


def _data(text: str) -> bytes:
    body = text.encode()
    return f"data {len(body)}\n".encode() + body + b"\n"


def _git(*args: str | Path, stdin: bytes = b"") -> str:
    try:
        done = subprocess.run(
            ["git", *map(str, args)], input=stdin, capture_output=True, check=False
        )
    except OSError as error:
        raise HistoryError(f"git cannot be started ({error}); install it") from error
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip()[-800:]
        raise HistoryError(f"git failed to build the history of releases: {said}")
    return done.stdout.decode()
