"""Probe on what numba's keys cost: the time of the functions that make them, or their calls.

PyTensor makes the keys while it converts a graph, from the properties of each Op and from the bytes
of each constant. Nothing is compiled for that.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from types import CodeType
from typing import Any

from . import numba_keys
from .monitoring import monitoring

MAKERS = (
    "default_hash_key_from_props",
    "cache_key_for_constant",
    "hash_from_pickle_dump",
    "hash_from_ndarray",
)
"""The functions that make keys. Some call others of them."""
_MODULE = "pytensor.link.numba.dispatch.basic"
_CALLERS = "pytensor.link."
"""The modules that make keys. Rewrites hash constants with the same functions: no keys."""


@dataclass
class KeyCost:
    """What the keys of a graph have cost."""

    calls: int = 0
    """Python functions that were entered, those that make keys included."""
    seconds: float = 0.0
    """CPU time. Wall time would say what else the machine did."""


def problem() -> str | None:
    """Return why this PyTensor has no functions that make keys; None if it has, as a sentence."""
    reason = numba_keys.problem()
    if reason is None and not any(hasattr(import_module(_MODULE), name) for name in MAKERS):
        return "no function of this PyTensor is known to make keys: see MAKERS of this probe"
    return reason


@contextmanager
def timing_keys() -> Iterator[KeyCost]:
    """Measure the seconds that are spent on keys inside the block."""
    cost = KeyCost()

    def enter() -> None:
        cost.seconds -= time.thread_time()

    def leave() -> None:
        cost.seconds += time.thread_time()

    with without_collections(), _watching(_modules(), enter, leave):
        yield cost


@contextmanager
def counting_key_calls() -> Iterator[KeyCost]:
    """Count the Python functions that are entered inside the block to make keys.

    Raises AttributeError before Python 3.12, and ValueError if another tool monitors already.
    """
    cost = KeyCost()

    def count(code: CodeType, offset: int) -> None:  # noqa: ARG001 - what sys.monitoring calls
        if code.co_filename != __file__:
            cost.calls += 1

    monitored = contextmanager(monitoring)
    with (
        monitored({"PY_START": count}, at_once=False) as (on, off),
        without_collections(),
        _watching(_modules(), on, off),
    ):
        yield cost


def _modules() -> list[dict[str, Any]]:
    """The names of the modules that make keys."""
    import_module(_MODULE)
    return [vars(module) for name, module in list(sys.modules.items()) if name.startswith(_CALLERS)]


@contextmanager
def without_collections() -> Iterator[None]:
    """Collect no garbage in the block: that would call finalizers, now here and now there."""
    enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextmanager
def _watching(
    modules: Iterable[dict[str, Any]], enter: Callable[[], None], leave: Callable[[], None]
) -> Iterator[None]:
    """Call a function when the making of a key begins, and one when it ends.

    ``modules``: the names of modules. A function is watched under each name that a module has
    imported it by, and not while it is called by another one of `MAKERS`.
    """
    inside = False

    def watched(make: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(make)
        def made(*args: Any, **kwargs: Any) -> Any:
            nonlocal inside
            if inside:
                return make(*args, **kwargs)
            inside = True
            enter()
            try:
                return make(*args, **kwargs)
            finally:
                leave()
                inside = False

        return made

    with ExitStack() as stack:
        known: dict[int, Callable[..., Any]] = {}
        for names in modules:
            originals = {name: names[name] for name in MAKERS if callable(names.get(name))}
            for name, make in originals.items():
                names[name] = known.setdefault(id(make), watched(make))
            stack.callback(names.update, originals)
        yield
