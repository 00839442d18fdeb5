"""Which data files are linked into others, to tell a function from its copies.

numba links copies of all functions that a function calls into its object file, and optimises them
again. For each it leaves a variable ``NumbaEnv`` with the function's symbol. So if the functions of
one file are all among those of another, the first was linked into the second, and a function of
both was compiled for the first and copied into the second. If several files define the same
function as their own, its symbol does not say which of them was linked, and none is assumed to be.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NamedTuple

MOST_COMPARED = 50_000_000
"""The limit on compared symbols, which take seconds; a cache of PyTensor's needs thousands."""


class _File(NamedTuple):
    own: frozenset[int]
    linked: frozenset[int]


class Origins:
    """The files that one process can load, with the functions that are linked into each."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._files: dict[Path, _File] = {}
        self._owners: Counter[int] = Counter()
        self._left = MOST_COMPARED

    def __contains__(self, symbol: str) -> bool:
        return symbol in self._numbers

    def add(self, path: Path, own: Iterable[str], linked: Iterable[str]) -> None:
        """Add a file, with the symbols of its own functions and of all that are linked into it."""
        self._files[path] = file = _File(self._numbered(own), self._numbered(linked))
        self._owners.update(file.own)

    def roots(self, paths: Collection[Path]) -> list[Path]:
        """Return the files into which none of the others is linked.

        Returns all files if each contains another one, or if the comparison exceeds the limit.
        """
        owners: dict[int, list[Path]] = defaultdict(list)
        for path in paths:
            for symbol in self._files[path].own:
                owners[symbol].append(path)
        return [path for path in paths if not self._contains_any(path, owners)] or list(paths)

    def _numbered(self, symbols: Iterable[str]) -> frozenset[int]:
        numbers = self._numbers
        return frozenset(numbers.setdefault(symbol, len(numbers)) for symbol in symbols)

    def _contains_any(self, path: Path, owners: dict[int, list[Path]]) -> bool:
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
