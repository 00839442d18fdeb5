"""Probe on PyTorch: which graphs inductor is asked to compile, and which its caches return.

PyTorch traces a function into one graph or several, and asks inductor for each. What became of it
is in the counters that PyTorch keeps of the outer one of its two caches on disk.
"""

from __future__ import annotations

import sys
from typing import Any

from .ledger import Ledger

KIND = "pytorch"
PACKAGE = "torch"
"""What must be installed for it."""
LOOKS_AT = "torch._inductor.compile_fx"
"""The module that it hooks into."""
_COUNTED = "aot_autograd"
_HIT = "autograd_cache_hit"


def install(ledger: Ledger) -> None:
    """Hook inductor. Call it once in a process. Imports torch; raises ImportError without it."""
    import torch._inductor.compile_fx  # noqa: F401 - the package has a function of that name
    from torch._dynamo.exc import RestartAnalysis
    from torch._dynamo.utils import counters

    inductor: Any = sys.modules[LOOKS_AT]
    keys = _Keys()
    original = inductor.compile_fx

    def compile_fx(model: Any, *args: Any, **kwargs: Any) -> Any:
        if ledger.current is not None:  # it calls itself with other settings
            return original(model, *args, **kwargs)
        hits = counters[_COUNTED][_HIT]
        keys.last = ""
        failed: Exception | None = None
        compiled = None
        with ledger.entry(name_of(model), KIND) as entry:
            try:
                compiled = original(model, *args, **kwargs)
            except RestartAnalysis:  # it will ask again
                raise
            except Exception as error:
                failed = error
            entry.key = keys.last
            if failed is not None:
                # PyTorch leaves the graph to Python, and each process tries it again.
                entry.outcome, entry.why = "uncacheable", f"not compiled: {_said(failed)}"
            elif counters[_COUNTED][_HIT] > hits:
                entry.outcome, entry.source = "hit", "disk"
            else:
                entry.outcome = "miss"
        if failed is not None:
            raise failed
        return compiled

    inductor.compile_fx = compile_fx


class _Keys:
    """The key that the cache was asked for last."""

    def __init__(self) -> None:
        self.last = ""
        try:
            from torch._functorch._aot_autograd import autograd_cache
        except ImportError:
            return
        original = getattr(autograd_cache, "autograd_cache_key", None)
        if original is None:
            return

        def autograd_cache_key(*args: Any, **kwargs: Any) -> Any:
            found = original(*args, **kwargs)
            self.last = str(found[0])[:200]
            return found

        autograd_cache.autograd_cache_key = autograd_cache_key


def name_of(model: Any) -> str:
    """Return the Python function that was traced, and what it calls, each once."""
    function, called = "", dict[str, None]()
    for node in model.graph.nodes:
        if node.op.startswith("call_"):
            called[getattr(node.target, "__name__", str(node.target))] = None
            # Its frames, the outermost first: 'File "...", line 5, in elemwise_fn'.
            frames = (node.stack_trace or "").splitlines()
            function = function or next((f for f in frames if ", in " in f), "").rpartition(" ")[2]
    return f"{function or 'a graph'}: {', '.join(called)}"


def _said(error: Exception) -> str:
    """The first line of what an exception says."""
    return str(error).strip().partition("\n")[0][:300]
