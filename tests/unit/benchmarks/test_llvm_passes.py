"""Passes of LLVM are read from its reports, which were recorded here from three compilers."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from observatory.benchmarks.probes import llvm_passes
from observatory.benchmarks.probes.llvm_passes import (
    PassTimer,
    by_numbered_pass,
    by_pass,
    rows,
)
from observatory.benchmarks.probes.profile import Node, _cut
from observatory.benchmarks.profiles import OTHER

REPORTS = {
    path.stem: path.read_text() for path in Path(__file__).with_name("llvm_reports").glob("*.txt")
}
OLD, NEW = REPORTS["module-passes-llvmlite-0.47"], REPORTS["module-passes-llvmlite-0.50"]
MACHINE_CODE = REPORTS["machine-code-llvmlite-0.50"]


def test_the_seconds_of_the_rows_add_up_to_those_of_the_report():
    for report, total in ((OLD, 0.0006), (NEW, 0.0017), (MACHINE_CODE, 0.0094)):
        assert sum(row.seconds for row in rows(report)) == pytest.approx(total, rel=0.01)


def test_analyses_are_not_counted_beside_the_passes_that_asked_for_them():
    assert "AAManager" in OLD
    assert "AAManager" not in by_pass(OLD)


def test_the_lines_around_a_title_are_no_passes():
    for report in (OLD, NEW, MACHINE_CODE):  # a second title follows the rows of the first
        assert not [row for row in rows(report) if "===" in row.name]


def test_a_share_is_more_precise_than_four_places_of_a_second():
    assert by_pass(OLD)["LoopSimplifyPass"] == (pytest.approx(0.188 * 0.0006), None)


def test_a_large_share_is_no_more_precise_than_four_places():
    report = """\
  Total Execution Time: 10.0000 seconds (10.0000 wall clock)

   ---User Time---   --System Time--   --User+System--   ---Wall Time---  --- Name ---
   1.2312 ( 12.3%)   0.0000 (  0.0%)   1.2312 ( 12.3%)   9.0000 ( 90.0%)  GVNPass
"""
    assert by_pass(report)["GVNPass"][0] == pytest.approx(1.2312, abs=1e-4)


def test_a_pass_that_two_timers_report_is_counted_once_and_its_runs_are_exact():
    """The rows with numbers are of the second timer: their sum is what the first one says."""
    found = by_pass(NEW)
    assert found["InstCombinePass"] == (pytest.approx(0.222 * 0.0017), 7)
    assert found["RefPrunePass"] == (pytest.approx(0.040 * 0.0017), 7)
    assert found["AlwaysInlinerPass"][1] == 1


def test_numbers_of_machine_code_passes_are_no_runs():
    found = by_numbered_pass(MACHINE_CODE)
    seconds, runs = found["Greedy Register Allocator"]
    assert runs is None
    assert seconds == pytest.approx((0.021 + 0.006) * 0.0094, rel=0.05)
    assert found["X86 DAG->DAG Instruction Selection"][0] == pytest.approx(0.184 * 0.0094)


def test_columns_of_whole_numbers_are_no_part_of_a_name():
    report = """\
  Total Execution Time: 0.0010 seconds (0.0010 wall clock)

   ---User Time---   --User+System--   ---Wall Time---  ---Instr---  --- Name ---
   0.0010 (100.0%)   0.0010 (100.0%)   0.0010 (100.0%)     12345678  GVNPass
   -----     -----     -----     12  ADCEPass
"""
    assert by_pass(report) == {
        "GVNPass": (pytest.approx(0.001), None),
        "ADCEPass": (0.0, None),
    }


@pytest.mark.parametrize("text", ["", "LLVM says nothing", "  Total Execution Time: much"])
def test_another_text_has_no_passes(text):
    assert by_pass(text) == {}


class Timings:
    def __init__(self, text):
        self.text = text

    def get_raw_data(self):
        return self.text


@pytest.fixture
def numba(monkeypatch):
    """The modules of numba with its switch, as far as they are replaced."""

    class PassTimingsCollection:
        def __init__(self):
            self.kept = []

        def _append(self, name, timings):
            self.kept.append((name, timings))

        def record(self, name, pb):
            """As of the pass managers."""

        def record_legacy(self, name):
            """As of machine code."""

    class RecordLLVMPassTimings:
        def __enter__(self):
            return self

    reports, config = ModuleType("numba.misc.llvm_pass_timings"), ModuleType("numba.core.config")
    reports.PassTimingsCollection = PassTimingsCollection
    reports.RecordLLVMPassTimings = RecordLLVMPassTimings
    config.LLVM_PASS_TIMINGS = 0
    for module in (reports, config):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(llvm_passes, "_start_afresh", lambda: None)
    return reports, config


def build(numba, *of):
    collection = numba[0].PassTimingsCollection()
    for name, text in of:
        collection._append(name, Timings(text))
    return collection


FULL = "Module passes (full optimization)"


def test_builds_add_up_and_the_switch_is_off_again_after_them(numba):
    timer = PassTimer()
    for _ in range(2):
        with timer.running():
            assert numba[1].LLVM_PASS_TIMINGS
            inside = build(numba, (FULL, NEW), ("Finalize object", MACHINE_CODE))
        assert inside.kept == []  # numba keeps no text as long as the code lives
    assert not numba[1].LLVM_PASS_TIMINGS
    outside = build(numba, (FULL, NEW))
    assert len(outside.kept) == 1
    found = {(one.phase, one.name): one for one in timer.passes()}
    assert found["LLVM: passes", "InstCombinePass"].runs == 14
    assert found["LLVM: passes", "InstCombinePass"].seconds == pytest.approx(0.000755, rel=0.01)
    assert found["LLVM: machine code", "CodeGen Prepare"].runs is None
    assert sum(one.seconds for one in found.values()) == pytest.approx(
        2 * (0.0094 + sum(seconds for seconds, _ in by_pass(NEW).values())), rel=0.01
    )


def test_the_runs_of_a_block_are_those_of_all_passes_however_short(numba, monkeypatch):
    monkeypatch.setattr(llvm_passes, "KEPT_PASS_SHARE", 0.1)
    every = sum(runs for _, runs in by_pass(NEW).values())
    timer = PassTimer()
    for texts in ([NEW], [NEW, NEW], []):
        with timer.running():
            build(numba, *((FULL, text) for text in texts), ("Finalize object", MACHINE_CODE))
        assert timer.runs == every * len(texts)
    with timer.running():
        build(numba, (FULL, NEW), (FULL, OLD))  # an LLVM that does not number the runs
    assert timer.runs is None
    with timer.running():
        build(numba, (FULL, NEW))
    monkeypatch.delitem(sys.modules, numba[0].__name__)
    with timer.running():
        pass
    assert timer.runs is None


def test_small_passes_are_summed_in_their_phase(numba, monkeypatch):
    monkeypatch.setattr(llvm_passes, "KEPT_PASS_SHARE", 0.1)
    timer = PassTimer()
    with timer.running():
        build(numba, (FULL, OLD))
    names = [(one.phase, one.name) for one in timer.passes()]
    assert names == [
        ("LLVM: passes", "InstCombinePass"),
        ("LLVM: passes", "LoopSimplifyPass"),
        ("LLVM: passes", OTHER),
    ]


def test_each_pass_whose_runs_are_known_is_kept_however_short(numba, monkeypatch):
    monkeypatch.setattr(llvm_passes, "KEPT_PASS_SHARE", 0.1)
    timer = PassTimer()
    with timer.running():
        build(numba, (FULL, NEW), ("Finalize object", MACHINE_CODE))
    kept = {one.name: one.runs for one in timer.passes() if one.phase == "LLVM: passes"}
    assert kept == {name: runs for name, (_, runs) in by_pass(NEW).items()}
    assert OTHER in {one.name for one in timer.passes()}


def test_a_build_that_compiles_nothing_has_no_passes_and_one_that_nobody_watched_has_none_known(
    numba, monkeypatch
):
    timer = PassTimer()
    with timer.running():
        pass
    assert timer.passes() == ()
    del numba[0].PassTimingsCollection.record_legacy  # as before numba 0.62
    unknown = PassTimer()
    with unknown.running():
        assert not numba[1].LLVM_PASS_TIMINGS
    assert unknown.passes() is None
    monkeypatch.delitem(sys.modules, numba[0].__name__)
    with unknown.running():
        pass
    assert unknown.passes() is None


def test_what_asks_for_reports_is_cut_out_of_the_tree_of_calls(numba):
    timer = PassTimer()
    with timer.running():
        pass
    asks = numba[0].RecordLLVMPassTimings.__enter__.__code__
    root, other, asking = (Node(code, "m:f") for code in (None, build.__code__, asks))
    asking[1] = Node(None, "llvmlite:start")
    root[id(build.__code__)] = other
    other[id(asks)] = asking
    _cut([root], timer.codes)
    assert list(root) == [id(build.__code__)]
    assert not other
