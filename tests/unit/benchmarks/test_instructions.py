"""Instructions: where the counts come from, and what is pinned for them."""

from __future__ import annotations

import gc
import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from observatory.benchmarks import pinning
from observatory.benchmarks.catalogue import STEADY, WITHOUT_SEARCH, Cell
from observatory.benchmarks.messages import Counter
from observatory.benchmarks.pinning import Pins
from observatory.benchmarks.probes import instructions
from observatory.benchmarks.probes.instructions import (
    count_calls,
    counting_instructions,
    open_hardware_counter,
)
from observatory.benchmarks.sandbox import Sandbox

SOFTWARE, TASK_CLOCK = 1, 1
"""A counter of the kernel's own, in nanoseconds: there without any support by the processor."""
CALLGRIND = Counter("callgrind", "haswell")
WARM, COLD = (Cell("radon", s, "NUMBA", "spawn") for s in ("warm_disk", "cold"))


@pytest.fixture
def kernel_clock(monkeypatch: pytest.MonkeyPatch) -> Counter:
    """A hardware counter that counts nanoseconds of this process."""
    try:
        os.close(open_hardware_counter(SOFTWARE, TASK_CLOCK))
    except OSError as error:
        pytest.skip(f"this kernel lets nobody count: {error}")
    monkeypatch.setattr(
        instructions, "open_hardware_counter", lambda: open_hardware_counter(SOFTWARE, TASK_CLOCK)
    )
    return Counter("hardware", "haswell")


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    """What a test makes of this machine is not what the next one finds."""
    pinning.find.cache_clear()
    yield
    pinning.find.cache_clear()


def test_a_hardware_counter_counts_the_span_and_its_children(kernel_clock: Counter) -> None:
    counts: list[int] = []
    with counting_instructions(kernel_clock, counts):
        pass
    with counting_instructions(kernel_clock, counts):
        subprocess.run(["sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"], check=True)
    assert 0 < counts[0] < counts[1] / 2


def test_garbage_is_not_collected_inside_the_span(kernel_clock: Counter) -> None:
    with counting_instructions(kernel_clock, []):
        inside = gc.isenabled()
    assert (inside, gc.isenabled()) == (False, True)


def test_calls_are_counted_in_a_thread_of_their_own(kernel_clock: Counter) -> None:
    """There malloc begins a new arena: what a build left free does not move the count."""
    threads = []

    def call() -> int:
        threads.append(threading.get_ident())
        return len(threads)

    count, last = count_calls(kernel_clock, call, 50)
    assert (count > 0, last, len(threads)) == (True, 100, 100)
    assert {*threads}.isdisjoint({threading.get_ident()})


def test_counts_of_calls_are_of_another_series_than_those_in_the_main_thread() -> None:
    by_scenario = {
        scenario: Cell("radon", scenario, "NUMBA", "spawn").counted_by("callgrind")
        for scenario in ("warm_disk", "call")
    }
    assert by_scenario == {
        "warm_disk": "callgrind",
        "call": "callgrind, in a thread of its own",
    }
    assert WARM.counted_by("") == ""


@pytest.mark.parametrize(
    ("scenario", "backend", "searches"),
    [
        ("cold", "DEFAULT", True), ("warm_disk", "C_VM", True), ("variants", "C", False),
        ("warm_process", "C", False), ("call", "C", False), ("growth", "C_VM", False),
        ("warm_disk", "NUMBA", False),
    ],
)  # fmt: skip
def test_only_first_builds_with_c_say_that_they_leave_out_the_search_for_a_blas(
    scenario: str, backend: str, searches: bool
) -> None:
    cell = Cell("radon", scenario, backend, "spawn")
    assert (WITHOUT_SEARCH in (cell.counted_by("callgrind") or "")) == searches
    assert (cell.traced_by is not None) == searches


def test_the_collector_is_on_again_after_a_span_that_raised(kernel_clock: Counter) -> None:
    counts: list[int] = []
    with pytest.raises(ZeroDivisionError), counting_instructions(kernel_clock, counts):
        _ = 1 / 0
    assert gc.isenabled()
    assert counts == []


def test_a_kind_of_counter_that_is_not_there_is_an_error_with_its_reason() -> None:
    with pytest.raises(OSError, match="perf_event_open"):
        open_hardware_counter(kind=2**31)


def test_the_count_is_the_one_that_callgrind_wrote_for_this_process_last(tmp_path: Path) -> None:
    (tmp_path / "counts.1").write_text("version: 1\nevents: Ir\nsummary: 5\n")
    last = tmp_path / "counts.2"
    last.write_text("version: 1\nevents: Ir\n\nfn=(1) main\n1 3\n\ntotals: 1187565\n")
    assert instructions.total_of([last]) == 1187565
    with pytest.raises(ValueError, match="callgrind wrote no count"):
        instructions.total_of([])


STEADY_OUT = """\
version: 1
events: Ir

ob=(1) libpython3.13.so
fl=(1) ceval.c
fn=(1) _PyEval_EvalFrameDefault
0 100
cfn=(2) _Py_dict_lookup
calls=3 0
0 40
cfn=(3) find_empty_slot.constprop.0
calls=1 0
0 5
0 7

fn=(2)
0 35
cfn=(4) memcmp
calls=3 0
0 5

fn=(3)
0 5

fn=(4)
0 5

fn=(5) _PyEval_EvalFrameDefault'2
* 11
fn=(6) _PyObject_Free'2
+0 3

totals: 166
"""


def test_lookups_and_allocations_are_left_out_and_what_they_call_is_not(tmp_path: Path) -> None:
    """How long they take depends on addresses, of which each run has others."""
    written = tmp_path / "counts.1"
    written.write_text(STEADY_OUT)
    assert instructions.total_of([written]) == 166
    assert instructions.total_of([written], steady=True) == 166 - 35 - 5 - 3


def test_the_series_of_counts_without_lookups_is_another_one() -> None:
    assert WARM.counted_by("callgrind", steady=True) == f"callgrind{STEADY}"
    assert WARM.counted_by("", steady=True) == ""
    assert str(WARM.counted_by("callgrind")) not in ("", WARM.counted_by("callgrind", steady=True))


def test_a_stripped_python_has_no_names_to_leave_out(tmp_path: Path) -> None:
    (stripped := tmp_path / "stripped").write_bytes(b"\x7fELF\0PyDict_GetItem\0")
    (whole := tmp_path / "whole").write_bytes(b"\x7fELF\0PyDict_GetItem\0set_lookkey\0")
    (empty := tmp_path / "empty").touch()
    found = [pinning._names(one) for one in (stripped, whole, empty, tmp_path / "none")]
    assert found == [False, True, False, False]


def machine(
    monkeypatch: pytest.MonkeyPatch, hardware: bool, programs: set[str], header: bool = True
) -> None:
    """Pretend a machine: its hardware counter, its programs, and the header of valgrind."""

    def opened() -> int:
        if not hardware:
            raise OSError("perf_event_open: not supported")
        return os.open(os.devnull, os.O_RDONLY)

    monkeypatch.setattr(pinning, "open_hardware_counter", opened)
    monkeypatch.setattr(pinning, "_compiles", lambda: header and "cc" in programs)
    monkeypatch.setattr(
        "shutil.which", lambda name: f"/usr/bin/{name}" if name in programs else None
    )


def test_hardware_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    machine(monkeypatch, hardware=True, programs={"valgrind", "cc"})
    pins = pinning.find()
    assert pins.counter is not None
    assert pins.counter.source == "hardware"
    assert "valgrind" not in " ".join(pins.interpreter(tmp_path, counting=True))
    assert pinning.problem(COLD) == ""


def test_callgrind_counts_where_no_hardware_does(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    machine(monkeypatch, hardware=False, programs={"valgrind", "cc"})
    pins = pinning.find()
    assert "/usr/bin/valgrind" in pins.interpreter(tmp_path, counting=True)
    assert "/usr/bin/valgrind" not in pins.interpreter(tmp_path, counting=False)
    assert pinning.problem(WARM) == ""
    assert "empty cache" in pinning.problem(COLD)


@pytest.mark.parametrize(
    ("programs", "header", "lacks"),
    [
        ({"cc"}, True, "apt install valgrind"),
        ({"valgrind"}, True, "no C compiler"),
        ({"valgrind", "cc"}, False, "valgrind's header"),
    ],
)
def test_a_machine_without_any_source_says_what_it_lacks(
    monkeypatch: pytest.MonkeyPatch, programs: set[str], header: bool, lacks: str
) -> None:
    machine(monkeypatch, hardware=False, programs=programs, header=header)
    assert pinning.find().source is None
    assert lacks in pinning.problem(WARM)


def test_machine_code_is_made_for_one_cpu_by_both_compilers(tmp_path: Path) -> None:
    pins = Pins("haswell", (), CALLGRIND, "")
    assert pins.variables(tmp_path)["NUMBA_CPU_NAME"] == "haswell"
    if os.uname().machine == "x86_64":
        assert pins.flags() == "gcc__cxxflags=-march=haswell"


def test_what_a_shell_has_set_changes_neither_the_size_nor_the_number_of_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pins = Pins("haswell", (), CALLGRIND, "")

    def environment() -> dict[str, str]:
        with Sandbox.open() as box:
            inherited = box.environment(1, pins.flags(), pinning.INHERITED)
            return pins.padded(inherited | pins.variables(box.path))

    before = environment()
    monkeypatch.setenv("EDITOR_OF_A_DEVELOPER", "an editor")
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:/opt/elsewhere/bin")
    after = environment()
    assert len(before) == len(after)
    sizes = [len("\0".join(f"{k}={v}" for k, v in one.items())) for one in (before, after)]
    assert sizes[0] == sizes[1]
    assert "PATH" in after
    assert "EDITOR_OF_A_DEVELOPER" not in after


def test_counts_at_random_addresses_are_another_series() -> None:
    fixed, random = (Pins("haswell", setarch, CALLGRIND, "") for setarch in (("setarch", "-R"), ()))
    assert fixed.source == "callgrind, code for haswell"
    assert random.source == "callgrind, code for haswell, random addresses"
