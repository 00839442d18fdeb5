"""What a contract is and records, and the helpers of its check.

docs/schemas/contracts-1.json publishes the form of `ContractsRecord`, which the tool reads. The
helpers make functions as PyTensor does, and observe what numba does with them.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from ..raised import one_line

SCHEMA = "observatory/contracts/1"
Status = Literal["holds", "broken", "unavailable", "failed"]
"""`unavailable`: this PyTensor has no such thing; `failed`: the check itself went wrong."""
Check = Callable[[], str]
"""Returns what was seen, as a sentence. Raises Broken or Unavailable."""
UNWRAPPED = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""The options of functions that only compiled functions call."""
Calls = list[tuple[tuple[Any, ...], Any]]
"""For each call, its arguments without the class or instance, and its result."""


class Broken(Exception):
    """Raised by the check of a broken contract; the message says what was seen instead."""


class Unavailable(Exception):
    """Raised where this PyTensor has no such thing; the message is the reason."""


@dataclass(frozen=True)
class ContractRecord:
    """One contract and the result of its check."""

    area: str
    name: str
    holds: str
    """What must hold, as a sentence."""
    needed: str
    """What in PyTensor fails otherwise, as a sentence."""
    status: Status
    detail: str
    """What was seen, as a sentence."""
    seconds: float


@dataclass(frozen=True)
class ContractsRecord:
    """The contracts of one environment; `observatory.store.records` describes the fields."""

    schema: str
    environment: dict[str, str | None]
    declared: str | None
    contracts: tuple[ContractRecord, ...]
    seconds: float
    started_at: str
    """ISO 8601, with the time zone."""


@dataclass(frozen=True)
class Contract:
    """An undocumented behaviour of numba that PyTensor relies on; fields as in ContractRecord."""

    area: str
    name: str
    holds: str
    needed: str
    check: Check

    def record(self, status: Status, detail: str) -> ContractRecord:
        """Return the record of a check that took 0 seconds; it cuts long details."""
        words = (self.area, self.name, self.holds, self.needed)
        return ContractRecord(*words, status, detail[:3000], seconds=0.0)


@dataclass(frozen=True)
class Area:
    """Contracts about one subject, checked one after another in one process."""

    name: str
    contracts: list[Contract] = field(default_factory=list)

    def contract(self, holds: str, needed: str) -> Callable[[Check], Check]:
        """Return a decorator that adds a contract to the area.

        The decorated function is its check, and gives it its name, without the underscore.
        """

        def add(check: Check) -> Check:
            name = check.__name__.removeprefix("_")
            self.contracts.append(Contract(self.name, name, holds, needed, check))
            return check

        return add


@contextmanager
def promised(what: str) -> Iterator[None]:
    """Raise Broken if the block raises: something that PyTensor expects to work does not.

    ``what``: what should work, e.g. "numba compiles with it". Broken, Unavailable and TimeoutError
    pass unchanged: that something took too long decides nothing.
    """
    try:
        yield
    except (Broken, Unavailable, TimeoutError):
        raise
    except Exception as error:
        raise Broken(f"it is not true that {what}: {one_line(error)}") from error


def need(condition: object, otherwise: str) -> None:
    """Raise Broken with the sentence ``otherwise`` if the condition is not met."""
    if not condition:
        raise Broken(otherwise)


def unavailable(why: str) -> Unavailable:
    """Return the exception for a PyTensor that lacks something; ``why`` follows its version."""
    return Unavailable(f"PyTensor {version('pytensor')} {why}")


def cache_module() -> Any:
    """Return the module `pytensor.link.numba.cache`. Raises Unavailable before PyTensor had one."""
    name = "pytensor.link.numba.cache"
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        why = "has no cache of its own for numba (it came with 2.36.0)"
        raise unavailable(why) from error


def need_dispatch(module: str, otherwise: str) -> None:
    """Raise Unavailable if this PyTensor has no such module among its numba dispatches.

    ``otherwise``: what this PyTensor does then, as for `unavailable`.
    """
    # Looked for and not imported: importing it may be what fails.
    import pytensor

    directory = Path(pytensor.__file__).parent / "link" / "numba" / "dispatch"
    if not directory.joinpath(*module.split(".")).with_suffix(".py").is_file():
        raise unavailable(otherwise)


def sources(package: str, *words: str) -> Iterator[tuple[str, str]]:
    """Give the name and the text of each source file of a package that contains one of the words.

    The names begin with that of the package, and are sorted. The package is not imported.
    """
    found = importlib.util.find_spec(package)
    assert found is not None
    assert found.origin is not None
    directory = Path(found.origin).parent
    for path in sorted(directory.rglob("*.py")):
        text = path.read_text("utf-8", errors="replace")
        if any(word in text for word in words):
            yield str(path.relative_to(directory.parent)), text


def function(source: str, key: str | None = None, **names: Any) -> Any:
    """Return a Python function made from source by PyTensor.

    ``key``: its key in PyTensor's cache; None: it has none. ``names``: what the source may use.
    Raises Unavailable before PyTensor had a cache.
    """
    found = re.match(r"def (\w+)", source)
    assert found is not None
    module = cache_module()
    return module.compile_numba_function_src(
        source, found[1], {"__name__": module.__name__, **names}, cache_key=key
    )


def compiled(source: str, key: str | None = None, **names: Any) -> Any:
    """Return a numba dispatcher of such a function, cached if it has a key; not yet compiled."""
    import numba

    return numba.njit(function(source, key, **names), cache=key is not None)


def pointing(name: str, key: str) -> Any:
    """Return a function that calls C through a pointer, which other processes cannot use."""
    call = ctypes.CDLL(None).abs
    call.argtypes, call.restype = [ctypes.c_int], ctypes.c_int
    return function(f"def {name}(x): return call(x)", key, call=call)


def hits(dispatcher: Any) -> int:
    """Return how many signatures of a dispatcher came from its cache."""
    return sum(dispatcher.stats.cache_hits.values())


def files(key: str) -> list[Path]:
    """Return the files in PyTensor's cache whose name contains the key, sorted."""
    return sorted(Path(cache_module().NUMBA_CACHE_PATH).glob(f"*{key}*"))


def symbols(dispatcher: Any) -> frozenset[str]:
    """Return the symbols that the compiled signatures of a dispatcher define."""
    text = "\n".join(dispatcher.inspect_llvm().values())
    return frozenset(re.findall(r'^define [^@]*@"?([^"(]+)"?\(', text, re.MULTILINE))


@contextmanager
def counter(replacement: Any) -> Iterator[None]:
    """Replace numba's counter of functions by another iterator inside the block."""
    from numba.core.bytecode import FunctionIdentity

    # Looked up in the class itself: an inherited one would stay behind.
    original = FunctionIdentity.__dict__["_unique_ids"]
    FunctionIdentity._unique_ids = replacement
    try:
        yield
    finally:
        FunctionIdentity._unique_ids = original


@contextmanager
def following(owner: Any, name: str) -> Iterator[Calls]:
    """Give a list to which every call of a method is added inside the block.

    ``owner``: the class that defines the method ``name``. Raises KeyError if it does not.
    """
    original = owner.__dict__[name]
    of_class = isinstance(original, classmethod)
    function = original.__func__ if of_class else original
    calls: Calls = []

    def followed(first: Any, *arguments: Any, **keywords: Any) -> Any:
        result = function(first, *arguments, **keywords)
        calls.append(((*arguments, *keywords.values()), result))
        return result

    setattr(owner, name, classmethod(followed) if of_class else followed)
    try:
        yield calls
    finally:
        setattr(owner, name, original)
