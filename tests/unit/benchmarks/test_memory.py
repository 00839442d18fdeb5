"""The memory of a build: which phase raised the peak, and what stays in use."""

import gc
import sys
from types import ModuleType, SimpleNamespace

import pytest

from observatory.benchmarks.probes import memory
from observatory.benchmarks.probes.memory import HighWater, MemoryOfBuild, in_use
from observatory.benchmarks.probes.phases import GARBAGE, PhaseClock

needs_glibc = pytest.mark.skipif(in_use() is None, reason="the C library has no mallinfo2")
MB = 2**20


@pytest.fixture
def maker(monkeypatch):
    """A module that stands for PyTensor's; `mark` is the largest resident memory so far."""
    module = ModuleType("pytensor.compile.maker")
    module.mark = 100
    monkeypatch.setattr(memory, "peak_rss", lambda: module.mark)

    class FunctionMaker:
        def create(self):
            module.mark += 7

        @staticmethod
        def prepare_fgraph():
            module.mark += 20
            FunctionMaker().create()

    module.FunctionMaker = FunctionMaker
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return module


def test_the_phases_add_up_to_the_largest_resident_memory(maker):
    found = HighWater()
    with found.running():
        maker.FunctionMaker.prepare_fgraph()
        maker.mark += 3
    raised = {one.name: one.peak_bytes for one in found.profile().phases}
    assert raised == {"before the build": 100, "rewriting": 20, "linking": 7, "not attributed": 3}
    assert sum(raised.values()) == maker.mark


def test_a_mark_that_the_kernel_tells_some_pages_lower_takes_nothing_from_a_phase(maker):
    found = HighWater()
    with found.running():
        maker.mark -= 5
        maker.FunctionMaker.prepare_fgraph()
        maker.mark -= 5
    raised = {one.name: one.peak_bytes for one in found.profile().phases}
    assert raised == {"before the build": 100, "rewriting": 15, "linking": 7}


def test_a_build_that_needs_no_more_than_before_raises_nothing(maker):
    found = HighWater()
    with found.running():
        pass
    assert [(one.name, one.peak_bytes) for one in found.profile().phases] == [
        ("before the build", 100)
    ]


@needs_glibc
def test_what_a_function_holds_and_what_stays_are_told_apart():
    nodes = SimpleNamespace(fgraph=SimpleNamespace(apply_nodes=range(4)))
    kept = []
    used = MemoryOfBuild()
    function = SimpleNamespace(maker=nodes, own=bytes(8 * MB))
    kept.append(bytes(2 * MB))
    used.built(function)
    del function
    found = used.deleted()
    assert found["bytes_per_node"] == pytest.approx(10 * MB / 4, rel=0.05)
    assert found["retained_bytes"] == pytest.approx(2 * MB, rel=0.2)


@needs_glibc
def test_small_objects_of_python_are_memory_in_use_too():
    before = in_use()
    small = [object() for _ in range(100_000)]
    assert in_use() - before > 16 * len(small)


def test_where_memory_cannot_be_asked_there_are_no_metrics(monkeypatch):
    monkeypatch.setattr(memory, "in_use", lambda: None)
    used = MemoryOfBuild()
    used.built(None)
    assert used.deleted() == {}


def test_each_run_of_the_garbage_collector_is_a_phase_of_its_own():
    clock = PhaseClock()
    with clock.running():
        gc.collect()
    gc.collect()
    assert clock.entries[GARBAGE] >= 1
    assert clock.taken[GARBAGE] > 0
    before = clock.entries[GARBAGE]
    gc.collect()
    assert clock.entries[GARBAGE] == before
