"""Results in an object store, changed by several publishers at once.

Whoever publishes writes new objects first, which nobody knows of, and then creates the version with
the next number. This is the compare-and-swap: it fails if somebody else has created that number,
and then everything begins again with their version. Killed at any instant, the results are those of
the old version or of the new one; what was written for a version that never came is removed by a
later `sweep`.
"""

from __future__ import annotations

import hashlib
import random
import re
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from observatory.objects.bucket import Bucket, GoneError, StoreError, UnreachableError
from observatory.objects.index import (
    LARGEST_FILE,
    LARGEST_SEGMENT,
    LARGEST_VERSION,
    LAST_VERSION,
    Entry,
    Listed,
    Segment,
    Version,
    combined,
    object_name,
    packed,
    pieces,
    to_merge,
    unpacked,
    version_name,
)
from observatory.objects.packs import pack_up, put
from observatory.objects.unpacking import concerned, counts, files_in, unpack
from observatory.store.base.files import cache_directory, write_atomic
from observatory.store.base.scratch import temporary
from observatory.store.base.strict_json import InvalidError, read_json

TRIES = 12
"""The number of attempts to create a version while others create theirs."""
LONGEST = 6 * 3600.0
"""Seconds after which what was uploaded is not relied on: `sweep` removes it after a day."""
_VERSION = re.compile(r"versions/(\d{10})\.json")
_SMALL = 4 * 2**20
_MANY = 8

Edit = Callable[[Path, bool], str]
"""Changes a directory with files of the store, and returns the message of the version.

The second argument says whether all results are there, and not only those that parts may change.
"""


@dataclass(frozen=True)
class Moved:
    """The numbers of the versions before and after; None if there is none."""

    before: int | None
    after: int | None
    tries: int = 1


@dataclass(frozen=True)
class State:
    """A version with what its segments list, the oldest first."""

    version: Version | None = None
    listed: tuple[Mapping[str, Entry | None], ...] = ()

    @property
    def number(self) -> int | None:
        """The number of the version; None before the first."""
        return None if self.version is None else self.version.number

    def files(self) -> dict[str, Entry]:
        """Every file by its path."""
        return combined(self.listed)


@dataclass
class Collection:
    """The results at an address; raises as `Bucket`."""

    address: str
    wait: Callable[[float], None] = time.sleep
    bucket: Bucket = field(init=False)

    def __post_init__(self) -> None:
        self.bucket = Bucket(self.address)

    def change(
        self, edit: Edit, parts: Sequence[Path], *, whole: bool = False, dry_run: bool = False
    ) -> Moved:
        """Unpack what ``parts`` may change, let ``edit`` change it, and create the next version.

        ``whole`` unpacks everything, so that ``edit`` may also remove files, and writes packs anew
        of which most is not needed any more. If somebody else creates the version, this begins
        again with theirs. Raises StoreError, UnreachableError and what ``edit`` raises.
        """
        if not dry_run:
            self.bucket.check()
        given = {path for part in parts for path in files_in(part)}
        uploaded: dict[str, Entry] = {}
        began = time.monotonic()
        for tries in range(1, TRIES + 1):
            state = self.state()
            files = state.files()
            unchanged = Moved(state.number, state.number, tries)
            with temporary("observatory-results-") as work:
                chosen = files if whole else concerned(files, given)
                unpack(self.bucket, [files[path] for path in chosen], work, parts)
                complete = not any(counts(path) for path in files.keys() - chosen)
                message = edit(work, complete)
                there = {path: _sha(work / path) for path in files_in(work)}
                stale = self._in_poor_packs(files) if whole else set()
                new = {
                    path for path, sha in there.items()
                    if path in stale or path not in files or files[path].sha != sha
                }  # fmt: skip
                gone = set(chosen) - there.keys() if whole else set()
                if dry_run or not (new or gone):
                    return unchanged
                again = {path for path in new if there[path] in uploaded}
                for entry in pack_up(self.bucket, work, new - again):
                    uploaded[entry.sha] = entry
            changed: dict[str, Entry | None] = dict.fromkeys(gone)
            for path in new:
                one = uploaded[there[path]]
                changed[path] = Entry(path, one.sha, one.size, one.pack, one.start, one.length)
            version = self._next(state, changed, message, anew=whole)
            if time.monotonic() - began > LONGEST:
                uploaded, began = {}, time.monotonic()
            elif self._commit(version):
                return Moved(state.number, version.number, tries)
            self.wait(random.uniform(0, min(0.1 * 2**tries, 10)))  # noqa: S311
        raise UnreachableError(
            f"{self.address}: others have published {TRIES} times while this was put together; "
            "publish again later"
        )

    def numbers(self) -> list[int]:
        """The numbers of the versions, ascending."""
        matches = (_VERSION.fullmatch(one.name) for one in self.bucket.found("versions"))
        return sorted(int(match[1]) for match in matches if match)

    def state(self) -> State:
        """Read the newest version. Raises StoreError and UnreachableError."""
        numbers = self.numbers()
        if not numbers:
            return State()
        version = self.version(numbers[-1])
        return State(version, tuple(self.segment(one.name) for one in version.segments))

    def version(self, number: int) -> Version:
        """Read a version. Raises GoneError if there is none, StoreError if it is none."""
        name = version_name(number)
        content = self.bucket.read(name, 0, LARGEST_VERSION)
        try:
            found = read_json(Version, content)
        except InvalidError as error:
            raise StoreError(f"{self.address}: {name} is no version of results: {error}") from error
        if found.number != number:
            raise StoreError(f"{self.address}: {name} holds version {found.number}")
        return found

    def segment(self, name: str) -> dict[str, Entry | None]:
        """Read a segment, from the cache of this machine if it is there."""
        directory = cache_directory()
        kept = directory and directory / "segments" / name
        if kept and kept.is_file():
            try:
                return unpacked(name, kept.read_bytes())
            except (OSError, StoreError):
                pass  # the store has it, too
        try:
            content = self.bucket.read(object_name(name), 0, LARGEST_SEGMENT)
            found = unpacked(name, content)
        except GoneError as error:
            raise StoreError(f"{self.address}: the segment {name} is gone") from error
        except StoreError as error:
            raise type(error)(f"{self.address}: {error}") from error
        if kept:
            with suppress(OSError):  # it only saves time
                write_atomic(kept, content)
        return found

    def _next(
        self, state: State, changed: Mapping[str, Entry | None], message: str, *, anew: bool
    ) -> Version:
        """Write the segments of the next version, and return it."""
        before = state.version
        if before is not None and before.number == LAST_VERSION:
            raise StoreError(
                f"{self.address} already has the highest possible version, "
                f"{version_name(LAST_VERSION)}, which the observatory did not write unless "
                "somebody published that often; remove this object"
            )
        segments = [] if before is None else list(before.segments)
        listed = [*state.listed, changed]
        if anew:
            segments = self._segments(combined(listed))
        else:
            number = to_merge([*(one.files for one in segments), len(changed)])
            last: dict[str, Entry | None] = {}
            for one in listed[-number:]:
                last.update(one)
            if number == len(listed):  # there is nothing before it that could say otherwise
                last = {path: entry for path, entry in last.items() if entry is not None}
            segments = [*segments[: len(listed) - number], *self._segments(last)]
        return Version(
            schema="observatory/version/1", number=1 + (state.number or 0),
            id=secrets.token_hex(8), after=before and before.id,
            taken_at=datetime.now(UTC), message=message[:20_000], segments=segments,
        )  # fmt: skip

    def _segments(self, listed: Listed) -> list[Segment]:
        return [
            Segment(name=put(self.bucket, packed(part)), files=len(part)) for part in pieces(listed)
        ]

    def _commit(self, version: Version) -> bool:
        """Create a version. Returns False if another one has its number."""
        content = version.model_dump_json(by_alias=True, indent=1).encode() + b"\n"
        if not self.bucket.create(version_name(version.number), content):
            try:  # the answer to a request that had succeeded may have been lost
                if self.version(version.number).id != version.id:
                    return False
            except GoneError:
                return False
        # Whoever slept for days may have created a number that had been used and was swept since.
        if self.numbers()[-1:] == [version.number]:
            return True
        try:
            return self.version(version.number + 1).after == version.id
        except GoneError:
            return False

    def _in_poor_packs(self, files: Mapping[str, Entry]) -> set[str]:
        """The files in packs of which less than half is needed, or that are small and many."""
        used: dict[str, int] = {}
        for entry in files.values():
            used[entry.pack] = used.get(entry.pack, 0) + entry.length
        sizes = {one.name.rpartition("/")[2]: one.size for one in self.bucket.found("objects")}
        poor = {pack for pack, length in used.items() if 2 * length < sizes.get(pack, 0)}
        small = {pack for pack in used if sizes.get(pack, 0) < _SMALL}
        poor |= small if len(small) >= _MANY else set()
        return {path for path, entry in files.items() if entry.pack in poor}


def _sha(path: Path) -> str:
    if path.stat().st_size > LARGEST_FILE:
        raise StoreError(f"{path.name} is larger than {LARGEST_FILE} bytes; it cannot be published")
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
