"""Values put aside: parts of any size, of which little is in memory at once.

What was parsed of many files is put aside, some files at a time, each time sorted as a part. Such
parts are merged in ranges of keys. All of this is in files without a name, which end with the
process, however it ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from observatory.store.base.nameless import Nameless
from observatory.store.reading.parts import KEYS, VALUES, Part, merged

MOST = 500_000
"""Values that wait in memory; to put them aside takes 80 MB."""
_RANGE = 200_000
"""Values that are merged at once."""
_Keys = npt.NDArray[np.int64]


def put_aside(part: Part, directory: Path) -> Part:
    """The same part in a file without a name. Raises OSError if that cannot be written."""
    return _in_file(part.files.tolist(), [part], len(part.series), len(part), directory)


def merged_in_ranges(files: Sequence[int], parts: Sequence[Part], directory: Path) -> Part:
    """What `merged` makes of parts that are in files, in a file without a name. Raises OSError."""
    number, bounds = _bounds(parts)
    size = sum(map(len, parts))
    return _in_file(files, _ranges(files, parts, bounds), number, size, directory)


def _keys(part: Part) -> _Keys:
    return part.series.astype(np.int64) << 32 | part.position


def _bounds(parts: Sequence[Part]) -> tuple[int, _Keys]:
    """The number of different keys, and those at which a range begins that is not the first."""
    keys, sizes = np.empty(0, np.int64), np.empty(0, np.int64)
    for part in parts:
        own = _keys(part)
        every = np.union1d(keys, own)
        found = np.zeros(len(every), np.int64)
        found[np.searchsorted(every, keys)] = sizes
        found[np.searchsorted(every, own)] += np.diff(part.starts)
        keys, sizes = every, found
        part.let_go()
    numbers = (np.cumsum(sizes) - sizes) // _RANGE
    return len(keys), keys[np.flatnonzero(np.diff(numbers)) + 1]


def _ranges(files: Sequence[int], parts: Sequence[Part], bounds: _Keys) -> Iterator[Part]:
    """The merged values, a range of keys after another."""
    ranges = [_ranges_of(part, bounds) for part in parts]
    for own in zip(*ranges, strict=True):
        yield merged(files, [part.only(keys) for part, keys in zip(parts, own, strict=True)])
        for part in parts:
            part.let_go()


def _ranges_of(part: Part, bounds: _Keys) -> Iterator[npt.NDArray[np.integer]]:
    """The places in a part of the keys of each range."""
    own, order = _keys(part), None
    if (np.diff(own) <= 0).any():  # it was kept, and its series had other numbers then
        order = np.argsort(own)
        own = own[order]
    cuts = [0, *np.searchsorted(own, bounds).tolist(), len(own)]
    del own
    part.let_go()
    for first, last in pairwise(cuts):
        yield np.arange(first, last) if order is None else order[first:last]


def _in_file(
    files: Sequence[int], pieces: Iterable[Part], keys: int, values: int, directory: Path
) -> Part:
    """Parts one after another as one, in a file; it has so many keys and values at most."""
    kinds = {name: (kind, keys + (name == "starts")) for name, kind in KEYS}
    kinds |= {name: (kind, values) for name, kind in VALUES}
    made = Nameless(directory, kinds)
    done = 0
    for piece in pieces:
        columns = {name: getattr(piece, name) for name in kinds}
        made.add(**columns | {"starts": piece.starts[:-1] + done})
        done += len(piece)
    made.add(starts=np.array([done]))
    found = made.filed()
    return Part(np.array(files, np.int32), **found.arrays, content=found.content)
