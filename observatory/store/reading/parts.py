"""Values series by series, in parts, each of which is kept as a file of its own.

A part has the values of the files of one directory that one environment measured on one machine of
one kind, in the order of their dates. Its file is mapped into memory and not read, so that values
nobody asks for take neither time nor memory. It names the hashes of the files that it was made of,
and begins with the hash of its own content and of the code that made it.
"""

from __future__ import annotations

import hashlib
import mmap
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import orjson

from observatory.store.asv.columns import Columns, Floats, Ints, Series, SeriesList, joined
from observatory.store.asv.result import Head

_HASH = 16
"""Bytes of the hash with which a file begins, and of the hash of a series."""
_SIZE = 8
"""Bytes of the number that says how long the texts are, which come first."""
_ALIGNED = 8
_PIECE = 2**17
"""Items of a column that are written at once."""
KEYS = (
    ("starts", "<i8"), ("low", "<f8"), ("high", "<f8"), ("digests", f"V{_HASH}"),
    ("series", "<i4"), ("position", "<i4"),
)  # fmt: skip
VALUES = (("value", "<f8"), ("ci_low", "<f8"), ("ci_high", "<f8"), ("at", "<i4"), ("n", "<i4"))
_RELEASE = re.compile(r"^(\D*\d+\.\d+).*", re.DOTALL)
_blake2b = partial(hashlib.blake2b, digest_size=_HASH)


class Era(NamedTuple):
    """The kind of a machine, in asv's words, and the minor version of Python."""

    cpu: str
    num_cpu: str
    arch: str
    os: str
    python: str

    def __str__(self) -> str:
        words = [self.cpu, self.num_cpu and f"{self.num_cpu} CPUs", self.arch, self.os]
        return ", ".join([word for word in words if word] + [f"Python {self.python}"])

    @classmethod
    def of(cls, params: Any, python: str) -> Era:
        """The era of a file with these ``params``."""
        return _era(*(params.get(key, "") for key in ("cpu", "num_cpu", "arch", "os")), python)


@lru_cache(maxsize=256)
def _era(cpu: str, cpus: str, arch: str, system: str, python: str) -> Era:
    # Patch versions of the system do not change the era.
    return Era(cpu, cpus, arch, _RELEASE.sub(r"\1", system), python)


@dataclass(frozen=True, eq=False)
class Part:
    """The values of some files, sorted by series, position and file.

    The values of key ``k``, which is position ``position[k]`` of series ``series[k]``, are items
    ``starts[k]`` to ``starts[k + 1]`` of the columns. Value ``i`` is of file ``files[at[i]]``.
    """

    files: Ints
    """The numbers of its files, the oldest first."""
    series: Ints
    position: Ints
    starts: npt.NDArray[np.int64]
    digests: npt.NDArray[np.void]
    """For each key the hash of its values and of all that is known of them."""
    low: Floats
    high: Floats
    """The smallest and the largest value of each key."""
    value: Floats
    ci_low: Floats
    ci_high: Floats
    at: Ints
    n: Ints
    content: mmap.mmap | None = None
    """The file that its values are in; None where they are in memory."""

    def __len__(self) -> int:
        return len(self.value)

    @cached_property
    def lengths(self) -> npt.NDArray[np.int64]:
        """The number of values of each key."""
        return np.diff(self.starts)

    @cached_property
    def bounds(self) -> list[int]:
        """``starts`` as numbers of Python, which are looked at one by one."""
        found: list[int] = self.starts.tolist()
        return found

    @property
    def columns(self) -> Columns:
        """Its values, in its order."""
        series, position = (np.repeat(one, self.lengths) for one in (self.series, self.position))
        return Columns(series, position, self.value, self.n, self.ci_low, self.ci_high)

    @property
    def file(self) -> Ints:
        """For each value the number of its file."""
        return self.files[self.at]

    def only(self, keys: npt.NDArray[np.integer]) -> Part:
        """Some of its keys with their values, in memory."""
        first = self.starts[keys]
        lengths = self.starts[keys + 1] - first
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        rows = np.arange(starts[-1]) + np.repeat(first - starts[:-1], lengths)
        of_keys = {name: getattr(self, name)[keys] for name, _ in KEYS if name != "starts"}
        values = {name: getattr(self, name)[rows] for name, _ in VALUES}
        return Part(self.files, starts=starts, **of_keys, **values)

    def let_go(self) -> None:
        """Take what was read of its file out of memory; who looks at it reads it again."""
        if self.content is not None:
            self.content.madvise(mmap.MADV_DONTNEED)


def part_of(files: Sequence[int], at: Ints, columns: Columns, hashed: bool = True) -> Part:
    """A part of values in any order, each with the place of its file among ``files``.

    ``hashed``: whether it needs the digests of its keys.
    """
    order = ordered(columns.series, columns.position, at)
    whole = columns.where(order)
    new = np.ones(len(order), np.bool_)
    new[1:] = (np.diff(whole.series) != 0) | (np.diff(whole.position) != 0)
    starts = [*np.flatnonzero(new).tolist(), len(order)]
    return sorted_part(files, at[order], whole, starts, hashed)


def sorted_part(
    files: Sequence[int], at: Ints, columns: Columns, starts: Sequence[int], hashed: bool = True
) -> Part:
    """A part of values that are sorted: those of each key begin at one of ``starts``."""
    first = np.array(starts[:-1], np.int64)
    found = Part(
        np.array(files, np.int32), columns.series[first], columns.position[first],
        np.array(starts, np.int64), np.zeros(len(first), f"V{_HASH}"),
        *_extremes(columns.value, first),
        columns.value, columns.ci_low, columns.ci_high, at, columns.n,
    )  # fmt: skip
    for key, (start, stop) in enumerate(pairwise(starts) if hashed else ()):
        rows = slice(start, stop)
        found.digests[key] = digest_of(
            at[rows], columns.value[rows], columns.n[rows], columns.ci_low[rows],
            columns.ci_high[rows],
        )  # fmt: skip
    return found


def _extremes(values: Floats, first: npt.NDArray[np.integer]) -> tuple[Floats, Floats]:
    if not len(first):
        return np.empty(0), np.empty(0)
    return np.minimum.reduceat(values, first), np.maximum.reduceat(values, first)


def digest_of(*columns: npt.NDArray[Any]) -> bytes:
    """The hash of the values of one series, and of what is known of them."""
    return _blake2b(b"".join([column.tobytes() for column in columns])).digest()


def merged(
    files: Sequence[int], parts: Sequence[Part], more: Sequence[tuple[int, Columns]] = (),
    hashed: bool = True,
) -> Part:  # fmt: skip
    """The values of the files ``files``, oldest first, from several parts, and ``more`` by file."""
    place = {number: index for index, number in enumerate(files)}
    at, columns = [np.empty(0, np.int32)], [Columns()]
    for part in parts:
        places = np.array([place.get(number, -1) for number in part.files.tolist()], np.int32)
        found = places[part.at]
        there = found >= 0
        whole = bool(there.all())
        at.append(found if whole else found[there])
        columns.append(part.columns if whole else part.columns.where(there))
    for number, one in more:
        at.append(np.full(len(one), place[number], np.int32))
        columns.append(one)
    return part_of(files, np.concatenate(at), joined(columns), hashed)


def ordered(*columns: npt.NDArray[np.integer]) -> npt.NDArray[np.integer]:
    """The order by these columns, the first one first; equal rows stay in the order they have.

    As one number for each row: files are read in almost this order, which one sort can use.
    """
    key = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        size = int(column.max(initial=0)) + 1
        if key.max(initial=0) >= np.iinfo(np.int64).max // size - 1:
            return np.lexsort(columns[::-1])  # too many for one number
        key = key * size + column
    return np.argsort(key, kind="stable")


def line_of(machine: str, head: Head) -> tuple[str, str, Era]:
    """What the files of one part share, beside their directory."""
    return machine, head.env_name, Era.of(head.params, head.python)


class KeptPart(NamedTuple):
    """A part from its file, and the hashes of the files that it was made of."""

    sources: list[str]
    part: Part


def encoded(sources: Sequence[str], part: Part, series: SeriesList, key: bytes) -> Iterator[bytes]:
    """A part as the content of its file, in pieces; ``key`` names the code that made it."""
    used, numbers = np.unique(part.series, return_inverse=True)
    names = [[series.all[number].name, series.all[number].params] for number in used]
    text = orjson.dumps([sources, names, len(part.series), len(part)])
    text += b" " * (-len(text) % _ALIGNED)
    begin = len(text).to_bytes(_SIZE, "little") + text
    columns = replace(part, series=numbers.astype(np.int32))
    found = _blake2b(begin, key=key)
    for piece in _pieces(columns):
        found.update(piece)
    yield found.digest() + begin
    yield from _pieces(columns)


def _pieces(part: Part) -> Iterator[bytes]:
    """The columns as they are in a file: of those that are in one, little is in memory at once."""
    for name, kind in (*KEYS, *VALUES):
        column = getattr(part, name)
        for first in range(0, len(column), _PIECE):
            yield column[first : first + _PIECE].astype(kind, copy=False).tobytes()
            part.let_go()
        yield bytes(-len(column) * np.dtype(kind).itemsize % _ALIGNED)


def mapped(path: Path, series: SeriesList, key: bytes) -> KeptPart:
    """A part whose values are where its file lies; its series are added to ``series``.

    Its files have no numbers yet. Raises OSError, and ValueError or LookupError for a file that is
    damaged, or that other code has made.
    """
    with path.open("rb") as stream:
        expected = stream.read(_HASH)
        # In pieces, so that the values of a part that is not asked for are not in memory.
        if hashlib.file_digest(stream, partial(_blake2b, key=key)).digest() != expected:
            raise ValueError("the part is damaged, or another version made it")
        content = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    place = _HASH + _SIZE
    size = int.from_bytes(content[_HASH:place], "little")
    sources, names, keys, length = orjson.loads(content[place : place + size])
    place += size
    columns: dict[str, Any] = {}
    for name, kind in (*KEYS, *VALUES):
        count = keys + (name == "starts") if (name, kind) in KEYS else length
        columns[name] = np.frombuffer(content, kind, count, place)
        place += columns[name].nbytes
        place += -place % _ALIGNED
    numbers = series.numbers(Series(name, tuple(map(tuple, params))) for name, params in names)
    columns["series"] = numbers[columns["series"]]
    return KeptPart(sources, Part(np.empty(0, np.int32), **columns, content=content))
