"""Whether files are as they were: by what `stat` says of them, or by the hash of their content.

A signature is trusted only if the file had rested for two seconds when it was taken: clocks are too
coarse to tell two versions apart within less.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

_RESTED = 2 * 10**9  # ns
_blake2b = partial(hashlib.blake2b, digest_size=16)


class Signature(NamedTuple):
    """What `stat` says of a file that changes when the file does. Bytes and nanoseconds."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


class Stamp(NamedTuple):
    """The signature of a file and the hash of its content, in 32 hexadecimal digits."""

    signature: Signature
    digest: str


def signature_of(found: os.stat_result) -> Signature:
    """The signature of a file."""
    return Signature(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)


def rested(signature: Signature, checked_ns: int) -> bool:
    """Whether a signature that was taken at ``checked_ns`` can be trusted."""
    return max(signature.mtime_ns, signature.ctime_ns) + _RESTED < checked_ns


def digest_of(path: Path) -> str:
    """The hash of a file's content, in 32 hexadecimal digits. Raises OSError.

    A file that had rested is read once by a process, although several parts of it ask.
    """
    with path.open("rb") as stream:
        found = os.fstat(stream.fileno())
        file = found.st_dev, signature_of(found)
        known = _digests.get(file)
        if known is None:
            known = hashlib.file_digest(stream, _blake2b).hexdigest()
            if rested(file[1], _clock()) and signature_of(os.fstat(stream.fileno())) == file[1]:
                _digests[file] = known
        return known


_digests: dict[tuple[int, Signature], str] = {}
_clock = time.time_ns


def signatures(paths: Iterable[str]) -> dict[str, Signature]:
    """The signature of each file by its path. Raises OSError."""
    return {path: signature_of(os.stat(path)) for path in paths}  # noqa: PTH116 of thousands


@dataclass(frozen=True)
class Stamped:
    """The stamps of files, and when they were taken."""

    files: Mapping[str, Stamp] = field(default_factory=dict)
    checked_ns: int = 0
    linked: bool = False
    """Whether files had just got new names, or have since.

    That changes nothing but the time at which `stat` says that something changed.
    """

    def digest(self, path: str, signature: Signature) -> str | None:
        """The hash of a file, from its signature alone; None where that cannot be trusted."""
        known = self.files.get(path)
        if known is None or known.signature != signature:
            return None
        if self.linked:  # who writes into a file changes the other time, too
            signature = signature._replace(ctime_ns=signature.mtime_ns)
        return known.digest if rested(signature, self.checked_ns) else None

    def has(self, path: str, signature: Signature) -> bool:
        """Whether a file that is there now has the content that it had. Raises OSError."""
        known = self.files.get(path)
        if known is None:
            return False
        return (self.digest(path, signature) or digest_of(Path(path))) == known.digest


def stamps(there: Mapping[str, Signature], before: Stamped | None = None) -> dict[str, Stamp]:
    """The stamp of each file by its path; ``before`` saves reading them. Raises OSError.

    ``there``: the signature of each.
    """
    before = before or Stamped()
    found = {}
    for name, one in there.items():
        then = one
        if before.linked and name in before.files:
            then = one._replace(ctime_ns=before.files[name].signature.ctime_ns)
        found[name] = Stamp(one, before.digest(name, then) or digest_of(Path(name)))
    return found


def as_they_were(now: Mapping[str, Signature], then: Stamped) -> bool:
    """Whether there are the same files with the same contents as then. Raises OSError."""
    same = now.keys() == then.files.keys()
    return same and all(then.has(name, one) for name, one in now.items())
