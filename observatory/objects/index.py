"""What a store of results holds: versions, which name segments, which name files.

::

    versions/0000000012.json    the segments of one state of the results; the largest number counts
    objects/<ab>/<name>         segments and packs; a name is the SHA-256 of the content, and a
                                suffix where another object has that name already

A *segment* lists files: each path with the hash of its content and where that is in a *pack*, many
files in one object. A later segment of a version replaces what an earlier one says of a path. So a
version that adds few files writes one short segment, however many there are.
"""

from __future__ import annotations

import hashlib
import io
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from observatory.objects.bucket import StoreError
from observatory.store.base.record import Record

LARGEST_FILE = 512 * 2**20
"""Bytes of one file; a larger one is refused, before it is unpacked and when it is published."""
LARGEST_SEGMENT = 32 * 2**20
"""Bytes of its text."""
LARGEST_VERSION = 2**20
MOST_LISTED = 50_000
"""Files in a segment that is written."""
MOST_READ = 4 * MOST_LISTED
"""Files in a segment that is read: earlier versions of the observatory wrote longer ones."""
LAST_VERSION = 10**10 - 1
_OBJECT = r"[0-9a-f]{64}(-[0-9a-f]{8})?"
_PART = r"[A-Za-z0-9_+\-][A-Za-z0-9_+.\-]{0,199}"
_PATH = re.compile(rf"{_PART}(/{_PART}){{0,7}}")
_LINE = re.compile(
    rf"(?P<path>{_PATH.pattern})\t(?:-|(?P<sha>[0-9a-f]{{64}})\t(?P<size>\d{{1,10}})\t"
    rf"(?P<pack>{_OBJECT})\t(?P<start>\d{{1,12}})\t(?P<length>\d{{1,10}}))"
)

ObjectName = Annotated[str, Field(pattern=rf"^{_OBJECT}$")]
_Id = Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]


@dataclass(frozen=True, slots=True)
class Entry:
    """Where the content of a file is. A content that is shorter in its pack is compressed."""

    path: str
    sha: str
    """SHA-256 of the content."""
    size: int
    """Bytes of the content."""
    pack: str
    start: int
    length: int
    """Bytes in the pack."""

    @property
    def line(self) -> str:
        """The entry in a segment."""
        return f"{self.path}\t{self.sha}\t{self.size}\t{self.pack}\t{self.start}\t{self.length}"


Listed = Mapping[str, Entry | None]
"""The files of a segment by path; None for one that is no more."""


class Segment(Record):
    """A segment, as a version names it."""

    name: ObjectName
    files: Annotated[int, Field(ge=0)]
    """The number of its lines."""


class Version(Record):
    """One state of the results; it is small, and the only thing that two publishers compete for."""

    schema_: Literal["observatory/version/1"] = Field("observatory/version/1", alias="schema")
    number: Annotated[int, Field(ge=1, le=LAST_VERSION)]
    id: _Id
    """Tells it from another version that wanted the same number."""
    after: _Id | None
    """The id of the version that it adds to; None for the first."""
    taken_at: AwareDatetime
    message: Annotated[str, Field(max_length=20_000)]
    segments: Annotated[list[Segment], Field(max_length=4_000)]


def version_name(number: int) -> str:
    """The name of the object of a version."""
    return f"versions/{number:010}.json"


def object_name(name: str) -> str:
    """Where a segment or pack is."""
    return f"objects/{name[:2]}/{name}"


def is_object(name: str) -> bool:
    """Whether an object has a name of `object_name`, and not one that somebody else gave it."""
    last = name.rpartition("/")[2]
    return name == object_name(last) and re.fullmatch(_OBJECT, last) is not None


def is_path(path: str) -> bool:
    """Whether a file of this path can be in a store: names without blanks, none hidden."""
    return _PATH.fullmatch(path) is not None


def packed(listed: Listed) -> bytes:
    """The content of a segment."""
    return zlib.compress("\n".join(map(_line, sorted(listed.items()))).encode(), 6)


def pieces(listed: Listed) -> Iterator[Listed]:
    """The files in parts that may be a segment each; one part if there are none."""
    part: dict[str, Entry | None] = {}
    size = 0
    for path, entry in sorted(listed.items()):
        length = 1 + len(_line((path, entry)))
        if len(part) == MOST_LISTED or size + length > LARGEST_SEGMENT:
            yield part
            part, size = {}, 0
        part[path] = entry
        size += length
    yield part


def _line(listed: tuple[str, Entry | None]) -> str:
    path, entry = listed
    return f"{path}\t-" if entry is None else entry.line


def unpacked(name: str, content: bytes) -> dict[str, Entry | None]:
    """The files of a segment. Raises StoreError if it is damaged or no segment."""
    if hashlib.sha256(content).hexdigest() != name[:64]:
        raise StoreError(f"the object {name} is damaged: its content has another hash")
    text = inflated(content, LARGEST_SEGMENT, f"the segment {name}")
    if text.count(b"\n") >= MOST_READ:
        raise StoreError(f"the segment {name} lists more than {MOST_READ:,} files")
    found: dict[str, Entry | None] = {}
    for read in io.BytesIO(text):  # a list of all lines would be as large once more
        line = read.decode(errors="replace").removesuffix("\n")
        match = _LINE.fullmatch(line)
        if match is None:
            raise StoreError(f"the segment {name} has a line that is not an entry: {line[:80]!r}")
        entry = found[match["path"]] = _entry_of(match)
        if entry and max(entry.size, entry.length) > LARGEST_FILE:
            raise StoreError(f"the segment {name} has a file above {LARGEST_FILE} bytes")
    return found


def _entry_of(match: re.Match[str]) -> Entry | None:
    path, sha, size, pack, start, length = match.group(
        "path", "sha", "size", "pack", "start", "length"
    )
    return Entry(path, sha, int(size), pack, int(start), int(length)) if sha else None


def inflated(content: bytes, most: int, what: str) -> bytes:
    """Uncompress at most ``most`` bytes. Raises StoreError, whose message begins with ``what``."""
    stream = zlib.decompressobj()
    try:
        found = stream.decompress(content, most + 1)
    except zlib.error as error:
        raise StoreError(f"{what} cannot be uncompressed: {error}") from error
    if len(found) > most or not stream.eof:
        raise StoreError(f"{what} is cut off or larger than it says")
    return found


def combined(all_listed: Iterable[Listed]) -> dict[str, Entry]:
    """What segments, the oldest first, say together.

    Raises StoreError if one path would be a file and a directory.
    """
    every: dict[str, Entry | None] = {}
    for listed in all_listed:
        every.update(listed)
    found = {path: entry for path, entry in every.items() if entry is not None}
    for directory in {path.rpartition("/")[0] for path in found}:
        above = directory
        while above:
            if above in found:
                raise StoreError(f"the segments say that {above} is a file and a directory")
            above = above.rpartition("/")[0]
    return found


def to_merge(files: Sequence[int]) -> int:
    """How many of the last segments should become one, given the lines of each, oldest first.

    A segment is merged with what follows it unless it has at least twice as many lines, so that
    each line is written again only as often as the whole doubles.

    >>> to_merge([40, 10, 4]), to_merge([40, 10, 6]), to_merge([40, 30])
    (1, 2, 2)
    """
    number, lines = 1, files[-1]
    while number < len(files):
        before = files[-number - 1]
        if before >= 2 * lines or before + lines > MOST_LISTED:
            break
        lines += before
        number += 1
    return number
