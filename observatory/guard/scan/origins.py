"""Which data files have a function from which others: what was compiled once, and copied.

numba links copies of all functions that a function calls into its object file, and optimises them
anew. It leaves there a variable ``NumbaEnv`` for each of them, by its symbol. So a file of which
every function is among those of another was linked into that: a function of both was compiled for
the first, and what the second has is a copy. (Where several files define one function as their
own, its symbol no longer tells which of them was linked, and none is taken to be.)
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NamedTuple

MOST_COMPARED = 50_000_000
"""Symbols that are compared at most, which takes seconds: a cache of PyTensor's needs thousands."""


class _File(NamedTuple):
    own: frozenset[int]
    linked: frozenset[int]


class Origins:
    """The files that one process can load, by what is linked into them."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._files: dict[Path, _File] = {}
        self._owners: Counter[int] = Counter()
        self._left = MOST_COMPARED

    def __contains__(self, symbol: str) -> bool:
        return symbol in self._numbers

    def add(self, path: Path, own: Iterable[str], linked: Iterable[str]) -> None:
        """A file, the symbols of its own functions and of all that were linked into it."""
        self._files[path] = file = _File(self._numbered(own), self._numbered(linked))
        self._owners.update(file.own)

    def roots(self, paths: Collection[Path]) -> list[Path]:
        """Those that have none of the others linked into them.

        All if each has another one, or if it would take too long to tell.
        """
        owners: dict[int, list[Path]] = defaultdict(list)
        for path in paths:
            for symbol in self._files[path].own:
                owners[symbol].append(path)
        return [path for path in paths if not self._has_one(path, owners)] or list(paths)

    def _numbered(self, symbols: Iterable[str]) -> frozenset[int]:
        numbers = self._numbers
        return frozenset(numbers.setdefault(symbol, len(numbers)) for symbol in symbols)

    def _has_one(self, path: Path, owners: dict[int, list[Path]]) -> bool:
        whole = self._files[path]
        foreign = (owners.keys() & whole.linked) - whole.own
        return any(
            self._contains(whole, self._files[part])
            for symbol in foreign
            for part in owners[symbol]
        )

    def _contains(self, whole: _File, part: _File) -> bool:
        self._left -= len(part.linked)
        return (
            self._left > 0
            and all(self._owners[symbol] == 1 for symbol in part.own)
            and part.linked <= whole.linked
        )
