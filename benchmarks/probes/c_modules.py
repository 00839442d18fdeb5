"""Probe on the C backends: modules from memory, from disk, compiled; and runs of the compiler."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .ledger import Ledger

KIND = "c_module"
PACKAGE = "pytensor"
"""What must be installed for it."""
LOOKS_AT = "pytensor.link.c.cmodule"
"""The module that it hooks into."""
NO_VERSION = "an Op or a type in it has no version of its C code"
_BOOTSTRAP = ("cutils_ext", "lazylinker_ext")
"""PyTensor's own helpers, compiled once for a cache directory."""


def install(ledger: Ledger) -> None:
    """Hook PyTensor's module cache and its compiler. Call it once in a process.

    Imports PyTensor; raises ImportError where it has no C backend.
    """
    from pytensor.link.c.cmodule import GCC_compiler, ModuleCache

    _hook_cache(ledger, ModuleCache)
    _hook_compiler(ledger, GCC_compiler)


def _hook_cache(ledger: Ledger, cache_class: Any) -> None:
    original = cache_class.module_from_key

    def module_from_key(self: Any, key: Any, lnk: Any) -> Any:
        _, disk, compiled = self.stats  # from memory, from disk, compiled
        with ledger.entry(name_of(lnk), KIND) as entry:
            module = original(self, key, lnk)
            file = Path(module.__file__)
            entry.key = _key(self, file)
            if self.stats[2] > compiled:
                entry.outcome = "miss"
                if not key[0]:  # compiled anew in every process
                    entry.outcome, entry.why = "uncacheable", NO_VERSION
            else:
                entry.outcome = "hit"
                entry.source = "disk" if self.stats[1] > disk else "memory"
            entry.bytes = file.stat().st_size
        return module

    cache_class.module_from_key = module_from_key


def _hook_compiler(ledger: Ledger, compiler: Any) -> None:
    original = compiler.compile_str

    def compile_str(module_name: str, *args: Any, **kwargs: Any) -> Any:
        if module_name in _BOOTSTRAP:
            ledger.bootstrap_runs += ledger.recording
            return original(module_name, *args, **kwargs)
        ledger.compiler_runs += ledger.recording
        if ledger.current is not None and ledger.current.kind == KIND:
            return original(module_name, *args, **kwargs)
        # An Op without a key is compiled without asking the module cache.
        with ledger.entry(module_name, KIND):
            return original(module_name, *args, **kwargs)

    compiler.compile_str = staticmethod(compile_str)


def _key(cache: Any, file: Path) -> str:
    """The key of a module in the cache: its hash over source, versions and flags.

    Computing it here, from the source, would make a hit about 10 % slower. The cache keeps no key
    that has no version: the name of its file stands for it, which is the hash of the source.
    """
    known = getattr(cache, "module_hash_to_key_data", {})
    asked = (key for key, data in known.items() if data.get_entry() == str(file))
    return next(asked, file.stem.partition(".")[0])


def name_of(lnk: Any) -> str:
    """The Ops of the module: one for C_VM, the whole graph for C."""
    nodes = list(lnk.fgraph.apply_nodes)
    if len(nodes) == 1:
        return str(nodes[0].op)
    return f"graph of {len(nodes)} nodes"
