"""An artifact of a run, which is not trusted: a comparison and the number of its pull request.

It is read in memory and never unpacked to disk, so no name in it can lead anywhere. Two names are
allowed, each once and of bounded size; every other archive is refused. The schema bounds the
comparison, and the renderers escape all its texts.
"""

from __future__ import annotations

import io
import re
import stat
import zipfile
from dataclasses import dataclass

from pydantic import ValidationError

from observatory.github.errors import RefusedError
from observatory.store.base.problems import reason_of
from observatory.store.records.comparison import Comparison
from observatory.text.plain import shorten

COMPARISON = "comparison.json"
NUMBER = "pull-request.txt"
"""The number of the pull request in digits, to be verified by `target`."""
LARGEST_ZIP = 8 * 2**20
LARGEST_COMPARISON = 16 * 2**20
_BOUNDS = {COMPARISON: LARGEST_COMPARISON, NUMBER: 32}
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1
_DIGITS = re.compile(rb"[1-9][0-9]{0,8}\s*")


@dataclass(frozen=True)
class Artifact:
    """The comparison in an artifact, and the pull request that it claims to be of."""

    comparison: Comparison
    claim: int | None


def read(content: bytes) -> Artifact:
    """An artifact from the bytes of a zip, or of a comparison alone, which claims nothing.

    Raises RefusedError, which names the problem.
    """
    if not content.startswith(b"PK"):
        return Artifact(_comparison(_bounded(COMPARISON, content)), None)
    if len(content) > LARGEST_ZIP:
        raise RefusedError(f"the artifact is larger than {LARGEST_ZIP:,} bytes")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            files = {one.filename: _read(archive, one) for one in _allowed(archive.infolist())}
    except RefusedError:
        raise
    # A broken archive can raise zlib.error, struct.error, EOFError, NotImplementedError,
    # RuntimeError, UnicodeDecodeError and more, depending on the version of Python.
    except Exception as error:
        raise RefusedError(f"the artifact is not a readable zip archive: {error!r:.200}") from error
    if COMPARISON not in files:
        raise RefusedError(f"the artifact contains no {COMPARISON}")
    claim = files.get(NUMBER)
    if claim is not None and not _DIGITS.fullmatch(claim):
        raise RefusedError(f"{NUMBER} is not the number of a pull request")
    return Artifact(_comparison(files[COMPARISON]), None if claim is None else int(claim))


def _allowed(entries: list[zipfile.ZipInfo]) -> list[zipfile.ZipInfo]:
    """The entries, if all of them are allowed. Raises RefusedError."""
    seen: set[str] = set()
    for entry in entries:
        if entry.orig_filename not in _BOUNDS or entry.filename not in _BOUNDS:
            raise RefusedError(
                f"the artifact contains {shorten(entry.orig_filename, 100)!r}; only {COMPARISON} "
                f"and {NUMBER} are allowed"
            )
        if entry.filename in seen:
            raise RefusedError(f"the artifact contains {entry.filename} twice")
        seen.add(entry.filename)
        kind = stat.S_IFMT(entry.external_attr >> 16)
        if kind not in (0, stat.S_IFREG):
            raise RefusedError(f"{entry.filename} in the artifact is a link, not a file")
        if entry.flag_bits & _ENCRYPTED or entry.compress_type not in _METHODS:
            raise RefusedError(f"{entry.filename} in the artifact is packed in an unusual way")
    return entries


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """The content of an entry; its size is checked while reading, since headers can be false."""
    with archive.open(entry) as stream:
        return _bounded(entry.filename, stream.read(_BOUNDS[entry.filename] + 1))


def _bounded(name: str, content: bytes) -> bytes:
    if len(content) > _BOUNDS[name]:
        raise RefusedError(f"{name} in the artifact is larger than {_BOUNDS[name]:,} bytes")
    return content


def _comparison(content: bytes) -> Comparison:
    try:
        return Comparison.model_validate_json(content)
    except ValidationError as error:
        raise RefusedError(
            f"{COMPARISON} is not what `observatory compare --json` writes: {reason_of(error)}"
        ) from error
