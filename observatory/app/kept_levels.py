"""Levels of series that were found before: cutting a series takes longer than all else of it.

The levels of a series follow from its values alone, so they are found by the hash of those, which
is kept beside them: known values are not even read from disk. Levels are in
``$XDG_CACHE_HOME/observatory/levels/``, with a hash of the code that found them.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from observatory.analyze import history
from observatory.analyze.history.drift import Drift
from observatory.analyze.history.machine_floors import MachineFloors
from observatory.analyze.history.quiet import levels_of_many
from observatory.analyze.history.segments import (
    Alerted,
    Levels,
    SegmentedSeries,
    levels_of,
    searched,
    segmented,
)
from observatory.analyze.history.series import Series
from observatory.analyze.history.steps import Values
from observatory.app.parts import mapped
from observatory.store.base.files import cache_directory, write_atomic

PART = 500_000
"""Values whose levels one process looks for at a time: half a second of CPU time. What is on its
way to a process is memory."""
ALONE = 4 * PART
"""So many values at most are looked at here: a process takes half a second to start."""
_LIBRARIES = ("numpy", "ruptures", "scipy")


class KeptLevels:
    """Finds the levels of values and remembers them in a file; `save` writes those asked for."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._code = _code()
        self._known: dict[str, Any] = {}
        self._used: dict[str, Any] = {}
        if file is not None:
            with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
                found = orjson.loads(file.read_bytes())
                self._known = found["levels"] if found["code"] == self._code else {}
        self._stored = frozenset(self._known)

    def ahead(self, series: Iterable[Series]) -> None:
        """Find the levels of series that will be asked for, in all processes there may be."""
        new = {key: one for one in series if (key := _key(one)) not in self._known}
        if new:
            values = sum(map(len, new.values()))
            size = len(new) if values <= ALONE else max(1, PART * len(new) // values)
            parts = {id(one.part): one.part for one in new.values()}.values()

            def let_go() -> None:
                for part in parts:
                    part.let_go()

            views = [one.values for one in new.values()]
            found = mapped(levels_of_part, views, size, after=let_go)
            self._known.update(zip(new, found, strict=True))

    def __call__(self, series: Series, values: Values | None = None) -> Levels:
        """The levels of a series; ``values``: what is left of its own without events."""
        key = _key(series, values)
        known = self._known.get(key)
        if known is None:
            found = levels_of(series.values if values is None else values)
            known = _encoded(found)
        else:
            found = _decoded(known, series, values)
        self._used[key] = known
        return found

    def save(self) -> None:
        """Keep the levels that were asked for, and no others; if they cannot be written, none."""
        if self._file is None or self._used.keys() == self._stored:
            return
        with contextlib.suppress(OSError):
            write_atomic(self._file, orjson.dumps({"code": self._code, "levels": self._used}))


@contextlib.contextmanager
def kept_levels(directories: Sequence[Path]) -> Iterator[KeptLevels]:
    """What finds the levels of all series in results directories."""
    base = cache_directory()
    places = b"\0".join(os.fsencode(one.resolve()) for one in directories)
    name = hashlib.blake2b(places, digest_size=16).hexdigest()
    levels = KeptLevels(None if base is None else base / "levels" / f"{name}.json")
    yield levels
    levels.save()


def tracks_of(
    directories: Sequence[Path],
    series: Sequence[Series],
    alerted: Collection[Alerted],
    floors: MachineFloors,
) -> list[SegmentedSeries]:
    """All series of results directories, cut into levels; the rest as `segmented` has it."""
    with kept_levels(directories) as levels:
        levels.ahead(one for one in series if searched(one))
        return list(segmented(series, alerted, levels=levels, floors=floors))


def levels_of_part(part: Sequence[Values]) -> list[Any]:
    """The levels of the values of many series, as they are kept."""
    return [_encoded(one) for one in levels_of_many(part)]


def _key(series: Series, values: Values | None = None) -> str:
    if values is None:
        return series.digest.hex()
    return hashlib.blake2b(np.ascontiguousarray(values).tobytes(), digest_size=16).hexdigest()


def _encoded(levels: Levels) -> list[Any]:
    drift, places = levels
    return [places, drift and [drift.ratio, drift.low, drift.high, drift.slope]]


def _decoded(known: Any, series: Series, values: Values | None) -> Levels:
    places, drift = known
    return drift and Drift.of(series.values if values is None else values, *drift), places


def _code() -> str:
    """A hash of the code from which levels follow."""
    found = hashlib.blake2b(digest_size=16)
    for library in _LIBRARIES:
        found.update(version(library).encode())
    for source in sources():
        found.update(source.read_bytes())
    return found.hexdigest()


def sources() -> list[Path]:
    """The code of the detector; all of the package, as what is left out might be forgotten."""
    return sorted(Path(history.__file__).parent.glob("*.py"))
