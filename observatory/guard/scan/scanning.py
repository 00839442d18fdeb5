"""Scanning a cache of numba's: which symbols stand for several functions, or might.

Wrappers (``cpython``, ``cfunc.``, those of ufuncs) are not counted: each carries the uid of its
function and is stored beside it, so it adds no information. Helpers without a uid (``NRT_incref``,
destructors of lists) are named after everything that they do.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from observatory.errors import ObservatoryError
from observatory.guard.scan.elf import ObjectError
from observatory.guard.scan.numba_files import Realm, entries_of, find, object_code
from observatory.guard.scan.objects import ObjectCode, read
from observatory.guard.scan.pickles import CacheFileError
from observatory.guard.scan.symbols import Class, Name, class_of, parse

MOST_KEPT = 512 * 2**20
"""The limit on kept data, in bytes, roughly; a thousand files of PyTensor's need 10 MiB."""
_OF_SOURCE = re.compile(r"(?P<name>[^-]+\.[^-]+)-(?P<line>\d+)\.py\d+\w*\.\d+\.nbc")
_PER_SYMBOL, _PER_DEFINITION = 600, 100
MOST_COMPARED = 50_000_000
"""The limit on compared symbols, which take seconds; a cache of PyTensor's needs thousands."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol that several object files define with different bodies, or might."""

    kind: Class
    function: str
    """The qualified name; for helpers, the symbol."""
    uid: str | None
    """A decimal number of up to 39 digits; None if numba gave it no number."""
    bodies: int
    """The number of different bodies, including copies of one function."""
    symbol: str
    cache: str
    """The directory of the cache, relative to the one that was scanned."""
    numba: str
    python: str
    files: list[str]
    """The data files that define it, relative to the directory that was scanned."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file that was left out, and the reason as a sentence."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a scan. A symbol counts once for each set of files that a process may load."""

    schema: Literal["observatory/guard/scan/1"]
    indexes: int
    """Index files."""
    data_files: int
    """Data files that an index refers to and that were read."""
    unreferenced: int
    """Data files that no index refers to, so that no process loads them."""
    missing: int
    """Data files that an index refers to but that do not exist, so that numba compiles again."""
    functions: int
    """Different symbols of functions, without wrappers and helpers."""
    vulnerable_symbols: int
    collided_symbols: int
    harmless_symbols: int
    symbols: list[Symbol]
    """Collided, then vulnerable, then harmless ones; those with most bodies first."""
    unreadable: list[Unreadable]


class NoCacheError(ObservatoryError):
    """The directory does not exist or contains no file of numba's."""


class _File(NamedTuple):
    own: frozenset[int]
    linked: frozenset[int]


class Origins:
    """Which data files are linked into others, to tell a function from its copies.

    numba links copies of all functions that a function calls into its object file, and optimises
    them again. For each it leaves a variable ``NumbaEnv`` with the function's symbol. So if the
    functions of one file are all among those of another, the first was linked into the second, and
    a function of both was compiled for the first and copied into the second. If several files
    define the same function as their own, none is assumed to be linked.
    """

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
        found = []
        for path in paths:
            whole = self._files[path]
            foreign = (owners.keys() & whole.linked) - whole.own
            parts = (self._files[part] for symbol in foreign for part in owners[symbol])
            if not any(self._contains(whole, part) for part in parts):
                found.append(path)
        return found or list(paths)

    def _numbered(self, symbols: Iterable[str]) -> frozenset[int]:
        numbers = self._numbers
        return frozenset(numbers.setdefault(symbol, len(numbers)) for symbol in symbols)

    def _contains(self, whole: _File, part: _File) -> bool:
        self._left -= len(part.linked)
        return (
            self._left > 0
            and all(self._owners[symbol] == 1 for symbol in part.own)
            and part.linked <= whole.linked
        )


@dataclass(slots=True)
class _Definitions:
    """The definitions of one symbol: the files that define it, by the digest of the body."""

    name: Name | None
    files: dict[bytes, list[Path]] = field(default_factory=lambda: defaultdict(list))

    @property
    def is_function(self) -> bool:
        return self.name is not None and not self.name.wrapper

    def compiled(self, origins: Origins) -> int:
        """The number of different bodies that are not copies of others."""
        if len(self.files) == 1 or self.name is None or not self.name.counted:
            return len(self.files)
        body_of = {path: body for body, paths in self.files.items() for path in paths}
        return len({body_of[path] for path in origins.roots(body_of)})


@dataclass(slots=True)
class _Group:
    """The symbols of the files that one process can load together."""

    symbols: dict[str, _Definitions] = field(default_factory=dict)
    origins: Origins = field(default_factory=Origins)

    def add(self, data: Path, code: ObjectCode, left: int) -> int:
        """Keep the functions of a file, and return how many of ``left`` bytes are then left.

        Raises ObjectError if there are not enough.
        """
        names = {*code.linked, *(function.symbol for function in code.functions)}
        new = [name for name in names if name not in self.symbols and name not in self.origins]
        left -= len(names) * _PER_DEFINITION + sum(len(name) + _PER_SYMBOL for name in new)
        if left < 0:
            raise ObjectError(f"the functions of the cache need more than {MOST_KEPT} bytes")
        own = []
        for function in code.functions:
            definitions = self.symbols.get(function.symbol)
            if definitions is None:
                definitions = _Definitions(parse(function.symbol))
                self.symbols[function.symbol] = definitions
            definitions.files[function.body].append(data)
            if function.own and definitions.is_function:
                own.append(function.symbol)
        self.origins.add(data, own, code.linked)
        return left


def scan(directory: Path) -> Report:
    """Return what the symbols in numba's cache files below a directory stand for.

    Nothing in the files is unpickled, imported or run. Files that cannot be read are listed with
    the reason, and the others are judged without them. Raises NoCacheError if the directory does
    not exist or contains no file of numba's.
    """
    if not directory.is_dir():
        raise NoCacheError(f"{directory} is not a directory")
    found = find(directory)
    if not (found.indexes or found.data or found.broken):
        raise NoCacheError(
            f"{directory} contains no cache of numba's: name PyTensor's base_compiledir, "
            "NUMBA_CACHE_DIR, or a directory above"
        )
    broken = list(found.broken)
    wanted: dict[Path, Realm] = {}
    for index in found.indexes:
        try:
            for path, realm in entries_of(index):
                wanted.setdefault(path, realm)
        except CacheFileError as error:
            broken.append((index, str(error)))
    groups: dict[Realm, _Group] = defaultdict(_Group)
    data_files, left = 0, MOST_KEPT
    for path in found.data:
        if path in wanted:
            try:
                left = groups[wanted[path]].add(path, read(object_code(path)), left)
                data_files += 1
            except (CacheFileError, ObjectError) as error:
                broken.append((path, str(error)))
    symbols = [
        symbol for realm, group in groups.items() for symbol in _judged(realm, group, directory)
    ]
    order = get_args(Class)
    symbols.sort(key=lambda one: (order.index(one.kind), -one.bodies, one.function, one.symbol))
    numbers = Counter(symbol.kind for symbol in symbols)
    existing = set(found.data)
    return Report(
        schema="observatory/guard/scan/1",
        indexes=len(found.indexes),
        data_files=data_files,
        unreferenced=len(existing - wanted.keys()),
        missing=len(wanted.keys() - existing),
        functions=sum(
            definitions.is_function
            for group in groups.values()
            for definitions in group.symbols.values()
        ),
        vulnerable_symbols=numbers["vulnerable"],
        collided_symbols=numbers["collided"],
        harmless_symbols=numbers["harmless"],
        symbols=symbols,
        unreadable=[Unreadable(_relative(path, directory), reason) for path, reason in broken],
    )


def _places(every: Iterable[_Definitions]) -> Mapping[str, set[str]]:
    """By qualified name, the places in a source, as in ``mymod.area-3``, that define it.

    numba names its files after them, where a function is one of a module with a source. The code
    that PyTensor makes has none: its files have a hash in place of the line.
    """
    found: dict[str, set[str]] = defaultdict(set)
    for one in every:
        if one.name is None or "<" in one.name.qualified:
            continue
        for data in (path for paths in one.files.values() for path in paths):
            place = _OF_SOURCE.fullmatch(data.name)
            if place and f".{one.name.qualified}".endswith(f".{place['name']}"):
                found[one.name.qualified].add(data.name[: place.end("line")])
    return found


def _judged(realm: Realm, group: _Group, directory: Path) -> list[Symbol]:
    """The symbols of a group that have a class."""
    symbols = []
    places = _places(group.symbols.values())
    for symbol, definitions in group.symbols.items():
        name, bodies = definitions.name, definitions.files
        kind = class_of(name, len(bodies), definitions.compiled(group.origins))
        if kind is None or (name is not None and name.wrapper):
            continue
        if kind == "vulnerable" and name is not None and len(places[name.qualified]) == 1:
            continue  # only this function of a user's module has its name
        symbols.append(
            Symbol(
                kind=kind,
                function=name.qualified if name else symbol,
                uid=None if name is None or name.uid is None else str(name.uid),
                bodies=len(bodies),
                symbol=symbol,
                cache=_relative(realm.cache, directory),
                numba=realm.numba,
                python=realm.python,
                files=[_relative(path, directory) for paths in bodies.values() for path in paths],
            )
        )
    return symbols


def _relative(path: Path, directory: Path) -> str:
    # The name of a file may not be valid text, but must be written all the same.
    text = str(path.relative_to(directory)) if path.is_relative_to(directory) else str(path)
    return text.encode(errors="backslashreplace").decode()
