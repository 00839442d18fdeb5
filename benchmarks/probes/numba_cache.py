"""Probe on numba: which functions it compiles, loads from its disk cache or refuses to store.

It hooks only what every numba from 0.58 on has: `Dispatcher.compile`, `load` and `save` of the
index file, and `check_cachable`. It hooks PyTensor for the names: only PyTensor knows which Op a
generated function stands for.
"""

from __future__ import annotations

import hashlib
import warnings
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from ..messages import OUTER_GRAPH
from .ledger import Ledger, shorten

KIND = "numba"
PACKAGE = "numba"
"""What must be installed for it."""
LOOKS_AT = "pytensor.link.numba.dispatch.basic"
"""The module that it hooks into, and that takes longest to import."""
NO_KEY = "PyTensor gives it no key"
NOT_THERE = "it was saved, and is not in the cache"
NOT_MADE = "it was read, and not made into a function"


def install(ledger: Ledger) -> None:
    """Hook numba and PyTensor's numba linker. Call it once in a process.

    Imports both; raises ImportError where one of them is missing.
    """
    names = _Names(ledger)
    names.install()
    _hook_dispatcher(ledger, names)
    _hook_index_file(ledger)
    _hook_cachable(ledger)


class _Names:
    """Readable names of generated functions, and which of them PyTensor gave no key."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._names: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
        self._refused: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()

    def of(self, py_func: Any) -> str:
        name = self._names.get(py_func)
        return name if name is not None else f"{py_func.__module__}.{py_func.__qualname__}"

    def refused(self, py_func: Any) -> bool:
        return py_func in self._refused

    def give(self, function: Any, name: str, refused: bool = False) -> None:
        py_func = getattr(function, "py_func", function)
        self._names.setdefault(py_func, name)
        if refused:
            self._refused[py_func] = True

    def _outer(self) -> str:
        """The name of the graph of a whole function, and who compiles it where that is known."""
        return f"{OUTER_GRAPH} of {self._ledger.function}" if self._ledger.function else OUTER_GRAPH

    def install(self) -> None:
        from pytensor.link.numba.dispatch import basic

        if hasattr(basic, "numba_funcify_ensure_cache"):
            self._hook_ensure_cache(basic)
        else:
            self._hook_fgraph_to_python(basic)

    def _hook_ensure_cache(self, basic: Any) -> None:
        """Since 2.36 every Op and graph passes through one function, which knows the key."""
        from pytensor.configdefaults import config

        original = basic.numba_funcify_ensure_cache
        depth = 0

        def numba_funcify_ensure_cache(op: Any, *args: Any, **kwargs: Any) -> Any:
            nonlocal depth
            depth += 1
            try:
                function, key = original(op, *args, **kwargs)
            finally:
                depth -= 1
            name = self._outer() if depth == 0 else str(op)
            self.give(function, name, refused=key is None and config.numba__cache)
            return function, key

        basic.numba_funcify_ensure_cache = numba_funcify_ensure_cache

    def _hook_fgraph_to_python(self, basic: Any) -> None:
        """Before 2.36 only the conversion of a graph's nodes is visible, not what the nodes use."""
        original = basic.fgraph_to_python

        def fgraph_to_python(fgraph: Any, op_conversion_fn: Any, **kwargs: Any) -> Any:
            def convert(op: Any, **inner: Any) -> Any:
                function = op_conversion_fn(op, **inner)
                self.give(function, str(op))
                return function

            function = original(fgraph, convert, **kwargs)
            self.give(function, self._outer() if kwargs.get("node") is None else "inner graph")
            return function

        basic.fgraph_to_python = fgraph_to_python


def _hook_dispatcher(ledger: Ledger, names: _Names) -> None:
    from numba.core import sigutils
    from numba.core.dispatcher import Dispatcher

    original = Dispatcher.compile

    def observed_compile(self: Any, sig: Any) -> Any:
        arguments, _ = sigutils.normalize_signature(sig)
        if self.overloads.get(tuple(arguments)) is not None:
            return original(self, sig)
        with ledger.entry(names.of(self.py_func), KIND) as entry:
            if names.refused(self.py_func):
                entry.outcome, entry.why = "uncacheable", NO_KEY
            return original(self, sig)

    Dispatcher.compile = observed_compile


def _hook_index_file(ledger: Ledger) -> None:
    from numba.core.caching import Cache, IndexDataCacheFile

    load, save, make = IndexDataCacheFile.load, IndexDataCacheFile.save, Cache.load_overload

    def observed_load(self: Any, key: Any) -> Any:
        entry = ledger.current
        data = load(self, key)
        if entry is not None and entry.kind == KIND:
            entry.key = _digest(self, key)
            entry.outcome = "miss" if data is None else "hit"
            if data is not None:
                entry.source = "disk"
                entry.bytes = _machine_code(data)
        return data

    def observed_save(self: Any, key: Any, data: Any) -> Any:
        entry = ledger.current
        found = save(self, key, data)
        if entry is not None and entry.kind == KIND:
            entry.bytes = _machine_code(data)
            if not _stores(self, key):
                entry.outcome, entry.bytes, entry.why = "uncacheable", None, NOT_THERE
        return found

    def observed_make(self: Any, *args: Any, **kwargs: Any) -> Any:
        made = make(self, *args, **kwargs)
        entry = ledger.current
        if made is None and entry is not None and entry.kind == KIND and entry.outcome == "hit":
            entry.outcome, entry.source, entry.bytes, entry.why = "miss", None, None, NOT_MADE
        return made

    IndexDataCacheFile.load, IndexDataCacheFile.save = observed_load, observed_save
    Cache.load_overload = observed_make


def _stores(index: Any, key: Any) -> bool:
    """Whether what was just saved is there: an error may have been swallowed."""
    name = index._load_index().get(key)
    return name is not None and Path(index._data_path(name)).is_file()


def _hook_cachable(ledger: Ledger) -> None:
    from numba.core.caching import CompileResultCacheImpl

    original = CompileResultCacheImpl.check_cachable

    def check_cachable(self: Any, cres: Any) -> Any:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            cachable = original(self, cres)
        entry = ledger.current
        if not cachable and entry is not None and entry.kind == KIND:
            entry.outcome = "uncacheable"
            entry.why = next((_reason(str(warning.message)) for warning in said), None)
        return cachable

    CompileResultCacheImpl.check_cachable = check_cachable


def _reason(warning: str) -> str:
    """What a warning of numba gives as the reason, without the function and the place."""
    text = " ".join(warning.split("File ", 1)[0].split())
    return shorten(text.rpartition('" ')[2] or text)


def _digest(index: Any, key: Any) -> str:
    """A hash of what the cache is asked for.

    The name of the index file holds PyTensor's key. numba's own key adds the signature, the target
    and hashes of the bytecode and of the closure.
    """
    question = f"{index._index_name} {key!r}"
    return hashlib.sha256(question.encode()).hexdigest()[:16]


def _machine_code(reduced: Any) -> int | None:
    """Bytes of object code in a reduced CompileResult: ((name, "object", (code, ...)), ...)."""
    try:
        _, kind, data = reduced[0]
        return len(data[0]) if kind == "object" else None
    except (TypeError, ValueError, IndexError):
        return None
