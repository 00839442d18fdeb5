"""Write the workflows of a project: what is there already, the difference, and the files."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from observatory.run.adoption import WORKFLOWS, Project, is_ours
from observatory.run.adoption_files import File
from observatory.run.git import Git
from observatory.store.base.files import write_atomic

BACKUP = ".bak"
_YOURS = re.compile(
    r"^(?P<key>(?P<indent> *)# YOURS: .*\n(?P=indent)[\w-]+:)(?P<value> .*(?:\n(?P=indent) +.*)*)$",
    re.MULTILINE,
)
"""What is a person's: the comment, the key below it and its value."""
State = Literal["new", "up to date", "older", "foreign", "uncommitted"]
"""`older`: ours, with other content. `foreign`: somebody else's. `uncommitted`: ours, with changes
that git has not recorded."""


@dataclass(frozen=True)
class Change:
    """What writing a file would do."""

    path: Path
    """The path within the repository."""
    state: State
    before: bytes | None
    after: bytes

    @property
    def refused(self) -> str:
        """Why it is not written without --force, as a sentence; empty if it is."""
        if self.state == "foreign":
            return f"{self.path} exists and was not written by `observatory init`."
        if self.state == "uncommitted":
            return f"{self.path} has changes that are not committed."
        return ""

    def difference(self) -> Iterator[str]:
        """The lines of a unified diff, without line ends."""
        old, new = ((one or b"").decode(errors="replace").splitlines() for one in
                    (self.before, self.after))  # fmt: skip
        before = "/dev/null" if self.before is None else f"a/{self.path}"
        yield from difflib.unified_diff(old, new, before, f"b/{self.path}", lineterm="")


def changes(project: Project, files: Sequence[File]) -> list[Change]:
    """What writing each of the files would do."""
    return [_change(project.root, file) for file in files]


def uncommitted(root: Path) -> int:
    """The number of files with changes that git has not recorded."""
    return len(_status(root, "--untracked-files=no"))


def write(root: Path, change: Change) -> Path | None:
    """Write a file. What somebody else wrote is kept beside it; returns where."""
    kept = None
    if change.refused and change.before is not None:
        kept = _free(root / change.path)
        write_atomic(kept, change.before)
    write_atomic(root / change.path, change.after)
    return kept


def _change(root: Path, file: File) -> Change:
    path = root / file.path
    before = path.read_bytes() if path.exists() else None
    ends, text = _line_ends(root, before), file.text
    if before is not None and is_ours(old := before.decode(errors="replace")):
        text = with_yours(text, old)
    after = text.replace("\n", ends).encode()
    return Change(file.path, _state(root, file.path, before, after), before, after)


def with_yours(text: str, old: str) -> str:
    """A workflow with the lines that a person may have changed as they are in an earlier one."""
    found = _YOURS.finditer(old.replace("\r\n", "\n"))
    kept = {one["key"]: one["value"] for one in found}
    return _YOURS.sub(lambda one: one["key"] + kept.get(one["key"], one["value"]), text)


def _state(root: Path, path: Path, before: bytes | None, after: bytes) -> State:
    if before is None:
        return "new"
    if before == after:
        return "up to date"
    if not is_ours(before.decode(errors="replace")):
        return "foreign"
    return "uncommitted" if _status(root, "--", str(path)) else "older"


def _status(root: Path, *arguments: str) -> list[str]:
    return Git(root).run("status", "--porcelain", *arguments).stdout.splitlines()


def _line_ends(root: Path, before: bytes | None) -> str:
    r"""``\r\n`` if the file, or if it is new the other workflows, have that in most lines."""
    others = sorted(Path(root, WORKFLOWS).glob("*.y*ml"))
    texts = [before] if before is not None else [path.read_bytes() for path in others]
    windows = sum(text.count(b"\r\n") for text in texts)
    return "\r\n" if windows * 2 > sum(text.count(b"\n") for text in texts) else "\n"


def _free(path: Path) -> Path:
    """An unused name beside ``path`` that GitHub does not take for a workflow."""
    number = 0
    while (found := path.with_name(f"{path.name}{BACKUP}{number or ''}")).exists():
        number += 1
    return found
