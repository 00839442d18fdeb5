"""Copies of a cache, from which every step of a fault starts, and what is usual without a fault."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from .damage import of_another_numba
from .making import Place, Start
from .processes import Starter
from .verdicts import judge
from .workload import GRAPHS, Cache, Seen


class Skip(Exception):
    """Raised where a fault cannot be tried here; the message is the reason."""


@dataclass
class Copies:
    """The live cache of one kind, and the copies that replace it."""

    cache: Cache
    starter: Starter
    kept: Path
    """An empty directory for the copies."""
    _usual: dict[tuple[str, tuple[str, ...]], Seen] = field(default_factory=dict)
    _paths: dict[tuple[Start, tuple[str, ...]], int] = field(default_factory=dict)
    _targets: tuple[str, str] = ("", "")

    @property
    def live(self) -> Path:
        """The cache that processes use."""
        return self.starter.cache

    def prepare(self) -> None:
        """Fill the cache, and keep copies of it. Raises Skip if that fails without any fault."""
        found: list[set[str]] = [set()]
        for graphs in (("up",), ("down",), GRAPHS):
            ended = self.starter.run(graphs)
            verdict, detail = judge(ended, Seen(misses=10**6, compiled=10**6), self.starter.limit)
            if verdict != "safe":
                raise Skip(f"without any fault, {detail or verdict}")
            found.append(self._entries())
            if not found[-1] - found[-2]:
                raise Skip("without any fault, no file of an outer function is added to the cache")
        self.starter.preload(GRAPHS)
        self._targets = (min(found[1] - found[0]), min(found[2] - found[1]))
        self._copy(self.live, self.kept / "filled")
        for entry in self._entries():
            _remove(self.live / entry)
        for file in self.live.rglob("*.nb[ic]"):
            file.unlink()
        self._copy(self.live, self.kept / "bare")

    def _entries(self) -> set[str]:
        """The paths of what a graph added, within the cache."""
        if self.cache == "numba":
            found = self.live.rglob("*fgraph*.nbi")
        else:
            found = (key.parent for key in self.live.rglob("key.pkl"))
        return {str(path.relative_to(self.live)) for path in found}

    def make_stale(self) -> None:
        """Keep a cache in which another numba stored the outer function of `up`."""
        of_another_numba(self.reset("filled"), "")
        self._copy(self.live, self.kept / "stale")

    def without_outer(self, graphs: tuple[str, ...]) -> Start:
        """Keep a cache that lacks only the outer function of `up`; return its name."""
        place = self.reset("bare")
        self.seen(graphs)
        for file in (place.target, *place.data_files()):
            file.unlink()
        self._copy(self.live, self.kept / "without_outer")
        return "without_outer"

    def usual_of(self, start: Start, graphs: tuple[str, ...]) -> Seen:
        """What a process sees without a fault. Ask before a fault: the live cache is reset."""
        if (start, graphs) not in self._usual:
            self.reset(start)
            self._usual[start, graphs] = self.seen(graphs)
        return self._usual[start, graphs]

    def next_of(self, graphs: tuple[str, ...]) -> Seen:
        """What a process sees after another one has built the same graphs; as `usual_of`."""
        if ("next", graphs) not in self._usual:
            self.reset("filled")
            self.seen(graphs)
            self._usual["next", graphs] = self.seen(graphs)
        return self._usual["next", graphs]

    def paths_of(self, start: Start, graphs: tuple[str, ...]) -> int:
        """How many files and directories two processes leave in a cache; as `usual_of`."""
        if (start, graphs) not in self._paths:
            self.reset(start)
            self.seen(graphs)
            self.seen(graphs)
            self._paths[start, graphs] = self.paths()
        return self._paths[start, graphs]

    def paths(self) -> int:
        """How many files and directories are in the live cache now."""
        return sum(len(names) + len(files) for _, names, files in os.walk(self.live))

    def seen(self, graphs: tuple[str, ...]) -> Seen:
        """Let a process build graphs without a fault. Raises Skip if that fails."""
        ended = self.starter.run(graphs)
        if ended.seen is None or ended.seen.raised or ended.seen.wrong:
            _, detail = judge(ended, Seen(misses=10**6, compiled=10**6), self.starter.limit)
            raise Skip(f"without any fault, {detail}")
        return ended.seen

    def reset(self, start: Start) -> Place:
        """Put a copy of the cache in the place of the live one."""
        self._copy(self.kept / start, self.live)
        own, other = (self.live / target for target in self._targets)
        return Place(self.live, own, other)

    def _copy(self, source: Path, target: Path) -> None:
        """Let a directory have the content of another; it stays the same directory."""
        target.mkdir(exist_ok=True)
        target.chmod(0o755)
        for path in target.iterdir():
            _remove(path)
        shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)


def _remove(path: Path) -> None:
    """Remove a file or a directory, whatever its permissions are."""
    if path.is_symlink() or not path.is_dir():
        path.unlink()
        return
    for directory, _, _ in os.walk(path):
        Path(directory).chmod(0o700)
    shutil.rmtree(path)
