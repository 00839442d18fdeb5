"""Object stores that somebody hostile may write to: their lists, versions, segments and packs.

The first line of a content says which of them it is.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

from fsspec.implementations.memory import MemoryFile, MemoryFileSystem

from observatory.errors import ObservatoryError
from observatory.objects.collection import Collection
from observatory.objects.copies import bring_up_to_date
from observatory.objects.index import Segment, Version, object_name, version_name
from observatory.objects.sweeping import AGE, sweep
from tests import factories
from tests.hostile.contained import contained
from tests.hostile.mutations import VALUES
from tests.hostile.surface import Surface

_ADDRESS = "memory://fuzz/store"
_NAMES = (
    "alerts.json", "samples", "samples/here", "samples/here/a.jsonl", "triage.toml", "a", "a/b",
    "benchmarks.json", "torture/a.json", "../x", "/etc/x", "a/../../x", "./a", ".fetched", ".git/x",
    "a//b", "~", "x" * 300, "a/" * 9 + "a", "C:x", "a\\b", "versions/0000000001.json",
)  # fmt: skip
_SIZES = (0, 1, 5, 2**20, 2**25, 2**29, 2**29 + 1, 9_999_999_999, 999_999_999_999)


def _sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@cache
def _bomb(size: int) -> bytes:
    """What is uncompressed to so many bytes, which are never all in memory here."""
    stream, part = zlib.compressobj(), bytes(2**16)
    return b"".join(stream.compress(part) for _ in range(size // len(part))) + stream.flush()


def _wait(_: float) -> None:
    """Others never create a version here."""


@cache
def _good() -> dict[str, bytes]:
    """The objects of a store with a few results, by their names in the file system."""
    import tempfile

    MemoryFileSystem.store.clear()
    with tempfile.TemporaryDirectory() as work:
        factories.journal(Path(work) / "results", [factories.sample()])
        Collection(_ADDRESS, wait=_wait).change(
            lambda into, whole: _added(Path(work) / "results", into), [Path(work) / "results"]
        )
    return {name: one.getvalue() for name, one in MemoryFileSystem.store.items()}


def _added(part: Path, into: Path) -> str:
    for path in filter(Path.is_file, part.rglob("*")):
        target = into / path.relative_to(part)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    return "a part"


def _put(name: str, content: bytes) -> None:
    """Create an object, whose name need not be one that the file system would give."""
    path = f"/fuzz/store/{name}"
    MemoryFileSystem.store[path] = MemoryFile(MemoryFileSystem(), path, content)


def _list(*objects: bytes) -> None:
    """Put segments into the store, and the next version, which names them."""
    names = [_sha(one) for one in objects]
    for name, one in zip(names, objects, strict=True):
        _put(object_name(name), one)
    version = Version(
        schema="observatory/version/1", number=2, id="0" * 16, after=None, message="",
        taken_at=datetime.now(UTC), segments=[Segment(name=name, files=1) for name in names],
    )  # fmt: skip
    _put(version_name(2), version.model_dump_json(by_alias=True).encode())


def _version(body: bytes) -> None:
    _put(version_name(2), body)


def _segment(body: bytes) -> None:
    _list(zlib.compress(body))


def _pack(body: bytes) -> None:
    """A pack whose place in it, and size, are said in its first line."""
    first, _, content = body.partition(b"\n")
    _put(object_name(_sha(content)), content)
    numbers = first.decode(errors="replace").split()[:3]
    size, start, length = (*numbers, "0", "0", "0")[:3]
    shas = (_sha(content), _sha(content.ljust(1)), "0" * 64)
    with suppress(zlib.error):
        shas = (_sha(zlib.decompressobj().decompress(content, 2**22)), *shas)
    lines = (
        f"a{n}\t{sha}\t{size}\t{_sha(content)}\t{start}\t{length}" for n, sha in enumerate(shas)
    )
    _list(*(zlib.compress(line.encode()) for line in lines))


def _nothing(body: bytes) -> None:
    """The answer to a request for a list does not change the store."""


def _listed(body: bytes) -> dict[str, dict[str, Any]]:
    """What the library of a protocol makes of a list: whatever is known of each object."""
    with suppress(ValueError, RecursionError):
        found = json.loads(body)
        if isinstance(found, dict):
            return {
                f"/fuzz/store/{name}": {"size": 0, **info}
                for name, info in found.items() if isinstance(info, dict)
            }  # fmt: skip
    return {}


@contextmanager
def _lists(listed: dict[str, dict[str, Any]] | None) -> Iterator[None]:
    """Answer with this list, unless it is None, whatever is asked for."""
    if listed is None:
        yield
        return
    with mock.patch.object(MemoryFileSystem, "find", return_value=listed):
        yield


def _names(body: bytes) -> None:
    for name in body[:20_000].decode(errors="replace").split("\n"):
        _put(name, b"x")


_ROLES: dict[bytes, Callable[[bytes], None]] = {
    b"version": _version, b"segment": _segment, b"index": _list, b"pack": _pack, b"names": _names,
    b"listing": _nothing,
}  # fmt: skip


def _read(content: bytes, work: Path) -> None:
    """Bring a copy up to date, publish another part, and remove what is old."""
    role, _, body = content.partition(b"\n")
    MemoryFileSystem.store.clear()
    for name, good in _good().items():
        MemoryFileSystem().pipe_file(name, good)
    _ROLES.get(role, _names)(body)
    listed = _listed(body) if role == b"listing" else None
    (work / "part").mkdir()
    (work / "part" / "triage.toml").write_bytes(b"")
    collection = Collection(_ADDRESS, wait=_wait)
    steps: tuple[Callable[[], object], ...] = (
        lambda: bring_up_to_date(collection, work / "copy"),
        lambda: collection.change(lambda into, whole: _added(work / "part", into), [work / "part"]),
        lambda: sweep(collection, datetime.now(UTC) + 2 * AGE),
    )
    errors: list[ObservatoryError] = []
    with contained(work) as refused, _lists(listed):
        for step in steps:
            try:
                step()
            except ObservatoryError as error:
                error.__cause__ = error.__context__ = None  # whose frames hold what was read
                errors.append(error.with_traceback(None))
    assert not refused, refused
    assert all(0 < len(str(one)) < 5_000 for one in errors), errors
    if errors:
        raise errors[0]


def _entry(dice: Random) -> str:
    shas = (_sha(b""), "0" * 64, *(name.rpartition("/")[2] for name in _good()))
    name, sha, pack = dice.choice(_NAMES), dice.choice(shas), dice.choice(shas)
    size, start, length = (dice.choice(_SIZES) for _ in range(3))
    return (
        f"{name}\t-" if dice.random() < 0.1 else f"{name}\t{sha}\t{size}\t{pack}\t{start}\t{length}"
    )


def _made(dice: Random) -> bytes:
    role = dice.choice(("segment", "segment", "pack", "names", "index", "listing"))
    number = dice.choice((1, 2, 5, 50))
    if role == "segment":
        body = "\n".join(_entry(dice) for _ in range(number)).encode()
    elif role == "pack":
        sizes = " ".join(str(dice.choice(_SIZES)) for _ in range(3))
        inside = dice.choice((b"", b"x", b"x" * 100_000, _bomb(2**25)))
        body = sizes.encode() + b"\n" + inside
    elif role == "names":
        texts = [str(one) for one in VALUES if isinstance(one, str)]
        below = ("versions/", "objects/", "objects/00/", "")
        body = "\n".join(dice.choice(below) + dice.choice(texts) for _ in range(number)).encode(
            errors="replace"
        )
    elif role == "listing":
        names = (version_name(1), version_name(2), object_name("0" * 64), "versions/x", "x")
        about = ("size", "LastModified", "mtime")
        body = json.dumps(
            {
                name: {each: dice.choice(VALUES) for each in about if dice.random() < 0.5}
                for name in names
            }
        ).encode()
    else:
        body = _bomb(dice.choice((0, 2**20, 2**26)))
    return role.encode() + b"\n" + body


def _seeds() -> list[bytes]:
    found: list[bytes] = []
    for name, content in _good().items():
        if "/versions/" in name:
            found.append(b"version\n" + content.replace(b'"number":1', b'"number":2'))
            continue
        with suppress(zlib.error):
            found.append(b"segment\n" + zlib.decompress(content))
        found += [b"index\n" + content, b"pack\n100 0 10\n" + content]
    return [*found, b"names\nversions/0000000009.json\nversions/x"]


SURFACE = Surface(_seeds, _read, _made)
