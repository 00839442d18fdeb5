"""Packs: many files in one object, which are read by ranges of it.

A file of results is small, and a store charges for requests. So what is new in one go is one
object of at most some megabytes. Readers ask for the ranges that hold what they miss; ranges that
are close to each other are one request.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from observatory.objects.bucket import Bucket, GoneError, StoreError, UnreachableError, fresh
from observatory.objects.index import LARGEST_FILE, Entry, inflated, is_path, object_name

FULL = 32 * 2**20
"""Bytes after which a pack is written; one larger file is a pack of its own."""
_GAP = 64 * 2**10
"""Bytes between two ranges that are rather read than asked for by another request."""
_PIECE = 8 * 2**20
"""Bytes of a large file that are in memory at once."""
_CUT = "it is cut off or larger than it says"
_ANOTHER = "its content has another hash"


def put(bucket: Bucket, content: bytes) -> str:
    """Create an object that is named by its content, and return its name. Raises UnreachableError.

    A name that is taken is not used: what is there may be about to be removed, as nothing refers to
    it.
    """
    sha = hashlib.sha256(content).hexdigest()
    for name in (sha, f"{sha}-{fresh()}", f"{sha}-{fresh()}"):
        if bucket.create(object_name(name), content):
            return name
    raise UnreachableError(f"{bucket.address} refuses to create objects/{sha[:2]}/{sha}")


def pack_up(bucket: Bucket, directory: Path, paths: Iterable[str]) -> list[Entry]:
    """Write files of a directory into packs, and return where they are.

    Raises OSError, UnreachableError, and StoreError for a file that no store can hold.
    """
    found: list[Entry] = []
    waiting: list[Entry] = []
    contents: list[bytes] = []
    length = 0

    def write() -> None:
        nonlocal length
        name = put(bucket, b"".join(contents))
        found.extend(
            Entry(one.path, one.sha, one.size, name, one.start, one.length) for one in waiting
        )
        waiting.clear()
        contents.clear()
        length = 0

    for path in sorted(paths):
        content = (directory / path).read_bytes()
        if not is_path(path):
            raise StoreError(f"a file named {path[:200]!r} cannot be kept in {bucket.address}")
        if len(content) > LARGEST_FILE:
            raise StoreError(f"{path} is larger than {LARGEST_FILE} bytes and cannot be published")
        less = zlib.compress(content, 6)
        kept = less if len(less) < len(content) else content
        if contents and length + len(kept) > FULL:
            write()
        sha = hashlib.sha256(content).hexdigest()
        waiting.append(Entry(path, sha, len(content), "", length, len(kept)))
        contents.append(kept)
        length += len(kept)
    if contents:
        write()
    return found


def taken(bucket: Bucket, entries: Iterable[Entry]) -> Iterator[tuple[Entry, Iterable[bytes]]]:
    """Read files, pack by pack: each with the pieces of its content, to be read before the next.

    A content is compared with its hash before its last piece is given. No piece is larger than
    FULL, whatever a segment says of a file. Raises StoreError if a pack is damaged or gone, and
    UnreachableError.
    """
    ordered = sorted(entries, key=lambda one: (one.pack, one.start))
    for _, members in groupby(ordered, key=lambda one: one.pack):
        for group in _close_together(list(members)):
            if max(group[0].size, group[0].length) > FULL:
                yield group[0], _in_pieces(bucket, group[0])
            else:
                yield from _together(bucket, group)


def _together(bucket: Bucket, group: list[Entry]) -> Iterator[tuple[Entry, Iterable[bytes]]]:
    """Read files of a pack by one request."""
    start, end = group[0].start, max(one.start + one.length for one in group)
    content = _read(bucket, group[0], start, end)
    for one in group:
        part = content[one.start - start : one.start - start + one.length]
        try:
            whole = part if one.length >= one.size else inflated(part, one.size, "it")
        except StoreError as error:
            raise _damaged(bucket, one, str(error)) from error
        if hashlib.sha256(whole).hexdigest() != one.sha:
            raise _damaged(bucket, one, _ANOTHER)
        yield one, (whole,)


def _in_pieces(bucket: Bucket, one: Entry) -> Iterator[bytes]:
    """Read a large file by several requests."""
    stream = zlib.decompressobj() if one.length < one.size else None
    sha, left = hashlib.sha256(), one.size
    for start in range(one.start, one.start + one.length, _PIECE):
        part = _read(bucket, one, start, min(start + _PIECE, one.start + one.length))
        if not part:
            break  # the pack ends before
        while part:
            piece = part
            try:
                piece = part if stream is None else stream.decompress(part, _PIECE)
            except zlib.error as error:
                raise _damaged(bucket, one, f"it cannot be uncompressed: {error}") from error
            part = b"" if stream is None else stream.unconsumed_tail
            left -= len(piece)
            sha.update(piece)
            if left < 0:
                raise _damaged(bucket, one, _CUT)
            if left == 0 and sha.hexdigest() != one.sha:
                raise _damaged(bucket, one, _ANOTHER)
            yield piece
    if left:
        raise _damaged(bucket, one, _CUT)


def _read(bucket: Bucket, one: Entry, start: int, end: int) -> bytes:
    try:
        return bucket.read(object_name(one.pack), start, end) if end > start else b""
    except GoneError as error:
        raise _damaged(bucket, one, "it is gone") from error


def _close_together(members: list[Entry]) -> Iterator[list[Entry]]:
    group: list[Entry] = []
    end = 0
    for one in members:
        if group and (
            max(one.size, one.length, group[-1].size, group[-1].length) > FULL
            or one.start > end + _GAP
            or one.start + one.length > group[0].start + FULL
        ):
            yield group
            group = []
        group.append(one)
        end = one.start + one.length if len(group) == 1 else max(end, one.start + one.length)
    yield group


def _damaged(bucket: Bucket, entry: Entry, why: str) -> StoreError:
    return StoreError(
        f"{bucket.address}: {entry.path} cannot be read from objects/{entry.pack[:2]}/{entry.pack} "
        f"({why}); publish a copy of it again"
    )
