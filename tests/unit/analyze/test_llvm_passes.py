"""Which pass of LLVM explains a phase that takes longer."""

from __future__ import annotations

from observatory.analyze.profiles.llvm_passes import (
    longer_pass,
    more_runs,
    pass_times,
    usual_passes,
)
from observatory.benchmarks.profiles import OTHER
from observatory.store.records.profile import LlvmPass, LlvmPassTime, PhaseTime, Profile

PASSES, MACHINE_CODE = "LLVM: passes", "LLVM: machine code"


def profile(phase: str = PASSES, runs: int | None = None, **seconds: float) -> Profile:
    return Profile(
        llvm_passes=[
            LlvmPass(name=name, phase=phase, seconds=one, runs=runs)
            for name, one in seconds.items()
        ]
    )


def named(base: list[Profile], head: list[Profile], more: float = 1.0) -> str | None:
    phase = PhaseTime(name=PASSES, base=2.0, head=2.0 + more, sure=True)
    found = longer_pass(pass_times(base, head), phase)
    return None if found is None else found.name


def test_the_pass_that_grew_most_explains_its_phase() -> None:
    base = [profile(InstCombinePass=0.7, GVNPass=0.1)] * 2
    assert named(base, [profile(InstCombinePass=0.8, GVNPass=1.0)] * 2) == "GVNPass"


def test_a_pass_that_grew_as_all_do_on_a_busy_machine_explains_nothing() -> None:
    base = [profile(InstCombinePass=0.7, GVNPass=0.2)] * 2
    assert named(base, [profile(InstCombinePass=1.0, GVNPass=0.28)] * 2) is None


def test_a_pass_that_doubled_comes_before_a_large_one_that_grew_as_all_do() -> None:
    base = [profile(InstCombinePass=0.7, GVNPass=0.1)]
    assert named(base, [profile(InstCombinePass=1.0, GVNPass=0.38)]) == "GVNPass"


def test_a_pass_that_grew_little_explains_nothing() -> None:
    base, head = profile(GVNPass=0.1), profile(GVNPass=0.3)
    assert named([base], [head], more=1.0) is None
    assert named([base], [head], more=0.5) == "GVNPass"


def test_a_pass_of_another_phase_and_the_sum_of_small_ones_explain_nothing() -> None:
    base, head = profile(MACHINE_CODE, GVNPass=0.1), profile(MACHINE_CODE, GVNPass=1.1)
    assert named([base], [head]) is None
    assert named([profile(**{OTHER: 0.1})], [profile(**{OTHER: 1.1})]) is None


def test_a_pass_that_only_head_has_is_new_or_was_among_the_small_ones() -> None:
    for others, runs in (({}, 0), ({OTHER: 0.1}, None)):
        first, *_ = pass_times([profile(A=0.2, **others)], [profile(A=0.2, B=0.9, runs=3)])
        assert (first.name, first.base, first.base_runs, first.head_runs) == ("B", 0.0, runs, 3)
    assert named([profile(A=0.2)], [profile(A=0.2, B=0.9)]) == "B"


def test_a_side_that_nobody_watched_is_not_one_without_passes() -> None:
    assert pass_times([Profile()], [profile(GVNPass=1.0)]) == []
    assert [one.base for one in pass_times([profile()], [profile(GVNPass=1.0)])] == [0.0]


def test_the_numbers_are_medians_of_the_samples_that_looked() -> None:
    side = [profile(runs=n, GVNPass=n / 10) for n in (1, 2, 9)]
    (found,) = usual_passes([*side, Profile()])
    assert (found.seconds, found.runs) == (0.2, 2)
    (time,) = pass_times(side, [*side, Profile()])
    assert time.samples == 3


def ran(**runs: int) -> list[LlvmPassTime]:
    """Passes that ran 100 times in BASE, and as often as this in HEAD."""
    return [
        LlvmPassTime(name=name, phase=PASSES, base=0.1, head=0.1, base_runs=100, head_runs=number)
        for name, number in runs.items()
    ]


def test_one_pass_explains_additional_runs_if_a_quarter_of_them_are_its_own() -> None:
    passes = ran(GVNPass=101, SimplifyCFGPass=300, SROAPass=90)
    for more, explained in ((191.0, True), (799.0, True), (801.0, False)):
        found = more_runs(passes, more)
        assert found is not None
        main, grown, known = found
        assert (main is not None, grown, known) == (explained, 2, 3)


def test_no_pass_explains_runs_that_all_passes_have_more_of() -> None:
    assert more_runs(ran(**{f"Pass{n}": 110 for n in range(8)}), 80.0) == (None, 8, 8)


def test_a_pass_that_only_head_has_explains_runs_before_one_that_both_have() -> None:
    base, head = profile(runs=1200, GVNPass=0.2), profile(runs=1203, GVNPass=0.2, NewGVNPass=0.3)
    found = more_runs(pass_times([base], [head]), 1206.0)
    assert found is not None
    main, grown, _ = found
    assert main is not None
    assert (main.name, main.base_runs, grown) == ("NewGVNPass", 0, 2)


def test_a_pass_that_a_side_may_have_kept_among_others_explains_nothing() -> None:
    """Older records have the runs of those passes alone that took long."""
    base = profile(runs=1200, GVNPass=0.2, **{OTHER: 0.1})
    head = profile(runs=1203, GVNPass=0.2, NewGVNPass=0.3)
    found = more_runs(pass_times([base], [head]), 3.0)
    assert found is not None
    main, grown, known = found
    assert main is not None
    assert (main.name, grown, known) == ("GVNPass", 1, 2)


def test_runs_that_nobody_knows_or_that_did_not_grow_say_nothing() -> None:
    unknown = LlvmPassTime(name=OTHER, phase=PASSES, base=0.1, head=0.1)
    assert more_runs([unknown, *ran(GVNPass=100, SROAPass=90)], 10.0) is None
    assert more_runs([], 10.0) is None
