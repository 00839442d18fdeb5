"""The profile of each cell of a subject."""

from __future__ import annotations

import pytest

from observatory.analyze.profiles.cells import cell_profiles, in_common, units_of
from observatory.benchmarks.catalogue import Cell
from observatory.store.records.profile import LlvmPass, Phase, Profile
from observatory.store.records.sample import Sample
from tests.factories import WARM, failed, sample, traced

COLD = Cell("radon", "cold", "NUMBA", "fork")


def timed(total: float, cell: Cell = WARM, **seconds: float) -> Sample:
    phases = [
        Phase(name=name.replace("_", ": "), entries=1, seconds=one) for name, one in seconds.items()
    ]
    return sample(cell, metrics={"compile_time": total}, profile=Profile(phases=phases))


def test_calls_are_those_of_the_median_sample_and_seconds_are_medians() -> None:
    samples = [traced(7), traced(9), traced(1), timed(3.0, numba_typing=1.0, rewriting=2.0)]
    samples += [timed(3.0, numba_typing=2.0, rewriting=1.0), failed(), sample()]
    (cell,) = found = cell_profiles(samples)
    assert cell == WARM
    assert found[WARM].stacks("calls") == [(("(build)",), 0), (("(build)", "m:f"), 7)]
    assert dict(found[WARM].stacks("seconds")) == {
        ("(build)", "numba", "numba: typing"): 1.5,
        ("(build)", "rewriting"): 1.5,
        ("(build)", "not attributed"): 0.0,
    }
    assert found[WARM].total("calls") == 7
    assert found[WARM].total("seconds") == 3.0


def passes(**seconds: float) -> Sample:
    """A tracing sample with passes of LLVM."""
    found = [LlvmPass(name=n, phase="LLVM: passes", seconds=s) for n, s in seconds.items()]
    one = traced(7)
    assert one.profile is not None
    return one.model_copy(update={"profile": one.profile.model_copy(update={"llvm_passes": found})})


def test_passes_of_llvm_fill_their_phase_at_most() -> None:
    path = ("(build)", "LLVM", "LLVM: passes")
    for gvn, own, shown in ((0.4, 0.4, 0.4), (1.6, 0.0, 2 / 3)):
        samples = [timed(1.0, LLVM_passes=1.0), passes(GVNPass=gvn, SROAPass=gvn / 2)]
        found = dict(cell_profiles(samples)[WARM].stacks("seconds"))
        assert found[path] == pytest.approx(own)
        assert found[(*path, "GVNPass")] == pytest.approx(shown)


def test_passes_that_one_side_does_not_know_stay_in_their_phase() -> None:
    old = cell_profiles([timed(1.0, LLVM_passes=1.0), traced(7)])[WARM]
    new = cell_profiles([timed(1.0, LLVM_passes=1.0), passes(GVNPass=0.4)])[WARM]
    phase = (("(build)", "LLVM", "LLVM: passes"), 1.0)
    assert phase in new.stacks("seconds", [old, new])
    assert phase not in new.stacks("seconds", [new, new])


def test_passes_that_one_side_did_not_run_are_new_in_the_other() -> None:
    """A build that no longer finds its functions in the cache runs passes that it did not run."""
    path = ("(build)", "LLVM", "LLVM: passes")
    none = cell_profiles([timed(1.0), passes()])[WARM]
    some = cell_profiles([timed(1.4, LLVM_passes=0.5), passes(GVNPass=0.4)])[WARM]
    assert dict(some.stacks("seconds", [none, some]))[*path, "GVNPass"] == pytest.approx(0.4)


def test_equal_passes_are_drawn_with_equal_seconds() -> None:
    path = ("(build)", "LLVM", "LLVM: passes", "GVNPass")
    both = [
        cell_profiles([timed(3.0, LLVM_passes=seconds), passes(GVNPass=1.6)])[WARM]
        for seconds in (1.0, 1.4)
    ]
    drawn = [dict(one.stacks("seconds", both))[path] for one in both]
    assert drawn == pytest.approx([1.0, 1.0])


def test_the_cell_that_changed_most_comes_first_and_calls_before_seconds() -> None:
    timing = Cell("radon", "cold", "C", "fork")
    base = cell_profiles([traced(100), traced(100, COLD), timed(1.0, timing, rewriting=1.0)])
    head = cell_profiles([traced(110), traced(50, COLD), timed(9.0, timing, rewriting=9.0)])
    assert in_common(base, head) == [COLD, WARM, timing]
    assert units_of(base[timing], head[timing]) == ["seconds"]


def test_a_unit_that_one_side_lacks_is_not_compared() -> None:
    base, head = cell_profiles([traced(100)]), cell_profiles([timed(1.0, rewriting=1.0)])
    assert in_common(base, head) == []
