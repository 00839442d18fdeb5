"""The probe on PyTorch, with a stand-in for torch: what becomes of each graph."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from observatory.benchmarks.messages import LedgerEntry
from observatory.benchmarks.probes import torch_cache
from observatory.benchmarks.probes.ledger import Ledger

FRAMES = (
    '  File "linker.py", line 5, in funcified\n    y = exp(x)\n'
    '  File "elemwise.py", line 35, in elemwise_fn\n    return base_fn(x)'
)


class RestartAnalysis(RuntimeError):
    """Torch raises it to trace a function anew."""


class Inductor:
    """Inductor and its cache, which says in a counter what it did."""

    def __init__(self) -> None:
        self.counters: dict[str, Counter[str]] = defaultdict(Counter)
        self.stored: set[str] = set()
        self.raises: list[Exception] = []

    def key(self, model: Any) -> tuple[str, list[str]]:
        return f"key of {len(model.graph.nodes)} nodes", []

    def compile_fx(self, model: Any, settings: object = None) -> str:
        if settings:
            return self.module.compile_fx(model)
        key, _ = self.autograd_cache.autograd_cache_key(model)
        if self.raises:
            raise self.raises.pop()
        if key in self.stored:
            self.counters["aot_autograd"]["autograd_cache_hit"] += 1
        self.stored.add(key)
        return "compiled"

    def modules(self) -> dict[str, ModuleType]:
        names = (
            "torch", "torch._inductor", "torch._inductor.compile_fx", "torch._dynamo",
            "torch._dynamo.exc", "torch._dynamo.utils", "torch._functorch",
            "torch._functorch._aot_autograd", "torch._functorch._aot_autograd.autograd_cache",
        )  # fmt: skip
        made: dict[str, Any] = {name: ModuleType(name) for name in names}
        for name, module in made.items():
            parent, _, last = name.rpartition(".")
            module.__path__ = []
            if parent:
                setattr(made[parent], last, module)
        self.module = made["torch._inductor.compile_fx"]
        self.module.compile_fx = self.compile_fx
        self.autograd_cache = made["torch._functorch._aot_autograd.autograd_cache"]
        self.autograd_cache.autograd_cache_key = self.key
        made["torch._dynamo.exc"].RestartAnalysis = RestartAnalysis
        made["torch._dynamo.utils"].counters = self.counters
        return made


def graph(*called: Callable[..., Any]) -> Any:
    nodes = [SimpleNamespace(op="placeholder", target="x", stack_trace=None)]
    nodes += [SimpleNamespace(op="call_function", target=one, stack_trace=FRAMES) for one in called]
    return SimpleNamespace(graph=SimpleNamespace(nodes=nodes))


@pytest.fixture
def inductor(monkeypatch: pytest.MonkeyPatch) -> Inductor:
    made = Inductor()
    for name, module in made.modules().items():
        monkeypatch.setitem(sys.modules, name, module)
    return made


@pytest.fixture
def ledger(inductor: Inductor) -> Ledger:
    made = Ledger()
    made.recording = True
    torch_cache.install(made)
    return made


def told(ledger: Ledger) -> list[tuple[str, str, str | None]]:
    return [(one.outcome, one.key, one.source) for one in ledger.entries]


def test_a_graph_misses_first_and_hits_then(inductor: Inductor, ledger: Ledger) -> None:
    for _ in range(2):
        inductor.module.compile_fx(graph(abs))
    key = "key of 2 nodes"
    assert told(ledger) == [("miss", key, None), ("hit", key, "disk")]


def test_a_graph_that_inductor_refuses_is_uncacheable_and_its_error_goes_on(
    inductor: Inductor, ledger: Ledger
) -> None:
    inductor.raises = [ValueError("aten.empty\n\n  a long story")]
    with pytest.raises(ValueError, match="aten"):
        inductor.module.compile_fx(graph(abs))
    (entry,) = ledger.entries
    assert (entry.outcome, entry.why) == ("uncacheable", "not compiled: aten.empty")


def test_a_restart_is_no_outcome(inductor: Inductor, ledger: Ledger) -> None:
    inductor.raises = [RestartAnalysis()]
    with pytest.raises(RestartAnalysis):
        inductor.module.compile_fx(graph(abs))
    assert ledger.entries == []


def test_inductor_that_calls_itself_compiles_once(inductor: Inductor, ledger: Ledger) -> None:
    inductor.module.compile_fx(graph(abs), {"freezing": True})
    assert len(ledger.entries) == 1


def test_a_graph_is_named_by_the_outermost_function_and_what_it_calls(
    inductor: Inductor, ledger: Ledger
) -> None:
    inductor.module.compile_fx(graph(abs, min, abs))
    inductor.module.compile_fx(graph())
    names: list[LedgerEntry] = ledger.entries
    assert [one.name for one in names] == ["funcified: abs, min", "a graph:"]
