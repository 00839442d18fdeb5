"""A scan of a cache: every function in it by its symbol, and what each symbol comes to.

Wrappers (``cpython``, ``cfunc.``, those of ufuncs) are not counted: each has the uid of the
function that it leads to and stands beside it, so that it says nothing that the function does not.
Helpers without a uid (``NRT_incref``, destructors of lists) have names that say all that they do.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from observatory.errors import ObservatoryError
from observatory.guard.scan.elf import ObjectError
from observatory.guard.scan.numba_files import (
    CacheFileError,
    Found,
    Realm,
    entries_of,
    find,
    object_code,
)
from observatory.guard.scan.objects import ObjectCode, read
from observatory.guard.scan.origins import Origins
from observatory.guard.scan.report import SCAN_SCHEMA, Report, Symbol, Unreadable
from observatory.guard.scan.symbols import Class, Name, class_of, parse

MOST_KEPT = 512 * 2**20
"""Bytes, roughly, that are kept of a cache: a thousand files of PyTensor's need some 10 MiB."""
_PER_SYMBOL, _PER_DEFINITION = 600, 100


class NoCacheError(ObservatoryError):
    """There is nothing to scan; the message says where, and what to name instead."""


@dataclass(slots=True)
class _Definitions:
    """Of one symbol: the files that define it, by the body that they give it."""

    name: Name | None
    files: dict[bytes, list[Path]] = field(default_factory=lambda: defaultdict(list))

    @property
    def is_function(self) -> bool:
        return self.name is not None and not self.name.wrapper

    def compiled(self, origins: Origins) -> int:
        """How many different bodies are no copies of others."""
        if len(self.files) == 1 or self.name is None or not self.name.counted:
            return len(self.files)
        body_of = {path: body for body, paths in self.files.items() for path in paths}
        return len({body_of[path] for path in origins.roots(body_of)})


@dataclass(slots=True)
class _Together:
    """What the files hold that one process can load together."""

    symbols: dict[str, _Definitions] = field(default_factory=dict)
    origins: Origins = field(default_factory=Origins)


@dataclass(slots=True)
class _Content:
    """What all files hold."""

    realms: dict[Realm, _Together] = field(default_factory=lambda: defaultdict(_Together))
    files: int = 0
    broken: list[tuple[Path, str]] = field(default_factory=list)
    left: int = field(default_factory=lambda: MOST_KEPT)

    def add(self, realm: Realm, data: Path, code: ObjectCode) -> None:
        """Keep what is in a file. Raises ObjectError if it would be more than is kept."""
        together = self.realms[realm]
        names = {*code.linked, *(function.symbol for function in code.functions)}
        new = [
            name for name in names if name not in together.symbols and name not in together.origins
        ]
        self.left -= len(names) * _PER_DEFINITION + sum(len(name) + _PER_SYMBOL for name in new)
        if self.left < 0:
            raise ObjectError(f"the functions of the cache need more than {MOST_KEPT} bytes")
        own = []
        for function in code.functions:
            definitions = together.symbols.get(function.symbol)
            if definitions is None:
                definitions = _Definitions(parse(function.symbol))
                together.symbols[function.symbol] = definitions
            definitions.files[function.body].append(data)
            if function.own and definitions.is_function:
                own.append(function.symbol)
        together.origins.add(data, own, code.linked)
        self.files += 1


def scan(directory: Path) -> Report:
    """What the symbols in numba's cache files below a directory come to.

    Nothing in the files is unpickled, imported or run. What cannot be read is in the report with
    its reason, and the rest is judged without it. Raises NoCacheError if the directory is none or
    holds no file of numba's.
    """
    found = _found(directory)
    content = _Content(broken=list(found.broken))
    wanted = _wanted(found, content)
    for path in found.data:
        if path in wanted:
            try:
                content.add(wanted[path], path, read(object_code(path)))
            except (CacheFileError, ObjectError) as error:
                content.broken.append((path, str(error)))
    symbols = _judged(content, directory)
    numbers = Counter(symbol.kind for symbol in symbols)
    there = set(found.data)
    return Report(
        schema=SCAN_SCHEMA,
        indexes=len(found.indexes),
        data_files=content.files,
        unreferenced=len(there - wanted.keys()),
        missing=len(wanted.keys() - there),
        functions=sum(
            definitions.is_function
            for together in content.realms.values()
            for definitions in together.symbols.values()
        ),
        vulnerable_symbols=numbers["vulnerable"],
        collided_symbols=numbers["collided"],
        harmless_symbols=numbers["harmless"],
        symbols=symbols,
        unreadable=[
            Unreadable(_relative(path, directory), reason) for path, reason in content.broken
        ],
    )


def _found(directory: Path) -> Found:
    if not directory.is_dir():
        raise NoCacheError(f"{directory} is no directory")
    found = find(directory)
    if found.indexes or found.data or found.broken:
        return found
    raise NoCacheError(
        f"there is no cache of numba's in {directory}: name PyTensor's base_compiledir, "
        "NUMBA_CACHE_DIR, or a directory above"
    )


def _wanted(found: Found, content: _Content) -> dict[Path, Realm]:
    """The data files that the indexes refer to, each for the first that does."""
    wanted: dict[Path, Realm] = {}
    for index in found.indexes:
        try:
            for entry in entries_of(index):
                wanted.setdefault(entry.path, entry.realm)
        except CacheFileError as error:
            content.broken.append((index, str(error)))
    return wanted


def _judged(content: _Content, directory: Path) -> list[Symbol]:
    """Every symbol of which there is something to say, the worst first."""
    symbols = []
    for realm, together in content.realms.items():
        cache = _relative(realm.cache, directory)
        for symbol, definitions in together.symbols.items():
            name, bodies = definitions.name, definitions.files
            kind = class_of(name, len(bodies), definitions.compiled(together.origins))
            if kind is None or (name is not None and name.wrapper):
                continue
            files = [_relative(path, directory) for paths in bodies.values() for path in paths]
            symbols.append(
                Symbol(
                    kind=kind,
                    function=name.qualified if name else symbol,
                    uid=None if name is None or name.uid is None else str(name.uid),
                    bodies=len(bodies),
                    symbol=symbol,
                    cache=cache,
                    numba=realm.numba,
                    python=realm.python,
                    files=files,
                )
            )
    order = get_args(Class)
    return sorted(
        symbols,
        key=lambda found: (order.index(found.kind), -found.bodies, found.function, found.symbol),
    )


def _relative(path: Path, directory: Path) -> str:
    # The name of a file may be no text at all, and must be written all the same.
    text = str(path.relative_to(directory)) if path.is_relative_to(directory) else str(path)
    return text.encode(errors="backslashreplace").decode()
