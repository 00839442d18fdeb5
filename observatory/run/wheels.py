"""Wheels of commits: one is built, and others are derived from it.

Building PyTensor compiles an extension module, which takes half a minute. Two commits that differ
in the Python files of PyTensor alone have the same extension, so that the wheel of one becomes that
of the other by exchanging these files.
"""

from __future__ import annotations

import base64
import hashlib
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from urllib.parse import unquote, urlsplit

from observatory.run.git import Git, GitError
from observatory.run.interpreters import Interpreter
from observatory.run.uv import Uv, as_uv_date
from observatory.store.base.files import write_atomic
from observatory.store.base.locking import locked
from observatory.store.base.releases import TAGGED
from observatory.store.base.scratch import temporary

_COMMIT = re.compile(r"pytensor @ git\+(?P<url>file://.+)@(?P<commit>[0-9a-f]{40})")
_NOT_INSTALLED = (
    "tests/", "doc/", "scripts/", ".github/", ".pre-commit", ".gitignore", "codecov", "environment",
)  # fmt: skip
"""Beginnings of the paths in PyTensor's repository that get into no wheel."""
_PACKAGE = "pytensor/"
_TAGS = f"{TAGGED}[[:digit:]]*"
_LONGEST = 1800.0
_NO_DATE, _MODE = (1980, 1, 1, 0, 0, 0), 0o600
"""Of every file in a derived wheel: the first date that an archive can have, and the mode."""


@dataclass(frozen=True)
class CommitWheels:
    """The wheels of commits that were built, by what their extension modules depend on."""

    root: Path
    uv: Uv

    @contextmanager
    def replacing(
        self, requirement: str, interpreter: Interpreter, newest: datetime | None
    ) -> Iterator[str]:
        """Yield the requirement of a wheel, valid in this block, for one of a commit; else itself.

        ``newest``: nothing uploaded later is used to build it. Raises UvError if it cannot be
        built, and GitError if the repository cannot be read.
        """
        found = _COMMIT.fullmatch(requirement)
        if found is None:
            yield requirement
            return
        repository = Path(unquote(urlsplit(found["url"]).path))
        with temporary("observatory-wheel-") as place:
            source = _Source(Git(repository), found["commit"])
            wheel = self._wheel(source, interpreter, newest, Path(place))
            yield f"pytensor @ {wheel.as_uri()}"

    def _wheel(
        self, source: _Source, interpreter: Interpreter, newest: datetime | None, place: Path
    ) -> Path:
        python = interpreter.version + "t" * interpreter.free_threaded
        key = hashlib.sha256(f"{python} {source.identity()}".encode()).hexdigest()[:16]
        shelf = self.root.absolute() / key
        shelf.mkdir(parents=True, exist_ok=True)
        with locked(shelf.with_name(f"{key}.lock")):
            for built in sorted(shelf.glob("*/*.whl")):
                if built.parent.name == source.commit:
                    return built
                base = _Source(source.git, built.parent.name)
                if (made := derived(built, base, source, place)) is not None:
                    return made
            return self._build(source, interpreter, newest, shelf / source.commit, place)

    def _build(
        self, source: _Source, interpreter: Interpreter, newest: datetime | None, target: Path,
        place: Path,
    ) -> Path:  # fmt: skip
        """Build the wheel from a clone, whose tags give the version. Raises UvError, GitError."""
        clone, out = place / "clone", place / "out"
        options = ("--quiet", "--shared", "--no-checkout")
        source.git.text("clone", *options, str(source.git.directory), str(clone))
        # With a link as a file, versioneer would call the version dirty.
        linked = ("-c", "core.symlinks=true", f"--work-tree={clone}")
        Git(clone).text(*linked, "checkout", "--quiet", "--detach", source.commit)
        date = [] if newest is None else ["--exclude-newer", as_uv_date(newest)]
        self.uv(
            "build", "--quiet", "--wheel", "--no-config", "--python", str(interpreter.path), *date,
            "--out-dir", str(out), str(clone), timeout=_LONGEST,
        )  # fmt: skip
        (made,) = out.glob("*.whl")
        kept = target / made.name
        write_atomic(kept, made.read_bytes())
        return kept


@dataclass(frozen=True)
class _Source:
    """A commit of a clone of PyTensor."""

    git: Git
    commit: str

    def identity(self) -> str:
        """A hash of everything that a wheel is built from but PyTensor's Python files."""
        lines = self.git.text("ls-tree", "-r", "-z", self.commit).split("\0")
        paths = ((line.partition("\t")[2], line) for line in lines)
        kept = [
            line
            for path, line in paths
            if not path.startswith(_NOT_INSTALLED)
            and not (path.startswith(_PACKAGE) and path.endswith(".py"))
        ]
        return hashlib.sha256("\n".join(kept).encode()).hexdigest()

    def version(self) -> str:
        """The version that versioneer gives it: ``3.3.0+10.gf857e6961``; empty if none."""
        told = self.git.run(
            "describe", "--tags", "--long", "--match", _TAGS, "--end-of-options", self.commit
        ).stdout
        found = re.fullmatch(rf"{TAGGED}([0-9.]+)-(\d+)-(g[0-9a-f]+)\s*", told)
        if found is None:
            return ""
        return found[1] if found[2] == "0" else f"{found[1]}+{found[2]}.{found[3]}"

    def date(self) -> str:
        """The date of the commit as versioneer writes it."""
        told = self.git.text("show", "--no-patch", "--format=%ci", self.commit)
        return told.replace(" ", "T", 1).replace(" ", "")

    def python_files(self, place: Path) -> dict[str, bytes]:
        """PyTensor's Python files by their paths."""
        archive = place / f"{self.commit}.zip"
        self.git.text("archive", "--format=zip", f"--output={archive}", self.commit, _PACKAGE)
        with zipfile.ZipFile(archive) as opened:
            return {name: opened.read(name) for name in opened.namelist() if name.endswith(".py")}


def derived(built: Path, base: _Source, source: _Source, place: Path) -> Path | None:
    """Make the wheel of a commit from that of another one with the same identity.

    The Python files are those of the commit. In a file that the build itself wrote, the version,
    the hash and the date are replaced. Returns None where it cannot be known what building would
    give: the version is not as expected, or not every Python file was installed. The wheel is in
    ``place``. Raises GitError.
    """
    old, new = base.version(), source.version()
    with zipfile.ZipFile(built) as opened:
        content = {name: opened.read(name) for name in opened.namelist() if name[-1] != "/"}
    if not (old and new) or not built.name.startswith(f"pytensor-{old}-"):
        return None
    try:
        before, after = base.python_files(place), source.python_files(place)
        changes = {old: new, base.commit: source.commit, base.date(): source.date()}
    except GitError:
        return None  # the base may have left the repository since
    installed = {name for name in content if name.startswith(_PACKAGE) and name.endswith(".py")}
    if installed != before.keys():
        return None
    generated = {name for name in installed & after.keys() if content[name] != before[name]}
    if any(old.encode() not in content[name] for name in generated):
        return None
    files = {name: data for name, data in content.items() if name not in installed}
    files |= {name: data for name, data in after.items() if name not in generated}
    files |= {name: _replaced(content[name], changes) for name in generated}
    return _written(place / built.name.replace(f"-{old}-", f"-{new}-", 1), files, old, new)


def _replaced(data: bytes, changes: Mapping[str, str]) -> bytes:
    for before, after in changes.items():
        data = data.replace(before.encode(), after.encode())
    return data


def _written(path: Path, files: Mapping[str, bytes], old: str, new: str) -> Path:
    """Write a wheel under its new version, with the record that installers check.

    The same files give the same bytes at any time: environments are known by the hashes of wheels.
    """
    before, after = f"pytensor-{old}.dist-info/", f"pytensor-{new}.dist-info/"
    moved = {
        after + name.removeprefix(before) if name.startswith(before) else name: data
        for name, data in files.items()
        if name != f"{before}RECORD"
    }
    metadata = moved[f"{after}METADATA"]
    line = f"\nVersion: {old}\n".encode()
    moved[f"{after}METADATA"] = metadata.replace(line, f"\nVersion: {new}\n".encode(), 1)
    moved[f"{after}RECORD"] = _record(moved, f"{after}RECORD").encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(moved):
            entry = zipfile.ZipInfo(name, _NO_DATE)
            entry.external_attr = _MODE << 16
            archive.writestr(entry, moved[name], zipfile.ZIP_DEFLATED)
    return path


def _record(files: Mapping[str, bytes], own: str) -> str:
    def lines() -> Iterable[str]:
        for name in sorted(files):
            digest = base64.urlsafe_b64encode(hashlib.sha256(files[name]).digest()).rstrip(b"=")
            yield f"{name},sha256={digest.decode()},{len(files[name])}"
        yield f"{own},,"

    return "\n".join(lines()) + "\n"
